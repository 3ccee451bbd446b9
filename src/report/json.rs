//! JSON, version 1: stable, others parse it.
//!
//! Lines and columns count from 1, columns in characters; bytes from 0; ends are exclusive.
//! Within version 1 fields may be added; none is renamed, removed or changes its meaning.
//!
//! Of a path on which something is tried without end `product` is null, and so is `sustained`, unless a retry budget
//! bounds the load; `attempts` is null for a layer that never ends and for one whose count is not known.

use std::io::{self, Write};

use serde::Serialize;

use super::{Places, Report, ends};
use crate::baseline::Compared;
use crate::model::{Jitter, Layer, LayerIx, Load, Model, Path, Setting, Unresolved, Wait, WorstTime};
use crate::rules::{Finding, Label, Severity};
use crate::run::Run;
use crate::source::{Span, Unread};

/// The probabilities of a failing try for which the expected load is told.
const FAILING: [f64; 5] = [0.01, 0.1, 0.5, 0.9, 1.0];

/// The JSON report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Report for Json {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Writer::new(run).report(run))?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct ReportJson<'r> {
    schema_version: u32,
    tool: ToolJson,
    findings: Vec<FindingJson<'r>>,
    suppressed: Vec<SuppressedJson<'r>>,
    baseline: Option<BaselineJson<'r>>,
    since: Option<SinceJson<'r>>,
    paths: Vec<PathJson<'r>>,
    paths_truncated: bool,
    layers: Vec<LayerJson<'r>>,
    unresolved: Vec<UnresolvedJson<'r>>,
    unread: Vec<UnreadJson<'r>>,
    /// Files that say that a program wrote them, which were left alone.
    skipped: Vec<SkippedJson<'r>>,
    summary: SummaryJson,
}

/// A finding that a comment or the configuration allows.
#[derive(Serialize)]
struct SuppressedJson<'r> {
    rule: &'static str,
    severity: &'static str,
    fingerprint: &'r str,
    message: &'r str,
    location: LocationJson,
    /// "comment" or "configuration".
    by: &'static str,
    reason: Option<&'r str>,
    /// Where it is allowed.
    allowed_at: LocationJson,
}

/// What the findings were compared with.
#[derive(Serialize)]
struct BaselineJson<'r> {
    /// How many findings it knows: they are not listed.
    unchanged: usize,
    /// What it lists and is found no more.
    absent: Vec<AbsentJson<'r>>,
}

#[derive(Serialize)]
struct AbsentJson<'r> {
    rule: &'r str,
    message: &'r str,
    file: &'r str,
    fingerprint: &'r str,
}

#[derive(Serialize)]
struct ToolJson {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct LocationJson {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    start_byte: u32,
    end_byte: u32,
}

#[derive(Serialize)]
struct LabelJson<'r> {
    location: LocationJson,
    text: &'r str,
}

#[derive(Serialize)]
struct FindingJson<'r> {
    rule: &'static str,
    rule_url: String,
    severity: &'static str,
    confidence: &'static str,
    fingerprint: &'r str,
    message: &'r str,
    help: Option<&'r str>,
    location: LocationJson,
    labels: Vec<LabelJson<'r>>,
    path: Option<FindingPathJson<'r>>,
}

/// The path of a finding: what one request at its entry can cause.
#[derive(Serialize)]
struct FindingPathJson<'r> {
    product: Option<u64>,
    unbounded: bool,
    at_least: bool,
    sustained: Option<f64>,
    failure: String,
    layers: Vec<LayerRefJson<'r>>,
}

#[derive(Serialize)]
struct PathJson<'r> {
    product: Option<u64>,
    unbounded: bool,
    at_least: bool,
    sustained: Option<f64>,
    failure: String,
    entry: &'r str,
    leaf: &'r str,
    layers: Vec<LayerRefJson<'r>>,
    /// How long one request at the entry can take at worst.
    worst_time: TimeJson,
    /// What the leaf gets on average, where each try at it fails with some probability.
    expected_load: Vec<LoadJson>,
}

/// Times in seconds.
#[derive(Debug, Serialize)]
pub struct TimeJson {
    /// All of it; null where nothing limits some try, or nothing ends the tries.
    pub seconds: Option<f64>,
    /// What is known of it: the waits, and the tries whose length something limits.
    pub known_seconds: f64,
    /// Whether nothing ends it.
    pub unbounded: bool,
}

/// Requests at the leaf for one at the entry.
#[derive(Debug, Serialize)]
pub struct LoadJson {
    /// The probability that one try at the leaf fails.
    pub failing: f64,
    /// null where nothing bounds them.
    pub requests: Option<f64>,
    /// The same with retry budgets.
    pub sustained: Option<f64>,
}

#[derive(Serialize)]
struct LayerRefJson<'r> {
    id: &'r str,
    name: &'r str,
    system: &'static str,
    attempts: Option<u64>,
    unbounded: bool,
    default: bool,
    location: LocationJson,
}

