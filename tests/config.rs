//! The configuration from the file to what holds: shared files, `retrylint config`, `retrylint init`, `[[allow]]`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{Folder, Output, repository, retrylint};

const KONG: &str = "_format_version: \"3.0\"\nservices:\n- name: orders\n  host: orders\n  retries: 20\n";

/// The value of a setting, and where it comes from.
fn setting(output: &Output, key: &str) -> Option<(Value, String)> {
    let json = output.json();
    let found = json["settings"].as_array().unwrap().iter().find(|s| s["key"] == key)?.clone();
    let location = &found["location"];
    let from = match (&found["flag"], location) {
        (Value::String(flag), _) => flag.clone(),
        (_, Value::Null) => found["origin"].as_str().unwrap().to_owned(),
        _ => format!("{}:{}", location["file"].as_str().unwrap(), location["line"]),
    };
    Some((found["value"].clone(), from))
}

fn monorepo() -> Folder {
    let folder = Folder::with(
        "shared.toml",
        "max-amplification = 30\nnotes = true\nexclude = [\"legacy\"]\nbaseline = \"known.json\"\n\
         [rules]\nmissing-jitter = \"off\"\nmissing-backoff = \"warning\"\n\
         [[service]]\nname = \"orders\"\nhosts = [\"orders.example\"]\n",
    );
    folder.write(
        "teams/a/retrylint.toml",
        "extend = \"../../shared.toml\"\nmax-amplification = 15\nexclude = [\"/old\"]\n[rules]\nmissing-jitter = \"note\"\n\
         [[service]]\nname = \"orders\"\nhosts = [\"orders.a.example\"]\n",
    );
    folder.write("teams/a/deploy/kong.yaml", KONG);
    folder
}

#[test]
fn keys_of_the_nearer_file_win_and_lists_are_joined() {
    let folder = monorepo();
    let output = retrylint(&folder.root.join("teams/a"), &["config", "--format", "json", "--fail-on", "note"]);
    assert_eq!(output.json()["files"], json!(["retrylint.toml", "../../shared.toml"]));
    let of = |key: &str| setting(&output, key).unwrap();
    assert_eq!(of("max-amplification"), (json!(15), "retrylint.toml:2".to_owned()));
    assert_eq!(of("notes"), (json!(true), "../../shared.toml:2".to_owned()));
    assert_eq!(of("strict"), (json!(false), "default".to_owned()));
    assert_eq!(of("fail-on"), (json!("note"), "--fail-on".to_owned()));
    assert_eq!(of("exclude[0]"), (json!("legacy"), "../../shared.toml:3".to_owned()));
    assert_eq!(of("exclude[1]"), (json!("/old"), "retrylint.toml:3".to_owned()));
    assert_eq!(of("rules.missing-jitter"), (json!("note"), "retrylint.toml:5".to_owned()));
    assert_eq!(of("rules.missing-backoff"), (json!("warning"), "../../shared.toml:7".to_owned()));
    assert_eq!(of("service[0]").0["hosts"], json!(["orders.a.example"]));
    assert_eq!(setting(&output, "service[1]"), None);
}

#[test]
fn globs_and_paths_start_at_the_file_in_which_they_are_written() {
    let folder = monorepo();
    let files = |folder: &Folder| {
        let output = retrylint(&folder.root.join("teams/a"), &["check", "--no-baseline", "--format", "json"]);
        output.json()["summary"]["files"].as_u64().unwrap()
    };
    let before = files(&folder);
    // `legacy` of the shared file is any folder of that name below it; `/old` is one folder of this team.
    folder.write("teams/a/legacy/kong.yaml", KONG).write("teams/a/old/kong.yaml", KONG);
    assert_eq!(files(&folder), before);
    folder.write("teams/a/deploy/old/kong.yaml", KONG);
    assert_eq!(files(&folder), before + 1);
    let missing = retrylint(&folder.root.join("teams/a"), &["check"]);
    assert!(missing.stderr.contains("../../known.json cannot be read"), "{}", missing.stderr);
}

