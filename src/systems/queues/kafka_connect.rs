//! Kafka Connect: what a connector does with records that it fails on.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{
    Attempts, Conditions, Confidence, DeadLetter, IncompleteRecord, Layer, LayerKind, ModeSet, Queue, QueueRef,
    RecordPart, Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::objects;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Kafka Connect.
pub struct KafkaConnect;

const ID: &str = "kafka-connect";
const SERVICE: &str = "kafka";
const CONFIG: &str = "apache/kafka connect/runtime ConnectorConfig.java";
const OPERATOR: &str = "apache/kafka connect/runtime errors/RetryWithToleranceOperator.java";
const SINK: &str = "apache/kafka connect/runtime SinkConnectorConfig.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kafka Connect",
    reads: "connectors in JSON, .properties and KafkaConnector objects: error tolerance, retries, dead-letter topic",
    marks: &["connector.class", "KafkaConnector"],
    defaults: &[
        DefaultFigure {
            what: "errors.tolerance absent",
            value: "none: the task stops, nothing is skipped",
            source: CONFIG,
        },
        DefaultFigure { what: "errors.retry.timeout absent", value: "no retries", source: CONFIG },
        DefaultFigure {
            what: "errors.retry.delay.max.ms absent",
            value: "300 ms, doubling up to 60 s",
            source: OPERATOR,
        },
        DefaultFigure { what: "errors.deadletterqueue.topic.name absent", value: "no dead-letter topic", source: SINK },
        DefaultFigure {
            what: "errors.deadletterqueue.context.headers.enable absent",
            value: "no topic, offset and error with a dead letter",
            source: SINK,
        },
    ],
};

impl System for KafkaConnect {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            for connector in connectors(file, root) {
                connector.read(&mut ids, facts);
            }
        }
    }
}

struct Connector<'a> {
    name: String,
    class: &'a str,
    config: &'a Node,
    opens: Span,
}

/// A connector's JSON, its flat settings, or objects of Strimzi.
fn connectors<'a>(file: &SourceFile, root: &'a Node) -> Vec<Connector<'a>> {
    let strimzi: Vec<Connector<'a>> = objects::of(root)
        .into_iter()
        .filter(|o| o.kind == "KafkaConnector" && o.version.starts_with("kafka.strimzi.io/"))
        .filter_map(|o| {
            let class = o.spec(&["class"])?.as_str()?;
            Some(Connector { name: o.name.to_owned(), class, config: o.spec(&["config"])?, opens: o.name_span })
        })
        .collect();
    if !strimzi.is_empty() {
        return strimzi;
    }
    let config = root.get("config").filter(|c| setting(c, "connector.class").is_some()).unwrap_or(root);
    let Some(class) = setting(config, "connector.class").and_then(|e| e.value.as_str()) else { return Vec::new() };
    let name = root.get("name").or_else(|| config.get("name")).and_then(Node::as_str);
    let opens = settings::opening(file, root);
    vec![Connector { name: name.unwrap_or("without a name").to_owned(), class, config, opens }]
}

/// A setting by its dotted name, which is one key or, in .properties, a chain of them.
fn setting<'a>(config: &'a Node, name: &str) -> Option<&'a Entry> {
    let direct = config.entry(name);
    let nested = || {
        let (last, init) = name.rsplit_once('.').map(|(init, last)| (last, init))?;
        init.split('.').try_fold(config, |node, key| node.get(key))?.entry(last)
    };
    direct.or_else(nested).filter(|e| !e.value.is_null())
}