#[derive(Serialize)]
struct LayerJson<'r> {
    id: &'r str,
    name: &'r str,
    system: &'static str,
    kind: &'static str,
    component: Option<String>,
    target: Option<String>,
    attempts: Option<u64>,
    unbounded: bool,
    default: bool,
    backoff: &'static str,
    jitter: &'static str,
    retries_on: Vec<String>,
    perhaps_on: Vec<String>,
    retry_after: Option<bool>,
    reason: Option<&'r str>,
    source: Option<&'static str>,
    location: LocationJson,
}

#[derive(Serialize)]
struct UnresolvedJson<'r> {
    what: &'r str,
    reason: &'r str,
    location: LocationJson,
}

#[derive(Serialize)]
struct UnreadJson<'r> {
    file: &'r str,
    reason: &'r str,
    location: Option<LocationJson>,
}

#[derive(Serialize)]
struct SkippedJson<'r> {
    file: &'r str,
    reason: String,
}

#[derive(Serialize)]
struct SummaryJson {
    files: usize,
    layers: usize,
    paths: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

/// What was left out because it has not changed.
#[derive(Serialize)]
struct SinceJson<'r> {
    revision: &'r str,
    left_out: usize,
}

fn baseline(compared: &Compared) -> BaselineJson<'_> {
    let absent = compared.gone.iter().map(|entry| AbsentJson {
        rule: &entry.rule,
        message: &entry.message,
        file: &entry.file,
        fingerprint: &entry.fingerprint,
    });
    BaselineJson { unchanged: compared.known.len(), absent: absent.collect() }
}

/// Turns the parts of a run into their JSON forms.
struct Writer<'r> {
    model: &'r Model,
    places: Places<'r>,
}

impl<'r> Writer<'r> {
    fn new(run: &'r Run) -> Self {
        Self { model: &run.model, places: Places::new(&run.sources) }
    }

