//! Redpanda Connect (Benthos): what a stream does with a message that its output fails on, and what it remembers.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, Conditions, DeadLetter, Keeps, LayerKind, ModeSet, Purge, PurgeBound, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Redpanda Connect.
pub struct RedpandaConnect;

const ID: &str = "redpanda-connect";
const RETRIES: &str = "redpanda-data/benthos internal/retries/retries.go";
const OUTPUT: &str = "redpanda-data/benthos internal/impl/pure/output_retry.go";
const CLIENT: &str = "redpanda-data/benthos internal/httpclient/config.go";
const CACHES: &str = "redpanda-data/benthos internal/impl/pure/cache_memory.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Redpanda Connect",
    reads: "streams (YAML): retry and fallback outputs, HTTP clients, caches of dedupe processors",
    marks: &["output:"],
    defaults: &[
        DefaultFigure { what: "retry.max_retries absent or 0", value: "no limit", source: OUTPUT },
        DefaultFigure { what: "retry.backoff.initial_interval absent", value: "500 ms", source: OUTPUT },
        DefaultFigure { what: "retry.backoff.max_interval absent", value: "3 s", source: OUTPUT },
        DefaultFigure { what: "retry.backoff.max_elapsed_time absent", value: "no deadline", source: OUTPUT },
        DefaultFigure { what: "http_client.retries absent", value: "4 attempts (3 retries)", source: CLIENT },
        DefaultFigure { what: "http_client.retry_period absent", value: "1 s", source: CLIENT },
        DefaultFigure { what: "http_client.max_retry_backoff absent", value: "300 s", source: CLIENT },
        DefaultFigure { what: "memory.default_ttl absent", value: "5 minutes", source: CACHES },
    ],
};

impl System for RedpandaConnect {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            if let (Some(_), Some(output)) = (root.get("input"), root.entry("output"))
                && is_component(&output.value)
            {
                Stream { file, ids: &mut ids, facts: &mut *facts }.read(root, output);
            }
        }
    }
}

/// Outputs of which one is in nearly every stream: other programs have an `output` as well.
const OUTPUTS: [&str; 37] = [
    "amqp_0_9",
    "amqp_1",
    "aws_dynamodb",
    "aws_kinesis",
    "aws_s3",
    "aws_sns",
    "aws_sqs",
    "azure_queue_storage",
    "broker",
    "cassandra",
    "drop",
    "drop_on",
    "elasticsearch",
    "fallback",
    "file",
    "gcp_pubsub",
    "http_client",
    "http_server",
    "kafka",
    "kafka_franz",
    "mqtt",
    "nats",
    "nats_jetstream",
    "nsq",
    "opensearch",
    "pulsar",
    "redis_list",
    "redis_pubsub",
    "redis_streams",
    "redpanda",
    "reject_errored",
    "retry",
    "sql_insert",
    "sql_raw",
    "stdout",
    "switch",
    "sync_response",
];

/// An output is a map with its kind as a key.
fn is_component(node: &Node) -> bool {
    node.entries().iter().any(|e| OUTPUTS.contains(&&*e.key))
}

struct Stream<'s> {
    file: &'s SourceFile,
    ids: &'s mut Ids,
    facts: &'s mut Facts,
}

