#![doc = include_str!("../../rules/unmonitored-dead-letter.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{Alarm, Fires, Model, Queue, Which};
use crate::source::Span;

static META: RuleMeta = RuleMeta {
    id: "unmonitored-dead-letter",
    level: Severity::Warning,
    summary: "no alert watches the dead-letter queue, or the one that does fires only above a number, or tells nobody",
    page: include_str!("../../rules/unmonitored-dead-letter.md"),
};

/// The rule.
pub(super) struct UnmonitoredDeadLetter;

impl Rule for UnmonitoredDeadLetter {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for queue in model.queues.iter().filter(|q| q.is_for_dead_letters()) {
            let alarms = || queue.alarms.iter().filter_map(|ix| model.alarms.get(ix.0 as usize));
            if alarms().any(|alarm| is_heard(alarm, queue, model)) {
                continue;
            }
            // An alarm that may watch another queue is not blamed.
            let known = alarms().filter(|a| a.watches.iter().any(|w| w.which != Which::Unknown));
            match known.min_by_key(|a| rank(a)) {
                Some(alarm) => findings.push(deaf(queue, alarm)),
                None => findings.push(unwatched(queue, model.alarms.is_empty())),
            }
        }
    }
}

/// Whether the first dead letter reaches somebody, as far as can be told.
fn is_heard(alarm: &Alarm, queue: &Queue, model: &Model) -> bool {
    let fires = match alarm.fires {
        Fires::AtOne | Fires::Unknown => true,
        Fires::OnSend => !is_moved_to(alarm, queue, model),
        Fires::Above(_) | Fires::Never(_) => false,
    };
    fires && alarm.notifies != Some(false)
}

/// Whether dead letters come by a redrive policy: what a function or a rule gives up is sent there. Of a queue that only
/// its alarm names the usual is taken.
fn is_moved_to(alarm: &Alarm, queue: &Queue, model: &Model) -> bool {
    let mut sources = queue.dead_letters_of.iter().filter_map(|ix| model.queues.get(ix.0 as usize));
    queue.place == alarm.threshold_place || sources.any(|source| source.service == queue.service)
}

/// The alarm that needs the smallest change comes first.
fn rank(alarm: &Alarm) -> u8 {
    match alarm.fires {
        Fires::AtOne | Fires::Unknown => 0,
        Fires::Above(_) => 1,
        Fires::OnSend | Fires::Never(_) => 2,
    }
}

fn deaf(queue: &Queue, alarm: &Alarm) -> Finding {
    let (place, text, message, help) = match &alarm.fires {
        Fires::AtOne | Fires::Unknown => (
            alarm.place,
            "tells nobody".to_owned(),
            format!("{} watches {} and tells nobody: a dead letter lies there unseen", alarm.name, queue.name),
            "Give the alarm an action that reaches a person.",
        ),
        Fires::Above(n) => (
            alarm.threshold_place,
            format!("only above {n}"),
            format!(
                "{} fires only above {n}: {n} dead letters can lie in {} without anybody hearing of them",
                alarm.name, queue.name
            ),
            "Each dead letter is a message that nobody has processed: fire at the first one, above 0.",
        ),
        Fires::OnSend => never(alarm, queue, SENT),
        Fires::Never(why) => never(alarm, queue, why),
    };
    let finding = Finding::new(&META, place, text, message).help(help).confidence(queue.confidence);
    let finding = finding.about(queue.id.clone()).about(alarm.name.as_str());
    // A queue that only the alarm names has no place of its own.
    if queue.place == alarm.threshold_place {
        return finding;
    }
    finding.label(queue.place, format!("the dead letters of {}", queue.name))
}

/// Why an alarm on what is sent misses dead letters.
const SENT: &str = "counts what is sent to the queue, and what a redrive policy moves there is not counted";

fn never(alarm: &Alarm, queue: &Queue, why: &str) -> (Span, String, String, &'static str) {
    (
        alarm.threshold_place,
        "misses dead letters".to_owned(),
        format!("{} on {} {why}", alarm.name, queue.name),
        "Watch how many messages lie in the dead-letter queue, and fire at the first one, above 0.",
    )
}

fn unwatched(queue: &Queue, no_alarm_at_all: bool) -> Finding {
    let name = queue.name.trim_end_matches(',');
    let (message, level) = if no_alarm_at_all {
        (format!("Nothing in the repository watches {name}: its dead letters may lie there unseen"), Severity::Note)
    } else {
        (format!("No alert of this repository watches {name}: its dead letters lie there unseen"), META.level)
    };
    Finding::new(&META, queue.place, "no alert", message)
        .help(
            "Add an alert on the number of messages in it that fires at the first one, above 0, and reaches a person.",
        )
        .severity(level)
        .confidence(queue.confidence)
        .about(queue.id.clone())
}
