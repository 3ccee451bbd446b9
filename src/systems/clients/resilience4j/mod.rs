//! Resilience4j, as Spring Boot and Micronaut configure it.

mod blocks;
mod environment;
mod exceptions;
mod inert;
mod interval;

use std::collections::{BTreeMap, BTreeSet};

use self::blocks::{Blocks, Resolved};
use super::spring::{self, Document, Text};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Confidence, HostRef, Layer, LayerKind, Methods, Scope, Setting};
use crate::systems::settings::shown;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Resilience4j.
pub struct Resilience4j;

/// No real application has more profiles; each one costs a reading of all its documents.
const MAX_PROFILES: usize = 100;

/// Nor more instances over all its profiles.
const MAX_INSTANCES: usize = 20_000;

const ID: &str = "resilience4j";
const RETRY_CONFIG: &str = "resilience4j/resilience4j resilience4j-retry RetryConfig.java";
const INTERVAL: &str = "resilience4j/resilience4j resilience4j-core IntervalFunction.java";
const PROPERTIES: &str =
    "resilience4j/resilience4j resilience4j-framework-common CommonRetryConfigurationProperties.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Resilience4j",
    reads: "resilience4j.retry in application*.yml, .yaml and .properties: configs, instances, backends, profiles",
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
        let documents: Vec<Document<'_>> = unit
            .documents()
            .filter(|(file, root)| !is_test(&file.path) && !root.entries().is_empty())
            .map(|(file, root)| Document::new(&file.path, root))
            .collect();
        let always = |d: &&Document<'_>| d.profile.is_none();
        let application = documents.iter().filter(always).find_map(|d| application(d));
        let base = Blocks::new(documents.iter().filter(always));
        let known = base.instances();
        let by_name: BTreeMap<&str, &Resolved<'_>> = known.iter().map(|r| (r.name.as_str(), r)).collect();
        let emit = |r: &Resolved<'_>, profile: Option<&str>, facts: &mut Facts| {
            let layer = layer(r, application.as_deref(), profile);
            facts.inert.extend(inert::of(r, &layer.name));
            facts.layers.push(layer);
        };
        known.iter().for_each(|r| emit(r, None, facts));
        let profiles: BTreeSet<&str> = documents.iter().filter_map(|d| d.profile.as_deref()).collect();
        let most = MAX_PROFILES.min(MAX_INSTANCES / known.len().max(1));
        for profile in profiles.into_iter().take(most) {
            let mine = |d: &&Document<'_>| d.profile.as_deref().is_none_or(|p| p == profile);
            // A profile's own values beat those of every document that always counts.
            let mut all: Vec<&Document<'_>> = documents.iter().filter(mine).collect();
            all.sort_by_key(|d| d.profile.is_some());
            let under = Blocks::new(all.into_iter()).instances();
            let differs = |r: &&Resolved<'_>| by_name.get(r.name.as_str()).is_none_or(|k| *k != *r);
            under.iter().filter(differs).for_each(|r| emit(r, Some(profile), facts));
        }
    }

    fn join(&self, facts: &mut Facts) {
        environment::override_counts(facts);
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.')?;
        let mine = stem == "application" || stem.starts_with("application-");
        (mine && matches!(ending, "yml" | "yaml" | "properties")).then(|| format!("{ID}:{folder}"))
    }
}

/// Settings of tests do not run in production.
fn is_test(path: &str) -> bool {
    path.split('/').zip(path.split('/').skip(1)).any(|pair| pair == ("src", "test"))
}

fn application(document: &Document<'_>) -> Option<String> {
    let keys = ["spring.application.name", "micronaut.application.name"];
    keys.iter().find_map(|key| spring::text(document.root, key)).filter(|name| !name.contains("${"))
}

fn layer(r: &Resolved<'_>, application: Option<&str>, profile: Option<&str>) -> Layer {
    let under = profile.map(|p| format!(" under profile {p}")).unwrap_or_default();
    let name = format!("Resilience4j retry {}{under}", r.name);
    let owner = application.map(|a| format!("{a}/")).unwrap_or_default();
    let mut labels = Vec::new();
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
            let reading = format!("`{}: {value}` for {name}", shown(blocks::last_part(entry)));
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
        component: application.map(str::to_string),
        scope: Scope::Client { to: host(r) },
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
        stream: false,
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
        fewer: some("set `max-attempts: 1`"),
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
