//! Listeners of Spring for Apache Kafka and Spring AMQP, as far as Spring Boot's settings tell.

use std::time::Duration;

use crate::facts::{ApplicationSetting, Facts};
use crate::model::{Attempts, Jitter, Layer, LayerKind, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, relaxed};
use crate::systems::clients::applications::{self, Shape, View};
use crate::systems::clients::spring;
use crate::systems::settings;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Spring Boot's listeners.
pub struct SpringBootListeners;

const ID: &str = "spring-boot-listeners";
const KAFKA: &str = "spring-projects/spring-boot module/spring-boot-kafka KafkaProperties.java";
const RABBIT: &str = "spring-projects/spring-boot module/spring-boot-rabbitmq RabbitProperties.java";
const CONTAINER: &str = "spring-projects/spring-amqp AbstractMessageListenerContainer.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring Boot listeners",
    reads: "Spring settings: spring.kafka.retry.topic, spring.rabbitmq.listener; SPRING_… in the environment",
    marks: &["spring.kafka", "spring.rabbitmq", "kafka:", "rabbitmq:"],
    defaults: &[
        DefaultFigure { what: "spring.kafka.retry.topic.attempts absent", value: "3 attempts", source: KAFKA },
        DefaultFigure { what: "spring.kafka.retry.topic.backoff.delay absent", value: "1 s", source: KAFKA },
        DefaultFigure {
            what: "spring.kafka.retry.topic.backoff.multiplier absent",
            value: "the same wait each time",
            source: KAFKA,
        },
        DefaultFigure { what: "spring.kafka.retry.topic.backoff.max-delay absent", value: "30 s", source: KAFKA },
        DefaultFigure { what: "spring.kafka.retry.topic.backoff.jitter absent", value: "no jitter", source: KAFKA },
        DefaultFigure {
            what: "spring.rabbitmq.listener.*.retry.max-retries absent",
            value: "4 attempts (3 retries)",
            source: RABBIT,
        },
        DefaultFigure {
            what: "spring.rabbitmq.listener.*.retry.initial-interval absent",
            value: "1 s each time",
            source: RABBIT,
        },
        DefaultFigure {
            what: "spring.rabbitmq.listener.*.default-requeue-rejected absent",
            value: "requeued at once, without end",
            source: CONTAINER,
        },
    ],
};

impl System for SpringBootListeners {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, _| {
            let of = view.name.map(|name| format!("{name}/")).unwrap_or_default();
            let topic = Block::of(view, &["spring", "kafka", "retry", "topic"]).retry_topic(&of);
            let listeners = ["simple", "direct"]
                .into_iter()
                .filter_map(|kind| Block::of(view, &["spring", "rabbitmq", "listener", kind]).listener(kind, &of));
            topic.into_iter().chain(listeners).collect()
        });
    }
}

macro_rules! listener_keys {
    ($($below:literal),*) => {
        &[$(
            concat!($below, ".default-requeue-rejected"),
            concat!($below, ".retry.enabled"),
            concat!($below, ".retry.max-attempts"),
            concat!($below, ".retry.max-retries"),
            concat!($below, ".retry.initial-interval"),
            concat!($below, ".retry.multiplier"),
            concat!($below, ".retry.max-interval"),
        )*
            "spring.kafka.retry.topic.enabled",
            "spring.kafka.retry.topic.attempts",
            "spring.kafka.retry.topic.backoff.delay",
            "spring.kafka.retry.topic.backoff.multiplier",
            "spring.kafka.retry.topic.backoff.max-delay",
            "spring.kafka.retry.topic.backoff.jitter",
            "spring.kafka.retry.topic.backoff.random",
        ]
    };
}

const SHAPE: Shape =
    Shape { maps: &[], keys: listener_keys!("spring.rabbitmq.listener.simple", "spring.rabbitmq.listener.direct") };

