//! An independent reader as the oracle: every YAML fixture that serde_yaml accepts must mean the same to us.
#![allow(clippy::unwrap_used)] // A test that cannot go on should stop.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retrylint::source::{FileId, SourceFile};
use retrylint::syntax::{Node, Parsed, Value as Ours, yaml};
use serde::Deserialize;
use serde_yaml::Value;

/// Fixtures that serde_yaml refuses, and what we do instead.
const REFUSED: &[(&str, &str)] = &[
    ("syntax/duplicate-keys.yaml", "a mapping with a key twice: we keep both, the last one counts"),
    ("syntax/cyclic-alias.yaml", "an alias inside its anchor: we lose that document alone, with an error"),
    ("syntax/undefined-alias.yaml", "an alias without an anchor: we read null there, with an error"),
    ("syntax/broken-document.yaml", "a document that is no YAML: we lose that document alone, with an error"),
    ("syntax/tab-before-comment.yaml", "a tab before a comment: YAML allows it, libyaml does not"),
    ("helm/books/templates/prices.yaml", "a chart's template: we read it with its actions left out"),
    ("helm/books/templates/web.yaml", "a chart's template: we read it with its actions left out"),
    ("helm/shop/charts/stock/templates/proxy.yaml", "a chart's template: we read it with its actions left out"),
    ("helm/shop/templates/orders.yaml", "a chart's template: we read it with its actions left out"),
    ("syntax/merge-of-a-scalar.yaml", "a merge key with a scalar: an ordinary key to us, with an error"),
];

/// Plain scalars on whose type the two disagree, and why. They must still be the same text.
const READ_OTHERWISE: &[(&str, &str)] = &[
    (
        "1_000",
        "YAML 1.1 allows the underscore, and so do many of the programs whose settings we read; serde_yaml: a text",
    ),
    ("007", "octal in YAML 1.1, decimal in 1.2, where we read it; serde_yaml: a text"),
    (".inf", "we have no use for an infinite number"),
    ("-.inf", "we have no use for an infinite number"),
    (".nan", "we have no use for what is not a number"),
    ("18446744073709551615", "beyond i64: no count of ours, read as a fraction"),
];

