#![doc = include_str!("../../rules/short-dead-letter-retention.md")]

use std::time::Duration;

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{Model, Queue, Setting};

static META: RuleMeta = RuleMeta {
    id: "short-dead-letter-retention",
    level: Severity::Warning,
    summary: "a dead letter can expire before a person can look: its retention is not longer than the source's",
    page: include_str!("../../rules/short-dead-letter-retention.md"),
};

/// The rule.
pub(super) struct ShortDeadLetterRetention;

impl Rule for ShortDeadLetterRetention {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for queue in model.queues.iter().filter(|q| q.ages_from_first_send) {
            let sources = queue.dead_letters_of.iter().filter_map(|ix| model.queues.get(ix.0 as usize));
            let sources = sources.filter(|s| s.service == queue.service);
            let kept = |s: &Queue| s.retention.as_ref().and_then(Setting::value).copied();
            let longest = sources.filter_map(|s| Some((kept(s)?, s))).max_by_key(|(age, _)| *age);
            if let (Some(own), Some((age, source))) = (kept(queue), longest)
                && own <= age
            {
                findings.push(short(queue, own, source, age));
            }
        }
    }
}

fn short(queue: &Queue, own: Duration, source: &Queue, age: Duration) -> Finding {
    let message = format!(
        "{} keeps dead letters for {}, counted from when each was first sent, and {} can hold a message for {} before: \
         what comes late is deleted before anybody can look at it",
        queue.name,
        phrase::duration(own),
        source.name,
        phrase::duration(age),
    );
    let retention = queue.retention.as_ref();
    let place = retention.and_then(Setting::span).unwrap_or(queue.place);
    let by_default = if retention.is_some_and(Setting::is_default) { " by default" } else { "" };
    let text = format!("kept for {}{by_default}", phrase::duration(own));
    let source_place = source.retention.as_ref().and_then(Setting::span).unwrap_or(source.place);
    Finding::new(&META, place, text, message)
        .label(source_place, format!("{} keeps messages for {}", source.name, phrase::duration(age)))
        .help(
            "Keep dead letters longer than the queue they come from keeps its messages: as long as the service allows.",
        )
        .confidence(queue.confidence)
        .about(queue.id.clone())
        .about(source.id.clone())
}
