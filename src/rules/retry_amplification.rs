#![doc = include_str!("../../rules/retry-amplification.md")]

use super::{Finding, Rule, RuleMeta, Severity, chain};
use crate::model::{Layer, Model, Path};

static META: RuleMeta = RuleMeta {
    id: "retry-amplification",
    level: Severity::Error,
    summary: "the product of attempts along one call path exceeds `max-amplification` (10 unless set)",
    page: include_str!("../../rules/retry-amplification.md"),
};

/// The rule.
pub(super) struct RetryAmplification;

impl Rule for RetryAmplification {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for (ix, path) in chain::worst(model, |path, layers| exceeds(path, layers, model.max_amplification)) {
            let layers = chain::layers(model, path);
            let held = budgets_hold(path, &layers, model.max_amplification);
            let mut message = chain::sentence(path, &layers);
            if held {
                message.push_str(&format!(
                    "; retry budgets hold the sustained load at {} times the requests, so this counts one level lower",
                    ratio(path.sustained)
                ));
            }
            let Some(finding) = chain::finding(&META, (ix, path), &layers, message) else { continue };
            findings.push(if held { finding.severity(META.level.lower()) } else { finding });
        }
    }
}

/// One layer without limit is unbounded-retries alone; with another around or inside it, the path is unbounded.
pub(super) fn exceeds(path: &Path, layers: &[&Layer], limit: u64) -> bool {
    if path.unbounded { layers.len() >= 2 } else { path.product > limit }
}

fn budgets_hold(path: &Path, layers: &[&Layer], limit: u64) -> bool {
    layers.iter().any(|l| l.budget.is_some()) && path.sustained <= limit as f64
}

fn ratio(n: f64) -> String {
    let rounded = format!("{n:.2}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_string()
}
