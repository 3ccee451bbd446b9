//! NATS JetStream: consumers and streams, as objects of its controller or as the server's own JSON.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{
    Attempts, Confidence, DeadLetter, IncompleteRecord, LayerKind, QueueRef, RecordPart, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::objects;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// NATS JetStream.
pub struct JetStream;

const ID: &str = "nats-jetstream";
const SERVICE: &str = "nats";
const SERVER: &str = "nats-io/nats-server server/consumer.go";
const DOCS: &str = "nats-io/nats.docs nats-concepts/jetstream/consumers.md";
const CRDS: &str = "nats-io/nack deploy/crds.yml";

/// Where the server tells of messages that were handed over as often as they may be.
const ADVISORY: &str = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "NATS JetStream",
    reads: "Consumer and Stream objects of the JetStream controller, and consumers in JSON: deliveries, waits, advisories",
    marks: &["jetstream.nats.io", "ack_policy"],
    defaults: &[
        DefaultFigure { what: "maxDeliver absent", value: "no limit", source: SERVER },
        DefaultFigure { what: "ackWait absent in a server's JSON", value: "30 s each time", source: SERVER },
        DefaultFigure { what: "ackWait absent in a Consumer object", value: "1 ns", source: CRDS },
        DefaultFigure {
            what: "ackPolicy absent in a Consumer object",
            value: "none: nothing comes again",
            source: CRDS,
        },
        DefaultFigure { what: "dead letters", value: "none; an advisory is published", source: DOCS },
    ],
};

impl System for JetStream {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("jetstream.nats.io/")) {
                let Some(spec) = object.node.get("spec") else { continue };
                match object.kind {
                    "Consumer" => {
                        let name = spec.get("durableName").and_then(Node::as_str).unwrap_or(object.name);
                        let stream = spec.get("streamName").and_then(Node::as_str);
                        let consumer = Consumer { name, stream, spec, opens: object.name_span, is_object: true };
                        consumer.read(&mut ids, facts);
                    }
                    "Stream" => stream(spec, object.name, object.name_span, facts),
                    _ => {}
                }
            }
            let own = root.get("config").unwrap_or(root);
            let is_consumer = own.get("ack_policy").is_some() && own.get_any(&["durable_name", "name"]).is_some();
            if is_consumer {
                let name = own.get_any(&["durable_name", "name"]).and_then(Node::as_str).unwrap_or("without a name");
                let stream = root.get("stream_name").and_then(Node::as_str);
                let opens = settings::opening(file, root);
                Consumer { name, stream, spec: own, opens, is_object: false }.read(&mut ids, facts);
            }
        }
    }

    /// Dead letters are an advisory that some stream keeps, in whatever file that is.
    fn join(&self, facts: &mut Facts) {
        let kept: Vec<(QueueRef, Vec<String>)> = facts
            .queues
            .iter()
            .filter(|q| q.service == SERVICE && q.holds_dead_letters)
            .filter_map(|q| {
                let subjects = q.names.iter().filter_map(|n| match n {
                    QueueRef::Name(name) if name.starts_with(ADVISORY) => Some(name.clone()),
                    _ => None,
                });
                Some((q.names.first()?.clone(), subjects.collect()))
            })
            .collect();
        let limits: Vec<(String, Setting<Duration>)> = facts
            .queues
            .iter()
            .filter(|q| q.service == SERVICE)
            .filter_map(|q| match (q.names.first()?, &q.retention) {
                (QueueRef::Name(name), Some(retention)) => Some((name.clone(), retention.clone())),
                _ => None,
            })
            .collect();
        for queue in facts.queues.iter_mut().filter(|q| q.service == WAITING) {
            queue.service = SERVICE;
            let [.., QueueRef::Name(stream), QueueRef::Name(consumer)] = queue.names.as_slice() else { continue };
            let wanted = [stream.as_str(), consumer.as_str()];
            let found = kept.iter().find(|(_, subjects)| subjects.iter().any(|s| covers(s, wanted)));
            if let Some((target, _)) = found {
                queue.dead_letter = DeadLetter::To { target: target.clone(), place: queue.place };
            }
            // The stream's own limit ends what the consumer does not.
            let ends = limits.iter().find(|(name, _)| name == stream);
            for layer in facts.layers.iter_mut().filter(|l| l.system == ID && l.id == queue.id) {
                if layer.is_unbounded()
                    && let Some((_, Setting::Written { span, .. })) = ends
                {
                    layer.attempts =
                        Setting::unknown("until the message is as old as the stream keeps it", Some(*span));
                }
            }
            queue.names.clear();
        }
    }
}

/// The service of consumers whose stream has not been looked for yet.
const WAITING: &str = "nats consumers";

/// Whether a subject with wildcards takes the advisories of a stream's consumer.
fn covers(subject: &str, [stream, consumer]: [&str; 2]) -> bool {
    let Some(rest) = subject.strip_prefix(ADVISORY) else { return false };
    let tokens: Vec<&str> = rest.trim_start_matches('.').split('.').collect();
    match tokens.as_slice() {
        [">"] => true,
        [own, ">"] => matches!(*own, "*") || *own == stream,
        [own, of] => (*own == "*" || *own == stream) && (*of == "*" || *of == consumer),
        _ => false,
    }
}

struct Consumer<'n> {
    name: &'n str,
    stream: Option<&'n str>,
    spec: &'n Node,
    opens: Span,
    is_object: bool,
}

