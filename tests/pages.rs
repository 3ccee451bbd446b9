//! The rules' pages: one for each rule, all of one form.

#![allow(clippy::expect_used, clippy::panic, reason = "a test says what is wrong by failing")]

use std::path::{Path, PathBuf};

/// The headings of a page, in this order.
const HEADINGS: [&str; 6] = ["What it does", "Why it hurts", "Fires on", "Stays silent on", "How to fix", "References"];

/// The line of an example at which the finding starts ends with this, in a comment of the file's syntax.
const MARK: &str = "<-- fires";

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