    fn report(mut self, run: &'r Run) -> ReportJson<'r> {
        let model = self.model;
        ReportJson {
            schema_version: 1,
            tool: ToolJson { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            findings: run.findings.iter().map(|f| self.finding(f)).collect(),
            suppressed: run.suppressed.iter().filter_map(|finding| self.suppressed(finding)).collect(),
            baseline: run.baseline.as_ref().map(baseline),
            since: run.since.as_ref().map(|left| SinceJson { revision: &left.revision, left_out: left.findings }),
            paths: model.paths.iter().map(|p| self.path(p)).collect(),
            paths_truncated: model.paths_truncated,
            layers: self.layers(),
            unresolved: model.unresolved.iter().map(|u| self.unresolved(u)).collect(),
            unread: run.unread.iter().map(|u| self.unread(u)).collect(),
            skipped: run.generated().map(|a| SkippedJson { file: &a.path, reason: a.fate.reason() }).collect(),
            summary: SummaryJson {
                files: run.files,
                layers: model.layers.len(),
                paths: model.paths.len(),
                errors: run.count(Severity::Error),
                warnings: run.count(Severity::Warning),
                notes: run.count(Severity::Note),
            },
        }
    }

    fn finding(&mut self, finding: &'r Finding) -> FindingJson<'r> {
        let model = self.model;
        let path = finding.path.and_then(|ix| model.paths.get(ix.0 as usize));
        FindingJson {
            rule: finding.rule.id,
            rule_url: finding.rule.url(),
            severity: finding.severity.name(),
            confidence: finding.confidence.name(),
            fingerprint: &finding.fingerprint.own,
            message: &finding.message,
            help: finding.help.as_deref(),
            location: self.location(finding.primary.span),
            labels: finding.labels.iter().map(|l| self.label(l)).collect(),
            path: path.map(|p| FindingPathJson {
                product: product(p),
                unbounded: p.unbounded,
                at_least: p.at_least,
                sustained: sustained(p),
                failure: p.failure.to_string(),
                layers: self.layer_refs(p),
            }),
        }
    }

    fn suppressed(&mut self, finding: &'r Finding) -> Option<SuppressedJson<'r>> {
        let permitted = finding.permitted.as_ref()?;
        Some(SuppressedJson {
            rule: finding.rule.id,
            severity: finding.severity.name(),
            fingerprint: &finding.fingerprint.own,
            message: &finding.message,
            location: self.location(finding.primary.span),
            by: if permitted.in_source { "comment" } else { "configuration" },
            reason: permitted.reason.as_deref(),
            allowed_at: self.location(permitted.place),
        })
    }

    fn path(&mut self, path: &'r Path) -> PathJson<'r> {
        PathJson {
            product: product(path),
            unbounded: path.unbounded,
            at_least: path.at_least,
            sustained: sustained(path),
            failure: path.failure.to_string(),
            entry: &path.entry,
            leaf: &path.leaf,
            layers: self.layer_refs(path),
            worst_time: worst_time(path.time),
            expected_load: expected_load(self.model, path),
        }
    }

    fn layer_refs(&mut self, path: &Path) -> Vec<LayerRefJson<'r>> {
        let model = self.model;
        let layers = path.layers.iter().filter_map(|ix| model.layers.get(ix.0 as usize));
        layers
            .map(|layer| LayerRefJson {
                id: &layer.id,
                name: &layer.name,
                system: layer.system,
                attempts: attempts(layer),
                unbounded: layer.is_unbounded(),
                default: layer.attempts.is_default(),
                location: self.location(layer.place),
            })
            .collect()
    }

    fn layers(&mut self) -> Vec<LayerJson<'r>> {
        let mut ends = ends::of_layers(self.model);
        let layers = (0..).map(LayerIx).zip(&self.model.layers);
        layers.map(|(ix, layer)| self.layer(layer, &ends.remove(&ix).unwrap_or_default())).collect()
    }

    fn layer(&mut self, layer: &'r Layer, ends: &ends::Ends<'_>) -> LayerJson<'r> {
        let (reason, source) = match &layer.attempts {
            Setting::Unknown { why, .. } => (Some(why.as_str()), None),
            Setting::Default { source, .. } => (None, Some(*source)),
            Setting::Written { .. } => (None, None),
        };
        LayerJson {
            id: &layer.id,
            name: &layer.name,
            system: layer.system,
            kind: layer.kind.name(),
            component: ends.component(layer),
            target: ends.target(layer),
            attempts: attempts(layer),
            unbounded: layer.is_unbounded(),
            default: layer.attempts.is_default(),
            backoff: backoff(&layer.wait),
            jitter: jitter(&layer.jitter),
            retries_on: layer.retries.yes.names(),
            perhaps_on: layer.retries.unknown.difference(layer.retries.yes).names(),
            retry_after: layer.retry_after.value().copied(),
            reason,
            source,
            location: self.location(layer.place),
        }
    }

    fn unresolved(&mut self, unresolved: &'r Unresolved) -> UnresolvedJson<'r> {
        UnresolvedJson { what: &unresolved.what, reason: &unresolved.reason, location: self.location(unresolved.span) }
    }

    fn unread(&mut self, unread: &'r Unread) -> UnreadJson<'r> {
        UnreadJson { file: &unread.path, reason: &unread.reason, location: unread.span.map(|span| self.location(span)) }
    }

    fn label(&mut self, label: &'r Label) -> LabelJson<'r> {
        LabelJson { location: self.location(label.span), text: &label.text }
    }

    fn location(&mut self, span: Span) -> LocationJson {
        let place = self.places.place(span);
        LocationJson {
            file: place.path.to_string(),
            line: place.start.line,
            column: place.start.column,
            end_line: place.end.line,
            end_column: place.end.column,
            start_byte: span.start,
            end_byte: span.end,
        }
    }
}

fn product(path: &Path) -> Option<u64> {
    (!path.unbounded).then_some(path.product)
}

/// The load is unbounded where the product is, unless a budget bounds it: JSON has no number for that.
fn sustained(path: &Path) -> Option<f64> {
    path.sustained.is_finite().then_some(path.sustained)
}

pub(super) fn worst_time(time: WorstTime) -> TimeJson {
    let seconds = time.known.as_secs_f64();
    let all = time.complete && !time.unbounded;
    TimeJson { seconds: all.then_some(seconds), known_seconds: seconds, unbounded: time.unbounded }
}

pub(super) fn expected_load(model: &Model, path: &Path) -> Vec<LoadJson> {
    FAILING.iter().map(|failing| load(model, path, *failing)).collect()
}

fn load(model: &Model, path: &Path, failing: f64) -> LoadJson {
    // So many digits are the same on every machine.
    let rounded = |n: f64| (n * 1e6).round() / 1e6;
    let leaf = |budgets| Some(rounded(Load::of(model, path, failing, budgets).leaf)).filter(|n| n.is_finite());
    LoadJson { failing, requests: leaf(false), sustained: leaf(true) }
}

fn attempts(layer: &Layer) -> Option<u64> {
    layer.attempts.value().and_then(|a| a.count())
}

fn backoff(wait: &Wait) -> &'static str {
    match wait {
        Wait::None => "none",
        Wait::Fixed(_) => "fixed",
        Wait::Linear { .. } => "linear",
        Wait::Exponential { .. } => "exponential",
        Wait::Scheduled { .. } => "scheduled",
        Wait::Unknown { .. } => "unknown",
    }
}

fn jitter(jitter: &Setting<Jitter>) -> &'static str {
    match jitter.value() {
        Some(Jitter::None) => "none",
        Some(Jitter::Partial { .. }) => "partial",
        Some(Jitter::Full) => "full",
        Some(Jitter::Decorrelated) => "decorrelated",
        None => "unknown",
    }
}
