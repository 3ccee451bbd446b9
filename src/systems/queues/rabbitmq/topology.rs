//! What is declared at a broker, and which queues an exchange reaches.

use std::collections::BTreeSet;

use regex::Regex;

use super::arguments;
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::objects::{self, Object};
use crate::systems::{Unit, Version, settings};

/// A larger broker is not drawn: its parts are compared with one another.
const MAX_PARTS: usize = 5000;

/// Exchanges bound to exchanges in a row.
const MAX_EXCHANGES: usize = 16;

/// What some files declare.
#[derive(Debug, Default)]
pub(super) struct Broker<'a> {
    /// Its version, if it is written.
    pub(super) version: Option<Version>,
    queues: Vec<Declared<'a>>,
    exchanges: Vec<(&'a str, &'a str, &'a str)>,
    bindings: Vec<Binding<'a>>,
    policies: Vec<Policy<'a>>,
}

/// A queue.
#[derive(Debug)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    pub(super) vhost: &'a str,
    pub(super) place: Span,
    arguments: Option<&'a Node>,
    /// `spec.type` of the operator's objects.
    kind: Option<&'a str>,
    /// Gone with its connection or its last consumer.
    passing: bool,
    /// Others of the broker's parts may stand in other files.
    alone: bool,
}

#[derive(Debug)]
struct Binding<'a> {
    vhost: &'a str,
    source: &'a str,
    destination: &'a str,
    to_queue: bool,
    key: &'a str,
}

#[derive(Debug)]
struct Policy<'a> {
    vhost: &'a str,
    pattern: Option<Regex>,
    applies_to: &'a str,
    priority: i64,
    definition: &'a Node,
}

/// What a message sent to an exchange reaches.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reach<'a> {
    /// These queues.
    Queues(Vec<&'a str>),
    /// There is no such exchange.
    NoExchange,
    /// Nothing is bound to it.
    NoQueue,
    /// It cannot be told.
    Unknown,
}

impl Declared<'_> {
    fn argument(&self, name: &str) -> Option<&Entry> {
        self.arguments?.entry(name).filter(|e| !e.value.is_null())
    }

    fn kind(&self) -> &str {
        let argument = self.argument("x-queue-type").and_then(|e| e.value.as_str());
        argument.or(self.kind).unwrap_or("classic")
    }

    /// Whether it counts deliveries.
    pub(super) fn is_quorum(&self) -> bool {
        self.kind() == "quorum"
    }

    /// Whether messages can be lost in it that somebody will miss.
    pub(super) fn is_judged(&self) -> bool {
        !self.passing && !self.alone && self.kind() != "stream" && !self.name.starts_with("amq.")
    }
}

