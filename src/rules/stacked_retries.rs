#![doc = include_str!("../../rules/stacked-retries.md")]

use super::{Finding, Rule, RuleMeta, Severity, chain, retry_amplification::exceeds};
use crate::model::Model;

static META: RuleMeta = RuleMeta {
    id: "stacked-retries",
    level: Severity::Warning,
    summary: "two or more layers retry on one call path, and the product stays within `max-amplification`",
    page: include_str!("../../rules/stacked-retries.md"),
};

/// The rule.
pub(super) struct StackedRetries;

impl Rule for StackedRetries {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        let limit = model.max_amplification;
        // The worst path of a layer and a leaf speaks for the others: where it is an amplification, nothing is said here.
        for (ix, path) in chain::worst(model, |path, layers| layers.len() >= 2 || exceeds(path, layers, limit)) {
            let layers = chain::layers(model, path);
            if layers.len() < 2 || exceeds(path, &layers, limit) {
                continue;
            }
            let message = format!("{} layers retry on one path: {}", layers.len(), chain::sentence(path, &layers));
            findings.extend(chain::finding(&META, (ix, path), &layers, message));
        }
    }
}
