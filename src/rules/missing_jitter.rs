#![doc = include_str!("../../rules/missing-jitter.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase, schedule, with_layer};
use crate::model::{Jitter, Layer, Model};

static META: RuleMeta = RuleMeta {
    id: "missing-jitter",
    level: Severity::Error,
    summary: "deterministic waits, fixed or growing: all clients come back in step",
    page: include_str!("../../rules/missing-jitter.md"),
};

/// The rule.
pub(super) struct MissingJitter;

impl Rule for MissingJitter {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(super::repeating(model).filter_map(in_step));
    }
}

fn in_step(layer: &Layer) -> Option<Finding> {
    let advice = layer.advice.jitter.as_ref()?;
    if layer.jitter.value() != Some(&Jitter::None) {
        return None;
    }
    if matches!(schedule::shape(layer), schedule::Shape::AtOnce | schedule::Shape::Unknown) {
        return None;
    }
    let message = format!(
        "{} waits {} without jitter: all callers that failed together come back together",
        layer.name,
        waits(layer)
    );
    let help = phrase::help("Draw each wait at random, best between zero and its nominal length", Some(advice));
    let place = super::wait_place(layer);
    Some(with_layer(Finding::new(&META, place, "no jitter", message).help(help), layer))
}

/// So many waits are shown.
const SHOWN: u64 = 3;

/// "1 s, 2 s, 4 s": the first waits that happen.
fn waits(layer: &Layer) -> String {
    let retries = layer.attempts.value().and_then(|a| a.count()).map_or(u64::MAX, |n| n.saturating_sub(1));
    if let schedule::Shape::Same(Some(wait)) = schedule::shape(layer)
        && retries > 1
    {
        return format!("{} each time", phrase::duration(wait));
    }
    let shown = retries.min(SHOWN) as u32;
    let waits: Option<Vec<_>> = (0..shown).map(|n| layer.wait.nominal(n).map(phrase::duration)).collect();
    match waits {
        Some(waits) if retries > SHOWN => format!("{}, … ", waits.join(", ")).trim_end().to_string(),
        Some(waits) => phrase::list(&waits),
        None => "for set times".to_string(),
    }
}
