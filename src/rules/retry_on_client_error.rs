#![doc = include_str!("../../rules/retry-on-client-error.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, with_layer};
use crate::model::{Layer, Mode, ModeSet, Model, Pick};

static META: RuleMeta = RuleMeta {
    id: "retry-on-client-error",
    level: Severity::Error,
    summary: "retries a status that cannot succeed: 400, 401, 403, 404, 409 and the other 4xx but 408, 425 and 429",
    page: include_str!("../../rules/retry-on-client-error.md"),
};

/// The rule.
pub(super) struct RetryOnClientError;

impl Rule for RetryOnClientError {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for layer in super::repeating(model) {
            let mut left = hopeless().intersection(layer.retries.yes);
            for pick in &layer.retries.picks {
                let picked = pick.modes.intersection(left);
                left = left.difference(picked);
                if !picked.difference(sometimes_right()).is_empty() && !takes_all(layer, pick) && !is_fixed(layer, pick)
                {
                    findings.push(client_error(layer, pick, picked));
                }
            }
        }
    }
}

/// Whether it is the arm that takes every error, and no test on statuses: that is retry-on-any-error alone.
fn takes_all(layer: &Layer, pick: &Pick) -> bool {
    layer.retries.any_error == Some(pick.span) && pick.modes.contains(Mode::Refused)
}

/// Whether the library or proxy picks it by itself, and has no setting that would change it.
fn is_fixed(layer: &Layer, pick: &Pick) -> bool {
    layer.advice.statuses.is_none() && pick.span == layer.opens
}

fn client_error(layer: &Layer, pick: &Pick, picked: ModeSet) -> Finding {
    let all = statuses().difference(picked).is_empty();
    let codes = if all { "4xx".to_string() } else { phrase::modes(picked) };
    let name = &layer.name;
    let message = match layer.attempts.value().and_then(|a| a.count()) {
        _ if layer.elsewhere => {
            format!("{name} asks another target after {codes}: a request that is wrong gets that answer there as well")
        }
        Some(n) => format!(
            "{name} retries {codes}: the same request gets the same answer, so it is sent {} to fail as surely",
            phrase::count(n, "time", "times")
        ),
        None => {
            format!("{name} retries {codes}: the same request gets the same answer, however often it is sent")
        }
    };
    let what = "Hand answers that no later try can change on at once";
    let help = phrase::help(what, layer.advice.statuses.as_ref());
    with_layer(Finding::new(&META, pick.span, format!("{} picks {codes}", pick.text), message).help(help), layer)
}

/// Failures that a repetition cannot mend: the request is wrong, not the moment.
pub(super) fn hopeless() -> ModeSet {
    let grpc = [3, 5, 6, 7, 9, 11, 12, 16].map(Mode::Grpc);
    statuses().union(grpc.into_iter().collect())
}

fn statuses() -> ModeSet {
    ModeSet::statuses((400..500).filter(|c| !matches!(c, 408 | 425 | 429)))
}

/// 421 (another connection may do) and 423 (the lock may go): right where a system names just these.
fn sometimes_right() -> ModeSet {
    ModeSet::statuses([421, 423])
}