impl Stream<'_> {
    fn read(&mut self, root: &Node, output: &Entry) {
        for (kind, node) in components(root) {
            match kind {
                "retry" if node.value.get("output").is_some() => self.retry(node),
                "http_client" => self.client(node),
                _ => {}
            }
        }
        self.dead_letters(output);
        self.caches(root);
    }

    /// The stem of the file, which people know a stream by.
    fn name(&self) -> String {
        let name = self.file.path.rsplit('/').next().unwrap_or(&self.file.path);
        name.split('.').next().unwrap_or(name).to_owned()
    }

    fn retry(&mut self, entry: &Entry) {
        let node = &*entry.value;
        let name = format!("`retry` output of stream {}", self.name());
        let count = node.entry("max_retries").filter(|e| !e.value.is_null());
        let longest = node.at(&["backoff", "max_elapsed_time"]);
        let is_bounded = longest.is_some_and(|n| time(n).is_none_or(|d| !d.is_zero()));
        let attempts = match count {
            Some(e) if e.value.as_int() != Some(0) => settings::retries(e),
            _ if is_bounded => Setting::unknown("as often as fits into `max_elapsed_time`", longest.map(|n| n.span)),
            Some(e) => Setting::written(Attempts::Unbounded, e.value.span),
            None => Setting::default(Attempts::Unbounded, OUTPUT),
        };
        let id = self.ids.next(format!("{ID}:{}:retry", self.name()));
        let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.clone(), entry.key_span, attempts);
        layer.asked_for = true;
        layer.place = count.map_or(entry.key_span, |e| e.value.span);
        layer.reading = match count {
            Some(e) => format!("{} on the {name}", settings::quote(e)),
            None => format!("the {name}, which sets no `max_retries`"),
        };
        let backoff = |key: &str, default: u64| match node.at(&["backoff", key]) {
            Some(n) => match time(n) {
                Some(d) => Setting::written(d, n.span),
                None => Setting::unknown("not a duration", Some(n.span)),
            },
            None => Setting::default(Duration::from_millis(default), RETRIES),
        };
        layer.wait = Wait::Exponential {
            base: backoff("initial_interval", 500),
            factor: Setting::default(1.5, RETRIES),
            cap: backoff("max_interval", 3000).map(Some),
        };
        // Around a client it repeats what that one has given up.
        if let Some(to) = node.get("output").and_then(client_of) {
            layer.scope = crate::model::Scope::Client { to: Some(to), grpc: false };
        }
        layer.advice.limit =
            Some("set `max_retries`, or `backoff.max_elapsed_time`, with a `fallback` around it".to_owned());
        layer.advice.fewer = Some("a smaller `max_retries`".to_owned());
        self.facts.layers.push(layer);
    }

    fn client(&mut self, entry: &Entry) {
        let node = &*entry.value;
        if node.get("url").is_none() {
            return;
        }
        let name = format!("`http_client` of stream {}", self.name());
        let count = node.entry("retries").filter(|e| !e.value.is_null());
        let attempts = match count {
            Some(e) => settings::retries(e),
            None => Setting::default(Attempts::Count(4), CLIENT),
        };
        let id = self.ids.next(format!("{ID}:{}:http_client", self.name()));
        let mut layer = repeats::layer(ID, LayerKind::Client, id, name.clone(), entry.key_span, attempts);
        layer.place = count.map_or(entry.key_span, |e| e.value.span);
        layer.reading = match count {
            Some(e) => format!("{} on the {name}", settings::quote(e)),
            None => format!("the {name}, which sets no `retries`"),
        };
        let time = |key: &str, default: u64| match node.get(key) {
            Some(n) => match time(n) {
                Some(d) => Setting::written(d, n.span),
                None => Setting::unknown("not a duration", Some(n.span)),
            },
            None => Setting::default(Duration::from_secs(default), CLIENT),
        };
        layer.wait = Wait::Exponential {
            base: time("retry_period", 1),
            factor: Setting::unknown("the library's own", None),
            cap: time("max_retry_backoff", 300).map(Some),
        };
        let yes = ModeSet::transport().union(ModeSet::statuses(500..=599));
        layer.retries = Conditions { yes, unknown: ModeSet::all().difference(yes), ..Conditions::default() };
        layer.scope = crate::model::Scope::Client { to: host(node), grpc: false };
        layer.advice.none = Some("`retries: 0`".to_owned());
        if let Some(verb) = node.entry("verb").filter(|e| e.value.as_str().is_some_and(crate::model::Post::is_method)) {
            layer.methods = crate::model::Methods::Written {
                methods: vec![verb.value.as_str().unwrap_or_default().to_owned()],
                span: verb.value.span,
            };
        }
        self.facts.layers.push(layer);
    }

    /// An output that fails hands the message back to the input, for ever, unless something takes it off.
    fn dead_letters(&mut self, output: &Entry) {
        let name = format!("stream {}", self.name());
        let id = self.ids.next(format!("{ID}:{}", self.name()));
        let mut queue = repeats::queue(ID, id, name, output.key_span);
        queue.otherwise = "goes back to its input, and round again".to_owned();
        queue.advice = Some("a `fallback` output whose last member stores the message".to_owned());
        queue.dead_letter = given_up(&output.value);
        self.facts.queues.push(queue);
    }

    /// Caches in which a `dedupe` processor remembers what it has seen.
    fn caches(&mut self, root: &Node) {
        let used: BTreeSet<&str> = components(root)
            .into_iter()
            .filter(|(kind, _)| *kind == "dedupe")
            .filter_map(|(_, e)| e.value.get("cache")?.as_str())
            .collect();
        for cache in root.get("cache_resources").map_or(&[][..], Node::items) {
            let Some(label) = cache.get("label").and_then(Node::as_str).filter(|l| used.contains(l)) else {
                continue;
            };
            let bounded = ["lru", "ttlru"].iter().find_map(|kind| cache.entry(kind));
            let memory = cache.entry("memory");
            let age =
                bounded.or(memory).and_then(|e| e.value.get("default_ttl")).and_then(|n| Some((time(n)?, n.span)));
            let default = memory.filter(|_| age.is_none()).map(|e| (Duration::from_secs(300), e.key_span));
            let (bound, place) = match (bounded, memory) {
                (Some(e), _) => (PurgeBound::Count, e.value.entry("cap").map_or(e.key_span, |c| c.value.span)),
                (None, Some(e)) => (PurgeBound::Age, e.key_span),
                (None, None) => continue,
            };
            self.facts.purges.push(Purge {
                table: format!("cache {label}"),
                keeps: Keeps::Handled,
                place,
                bound,
                bound_span: None,
                age: age.or(default),
                advice: Some("a `memory` cache with a `default_ttl` longer than any redelivery, or a cache outside of the process".to_owned()),
                minor: false,
            });
        }
    }
}

