//! EventBridge: the targets of rules and schedules.

use super::given_up::{HandedOver, What};
use super::layers::{redelivery, until};
use super::template::{Resolved, Resource, Template, retries};
use super::{EVENTS, SCHEDULER, terraform};
use crate::facts::Facts;
use crate::model::{Attempts, Confidence, DeadLetter, Queue, Scope, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};

/// The service of targets.
const SERVICE: &str = "eventbridge";

pub(super) fn read(template: &Template<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
    for rule in template.of_kind("AWS::Events::Rule") {
        let scheduled = rule.get(&["EventPattern"]).is_none();
        for target in rule.get(&["Targets"]).map_or(&[][..], Node::items) {
            let id = target.get("Id").and_then(Node::as_str).unwrap_or("without an id");
            let name = format!("target {id} of EventBridge rule {}", rule.short());
            let opens = template.opening(target);
            let handed = HandOver { name, opens, source: EVENTS, scheduled };
            handed.read(template, target, out, facts);
        }
    }
    for target in template.of_kind(terraform::TARGET) {
        let Some(properties) = target.properties else { continue };
        let rule = target.get(&["Rule"]).and_then(|rule| match template.resolve(rule) {
            Resolved::Object(id) => template.resource(&id),
            Resolved::Text(_) | Resolved::Unknown => None,
        });
        let scheduled = rule.is_some_and(|rule| rule.get(&["EventPattern"]).is_none());
        let name = format!("EventBridge target {}", target.short());
        HandOver { name, opens: target.id_span, source: EVENTS, scheduled }.read(template, properties, out, facts);
    }
    for schedule in template.of_kind("AWS::Scheduler::Schedule") {
        let Some(target) = schedule.get(&["Target"]) else { continue };
        let name = format!("EventBridge schedule {}", schedule.short());
        HandOver { name, opens: schedule.id_span, source: SCHEDULER, scheduled: true }
            .read(template, target, out, facts);
    }
}

/// The events of a SAM function that EventBridge hands over.
pub(super) fn read_sam(
    template: &Template<'_>,
    function: &Resource<'_>,
    event: &Entry,
    out: &mut Vec<HandedOver>,
    facts: &mut Facts,
) {
    let kind = event.value.get("Type").and_then(Node::as_str).unwrap_or_default();
    let scheduled = matches!(kind, "Schedule" | "ScheduleV2");
    if !scheduled && !matches!(kind, "EventBridgeRule" | "CloudWatchEvent") {
        return;
    }
    let Some(properties) = event.value.get("Properties") else { return };
    let name = format!("event {} of function {}", event.key, function.id);
    HandOver { name, opens: event.key_span, source: EVENTS, scheduled }.read(template, properties, out, facts);
}

/// The `eventBridge` event of a function of the Serverless Framework.
pub(super) fn read_serverless(
    template: &Template<'_>,
    function: &str,
    event: &Entry,
    out: &mut Vec<HandedOver>,
    facts: &mut Facts,
) {
    let name = format!("event {} of function {function}", event.key);
    let scheduled = event.value.get("schedule").is_some();
    let handed = HandOver { name, opens: event.key_span, source: EVENTS, scheduled };
    let policy = event.value.get("retryPolicy");
    let dead = event.value.get_any(&["deadLetterQueueArn", "deadLetterQueue"]);
    let given = Given {
        dead_letter: template.dead_letter(dead),
        count: policy.and_then(|p| p.entry("maximumRetryAttempts")),
        age: policy.and_then(|p| p.entry("maximumEventAge")),
        is_written: policy.is_some(),
        advice: "`deadLetterQueueArn` on the event",
    };
    handed.add(template, given, out, facts);
}

/// What a target says of failures.
struct Given<'n> {
    dead_letter: DeadLetter,
    count: Option<&'n Entry>,
    age: Option<&'n Entry>,
    is_written: bool,
    advice: &'static str,
}

/// A place where EventBridge hands an event over.
struct HandOver {
    name: String,
    opens: Span,
    /// What documents its default.
    source: &'static str,
    /// It comes by the clock: the next one makes up for it.
    scheduled: bool,
}

impl HandOver {
    fn read(&self, template: &Template<'_>, target: &Node, out: &mut Vec<HandedOver>, facts: &mut Facts) {
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
        let policy = target.get("RetryPolicy");
        let given = Given {
            dead_letter,
            count: policy.and_then(|p| p.entry("MaximumRetryAttempts")),
            age: policy.and_then(|p| p.entry_any(&["MaximumEventAgeInSeconds", "MaximumEventAge"])),
            is_written: policy.is_some(),
            advice: template.words.target_advice,
        };
        self.add(template, given, out, facts);
    }

    fn add(&self, template: &Template<'_>, given: Given<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
        let words = template.words;
        let queue = Queue {
            id: format!("{}:eventbridge:{}", words.system, self.name).into(),
            service: SERVICE,
            name: self.name.clone(),
            names: Vec::new(),
            place: self.opens,
            otherwise: "is handed over again for a day, or not at all where access is denied, and is then dropped"
                .to_owned(),
            dead_letter: given.dead_letter,
            holds_dead_letters: false,
            minor: self.scheduled,
            retention: None,
            // What comes by the clock is no message.
            redelivers: until(given.age, given.count, (86_400, self.source)).filter(|_| !self.scheduled),
            ages_from_first_send: false,
            advice: Some(given.advice.to_owned()),
            confidence: Confidence::High,
            dead_letters_of: Vec::new(),
            alarms: Vec::new(),
        };
        out.push(HandedOver { queue, is_written: given.is_written, what: What::Delivery });
        let attempts = match given.count {
            Some(e) => retries(e),
            None => Setting::default(Attempts::Count(186), self.source),
        };
        // It repeats the handing over only, so it multiplies nothing that the target does.
        let scope = Scope::Consumers { queue: None, components: Vec::new(), group: String::new() };
        let id = (format!("{}:eventbridge:{}", words.system, self.name), self.name.clone());
        let mut layer = redelivery(words.system, id, self.opens, attempts, scope);
        layer.asked_for = given.is_written;
        layer.reading = match given.count {
            Some(e) => format!("{} on {}", template.quote(e), self.name),
            None => format!("{}, which sets no {}", self.name, words.retry_policy),
        };
        layer.place = given.count.map_or(self.opens, |e| e.value.span);
        layer.advice.none = Some(words.hand_over_once.to_owned());
        facts.layers.push(layer);
    }
}
