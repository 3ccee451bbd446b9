//! Spring Cloud Stream: what the bindings of Kafka and RabbitMQ do with a message that their consumer fails on.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::facts::{ApplicationSetting, Facts, Platform};
use crate::model::{
    Attempts, Confidence, DeadLetter, IncompleteRecord, Layer, LayerKind, QueueRef, RecordPart, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::{Entry, relaxed};
use crate::systems::clients::applications::{self, Shape, View};
use crate::systems::clients::spring;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Spring Cloud Stream.
pub struct SpringCloudStream;

const ID: &str = "spring-cloud-stream";
const CONSUMER: &str = "spring-cloud/spring-cloud-stream core ConsumerProperties.java";
const RABBIT: &str = "spring-cloud/spring-cloud-stream rabbit-binder RabbitConsumerProperties.java";
const KAFKA: &str = "spring-cloud/spring-cloud-stream kafka-binder KafkaConsumerProperties.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring Cloud Stream",
    reads: "Spring settings and SPRING_CLOUD_STREAM_… in the environment: bindings of consumers, with those of the Kafka and RabbitMQ binders",
    marks: &["spring.cloud.stream", "bindings:"],
    defaults: &[
        DefaultFigure { what: "maxAttempts absent", value: "3 attempts", source: CONSUMER },
        DefaultFigure { what: "backOffInitialInterval absent", value: "1 s", source: CONSUMER },
        DefaultFigure { what: "backOffMultiplier absent", value: "2", source: CONSUMER },
        DefaultFigure { what: "backOffMaxInterval absent", value: "10 s", source: CONSUMER },
        DefaultFigure { what: "defaultRetryable absent", value: "every exception", source: CONSUMER },
        DefaultFigure { what: "enableDlq absent (Kafka)", value: "no dead-letter topic", source: KAFKA },
        DefaultFigure { what: "autoBindDlq absent (RabbitMQ)", value: "no dead-letter queue", source: RABBIT },
        DefaultFigure {
            what: "republishToDlq absent (RabbitMQ)",
            value: "true: the exception goes with the dead letter",
            source: RABBIT,
        },
    ],
};

impl System for SpringCloudStream {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        let mut found = Facts::default();
        for running in applications::running(Platform::Jvm, facts, &SHAPE) {
            let (mut ids, first) = (Ids::default(), found.layers.len());
            let view = running.always();
            let always = App::of(&view);
            always.read(None, None, &mut ids, &mut found);
            for profile in running.profiles() {
                let view = running.under(profile);
                App::of(&view).read(Some(profile), Some(&always), &mut ids, &mut found);
            }
            for layer in found.layers.iter_mut().skip(first) {
                layer.component = running.component();
            }
        }
        facts.append(found);
    }
}

const OF_CONSUMERS: &[&str] = &[
    "group",
    "destination",
    "consumer.max-attempts",
    "consumer.back-off-initial-interval",
    "consumer.back-off-multiplier",
    "consumer.back-off-max-interval",
    "consumer.default-retryable",
    "consumer.batch-mode",
];

const OF_KAFKA: &[&str] = &["consumer.enable-dlq", "consumer.dlq-name"];

const OF_RABBIT: &[&str] = &[
    "consumer.auto-bind-dlq",
    "consumer.dead-letter-queue-name",
    "consumer.dead-letter-exchange",
    "consumer.dlq-ttl",
    "consumer.dlq-dead-letter-exchange",
    "consumer.republish-to-dlq",
    "consumer.requeue-rejected",
];

const SHAPE: Shape = Shape {
    maps: &[
        ("spring.cloud.stream.kafka.bindings", OF_KAFKA),
        ("spring.cloud.stream.rabbit.bindings", OF_RABBIT),
        ("spring.cloud.stream.bindings", OF_CONSUMERS),
    ],
    keys: &[
        "spring.cloud.stream.default-binder",
        "spring.cloud.stream.default.group",
        "spring.cloud.stream.default.consumer.max-attempts",
        "spring.cloud.stream.default.consumer.back-off-initial-interval",
        "spring.cloud.stream.default.consumer.back-off-multiplier",
        "spring.cloud.stream.default.consumer.back-off-max-interval",
        "spring.cloud.stream.default.consumer.default-retryable",
        "spring.cloud.stream.kafka.default.consumer.enable-dlq",
        "spring.cloud.stream.rabbit.default.consumer.auto-bind-dlq",
    ],
};

/// Settings by their relaxed names; of each the weaker values before the stronger.
type Fields<'n> = BTreeMap<String, Vec<&'n Entry>>;