/// Every component of a stream by its kind: processors, outputs, inputs, however nested.
fn components(root: &Node) -> Vec<(&str, &Entry)> {
    let mut found: Vec<(&str, &Entry)> = Vec::new();
    for node in root.walk() {
        found.extend(node.entries().iter().filter(|e| !e.value.entries().is_empty()).map(|e| (&*e.key, e)));
    }
    found
}

/// The host of an `http_client`.
fn host(node: &Node) -> Option<crate::model::HostRef> {
    node.get("url").and_then(|n| settings::host(n.as_str()?, n.span, None))
}

/// The host of the only client in an output.
fn client_of(output: &Node) -> Option<crate::model::HostRef> {
    let mut clients = output.walk().filter_map(|node| node.get("http_client"));
    let first = clients.next()?;
    clients.next().is_none().then(|| host(first)).flatten()
}

/// Where an output leaves what it cannot deliver.
fn given_up(output: &Node) -> DeadLetter {
    let Some(kind) = output.entries().iter().find(|e| !matches!(&*e.key, "label" | "processors")) else {
        return DeadLetter::Unknown;
    };
    match &*kind.key {
        "fallback" => match kind.value.items() {
            [] | [_] => DeadLetter::None,
            [.., last] if last.get("drop").is_some() => DeadLetter::None,
            _ => DeadLetter::BuiltIn,
        },
        "retry" | "drop_on" => kind.value.get("output").map_or(DeadLetter::None, given_up),
        // It hands the message back to a broker that may have a place for it.
        "reject_errored" => DeadLetter::BuiltIn,
        "switch" => {
            let cases = kind.value.get("cases").map_or(&[][..], Node::items);
            let errored = cases.iter().filter_map(|c| c.get("check")?.as_str()).any(|c| c.contains("errored()"));
            if errored { DeadLetter::BuiltIn } else { DeadLetter::None }
        }
        // What is written on the spot, or nowhere, does not fail.
        "stdout" | "drop" | "reject" | "sync_response" | "file" | "inproc" => DeadLetter::Unknown,
        _ => DeadLetter::None,
    }
}

fn time(node: &Node) -> Option<Duration> {
    duration::go(node.as_str()?)
}
