#![doc = include_str!("../../rules/fixed-backoff.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, schedule, with_layer};
use crate::model::{Layer, Model, Wait};

static META: RuleMeta = RuleMeta {
    id: "fixed-backoff",
    level: Severity::Warning,
    summary: "waits the same time before each new try",
    page: include_str!("../../rules/fixed-backoff.md"),
};

/// The rule.
pub(super) struct FixedBackoff;

impl Rule for FixedBackoff {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::repeating(model).filter_map(fixed));
    }
}

fn fixed(layer: &Layer) -> Option<Finding> {
    let advice = layer.advice.grow.as_ref()?;
    let schedule::Shape::Same(wait) = schedule::shape(layer) else { return None };
    let wait = wait.map_or("the same time".to_string(), phrase::duration);
    let but = if layer.wait.nominal(0).is_some_and(|first| first.is_zero()) { " but the first" } else { "" };
    let message = match layer.attempts.value().and_then(|a| a.count()) {
        Some(n) if n > 2 => format!(
            "{} waits {wait} before each of its {}{but}: the pressure on a service in trouble never eases",
            layer.name,
            phrase::count(n - 1, "retry", "retries")
        ),
        Some(_) => format!("{} waits {wait} before its retry, however long the trouble lasts", layer.name),
        None => {
            format!("{} waits {wait} before each new try: the pressure on a service in trouble never eases", layer.name)
        }
    };
    let place = super::wait_place(layer);
    let help = match &layer.advice.cap {
        Some(cap) if is_capped_at_once(layer) => {
            phrase::help("The cap is no more than the first wait: raise it, so that the wait can grow", Some(cap))
        }
        _ => phrase::help("Let the wait grow, up to a bound, with jitter", Some(advice)),
    };
    Some(with_layer(Finding::new(&META, place, "the same wait each time", message).help(help), layer))
}

/// Whether its waits would grow, if their cap let them.
fn is_capped_at_once(layer: &Layer) -> bool {
    match &layer.wait {
        Wait::Linear { .. } => true,
        Wait::Exponential { factor, .. } => factor.value().is_some_and(|f| *f > 1.0),
        Wait::None | Wait::Fixed(_) | Wait::Scheduled { .. } | Wait::Unknown { .. } => false,
    }
}
