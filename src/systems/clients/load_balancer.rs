//! Spring Cloud LoadBalancer, and the client of the Config server.

use std::time::Duration;

use super::applications::{self, Shape, View};
use super::{base, spring};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Confidence, HostRef, Jitter, Layer, Methods, ModeSet, STATUSES, Setting, Wait};
use crate::source::Span;
use crate::syntax::Entry;
use crate::systems::settings::shown;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Spring Cloud LoadBalancer.
pub struct LoadBalancer;

const ID: &str = "spring-cloud-loadbalancer";
const PROPERTIES: &str = "spring-cloud/spring-cloud-commons LoadBalancerProperties.java";
const POLICY: &str = "spring-cloud/spring-cloud-commons BlockingLoadBalancedRetryPolicy.java";
const INTERCEPTOR: &str = "spring-cloud/spring-cloud-commons RetryLoadBalancerInterceptor.java";
const CONFIG: &str = "spring-cloud/spring-cloud-config RetryProperties.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring Cloud LoadBalancer",
    reads: "`spring.cloud.loadbalancer.retry`, `….clients.<service>.retry` and `spring.cloud.config.retry` in application settings",
    marks: &["loadbalancer", "fail-fast", "failFast"],
    defaults: &[
        DefaultFigure {
            what: "max-retries-on-same-service-instance, -next-service-instance absent",
            value: "0 and 1: 2 attempts",
            source: PROPERTIES,
        },
        DefaultFigure { what: "both counts", value: "multiply: (same + 1) × (next + 1) attempts", source: POLICY },
        DefaultFigure { what: "backoff.enabled absent", value: "no wait", source: INTERCEPTOR },
        DefaultFigure {
            what: "backoff.min-backoff, max-backoff, jitter absent",
            value: "5 ms, × 2, no cap, half of it random",
            source: PROPERTIES,
        },
        DefaultFigure { what: "retryable-status-codes absent", value: "failed connections alone", source: PROPERTIES },
        DefaultFigure { what: "retry-on-all-operations absent", value: "GET", source: POLICY },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: POLICY },
        DefaultFigure {
            what: "spring.cloud.config.retry",
            value: "6 attempts, 1 s, × 1.1, at most 2 s; only with fail-fast",
            source: CONFIG,
        },
    ],
};

const RETRY: &[&str] = &[
    "retry.enabled",
    "retry.retry-on-all-operations",
    "retry.max-retries-on-same-service-instance",
    "retry.max-retries-on-next-service-instance",
    "retry.retryable-status-codes",
    "retry.retry-on-all-exceptions",
    "retry.backoff.enabled",
    "retry.backoff.min-backoff",
    "retry.backoff.max-backoff",
    "retry.backoff.jitter",
];

const SHAPE: Shape = Shape {
    maps: &[("spring.cloud.loadbalancer.clients", RETRY)],
    keys: &[
        "spring.cloud.loadbalancer.retry.enabled",
        "spring.cloud.loadbalancer.retry.retry-on-all-operations",
        "spring.cloud.loadbalancer.retry.max-retries-on-same-service-instance",
        "spring.cloud.loadbalancer.retry.max-retries-on-next-service-instance",
        "spring.cloud.loadbalancer.retry.retryable-status-codes",
        "spring.cloud.loadbalancer.retry.backoff.enabled",
        "spring.cloud.loadbalancer.retry.backoff.min-backoff",
        "spring.cloud.loadbalancer.retry.backoff.max-backoff",
        "spring.cloud.loadbalancer.retry.backoff.jitter",
        "spring.cloud.config.fail-fast",
        "spring.cloud.config.retry.max-attempts",
        "spring.cloud.config.retry.initial-interval",
        "spring.cloud.config.retry.multiplier",
        "spring.cloud.config.retry.max-interval",
    ],
};

impl System for LoadBalancer {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, _| {
            let mut out = balancers(view);
            out.extend(config_server(view));
            out
        });
    }
}

const TOP: &str = "spring.cloud.loadbalancer.retry";

