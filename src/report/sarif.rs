//! SARIF 2.1.0, for code scanning: one code flow a path, with each layer as a step.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Places, Report};
use crate::baseline::{Compared, Entry};
use crate::model::Setting;
use crate::rules::fingerprint::path_of;
use crate::rules::{self, Finding, RuleMeta, Severity};
use crate::run::Run;
use crate::source::{Span, Unread, shown};

/// The SARIF report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sarif;

impl Report for Sarif {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &log(run))?;
        writeln!(out)
    }
}

fn log(run: &Run) -> Value {
    let mut places = Places::new(&run.sources);
    let rules: Vec<&'static RuleMeta> = rules::all().iter().map(|rule| rule.meta()).collect();
    let index: Index<'_> = rules.iter().enumerate().map(|(i, rule)| (rule.id, i)).collect();
    let mut results: Vec<Value> = Vec::new();
    let state = run.baseline.is_some().then_some("new");
    results.extend(run.findings.iter().map(|finding| with_state(result(finding, &index, run, &mut places), state)));
    if let Some(Compared { known, gone, .. }) = &run.baseline {
        let unchanged = Some("unchanged");
        results.extend(known.iter().map(|finding| with_state(result(finding, &index, run, &mut places), unchanged)));
        results.extend(gone.iter().map(|entry| with_state(absent(entry, &index), Some("absent"))));
    }
    results.extend(run.suppressed.iter().map(|finding| suppressed(finding, &index, run, &mut places)));
    let unread: Vec<Value> = run.unread.iter().map(|unread| notification(unread, &mut places)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "retrylint",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": concat!("https://docs.rs/retrylint/", env!("CARGO_PKG_VERSION")),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": unread }],
            "results": results,
        }],
    })
}

fn descriptor(rule: &RuleMeta) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "helpUri": rule.url(),
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": rule.level.name() },
        "properties": { "tags": ["reliability"], "problem.severity": problem(rule.level) },
    })
}

/// What code scanning sorts by.
fn problem(level: Severity) -> &'static str {
    match level {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "recommendation",
    }
}

/// Rules to their places in the list of rules.
type Index<'r> = BTreeMap<&'r str, usize>;

/// With what a baseline says of it.
fn with_state(mut result: Value, state: Option<&str>) -> Value {
    if let (Some(state), Some(fields)) = (state, result.as_object_mut()) {
        fields.insert("baselineState".to_owned(), json!(state));
    }
    result
}

/// A finding that somebody says is right as it is, and why.
fn suppressed(finding: &Finding, index: &Index<'_>, run: &Run, places: &mut Places<'_>) -> Value {
    let mut out = result(finding, index, run, places);
    let (Some(permitted), Some(fields)) = (&finding.permitted, out.as_object_mut()) else { return out };
    let mut suppression = Map::new();
    suppression.insert("kind".to_owned(), json!(if permitted.in_source { "inSource" } else { "external" }));
    suppression.insert("status".to_owned(), json!("accepted"));
    suppression.insert("location".to_owned(), location(permitted.place, None, places));
    if let Some(reason) = &permitted.reason {
        suppression.insert("justification".to_owned(), json!(reason));
    }
    fields.insert("suppressions".to_owned(), json!([suppression]));
    out
}

/// What a baseline lists and is found no more.
fn absent(entry: &Entry, index: &Index<'_>) -> Value {
    let mut out = json!({
        "ruleId": entry.rule,
        "message": { "text": entry.message },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(&entry.file) } }],
        "partialFingerprints": { "retrylint/v1": entry.fingerprint },
    });
    if let (Some(rule), Some(fields)) = (index.get(&*entry.rule), out.as_object_mut()) {
        fields.insert("ruleIndex".to_owned(), json!(rule));
    }
    out
}

fn result(finding: &Finding, index: &Index<'_>, run: &Run, places: &mut Places<'_>) -> Value {
    let help = finding.help.iter().map(|help| format!("\n\n{help}")).collect::<String>();
    let related: Vec<Value> = finding
        .labels
        .iter()
        .enumerate()
        .map(|(i, label)| with_id(i, location(label.span, Some(&label.text), places)))
        .collect();
    let mut out = json!({
        "ruleId": finding.rule.id,
        "level": finding.severity.name(),
        "message": { "text": format!("{}{help}", finding.message) },
        "locations": [location(finding.primary.span, Some(&finding.primary.text), places)],
        "partialFingerprints": { "retrylint/v1": &*finding.fingerprint.own },
        "properties": { "confidence": finding.confidence.name() },
    });
    let Some(fields) = out.as_object_mut() else { return out };
    if let Some(rule) = index.get(finding.rule.id) {
        fields.insert("ruleIndex".to_owned(), json!(rule));
    }
    if !related.is_empty() {
        fields.insert("relatedLocations".to_owned(), json!(related));
    }
    let steps = steps(finding, run, places);
    if !steps.is_empty() {
        fields.insert("codeFlows".to_owned(), json!([{ "threadFlows": [{ "locations": steps }] }]));
    }
    out
}

/// The layers of a finding's path, outermost first.
fn steps(finding: &Finding, run: &Run, places: &mut Places<'_>) -> Vec<Value> {
    let layers = path_of(finding, &run.model).into_iter().flat_map(|path| run.model.layers_of(path));
    layers
        .map(|layer| {
            let attempts = match layer.attempts.value().and_then(|attempts| attempts.count()) {
                Some(n) => format!("{n} attempts"),
                None if matches!(layer.attempts, Setting::Unknown { .. }) => "attempts not known".to_owned(),
                None => "attempts without end".to_owned(),
            };
            json!({ "location": location(layer.place, Some(&format!("{attempts}: {}", layer.reading)), places) })
        })
        .collect()
}

fn with_id(id: usize, mut location: Value) -> Value {
    if let Some(fields) = location.as_object_mut() {
        fields.insert("id".to_owned(), json!(id + 1));
    }
    location
}

fn location(span: Span, text: Option<&str>, places: &mut Places<'_>) -> Value {
    let place = places.place(span);
    let mut out = json!({
        "physicalLocation": {
            "artifactLocation": artifact(&place.path),
            "region": {
                "startLine": place.start.line,
                "startColumn": place.start.column,
                "endLine": place.end.line,
                "endColumn": place.end.column,
                "byteOffset": span.start,
                "byteLength": span.end.saturating_sub(span.start),
            },
        },
    });
    if let (Some(text), Some(fields)) = (text, out.as_object_mut()) {
        fields.insert("message".to_owned(), json!({ "text": text }));
    }
    out
}

fn artifact(path: &str) -> Value {
    json!({ "uri": shown::encoded(path) })
}

/// A file, or a part of one, that was not read.
fn notification(unread: &Unread, places: &mut Places<'_>) -> Value {
    let at = match unread.span {
        Some(span) => location(span, None, places),
        None => json!({ "physicalLocation": { "artifactLocation": artifact(&unread.path) } }),
    };
    json!({ "level": "warning", "message": { "text": format!("not read: {}", unread.reason) }, "locations": [at] })
}
