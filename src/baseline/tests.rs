use super::*;
use crate::rules::Severity;
use crate::testing::Draft;

/// As many loops without jitter as there are names.
fn run(names: &[&str]) -> Run {
    let mut draft = Draft::new();
    for name in names {
        let layer = draft.any_layer(name);
        layer.jitter = crate::model::Setting::default(crate::model::Jitter::None, "the documentation");
    }
    let run = draft.run();
    Run { findings: run.findings.iter().filter(|f| f.rule.id == "missing-jitter").cloned().collect(), ..run }
}

fn baseline(run: &Run) -> Vec<Entry> {
    renewed(run, false).entries
}

fn files(findings: &[Finding], run: &Run) -> Vec<String> {
    entries(findings, run).into_iter().map(|entry| entry.file).collect()
}

#[test]
fn what_is_known_is_no_finding_and_what_is_gone_is_told() {
    let old = baseline(&run(&["a", "b"]));
    assert_eq!(old.len(), 2);
    let now = compare(run(&["b", "c"]), &old, |_| true);
    let compared = now.baseline.clone().unwrap();
    assert_eq!(files(&now.findings, &now), ["c"]);
    assert_eq!(files(&compared.known, &now), ["b"]);
    assert_eq!(compared.gone.iter().map(|e| &*e.file).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn of_findings_that_are_alike_as_many_are_known_as_are_listed() {
    let twice = |run: Run| {
        let mut run = run;
        run.findings = [run.findings.clone(), run.findings.clone()].concat();
        run
    };
    let once = baseline(&run(&["a"]));
    let now = compare(twice(run(&["a"])), &once, |_| true);
    assert_eq!((now.findings.len(), now.baseline.map(|c| c.known.len())), (1, Some(1)));
    let both = baseline(&twice(run(&["a"])));
    assert_eq!(both.len(), 2);
    assert_eq!(compare(run(&["a"]), &both, |_| true).baseline.map(|c| c.gone.len()), Some(1));
}

#[test]
fn of_those_that_are_alike_the_one_in_the_known_file_is_known() {
    let mut old = baseline(&run(&["a"]));
    let mut two = run(&["a", "b"]);
    let fingerprint = two.findings[0].fingerprint.clone();
    two.findings[1].fingerprint = fingerprint;
    old[0].file = "b".to_owned();
    let now = compare(two, &old, |_| true);
    assert_eq!(files(&now.findings, &now), ["a"]);
}

#[test]
fn a_level_that_the_configuration_changes_makes_no_finding_new() {
    let old = baseline(&run(&["a"]));
    let mut now = run(&["a"]);
    now.findings[0].severity = Severity::Note;
    assert!(compare(now, &old, |_| true).findings.is_empty());
}

#[test]
fn a_path_that_has_grown_is_new() {
    let of = |attempts: u64| {
        let mut draft = Draft::new();
        draft.any_layer("a").attempts = crate::model::Setting::written(
            crate::model::Attempts::Count(attempts),
            crate::source::Span::start_of(crate::source::FileId(0)),
        );
        draft.any_layer("b");
        draft.path("c", crate::model::Mode::Status(503), &[0, 1]);
        draft.run()
    };
    let is_new = |run: Run| compare(run, &baseline(&of(10)), |_| true).findings.iter().any(|f| f.path.is_some());
    assert!(!is_new(of(10)) && !is_new(of(9)) && is_new(of(11)));
}

#[test]
fn what_was_not_looked_at_is_not_gone_and_stays() {
    let old = baseline(&run(&["a", "b", "c"]));
    let now = compare(run(&["a"]), &old, |file| file != "c");
    let pruned = renewed(&now, true);
    assert_eq!((pruned.new, pruned.gone), (0, 1));
    assert_eq!(pruned.entries.iter().map(|e| &*e.file).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn the_file_says_the_same_wherever_it_is_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("ci")).unwrap();
    let entries = baseline(&run(&["deploy/a.yaml"]));
    let text = text(&entries, "ci/b.json".as_ref(), &root).unwrap();
    assert!(text.contains("\"file\": \"../deploy/a.yaml\""), "{text}");
    std::fs::write(root.join("ci/b.json"), &text).unwrap();
    assert_eq!(read("ci/b.json".as_ref(), &root).unwrap(), entries);
    let inside = read("b.json".as_ref(), &root.join("ci")).unwrap();
    assert_eq!(inside[0].file, "../deploy/a.yaml");
}

#[test]
fn what_is_no_baseline_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = |text: &str| {
        std::fs::write(folder.path().join("b.json"), text).unwrap();
        read("b.json".as_ref(), folder.path()).unwrap_err().to_string()
    };
    assert!(said("{}").starts_with("b.json is no baseline: missing field `schema_version`"));
    assert_eq!(
        said("{\"schema_version\": 2, \"findings\": []}"),
        "b.json is no baseline: its version is 2, and this program reads 1"
    );
    let missing = read("none.json".as_ref(), folder.path()).unwrap_err().to_string();
    assert_eq!(missing, "the baseline none.json cannot be read: no such file; `retrylint baseline` writes one");
}