/// The settings for every service, and those for one that lie over them.
fn balancers(view: &View<'_>) -> Vec<Layer> {
    let is_retry = |s: &&std::borrow::Cow<'_, crate::facts::ApplicationSetting>, below: &[&str]| {
        let parts: Vec<String> = s.path.iter().map(|(part, _)| crate::syntax::relaxed(part)).collect();
        parts.len() > below.len() && below.iter().zip(&parts).all(|(wanted, part)| *wanted == part || *wanted == "*")
    };
    let mut out = Vec::new();
    let top = view.settings.iter().find(|s| is_retry(s, &["spring", "cloud", "loadbalancer", "retry"]));
    if let Some((_, opens)) = top.and_then(|s| s.path.get(3)) {
        out.push(balancer(view, None, *opens));
    }
    for (service, opens) in view.names("spring.cloud.loadbalancer.clients") {
        let below = format!("spring.cloud.loadbalancer.clients.{service}.retry");
        if RETRY.iter().any(|f| view.get(&format!("{below}.{}", f.trim_start_matches("retry."))).is_some()) {
            out.push(balancer(view, Some(&service), opens));
        }
    }
    out
}

fn balancer(view: &View<'_>, service: Option<&str>, opens: Span) -> Layer {
    let own = service.map(|s| format!("spring.cloud.loadbalancer.clients.{s}.retry"));
    let field = |name: &str| {
        let of = own.as_ref().and_then(|own| view.get(&format!("{own}.{name}")));
        of.or_else(|| view.get(&format!("{TOP}.{name}")))
    };
    let (title, to) = match service {
        Some(service) => (shown(service).into_owned(), base::named(service, opens)),
        None => ("every service".to_string(), None),
    };
    let name = format!("load balancer's retries for {title}");
    let id = format!("{ID}:{}", service.unwrap_or("*"));
    let counts = Counts {
        same: field("max-retries-on-same-service-instance"),
        next: field("max-retries-on-next-service-instance"),
        source: PROPERTIES,
    };
    let mut layer = counts.layer(id, name, opens, to);
    layer.asked_for = true;
    if let Some(off) = field("enabled").filter(|e| e.value.as_bool() == Some(false)) {
        base::counted(&mut layer, off, Setting::written(Attempts::Count(1), off.value.span));
    }
    for key in ["max-retries-on-same-service-instance", "max-retries-on-next-service-instance"] {
        layer.labels.extend(view.beaten(&format!("{}.{key}", own.as_deref().unwrap_or(TOP))));
    }
    backoff(&mut layer, &field);
    if let Some(codes) = field("retryable-status-codes") {
        let statuses = base::statuses(codes);
        layer.retries.yes = layer.retries.yes.union(statuses.yes);
        layer.retries.picks = statuses.picks;
    }
    if let Some(all) = field("retry-on-all-exceptions").filter(|e| e.value.as_bool() == Some(true)) {
        layer.retries.any_error = Some(all.value.span);
    }
    layer.methods = methods(field("retry-on-all-operations"));
    layer.advice = advice();
    layer
}

/// Only reactive clients wait, and only where that is on.
fn backoff<'e>(layer: &mut Layer, field: &impl Fn(&str) -> Option<&'e Entry>) {
    let on = field("backoff.enabled").filter(|e| e.value.as_bool() == Some(true));
    let Some(on) = on else {
        layer.wait = Wait::None;
        layer.jitter = Setting::default(Jitter::None, INTERCEPTOR);
        return;
    };
    let time = |e: &Entry| spring::setting(e, "a duration", duration::spring);
    let cap = match field("backoff.max-backoff") {
        Some(e) => time(e).map(Some),
        None => Setting::default(None, PROPERTIES),
    };
    let first = base::or_default(field("backoff.min-backoff"), time, Duration::from_millis(5), PROPERTIES);
    layer.wait = base::exponential(first, Setting::default(2.0, PROPERTIES), cap);
    layer.wait_place = Some(on.key_span);
    layer.jitter = base::or_default(field("backoff.jitter"), base::number, 0.5, PROPERTIES).map(base::around);
    layer.confidence = Confidence::Medium;
}