/// The settings under a key, by the rest of their key.
struct Block<'n> {
    entries: Vec<(String, &'n Entry)>,
}

impl<'n> Block<'n> {
    fn of(view: &'n View<'_>, below: &[&str]) -> Self {
        let is_below = |setting: &&'n ApplicationSetting| {
            setting.path.len() > below.len() && setting.path.iter().zip(below).all(|((part, _), b)| relaxed(part) == *b)
        };
        let rest = |setting: &'n ApplicationSetting| {
            let parts: Vec<String> = setting.path.iter().skip(below.len()).map(|(part, _)| relaxed(part)).collect();
            (parts.join("."), &setting.entry)
        };
        Self { entries: view.settings.iter().map(|s| &**s).filter(is_below).map(rest).collect() }
    }

    /// A label on the value that the one that counts beats.
    fn beaten(&self, key: &str) -> Option<(Span, String)> {
        let all: Vec<&Entry> = self.entries.iter().filter(|(k, _)| k == key).map(|(_, e)| *e).collect();
        applications::beaten(&all)
    }

    fn get(&self, keys: &[&str]) -> Option<&'n Entry> {
        keys.iter().find_map(|key| self.entries.iter().rev().find(|(k, _)| k == key)).map(|(_, e)| *e)
    }

    fn is(&self, key: &str, truth: bool) -> bool {
        self.get(&[key]).is_some_and(|e| e.value.as_bool() == Some(truth))
    }

    fn time(&self, keys: &[&str], default: u64, source: &'static str) -> Setting<Duration> {
        match self.get(keys) {
            Some(e) => spring::setting(e, "a duration", duration::spring),
            None => Setting::default(Duration::from_millis(default), source),
        }
    }

    fn factor(&self, keys: &[&str], source: &'static str) -> Setting<f64> {
        match self.get(keys) {
            Some(e) => spring::setting(e, "a number", |t| t.parse::<f64>().ok().filter(|n| n.is_finite())),
            None => Setting::default(1.0, source),
        }
    }

    /// Topics through which a record comes back later.
    fn retry_topic(&self, of: &str) -> Option<Layer> {
        let enabled = self.get(&["enabled"]).filter(|e| e.value.as_bool() == Some(true))?;
        let name = "retry topics of Spring Kafka".to_owned();
        let count = self.get(&["attempts"]);
        let attempts = match count {
            Some(e) => spring::setting(e, "a number", |t| t.parse().ok().map(Attempts::Count)),
            None => Setting::default(Attempts::Count(3), KAFKA),
        };
        let id = format!("{ID}:{of}kafka");
        let mut layer = repeats::layer(ID, LayerKind::Queue, id.into(), name.clone(), enabled.key_span, attempts);
        layer.asked_for = true;
        if let Some(e) = count {
            layer.place = e.value.span;
            layer.reading = format!("{} on {name}", settings::quote(e));
            layer.labels.extend(self.beaten("attempts"));
        }
        layer.wait = Wait::Exponential {
            base: self.time(&["backoff.delay", "delay"], 1000, KAFKA),
            factor: self.factor(&["backoff.multiplier", "multiplier"], KAFKA),
            cap: self.time(&["backoff.maxdelay", "maxdelay"], 30_000, KAFKA).map(Some),
        };
        let keys = ["backoff.delay", "backoff.multiplier", "backoff.maxdelay", "delay", "multiplier", "maxdelay"];
        layer.wait_place = Some(self.get(&keys).map_or(enabled.key_span, |e| e.key_span));
        layer.jitter = self.jitter();
        layer.advice.grow = Some("set `spring.kafka.retry.topic.backoff.multiplier: 2`".to_owned());
        layer.advice.jitter = Some("set `spring.kafka.retry.topic.backoff.jitter`".to_owned());
        layer.advice.fewer = Some("a smaller `spring.kafka.retry.topic.attempts`".to_owned());
        Some(layer)
    }

    fn jitter(&self) -> Setting<Jitter> {
        let is_random = ["backoff.random", "randombackoff"].iter().any(|key| self.is(key, true));
        match self.get(&["backoff.jitter"]) {
            Some(e) => spring::setting(e, "a duration", duration::spring).map(|d: Duration| match d.is_zero() {
                true => Jitter::None,
                false => Jitter::Partial { low: 0.5, high: 1.5 },
            }),
            None if is_random => Setting::unknown("it is random", None),
            None => Setting::default(Jitter::None, KAFKA),
        }
    }

    /// A listener of RabbitMQ: with `retry.enabled` it tries again itself, else the broker hands the message over
    /// again at once.
    fn listener(&self, kind: &str, of: &str) -> Option<Layer> {
        let first = self.entries.iter().map(|(_, e)| *e).min_by_key(|e| e.key_span)?;
        let name = format!("{kind} listeners of Spring AMQP");
        let id: std::sync::Arc<str> = format!("{ID}:{of}rabbitmq:{kind}").into();
        let enabled = self.get(&["retry.enabled"]);
        if let Some(enabled) = enabled.filter(|e| e.value.as_bool() == Some(true)) {
            // Until Spring Boot 3 the count was one of attempts.
            let (retries, total) = (self.get(&["retry.maxretries"]), self.get(&["retry.maxattempts"]));
            let attempts = match (retries, total) {
                (Some(e), _) => spring::setting(e, "a number", |t| {
                    t.parse::<u64>().ok().map(|n| Attempts::Count(n.saturating_add(1)))
                }),
                (None, Some(e)) => spring::setting(e, "a number", |t| t.parse().ok().map(Attempts::Count)),
                (None, None) => Setting::default(Attempts::Count(4), RABBIT),
            };
            let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.clone(), enabled.key_span, attempts);
            layer.asked_for = true;
            if let Some(e) = retries.or(total) {
                layer.place = e.value.span;
                layer.reading = format!("{} on {name}", settings::quote(e));
                let key = if retries.is_some() { "retry.maxretries" } else { "retry.maxattempts" };
                layer.labels.extend(self.beaten(key));
            }
            layer.wait = Wait::Exponential {
                base: self.time(&["retry.initialinterval"], 1000, RABBIT),
                factor: self.factor(&["retry.multiplier"], RABBIT),
                cap: self.time(&["retry.maxinterval"], 10_000, RABBIT).map(Some),
            };
            let keys = ["retry.initialinterval", "retry.multiplier", "retry.maxinterval"];
            layer.wait_place = Some(self.get(&keys).map_or(enabled.key_span, |e| e.key_span));
            layer.advice.grow = Some("set `retry.multiplier: 2`".to_owned());
            layer.advice.fewer = Some("a smaller `retry.max-retries`".to_owned());
            return Some(layer);
        }
        // What cannot be read may switch it on.
        let is_open = enabled.is_some_and(|e| e.value.as_bool().is_none())
            || self.get(&["defaultrequeuerejected"]).is_some_and(|e| e.value.as_bool() != Some(true));
        if is_open {
            return None;
        }
        let place = self.get(&["defaultrequeuerejected"]).map_or(first.key_span, |e| e.key_span);
        let attempts = Setting::default(Attempts::Unbounded, CONTAINER);
        let mut layer = repeats::layer(ID, LayerKind::Queue, id, name, place, attempts);
        layer.reading = format!("{kind} listeners of Spring AMQP, which requeue what they reject");
        layer.asked_for = true;
        layer.wait = Wait::None;
        layer.advice.wait =
            Some("`retry.enabled: true` with `retry.multiplier`, and `default-requeue-rejected: false`".to_owned());
        layer.advice.limit =
            Some("`default-requeue-rejected: false`, with a dead-letter exchange on the queue".to_owned());
        layer.confidence = crate::model::Confidence::Medium;
        Some(layer)
    }
}
