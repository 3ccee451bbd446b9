//! SQS: queues with their redrive policies.

use std::time::Duration;

use super::SQS;
use super::layers::{redelivery, spoken, within};
use super::template::{Resource, Template, whole};
use crate::facts::Facts;
use crate::model::{Attempts, Confidence, DeadLetter, Layer, Queue, QueueName, QueueRef, Scope, Setting, Wait};
use crate::syntax::Node;

/// The service, as alarms and references name it.
pub(super) const SERVICE: &str = "sqs";

pub(super) fn read(template: &Template<'_>, facts: &mut Facts) {
    let queues: Vec<SqsQueue<'_>> =
        template.of_kind("AWS::SQS::Queue").map(|resource| SqsQueue::new(template, resource)).collect();
    let targets: Vec<&QueueRef> = queues.iter().filter_map(SqsQueue::target).collect();
    for queue in &queues {
        let fact = queue.queue();
        // What lies in a dead-letter queue is taken out by hand: nothing is repeated there by itself.
        let by_hand = matches!(queue.redrive, Redrive::None)
            && (fact.is_for_dead_letters() || fact.names.iter().any(|n| targets.contains(&n)));
        facts.layers.extend(queue.layer().filter(|_| !by_hand));
        facts.queues.push(fact);
    }
}

struct SqsQueue<'a> {
    template: &'a Template<'a>,
    resource: Resource<'a>,
    title: String,
    visibility: Setting<Duration>,
    retention: Setting<Duration>,
    redrive: Redrive,
}

/// What a queue's redrive policy says.
enum Redrive {
    /// There is none.
    None,
    /// After so many deliveries to another queue.
    To { deliveries: Setting<Attempts>, place: Option<crate::source::Span>, quoted: String, dead_letter: DeadLetter },
    /// It cannot be read.
    Unknown,
}

impl<'a> SqsQueue<'a> {
    fn new(template: &'a Template<'a>, resource: Resource<'a>) -> Self {
        let seconds = |key: &str, default: u64| match resource.get(&[key]) {
            Some(node) => whole(node).map(Duration::from_secs),
            None => Setting::default(Duration::from_secs(default), SQS),
        };
        Self {
            title: template.title(&resource, "QueueName"),
            visibility: seconds("VisibilityTimeout", 30),
            retention: seconds("MessageRetentionPeriod", 345_600),
            redrive: redrive(template, &resource),
            template,
            resource,
        }
    }

    fn id(&self) -> String {
        format!("{}:sqs:{}", self.template.words.system, self.title)
    }

    /// Where its dead letters go.
    fn target(&self) -> Option<&QueueRef> {
        match &self.redrive {
            Redrive::To { dead_letter: DeadLetter::To { target, .. }, .. } => Some(target),
            _ => None,
        }
    }

    fn queue(&self) -> Queue {
        let fifo = self.resource.get(&["FifoQueue"]).and_then(Node::as_bool) == Some(true);
        Queue {
            id: self.id().into(),
            service: SERVICE,
            name: format!("SQS queue {}", self.title),
            names: self.template.names(&self.resource, "QueueName"),
            place: self.resource.id_span,
            otherwise: self.otherwise(),
            dead_letter: match &self.redrive {
                Redrive::None => DeadLetter::None,
                Redrive::To { dead_letter, .. } => dead_letter.clone(),
                Redrive::Unknown => DeadLetter::Unknown,
            },
            holds_dead_letters: self.resource.get(&["RedriveAllowPolicy"]).is_some(),
            // Where order matters, AWS advises against a dead-letter queue.
            minor: fifo,
            retention: Some(self.retention.clone()),
            redelivers: None,
            ages_from_first_send: !fifo,
            advice: Some(self.template.words.queue_advice.to_owned()),
            confidence: Confidence::High,
            dead_letters_of: Vec::new(),
            alarms: Vec::new(),
        }
    }

    fn otherwise(&self) -> String {
        let every = self.visibility.value().map_or(String::new(), |d| format!(" every {}", spoken(*d)));
        match self.retention.value() {
            Some(age) => format!("comes back{every} until it is {} old, and is then deleted", spoken(*age)),
            None => format!("comes back{every} until its retention ends, and is then deleted"),
        }
    }

    /// The redelivery, where the queue has a name by which a consumer could be found.
    fn layer(&self) -> Option<Layer> {
        let name = format!("SQS queue {}", self.title);
        let reference = self.template.names(&self.resource, "QueueName").into_iter().next()?;
        let scope = Scope::Consumers {
            queue: Some(QueueName { service: SERVICE, queue: reference }),
            components: Vec::new(),
            group: self.id(),
        };
        let words = self.template.words;
        let id = (self.id(), name.clone());
        let opens = self.resource.id_span;
        let mut layer = match &self.redrive {
            Redrive::None => redelivery(words.system, id, opens, self.until_it_expires(), scope),
            Redrive::Unknown => {
                let deliveries = Setting::unknown("its redrive policy cannot be read", None);
                redelivery(words.system, id, opens, deliveries, scope)
            }
            Redrive::To { deliveries, place, quoted, .. } => {
                let mut layer = redelivery(words.system, id, opens, deliveries.clone(), scope);
                layer.place = place.unwrap_or(opens);
                layer.reading = format!("{quoted} on {name}");
                layer
            }
        };
        if matches!(self.redrive, Redrive::None) {
            layer.reading = format!("{name}, which has no {}", words.redrive_policy);
        }
        // Whoever makes a queue asks for redelivery.
        layer.asked_for = true;
        layer.wait = Wait::Fixed(self.visibility.clone());
        layer.wait_place = self.resource.entry(&["VisibilityTimeout"]).map(|e| e.value.span);
        layer.advice.fewer = Some(format!("a smaller `maxReceiveCount` in the queue's {}", words.redrive_policy));
        Some(layer)
    }

    fn until_it_expires(&self) -> Setting<Attempts> {
        match (self.retention.value(), self.visibility.value()) {
            (Some(age), Some(wait)) => {
                let attempts = within(*age, *wait);
                match self.retention.span().or(self.visibility.span()) {
                    Some(span) => Setting::written(attempts, span),
                    None => Setting::default(attempts, SQS),
                }
            }
            _ => Setting::unknown("how often the queue redelivers within its retention", None),
        }
    }
}

/// The redrive policy: a mapping, or JSON in a string.
fn redrive(template: &Template<'_>, resource: &Resource<'_>) -> Redrive {
    let Some(entry) = resource.entry(&["RedrivePolicy"]) else { return Redrive::None };
    if entry.value.tag.is_some() {
        return Redrive::Unknown;
    }
    let parsed = template.embedded(&entry.value);
    let inner = parsed.as_ref().and_then(|p| p.documents.first());
    let node: &Node = inner.map_or(&entry.value, |n| n);
    let Some(target) = node.get("deadLetterTargetArn") else { return Redrive::Unknown };
    let dead_letter = match template.target(target) {
        Some(to) => DeadLetter::To { target: to, place: target.span },
        None => DeadLetter::Unknown,
    };
    match node.entry("maxReceiveCount") {
        Some(count) => Redrive::To {
            deliveries: whole(&count.value).map(|n| Attempts::Count(n.max(1))),
            place: Some(count.value.span),
            quoted: template.quote(count),
            dead_letter,
        },
        None => Redrive::To {
            deliveries: Setting::default(Attempts::Count(10), SQS),
            place: None,
            quoted: format!("{} without `maxReceiveCount`", template.words.redrive_policy),
            dead_letter,
        },
    }
}
