//! The formats for other programs.

use super::{shop, shop_with_gaps, written};
use crate::report::{Checkstyle, Github, Gitlab, Junit, Line, Sarif};
use crate::run::Run;

#[test]
fn sarif() {
    let text = written(&Sarif, &shop_with_gaps());
    // The pages of the rules are tested elsewhere.
    let mut log: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let driver = &mut log["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].take();
    let rules = rules.as_array().expect("rules");
    assert_eq!(rules.len(), crate::rules::all().len());
    assert!(rules.iter().all(|rule| rule["help"]["markdown"].as_str().is_some_and(|page| page.starts_with('#'))));
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).expect("JSON"));
}

#[test]
fn each_result_of_sarif_names_its_rule_by_index() {
    let log: serde_json::Value = serde_json::from_str(&written(&Sarif, &shop().run())).expect("JSON");
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    assert!(!results.is_empty());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

#[test]
fn github() {
    insta::assert_snapshot!(written(&Github { notes: true }, &shop_with_gaps()));
}

#[test]
fn gitlab() {
    insta::assert_snapshot!(written(&Gitlab { notes: true }, &shop_with_gaps()));
}

#[test]
fn junit() {
    insta::assert_snapshot!(written(&Junit { notes: true }, &shop_with_gaps()));
}

#[test]
fn a_clean_run_is_a_test_that_passed() {
    let clean = written(&Junit { notes: true }, &crate::run::Run::default());
    assert!(clean.contains("tests=\"1\" failures=\"0\"") && clean.contains("<testcase "), "{clean}");
}

#[test]
fn checkstyle() {
    insta::assert_snapshot!(written(&Checkstyle { notes: true }, &shop_with_gaps()));
}

#[test]
fn one_line_a_finding() {
    let text = written(&Line { notes: true }, &shop_with_gaps());
    assert_eq!(text.lines().count(), shop_with_gaps().findings.len());
    insta::assert_snapshot!(text);
}

#[test]
fn notes_are_left_out_unless_asked_for() {
    let mut run = shop().run();
    for finding in &mut run.findings {
        finding.severity = crate::rules::Severity::Note;
    }
    assert_eq!(written(&Line { notes: false }, &run), "");
    assert_eq!(written(&Github { notes: false }, &run), "");
    assert_eq!(written(&Gitlab { notes: false }, &run), "[]\n");
}

fn fingerprints(run: &Run) -> Vec<&str> {
    run.findings.iter().map(|finding| &*finding.fingerprint.own).collect()
}

#[test]
fn fingerprints_are_of_the_layers_and_not_of_their_places() {
    let run = shop().run();
    let mut moved = shop();
    for layer in &mut moved.model.layers {
        layer.place.start += 1;
        layer.place.end += 1;
    }
    assert_eq!(fingerprints(&run), fingerprints(&moved.run()));
    let mut other = shop();
    other.model.layers[0].id = "kong:service:basket".into();
    assert_ne!(fingerprints(&run), fingerprints(&other.run()));
}

#[test]
fn findings_that_are_alike_have_fingerprints_of_their_own() {
    let mut run = shop().run();
    run.findings.push(run.findings[0].clone());
    crate::rules::fingerprint::assign(&mut run.findings, &run.model);
    let all = fingerprints(&run);
    let unique: std::collections::BTreeSet<&&str> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}
