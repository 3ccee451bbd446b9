//! RabbitMQ: queues, exchanges, bindings and policies, as definitions or as objects of the topology operator.

mod topology;

use std::time::Duration;

use self::topology::{Broker, Declared, Reach};
use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, Jitter, Layer, LayerKind, Queue, QueueRef, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::settings;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Version, Versions, repeats};

/// RabbitMQ.
pub struct RabbitMq;

const ID: &str = "rabbitmq";
const SERVICE: &str = "rabbitmq";
const QUORUM: &str = "rabbitmq/rabbitmq-server deps/rabbit/src/rabbit_quorum_queue.erl";
const DLX: &str = "rabbitmq/rabbitmq-website docs/dlx.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "RabbitMQ",
    reads: "definitions (JSON) and objects of the topology operator: queues, exchanges, bindings, policies",
    marks: &["\"queues\"", "rabbitmq.com/"],
    defaults: &[
        DefaultFigure {
            what: "delivery limit of a quorum queue absent, 4.0 and newer",
            value: "21 deliveries (20 redeliveries), at once",
            source: QUORUM,
        },
        DefaultFigure {
            what: "delivery limit of a quorum queue absent, before 4.0",
            value: "no limit",
            source: QUORUM,
        },
        DefaultFigure { what: "dead-letter exchange absent", value: "dropped", source: DLX },
    ],
};

impl System for RabbitMq {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        let Some(broker) = Broker::of(unit) else { return };
        let limited = match broker.version {
            Some(version) => version >= (Version { major: 4, minor: 0 }),
            None => !versions.is_before(ID, 4, 0),
        };
        let mut dead = Vec::new();
        let mut queues = Vec::new();
        for queue in broker.queues() {
            let (dead_letter, otherwise, targets) = given_up(&broker, queue);
            dead.extend(targets);
            queues.push(Queue { retention: kept(&broker, queue), ..fact(queue, dead_letter, otherwise) });
        }
        for (queue, declared) in queues.iter_mut().zip(broker.queues()) {
            queue.holds_dead_letters |= queue.names.iter().any(|n| dead.contains(n));
            // Dead letters are taken out by hand: nothing is repeated by itself.
            if !queue.is_for_dead_letters() {
                facts.layers.extend(layer(&broker, declared, limited));
            }
        }
        facts.queues.append(&mut queues);
    }
}

fn fact(queue: &Declared<'_>, dead_letter: DeadLetter, otherwise: String) -> Queue {
    let id = format!("{ID}:{}:{}", queue.vhost, queue.name).into();
    let mut fact = repeats::queue(SERVICE, id, title(queue), queue.place);
    fact.names = vec![QueueRef::Name(queue.name.to_owned())];
    fact.otherwise = otherwise;
    fact.dead_letter = dead_letter;
    fact.advice = Some("a policy with `dead-letter-exchange`, and a queue bound to that exchange".to_owned());
    fact
}

/// How long a message lies there: until its time is over. One that then goes on to an exchange only waits.
fn kept(broker: &Broker<'_>, queue: &Declared<'_>) -> Option<Setting<Duration>> {
    let ttl = broker.setting(queue, "message-ttl")?;
    let waits = broker.setting(queue, "dead-letter-exchange").is_some();
    (!waits).then(|| match ttl.value.as_int().and_then(|n| u64::try_from(n).ok()) {
        Some(ms) => Setting::written(Duration::from_millis(ms), ttl.value.span),
        None => Setting::unknown("not a number here", Some(ttl.value.span)),
    })
}

fn title(queue: &Declared<'_>) -> String {
    format!("RabbitMQ queue {}", queue.name)
}

/// Where a queue's dead letters go, what happens if nowhere, and all queues that they reach.
fn given_up(broker: &Broker<'_>, queue: &Declared<'_>) -> (DeadLetter, String, Vec<QueueRef>) {
    let plain = if queue.is_quorum() {
        "is dropped after the last delivery"
    } else {
        "is dropped when its consumer rejects it, and comes back for ever when it is requeued"
    };
    let unjudged = (DeadLetter::Unknown, plain.to_owned(), Vec::new());
    if !queue.is_judged() {
        return unjudged;
    }
    let exchange = broker.setting(queue, "dead-letter-exchange");
    let Some(exchange) = exchange else { return (DeadLetter::None, plain.to_owned(), Vec::new()) };
    // A queue whose messages expire into an exchange makes them wait: they are not dead.
    if broker.setting(queue, "message-ttl").is_some() {
        return unjudged;
    }
    let key = broker.setting(queue, "dead-letter-routing-key").and_then(|e| e.value.as_str());
    let Some(name) = exchange.value.scalar().map(|s| &*s.text) else { return unjudged };
    match broker.reach(queue.vhost, name, key) {
        Reach::Queues(names) => {
            let targets: Vec<QueueRef> = names.into_iter().map(|n| QueueRef::Name(n.to_owned())).collect();
            match targets.first().cloned() {
                Some(target) => (DeadLetter::To { target, place: exchange.value.span }, plain.to_owned(), targets),
                None => unjudged,
            }
        }
        Reach::NoExchange => {
            (DeadLetter::None, format!("goes to exchange {name}, which is not there, and is dropped"), Vec::new())
        }
        Reach::NoQueue => {
            let otherwise = format!("goes to exchange {name}, to which no queue is bound, and is dropped");
            (DeadLetter::None, otherwise, Vec::new())
        }
        Reach::Unknown => unjudged,
    }
}

/// A quorum queue counts deliveries. What a classic queue does is its consumer's matter.
fn layer(broker: &Broker<'_>, queue: &Declared<'_>, limited: bool) -> Option<Layer> {
    if !queue.is_quorum() {
        return None;
    }
    let entry = broker.setting(queue, "delivery-limit");
    let attempts = match entry {
        Some(e) => limit(e),
        None if limited => Setting::default(Attempts::Count(21), QUORUM),
        None => Setting::default(Attempts::Unbounded, QUORUM),
    };
    let name = title(queue);
    let id = format!("{ID}:{}:{}", queue.vhost, queue.name).into();
    let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.clone(), queue.place, attempts);
    layer.reading = match entry {
        Some(e) => format!("{} on {name}", settings::quote(e)),
        None => format!("{name}, which sets no delivery limit"),
    };
    layer.place = entry.map_or(queue.place, |e| e.value.span);
    layer.asked_for = entry.is_some();
    layer.wait = Wait::Fixed(Setting::default(Duration::ZERO, QUORUM));
    layer.jitter = Setting::default(Jitter::None, QUORUM);
    layer.retry_after = Setting::unknown("a message has no response", None);
    layer.advice.fewer = Some("a smaller `delivery-limit`".to_owned());
    layer.advice.limit = Some("set a `delivery-limit`, and a `dead-letter-exchange`".to_owned());
    Some(layer)
}

/// Failed redeliveries; -1 lifts the limit.
fn limit(entry: &Entry) -> Setting<Attempts> {
    let span: Span = entry.value.span;
    match entry.value.as_int() {
        Some(n) if n < 0 => Setting::written(Attempts::Unbounded, span),
        Some(n) => Setting::written(Attempts::Count(n.unsigned_abs() + 1), span),
        None => Setting::unknown("not a number here", Some(span)),
    }
}

/// The arguments that a node holds, if it does.
fn arguments(node: &Node) -> Option<&Node> {
    node.get("arguments").filter(|n| !n.entries().is_empty())
}
