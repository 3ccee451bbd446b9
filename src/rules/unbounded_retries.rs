#![doc = include_str!("../../rules/unbounded-retries.md")]

use std::time::Duration;

use super::{Finding, Rule, RuleMeta, Severity, phrase, with_count};
use crate::model::{Layer, LayerKind, Model, Purpose};

static META: RuleMeta = RuleMeta {
    id: "unbounded-retries",
    level: Severity::Error,
    summary: "neither an attempt limit nor a deadline",
    page: include_str!("../../rules/unbounded-retries.md"),
};

/// The rule.
pub(super) struct UnboundedRetries;

impl Rule for UnboundedRetries {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        // A deadline over all tries is a bound, also one whose length is not known.
        let layers = super::retrying(model).filter(|l| l.is_unbounded() && l.overall.is_none());
        findings.extend(layers.map(unbounded));
    }
}

fn unbounded(layer: &Layer) -> Finding {
    let unit = phrase::unit(layer.kind);
    let message =
        format!("{} tries without limit: a {unit} that keeps failing is repeated {}", layer.name, pace(layer));
    let help = match (&layer.advice.limit, layer.kind) {
        (Some(limit), LayerKind::Code) => {
            phrase::help("Give up after a few tries or after a time, and return the error", Some(limit))
        }
        (None, LayerKind::Code) => "Give up after a few tries or after a time, and return the error: `for attempt in \
                                    0..4`, or a limit on the time of all tries together."
            .to_string(),
        (Some(limit), _) => {
            phrase::help("Give up after a few tries or after a time, and hand the failure on", Some(limit))
        }
        (None, _) => format!(
            "There is no count to set here, and no time: what makes a {unit} fail for ever has to be \
                              kept away from it, or watched."
        ),
    };
    let finding = Finding::new(&META, layer.place, format!("no limit: {}", layer.reading), message).help(help);
    // What no request waits for grows no load of its own, and may well be worth any number of tries.
    let level = if layer.purpose == Purpose::Background { META.level.lower() } else { META.level };
    with_count(finding.severity(level), layer)
}

/// "every 5 s for ever, 720 times an hour", for a schedule that comes to rest.
fn pace(layer: &Layer) -> String {
    // By try 64 every capped schedule has reached its cap.
    match (layer.wait.nominal(64), layer.wait.nominal(65)) {
        (Some(Duration::ZERO), _) => "at once and for ever, as fast as it fails".to_string(),
        (Some(wait), Some(next)) if wait == next && wait <= Duration::from_secs(3600) => {
            let hourly = (3600.0 / wait.as_secs_f64()).round();
            format!("every {} for ever, {hourly:.0} times an hour", phrase::duration(wait))
        }
        _ => "for ever".to_string(),
    }
}
