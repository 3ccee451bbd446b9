#![doc = include_str!("../../rules/retry-on-any-error.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, retry_on_client_error::hopeless, with_layer};
use crate::model::{Layer, LayerKind, Mode, ModeSet, Model, Purpose};

static META: RuleMeta = RuleMeta {
    id: "retry-on-any-error",
    level: Severity::Warning,
    summary: "does not discriminate: whatever went wrong, it tries again",
    page: include_str!("../../rules/retry-on-any-error.md"),
};

/// The rule.
pub(super) struct RetryOnAnyError;

impl Rule for RetryOnAnyError {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::retrying(model).filter_map(any_error));
    }
}

fn any_error(layer: &Layer) -> Option<Finding> {
    let place = layer.retries.any_error?;
    let hopeless = layer.retries.yes.intersection(hopeless());
    let grpc: ModeSet = Mode::grpc().collect();
    let knows_http = matches!(layer.kind, LayerKind::Gateway | LayerKind::Mesh | LayerKind::Code);
    let examples = if !hopeless.difference(grpc).is_empty() && knows_http {
        ", 4xx among it: a 400 or 404"
    } else if layer.purpose == Purpose::Background {
        ": data that the other side refuses as wrong"
    } else if !hopeless.difference(grpc).is_empty() {
        // Settings that pick exceptions say nothing of what is called.
        ": what no repetition can mend, an HTTP 4xx or a wrong argument,"
    } else if !hopeless.is_empty() {
        ", INVALID_ARGUMENT and PERMISSION_DENIED among it: a request that is wrong"
    } else {
        ": an error that no repetition can mend"
    };
    let message =
        format!("{} tries again whatever went wrong{examples} is sent {} as well", layer.name, phrase::times(layer));
    let what = "Hand failures that no later try can change on at once";
    let help = phrase::help(what, layer.advice.statuses.as_ref());
    Some(with_layer(Finding::new(&META, place, "takes every error", message).help(help), layer))
}
