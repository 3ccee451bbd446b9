//! What a baseline survives: code that moves, folders that get other names, settings in another order, formatting.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{Folder, Output, repository};
use walkdir::WalkDir;

/// A copy of a folder of the fixtures.
fn copy_of(fixture: &str) -> Folder {
    let folder = Folder::new();
    let from = repository().join("fixtures").join(fixture);
    for file in files(&from) {
        folder.write(&file.strip_prefix(&from).unwrap().to_string_lossy(), fs::read(&file).unwrap());
    }
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().to_owned()).collect()
}

/// Writes a baseline, makes a change, and checks that it is still that of all findings.
fn survives(folder: &Folder, change: impl FnOnce(&Path)) {
    let written = folder.retrylint(&["baseline"]);
    assert_eq!(written.code(), 0, "{}", written.stderr);
    change(&folder.root);
    let output = check(folder);
    let json = output.json();
    assert_eq!((&json["findings"], &json["baseline"]["absent"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    assert!(json["baseline"]["unchanged"].as_u64().unwrap() > 0);
    assert_eq!(output.code(), 0);
}

fn check(folder: &Folder) -> Output {
    folder.retrylint(&["check", "--baseline", "retrylint-baseline.json", "--format", "json"])
}

/// Puts another text in the place of each text in these files.
fn replace(root: &Path, files: &[&str], from: &str, to: &str) {
    for file in files {
        let path = root.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(&path, text.replace(from, to)).unwrap();
    }
}

#[test]
fn a_folder_that_gets_another_name() {
    survives(&copy_of("shop"), |root| {
        fs::rename(root.join("services/orders"), root.join("services/order-desk")).unwrap();
        replace(root, &["Cargo.toml", "compose.yaml"], "services/orders", "services/order-desk");
        fs::rename(root.join("gateway"), root.join("edge")).unwrap();
        replace(root, &["compose.yaml"], "./gateway/", "./edge/");
    });
}

const RESILIENCE: &str = "\
resilience4j:
  retry:
    instances:
      stock:
        maxAttempts: 15
        waitDuration: 1s
";

const FEIGN: &str = "\
spring:
  application:
    name: orders
  cloud:
    openfeign:
      client:
        config:
          stock:
            url: http://stock:8080
            connectTimeout: 1000
";

#[test]
fn a_folder_of_a_java_service_that_gets_another_name() {
    for settings in [RESILIENCE.to_owned(), format!("{FEIGN}{RESILIENCE}")] {
        let folder = Folder::with("orders/src/main/resources/application.yml", settings);
        survives(&folder, |root| fs::rename(root.join("orders"), root.join("order-desk")).unwrap());
    }
}

#[test]
fn a_folder_of_code_without_a_manifest_that_gets_another_name() {
    let code = fs::read_to_string(repository().join("fixtures/shop/services/inventory/src/warehouse.rs")).unwrap();
    let folder = Folder::with("tools/src/warehouse.rs", code);
    survives(&folder, |root| fs::rename(root.join("tools"), root.join("helpers")).unwrap());
}

#[test]
fn a_file_that_gets_another_name() {
    survives(&copy_of("shop"), |root| {
        fs::rename(root.join("db/purge.sql"), root.join("db/nightly.sql")).unwrap();
        replace(root, &["compose.yaml"], "db/purge.sql", "db/nightly.sql");
        fs::rename(root.join("gateway/envoy.yaml"), root.join("gateway/front.yaml")).unwrap();
        replace(root, &["compose.yaml"], "gateway/envoy.yaml", "gateway/front.yaml");
    });
}

#[test]
fn a_new_finding_fails_in_every_format_alike() {
    let folder = copy_of("shop");
    assert_eq!(folder.retrylint(&["baseline"]).code(), 0);
    let add = "_format_version: \"3.0\"\nservices:\n- name: mail\n  host: mail\n  retries: 20\n";
    folder.write("kong.yaml", add);
    for format in ["text", "line", "json", "sarif", "github", "gitlab", "junit", "checkstyle", "markdown"] {
        let args = ["check", "--baseline", "retrylint-baseline.json", "--notes", "--format", format];
        let output = folder.retrylint(&args);
        assert_eq!(output.code(), 1, "{format}");
        assert!(output.stdout.contains("mail"), "{format}: {}", output.stdout);
        // SARIF lists what is known as well, and says so.
        assert!(format == "sarif" || !output.stdout.contains("non-time-based-purge"), "{format}: {}", output.stdout);
    }
}

#[test]
fn sarif_says_what_is_new_unchanged_and_absent() {
    let folder = copy_of("shop");
    folder.retrylint(&["baseline"]);
    fs::remove_file(folder.root.join("db/purge.sql")).unwrap();
    folder.write("kong.yaml", "_format_version: \"3.0\"\nservices:\n- name: mail\n  host: mail\n  retries: 20\n");
    let output = folder.retrylint(&["check", "--baseline", "retrylint-baseline.json", "--format", "sarif"]);
    let results = output.json()["runs"][0]["results"].as_array().unwrap().clone();
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for result in &results {
        states.entry(result["baselineState"].as_str().unwrap()).or_default().push(result["ruleId"].as_str().unwrap());
    }
    assert_eq!(states.keys().copied().collect::<Vec<_>>(), ["absent", "new", "unchanged"]);
    assert!(states["absent"].contains(&"non-time-based-purge"));
    assert!(states["new"].contains(&"retry-amplification") && states["unchanged"].contains(&"retry-amplification"));
    let without = folder.retrylint(&["check", "--format", "sarif"]).json();
    assert!(without["runs"][0]["results"].as_array().unwrap().iter().all(|r| r.get("baselineState").is_none()));
}

#[test]
fn the_configuration_names_a_baseline_from_its_own_folder_on() {
    let folder = copy_of("shop");
    folder.write("retrylint.toml", "baseline = \"ci/known.json\"\n");
    fs::create_dir(folder.root.join("ci")).unwrap();
    assert_eq!(folder.retrylint(&["check"]).code(), 2, "there is none yet");
    let written = folder.retrylint(&["baseline"]);
    assert!(written.stdout.starts_with("ci/known.json: "), "{}", written.stdout);
    assert_eq!(folder.retrylint(&["check"]).code(), 0);
    assert_eq!(folder.retrylint(&["check", "--no-baseline"]).code(), 1);
    let inside = support::retrylint(&folder.root.join("services"), &["check", ".."]);
    assert_eq!(inside.code(), 0, "{}{}", inside.stdout, inside.stderr);
}

#[test]
fn pruning_takes_out_what_is_gone_and_adds_nothing() {
    let folder = copy_of("shop");
    folder.retrylint(&["baseline"]);
    let text = || fs::read_to_string(folder.root.join("retrylint-baseline.json")).unwrap();
    let before = text();
    fs::remove_file(folder.root.join("db/purge.sql")).unwrap();
    folder.write("kong.yaml", "_format_version: \"3.0\"\nservices:\n- name: mail\n  host: mail\n  retries: 20\n");
    // Looking at another folder tells nothing of this one.
    folder.retrylint(&["baseline", "--prune", "services"]);
    assert!(text().contains("purge.sql"));
    folder.retrylint(&["check", "--baseline", "retrylint-baseline.json"]);
    folder.retrylint(&["baseline", "--prune"]);
    assert!(before.contains("purge.sql") && !text().contains("purge.sql") && !text().contains("kong.yaml"));
    assert_eq!(check(&folder).code(), 1);
    folder.retrylint(&["baseline"]);
    assert!(text().contains("kong.yaml"));
    assert_eq!(check(&folder).code(), 0);
    let again = text();
    folder.retrylint(&["baseline"]);
    assert_eq!(again, text(), "nothing has changed");
}

#[test]
fn nothing_but_a_baseline_is_written_over() {
    let folder = copy_of("shop");
    folder.write("package.json", "{\"name\": \"shop\"}\n");
    let output = folder.retrylint(&["baseline", "-o", "package.json"]);
    assert!(output.code() == 2 && output.stderr.contains("package.json is no baseline"), "{}", output.stderr);
    let none = folder.retrylint(&["baseline", "--prune"]);
    assert!(none.code() == 2 && none.stderr.contains("cannot be read: no such file"), "{}", none.stderr);
}

/// The findings of a folder: rule and fingerprint, sorted.
fn fingerprints(root: &Path) -> Vec<(String, String)> {
    let config = retrylint::config::Config::without_file(root);
    let inputs = retrylint::Inputs { cwd: root.to_owned(), paths: vec![".".into()], ..retrylint::Inputs::default() };
    let run = retrylint::run(&inputs, &config).unwrap();
    let mut all: Vec<_> = run.findings.iter().map(|f| (f.rule.id.to_owned(), f.fingerprint.kind.to_string())).collect();
    all.sort();
    all
}

/// The fixtures after a change, each for itself: no finding is another one.
fn same_in_every_fixture(change: impl Fn(&Path) -> bool) {
    let mut changed = 0;
    let mut wrong = Vec::new();
    for fixture in fs::read_dir(repository().join("fixtures")).unwrap() {
        let name = fixture.unwrap().file_name().to_string_lossy().into_owned();
        let folder = copy_of(&name);
        let before = fingerprints(&folder.root);
        let files = files(&folder.root);
        let now: usize = files.iter().map(|file| usize::from(change(file))).sum();
        if now == 0 {
            continue;
        }
        changed += now;
        let after = fingerprints(&folder.root);
        if before != after {
            let only = |a: &[(String, String)], b: &[(String, String)]| {
                a.iter().filter(|x| !b.contains(x)).map(|(rule, _)| rule.clone()).collect::<Vec<_>>()
            };
            wrong.push(format!("{name}: lost {:?}, new {:?}", only(&before, &after), only(&after, &before)));
        }
    }
    assert!(changed > 20, "only {changed} files were changed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

#[test]
fn lines_that_move() {
    same_in_every_fixture(|file| {
        if !matches!(extension(file), "yaml" | "yml" | "json" | "toml" | "properties" | "sql" | "rs" | "conf" | "cfg") {
            return false;
        }
        let text = fs::read_to_string(file).unwrap();
        // What is said of the file as a whole stands in its first line.
        if text.starts_with("#!") || text.starts_with('%') {
            return false;
        }
        fs::write(file, format!("\n\n\n{text}")).unwrap();
        true
    });
}

#[test]
fn keys_in_another_order() {
    same_in_every_fixture(|file| {
        if !matches!(extension(file), "yaml" | "yml") {
            return false;
        }
        let Some(text) = turned(&fs::read_to_string(file).unwrap()) else { return false };
        fs::write(file, text).unwrap();
        true
    });
}

/// The documents with the keys of every mapping in the opposite order; nothing if it is more than plain YAML, or has
/// comments that mean something.
fn turned(text: &str) -> Option<String> {
    let is_more = |mark: &str| text.contains(mark);
    if [": &", "- &", ": *", "<<:", "{{", "retrylint: allow", ": |", ": >", "#END"].into_iter().any(is_more) {
        return None;
    }
    let documents: Result<Vec<serde_yaml::Value>, _> =
        serde_yaml::Deserializer::from_str(text).map(serde::Deserialize::deserialize).collect();
    let texts: Result<Vec<String>, _> = documents.ok()?.into_iter().map(|d| serde_yaml::to_string(&turn(d))).collect();
    Some(texts.ok()?.join("---\n"))
}

fn turn(value: serde_yaml::Value) -> serde_yaml::Value {
    use serde_yaml::Value;
    match value {
        Value::Mapping(map) => {
            Value::Mapping(map.into_iter().collect::<Vec<_>>().into_iter().rev().map(|(k, v)| (k, turn(v))).collect())
        }
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(turn).collect()),
        other => other,
    }
}

#[test]
fn code_that_is_formatted() {
    if !Command::new("rustfmt").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no rustfmt");
        return;
    }
    same_in_every_fixture(|file| {
        if extension(file) != "rs" {
            return false;
        }
        let before = fs::read_to_string(file).unwrap();
        let config = "max_width=60,use_small_heuristics=Off,hard_tabs=true";
        let args = ["--edition", "2024", "--config", config];
        let done = Command::new("rustfmt").args(args).arg(file).output().unwrap();
        done.status.success() && before != fs::read_to_string(file).unwrap()
    });
}