/// The settings of one binding, each by its relaxed name.
#[derive(Default)]
struct Binding<'n> {
    name: String,
    /// Where its name stands.
    opens: Option<Span>,
    own: Fields<'n>,
    kafka: Fields<'n>,
    rabbit: Fields<'n>,
}

/// The settings of a document.
#[derive(Default)]
struct App<'n> {
    bindings: Vec<Binding<'n>>,
    /// Defaults for all bindings.
    shared: Binding<'n>,
    has_kafka: bool,
    has_rabbit: bool,
    /// Kafka Streams has its own ways with what fails.
    has_streams: bool,
}

impl<'n> App<'n> {
    fn of(view: &'n View<'_>) -> Self {
        let mut app = Self::default();
        let is_ours = |setting: &&ApplicationSetting| {
            setting.path.iter().map(|(part, _)| relaxed(part)).take(3).eq(["spring", "cloud", "stream"])
        };
        view.settings.iter().map(|s| &**s).filter(is_ours).for_each(|setting| app.add(setting));
        app
    }

    fn add(&mut self, leaf: &'n ApplicationSetting) {
        let parts: Vec<String> = leaf.path.iter().skip(3).map(|(part, _)| relaxed(part)).collect();
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.has_streams |= matches!(words.as_slice(), ["kafka", "streams", ..]);
        let binder = match words.first() {
            Some(&"kafka") => Some(true),
            Some(&"rabbit") => Some(false),
            _ => None,
        };
        self.has_kafka |= binder == Some(true) || is(&leaf.entry, &words, "kafka");
        self.has_rabbit |= binder == Some(false) || is(&leaf.entry, &words, "rabbit");
        let skipped = usize::from(binder.is_some());
        let rest = words.get(skipped..).unwrap_or_default();
        let (at, key) = match rest {
            ["bindings", _, "consumer", key] => (Some(skipped + 4), *key),
            ["bindings", _, key @ ("group" | "destination")] => (Some(skipped + 4), *key),
            ["default", "consumer", key] => (None, *key),
            ["default", key @ "group"] => (None, *key),
            _ => return,
        };
        let binding = match at.and_then(|at| leaf.path.get(at)) {
            Some((name, span)) => self.binding(name, *span),
            None => &mut self.shared,
        };
        let map = match binder {
            Some(true) => &mut binding.kafka,
            Some(false) => &mut binding.rabbit,
            None => &mut binding.own,
        };
        map.entry(key.to_owned()).or_default().push(&leaf.entry);
    }

    fn binding(&mut self, name: &str, span: Span) -> &mut Binding<'n> {
        // A variable has the name without its dashes.
        let is_same = |b: &Binding<'_>| b.name == name || relaxed(&b.name) == relaxed(name);
        let at = self.bindings.iter().position(is_same).unwrap_or_else(|| {
            self.bindings.push(Binding { name: name.to_owned(), opens: Some(span), ..Binding::default() });
            self.bindings.len() - 1
        });
        &mut self.bindings[at] // Found or pushed above.
    }

    /// Adds the bindings; of those under a profile the ones that are not as they `always` are.
    fn read(&self, profile: Option<&str>, always: Option<&App<'n>>, ids: &mut Ids, facts: &mut Facts) {
        if self.has_streams {
            return;
        }
        for binding in self.bindings.iter().filter(|b| !b.name.contains("-out-")) {
            let Some(opens) = binding.opens else { continue };
            let reader = Reader { app: self, binding, opens, profile };
            let is_input = binding.name.contains("-in-") || reader.get("group").is_some() || binding.has_consumer();
            // Of batches the binder repeats nothing.
            let is_batch = reader.get("batchmode").is_some_and(|e| e.value.as_bool() == Some(true));
            let known = always.and_then(|app| {
                let binding = app.bindings.iter().find(|b| b.name == binding.name)?;
                Some(Reader { app, binding, opens: binding.opens?, profile: None })
            });
            let is_known = known.as_ref().is_some_and(|known| known.repeats() == reader.repeats());
            let has_known_end = known.as_ref().is_some_and(|known| known.end() == reader.end());
            if is_input && !is_batch && !(is_known && has_known_end) {
                reader.read(!has_known_end, ids, facts);
            }
        }
    }
}

impl Binding<'_> {
    fn has_consumer(&self) -> bool {
        !(self.kafka.is_empty() && self.rabbit.is_empty()) || self.own.keys().any(|k| k != "destination")
    }
}

/// Whether an entry names a binder: `default-binder: kafka`, `binders.x.type: rabbit`.
fn is(entry: &Entry, words: &[&str], binder: &str) -> bool {
    matches!(words.last(), Some(&("defaultbinder" | "binder" | "type"))) && entry.value.as_str() == Some(binder)
}

