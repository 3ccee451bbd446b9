#![doc = include_str!("../../rules/ignored-retry-after.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, with_layer};
use crate::model::{Jitter, Layer, Mode, Model};

static META: RuleMeta = RuleMeta {
    id: "ignored-retry-after",
    level: Severity::Warning,
    summary: "retries 429 or 503 and never uses the Retry-After of the response for its wait",
    page: include_str!("../../rules/ignored-retry-after.md"),
};

/// The rule.
pub(super) struct IgnoredRetryAfter;

impl Rule for IgnoredRetryAfter {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::repeating(model).filter_map(ignored));
    }
}

fn ignored(layer: &Layer) -> Option<Finding> {
    // Another target has asked for nothing.
    if layer.elsewhere || layer.retry_after.value() != Some(&false) {
        return None;
    }
    let retries = &layer.retries;
    let asked: Vec<Mode> = [429, 503].map(Mode::Status).into_iter().filter(|m| retries.yes.contains(*m)).collect();
    if asked.is_empty() {
        return None;
    }
    let place = match asked.iter().find_map(|m| retries.pick_of(*m)) {
        Some(pick) => pick.span,
        // Where nothing picks them, to single them out makes sense only where something can heed the header.
        None => layer.advice.retry_after.as_ref().map(|_| retries.any_error.unwrap_or(layer.opens))?,
    };
    let codes = phrase::modes(asked.iter().copied().collect());
    let message = format!(
        "{} retries {codes} without looking at Retry-After: a server that asks for 60 s gets {}",
        layer.name,
        match layer.wait.nominal(0) {
            Some(wait) if wait.is_zero() => "the next try at once".to_string(),
            Some(wait) => {
                let drawn = matches!(layer.jitter.value(), Some(Jitter::Full | Jitter::Decorrelated));
                let word = if drawn { "within" } else { "after" };
                format!("the next try {word} {}", phrase::duration(wait))
            }
            None => "the next try after a wait that is not known".to_string(),
        }
    );
    let text = format!("{codes} retried, Retry-After not used");
    Some(with_layer(Finding::new(&META, place, text, message).help(help(layer, &codes)), layer))
}

fn help(layer: &Layer, codes: &str) -> String {
    match (&layer.advice.retry_after, &layer.advice.pass_on) {
        (Some(how), _) => {
            phrase::help("Let the response's Retry-After decide the wait, within a bound of your own", Some(how))
        }
        (None, Some(how)) => {
            format!("Nothing here can heed Retry-After: {how}, and leave them to a caller that can.")
        }
        (None, None) => format!(
            "Nothing here can heed Retry-After: leave {codes} to a caller that can, where a server may ask for more time."
        ),
    }
}
