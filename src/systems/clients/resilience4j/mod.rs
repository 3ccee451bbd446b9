//! Resilience4j, as Spring Boot and Micronaut configure it.

mod blocks;
pub(super) mod exceptions;
mod inert;
mod interval;

use self::blocks::{Blocks, Resolved};
use super::applications::{self, Shape};
use super::spring::{self, Text};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Confidence, HostRef, Layer, LayerKind, Methods, Purpose, Scope, Setting};
use crate::systems::settings::{last_part, shown};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Resilience4j.
pub struct Resilience4j;

const ID: &str = "resilience4j";
const RETRY_CONFIG: &str = "resilience4j/resilience4j resilience4j-retry RetryConfig.java";
const INTERVAL: &str = "resilience4j/resilience4j resilience4j-core IntervalFunction.java";
const PROPERTIES: &str =
    "resilience4j/resilience4j resilience4j-framework-common CommonRetryConfigurationProperties.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Resilience4j",
    reads: "resilience4j.retry in application*.yml, .yaml and .properties: configs, instances, backends, profiles; RESILIENCE4J_RETRY_… in the environment",
    marks: &[ID],
    defaults: &[
        DefaultFigure { what: "max-attempts absent", value: "3 attempts", source: RETRY_CONFIG },
        DefaultFigure { what: "wait-duration absent", value: "500 ms, the same each time", source: RETRY_CONFIG },
        DefaultFigure { what: "exponential-backoff-multiplier absent", value: "1.5, and no cap", source: PROPERTIES },
        DefaultFigure { what: "exponential-max-wait-duration absent", value: "no cap", source: INTERVAL },
        DefaultFigure { what: "enable-randomized-wait absent", value: "no jitter", source: RETRY_CONFIG },
        DefaultFigure {
            what: "randomized-wait-factor absent",
            value: "0.5: half to one and a half of the wait",
            source: INTERVAL,
        },
        DefaultFigure {
            what: "retry-exceptions and its predicate absent",
            value: "every exception",
            source: RETRY_CONFIG,
        },
        DefaultFigure { what: "base-config absent", value: "configs.default, if there is one", source: PROPERTIES },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRY_CONFIG },
    ],
};

impl System for Resilience4j {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, without_effect| {
            let blocks = Blocks::new(view);
            let all = blocks.instances();
            let read = |r: &Resolved<'_>| {
                let layer = layer(r, view.name);
                without_effect.extend(inert::of(r, &layer.name));
                layer
            };
            all.iter().map(read).collect()
        });
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        applications::unit_of(path)
    }
}

/// What the environment can set.
const FIELDS: &[&str] = &[
    "max-attempts",
    "wait-duration",
    "base-config",
    "enable-exponential-backoff",
    "exponential-backoff-multiplier",
    "exponential-max-wait-duration",
    "enable-randomized-wait",
    "randomized-wait-factor",
    "interval-bi-function",
    "retry-exceptions",
    "retry-exception-predicate",
    "result-predicate",
    "ignore-exceptions",
];

const SHAPE: Shape = Shape {
    maps: &[
        ("resilience4j.retry.instances", FIELDS),
        ("resilience4j.retry.backends", FIELDS),
        ("resilience4j.retry.configs", FIELDS),
    ],
    keys: &[],
};

fn layer(r: &Resolved<'_>, application: Option<&str>) -> Layer {
    let name = format!("Resilience4j retry {}", r.name);
    let owner = application.map(|a| format!("{a}/")).unwrap_or_default();
    let mut labels: Vec<_> = r.beaten.iter().cloned().collect();
    let mut confidence = Confidence::High;
    let (attempts, place, reading) = match r.max_attempts {
        Some(entry) => {
            let count = spring::setting(entry, "a number", |t| t.parse::<u64>().ok());
            if let Text::Known(_, Some(variable)) = spring::value(entry) {
                labels.push((
                    entry.value.span,
                    format!("the default of {}, which a deployment may set", shown(variable)),
                ));
                confidence = Confidence::Medium;
            }
            if !r.own_attempts {
                labels.push((r.opens, format!("retry {} inherits its count", r.name)));
            }
            let value = shown(entry.value.as_str().unwrap_or_default());
            let reading = format!("`{}: {value}` for {name}", shown(last_part(&entry.key)));
            (count.map(|n| Attempts::Count(n.max(1))), entry.value.span, reading)
        }
        None => match r.missing_base {
            Some(base) => {
                let written = shown(base.value.as_str().unwrap_or_default());
                let why = format!("comes from `{written}`, which is not in these files");
                (Setting::unknown(why, Some(base.value.span)), base.value.span, name.clone())
            }
            None => {
                (Setting::default(Attempts::Count(3), RETRY_CONFIG), r.opens, format!("{name}, without `max-attempts`"))
            }
        },
    };
    let timing = r.interval.timing(r.missing_base);
    Layer {
        id: format!("{ID}:{owner}{}", r.name).into(),
        system: ID,
        kind: LayerKind::Client,
        reading,
        place,
        opens: r.opens,
        component: None,
        scope: Scope::Client { to: host(r), grpc: false },
        attempts,
        asked_for: true,
        wait: timing.wait,
        wait_place: timing.place,
        jitter: timing.jitter,
        retries: exceptions::conditions(r),
        retry_after: Setting::default(false, RETRY_CONFIG),
        methods: Methods::Any,
        per_try: None,
        overall: None,
        budget: None,
        labels,
        advice: advice(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence,
        name,
    }
}

/// Instances name no host; many bear the name of the service that they call.
fn host(r: &Resolved<'_>) -> Option<HostRef> {
    let mut name = String::new();
    for (i, c) in r.name.chars().enumerate() {
        if c.is_uppercase() && i > 0 && !name.ends_with('-') {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    (!name.is_empty()).then_some(HostRef { name, port: None, namespace: None, span: r.opens })
}

/// Resilience4j has no setting for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `max-attempts: 1`"),
        wait: some("set `wait-duration`"),
        grow: some(
            "next to `wait-duration`, set `enable-exponential-backoff: true`, `exponential-backoff-multiplier: 2` and \
             `exponential-max-wait-duration`",
        ),
        cap: some(
            "set `exponential-max-wait-duration`; it counts only beside `exponential-backoff-multiplier` and, where \
             waits are randomized, `randomized-wait-factor`",
        ),
        jitter: some("next to `wait-duration`, set `enable-randomized-wait: true`"),
        statuses: some(
            "list in `retry-exceptions` only what can pass, such as \
             `org.springframework.web.client.HttpServerErrorException` and `java.io.IOException`",
        ),
        ..Advice::default()
    }
}
