//! The forms of output for other programs, held against their schemas. Where those are from: tests/schemas/README.md.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::{Folder, finish, repository, retrylint, tool};

/// Folders with something for every part of a form: all severities, paths, notes on what was not read, odd names.
fn folders() -> Vec<(String, Option<Folder>)> {
    let kong = "_format_version: \"3.0\"\nservices:\n- name: \"a <&> \\\"b\\\" \\u0001 '\"\n  host: x\n  retries: 30\n";
    let odd = Folder::with("a & <b> \"c\" 'd' %20 é #1?.yaml", kong);
    odd.write("broken.yaml", "a: [\n_format_version: \"3.0\"\n");
    let root = odd.root.to_string_lossy().into_owned();
    vec![
        ("fixtures/shop".to_owned(), None),
        ("fixtures/shop-fixed".to_owned(), None),
        ("fixtures/kong".to_owned(), None),
        ("fixtures/rabbitmq".to_owned(), None),
        (root, Some(odd)),
    ]
}

/// Each folder in a form.
fn each(form: &str, judge: impl Fn(&str, &str)) {
    let mut findings = 0;
    for (folder, odd) in folders() {
        let (cwd, path) = match &odd {
            Some(odd) => (odd.root.as_path(), "."),
            None => (repository(), folder.as_str()),
        };
        let output = retrylint(cwd, &["check", "--notes", "--format", form, path]);
        assert!(output.code() < 2, "{}", output.stderr);
        findings += usize::from(output.code() == 1);
        judge(&folder, &output.stdout);
    }
    assert!(findings > 1, "of {form} only reports without errors were looked at");
}

fn schema(name: &str) -> Value {
    let path = repository().join("tests/schemas").join(name);
    serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// What a schema says of a text.
fn problems(schema: &jsonschema::Validator, text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text).expect("JSON");
    schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("a schema")
}

#[test]
fn sarif_is_what_its_schema_says() {
    let mut schema = schema("sarif-2.1.0.json");
    // The pattern that it has for languages is no regular expression of JSON Schema: a bracket closes that none opens.
    for of in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][of]["properties"]["language"]["pattern"];
        assert_eq!(pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        *pattern = json!("^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
    }
    let schema = validator(&schema);
    each("sarif", |folder, text| assert_eq!(problems(&schema, text), Vec::<String>::new(), "{folder}"));
    let wrong = json!({"version": "2.1.0", "runs": [{"tool": {}, "results": [{"level": "fatal"}]}]}).to_string();
    assert!(problems(&schema, &wrong).len() > 2, "the schema refuses nothing");
}

#[test]
fn code_quality_is_what_gitlab_documents() {
    let schema = validator(&schema("gitlab-code-quality.json"));
    each("gitlab", |folder, text| {
        assert_eq!(problems(&schema, text), Vec::<String>::new(), "{folder}");
        let issues: Vec<Value> = serde_json::from_str(text).expect("JSON");
        let mut prints: Vec<&str> = issues.iter().map(|i| i["fingerprint"].as_str().unwrap()).collect();
        prints.sort_unstable();
        let all = prints.len();
        prints.dedup();
        assert_eq!(prints.len(), all, "{folder}: GitLab drops all but one of equal fingerprints");
    });
    let wrong = json!([{"description": "x", "severity": "error", "location": {"path": "./a"}}]).to_string();
    assert!(problems(&schema, &wrong).len() > 2, "the schema refuses nothing");
}

/// Whether a text is what an XSD says; `None` where there is nothing to ask.
fn is_valid(xsd: &str, text: &str) -> Option<(bool, String)> {
    let xmllint = tool("xmllint")?;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let schema = repository().join("tests/schemas").join(xsd);
    let output = finish(Command::new(xmllint).args(["--nonet", "--noout", "--schema"]).arg(schema).arg(file.path()));
    Some((output.status.success(), output.stderr))
}

#[test]
fn junit_is_what_jenkins_takes() {
    each("junit", |folder, text| {
        let Some((valid, told)) = is_valid("junit-10.xsd", text) else { return };
        assert!(valid, "{folder}: {told}");
    });
    let wrong = is_valid("junit-10.xsd", "<testsuites><testcase name=\"x\"/></testsuites>");
    assert!(wrong.is_none_or(|(valid, _)| !valid), "the schema refuses nothing");
}

#[test]
fn checkstyle_is_what_checkstyle_writes() {
    each("checkstyle", |folder, text| {
        let Some((valid, told)) = is_valid("checkstyle.xsd", text) else { return };
        assert!(valid, "{folder}: {told}");
    });
    let wrong = is_valid(
        "checkstyle.xsd",
        "<checkstyle version=\"1\"><file name=\"a\"><error line=\"0\"/></file></checkstyle>",
    );
    assert!(wrong.is_none_or(|(valid, _)| !valid), "the schema refuses nothing");
}
