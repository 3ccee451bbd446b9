//! kgateway: TrafficPolicy, attached to Gateways and routes of the Gateway API.

use super::gateway_api::{PolicyKind, Read};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Inert, Setting};
use crate::syntax::Entry;
use crate::systems::envoy_based::{self, Count, Policy, go};
use crate::systems::objects::Object;
use crate::systems::retry_on::{self, Around};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// kgateway.
pub struct Kgateway;

const ID: &str = "kgateway";
const RETRIES: &str = "kgateway-dev/kgateway api/v1alpha1/kgateway/retries.go";
const BREAKERS: &str = "kgateway-dev/kgateway api/v1alpha1/kgateway/backend_config_policy_types.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "kgateway",
    reads: "TrafficPolicy of Gateways and HTTPRoutes: retry, timeouts",
    marks: &["gateway.kgateway.dev/"],
    defaults: &[
        DefaultFigure { what: "spec.retry absent", value: "1 attempt", source: RETRIES },
        DefaultFigure { what: "retry.attempts absent", value: "2 attempts (1 retry)", source: RETRIES },
        DefaultFigure {
            what: "retry.backoffBaseInterval absent",
            value: "25 ms, doubling, at most 250 ms",
            source: RETRIES,
        },
        DefaultFigure {
            what: "the cap of retry.backoffBaseInterval",
            value: "10 times the interval",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "timeouts.request absent",
            value: "timeouts.request of the route, else 15 s over all tries and waits",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRIES },
        DefaultFigure {
            what: "circuitBreakers.maxRetries absent",
            value: "3 retries at a time, which does not lower what one request causes",
            source: BREAKERS,
        },
    ],
};

impl System for Kgateway {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        POLICIES.extract(unit, facts);
    }
}

const POLICIES: PolicyKind = PolicyKind {
    system: ID,
    group: "gateway.kgateway.dev/",
    kind: "TrafficPolicy",
    title: "kgateway TrafficPolicy",
    read,
    advice,
};

fn read(object: &Object<'_>, key: &Entry, inert: &mut Vec<Inert>) -> Read {
    let per_try = key.value.get("perTryTimeout").and_then(|n| settings::limit(n, go));
    let mut words = envoy_based::words(key.value.get("retryOn"));
    let codes = envoy_based::codes(key.value.get("statusCodes"));
    // The word for the statuses is added by itself.
    if let Some((_, span)) = codes.first() {
        words.push(("retriable-status-codes", *span));
    }
    let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
    let on = retry_on::read(&words, &codes, around);
    let count = Count::of(key.value.entry("attempts"), key, Setting::default(Attempts::Count(2), RETRIES));
    let mut policy = Policy::new(count, key, key.value.entry("retryOn"), on, inert);
    if let Some(base) = key.value.entry("backoffBaseInterval") {
        policy.wait = envoy_based::wait(base, Some(&base.value), None, go);
    }
    policy.per_try = per_try;
    let overall = object.spec(&["timeouts", "request"]).map(|n| settings::limit(n, go));
    // Which release reads it first is not known.
    let block = key.value.entry("rateLimitedBackOff").filter(|e| !e.value.is_null());
    let retry_after = block.map(|e| Setting::unknown("newer releases of kgateway may use it", Some(e.key_span)));
    Read { policy, overall, budget: None, retry_after }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `attempts: 0`, or take the `retry` out"),
        statuses: some("list in `retryOn` and `statusCodes` only what can pass, such as `connect-failure` and 503"),
        pass_on: some("take 429 and 503 out of `statusCodes`"),
        ..Advice::default()
    }
}