impl Consumer<'_> {
    fn entry(&self, keys: &[&str]) -> Option<&Entry> {
        self.spec.entry_any(keys).filter(|e| !e.value.is_null())
    }

    fn read(&self, ids: &mut Ids, facts: &mut Facts) {
        let policy = self.entry(&["ackPolicy", "ack_policy"]).and_then(|e| e.value.as_str());
        // Without acknowledgements nothing comes again.
        if !matches!(policy, Some("explicit" | "all")) {
            return;
        }
        let name = format!("JetStream consumer {}", self.name);
        let id = ids.next(format!("{ID}:{}:{}", self.stream.unwrap_or_default(), self.name));
        let layer = self.layer(&name, id.clone());
        let mut queue = repeats::queue(WAITING, id, name.clone(), layer.place);
        queue.otherwise = match layer.is_unbounded() {
            true => "is handed over again for ever".to_owned(),
            false => "stays in the stream after its last delivery, and nobody is told".to_owned(),
        };
        queue.names =
            vec![QueueRef::Name(self.stream.unwrap_or_default().to_owned()), QueueRef::Name(self.name.to_owned())];
        queue.dead_letter = DeadLetter::None;
        queue.advice =
            Some(format!("`maxDeliver`, and a stream with the subject `{ADVISORY}.{}.*`", self.stream.unwrap_or("*")));
        queue.confidence = Confidence::Medium;
        facts.layers.push(layer);
        facts.queues.push(queue);
    }

    fn layer(&self, name: &str, id: std::sync::Arc<str>) -> crate::model::Layer {
        let count = self.entry(&["maxDeliver", "max_deliver"]);
        let attempts = match count {
            Some(e) => match e.value.as_int() {
                Some(n) if n > 0 => Setting::written(Attempts::Count(n.unsigned_abs()), e.value.span),
                Some(_) => Setting::written(Attempts::Unbounded, e.value.span),
                None => Setting::unknown("not a number here", Some(e.value.span)),
            },
            None => Setting::default(Attempts::Unbounded, SERVER),
        };
        let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.to_owned(), self.opens, attempts);
        layer.asked_for = true;
        layer.place = count.map_or(self.opens, |e| e.value.span);
        layer.reading = match count {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, which sets no `maxDeliver`"),
        };
        let wait = self.entry(&["ackWait", "ack_wait"]);
        let list = self.entry(&["backoff"]).filter(|e| !e.value.items().is_empty());
        layer.wait = match (list, wait) {
            (Some(list), _) => match list.value.items().iter().map(|n| time(n)).collect::<Option<Vec<_>>>() {
                Some(waits) => Wait::Scheduled { waits, capped: true },
                None => Wait::Unknown { why: "its waits are no durations".to_owned() },
            },
            (None, Some(e)) => Wait::Fixed(match time(&e.value) {
                Some(d) => Setting::written(d, e.value.span),
                None => Setting::unknown("not a duration", Some(e.value.span)),
            }),
            // What a nanosecond means to the server is not known for sure.
            (None, None) if self.is_object => Wait::None,
            (None, None) => Wait::Fixed(Setting::default(Duration::from_secs(30), SERVER)),
        };
        layer.wait_place = list.or(wait).map(|e| e.key_span);
        layer.advice.limit = Some("set `maxDeliver`".to_owned());
        layer.advice.fewer = Some("a smaller `maxDeliver`".to_owned());
        layer.advice.grow = Some("set `backoff: [5s, 30s, 2m, 10m]`".to_owned());
        layer.advice.wait = Some("set `ackWait: 30s`, or a `backoff` list".to_owned());
        layer.confidence = Confidence::Medium;
        layer
    }
}

/// Go's form, or so many nanoseconds.
fn time(node: &Node) -> Option<Duration> {
    match node.as_int() {
        Some(n) => u64::try_from(n).ok().map(Duration::from_nanos),
        None => duration::go(node.as_str()?),
    }
}

/// A stream: how long it keeps a message, and whether it takes advisories.
fn stream(spec: &Node, object: &str, opens: Span, facts: &mut Facts) {
    let name = spec.get("name").and_then(Node::as_str).unwrap_or(object);
    let subjects: Vec<&str> =
        spec.get("subjects").map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str()).collect();
    let advisories: Vec<&str> = subjects.iter().copied().filter(|s| s.starts_with(ADVISORY)).collect();
    let age = spec.get("maxAge").and_then(|n| Some((time(n).filter(|d| !d.is_zero())?, n.span)));
    let mut queue =
        repeats::queue(SERVICE, format!("{ID}:stream:{name}").into(), format!("JetStream stream {name}"), opens);
    queue.names =
        std::iter::once(name).chain(advisories.iter().copied()).map(|n| QueueRef::Name(n.to_owned())).collect();
    queue.holds_dead_letters = !advisories.is_empty();
    queue.retention = age.map(|(d, span)| Setting::written(d, span));
    queue.dead_letter = DeadLetter::Unknown;
    if !advisories.is_empty() {
        facts.incomplete_records.push(IncompleteRecord {
            name: format!("Advisories in stream {name}"),
            place: opens,
            reading: "keeps the number of the message, not the message".to_owned(),
            missing: vec![RecordPart::Original, RecordPart::Reason],
            advice: Some("copy the message out of its stream before that one drops it".to_owned()),
            minor: true,
            confidence: Confidence::Low,
        });
    }
    facts.queues.push(queue);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_of_advisories() {
        let is = |rest: &str| covers(&format!("{ADVISORY}.{rest}"), ["ORDERS", "billing"]);
        assert!(is(">") && is("ORDERS.*") && is("ORDERS.billing") && is("*.billing") && is("ORDERS.>"));
        assert!(!is("MAIL.*") && !is("ORDERS.mail") && !is("ORDERS"));
        assert!(!covers("orders.>", ["ORDERS", "billing"]));
    }
}
