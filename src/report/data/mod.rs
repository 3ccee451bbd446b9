//! What `retrylint report` shows, as data: the JSON form is this, and the page is drawn from it.
//!
//! Version 1: within it fields may be added; none is renamed, removed or changes its meaning. Indexes count from 0.

pub(super) mod graph;
mod layers;
mod settings;

use serde::Serialize;

use super::Places;
use crate::graph::factors;
use crate::rules::Severity;
use crate::run::Run;
use crate::source::Span;
pub use graph::{ChainData, ComponentData, FailureData, HopData, PathData, RepeatData};
pub use layers::{JitterData, LayerData};
pub use settings::{Origin, SettingData};

/// Everything about a run that a report may show.
#[derive(Debug, Serialize)]
pub struct Data<'r> {
    /// 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The product above which a path is an error.
    pub max_amplification: u64,
    /// Counts.
    pub summary: Summary,
    /// The failure modes, those together that no layer tells apart: "503" and "504".
    pub modes: Vec<Vec<String>>,
    /// Who calls and is called.
    pub components: Vec<ComponentData<'r>>,
    /// Every place that retries, those with one attempt among them.
    pub layers: Vec<LayerData<'r>>,
    /// The calls.
    pub hops: Vec<HopData>,
    /// The paths, the largest product first.
    pub paths: Vec<PathData<'r>>,
    /// What repeats failures, hop by hop.
    pub repeats: Vec<RepeatData>,
    /// Whole ways through the graph, with what multiplies on each for every failure.
    pub chains: Vec<ChainData>,
    /// The findings.
    pub findings: Vec<FindingData<'r>>,
    /// What could not be resolved.
    pub unresolved: Vec<GapData<'r>>,
    /// What could not be read.
    pub unread: Vec<UnreadData<'r>>,
}

/// The program that wrote the report.
#[derive(Debug, Serialize)]
pub struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Counts.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Files found.
    pub files: usize,
    /// Findings of each level.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
    /// Findings that a baseline knows; `null`: there is none.
    pub known: Option<usize>,
    /// What a baseline lists and is found no more.
    pub gone: usize,
    /// Whether there are more paths than are listed.
    pub paths_truncated: bool,
    /// Whether there are more ways through the graph than are listed.
    pub chains_truncated: bool,
}

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Relative to the working directory, with `/`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// A finding.
#[derive(Debug, Serialize)]
pub struct FindingData<'r> {
    /// The rule's name.
    pub rule: &'static str,
    /// Its level.
    pub severity: &'static str,
    /// What happens.
    pub message: &'r str,
    /// What to write instead.
    pub help: Option<&'r str>,
    /// Where.
    pub location: Location,
}

/// Something that could not be resolved.
#[derive(Debug, Serialize)]
pub struct GapData<'r> {
    /// What.
    pub what: &'r str,
    /// Why not.
    pub reason: &'r str,
    /// Where.
    pub location: Location,
}

/// A file, or part of one, that could not be read.
#[derive(Debug, Serialize)]
pub struct UnreadData<'r> {
    /// Its path.
    pub file: &'r str,
    /// Why not.
    pub reason: &'r str,
    /// Where, if the trouble has a place.
    pub location: Option<Location>,
}

impl<'r> Data<'r> {
    /// Collects it.
    pub fn new(run: &'r Run) -> Self {
        let model = &run.model;
        let factors = factors(model);
        let places = &mut Locator::new(run);
        Self {
            schema_version: 1,
            tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            max_amplification: model.max_amplification,
            summary: Summary {
                files: run.files,
                errors: run.count(Severity::Error),
                warnings: run.count(Severity::Warning),
                notes: run.count(Severity::Note),
                known: run.baseline.as_ref().map(|compared| compared.known.len()),
                gone: run.baseline.as_ref().map_or(0, |compared| compared.gone.len()),
                paths_truncated: model.paths_truncated,
                chains_truncated: !factors.complete,
            },
            modes: factors.modes.iter().map(|modes| modes.names()).collect(),
            components: graph::components(model, places),
            layers: layers::layers(model, places),
            hops: graph::hops(model, places),
            paths: graph::paths(model),
            repeats: factors.repeats.iter().map(graph::repeat).collect(),
            chains: factors.chains.into_iter().map(graph::chain).collect(),
            findings: run
                .findings
                .iter()
                .map(|finding| FindingData {
                    rule: finding.rule.id,
                    severity: finding.severity.name(),
                    message: &finding.message,
                    help: finding.help.as_deref(),
                    location: places.of(finding.primary.span),
                })
                .collect(),
            unresolved: model
                .unresolved
                .iter()
                .map(|gap| GapData { what: &gap.what, reason: &gap.reason, location: places.of(gap.span) })
                .collect(),
            unread: run
                .unread
                .iter()
                .map(|unread| UnreadData {
                    file: &unread.path,
                    reason: &unread.reason,
                    location: unread.span.map(|span| places.of(span)),
                })
                .collect(),
        }
    }
}

/// Spans to locations.
pub(super) struct Locator<'r> {
    places: Places<'r>,
}

impl<'r> Locator<'r> {
    /// For the spans of a run.
    pub(super) fn new(run: &'r Run) -> Self {
        Self { places: Places::new(&run.sources) }
    }

    /// Where a span starts.
    pub(super) fn of(&mut self, span: Span) -> Location {
        let place = self.places.place(span);
        Location { file: place.path.to_string(), line: place.start.line, column: place.start.column }
    }

    /// The line on which a span starts, without what surrounds it: so much of it that it can be recognised.
    fn line(&mut self, span: Span) -> Option<String> {
        let line = self.places.place(span).start.line;
        let (file, _) = self.places.file(span.file)?;
        let text = file.text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?.trim();
        let shown: String = text.chars().take(LINE).collect();
        Some(if shown.len() < text.len() { format!("{shown}…") } else { shown })
    }
}

/// So many characters of a source line are shown.
const LINE: usize = 120;
