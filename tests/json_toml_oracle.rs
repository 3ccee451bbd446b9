//! Independent readers as oracles: serde_json for JSON, the toml crate's values for TOML.
#![allow(clippy::unwrap_used)] // A test that cannot go on should stop.

use std::collections::BTreeSet;
use std::path::Path;

use retrylint::source::{FileId, SourceFile};
use retrylint::syntax::{Node, Value as Ours, json, toml as our_toml};

/// JSON fixtures that serde_json refuses, and why we do not.
const REFUSED: &[(&str, &str)] = &[
    ("syntax/commented.jsonc", "comments and trailing commas, which editors and tools write"),
    ("cloudflare-queues/wrangler.jsonc", "comments and trailing commas, which its own tools write"),
    ("syntax/bom.json", "a byte order mark, which some editors write"),
];

fn fixtures(endings: &[&str]) -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found: Vec<SourceFile> = walkdir::WalkDir::new(&root)
        .into_iter()
        .filter_entry(|e| e.file_name() != "target")
        .map(|entry| entry.unwrap().into_path())
        .filter(|p| p.is_file() && p.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)))
        .filter_map(|p| {
            let name = p.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            // Files that are no UTF-8 are hostile input, tested elsewhere.
            let text = std::fs::read_to_string(&p).ok()?;
            Some(SourceFile { id: FileId(0), path: name.into(), text: text.into() })
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty());
    found
}

#[test]
fn json_means_what_serde_json_says() {
    let mut used = BTreeSet::new();
    let mut failures = Vec::new();
    for file in fixtures(&["json", "jsonc"]) {
        let parsed = json::parse(&file);
        failures.extend(parsed.errors.iter().map(|e| format!("{}: {}", file.path, e.message)));
        let listed = REFUSED.iter().find(|(name, _)| *name == &*file.path);
        match (serde_json::from_str::<serde_json::Value>(&file.text), listed) {
            (Ok(theirs), None) => compare_json(&file.path, &parsed.documents[0], &theirs, &mut failures),
            (Err(_), Some((name, _))) => {
                used.insert(*name);
            }
            (Ok(_), Some(_)) => failures.push(format!("{}: listed as refused, but it is not", file.path)),
            (Err(error), None) => failures.push(format!("{}: refused and not listed: {error}", file.path)),
        }
    }
    let unused = REFUSED.iter().filter(|(name, _)| !used.contains(name));
    failures.extend(unused.map(|(name, _)| format!("{name}: listed for nothing")));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare_json(path: &str, ours: &Node, theirs: &serde_json::Value, failures: &mut Vec<String>) {
    use serde_json::Value;
    match (&ours.value, theirs) {
        (Ours::List(items), Value::Array(expected)) if items.len() == expected.len() => {
            for (i, (item, expected)) in items.iter().zip(expected).enumerate() {
                compare_json(&format!("{path}[{i}]"), item, expected, failures);
            }
        }
        (Ours::Map(entries), Value::Object(expected)) => {
            let keys: BTreeSet<&str> = entries.iter().map(|e| &*e.key).collect();
            if keys != expected.keys().map(String::as_str).collect() {
                failures.push(format!("{path}: keys {keys:?}"));
            }
            for (key, value) in expected {
                compare_json(&format!("{path}.{key}"), ours.get(key).unwrap(), value, failures);
            }
        }
        (Ours::Scalar(scalar), expected) => {
            let same = match expected {
                Value::String(s) => !scalar.plain && **s == *scalar.text,
                other => scalar.plain && serde_json::from_str::<Value>(&scalar.text).is_ok_and(|v| v == *other),
            };
            if !same {
                failures.push(format!("{path}: {scalar:?}, not {expected}"));
            }
        }
        (value, expected) => failures.push(format!("{path}: {value:?}, not {expected}")),
    }
}

#[test]
fn toml_means_what_the_toml_crate_says() {
    let mut failures = Vec::new();
    for file in fixtures(&["toml"]) {
        let parsed = our_toml::parse(&file);
        failures.extend(parsed.errors.iter().map(|e| format!("{}: {}", file.path, e.message)));
        match toml::from_str::<toml::Table>(&file.text) {
            Ok(theirs) => compare_toml(&file.path, &parsed.documents[0], &toml::Value::Table(theirs), &mut failures),
            Err(error) => failures.push(format!("{}: {error}", file.path)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare_toml(path: &str, ours: &Node, theirs: &toml::Value, failures: &mut Vec<String>) {
    use toml::Value;
    let same = match (&ours.value, theirs) {
        (Ours::List(items), Value::Array(expected)) if items.len() == expected.len() => {
            for (i, (item, expected)) in items.iter().zip(expected).enumerate() {
                compare_toml(&format!("{path}[{i}]"), item, expected, failures);
            }
            true
        }
        (Ours::Map(entries), Value::Table(expected)) if entries.len() == expected.len() => {
            for entry in entries {
                match expected.get(&*entry.key) {
                    Some(value) => compare_toml(&format!("{path}.{}", entry.key), &entry.value, value, failures),
                    None => failures.push(format!("{path}: no key {:?}", entry.key)),
                }
            }
            true
        }
        (Ours::Scalar(scalar), Value::String(s)) => !scalar.plain && **s == *scalar.text,
        (Ours::Scalar(scalar), Value::Integer(n)) => scalar.plain && ours.as_int() == Some(*n),
        (Ours::Scalar(scalar), Value::Float(n)) => scalar.plain && scalar.text.replace('_', "").parse() == Ok(*n),
        (Ours::Scalar(_), Value::Boolean(b)) => ours.as_bool() == Some(*b),
        (Ours::Scalar(scalar), Value::Datetime(t)) => scalar.text.parse().ok() == Some(*t),
        _ => false,
    };
    if !same {
        failures.push(format!("{path}: {:?}, not {theirs}", ours.value));
    }
}
