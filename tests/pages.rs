//! The examples on the rules' pages, run: what stands under "Fires on" fires at the marked line, and what stands under
//! "Stays silent on" does not.

#![allow(clippy::expect_used, clippy::panic, reason = "a test says what is wrong by failing")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The headings of a page, in this order.
const HEADINGS: [&str; 6] = ["What it does", "Why it hurts", "Fires on", "Stays silent on", "How to fix", "References"];

/// The line of an example at which the finding starts ends with this, in a comment of the file's syntax.
const MARK: &str = "<-- fires";

/// The mark with the comment signs of the syntaxes on the pages.
const MARKS: [&str; 3] = ["# <-- fires", "// <-- fires", "-- <-- fires"];

struct Page {
    rule: String,
    headings: Vec<String>,
    examples: Vec<Example>,
}

struct Example {
    section: String,
    title: String,
    files: Vec<(String, String)>,
}

impl Example {
    /// Files and lines (from 1) that are marked.
    fn marks(&self) -> Vec<(String, u64)> {
        let lines = self.files.iter().flat_map(|(path, text)| text.lines().zip(1..).map(move |(l, n)| (path, l, n)));
        lines.filter(|(_, line, _)| line.contains(MARK)).map(|(path, _, n)| (path.clone(), n)).collect()
    }

    /// Writes the files, the marks left out, and checks the folder.
    fn check(&self) -> Value {
        report(self.written().path())
    }

    /// Whether a purge is read in the files.
    fn purges(&self) -> bool {
        let folder = self.written();
        let cwd = folder.path().canonicalize().expect("a folder");
        let config = retrylint::config::Config::without_file(&cwd);
        let inputs = retrylint::Inputs { cwd, paths: vec![".".into()], ..retrylint::Inputs::default() };
        !retrylint::run(&inputs, &config).expect("a run").model.purges.is_empty()
    }

    fn written(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in &self.files {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            let text = MARKS.iter().fold(text.clone(), |text, mark| text.replace(mark, ""));
            std::fs::write(file, text).expect("a file");
        }
        folder
    }
}

fn report(folder: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_retrylint"))
        .args(["check", "--format", "json", "."])
        .current_dir(folder)
        .output()
        .expect("retrylint starts");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn pages() -> Vec<Page> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("rules/").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| page(file)).collect()
}

fn page(file: &Path) -> Page {
    let text = std::fs::read_to_string(file).expect("a page");
    let rule = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut page = Page { rule, headings: Vec::new(), examples: Vec::new() };
    let mut lines = text.lines();
    let mut name = None;
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            page.headings.push(heading.to_string());
        } else if let Some(title) = line.strip_prefix("### ") {
            let section = page.headings.last().cloned().unwrap_or_default();
            page.examples.push(Example { section, title: title.to_string(), files: Vec::new() });
        } else if let Some(path) = line.strip_prefix('`').and_then(|l| l.strip_suffix("`:")) {
            name = Some(path.to_string());
        } else if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            if !matches!(page.headings.last().map(String::as_str), Some("Fires on" | "Stays silent on")) {
                continue;
            }
            let path = name.take().unwrap_or_else(|| panic!("{}: a block without a file name", page.rule));
            let example = page.examples.last_mut().unwrap_or_else(|| panic!("{}: no ### before {path}", page.rule));
            example.files.push((path, block.join("\n") + "\n"));
        }
    }
    page
}

fn findings<'j>(report: &'j Value, rule: &str) -> Vec<(&'j str, u64)> {
    let all = report["findings"].as_array().expect("findings");
    let place = |f: &'j Value| {
        let location = &f["location"];
        (location["file"].as_str().expect("a file"), location["line"].as_u64().expect("a line"))
    };
    all.iter().filter(|f| f["rule"] == rule).map(place).collect()
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let mut rules: Vec<_> = retrylint::rules::all().iter().map(|r| r.meta().id.to_string()).collect();
    rules.sort();
    let pages: Vec<_> = pages().into_iter().map(|p| p.rule).collect();
    assert_eq!(rules, pages);
}

#[test]
fn every_page_has_the_same_headings_and_both_kinds_of_examples() {
    for page in pages() {
        assert_eq!(page.headings, HEADINGS, "{}", page.rule);
        for section in ["Fires on", "Stays silent on"] {
            assert!(page.examples.iter().any(|e| e.section == section), "{}: nothing under {section}", page.rule);
        }
        for example in &page.examples {
            let fires = example.section == "Fires on";
            assert!(!example.files.is_empty(), "{}: {} has no file", page.rule, example.title);
            assert_eq!(example.marks().len(), usize::from(fires), "{}: {}", page.rule, example.title);
        }
    }
}

#[test]
fn examples_that_fire_do_so_at_the_marked_line_and_nowhere_else() {
    let mut wrong = Vec::new();
    for page in pages() {
        for example in page.examples.iter().filter(|e| e.section == "Fires on") {
            let report = example.check();
            let found = findings(&report, &page.rule);
            let marks = example.marks();
            let wanted: Vec<_> = marks.iter().map(|(path, line)| (path.as_str(), *line)).collect();
            if found != wanted {
                wrong.push(format!("{}: {}: fires at {found:?}, is marked at {wanted:?}", page.rule, example.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_that_stay_silent_do_and_what_they_are_about_is_seen() {
    let mut wrong = Vec::new();
    for page in pages() {
        let mut seen = false;
        for example in page.examples.iter().filter(|e| e.section == "Stays silent on") {
            let report = example.check();
            let found = findings(&report, &page.rule);
            if !found.is_empty() {
                wrong.push(format!("{}: {}: fires at {found:?}", page.rule, example.title));
            }
            seen |= report["layers"].as_array().is_some_and(|layers| !layers.is_empty()) || example.purges();
        }
        if !seen {
            wrong.push(format!(
                "{}: no layer and no purge is seen in any silent example, so silence proves nothing",
                page.rule
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
