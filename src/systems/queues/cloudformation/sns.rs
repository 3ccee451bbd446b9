//! SNS: subscriptions, with what happens to a message that cannot be delivered.

use std::time::Duration;

use super::SNS;
use super::given_up::{HandedOver, What};
use super::layers::redelivery;
use super::template::{self, Resolved, Resource, Template};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Confidence, DeadLetter, Jitter, Layer, Queue, QueueRef, Scope, Setting, Wait};
use crate::source::Span;
use crate::syntax::Node;

/// The service of subscriptions.
const SERVICE: &str = "sns";

pub(super) fn read(template: &Template<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
    for resource in template.of_kind("AWS::SNS::Subscription") {
        let Some(properties) = resource.properties else { continue };
        let name = format!("SNS subscription {}", resource.short());
        let protocol = protocol(template, properties.get("Protocol"));
        let policy = resource.get(&["RedrivePolicy"]);
        let is_written = resource.get(&["DeliveryPolicy"]).is_some();
        let queue = subscription(template, &name, &protocol, policy, resource.id_span);
        out.extend(queue.map(|queue| HandedOver { queue, is_written, what: What::Subscription }));
        if matches!(protocol.as_str(), "http" | "https") {
            facts.layers.extend(http_layer(template, &resource, name));
        }
    }
    for topic in template.of_kind("AWS::SNS::Topic") {
        for (n, item) in topic.get(&["Subscription"]).map_or(&[][..], Node::items).iter().enumerate() {
            let protocol = protocol(template, item.get("Protocol"));
            let name = format!("subscription {} of SNS topic {}", n + 1, topic.short());
            let place = template.opening(item);
            let queue = subscription(template, &name, &protocol, None, place);
            out.extend(queue.map(|queue| HandedOver { queue, is_written: false, what: What::Subscription }));
        }
    }
}

/// The subscription of a function to a topic, as an event of the function: of SAM, or of the Serverless Framework.
pub(super) fn read_event(template: &Template<'_>, name: &str, event: &Node, place: Span, out: &mut Vec<HandedOver>) {
    let sam = event.get("RedrivePolicy");
    let serverless = event.get("redrivePolicy").map(|policy| {
        policy.get("deadLetterTargetArn").or(policy.get_any(&["deadLetterTargetRef", "deadLetterTargetImport"]))
    });
    let mut found = subscription(template, name, "lambda", sam, place);
    if let (Some(queue), Some(target)) = (&mut found, serverless) {
        queue.dead_letter = match target.map(|n| (template.target(n), n.span)) {
            Some((Some(target), place)) => DeadLetter::To { target, place },
            _ => DeadLetter::Unknown,
        };
    }
    out.extend(found.map(|queue| HandedOver { queue, is_written: false, what: What::Subscription }));
}

fn protocol(template: &Template<'_>, node: Option<&Node>) -> String {
    match node.map(|n| template.resolve(n)) {
        Some(Resolved::Text(text)) => text.to_lowercase(),
        _ => String::new(),
    }
}

/// A subscription that hands messages over to a machine; mail and text messages have no dead letters that one could use.
fn subscription(
    template: &Template<'_>,
    name: &str,
    protocol: &str,
    policy: Option<&Node>,
    place: Span,
) -> Option<Queue> {
    let (otherwise, minor) = match protocol {
        "http" | "https" => {
            ("is tried 4 times within a minute, unless a delivery policy says otherwise, and is then discarded", false)
        }
        "sqs" | "lambda" | "firehose" => {
            ("is tried for 23 days, or not at all where access is denied, and is then discarded", true)
        }
        _ => return None,
    };
    let dead_letter = match policy {
        None => DeadLetter::None,
        Some(node) if node.tag.is_some() => DeadLetter::Unknown,
        Some(node) => {
            let parsed = template.embedded(node);
            let inner = parsed.as_ref().and_then(|p| p.documents.first());
            let policy: &Node = inner.map_or(node, |n| n);
            match policy.get("deadLetterTargetArn").map(|n| (template.target(n), n.span)) {
                Some((Some(target), place)) => DeadLetter::To { target, place },
                _ => DeadLetter::Unknown,
            }
        }
    };
    Some(Queue {
        id: format!("{}:sns:{name}", template.words.system).into(),
        service: SERVICE,
        name: name.to_owned(),
        names: Vec::new(),
        place,
        otherwise: otherwise.to_owned(),
        dead_letter,
        holds_dead_letters: false,
        minor,
        retention: None,
        // Its retries of a URL take an hour at most.
        redelivers: minor.then(|| Setting::default(Duration::from_secs(23 * 86_400), SNS)),
        ages_from_first_send: false,
        advice: Some(template.words.subscription_advice.to_owned()),
        confidence: Confidence::High,
        dead_letters_of: Vec::new(),
        alarms: Vec::new(),
    })
}

