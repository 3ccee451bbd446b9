//! Google Pub/Sub: subscriptions and topics as objects of Config Connector, and alert policies on them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Alarm, Attempts, DeadLetter, Fires, LayerKind, QueueRef, Setting, Wait, Watch, Which};
use crate::syntax::Node;
use crate::systems::alerts::threshold::{self, Comparison};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Pub/Sub.
pub struct PubSub;

const ID: &str = "pubsub";
const SERVICE: &str = "pubsub";
const PROTO: &str = "googleapis/googleapis google/pubsub/v1/pubsub.proto";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Google Pub/Sub",
    reads: "PubSubSubscription and MonitoringAlertPolicy objects of Config Connector: dead-letter and retry policies, alerts",
    marks: &["PubSubSubscription", "PubSubTopic", "MonitoringAlertPolicy"],
    defaults: &[
        DefaultFigure { what: "deadLetterPolicy absent", value: "redelivered until the retention ends", source: PROTO },
        DefaultFigure { what: "maxDeliveryAttempts absent in a deadLetterPolicy", value: "5 attempts", source: PROTO },
        DefaultFigure { what: "retryPolicy absent", value: "at once", source: PROTO },
        DefaultFigure { what: "bounds of a retryPolicy absent", value: "10 s to 600 s", source: PROTO },
        DefaultFigure { what: "messageRetentionDuration absent", value: "7 days", source: PROTO },
    ],
};

impl System for PubSub {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let objects: Vec<Object<'_>> = unit.documents().flat_map(|(_, root)| objects::of(root)).collect();
        let mut ids = Ids::default();
        // A topic alone keeps nothing: dead letters lie in the subscriptions to it.
        let dead: BTreeSet<&str> =
            subscriptions(&objects).filter_map(|o| topic(&o, DEAD)?.as_str().map(last)).collect();
        for object in subscriptions(&objects) {
            subscription(&object, &dead, &mut ids, facts);
        }
        for topic in objects.iter().filter(|o| o.kind == "PubSubTopic" && o.version.starts_with("pubsub.cnrm.")) {
            let mut queue =
                repeats::queue(TOPICS, format!("{ID}:topic:{}", topic.name).into(), String::new(), topic.name_span);
            queue.names = vec![QueueRef::Name(topic.name.to_owned())];
            facts.queues.push(queue);
        }
        for policy in objects.iter().filter(|o| o.kind == "MonitoringAlertPolicy") {
            facts.alarms.extend(alarms(policy));
        }
    }

    /// A topic keeps nothing: dead letters that nothing subscribes to are lost.
    fn join(&self, facts: &mut Facts) {
        let (topics, mut queues): (Vec<_>, Vec<_>) = facts.queues.drain(..).partition(|q| q.service == TOPICS);
        let subscribed: BTreeSet<QueueRef> =
            queues.iter().filter(|q| q.service == SERVICE).flat_map(|q| q.names.iter().cloned()).collect();
        let lonely: BTreeSet<&QueueRef> =
            topics.iter().flat_map(|t| &t.names).filter(|name| !subscribed.contains(*name)).collect();
        for queue in queues.iter_mut().filter(|q| q.service == SERVICE) {
            if let DeadLetter::To { target: target @ QueueRef::Name(name), .. } = &queue.dead_letter
                && lonely.contains(target)
            {
                queue.otherwise = format!("goes to topic {name}, to which nothing subscribes, and is lost");
                queue.advice = Some(format!("a subscription to topic {name}"));
                queue.dead_letter = DeadLetter::None;
            }
        }
        facts.queues = queues;
    }
}

/// The service of topics, until it is known who subscribes to them.
const TOPICS: &str = "pubsub topics";

fn subscriptions<'o, 'n>(objects: &'o [Object<'n>]) -> impl Iterator<Item = Object<'n>> + use<'o, 'n> {
    objects.iter().copied().filter(|o| o.kind == "PubSubSubscription" && o.version.starts_with("pubsub.cnrm."))
}

const DEAD: &[&str] = &["deadLetterPolicy", "deadLetterTopicRef"];

/// A topic by its object's name, or by its full name outside of the cluster.
fn topic<'n>(object: &Object<'n>, path: &[&str]) -> Option<&'n Node> {
    object.spec(path)?.get_any(&["name", "external"])
}

