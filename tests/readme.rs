//! What the README shows is what there is. `README_UPDATE=1` writes the generated parts anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;

use retrylint::rules;
use retrylint::systems::SystemMeta;

/// The text between `<!-- NAME -->` and the end of that part: the next mark or heading.
fn part<'a>(readme: &'a str, name: &str) -> &'a str {
    let mark = format!("<!-- {name} -->\n");
    let start = readme.find(&mark).unwrap_or_else(|| panic!("README.md has no {mark}")) + mark.len();
    let rest = &readme[start..];
    let end = rest.find("\n## ").into_iter().chain(rest.find("<!-- end -->")).min().unwrap_or(rest.len());
    &rest[..end]
}

/// Compares a generated part with what it should be, or writes it.
fn is_current(name: &str, content: &str) {
    let path = support::repository().join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md is there");
    let shown = part(&readme, &format!("generated: {name}"));
    if shown == content {
        return;
    }
    assert!(
        std::env::var_os("README_UPDATE").is_some(),
        "the part `{name}` of README.md is not current; README_UPDATE=1 cargo test --test readme writes it:\n{content}"
    );
    let start = shown.as_ptr() as usize - readme.as_ptr() as usize;
    fs::write(&path, format!("{}{content}{}", &readme[..start], &readme[start + shown.len()..]))
        .expect("it is writable");
}

/// Of the demonstration's output, the finding that it is about, and the summary at its end.
fn demo() -> String {
    let output = support::retrylint(support::repository(), &["check", "fixtures/shop"]);
    let paragraphs: Vec<&str> = output.stdout.trim_end().split("\n\n").collect();
    let finding = paragraphs.iter().find(|p| p.starts_with("error[retry-amplification]")).expect("the shop's finding");
    let summary = paragraphs.last().expect("a summary");
    format!("```text\n{finding}\n\n{summary}\n```\n")
}

fn rules_table() -> String {
    let rows = rules::all()
        .iter()
        .map(|rule| rule.meta())
        .map(|meta| format!("| [{0}](rules/{0}.md) | {1} | {2} |\n", meta.id, meta.level.name(), meta.summary));
    format!("| rule | level | fires when |\n|---|---|---|\n{}", rows.collect::<String>())
}

fn systems_table() -> String {
    let row = |meta: &SystemMeta| format!("| {} | `{}` | {} |\n", meta.name, meta.id, meta.reads);
    let rows: String = retrylint::system_metas().map(row).collect();
    format!("| system | id | what is read |\n|---|---|---|\n{rows}")
}

/// One test, so that no two write the file at once.
#[test]
fn the_generated_parts_are_current() {
    is_current("demo", &demo());
    is_current("rules", &rules_table());
    is_current("systems", &systems_table());
    is_current("keys", &retrylint::config::keys::markdown());
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let readme = fs::read_to_string(support::repository().join("README.md")).expect("README.md is there");
    let shown: BTreeSet<&str> = part(&readme, "checked: dependencies")
        .lines()
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let manifest = fs::read_to_string(support::repository().join("Cargo.toml")).expect("Cargo.toml is there");
    let manifest: toml::Table = manifest.parse().expect("it is TOML");
    let tables = ["dependencies", "dev-dependencies"].iter().filter_map(|table| manifest.get(*table)?.as_table());
    let dependencies: BTreeSet<&str> = tables.flat_map(|table| table.keys().map(String::as_str)).collect();
    assert_eq!(shown, dependencies);
}

#[test]
fn the_configuration_shown_is_accepted() {
    let readme = fs::read_to_string(support::repository().join("README.md")).expect("README.md is there");
    let shown = part(&readme, "checked: configuration");
    let text = shown.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("retrylint.toml");
    fs::write(&file, text).expect("it is writable");
    let file = file.to_string_lossy().into_owned();
    let args = ["check", "--config", &file, "--fail-on", "never", "fixtures/shop"];
    let output = support::retrylint(support::repository(), &args);
    assert_eq!(output.code(), 0, "{}", output.stderr);
}
