//! Envoy Gateway: BackendTrafficPolicy, attached to Gateways and routes of the Gateway API.

use super::gateway_api::{PolicyKind, Read};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Budget, Inert, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Policy, go};
use crate::systems::objects::{self, Object};
use crate::systems::retry_on::{self, Around, RetryOn};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Envoy Gateway.
pub struct EnvoyGateway;

const ID: &str = "envoy-gateway";
const RETRY: &str = "envoyproxy/gateway api/v1alpha1/retry_types.go";
const TRANSLATION: &str = "envoyproxy/gateway internal/gatewayapi/clustersettings.go";
const BREAKER: &str = "envoyproxy/gateway api/v1alpha1/circuitbreaker_types.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Envoy Gateway",
    reads: "BackendTrafficPolicy of Gateways, HTTPRoutes and GRPCRoutes: retry, timeout, circuitBreaker.retryBudget",
    marks: &["gateway.envoyproxy.io/"],
    defaults: &[
        DefaultFigure { what: "spec.retry absent", value: "1 attempt", source: RETRY },
        DefaultFigure { what: "retry.numRetries absent", value: "3 attempts (2 retries)", source: RETRY },
        DefaultFigure {
            what: "retry.retryOn absent",
            value: "503, connect-failure, refused-stream, gRPC 14 and 1",
            source: TRANSLATION,
        },
        DefaultFigure {
            what: "retryOn.triggers absent",
            value: "connect-failure, refused-stream, gRPC 14 and 1, and exactly httpStatusCodes",
            source: TRANSLATION,
        },
        DefaultFigure {
            what: "perRetry.backOff absent",
            value: "25 ms, doubling, at most 250 ms",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure {
            what: "backOff.maxInterval absent",
            value: "10 times baseInterval",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "timeout.http.requestTimeout absent",
            value: "timeouts.request of the route, else 15 s over all tries and waits",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRY },
        DefaultFigure {
            what: "circuitBreaker.maxParallelRetries absent",
            value: "1024 retries at a time, which does not lower what one request causes",
            source: BREAKER,
        },
    ],
};

impl System for EnvoyGateway {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        POLICIES.extract(unit, facts);
        let all = unit.documents().flat_map(|(_, root)| objects::of(root));
        for object in all.filter(|o| o.kind == "SecurityPolicy" && o.version.starts_with(POLICIES.group)) {
            let owner = format!("Envoy Gateway SecurityPolicy {}", object.name);
            facts.inert.extend(object.spec(&[]).into_iter().flat_map(of_side_calls).map(|i| i.of(&owner)));
        }
    }
}

/// What the retries of calls for keys and tokens take over from those of routes, and do not use.
fn of_side_calls(spec: &Node) -> Vec<Inert> {
    let retries = spec.walk().filter_map(|n| n.get("backendSettings")?.get("retry"));
    let unused = retries.flat_map(|retry| {
        let timeout = retry.get("perRetry").and_then(|p| p.entry("timeout"));
        timeout.into_iter().chain(retry.get("retryOn").and_then(|on| on.entry("httpStatusCodes")))
    });
    let why = "Envoy has no such field for the calls that its own filters make";
    unused.map(|e| Inert::new(e.key_span, format!("`{}`", e.key), why)).collect()
}

const POLICIES: PolicyKind = PolicyKind {
    system: ID,
    group: "gateway.envoyproxy.io/",
    kind: "BackendTrafficPolicy",
    title: "Envoy Gateway BackendTrafficPolicy",
    read,
    advice,
};

fn read(object: &Object<'_>, key: &Entry, inert: &mut Vec<Inert>) -> Read {
    let count = Count::of(key.value.entry("numRetries"), key, Setting::default(Attempts::Count(3), RETRY));
    let per_retry = key.value.get("perRetry");
    let per_try = per_retry.and_then(|p| p.get("timeout")).and_then(|n| settings::limit(n, go));
    let (on, words) = conditions(key, per_try.is_some(), inert);
    let mut policy = Policy::new(count, key, words, on, inert);
    if let Some(block) = per_retry.and_then(|p| p.entry("backOff")) {
        let interval = |field| block.value.get(field);
        policy.wait = envoy_based::wait(block, interval("baseInterval"), interval("maxInterval"), go);
        inert.extend(envoy_based::without_base(block, "baseInterval", "maxInterval"));
    }
    policy.per_try = per_try;
    let breaker = object.spec(&["circuitBreaker"]);
    inert.extend(breaker.and_then(overridden_cap));
    let overall = object.spec(&["timeout", "http", "requestTimeout"]).map(|n| settings::limit(n, go));
    Read { policy, overall, budget: breaker.and_then(budget), retry_after: None }
}

/// `retryOn` replaces the list of statuses even where it has none; its triggers replace the conditions.
fn conditions<'n>(key: &'n Entry, timeouts: bool, inert: &mut Vec<Inert>) -> (RetryOn, Option<&'n Entry>) {
    let around = Around { timeouts, headers: false, numbers: false };
    let usual = ["connect-failure", "refused-stream", "unavailable", "cancelled", "retriable-status-codes"];
    let Some(retry_on) = key.value.entry("retryOn").filter(|e| !e.value.is_null()) else {
        let words = usual.map(|word| (word, key.key_span));
        return (retry_on::read(&words, &[(503, key.key_span)], around), None);
    };
    let codes = retry_on.value.entry("httpStatusCodes");
    let statuses = envoy_based::codes(codes.map(|e| &*e.value));
    let Some(triggers) = retry_on.value.entry("triggers").filter(|e| !e.value.items().is_empty()) else {
        let words: Vec<(&str, Span)> = usual.iter().map(|word| (*word, retry_on.key_span)).collect();
        let words = if statuses.is_empty() { words.get(..4).unwrap_or_default() } else { &words };
        return (retry_on::read(words, &statuses, around), None);
    };
    let words = envoy_based::words(Some(&triggers.value));
    if let (Some(codes), false) = (codes, words.iter().any(|(word, _)| *word == "retriable-status-codes"))
        && !statuses.is_empty()
    {
        inert.push(
            envoy_based::unused_statuses(codes).because(triggers.key_span, "these conditions replace the default ones"),
        );
    }
    (retry_on::read(&words, &statuses, around), Some(triggers))
}

fn budget(breaker: &Node) -> Option<Budget> {
    let budget = breaker.get("retryBudget")?;
    let ratio = match budget.get("percent") {
        None => Setting::default(0.2, BREAKER),
        Some(percent) => {
            let part = |key: &str, or: f64| percent.get(key).map_or(Some(or), Node::as_f64);
            match (part("numerator", 0.0), part("denominator", 100.0)) {
                (Some(part), Some(whole)) if whole > 0.0 => Setting::written(part / whole, percent.span),
                _ => Setting::unknown("not a fraction", Some(percent.span)),
            }
        }
    };
    Some(Budget { ratio })
}

fn overridden_cap(breaker: &Node) -> Option<Inert> {
    let (cap, budget) = (breaker.entry("maxParallelRetries")?, breaker.entry("retryBudget")?);
    let found = Inert::new(cap.key_span, settings::quote(cap), "`retryBudget` beside it takes its place");
    Some(found.because(budget.key_span, "the budget").instead("Keep one of the two"))
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `numRetries: 0`, or take the `retry` out"),
        statuses: some("list in `retryOn` only what can pass, such as `connect-failure` and 503"),
        pass_on: some("take 429 and 503 out of `httpStatusCodes`"),
        ..Advice::default()
    }
}
