#![doc = include_str!("../../rules/uncapped-backoff.md")]

use std::time::Duration;

use super::{Finding, Rule, RuleMeta, Severity, phrase, schedule, with_layer};
use crate::model::{Layer, Model};

static META: RuleMeta = RuleMeta {
    id: "uncapped-backoff",
    level: Severity::Warning,
    summary: "the wait grows without an upper bound, and the attempts or the deadline let it pass 5 minutes",
    page: include_str!("../../rules/uncapped-backoff.md"),
};

/// Waits up to this do no harm without a bound.
const LONG: Duration = Duration::from_secs(300);

/// The rule.
pub(super) struct UncappedBackoff;

impl Rule for UncappedBackoff {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::repeating(model).filter_map(uncapped));
    }
}

fn uncapped(layer: &Layer) -> Option<Finding> {
    let advice = layer.advice.cap.as_ref()?;
    if schedule::shape(layer) != schedule::Shape::Unbounded {
        return None;
    }
    let message = if layer.is_unbounded() && layer.overall.is_none() {
        format!(
            "{} waits longer each time without end: after an outage it can be hours until it looks again",
            layer.name
        )
    } else {
        let longest = schedule::longest(layer).filter(|wait| *wait > LONG)?;
        format!(
            "{} waits up to {} before a try, as nothing bounds the wait: it comes back long after the trouble has passed",
            layer.name,
            phrase::duration(longest)
        )
    };
    let help = phrase::help("Give the wait an upper bound, such as 30 s", Some(advice));
    let place = super::wait_place(layer);
    Some(with_layer(Finding::new(&META, place, "grows without an upper bound", message).help(help), layer))
}