/// GET, unless a setting says all.
fn methods(all: Option<&Entry>) -> Methods {
    match all.filter(|e| e.value.as_bool() == Some(true)) {
        Some(all) => Methods::Written {
            methods: ["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"].map(str::to_owned).to_vec(),
            span: all.value.span,
        },
        None => Methods::Only(vec!["GET".to_owned()]),
    }
}

/// Two counts of retries that multiply.
struct Counts<'e> {
    same: Option<&'e Entry>,
    next: Option<&'e Entry>,
    source: &'static str,
}

impl Counts<'_> {
    fn layer(&self, id: String, name: String, opens: Span, to: Option<HostRef>) -> Layer {
        let same = base::or_default(self.same, base::whole, 0, self.source);
        let next = base::or_default(self.next, base::whole, 1, self.source);
        let both = match (same.value(), next.value()) {
            (Some(same), Some(next)) => {
                Ok(Attempts::Count(same.saturating_add(1).saturating_mul(next.saturating_add(1))))
            }
            _ => Err("one of its counts is not a number"),
        };
        // The larger of the two is what a person would change first.
        let written = [self.next, self.same].into_iter().flatten().max_by_key(|e| base::whole(e).value().copied());
        let attempts = match (both, written) {
            (Ok(n), Some(e)) => Setting::written(n, e.value.span),
            (Ok(n), None) => Setting::default(n, self.source),
            (Err(why), e) => Setting::unknown(why, e.map(|e| e.value.span)),
        };
        let mut layer = base::client(ID, id.into(), name, opens, to, attempts.clone());
        if let Some(entry) = written {
            base::counted(&mut layer, entry, attempts);
            let others = [self.same, self.next].into_iter().flatten().filter(|e| e.value.span != entry.value.span);
            layer.labels.extend(others.map(|e| (e.value.span, "multiplies with it".to_owned())));
        }
        layer.retries.yes = ModeSet::transport();
        layer.retry_after = Setting::default(false, POLICY);
        layer
    }
}

/// A service that waits for its settings at its start.
fn config_server(view: &View<'_>) -> Option<Layer> {
    let field = |name: &str| view.get(&format!("spring.cloud.config.retry.{name}"));
    view.get("spring.cloud.config.fail-fast").filter(|e| e.value.as_bool() == Some(true))?;
    let names = ["max-attempts", "initial-interval", "multiplier", "max-interval"];
    let first = names.iter().find_map(|name| field(name))?;
    let to = base::host(view.get("spring.cloud.config.uri"));
    let name = "client of the Config server".to_owned();
    let attempts = Setting::default(Attempts::Count(6), CONFIG);
    let mut layer = base::apart(ID, format!("{ID}:config").into(), name, first.key_span, to, attempts);
    layer.asked_for = true;
    if let Some(count) = field("max-attempts") {
        base::counted(&mut layer, count, base::tries(count));
        layer.labels.extend(view.beaten("spring.cloud.config.retry.max-attempts"));
    }
    layer.wait = base::exponential(
        base::or_default(field("initial-interval"), base::millis, Duration::from_secs(1), CONFIG),
        base::or_default(field("multiplier"), base::number, 1.1, CONFIG),
        base::or_default(field("max-interval"), base::millis, Duration::from_secs(2), CONFIG).map(Some),
    );
    layer.wait_place = field("initial-interval").map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, CONFIG);
    layer.retries.yes = ModeSet::statuses(STATUSES).union(ModeSet::transport());
    layer.advice = Advice { none: Some("set `max-attempts: 1`".to_owned()), ..Advice::default() };
    Some(layer)
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `spring.cloud.loadbalancer.retry.enabled: false`"),
        wait: some(
            "set `retry.backoff.enabled: true` with `min-backoff` and `max-backoff`; a blocking client needs a bean for it",
        ),
        cap: some("set `retry.backoff.max-backoff`, such as 1s"),
        jitter: some("set `retry.backoff.jitter: 0.5`"),
        statuses: some("list in `retryable-status-codes` only what can pass, such as 502 and 503"),
        ..Advice::default()
    }
}
