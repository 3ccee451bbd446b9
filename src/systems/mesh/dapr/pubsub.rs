//! Publish and subscribe: where the messages of a subscription go that keep failing, and what Google Pub/Sub is told of it.

use std::collections::BTreeMap;

use super::ID;
use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, LayerKind, Queue, QueueRef, Setting};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::objects::Object;
use crate::systems::repeats;
use crate::systems::settings;

pub(super) const COMPONENT: &str = "Dapr documentation, GCP Pub/Sub component";

/// The service of subscriptions.
const SERVICE: &str = "dapr";

/// What a component of Google Pub/Sub is told: how often it hands over, and where it then puts the message.
pub(super) fn component(object: &Object<'_>, facts: &mut Facts) {
    if object.kind != "Component" || object.spec(&["type"]).and_then(Node::as_str) != Some("pubsub.gcp.pubsub") {
        return;
    }
    let metadata: BTreeMap<&str, &Node> = object
        .spec(&["metadata"])
        .map_or(&[][..], Node::items)
        .iter()
        .filter_map(|m| Some((m.get("name")?.as_str()?, m.get("value")?)))
        .collect();
    let name = format!("Dapr component {}", settings::shown(object.name));
    let id: std::sync::Arc<str> = format!("{ID}:pubsub:{}", object.qualified()).into();
    let mut queue = repeats::queue(SERVICE, id.clone(), name.clone(), object.name_span);
    queue.names = vec![QueueRef::Name(object.name.to_owned())];
    queue.otherwise = "comes back until Pub/Sub no longer keeps it, and is then deleted".to_owned();
    queue.advice = Some(
        "`deadLetterTopic` in the component's metadata, or on each Subscription, with a subscription to it".to_owned(),
    );
    queue.dead_letter = match metadata.get("deadLetterTopic") {
        None => DeadLetter::None,
        Some(node) => to(node),
    };
    if queue.dead_letter != DeadLetter::None {
        let count = metadata.get("maxDeliveryAttempts");
        let attempts = match count.map(|n| (n.as_int().and_then(|n| u64::try_from(n).ok()), n.span)) {
            Some((Some(n), span)) => Setting::written(Attempts::Count(n), span),
            Some((None, span)) => Setting::unknown("not a number here", Some(span)),
            None => Setting::default(Attempts::Count(5), COMPONENT),
        };
        let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.clone(), object.name_span, attempts);
        layer.asked_for = true;
        layer.place = count.map_or(object.name_span, |n| n.span);
        layer.reading = match count.and_then(|n| n.as_str()) {
            Some(n) => format!("`maxDeliveryAttempts: {}` of {name}", settings::shown(n)),
            None => format!("{name}, which sets no `maxDeliveryAttempts`"),
        };
        layer.advice.fewer = Some("a smaller `maxDeliveryAttempts`".to_owned());
        facts.layers.push(layer);
    }
    facts.queues.push(queue);
}

/// A subscription with its own dead-letter topic, or without one.
pub(super) fn subscription(object: &Object<'_>, facts: &mut Facts) {
    let Some(component) = object.spec(&["pubsubname"]).and_then(Node::as_str) else { return };
    if object.kind != "Subscription" {
        return;
    }
    let topic = object.spec(&["deadLetterTopic"]).filter(|n| !n.is_null());
    let id = format!("{ID}:subscription:{}", object.qualified()).into();
    let name = format!("Dapr subscription {}", settings::shown(object.name));
    let mut queue = repeats::queue(SUBSCRIPTIONS, id, name, object.name_span);
    queue.names = vec![QueueRef::Name(component.to_owned())];
    queue.dead_letter = topic.map_or(DeadLetter::None, to);
    facts.queues.push(queue);
    if let Some((name, node)) = topic.and_then(|n| Some((n.as_str().filter(|t| !settings::is_template(t))?, n))) {
        facts.queues.push(dead_letters(name, node.span, object));
    }
}

/// The service of subscriptions whose component has not been looked for yet; they are called after it.
const SUBSCRIPTIONS: &str = "dapr subscriptions";

/// A component whose subscriptions all have a topic of their own for what fails needs none; what becomes of a message
/// without such a topic is the component's matter.
pub(super) fn join(facts: &mut Facts) {
    let (subscriptions, mut queues): (Vec<_>, Vec<_>) =
        facts.queues.drain(..).partition(|q| q.service == SUBSCRIPTIONS);
    for queue in queues.iter_mut().filter(|q| q.service == SERVICE && q.dead_letter == DeadLetter::None) {
        let mut own = subscriptions.iter().filter(|s| s.names == queue.names).peekable();
        if own.peek().is_some() && own.all(|s| s.dead_letter != DeadLetter::None) {
            queue.dead_letter = DeadLetter::Unknown;
        }
    }
    let kept = subscriptions.into_iter().filter(|s| s.dead_letter != DeadLetter::None);
    queues.extend(kept.map(|s| Queue { service: SERVICE, names: Vec::new(), ..s }));
    facts.queues = queues;
}

fn to(node: &Node) -> DeadLetter {
    match node.as_str().filter(|name| !settings::is_template(name)) {
        Some(name) => DeadLetter::To { target: QueueRef::Name(name.to_owned()), place: node.span },
        None => DeadLetter::Unknown,
    }
}

/// A topic of dead letters.
fn dead_letters(name: &str, place: Span, object: &Object<'_>) -> Queue {
    let id = format!("{ID}:{}:{name}:dead-letters", object.qualified()).into();
    let mut queue = repeats::queue(SERVICE, id, format!("topic {}", settings::shown(name)), place);
    queue.names = vec![QueueRef::Name(name.to_owned())];
    queue.holds_dead_letters = true;
    queue
}