/// The setting that counts: the binding's own, else that for all.
fn last<'n>(own: &Fields<'n>, shared: &Fields<'n>, key: &str) -> Option<&'n Entry> {
    own.get(key).or_else(|| shared.get(key))?.last().copied()
}

struct Reader<'r, 'n> {
    app: &'r App<'n>,
    binding: &'r Binding<'n>,
    opens: Span,
    profile: Option<&'r str>,
}

impl<'n> Reader<'_, 'n> {
    fn get(&self, key: &str) -> Option<&'n Entry> {
        last(&self.binding.own, &self.app.shared.own, key)
    }

    fn kafka(&self, key: &str) -> Option<&'n Entry> {
        last(&self.binding.kafka, &self.app.shared.kafka, key)
    }

    fn rabbit(&self, key: &str) -> Option<&'n Entry> {
        last(&self.binding.rabbit, &self.app.shared.rabbit, key)
    }

    fn read(&self, with_end: bool, ids: &mut Ids, facts: &mut Facts) {
        let within = self.profile.map(|p| format!(" ({p})")).unwrap_or_default();
        let name = format!("binding {}{within}", self.binding.name);
        let id = ids.next(format!("{ID}:{}{within}", self.binding.name));
        facts.layers.push(self.layer(&name, id.clone()));
        facts.layers.extend(self.round(&name));
        if with_end {
            self.read_end(id, &name, facts);
        }
    }

    fn read_end(&self, id: std::sync::Arc<str>, name: &str, facts: &mut Facts) {
        let mut queue = repeats::queue("stream", id, name.to_owned(), self.opens);
        queue.otherwise = match self.app.has_kafka && !self.app.has_rabbit {
            true => "is logged after the last attempt, and passed over".to_owned(),
            false => "is dropped after the last attempt".to_owned(),
        };
        queue.dead_letter = self.dead_letter();
        queue.advice = Some(match self.app.has_rabbit && !self.app.has_kafka {
            true => "`auto-bind-dlq: true` in the binding's `rabbit` settings".to_owned(),
            false => "`enable-dlq: true` in the binding's `kafka` settings, or `auto-bind-dlq: true` in its `rabbit` settings".to_owned(),
        });
        // Without a group each instance has a queue of its own, which ends with it: it can have no dead letters.
        queue.minor = self.get("group").is_none();
        // A topic that no file declares.
        if let DeadLetter::To { target: QueueRef::Name(topic), place } = &queue.dead_letter {
            let service = if self.kafka("dlqname").is_some() { "kafka" } else { "rabbitmq" };
            let id = format!("{}:dead-letters", queue.id).into();
            let mut dead = repeats::queue(service, id, format!("the dead letters in {topic}"), *place);
            dead.names = vec![QueueRef::Name(topic.clone())];
            dead.holds_dead_letters = true;
            facts.queues.push(dead);
        }
        facts.queues.push(queue);
        facts.incomplete_records.extend(self.incomplete(name));
    }

    /// How a binding repeats, whatever its name.
    fn repeats(&self) -> (Layer, Option<Layer>) {
        (self.layer("", "".into()), self.round(""))
    }

    /// What becomes of a message in the end.
    fn end(&self) -> (DeadLetter, Option<IncompleteRecord>, bool) {
        (self.dead_letter(), self.incomplete(""), self.get("group").is_none())
    }

    fn dead_letter(&self) -> DeadLetter {
        let truth = |entry: Option<&Entry>| entry.map(|e| e.value.as_bool());
        let named = |entry: Option<&'n Entry>| {
            let entry = entry?;
            let name = entry.value.as_str().filter(|n| !n.contains("${"))?;
            Some(DeadLetter::To { target: QueueRef::Name(name.to_owned()), place: entry.value.span })
        };
        let kafka = truth(self.kafka("enabledlq"));
        let rabbit = truth(self.rabbit("autobinddlq"));
        if kafka == Some(None) || rabbit == Some(None) || self.rabbit("deadletterexchange").is_some() {
            return DeadLetter::Unknown;
        }
        if kafka == Some(Some(true)) {
            return named(self.kafka("dlqname")).unwrap_or(DeadLetter::BuiltIn);
        }
        if rabbit == Some(Some(true)) {
            return named(self.rabbit("deadletterqueuename")).unwrap_or(DeadLetter::BuiltIn);
        }
        // Other binders have ways of their own.
        if self.app.has_kafka || self.app.has_rabbit { DeadLetter::None } else { DeadLetter::Unknown }
    }

    fn layer(&self, name: &str, id: std::sync::Arc<str>) -> Layer {
        let count = self.get("maxattempts");
        let attempts = match count {
            Some(e) => spring::setting(e, "a number", |t| t.parse().ok().map(Attempts::Count)),
            None => Setting::default(Attempts::Count(3), CONSUMER),
        };
        let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.to_owned(), self.opens, attempts);
        if let Some(e) = count {
            layer.place = e.value.span;
            layer.reading = format!("{} on {name}", settings::quote(e));
            let all = self.binding.own.get("maxattempts").or_else(|| self.app.shared.own.get("maxattempts"));
            layer.labels.extend(all.and_then(|all| applications::beaten(all)));
        }
        let keys = ["backoffinitialinterval", "backoffmultiplier", "backoffmaxinterval"];
        layer.wait = self.wait();
        layer.wait_place = keys.iter().find_map(|key| self.get(key)).map(|e| e.key_span);
        let discriminates = self.get("defaultretryable").is_some_and(|e| e.value.as_bool() != Some(true))
            || self.get("retryableexceptions").is_some()
            || self.has_exceptions()
            // Of a consumer without a group, which is gone with its instance, it matters little.
            || self.get("group").is_none() && count.is_none();
        layer.retries.any_error = (!discriminates).then_some(self.opens);
        layer.advice.none = Some("`max-attempts: 1`".to_owned());
        layer.advice.grow = Some("set `back-off-multiplier: 2`".to_owned());
        layer.advice.statuses =
            Some("`default-retryable: false`, with the exceptions that can pass in `retryable-exceptions`".to_owned());
        if self.rabbit("requeuerejected").is_some_and(|e| e.value.as_bool() == Some(true))
            && layer.attempts.value() == Some(&Attempts::Count(1))
        {
            layer.attempts = Setting::written(Attempts::Unbounded, layer.place);
            layer.wait = Wait::None;
            layer.advice.wait = Some("`requeue-rejected: false`, and `max-attempts` above 1".to_owned());
        }
        layer
    }

    /// `retryable-exceptions` is a map: its keys are names of classes.
    fn has_exceptions(&self) -> bool {
        self.binding.own.keys().any(|k| k.starts_with("retryableexceptions"))
    }

    fn wait(&self) -> Wait {
        let time = |key: &str, default: u64| match self.get(key) {
            Some(e) => spring::setting(e, "a duration", duration::spring),
            None => Setting::default(Duration::from_millis(default), CONSUMER),
        };
        let factor = match self.get("backoffmultiplier") {
            Some(e) => spring::setting(e, "a number", |t| t.parse::<f64>().ok().filter(|n| n.is_finite())),
            None => Setting::default(2.0, CONSUMER),
        };
        Wait::Exponential {
            base: time("backoffinitialinterval", 1000),
            factor,
            cap: time("backoffmaxinterval", 10_000).map(Some),
        }
    }

    /// Dead letters that expire into the exchange without a name come back to the queue that they were rejected from.
    fn round(&self, name: &str) -> Option<Layer> {
        let time = self.rabbit("dlqttl")?;
        let exchange = self.rabbit("dlqdeadletterexchange")?;
        let is_default = exchange.value.is_null() || exchange.value.scalar().is_some_and(|s| s.text.is_empty());
        if self.rabbit("autobinddlq").and_then(|e| e.value.as_bool()) != Some(true) || !is_default {
            return None;
        }
        let span = time.value.span;
        let attempts = Setting::written(Attempts::Unbounded, span);
        let what = format!("way of dead letters back to {name}");
        let id = format!("{ID}:{}:back", self.binding.name);
        let mut layer = repeats::layer(ID, LayerKind::Queue, id.into(), what.clone(), span, attempts);
        layer.reading = format!("{}, after which a dead letter comes back, on {name}", settings::quote(time));
        layer.wait = Wait::Fixed(spring::setting(time, "a duration", duration::spring));
        layer.wait_place = Some(time.key_span);
        layer.advice.limit =
            Some("count the rounds in the `x-death` header, and park the message after some".to_owned());
        layer.confidence = Confidence::Medium;
        Some(layer)
    }

    fn incomplete(&self, name: &str) -> Option<IncompleteRecord> {
        let bound = self.rabbit("autobinddlq")?.value.as_bool() == Some(true);
        let republish = self.rabbit("republishtodlq").filter(|e| e.value.as_bool() == Some(false))?;
        bound.then(|| IncompleteRecord {
            name: format!("Dead letters of {name}"),
            place: republish.value.span,
            reading: "without the exception".to_owned(),
            missing: vec![RecordPart::Reason],
            advice: Some("`republish-to-dlq: true`, which is the default".to_owned()),
            minor: false,
            confidence: Confidence::High,
        })
    }
}
