//! Subscriptions and topics, as objects of Config Connector and as resources of Terraform.

use crate::model::QueueRef;
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::objects::Object;
use crate::systems::settings;
use crate::systems::terraform::{self, Called, Resource};

/// What things are called, in objects and in Terraform.
#[derive(Debug)]
pub(super) struct Words {
    /// How a setting is written between its key and its value.
    pub(super) sets: &'static str,
    /// How to give a subscription a dead-letter topic.
    pub(super) dead_letters: &'static str,
    /// How to make it wait.
    pub(super) wait: &'static str,
    /// How to make the waits grow.
    pub(super) grow: &'static str,
}

static OBJECT: Words = Words {
    sets: ": ",
    dead_letters: "a `deadLetterPolicy`, with a subscription to its topic",
    wait: "set a `retryPolicy` with `minimumBackoff` and `maximumBackoff`",
    grow: "set `maximumBackoff` above `minimumBackoff`",
};

static RESOURCE: Words = Words {
    sets: " = ",
    dead_letters: "a `dead_letter_policy`, with a subscription to its topic",
    wait: "set a `retry_policy` with `minimum_backoff` and `maximum_backoff`",
    grow: "set `maximum_backoff` above `minimum_backoff`",
};

/// Where the messages of a subscription go that keep failing.
#[derive(Debug)]
pub(super) enum Dead {
    Nowhere,
    To { topic: QueueRef, place: Span },
    Unknown,
}

/// A subscription, whatever the spelling.
#[derive(Debug)]
pub(super) struct Given<'n> {
    pub(super) words: &'static Words,
    /// For people.
    pub(super) name: &'n str,
    /// Unique among the subscriptions of a unit, but for copies.
    pub(super) id: String,
    pub(super) place: Span,
    pub(super) called: QueueRef,
    /// Its topic, if known.
    pub(super) topic: Option<QueueRef>,
    pub(super) dead: Dead,
    /// Its dead-letter policy.
    pub(super) policy: Option<&'n Node>,
    pub(super) retry: Option<&'n Entry>,
    /// Whether the service itself sends the messages on, and slows down where they are refused.
    pub(super) pushes: bool,
    pub(super) retention: Option<&'n Node>,
}

/// `projects/shop/topics/orders` → `orders`.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn by_name(name: &str) -> QueueRef {
    QueueRef::Name(last(name).to_owned())
}

impl<'n> Given<'n> {
    /// A subscription that is an object.
    pub(super) fn of_object(object: &Object<'n>) -> Option<Self> {
        if object.kind != "PubSubSubscription" || !object.version.starts_with("pubsub.cnrm.") {
            return None;
        }
        // By its object's name, or by its full name outside of the cluster.
        let topic = |path: &[&str]| object.spec(path)?.get_any(&["name", "external"]);
        let policy = object.spec(&["deadLetterPolicy"]);
        let to = topic(&["deadLetterPolicy", "deadLetterTopicRef"]);
        Some(Self {
            words: &OBJECT,
            name: object.name,
            id: object.qualified(),
            place: object.name_span,
            called: by_name(object.name),
            topic: topic(&["topicRef"]).and_then(Node::as_str).map(by_name),
            dead: match (policy, to.and_then(|n| Some((n.as_str()?, n.span)))) {
                (None, _) => Dead::Nowhere,
                (Some(_), Some((text, place))) => Dead::To { topic: by_name(text), place },
                (Some(_), None) => Dead::Unknown,
            },
            policy,
            retry: object.node.get("spec").and_then(|s| s.entry("retryPolicy")),
            pushes: object.node.get("spec").is_some_and(pushes),
            retention: object.spec(&["messageRetentionDuration"]),
        })
    }

    /// A subscription that is a resource.
    pub(super) fn of_resource(resource: &'n Resource, called: &'n Called) -> Option<Self> {
        if &*resource.kind != "google_pubsub_subscription" {
            return None;
        }
        let body = &resource.body;
        let policy = terraform::repeated(body, &["dead_letter_policy"]).next();
        let to = policy.and_then(|p| p.get("dead_letter_topic"));
        Some(Self {
            words: &RESOURCE,
            name: called.shown(resource),
            id: resource.address.clone(),
            place: resource.place,
            called: called.at(&resource.address),
            topic: body.get("topic").and_then(|n| called.by(n)),
            dead: match (policy, to.and_then(|n| Some((called.by(n)?, n.span)))) {
                (None, _) => Dead::Nowhere,
                (Some(_), Some((topic, place))) => Dead::To { topic, place },
                (Some(_), None) => Dead::Unknown,
            },
            policy,
            retry: body.entry("retry_policy"),
            pushes: pushes(body),
            retention: body.get("message_retention_duration"),
        })
    }

    /// A setting as it is quoted.
    pub(super) fn quote(&self, entry: &Entry) -> String {
        settings::quote_as(entry, self.words.sets)
    }
}

/// Whether messages go to a URL, a table or a bucket without anybody asking for them.
fn pushes(subscription: &Node) -> bool {
    let ways = ["pushConfig", "bigqueryConfig", "cloudStorageConfig"];
    ways.iter().any(|way| subscription.entry_relaxed(way).is_some_and(|e| !e.value.is_null()))
}

/// A topic: what it is called, for people and for others, and its place.
pub(super) fn topic_of_object(object: &Object<'_>) -> Option<(String, QueueRef, Span)> {
    let is_topic = object.kind == "PubSubTopic" && object.version.starts_with("pubsub.cnrm.");
    is_topic.then(|| (object.name.to_owned(), by_name(object.name), object.name_span))
}

/// As [`topic_of_object`], of a resource.
pub(super) fn topic_of_resource(resource: &Resource, called: &Called) -> Option<(String, QueueRef, Span)> {
    let is_topic = &*resource.kind == "google_pubsub_topic";
    is_topic.then(|| (called.shown(resource).to_owned(), called.at(&resource.address), resource.place))
}
