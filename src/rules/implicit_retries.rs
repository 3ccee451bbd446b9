#![doc = include_str!("../../rules/implicit-retries.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, with_count};
use crate::model::{Layer, Model, Setting};

static META: RuleMeta = RuleMeta {
    id: "implicit-retries",
    level: Severity::Note,
    summary: "a layer retries by a default: nothing in the repository asks for it",
    page: include_str!("../../rules/implicit-retries.md"),
};

/// The rule.
pub(super) struct ImplicitRetries;

impl Rule for ImplicitRetries {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::retrying(model).filter_map(implicit));
    }
}

fn implicit(layer: &Layer) -> Option<Finding> {
    let Setting::Default { source, .. } = &layer.attempts else { return None };
    if !layer.is_implicit() {
        return None;
    }
    let message = format!(
        "{} sends a failing {} {}, and nothing in the repository asks for it",
        layer.name,
        phrase::unit(layer.kind),
        phrase::times(layer),
    );
    const WRITE: &str = "Write the number that you want, so that it is seen and survives upgrades";
    let help = match (&layer.advice.none, &layer.advice.fewer) {
        (Some(none), _) => format!("{WRITE}. For none: {none}."),
        (None, Some(fewer)) => format!("{WRITE}. For less: {fewer}."),
        (None, None) => {
            "There is no count to write here: reckon with it in what calls, and in what is called.".to_string()
        }
    };
    let text = format!("{} by default; {source}", phrase::attempts(layer));
    Some(with_count(Finding::new(&META, layer.opens, text, message).help(help), layer))
}