#[test]
fn what_is_wrong_in_a_shared_file_points_into_it() {
    let folder = monorepo();
    folder.write("shared.toml", "max_amplification = 30\n");
    let output = retrylint(&folder.root.join("teams/a"), &["check"]);
    assert_eq!(output.code(), 2);
    assert!(output.stderr.contains("../../shared.toml:1:1"), "{}", output.stderr);
    fs::remove_file(folder.root.join("shared.toml")).unwrap();
    let output = retrylint(&folder.root.join("teams/a"), &["check"]);
    let message = "`../../shared.toml` cannot be read: no such file";
    assert!(output.stderr.contains(message) && output.stderr.contains("retrylint.toml:1:10"), "{}", output.stderr);
}

#[test]
fn files_that_extend_each_other_in_a_circle_are_an_error() {
    let folder = Folder::with("retrylint.toml", "extend = [\"b.toml\"]\n");
    folder.write("b.toml", "notes = true\nextend = \"c.toml\"\n").write("c.toml", "extend = \"retrylint.toml\"\n");
    folder.write("kong.yaml", KONG);
    let output = folder.retrylint(&["check"]);
    assert_eq!(output.code(), 2);
    assert!(output.stderr.contains("c.toml:1:10"), "{}", output.stderr);
    assert!(output.stderr.contains("retrylint.toml → b.toml → c.toml → retrylint.toml"), "{}", output.stderr);
    folder.write("retrylint.toml", "extend = \"retrylint.toml\"\n");
    assert_eq!(folder.retrylint(&["check"]).code(), 2);
    // Two files may extend the same one.
    folder.write("retrylint.toml", "extend = [\"b.toml\", \"c.toml\"]\n").write("b.toml", "extend = \"d.toml\"\n");
    folder.write("c.toml", "extend = \"d.toml\"\n").write("d.toml", "fail-on = \"never\"\n");
    assert_eq!(folder.retrylint(&["check"]).code(), 0);
}

#[test]
fn what_holds_for_one_file() {
    let folder = Folder::with("deploy/kong.yaml", KONG);
    folder.write("legacy/kong.yaml", KONG);
    folder.write(
        "retrylint.toml",
        "exclude = [\"legacy\"]\n[rules]\nmissing-jitter = \"note\"\n[[override]]\npaths = [\"deploy\"]\n\
         rules = { missing-jitter = \"off\" }\n[[allow]]\nrules = [\"fixed-backoff\"]\npaths = [\"deploy\"]\nreason = \"b\"\n\
         [[allow]]\nrules = [\"fixed-backoff\"]\npaths = [\"other\"]\nreason = \"c\"\n",
    );
    let output = folder.retrylint(&["config", "deploy/kong.yaml", "--format", "json"]);
    assert_eq!(output.json()["file"], json!({ "path": "deploy/kong.yaml", "excluded": false }));
    assert_eq!(setting(&output, "rules.missing-jitter").unwrap(), (json!("off"), "retrylint.toml:6".to_owned()));
    assert_eq!(setting(&output, "rules.retry-amplification").unwrap(), (json!("error"), "default".to_owned()));
    assert_eq!(setting(&output, "allow[0]").unwrap().0["reason"], "b");
    assert_eq!(setting(&output, "allow[1]"), None);
    let legacy = folder.retrylint(&["config", "legacy/kong.yaml", "--format", "json"]);
    assert_eq!(legacy.json()["file"]["excluded"], true);
    assert_eq!(setting(&legacy, "rules.missing-jitter").unwrap().0, "note");
    assert_eq!(folder.retrylint(&["config", "no/such.yaml"]).code(), 2);
}