impl Connector<'_> {
    fn read(&self, ids: &mut Ids, facts: &mut Facts) {
        let id = ids.next(format!("{ID}:{}", self.name));
        facts.layers.extend(self.layer(&id));
        let sink = self.class.ends_with("SinkConnector")
            || ["topics", "topics.regex"].iter().any(|key| setting(self.config, key).is_some());
        // A source has no dead letters.
        if sink {
            self.dead_letters(&id, facts);
        }
    }

    fn title(&self) -> String {
        format!("Kafka connector {}", self.name)
    }

    fn dead_letters(&self, id: &str, facts: &mut Facts) {
        let tolerance = setting(self.config, "errors.tolerance");
        let tolerates = tolerance.filter(|e| e.value.as_str().is_some_and(|t| t.eq_ignore_ascii_case("all")));
        let topic = setting(self.config, "errors.deadletterqueue.topic.name")
            .filter(|e| e.value.as_str().is_some_and(|t| !t.is_empty()));
        let dead_letter = match (topic, tolerates) {
            (Some(e), _) => match e.value.as_str().filter(|t| !is_open(t)) {
                Some(name) => DeadLetter::To { target: QueueRef::Name(name.to_owned()), place: e.value.span },
                None => DeadLetter::Unknown,
            },
            (None, Some(_)) => DeadLetter::None,
            // The task stops: nothing is given up.
            (None, None) => DeadLetter::Unknown,
        };
        let mut queue =
            repeats::queue(SERVICE, id.into(), self.title(), tolerates.map_or(self.opens, |e| e.value.span));
        queue.otherwise = "is skipped and forgotten, since `errors.tolerance` is `all`".to_owned();
        queue.dead_letter = dead_letter;
        queue.advice = Some(
            "`errors.deadletterqueue.topic.name`, with `errors.deadletterqueue.context.headers.enable: true`"
                .to_owned(),
        );
        if let DeadLetter::To { target, place } = &queue.dead_letter {
            facts.queues.push(self.topic(id, target, *place));
            facts.incomplete_records.extend(self.incomplete(*place));
        }
        facts.queues.push(queue);
    }

    /// The topic, which no file declares.
    fn topic(&self, id: &str, target: &QueueRef, place: Span) -> Queue {
        let name = match target {
            QueueRef::Name(name) | QueueRef::Object { id: name, .. } => name,
        };
        let id = format!("{id}:dead-letters").into();
        let mut topic = repeats::queue(SERVICE, id, format!("topic {name}"), place);
        topic.names = vec![target.clone()];
        topic.holds_dead_letters = true;
        topic
    }

    fn incomplete(&self, topic: Span) -> Option<IncompleteRecord> {
        let headers = setting(self.config, "errors.deadletterqueue.context.headers.enable");
        if headers.is_some_and(|e| e.value.as_bool() != Some(false)) {
            return None;
        }
        Some(IncompleteRecord {
            name: format!("Dead letters of {}", self.title()),
            place: headers.map_or(topic, |e| e.value.span),
            reading: "without the topic, the offset and the error".to_owned(),
            missing: vec![RecordPart::Reason],
            advice: Some("`errors.deadletterqueue.context.headers.enable: true`".to_owned()),
            minor: false,
            confidence: Confidence::High,
        })
    }

    /// Retries of what the connector calls retriable.
    fn layer(&self, id: &str) -> Option<Layer> {
        let timeout = setting(self.config, "errors.retry.timeout")?;
        let name = self.title();
        let cap = setting(self.config, "errors.retry.delay.max.ms");
        let cap = match cap {
            Some(e) => match e.value.as_int().and_then(|n| u64::try_from(n).ok()) {
                Some(ms) => Setting::written(Some(Duration::from_millis(ms)), e.value.span),
                None => Setting::unknown("only the deployment knows its value", Some(e.value.span)),
            },
            None => Setting::default(Some(Duration::from_secs(60)), OPERATOR),
        };
        let wait = Wait::Exponential {
            base: Setting::default(Duration::from_millis(300), OPERATOR),
            factor: Setting::default(2.0, OPERATOR),
            cap,
        };
        let attempts = attempts(timeout, &wait);
        let mut layer = repeats::layer(ID, LayerKind::Queue, id.into(), name.clone(), self.opens, attempts);
        layer.asked_for = true;
        layer.place = timeout.value.span;
        let shown = settings::shown(timeout.value.as_str().unwrap_or_default());
        layer.reading = format!("`errors.retry.timeout: {shown}` on {name}");
        layer.wait = wait;
        // Random once the cap is reached, and not to be set.
        layer.jitter = Setting::unknown("only waits beyond the cap are random", None);
        layer.retries = Conditions { unknown: ModeSet::all(), ..Conditions::default() };
        layer.retry_after = Setting::unknown("a record has no response", None);
        layer.advice.fewer = Some("a shorter `errors.retry.timeout`".to_owned());
        layer.advice.limit = Some("set `errors.retry.timeout` to some minutes (in ms)".to_owned());
        Some(layer)
    }
}

/// A time in milliseconds, 0 for none, -1 for ever.
fn attempts(timeout: &Entry, wait: &Wait) -> Setting<Attempts> {
    let span = timeout.value.span;
    let deadline = match timeout.value.as_int() {
        Some(0) => return Setting::written(Attempts::Count(1), span),
        Some(n) if n < 0 => return Setting::written(Attempts::Unbounded, span),
        Some(n) => Duration::from_millis(n.unsigned_abs()),
        None => return Setting::unknown("only the deployment knows its value", Some(span)),
    };
    Attempts::within(&Setting::written(deadline, span), wait, 1.0)
}

/// A value that something else fills in.
fn is_open(text: &str) -> bool {
    text.contains("${") || text.contains("{{")
}
