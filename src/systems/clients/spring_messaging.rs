//! Listeners and templates of Spring AMQP, and Spring for Apache Kafka's retry topics and producer.

use std::time::Duration;

use super::applications::{self, Shape, View};
use super::{base, spring};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Confidence, Jitter, Layer, ModeSet, Scope, Setting};
use crate::syntax::Entry;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Spring AMQP and Spring for Apache Kafka.
pub struct SpringMessaging;

const ID: &str = "spring-messaging";
const RABBIT: &str = "spring-projects/spring-boot module/spring-boot-rabbitmq RabbitProperties.java";
const PRODUCER: &str = "apache/kafka clients ProducerConfig.java";
const COMMON: &str = "apache/kafka clients CommonClientConfigs.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring AMQP and Kafka, senders",
    reads: "what sends: `spring.rabbitmq.template.retry` and `spring.kafka.producer` in application settings",
    marks: &["rabbitmq", "kafka"],
    defaults: &[
        DefaultFigure { what: "spring.rabbitmq…retry.enabled absent", value: "no retries", source: RABBIT },
        DefaultFigure { what: "max-attempts (Spring Boot 3)", value: "all tries, the first included", source: RABBIT },
        DefaultFigure { what: "max-retries (Spring Boot 4)", value: "retries after the first try", source: RABBIT },
        DefaultFigure { what: "both absent", value: "3 or 4 attempts, by the version of Spring Boot", source: RABBIT },
        DefaultFigure {
            what: "initial-interval, multiplier, max-interval absent",
            value: "1 s, the same each time, at most 10 s",
            source: RABBIT,
        },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: RABBIT },
        DefaultFigure {
            what: "spring.kafka.producer.retries absent",
            value: "as often as fits into delivery.timeout.ms, 120 s",
            source: PRODUCER,
        },
        DefaultFigure {
            what: "retry.backoff.ms, retry.backoff.max.ms absent",
            value: "100 ms, × 2, at most 1 s, 20 % random",
            source: COMMON,
        },
    ],
};

macro_rules! retry_keys {
    ($($below:literal),*) => {
        &[$(
            concat!($below, ".enabled"),
            concat!($below, ".max-attempts"),
            concat!($below, ".max-retries"),
            concat!($below, ".initial-interval"),
            concat!($below, ".multiplier"),
            concat!($below, ".max-interval"),
        )*
            "spring.rabbitmq.host",
            "spring.rabbitmq.addresses",
            "spring.kafka.bootstrap-servers",
            "spring.kafka.producer.bootstrap-servers",
            "spring.kafka.producer.retries",
            // All that follows `properties` is the name of one property of the producer.
            "spring.kafka.producer.properties.retries",
            "spring.kafka.producer.properties.delivery.timeout.ms",
            "spring.kafka.producer.properties.request.timeout.ms",
            "spring.kafka.producer.properties.retry.backoff.ms",
            "spring.kafka.producer.properties.retry.backoff.max.ms",
            "spring.kafka.properties.retries",
            "spring.kafka.properties.delivery.timeout.ms",
            "spring.kafka.properties.request.timeout.ms",
            "spring.kafka.properties.retry.backoff.ms",
            "spring.kafka.properties.retry.backoff.max.ms",
        ]
    };
}

const SHAPE: Shape = Shape { maps: &[], keys: retry_keys!("spring.rabbitmq.template.retry") };

impl System for SpringMessaging {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, _| {
            of_template(view).into_iter().chain(producer(view)).collect()
        });
    }
}

fn time(entry: &Entry) -> Setting<Duration> {
    spring::setting(entry, "a duration", duration::spring)
}

