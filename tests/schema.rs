//! The JSON Schema of `retrylint.toml` is that of the keys that are read. `SCHEMA_UPDATE=1` writes it anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use retrylint::config::{CONFIG_FILE_ID, Names, parse, schema};
use retrylint::source::SourceFile;
use serde_json::Value;
use support::repository;

fn file() -> PathBuf {
    repository().join("schema/retrylint.schema.json")
}

#[test]
fn the_file_is_current() {
    let text = schema::text() + "\n";
    if fs::read_to_string(file()).is_ok_and(|written| written == text) {
        return;
    }
    assert!(
        std::env::var_os("SCHEMA_UPDATE").is_some(),
        "schema/retrylint.schema.json is not current; SCHEMA_UPDATE=1 cargo test --test schema writes it"
    );
    fs::create_dir_all(file().parent().unwrap()).unwrap();
    fs::write(file(), text).unwrap();
}

#[test]
fn it_is_a_schema() {
    jsonschema::meta::validate(&schema::schema()).unwrap();
}

/// Whether the schema takes a text, and whether the reader does.
fn taken(text: &str) -> (bool, bool) {
    let source = SourceFile { id: CONFIG_FILE_ID, path: "retrylint.toml".into(), text: text.into() };
    let read = parse(&source, &Names::all()).is_ok();
    let Ok(table) = text.parse::<toml::Table>() else { return (false, read) };
    let validator = jsonschema::validator_for(&schema::schema()).unwrap();
    (validator.is_valid(&serde_json::to_value(table).unwrap()), read)
}

/// Every configuration in the README, the pages of the rules, and the fixtures and sessions of tests.
fn examples() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let pages = fs::read_dir(repository().join("rules")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.chain([repository().join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = text.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()));
        let is_ours = |block: &String| page.ends_with("README.md") || block.contains("[rules]");
        all.extend(blocks.filter(is_ours).map(|block| (page.display().to_string(), block)));
    }
    for folder in ["fixtures", "tests/cmd"] {
        for entry in walkdir::WalkDir::new(repository().join(folder)) {
            let path = entry.unwrap().into_path();
            let in_cmd =
                path.starts_with(repository().join("tests/cmd")) && path.extension().is_some_and(|e| e == "toml");
            if in_cmd || path.file_name().is_some_and(|name| name == "retrylint.toml") {
                all.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    all
}

#[test]
fn it_takes_the_examples_that_the_reader_takes_and_no_others() {
    let examples = examples();
    assert!(examples.len() > 8, "{}", examples.len());
    for (path, text) in examples {
        let (schema, reader) = taken(&text);
        // A test's broken files are broken for both, and all others right.
        assert_eq!(schema, reader, "{path}\n{text}");
        assert!(reader || path.contains("tests/cmd"), "{path}");
    }
}

#[test]
fn what_is_wrong_for_the_reader_is_wrong_for_the_schema() {
    for text in [
        "max-amplification = 0\n",
        "max_amplification = 20\n",
        "fail-on = \"errors\"\n",
        "notes = \"yes\"\n",
        "exclude = \"legacy\"\n",
        "exclude = [\"\"]\n",
        "extend = 3\n",
        "baseline = [\"a\"]\n",
        "[rules]\nmissing-jitter = \"warn\"\n",
        "[rules]\nmissing-jiter = \"off\"\n",
        "[systems]\nistio = 1.23\n",
        "[systems]\nisto = \"1.23\"\n",
        "[systems]\nistio = \"newest\"\n",
        "[[override]]\npaths = [\"a\"]\n",
        "[[service]]\nhosts = [\"a\"]\n",
        "[service]\nname = \"a\"\n",
        "[[helper]]\nname = \"a\"\nattempts = 0\n",
        "[[helper]]\nname = \"a\"\nwait = 3\n",
        "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a\"\nunit = \"h\"\n",
        "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a\"\ndefault-statuses = [503, 200]\n",
        "[[allow]]\npaths = [\"a\"]\n",
        "[[allow]]\nrules = [\"missing-jiter\"]\npaths = [\"a\"]\n",
        "[[allow]]\nrules = [\"missing-jitter\"]\npaths = [\"a\"]\nuntil = \"soon\"\n",
        "[redelivery]\nwindow = \"long\"\n",
        "[redelivery]\nwindow = \"0d\"\n",
    ] {
        assert_eq!(taken(text), (false, false), "{text}");
    }
}

#[test]
fn every_key_is_described_and_what_is_right_is_taken() {
    let text = "\
extend = [\"../shared.toml\"]
max-amplification = 20
fail-on = \"never\"
baseline = \"ci/known.json\"
allow-without-reason = true
[rules]
missing-jitter = \"off\"
[systems]
istio = \"1.23\"
[redelivery]
window = \"7d\"
[[allow]]
rules = [\"missing-jitter\"]
paths = [\"legacy\"]
reason = \"it goes away\"
until = \"2027-01-31\"
[[helper]]
name = \"a\"
attempts = 3
wait = \"250ms\"
factor = 1.5
";
    assert_eq!(taken(text), (true, true));
    let schema = schema::schema();
    for (name, key) in schema["properties"].as_object().unwrap() {
        assert!(key["description"].as_str().is_some_and(|d| !d.is_empty()), "{name}");
    }
    assert_eq!(schema["properties"]["max-amplification"]["default"], Value::from(10));
}

#[test]
fn the_program_prints_it() {
    let output = support::retrylint(Path::new("."), &["config", "--schema"]);
    assert_eq!((output.code(), output.json()), (0, schema::schema()));
}