impl<'a> Broker<'a> {
    /// The broker of a unit, if it declares any queue.
    pub(super) fn of(unit: &Unit<'a>) -> Option<Self> {
        let mut broker = Self::default();
        for (file, root) in unit.documents() {
            if is_definitions(root) {
                broker.definitions(file, root);
            }
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("rabbitmq.com/")) {
                broker.object(&object);
            }
        }
        let parts = broker.queues.len() + broker.bindings.len() + broker.policies.len() + broker.exchanges.len();
        // Objects of the operator often stand one in a file: what a lone queue lacks may stand in another.
        let lone = broker.exchanges.is_empty() && broker.policies.is_empty();
        broker.queues.iter_mut().for_each(|q| q.alone &= lone);
        (!broker.queues.is_empty() && parts <= MAX_PARTS).then_some(broker)
    }

    pub(super) fn queues(&self) -> &[Declared<'a>] {
        &self.queues
    }

    fn definitions(&mut self, file: &SourceFile, root: &'a Node) {
        let version = root.get_any(&["rabbitmq_version", "rabbit_version"]).and_then(Node::as_str);
        self.version = version.and_then(version_of).or(self.version);
        let list = |key: &str| root.get(key).map_or(&[][..], Node::items).iter().map(|n| &**n);
        for node in list("queues") {
            let Some(name) = node.get("name").and_then(Node::as_str) else { continue };
            let is = |key: &str| node.get(key).and_then(Node::as_bool) == Some(true);
            self.queues.push(Declared {
                name,
                vhost: text(node, "vhost", "/"),
                place: settings::opening(file, node),
                arguments: arguments(node),
                kind: None,
                passing: is("auto_delete") || is("exclusive"),
                alone: false,
            });
        }
        for node in list("exchanges") {
            self.exchanges.push((text(node, "vhost", "/"), text(node, "name", ""), text(node, "type", "direct")));
        }
        for node in list("bindings") {
            self.bindings.push(Binding {
                vhost: text(node, "vhost", "/"),
                source: text(node, "source", ""),
                destination: text(node, "destination", ""),
                to_queue: text(node, "destination_type", "queue") == "queue",
                key: text(node, "routing_key", ""),
            });
        }
        for node in list("policies") {
            self.policies.extend(policy(node, "apply-to"));
        }
    }

    fn object(&mut self, object: &Object<'a>) {
        let Some(spec) = object.node.get("spec") else { return };
        let vhost = text(spec, "vhost", "/");
        match object.kind {
            "Queue" => self.queues.push(Declared {
                name: spec.get("name").and_then(Node::as_str).unwrap_or(object.name),
                vhost,
                place: object.name_span,
                arguments: arguments(spec),
                kind: spec.get("type").and_then(Node::as_str),
                passing: spec.get("autoDelete").and_then(Node::as_bool) == Some(true),
                alone: true,
            }),
            "Exchange" => {
                let name = spec.get("name").and_then(Node::as_str).unwrap_or(object.name);
                self.exchanges.push((vhost, name, text(spec, "type", "direct")));
            }
            "Binding" => self.bindings.push(Binding {
                vhost,
                source: text(spec, "source", ""),
                destination: text(spec, "destination", ""),
                to_queue: text(spec, "destinationType", "queue") == "queue",
                key: text(spec, "routingKey", ""),
            }),
            "Policy" | "OperatorPolicy" => self.policies.extend(policy(spec, "applyTo")),
            _ => {}
        }
    }

    /// A setting of a queue: its own argument, else that of the policy that holds for it.
    pub(super) fn setting(&self, queue: &Declared<'a>, name: &str) -> Option<&'a Entry> {
        let own = queue.arguments.and_then(|a| a.entry(&format!("x-{name}"))).filter(|e| !e.value.is_null());
        own.or_else(|| self.policy(queue)?.definition.entry(name).filter(|e| !e.value.is_null()))
    }

    /// Of the policies that fit, only the one of the highest priority holds.
    fn policy(&self, queue: &Declared<'_>) -> Option<&Policy<'a>> {
        let kind = format!("{}_queues", queue.kind());
        let applies = |p: &&Policy<'_>| matches!(p.applies_to, "all" | "queues") || p.applies_to == kind;
        // A pattern that cannot be read may fit.
        let fits = |p: &&Policy<'_>| p.pattern.as_ref().is_none_or(|r| r.is_match(queue.name));
        let all = self.policies.iter().filter(|p| p.vhost == queue.vhost).filter(applies).filter(fits);
        all.max_by_key(|p| p.priority)
    }

    /// The queues that a message reaches through an exchange.
    pub(super) fn reach(&self, vhost: &str, exchange: &'a str, key: Option<&'a str>) -> Reach<'a> {
        if exchange.is_empty() {
            let named = key.filter(|k| self.queues.iter().any(|q| q.vhost == vhost && q.name == *k));
            return named.map_or(Reach::Unknown, |name| Reach::Queues(vec![name]));
        }
        let known = self.exchanges.iter().find(|(v, name, _)| *v == vhost && *name == exchange);
        if exchange.starts_with("amq.") || self.exchanges.is_empty() {
            return Reach::Unknown;
        }
        if known.is_none() {
            return Reach::NoExchange;
        }
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([exchange]);
        let mut next = vec![exchange];
        while let Some(exchange) = next.pop() {
            let direct = self.exchanges.iter().any(|(v, n, kind)| *v == vhost && *n == exchange && *kind == "direct");
            let fits = |b: &&Binding<'a>| !direct || key.is_none_or(|k| k == b.key);
            for binding in self.bindings.iter().filter(|b| b.vhost == vhost && b.source == exchange).filter(fits) {
                if binding.to_queue {
                    found.push(binding.destination);
                } else if seen.len() < MAX_EXCHANGES && seen.insert(binding.destination) {
                    next.push(binding.destination);
                }
            }
        }
        match found.is_empty() {
            false => Reach::Queues(found),
            // Definitions of a part of a broker may leave bindings to programs.
            true if self.bindings.is_empty() => Reach::Unknown,
            true => Reach::NoQueue,
        }
    }
}

/// Definitions name what a broker holds: a list of queues, and other lists beside it.
fn is_definitions(root: &Node) -> bool {
    let is_list = |key: &str| root.get(key).is_some_and(|n| matches!(n.value, crate::syntax::Value::List(_)));
    is_list("queues")
        && (["rabbitmq_version", "rabbit_version"].iter().any(|key| root.get(key).is_some())
            || (is_list("bindings") && is_list("exchanges"))
            || (is_list("policies") && root.get("vhosts").is_some()))
}

fn policy<'a>(node: &'a Node, applies_to: &str) -> Option<Policy<'a>> {
    Some(Policy {
        vhost: text(node, "vhost", "/"),
        pattern: Regex::new(node.get("pattern")?.as_str()?).ok(),
        applies_to: text(node, applies_to, "all"),
        priority: node.get("priority").and_then(Node::as_int).unwrap_or(0),
        definition: node.get("definition")?,
    })
}

fn text<'a>(node: &'a Node, key: &str, default: &'a str) -> &'a str {
    node.get(key).and_then(Node::as_str).unwrap_or(default)
}

fn version_of(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    Some(Version { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
}
