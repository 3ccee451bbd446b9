#![doc = include_str!("../../rules/missing-backoff.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, schedule, with_layer};
use crate::model::{Layer, LayerKind, Model, Setting};

static META: RuleMeta = RuleMeta {
    id: "missing-backoff",
    level: Severity::Error,
    summary: "tries again at once, without a wait",
    page: include_str!("../../rules/missing-backoff.md"),
};

/// The rule.
pub(super) struct MissingBackoff;

impl Rule for MissingBackoff {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        // Streams and watchers too: a connection that is refused at once makes them spin.
        let layers = model.layers.iter().filter(|l| l.is_active() && !l.copies);
        findings.extend(layers.filter_map(at_once));
    }
}

/// As many tries at once, before the first that waits, are no quick second try any more.
const MANY: u64 = 4;

fn at_once(layer: &Layer) -> Option<Finding> {
    let advice = layer.advice.wait.as_ref()?;
    let first = schedule::at_once(layer).filter(|_| layer.kind != LayerKind::Code);
    let all = schedule::shape(layer) == schedule::Shape::AtOnce;
    let message = match layer.attempts.value().and_then(|a| a.count()) {
        _ if !all => format!(
            "{} makes its first {} without a wait: they are spent within the moment in which the first one failed",
            layer.name,
            phrase::tries(first.filter(|n| *n >= MANY)?)
        ),
        Some(n) => format!(
            "{} makes its {} without a wait: all are spent within the moment in which the first one failed",
            layer.name,
            phrase::tries(n)
        ),
        None if matches!(layer.attempts, Setting::Unknown { .. }) => format!(
            "{} tries again at once: however many tries it has, all are spent within the moment in which the first one \
             failed",
            layer.name
        ),
        None => {
            format!("{} tries again at once: while the other side is down it runs as fast as a core can", layer.name)
        }
    };
    // In code the loop or the call repeats; in settings a wait of zero is the thing to edit.
    let place = match layer.kind {
        LayerKind::Code => layer.opens,
        _ => layer.wait_place.unwrap_or(layer.place),
    };
    let help = phrase::help("Wait before each new try, longer each time and with jitter", Some(advice));
    Some(with_layer(Finding::new(&META, place, "tries again at once", message).help(help), layer))
}
