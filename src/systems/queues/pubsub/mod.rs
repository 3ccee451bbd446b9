//! Google Pub/Sub: subscriptions and topics as objects of Config Connector or resources of Terraform, and alert policies
//! on them.

mod alerts;
mod given;

use std::collections::BTreeSet;
use std::time::Duration;

use given::{Dead, Given};

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, LayerKind, QueueRef, Setting, Wait};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::objects::{self, Object};
use crate::systems::settings::Ids;
use crate::systems::terraform::{self, Called, Resource};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Pub/Sub.
pub struct PubSub;

const ID: &str = "pubsub";
const SERVICE: &str = "pubsub";
const PUSH: &str = "Google Cloud documentation, Pub/Sub push subscriptions, push backoff";
const PROTO: &str = "googleapis/googleapis google/pubsub/v1/pubsub.proto";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Google Pub/Sub",
    reads: "PubSubSubscription and MonitoringAlertPolicy objects of Config Connector, google_pubsub_subscription and \
            google_monitoring_alert_policy in Terraform: dead-letter and retry policies, alerts",
    marks: &[
        "PubSubSubscription",
        "PubSubTopic",
        "MonitoringAlertPolicy",
        "google_pubsub_",
        "google_monitoring_alert_policy",
    ],
    defaults: &[
        DefaultFigure { what: "deadLetterPolicy absent", value: "redelivered until the retention ends", source: PROTO },
        DefaultFigure { what: "maxDeliveryAttempts absent in a deadLetterPolicy", value: "5 attempts", source: PROTO },
        DefaultFigure { what: "retryPolicy absent", value: "at once", source: PROTO },
        DefaultFigure {
            what: "retryPolicy absent, where the service pushes",
            value: "as the service sets it",
            source: PUSH,
        },
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
        let resources: Vec<Resource> = ["google_pubsub_", "google_monitoring_alert_policy"]
            .iter()
            .flat_map(|kind| terraform::resources(unit, kind))
            .collect();
        let Some(module) = unit.parts.first().map(|part| part.file.id) else { return };
        let called = Called::new(module, &resources);
        let mut ids = Ids::default();
        let of_objects = objects.iter().filter_map(Given::of_object);
        let given: Vec<Given<'_>> =
            of_objects.chain(resources.iter().filter_map(|r| Given::of_resource(r, &called))).collect();
        // A topic alone keeps nothing: dead letters lie in the subscriptions to it.
        let dead: BTreeSet<&QueueRef> = given
            .iter()
            .filter_map(|g| match &g.dead {
                Dead::To { topic, .. } => Some(topic),
                _ => None,
            })
            .collect();
        given.iter().for_each(|given| subscription(given, &dead, &mut ids, facts));
        let topics = objects.iter().filter_map(given::topic_of_object);
        for (name, called, place) in topics.chain(resources.iter().filter_map(|r| given::topic_of_resource(r, &called)))
        {
            let mut queue = repeats::queue(TOPICS, format!("{ID}:topic:{name}").into(), name, place);
            queue.names = vec![called];
            facts.queues.push(queue);
        }
        facts.alarms.extend(objects.iter().flat_map(alerts::of_object));
        facts.alarms.extend(resources.iter().flat_map(|r| alerts::of_resource(r, &called)));
    }

    /// A topic keeps nothing: dead letters that nothing subscribes to are lost.
    fn join(&self, facts: &mut Facts) {
        let (topics, mut queues): (Vec<_>, Vec<_>) = facts.queues.drain(..).partition(|q| q.service == TOPICS);
        let subscriptions = || queues.iter().filter(|q| q.service == SERVICE);
        let subscribed: BTreeSet<QueueRef> = subscriptions().flat_map(|q| q.names.iter().cloned()).collect();
        // A subscription whose topic is not known may be to any.
        let is_told = subscriptions().all(|q| q.names.len() > 1);
        let lonely = |target: &QueueRef| {
            let topic = topics.iter().find(|t| t.names.contains(target))?;
            (is_told && !subscribed.contains(target)).then(|| topic.name.clone())
        };
        for queue in queues.iter_mut().filter(|q| q.service == SERVICE) {
            if let DeadLetter::To { target, .. } = &queue.dead_letter
                && let Some(name) = lonely(target)
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

fn subscription(given: &Given<'_>, dead: &BTreeSet<&QueueRef>, ids: &mut Ids, facts: &mut Facts) {
    let name = format!("Pub/Sub subscription {}", given.name);
    let id = ids.next(format!("{ID}:{}", given.id));
    let retention = match given.retention {
        Some(node) => match duration::proto(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        },
        None => Setting::default(Duration::from_secs(604_800), PROTO),
    };

    let mut queue = repeats::queue(SERVICE, id.clone(), name.clone(), given.place);
    // Dead letters are sent to a topic, and found in its subscriptions.
    queue.names = given.topic.iter().chain([&given.called]).cloned().collect();
    queue.otherwise = "comes back until the retention ends, and is then deleted".to_owned();
    queue.holds_dead_letters = given.topic.as_ref().is_some_and(|t| dead.contains(t));
    queue.retention = Some(retention);
    queue.advice = Some(given.words.dead_letters.to_owned());
    queue.dead_letter = match &given.dead {
        Dead::Nowhere => DeadLetter::None,
        Dead::To { topic, place } => DeadLetter::To { target: topic.clone(), place: *place },
        Dead::Unknown => DeadLetter::Unknown,
    };
    let count =
        given.policy.and_then(|p| p.entry_relaxed("maxDeliveryAttempts")).filter(|e| e.value.as_int() != Some(0));
    let mut layer = repeats::layer(
        ID,
        LayerKind::Queue,
        id,
        name.clone(),
        given.place,
        attempts(given.policy, count.map(|e| &*e.value)),
    );
    layer.asked_for = true;
    layer.place = count.map_or(given.place, |e| e.value.span);
    layer.reading = count.map_or_else(|| name.clone(), |e| format!("{} on {name}", given.quote(e)));
    layer.wait = match (given.retry, given.pushes) {
        (None, true) => Wait::Unknown { why: "the service slows down where its pushes are refused".to_owned() },
        (retry, _) => wait(retry.map(|e| &*e.value)),
    };
    layer.wait_place = given.retry.map(|e| e.key_span);
    layer.advice.wait = Some(given.words.wait.to_owned());
    layer.advice.grow = Some(given.words.grow.to_owned());
    // Dead letters are taken out by hand: nothing is repeated by itself.
    if !queue.is_for_dead_letters() {
        facts.layers.push(layer);
    }
    facts.queues.push(queue);
}

/// How often a message is handed over.
fn attempts(policy: Option<&Node>, count: Option<&Node>) -> Setting<Attempts> {
    let unknown = |span: Span| Setting::unknown("not a number here", Some(span));
    match (policy, count) {
        (Some(_), Some(node)) => match node.as_int().and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Setting::written(Attempts::Count(n), node.span),
            None => unknown(node.span),
        },
        // A block that is there only for some.
        (Some(policy), None) if policy.scalar().is_some() => unknown(policy.span),
        (Some(_), None) => Setting::default(Attempts::Count(5), PROTO),
        (None, _) => Setting::unknown("as often as fits until the retention ends", None),
    }
}

/// Between the two bounds, exponentially.
fn wait(policy: Option<&Node>) -> Wait {
    let Some(policy) = policy.filter(|p| !p.is_null()) else { return Wait::None };
    if policy.scalar().is_some() {
        return Wait::Unknown { why: "only a run of Terraform knows it".to_owned() };
    }
    // The JSON form of Terraform may write a block as a list of one.
    let policy = policy.items().first().map_or(policy, |first| first);
    let bound = |key: &str, default: u64| match policy.entry_relaxed(key).map(|e| &*e.value) {
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