fn fixtures(endings: &[&str]) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found: Vec<_> = walkdir::WalkDir::new(&root)
        .into_iter()
        .filter_entry(|e| e.file_name() != "target")
        .map(|entry| entry.unwrap().into_path())
        .filter(|p| p.is_file() && p.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)))
        .map(|p| (p.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"), p))
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

fn read(name: &str, path: &Path) -> Option<SourceFile> {
    // Files that are no UTF-8 are hostile input, tested elsewhere.
    let text = std::fs::read_to_string(path).ok()?;
    Some(SourceFile { id: FileId(0), path: name.into(), text: text.into() })
}

/// The documents of a stream with all merge keys applied.
fn oracle(text: &str) -> Result<Vec<Value>, String> {
    let mut documents = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let mut value = Value::deserialize(document).map_err(|e| e.to_string())?;
        // One round leaves the merge keys of what was merged.
        loop {
            let before = value.clone();
            value.apply_merge().map_err(|e| e.to_string())?;
            if value == before {
                break;
            }
        }
        documents.push(value);
    }
    Ok(documents)
}

#[test]
fn yaml_means_what_serde_yaml_says() {
    let mut used = BTreeSet::new();
    let mut failures = Vec::new();
    for (name, path) in fixtures(&["yaml", "yml"]) {
        let Some(file) = read(&name, &path) else { continue };
        let parsed = yaml::parse(&file);
        let listed = REFUSED.iter().find(|(suffix, _)| name == *suffix);
        match oracle(&file.text) {
            Ok(_) if listed.is_some() => failures.push(format!("{name}: listed as refused, but it is not")),
            Err(error) if listed.is_none() => {
                failures.push(format!("{name}: refused by serde_yaml and not listed: {error}"))
            }
            Err(_) => {
                used.insert(name.clone());
            }
            Ok(theirs) => compare_stream(&name, &parsed, &theirs, &mut used, &mut failures),
        }
    }
    let listed = REFUSED.iter().chain(READ_OTHERWISE).map(|(what, _)| *what);
    failures.extend(listed.filter(|what| !used.contains(*what)).map(|what| format!("{what}: listed for nothing")));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare_stream(
    name: &str,
    ours: &Parsed,
    theirs: &[Value],
    used: &mut BTreeSet<String>,
    failures: &mut Vec<String>,
) {
    failures.extend(ours.errors.iter().map(|e| format!("{name}: only we refuse it: {}", e.message)));
    // An empty stream has one null document to serde_yaml.
    let theirs = if ours.documents.is_empty() && theirs == [Value::Null] { &[] } else { theirs };
    if ours.documents.len() != theirs.len() {
        failures.push(format!("{name}: {} documents, not {}", ours.documents.len(), theirs.len()));
    }
    for (i, (ours, theirs)) in ours.documents.iter().zip(theirs).enumerate() {
        compare(&format!("{name}[{i}]"), ours, theirs, used, failures);
    }
}

fn compare(path: &str, ours: &Node, theirs: &Value, used: &mut BTreeSet<String>, failures: &mut Vec<String>) {
    let theirs = match (theirs, &ours.tag) {
        (Value::Tagged(tagged), Some(tag))
            if tagged.tag.to_string().trim_start_matches('!') == tag.trim_start_matches('!') =>
        {
            &tagged.value
        }
        (Value::Tagged(_), _) | (_, Some(_)) => {
            failures.push(format!("{path}: tagged {:?}, not {theirs:?}", ours.tag));
            return;
        }
        (theirs, None) => theirs,
    };
    match (&ours.value, theirs) {
        (Ours::List(items), Value::Sequence(expected)) if items.len() == expected.len() => {
            for (i, (item, expected)) in items.iter().zip(expected).enumerate() {
                compare(&format!("{path}[{i}]"), item, expected, used, failures);
            }
        }
        (Ours::Map(entries), Value::Mapping(expected)) if entries.len() == expected.len() => {
            for entry in entries {
                let found = expected.iter().find(|(key, _)| is_key(&entry.key, key));
                match found {
                    Some((_, value)) => compare(&format!("{path}.{}", entry.key), &entry.value, value, used, failures),
                    None => failures.push(format!("{path}: serde_yaml has no key {:?}", entry.key)),
                }
            }
        }
        (Ours::Scalar(scalar), _) if scalar.plain && READ_OTHERWISE.iter().any(|(text, _)| *text == &*scalar.text) => {
            used.insert(scalar.text.to_string());
            let same_text = match theirs {
                Value::String(s) => *s == *scalar.text,
                other => serde_yaml::from_str::<Value>(&scalar.text).is_ok_and(|v| v == *other || is_nan(&v)),
            };
            if !same_text {
                failures.push(format!("{path}: {:?}, not {theirs:?}", scalar.text));
            }
        }
        (Ours::Scalar(_), _) if meaning(ours) == *theirs => {}
        (value, _) => failures.push(format!("{path}: {value:?}, not {theirs:?}")),
    }
}

fn is_nan(value: &Value) -> bool {
    value.as_f64().is_some_and(f64::is_nan)
}

/// What our queries say of a scalar.
fn meaning(node: &Node) -> Value {
    let scalar = node.scalar().unwrap();
    if node.is_null() {
        return Value::Null;
    }
    let typed = if scalar.plain {
        (node.as_bool().map(Value::from))
            .or_else(|| node.as_int().map(Value::from))
            .or_else(|| node.as_f64().map(Value::from))
    } else {
        None
    };
    typed.unwrap_or_else(|| Value::from(&*scalar.text))
}

/// Whether a key's text is this key: a text as it is, anything else by what it means.
fn is_key(text: &str, key: &Value) -> bool {
    match key {
        Value::String(s) => s == text,
        other => serde_yaml::from_str::<Value>(text).is_ok_and(|v| v == *other),
    }
}