#[test]
fn the_text_is_a_configuration_that_says_the_same() {
    let folder = Folder::with("kong.yaml", KONG);
    let session = repository().join("tests/cmd/settings.in");
    for file in ["retrylint.toml", "shared.toml"] {
        folder.write(file, fs::read_to_string(session.join(file)).unwrap());
    }
    let first = folder.retrylint(&["config"]).stdout;
    folder.write("retrylint.toml", &first);
    let values = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(values(&first)["exclude"].as_array().unwrap().len(), 2, "{first}");
    assert_eq!(values(&first), values(&folder.retrylint(&["config"]).stdout));
}

/// Findings and layers of a folder.
fn seen(folder: &Folder) -> (Value, Value) {
    let json = folder.check().json();
    (json["findings"].clone(), json["layers"].clone())
}

#[test]
fn a_first_configuration_changes_nothing() {
    for fixture in ["shop", "shop-fixed", "istio", "helm", "cloudformation", "syntax"] {
        let folder = Folder::new();
        let from = repository().join("fixtures").join(fixture);
        for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file()) {
            let path = entry.path().strip_prefix(&from).unwrap().to_string_lossy().into_owned();
            folder.write(&path, fs::read(entry.path()).unwrap());
        }
        let before = seen(&folder);
        let printed = folder.retrylint(&["init", "--stdout"]);
        assert_eq!(printed.code(), 0, "{fixture}: {}", printed.stderr);
        assert!(!folder.root.join("retrylint.toml").exists());
        assert_eq!(folder.retrylint(&["init"]).code(), 0);
        let written = fs::read_to_string(folder.root.join("retrylint.toml")).unwrap();
        assert_eq!(written, printed.stdout);
        assert_eq!(seen(&folder), before, "{fixture}\n{written}");
    }
}