/// `projects/shop/topics/orders` → `orders`.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn subscription(object: &Object<'_>, dead: &BTreeSet<&str>, ids: &mut Ids, facts: &mut Facts) {
    let name = format!("Pub/Sub subscription {}", object.name);
    let id = ids.next(format!("{ID}:{}", object.qualified()));
    let of = topic(object, &["topicRef"]).and_then(Node::as_str).map(last);
    let holds = of.is_some_and(|t| dead.contains(t));
    let retention = match object.spec(&["messageRetentionDuration"]) {
        Some(node) => match duration::proto(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        },
        None => Setting::default(Duration::from_secs(604_800), PROTO),
    };

    let mut queue = repeats::queue(SERVICE, id.clone(), name.clone(), object.name_span);
    // Dead letters are sent to a topic, and found in its subscriptions.
    queue.names = of.into_iter().chain([object.name]).map(|n| QueueRef::Name(n.to_owned())).collect();
    queue.otherwise = "comes back until the retention ends, and is then deleted".to_owned();
    queue.holds_dead_letters = holds;
    queue.retention = Some(retention);
    queue.advice = Some("a `deadLetterPolicy`, with a subscription to its topic".to_owned());
    queue.dead_letter = match (object.spec(&["deadLetterPolicy"]), topic(object, DEAD)) {
        (None, _) => DeadLetter::None,
        (Some(_), Some(node)) => match node.as_str() {
            Some(text) => DeadLetter::To { target: QueueRef::Name(last(text).to_owned()), place: node.span },
            None => DeadLetter::Unknown,
        },
        (Some(_), None) => DeadLetter::Unknown,
    };
    let limited = object.spec(&["deadLetterPolicy"]);
    let count = limited.and_then(|p| p.entry("maxDeliveryAttempts")).filter(|e| e.value.as_int() != Some(0));
    let attempts = match (limited, count) {
        (Some(_), Some(e)) => match e.value.as_int().and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Setting::written(Attempts::Count(n), e.value.span),
            None => Setting::unknown("not a number here", Some(e.value.span)),
        },
        (Some(_), None) => Setting::default(Attempts::Count(5), PROTO),
        (None, _) => Setting::unknown("as often as fits until the retention ends", None),
    };
    let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.clone(), object.name_span, attempts);
    layer.asked_for = true;
    layer.place = count.map_or(object.name_span, |e| e.value.span);
    layer.reading = count.map_or_else(|| name.clone(), |e| format!("{} on {name}", settings::quote(e)));
    layer.wait = wait(object.spec(&["retryPolicy"]));
    layer.wait_place = object.node.get("spec").and_then(|s| s.entry("retryPolicy")).map(|e| e.key_span);
    layer.advice.wait = Some("set a `retryPolicy` with `minimumBackoff` and `maximumBackoff`".to_owned());
    layer.advice.grow = Some("set `maximumBackoff` above `minimumBackoff`".to_owned());
    // Dead letters are taken out by hand: nothing is repeated by itself.
    if !queue.is_for_dead_letters() {
        facts.layers.push(layer);
    }
    facts.queues.push(queue);
}

/// Between the two bounds, exponentially.
fn wait(policy: Option<&Node>) -> Wait {
    let Some(policy) = policy else { return Wait::None };
    let bound = |key: &str, default: u64| match policy.get(key) {
        Some(node) => match duration::proto(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        },
        None => Setting::default(Duration::from_secs(default), PROTO),
    };
    Wait::Exponential {
        base: bound("minimumBackoff", 10),
        factor: Setting::default(2.0, PROTO),
        cap: bound("maximumBackoff", 600).map(Some),
    }
}

/// The conditions of an alert policy that look at subscriptions; one of none if there are no such.
fn alarms(policy: &Object<'_>) -> Vec<Alarm> {
    let channels = policy.spec(&["notificationChannels"]).map_or(&[][..], Node::items);
    let enabled = policy.spec(&["enabled"]).and_then(Node::as_bool) != Some(false);
    let conditions = policy.spec(&["conditions"]).map_or(&[][..], Node::items).iter();
    let alarm = |condition: &Node| {
        let test = condition.get("conditionThreshold")?;
        let filter = test.get("filter")?.as_str()?;
        let threshold = test.get("thresholdValue");
        let comparison = match test.get("comparison").and_then(Node::as_str) {
            Some("COMPARISON_GT") => Some(Comparison::Above),
            Some("COMPARISON_GE") => Some(Comparison::AtLeast),
            _ => None,
        };
        // Without a value, more than nothing.
        let value = threshold.map_or(Some(0.0), Node::as_f64);
        Some(Alarm {
            name: format!("alert policy {}", policy.name),
            place: policy.name_span,
            threshold_place: threshold.map_or(policy.name_span, |n| n.span),
            watches: watched(filter).into_iter().collect(),
            fires: match (comparison, value) {
                (Some(comparison), Some(value)) => threshold::fires(comparison, value),
                _ => Fires::Unknown,
            },
            notifies: Some(enabled && !channels.is_empty()),
        })
    };
    conditions.filter_map(|c| alarm(c)).collect()
}

/// The subscription that a filter names, if it looks at how many messages lie there.
fn watched(filter: &str) -> Option<Watch> {
    if !filter.contains("subscription/num_undelivered_messages") {
        return None;
    }
    let after = filter.split("subscription_id").nth(1).map(str::trim_start);
    let value = after.and_then(|a| a.strip_prefix('=')).map(str::trim_start);
    let name = value.and_then(|v| v.strip_prefix('"')).and_then(|v| v.split('"').next());
    let which = name.map_or(Which::Unknown, |n| Which::One(QueueRef::Name(n.to_owned())));
    Some(Watch { service: SERVICE, which })
}
