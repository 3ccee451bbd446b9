//! EventBridge: the targets of rules and schedules.

use super::layers::redelivery;
use super::template::{Resource, Template, number};
use super::{EVENTS, ID};
use crate::facts::Facts;
use crate::model::{Attempts, Confidence, DeadLetter, Queue, Scope, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::settings;

/// The service of targets.
const SERVICE: &str = "eventbridge";

pub(super) fn read(template: &Template<'_>, facts: &mut Facts) {
    for rule in template.of_kind("AWS::Events::Rule") {
        let scheduled = rule.get(&["EventPattern"]).is_none();
        for target in rule.get(&["Targets"]).map_or(&[][..], Node::items) {
            let id = target.get("Id").and_then(Node::as_str).unwrap_or("without an id");
            let name = format!("target {id} of EventBridge rule {}", rule.id);
            let opens = settings::opening(template.file, target);
            let handed = HandOver { name, opens, scheduled };
            handed.read(template, target, facts);
        }
    }
    for schedule in template.of_kind("AWS::Scheduler::Schedule") {
        let Some(target) = schedule.get(&["Target"]) else { continue };
        let name = format!("EventBridge schedule {}", schedule.id);
        HandOver { name, opens: schedule.id_span, scheduled: true }.read(template, target, facts);
    }
}

/// The events of a SAM function that EventBridge hands over.
pub(super) fn read_sam(template: &Template<'_>, function: &Resource<'_>, event: &Entry, facts: &mut Facts) {
    let kind = event.value.get("Type").and_then(Node::as_str).unwrap_or_default();
    let scheduled = matches!(kind, "Schedule" | "ScheduleV2");
    if !scheduled && !matches!(kind, "EventBridgeRule" | "CloudWatchEvent") {
        return;
    }
    let Some(properties) = event.value.get("Properties") else { return };
    let name = format!("event {} of function {}", event.key, function.id);
    HandOver { name, opens: event.key_span, scheduled }.read(template, properties, facts);
}

/// A place where EventBridge hands an event over.
struct HandOver {
    name: String,
    opens: Span,
    /// It comes by the clock: the next one makes up for it.
    scheduled: bool,
}

impl HandOver {
    fn read(&self, template: &Template<'_>, target: &Node, facts: &mut Facts) {
        let config = target.get("DeadLetterConfig");
        let dead_letter = match config {
            None => DeadLetter::None,
            // SAM makes a queue of its own.
            Some(c) if c.get("Type").is_some() && c.get("Arn").is_none() => DeadLetter::BuiltIn,
            Some(c) => match c.get("Arn") {
                Some(arn) => template.dead_letter(Some(arn)),
                None => DeadLetter::Unknown,
            },
        };
        facts.queues.push(Queue {
            id: format!("{ID}:eventbridge:{}", self.name).into(),
            service: SERVICE,
            name: self.name.clone(),
            names: Vec::new(),
            place: self.opens,
            otherwise: "is handed over again for a day, or not at all where access is denied, and is then dropped"
                .to_owned(),
            dead_letter,
            holds_dead_letters: false,
            minor: self.scheduled,
            retention: None,
            ages_from_first_send: false,
            advice: Some("a `DeadLetterConfig` with the `Arn` of an SQS queue on the target".to_owned()),
            confidence: Confidence::High,
            dead_letters_of: Vec::new(),
            alarms: Vec::new(),
        });
        let count = target.get("RetryPolicy").and_then(|p| p.entry("MaximumRetryAttempts"));
        let attempts = match count {
            Some(e) => number(&e.value).map(|n| Attempts::Count(n.max(0.0) as u64 + 1)),
            None => Setting::default(Attempts::Count(186), EVENTS),
        };
        // It repeats the handing over only, so it multiplies nothing that the target does.
        let scope = Scope::Consumers { queue: None, components: Vec::new(), group: String::new() };
        let id = format!("{ID}:eventbridge:{}", self.name);
        let mut layer = redelivery(id, self.name.clone(), self.opens, attempts, scope);
        layer.asked_for = target.get("RetryPolicy").is_some();
        layer.reading = match count {
            Some(e) => format!("{} on {}", settings::quote(e), self.name),
            None => format!("{}, which sets no `RetryPolicy`", self.name),
        };
        layer.place = count.map_or(self.opens, |e| e.value.span);
        layer.advice.fewer = Some("`RetryPolicy: {MaximumRetryAttempts: 0}`".to_owned());
        facts.layers.push(layer);
    }
}