#[test]
fn a_first_configuration_is_not_written_over_another() {
    let folder = Folder::with("kong.yaml", KONG);
    folder.write("retrylint.toml", "notes = true\n");
    let refused = folder.retrylint(&["init"]);
    assert!(refused.code() == 2 && refused.stderr.contains("is there already"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(folder.root.join("retrylint.toml")).unwrap(), "notes = true\n");
    assert_eq!(folder.retrylint(&["init", "-o", "-"]).code(), 0);
    assert_eq!(folder.retrylint(&["init", "--force"]).code(), 0);
    assert!(fs::read_to_string(folder.root.join("retrylint.toml")).unwrap().starts_with("#:schema "));
    assert_eq!(Folder::new().retrylint(&["init"]).code(), 3);
}

#[test]
fn a_first_configuration_below_another_extends_it() {
    let folder = Folder::with("retrylint.toml", "max-amplification = 30\n");
    folder.write("teams/a/kong.yaml", KONG);
    let inside = folder.root.join("teams/a");
    let findings = || retrylint(&inside, &["check", "--format", "json"]).json()["findings"].clone();
    let before = findings();
    assert_eq!(folder.retrylint(&["init", "teams/a"]).code(), 0);
    let text = fs::read_to_string(inside.join("retrylint.toml")).unwrap();
    assert!(text.contains("\nextend = \"../../retrylint.toml\"\n"), "{text}");
    assert_eq!(findings(), before);
}

/// A folder with one amplification, and what the configuration allows.
fn allowing(config: &str) -> Folder {
    let folder = Folder::with("deploy/kong.yaml", KONG);
    folder.write("retrylint.toml", config);
    folder
}

fn rules(folder: &Folder) -> Vec<String> {
    let json = folder.check().json();
    let findings = json["findings"].as_array().unwrap();
    findings.iter().filter(|f| f["severity"] != "note").map(|f| f["rule"].as_str().unwrap().to_owned()).collect()
}

const ALLOW: &str = "[[allow]]\nrules = [\"retry-amplification\"]\npaths = [\"deploy\"]\n";

#[test]
fn the_configuration_allows_findings_of_some_files() {
    let without = rules(&allowing(""));
    assert!(without.contains(&"retry-amplification".to_owned()));
    let with = allowing(&format!("{ALLOW}reason = \"a batch at night\"\n"));
    let expected: Vec<String> = without.iter().filter(|rule| *rule != "retry-amplification").cloned().collect();
    assert_eq!(rules(&with), expected);
    let suppressed = with.check().json()["suppressed"].clone();
    assert_eq!((&suppressed[0]["by"], &suppressed[0]["reason"]), (&json!("configuration"), &json!("a batch at night")));
    let other = allowing(&ALLOW.replace("deploy", "other").replace("]\npaths", "]\nreason = \"c\"\npaths"));
    assert!(rules(&other).contains(&"retry-amplification".to_owned()));
}

#[test]
fn as_much_is_asked_of_it_as_of_a_comment() {
    let invalid = |config: &str| {
        let json = allowing(config).check().json();
        let found = json["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "invalid-allow").cloned();
        found.map(|f| (f["message"].as_str().unwrap().to_owned(), f["location"]["line"].as_u64().unwrap()))
    };
    let (message, line) = invalid(ALLOW).unwrap();
    assert!(message.starts_with("this `[[allow]]` gives no reason"), "{message}");
    assert_eq!(line, 1);
    let reason = "reason = \"a batch at night\"\n";
    assert_eq!(invalid(&format!("{ALLOW}{reason}")), None);
    assert_eq!(invalid(&format!("allow-without-reason = true\n{ALLOW}")), None);
    let (message, line) = invalid(&format!("{ALLOW}{reason}until = \"2020-01-31\"\n")).unwrap();
    assert!(message.starts_with("this `[[allow]]` held until 2020-01-31"), "{message}");
    assert_eq!(line, 5);
    assert_eq!(invalid(&format!("{ALLOW}{reason}until = \"9999-01-31\"\n")), None);
    let unused = format!("{ALLOW}{reason}").replace("retry-amplification", "missing-dead-letter");
    let (message, line) = invalid(&unused).unwrap();
    assert!(message.starts_with("nothing in these files is a finding of missing-dead-letter"), "{message}");
    assert_eq!(line, 2);
    assert_eq!(invalid(&format!("allow-unused = true\n{unused}")), None);
    // What was not looked at is not unused.
    let folder = allowing(&unused.replace("\"deploy\"", "\"other\""));
    folder.write("other/kong.yaml", "_format_version: \"3.0\"\n");
    let part = folder.retrylint(&["check", "deploy", "--format", "line", "--notes"]);
    assert!(!part.stdout.contains("invalid-allow"), "{}", part.stdout);
}

#[test]
fn a_comment_without_a_reason_can_be_let_hold() {
    let folder = Folder::with("kong.yaml", KONG.replace("20\n", "20 # retrylint: allow(retry-amplification)\n"));
    assert!(rules(&folder).contains(&"invalid-allow".to_owned()));
    folder.write("shared.toml", "allow-without-reason = true\n").write("retrylint.toml", "extend = \"shared.toml\"\n");
    let now = rules(&folder);
    assert!(!now.contains(&"invalid-allow".to_owned()) && !now.contains(&"retry-amplification".to_owned()), "{now:?}");
}

#[test]
fn sarif_carries_what_is_allowed_with_its_reason() {
    let folder = allowing(&format!("{ALLOW}reason = \"a batch at night\"\n"));
    let comment = "20 # retrylint: allow(retry-amplification, reason = \"agreed\")\n";
    folder.write("edge/kong.yaml", KONG.replace("orders", "stock").replace("20\n", comment));
    let log = folder.retrylint(&["check", "--format", "sarif"]).json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let suppressed: Vec<(&Value, &Value)> = results
        .iter()
        .filter_map(|result| result["suppressions"].get(0))
        .map(|one| (&one["kind"], &one["justification"]))
        .collect();
    assert_eq!(suppressed, [(&json!("external"), &json!("a batch at night")), (&json!("inSource"), &json!("agreed"))]);
}
