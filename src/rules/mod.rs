//! The rules: one file each, named as the rule. A rule sees the model only: no files, no syntax, no system's name.
//!
//! To add one: its file here, its page in `rules/`, its line in [`all`].

mod chain;
pub mod check_then_insert;
mod finding;
pub mod fingerprint;
pub mod fixed_backoff;
pub mod ignored_retry_after;
pub mod implicit_retries;
pub mod incomplete_dead_letter;
pub mod inert_retry_setting;
pub mod invalid_allow;
pub mod missing_backoff;
pub mod missing_dead_letter;
pub mod missing_idempotency_constraint;
pub mod missing_jitter;
pub mod missing_stored_response;
pub mod non_idempotent_retry;
pub mod non_time_based_purge;
pub(crate) mod phrase;
pub mod rerun_without_checkpoint;
pub mod retries_exceed_timeout;
pub mod retry_amplification;
pub mod retry_on_any_error;
pub mod retry_on_client_error;
mod schedule;
pub mod short_dead_letter_retention;
pub mod short_idempotency_retention;
pub mod stacked_retries;
pub mod unbounded_retries;
pub mod uncapped_backoff;
pub mod unmonitored_dead_letter;
pub mod unsafe_redrive;
pub mod weak_idempotency_key;

#[cfg(test)]
mod tests;

pub use finding::{Finding, Label, Permitted, Severity};
pub use fingerprint::Fingerprint;
pub use invalid_allow::Permission;

use jiff::civil::Date;

use crate::model::{Confidence, Layer, Model, Purpose};
use crate::source::Span;

/// What a rule is.
#[derive(Debug)]
pub struct RuleMeta {
    /// The name: "retry-amplification".
    pub id: &'static str,
    /// The level it has where nobody sets one.
    pub level: Severity,
    /// One line: when it fires.
    pub summary: &'static str,
    /// The page, Markdown.
    pub page: &'static str,
}

impl RuleMeta {
    /// Where the page can be read: the documentation of this version, in which each rule's page is its module's text.
    pub fn url(&self) -> String {
        let module = self.id.replace('-', "_");
        format!("https://docs.rs/retrylint/{}/retrylint/rules/{module}/", env!("CARGO_PKG_VERSION"))
    }
}

/// A rule.
pub trait Rule: Sync {
    /// What it is.
    fn meta(&self) -> &'static RuleMeta;
    /// Adds what it finds in the model.
    fn check(&self, _model: &Model, _findings: &mut Vec<Finding>) {}
    /// Looks over what all rules have found: marks, and adds. Most rules have nothing to say there.
    fn review(&self, _permissions: &Permissions<'_>, _findings: &mut Vec<Finding>) {}
}

/// What people have written about findings, and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub struct Permissions<'a> {
    /// What allows findings.
    pub all: &'a [Permission<'a>],
    /// The day on which the run happens.
    pub today: Date,
    /// Whether they need no reason.
    pub without_reason: bool,
    /// Whether they may allow nothing.
    pub unused: bool,
}

impl Permissions<'_> {
    /// Nobody has written any.
    pub const NONE: Permissions<'static> =
        Permissions { all: &[], today: Date::ZERO, without_reason: false, unused: false };
}

/// Every rule, in the order in which they are listed.
pub fn all() -> &'static [&'static dyn Rule] {
    &[
        &retry_amplification::RetryAmplification,
        &stacked_retries::StackedRetries,
        &implicit_retries::ImplicitRetries,
        &unbounded_retries::UnboundedRetries,
        &retries_exceed_timeout::RetriesExceedTimeout,
        &inert_retry_setting::InertRetrySetting,
        &missing_backoff::MissingBackoff,
        &fixed_backoff::FixedBackoff,
        &uncapped_backoff::UncappedBackoff,
        &missing_jitter::MissingJitter,
        &retry_on_client_error::RetryOnClientError,
        &retry_on_any_error::RetryOnAnyError,
        &ignored_retry_after::IgnoredRetryAfter,
        &non_idempotent_retry::NonIdempotentRetry,
        &missing_dead_letter::MissingDeadLetter,
        &short_dead_letter_retention::ShortDeadLetterRetention,
        &incomplete_dead_letter::IncompleteDeadLetter,
        &unmonitored_dead_letter::UnmonitoredDeadLetter,
        &unsafe_redrive::UnsafeRedrive,
        &missing_idempotency_constraint::MissingIdempotencyConstraint,
        &check_then_insert::CheckThenInsert,
        &weak_idempotency_key::WeakIdempotencyKey,
        &missing_stored_response::MissingStoredResponse,
        &non_time_based_purge::NonTimeBasedPurge,
        &short_idempotency_retention::ShortIdempotencyRetention,
        &rerun_without_checkpoint::RerunWithoutCheckpoint,
        &invalid_allow::InvalidAllow,
    ]
}

/// The rule with this name.
pub fn by_name(id: &str) -> Option<&'static RuleMeta> {
    all().iter().map(|rule| rule.meta()).find(|meta| meta.id == id)
}

/// All findings about `model`, those marked that somebody permits, each at its rule's own level, in their fixed order.
pub fn check(model: &Model, permissions: &Permissions<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in all() {
        rule.check(model, &mut findings);
    }
    for rule in all() {
        rule.review(permissions, &mut findings);
    }
    // What is only likely breaks no build.
    for finding in &mut findings {
        if finding.confidence == Confidence::Low && finding.severity == Severity::Error {
            finding.severity = Severity::Warning;
        }
    }
    findings.sort_by(|a, b| a.order().cmp(&b.order()));
    findings.dedup_by(|a, b| a.order() == b.order());
    fingerprint::assign(&mut findings, model);
    findings
}

/// The layers that repeat work: neither disabled ones nor such as only begin again.
fn retrying(model: &Model) -> impl Iterator<Item = &Layer> {
    model.layers.iter().filter(|layer| layer.is_active() && layer.purpose != Purpose::Upkeep)
}

/// Those of them that wait for a try to fail: parallel copies do not.
fn repeating(model: &Model) -> impl Iterator<Item = &Layer> {
    retrying(model).filter(|layer| !layer.copies)
}

/// Where findings about a wait point: where it is set, else what opens the layer.
fn wait_place(layer: &Layer) -> Span {
    layer.wait_place.unwrap_or(layer.opens)
}

/// A finding about one layer, as sure as the reading of that layer. If it points into a file that many layers may share
/// (a base configuration, a helper), a label says whose it is.
fn with_layer(finding: Finding, layer: &Layer) -> Finding {
    let finding = finding.confidence(layer.confidence).about(layer.id.clone());
    if finding.primary.span.file == layer.opens.file {
        return finding;
    }
    finding.label(layer.opens, layer.name.clone())
}

/// A finding about a layer's count: as [`with_layer`], with the places that the count comes from.
fn with_count(mut finding: Finding, layer: &Layer) -> Finding {
    finding = with_layer(finding, layer);
    for (span, text) in &layer.labels {
        if *span != finding.primary.span {
            finding = finding.label(*span, text.clone());
        }
    }
    finding
}