fn of_template(view: &View<'_>) -> Option<Layer> {
    let key = |name: &str| format!("spring.rabbitmq.template.retry.{name}");
    let field = |name: &str| view.get(&key(name));
    let on = field("enabled").filter(|e| e.value.as_bool() == Some(true))?;
    let name = "RabbitTemplate".to_owned();
    let attempts = Setting::unknown("3 attempts in Spring Boot 3, 4 in Spring Boot 4", Some(on.value.span));
    let mut layer = base::client(ID, format!("{ID}:rabbitmq:template").into(), name, on.key_span, None, attempts);
    layer.asked_for = true;
    // The newer name came with the newer meaning: retries, not tries.
    if let Some(count) = field("max-retries") {
        base::counted(&mut layer, count, base::retries(count, None));
        layer.labels.extend(view.beaten(&key("max-retries")));
    } else if let Some(count) = field("max-attempts") {
        base::counted(&mut layer, count, base::tries(count));
        layer.labels.extend(view.beaten(&key("max-attempts")));
        // Spring Boot 4 does not read it any more.
        layer.confidence = Confidence::Medium;
    }
    layer.wait = base::exponential(
        base::or_default(field("initial-interval"), time, Duration::from_secs(1), RABBIT),
        base::or_default(field("multiplier"), base::number, 1.0, RABBIT),
        base::or_default(field("max-interval"), time, Duration::from_secs(10), RABBIT).map(Some),
    );
    layer.wait_place = field("initial-interval").or(field("multiplier")).map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, RABBIT);
    layer.retry_after = Setting::unknown("there is no response", None);
    layer.retries = Conditions { yes: ModeSet::transport(), ..Conditions::default() };
    layer.advice = Advice {
        none: Some("set `retry.enabled: false`".to_owned()),
        grow: Some("set `retry.multiplier: 2`".to_owned()),
        ..Advice::default()
    };
    let to = base::host(view.get("spring.rabbitmq.host"));
    let to = to.or_else(|| base::first_host(view.get("spring.rabbitmq.addresses")));
    layer.scope = Scope::Client { to, grpc: false };
    Some(layer)
}

fn producer(view: &View<'_>) -> Option<Layer> {
    let of = |keys: &[String]| keys.iter().find_map(|key| Some((view.get(key)?, view.beaten(key))));
    let own = |name: &str| format!("spring.kafka.producer.properties.{name}");
    let shared = |name: &str| format!("spring.kafka.properties.{name}");
    let property = |name: &str| of(&[own(name), shared(name)]).map(|(entry, _)| entry);
    // The properties of the producer are put over its settings, these over the properties of all clients.
    let retries = of(&[own("retries"), "spring.kafka.producer.retries".to_owned(), shared("retries")]);
    let timeout = of(&[own("delivery.timeout.ms"), shared("delivery.timeout.ms")]);
    let (first, beaten) = retries.clone().or_else(|| timeout.clone())?;
    let (retries, timeout) = (retries.map(|(entry, _)| entry), timeout.map(|(entry, _)| entry));
    let wait = base::exponential(
        base::or_default(property("retry.backoff.ms"), base::millis, Duration::from_millis(100), COMMON),
        Setting::default(2.0, COMMON),
        base::or_default(property("retry.backoff.max.ms"), base::millis, Duration::from_secs(1), COMMON).map(Some),
    );
    let deadline = base::or_default(timeout, base::millis, Duration::from_secs(120), PRODUCER);
    let attempts = match retries {
        Some(count) => base::retries(count, None),
        None => Attempts::within(&deadline, &wait, 1.0),
    };
    let to = base::first_host(view.get("spring.kafka.producer.bootstrap-servers"))
        .or_else(|| base::first_host(view.get("spring.kafka.bootstrap-servers")));
    let name = "Kafka producer of Spring".to_owned();
    let mut layer = base::client(ID, format!("{ID}:kafka:producer").into(), name, first.key_span, to, attempts.clone());
    // Written out, the largest number still means that the time decides.
    let unlimited = attempts.value().and_then(|a| a.count()).is_some_and(|n| n > u64::from(u32::MAX >> 1));
    let attempts = if unlimited { Attempts::within(&deadline, &wait, 1.0) } else { attempts };
    base::counted(&mut layer, first, attempts);
    layer.labels.extend(beaten);
    layer.wait = wait;
    layer.wait_place = property("retry.backoff.ms").map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::Partial { low: 0.8, high: 1.2 }, COMMON);
    layer.overall = Some(deadline);
    layer.per_try =
        Some(base::or_default(property("request.timeout.ms"), base::millis, Duration::from_secs(30), COMMON));
    layer.retries = Conditions { yes: ModeSet::transport(), ..Conditions::default() };
    layer.retry_after = Setting::unknown("there is no such answer", None);
    layer.advice = Advice {
        fewer: Some(
            "shorten `delivery.timeout.ms`; `retries: 0` loses messages that one more try would deliver".to_owned(),
        ),
        ..Advice::default()
    };
    Some(layer)
}
