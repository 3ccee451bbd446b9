#![doc = include_str!("../../rules/missing-dead-letter.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{DeadLetter, Model, Queue};

static META: RuleMeta = RuleMeta {
    id: "missing-dead-letter",
    level: Severity::Warning,
    summary: "a consumer gives up by dropping, or redelivers for ever, with no dead-letter destination",
    page: include_str!("../../rules/missing-dead-letter.md"),
};

/// The rule.
pub(super) struct MissingDeadLetter;

impl Rule for MissingDeadLetter {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        let without = |q: &&Queue| q.dead_letter == DeadLetter::None && !q.is_for_dead_letters();
        findings.extend(model.queues.iter().filter(without).map(missing));
    }
}

fn missing(queue: &Queue) -> Finding {
    let message =
        format!("{} has no dead-letter destination: a message that keeps failing {}", queue.name, queue.otherwise);
    let what = "Send what keeps failing to a dead-letter queue that somebody watches";
    let help = super::phrase::help(what, queue.advice.as_ref());
    let level = if queue.minor { META.level.lower() } else { META.level };
    Finding::new(&META, queue.place, "no dead-letter destination", message)
        .help(help)
        .severity(level)
        .confidence(queue.confidence)
        .about(queue.id.clone())
}
