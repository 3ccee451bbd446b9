//! The same bytes whatever the number of threads, from run to run, and whether or not select leaves files out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};

use support::{Folder, retrylint};

/// Every folder of fixtures, and all of them together.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let below = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = below.chain([root.clone()]).collect();
    folders.sort();
    folders
}

fn said(folder: &Path, more: &[&str]) -> String {
    let output = retrylint(folder, &[&["check", "."], more].concat());
    assert!([0, 1].contains(&output.code()), "{}: {}", folder.display(), output.stderr);
    output.stdout
}

/// Fails with the first line that differs.
fn assert_same(left: &str, right: &str, what: &str, folder: &Path) {
    let differing = left.lines().zip(right.lines()).find(|(a, b)| a != b);
    assert!(left == right, "{what} changes what is said of {}: {differing:?}", folder.display());
}

#[test]
fn threads_change_nothing() {
    for folder in folders() {
        for format in ["json", "text"] {
            let one = said(&folder, &["--format", format, "--notes", "--threads", "1"]);
            let many = said(&folder, &["--format", format, "--notes", "--threads", "16"]);
            assert_same(&one, &many, "the number of threads", &folder);
        }
    }
}

#[test]
fn threads_change_no_report() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for format in ["markdown", "json", "html"] {
        let report = |threads| retrylint(&root, &["report", "--format", format, "--threads", threads, "."]).stdout;
        assert_same(&report("1"), &report("16"), &format!("the number of threads ({format})"), &root);
    }
}

#[test]
fn select_changes_nothing() {
    for folder in folders() {
        let selected = said(&folder, &["--format", "json"]);
        let everything = said(&folder, &["--format", "json", "--parse-all"]);
        assert_same(&selected, &everything, "parsing every file", &folder);
    }
}

#[test]
fn select_loses_no_broken_file_that_matters() {
    let folder = Folder::new();
    folder
        .write("broken-kong.yaml", "_format_version: \"3.0\"\nservices: [\n")
        .write("broken-other.yaml", "colours: [\n")
        .write("broken.json", "{\"colours\": [")
        .write("broken.rs", "fn load() { for _ in 0..3 { if backon::retry( {")
        .write("other.rs", "fn colour( {");
    let selected = said(&folder.root, &["--format", "json"]);
    assert_same(
        &selected,
        &said(&folder.root, &["--format", "json", "--parse-all"]),
        "parsing every file",
        &folder.root,
    );
    assert!(selected.contains("broken-kong.yaml"), "{selected}");
}

#[test]
fn the_order_of_the_paths_changes_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let said = |paths: &[&str]| retrylint(&root, &[&["check", "--format", "json"], paths].concat()).stdout;
    assert_same(&said(&["kong", "envoy"]), &said(&["envoy", "kong", "envoy/."]), "the order of the paths", &root);
}
