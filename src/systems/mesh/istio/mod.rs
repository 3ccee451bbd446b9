//! Istio: VirtualServices, DestinationRules, and the default policy of the mesh.

mod destinations;
mod filters;
mod policy;
mod routes;

use std::collections::BTreeSet;

use crate::facts::{Facts, MeshDefaultFact};
use crate::model::{Attempts, HostRef, Layer, Scope};
use crate::source::Span;
use crate::systems::envoy_based::Policy;
use crate::systems::objects;
use crate::systems::retry_on::RETRY_STATE;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, delegates, protocols, upstreams};

/// Istio.
pub struct Istio;

const ID: &str = "istio";
const RETRY: &str = "istio/istio pilot/pkg/networking/core/route/retry/retry.go";
const VIRTUAL_SERVICE: &str = "istio/api networking/v1alpha3/virtual_service.proto";
const DESTINATION_RULE: &str = "istio/api networking/v1alpha3/destination_rule.proto";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Istio",
    reads: "VirtualService, DestinationRule, EnvoyFilter, and defaultHttpRetryPolicy of IstioOperator, Helm values and the ConfigMap istio",
    marks: &["networking.istio.io/", "defaultHttpRetryPolicy"],
    defaults: &[
        DefaultFigure {
            what: "no retries on a route, and none for the mesh",
            value: "3 attempts (2 retries)",
            source: RETRY,
        },
        DefaultFigure {
            what: "retries.retryOn absent",
            value: "connect-failure, refused-stream, gRPC 14 and 1; before 1.24 the status 503 as well",
            source: RETRY,
        },
        DefaultFigure { what: "retries: {}, or retries without attempts", value: "1 attempt", source: RETRY },
        DefaultFigure { what: "retries.backoff absent", value: "25 ms, doubling, at most 250 ms", source: RETRY_STATE },
        DefaultFigure { what: "the cap of retries.backoff", value: "10 times backoff", source: RETRY_STATE },
        DefaultFigure {
            what: "jitter",
            value: "full, always",
            source: "envoyproxy/envoy source/common/common/backoff_strategy.cc",
        },
        DefaultFigure { what: "http[].timeout absent", value: "none", source: VIRTUAL_SERVICE },
        DefaultFigure { what: "retries.perTryTimeout absent", value: "none", source: VIRTUAL_SERVICE },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: VIRTUAL_SERVICE },
        DefaultFigure { what: "spec.gateways absent", value: "the sidecars of the mesh", source: VIRTUAL_SERVICE },
        DefaultFigure {
            what: "connectionPool.http.maxRetries absent",
            value: "4294967295 retries at a time: no limit",
            source: "istio/istio pilot/pkg/networking/core/cluster_traffic_policy.go",
        },
        DefaultFigure {
            what: "retryBudget.percent absent",
            value: "20 % of the active requests",
            source: DESTINATION_RULE,
        },
    ],
};

impl System for Istio {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        let objects: Vec<_> = unit
            .documents()
            .flat_map(|(file, root)| objects::of(root).into_iter().map(move |o| (file, o)))
            .filter(|(_, o)| o.version.starts_with("networking.istio.io/"))
            .collect();
        let before_1_24 = versions.is_before(ID, 1, 24);
        for (file, object) in &objects {
            match object.kind {
                "VirtualService" => routes::Reader::new(file, object, before_1_24).read(facts),
                "DestinationRule" => destinations::read(object, before_1_24, facts),
                "EnvoyFilter" => filters::read(object, before_1_24, facts),
                _ => {}
            }
        }
        for (_, root) in unit.documents() {
            let defaults = root.walk().filter_map(|node| node.entry("defaultHttpRetryPolicy"));
            for entry in defaults {
                let default = policy::mesh_default(entry, before_1_24, &mut facts.inert);
                facts.mesh_defaults.push(default);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        delegates::resolve(facts, ID);
        let (mine, rest): (Vec<_>, _) =
            std::mem::take(&mut facts.mesh_defaults).into_iter().partition(|d: &MeshDefaultFact| d.system == ID);
        facts.mesh_defaults = rest;
        // Meshes of several environments are alternatives; the worst counts.
        let tries = |d: &&MeshDefaultFact| d.attempts.value().copied().and_then(Attempts::count);
        if let Some(worst) = mine.iter().rev().max_by_key(tries) {
            take_default(worst, facts);
        }
        // Several files can say that a host is in the mesh.
        let mut seen = BTreeSet::new();
        facts.layers.retain(|l| !is_fallback(l) || seen.insert(l.id.clone()));
        drop_bytes(facts);
        filters::apply(facts);
        destinations::budgets_of_subsets(facts);
        upstreams::resolve(facts, ID);
    }
}

/// What a route without retries of its own has in a mesh without a default of its own.
pub(in crate::systems) fn default_policy(opens: Span, before_1_24: bool) -> Policy {
    policy::absent(opens, before_1_24)
}

fn is_fallback(layer: &Layer) -> bool {
    layer.system == ID && matches!(layer.scope, Scope::Hops { fallback: true, .. })
}

/// Takes the default away from hosts whose ports carry no HTTP: Istio makes no routes for them.
fn drop_bytes(facts: &mut Facts) {
    let services = &facts.services;
    let is_bytes = |host: &HostRef| {
        let ports = protocols::ports(host, services);
        !ports.is_empty() && ports.into_iter().all(protocols::is_bytes_to_istio)
    };
    facts.layers.retain(|l| !is_fallback(l) || !matches!(&l.scope, Scope::Hops { to, .. } if to.iter().all(is_bytes)));
}

/// Puts the mesh's own default where a route has none; one that switches retries off takes the layers of hosts
/// without a route of their own away.
fn take_default(default: &MeshDefaultFact, facts: &mut Facts) {
    let off = matches!(default.attempts.value(), Some(Attempts::Count(1)));
    facts.layers.retain(|l| !(off && is_fallback(l)));
    // A route that asks for retries, and leaves only their number open, has none of the mesh's policy.
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID && l.attempts.is_default() && !l.asked_for) {
        layer.attempts = default.attempts.clone();
        layer.asked_for = true;
        layer.wait = default.wait.clone();
        layer.wait_place = default.wait_place;
        layer.retries = default.retries.clone();
        layer.per_try = policy::effective(default.per_try.clone(), layer.overall.as_ref());
        layer.reading = format!("{}, with {}", layer.name, default.reading);
        layer.labels.push((default.span, default.reading.clone()));
    }
}