/// What a delivery policy says of a subscription to a URL.
fn http_layer(template: &Template<'_>, resource: &Resource<'_>, name: String) -> Option<Layer> {
    let opens = resource.id_span;
    let scope = Scope::Consumers { queue: None, components: Vec::new(), group: String::new() };
    let words = template.words;
    let id = (format!("{}:sns:{}", words.system, resource.short()), name.clone());
    let entry = resource.entry(&["DeliveryPolicy"]);
    let parsed = entry.and_then(|e| template.embedded(&e.value));
    let inner = parsed.as_ref().and_then(|p| p.documents.first());
    let policy = match (entry, inner) {
        (_, Some(document)) => document.get("healthyRetryPolicy"),
        (Some(e), None) => e.value.get("healthyRetryPolicy"),
        (None, None) => None,
    };
    let Some(policy) = policy else {
        // The topic may have a policy for all its subscriptions.
        if entry.is_some() || topic_has_policy(template, resource) {
            return None;
        }
        let mut layer = redelivery(words.system, id, opens, Setting::default(Attempts::Count(4), SNS), scope);
        layer.wait = Wait::Fixed(Setting::default(Duration::from_secs(20), SNS));
        layer.reading = format!("{name}, which sets no {}", words.delivery_policy);
        layer.advice.fewer = Some(format!("a smaller `numRetries` in a {}", words.delivery_policy));
        return Some(layer);
    };
    let retries = policy.entry("numRetries");
    let attempts = match retries {
        Some(e) => crate::systems::settings::retries(e),
        None => Setting::default(Attempts::Count(4), SNS),
    };
    let mut layer = redelivery(words.system, id, opens, attempts, scope);
    layer.asked_for = true;
    layer.place = retries.map_or(opens, |e| e.value.span);
    layer.reading = retries.map_or_else(|| name.clone(), |e| format!("{} on {name}", template.quote(e)));
    layer.jitter = Setting::default(Jitter::Full, SNS);
    layer.advice = Advice {
        wait: Some("set `numNoDelayRetries: 0`".to_owned()),
        grow: Some("set `maxDelayTarget` above `minDelayTarget`, and `backoffFunction: exponential`".to_owned()),
        fewer: Some("a smaller `numRetries`".to_owned()),
        ..Advice::default()
    };
    layer.wait = waits(policy);
    let place = match &layer.wait {
        Wait::Fixed(_) => policy.entry_any(&["minDelayTarget", "maxDelayTarget"]),
        _ => policy.entry("numNoDelayRetries"),
    };
    layer.wait_place = place.map(|e| e.key_span);
    Some(layer)
}

/// First some retries at once, then others after delays that grow from the least to the most.
fn waits(policy: &Node) -> Wait {
    let figure = |key: &str, default: u64| {
        policy.entry(key).map_or(Setting::default(default, SNS), |e| template::whole(&e.value))
    };
    let (least, most) = (figure("minDelayTarget", 20), figure("maxDelayTarget", 20));
    let at_once = figure("numNoDelayRetries", 0);
    match (at_once.value(), least.value(), most.value()) {
        (Some(0), Some(a), Some(b)) if a == b => Wait::Fixed(least.map(Duration::from_secs)),
        (Some(at_once), Some(_), Some(_)) if *at_once > 0 => {
            // How they grow in between depends on a function: each is taken for as long as it can be.
            let zeros = std::iter::repeat_n(0, (*at_once).min(MOST_RETRIES) as usize);
            let delays = [&least, &most].into_iter().filter_map(Setting::value).copied();
            Wait::Scheduled { waits: zeros.chain(delays).map(Duration::from_secs).collect(), capped: true }
        }
        _ => Wait::Unknown { why: "how the delays grow, or from where, is not known".to_owned() },
    }
}

/// SNS takes no more retries than these.
const MOST_RETRIES: u64 = 100;

fn topic_has_policy(template: &Template<'_>, subscription: &Resource<'_>) -> bool {
    let topic = subscription.get(&["TopicArn"]).and_then(|n| template.target(n));
    match topic {
        Some(QueueRef::Object { id, .. }) => {
            template.resource(&id).is_some_and(|t| t.get(&["DeliveryPolicy"]).is_some())
        }
        _ => true,
    }
}
