//! Kafka topics as objects of Strimzi: how long they keep records, and what they drop for lack of room.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::facts::Facts;
use crate::model::{DeadLetter, Keeps, Purge, PurgeBound, Queue, QueueRef, Setting};
use crate::syntax::Node;
use crate::systems::objects;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Kafka topics.
pub struct KafkaTopics;

const ID: &str = "kafka-topics";
const SERVICE: &str = "kafka";
const DOCS: &str = "Apache Kafka documentation, topic configuration";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kafka topics",
    reads: "KafkaTopic objects of Strimzi: retention by time and by size",
    marks: &["KafkaTopic"],
    defaults: &[
        DefaultFigure { what: "retention.ms absent", value: "7 days", source: DOCS },
        DefaultFigure { what: "retention.bytes absent", value: "no limit by size", source: DOCS },
    ],
};

impl System for KafkaTopics {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            for object in objects::of(root)
                .into_iter()
                .filter(|o| o.kind == "KafkaTopic" && o.version.starts_with("kafka.strimzi.io/"))
            {
                let name = object.spec(&["topicName"]).and_then(Node::as_str).unwrap_or(object.name);
                let config = object.spec(&["config"]);
                let entry = |key: &str| config.and_then(|c| c.entry(key)).filter(|e| !e.value.is_null());
                let mut queue = repeats::queue(
                    SERVICE,
                    ids.next(format!("{ID}:{name}")),
                    format!("topic {name}"),
                    object.name_span,
                );
                queue.names = vec![QueueRef::Name(name.to_owned())];
                // What becomes of a record that cannot be handled is for its consumers to say.
                queue.dead_letter = DeadLetter::Unknown;
                let is_compacted =
                    entry("cleanup.policy").and_then(|e| e.value.as_str()).is_some_and(|p| p.contains("compact"));
                queue.retention = (!is_compacted).then(|| match entry("retention.ms") {
                    Some(e) => match e.value.as_int().and_then(|n| u64::try_from(n).ok()) {
                        Some(ms) => Setting::written(Duration::from_millis(ms), e.value.span),
                        None => Setting::unknown("without end, or only the deployment knows", Some(e.value.span)),
                    },
                    None => Setting::default(Duration::from_secs(604_800), DOCS),
                });
                facts.queues.push(queue);
                let bytes = entry("retention.bytes").filter(|e| e.value.as_int().is_some_and(|n| n >= 0));
                if let Some(bytes) = bytes.filter(|_| remembers(name)) {
                    facts.purges.push(Purge {
                        table: format!("topic {}", settings::shown(name)),
                        keeps: Keeps::Handled,
                        place: bytes.value.span,
                        bound: PurgeBound::Size,
                        bound_span: None,
                        age: None,
                        advice: Some("`retention.ms` alone, longer than any redelivery; `cleanup.policy: compact` keeps the last of each key".to_owned()),
                        minor: false,
                    });
                }
            }
        }
    }

    /// A topic that is declared stands for the same one that a connector or a binding only names.
    fn join(&self, facts: &mut Facts) {
        let declared: BTreeSet<QueueRef> =
            facts.queues.iter().filter(|q| q.id.starts_with(ID)).flat_map(|q| q.names.iter().cloned()).collect();
        facts.queues.retain(|q| !(is_named_only(q) && q.names.iter().any(|name| declared.contains(name))));
    }
}

/// Whether a queue is a topic that only its senders name.
fn is_named_only(queue: &Queue) -> bool {
    queue.service == SERVICE && queue.id.ends_with(":dead-letters")
}

/// Whether a topic is named as one in which handled messages are noted.
fn remembers(name: &str) -> bool {
    let words =
        ["dedup", "dedupe", "deduplication", "processed", "idempotency", "idempotent", "inbox", "seen", "handled"];
    name.to_ascii_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| words.contains(&w))
}
