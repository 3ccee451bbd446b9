//! `--since REV`, over real repositories of git.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Folder, Output, finish, retrylint};

const KONG: &str = "\
_format_version: \"3.0\"
services:
- name: orders
  host: orders
  retries: 20
- name: mail
  host: mail
  retries: 20
";

/// Runs git with nothing of this machine's settings.
fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    let name = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
    command.args(name).args(["-c", "commit.gpgsign=false"]).args(args).current_dir(folder);
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(variable);
    }
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether there is a git to test with.
fn has_git() -> bool {
    let has = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: there is no git");
    }
    has
}

/// A repository with one commit.
fn repository() -> Folder {
    let folder = Folder::with("deploy/kong.yaml", KONG);
    git(&folder.root, &["init", "-q"]);
    commit(&folder);
    folder
}

fn commit(folder: &Folder) {
    git(&folder.root, &["add", "-A"]);
    git(&folder.root, &["commit", "-q", "-m", "a"]);
}

fn since(folder: &Path, revision: &str) -> Output {
    retrylint(folder, &["check", "--since", revision, "--format", "json"])
}

/// The places of the amplifications that are reported.
fn places(output: &Output) -> Vec<String> {
    let json = output.json();
    let findings = json["findings"].as_array().unwrap();
    let found = findings.iter().filter(|f| f["rule"] == "retry-amplification");
    let place = |l: &serde_json::Value| format!("{}:{}", l["file"].as_str().unwrap(), l["line"]);
    found.map(|f| place(&f["location"])).collect()
}

#[test]
fn only_what_stands_in_a_changed_line_is_reported() {
    if !has_git() {
        return;
    }
    let folder = repository();
    let unchanged = since(&folder.root, "HEAD");
    assert_eq!((places(&unchanged), unchanged.code()), (vec![], 0));
    let left_out = unchanged.json()["since"]["left_out"].as_u64().unwrap();
    assert!(left_out >= 2, "{left_out}");
    folder.write("deploy/kong.yaml", KONG.replacen("  retries: 20\n", "  retries: 21\n", 1));
    let changed = since(&folder.root, "HEAD");
    assert_eq!((places(&changed), changed.code()), (vec!["deploy/kong.yaml:5".to_owned()], 1));
    // All is read: the numbers are those of the whole.
    assert_eq!(changed.json()["layers"], folder.check().json()["layers"]);
    let inside = since(&folder.root.join("deploy"), "HEAD");
    assert_eq!(places(&inside), ["kong.yaml:5"]);
    commit(&folder);
    assert_eq!(places(&since(&folder.root, "HEAD")), [] as [&str; 0]);
    assert_eq!(places(&since(&folder.root, "HEAD~1")), ["deploy/kong.yaml:5"]);
}

#[test]
fn any_place_of_a_finding_counts() {
    if !has_git() {
        return;
    }
    let shop = support::repository().join("fixtures/shop");
    let folder = Folder::new();
    for entry in walkdir::WalkDir::new(&shop).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file()) {
        folder.write(&entry.path().strip_prefix(&shop).unwrap().to_string_lossy(), fs::read(entry.path()).unwrap());
    }
    git(&folder.root, &["init", "-q"]);
    commit(&folder);
    let client = folder.root.join("services/orders/src/inventory.rs");
    let text = fs::read_to_string(&client).unwrap();
    fs::write(&client, text.replace(".build_with_max_retries(3);", ".build_with_max_retries(4);")).unwrap();
    // The path starts at the gateway, and what has changed is one of its layers.
    assert_eq!(places(&since(&folder.root, "HEAD")), ["gateway/envoy.yaml:24"]);
}

#[test]
fn what_others_have_changed_meanwhile_is_not_of_this_branch() {
    if !has_git() {
        return;
    }
    let folder = repository();
    git(&folder.root, &["checkout", "-q", "-b", "topic"]);
    folder.write("deploy/other.yaml", KONG.replace("orders", "stock").replace("mail", "news"));
    commit(&folder);
    git(&folder.root, &["checkout", "-q", "main"]);
    folder.write("deploy/kong.yaml", KONG.replace("20", "25"));
    commit(&folder);
    git(&folder.root, &["checkout", "-q", "topic"]);
    assert_eq!(places(&since(&folder.root, "main")), ["deploy/other.yaml:5", "deploy/other.yaml:8"]);
}

#[test]
fn new_renamed_and_strangely_named_files() {
    if !has_git() {
        return;
    }
    let folder = repository();
    git(&folder.root, &["mv", "deploy/kong.yaml", "deploy/gateway.yaml"]);
    assert_eq!(places(&since(&folder.root, "HEAD")), [] as [&str; 0], "its lines are the same");
    folder.write("deploy/b c \"é\".yaml", KONG.replace("orders", "stock").replace("mail", "news"));
    let untracked = since(&folder.root, "HEAD");
    assert_eq!(places(&untracked), ["deploy/b c \"é\".yaml:5", "deploy/b c \"é\".yaml:8"]);
    git(&folder.root, &["add", "-A"]);
    assert_eq!(places(&since(&folder.root, "HEAD")), places(&untracked), "added and not committed");
}

#[test]
fn a_line_that_was_taken_out_changes_those_around_it() {
    if !has_git() {
        return;
    }
    let folder = Folder::with("kong.yaml", KONG.replacen("  retries: 20\n", "  # twenty\n  retries: 20\n", 1));
    git(&folder.root, &["init", "-q"]);
    commit(&folder);
    folder.write("kong.yaml", KONG);
    assert_eq!(places(&since(&folder.root, "HEAD")), ["kong.yaml:5"]);
}

#[test]
fn what_git_cannot_tell_is_an_error() {
    if !has_git() {
        return;
    }
    let folder = repository();
    for revision in ["no-such-branch", "--output=x", "HEAD:deploy", ""] {
        let output = since(&folder.root, revision);
        assert_eq!((output.code(), output.stdout.as_str()), (2, ""), "{revision}: {}", output.stderr);
    }
    let unknown = since(&folder.root, "no-such-branch").stderr;
    assert!(unknown.starts_with("error: there is no revision `no-such-branch` here"), "{unknown}");
    assert!(!folder.root.join("x").exists());

    let outside = Folder::with("kong.yaml", KONG);
    let mut command = support::command(&outside.root, &["check", "--since", "HEAD"]);
    let output = finish(command.env("GIT_CEILING_DIRECTORIES", outside.root.parent().unwrap()));
    assert_eq!(output.code(), 2);
    assert!(output.stderr.starts_with("error: --since needs a git repository: "), "{}", output.stderr);

    let mut command = support::command(&folder.root, &["check", "--since", "HEAD"]);
    let output = finish(command.env("PATH", folder.root.join("deploy")));
    assert_eq!(output.code(), 2);
    assert!(output.stderr.starts_with("error: --since needs git, which cannot be run: "), "{}", output.stderr);
}
