//! Open Service Mesh: Retry policies between service accounts.

use crate::facts::{Facts, SwitchFact};
use crate::model::{Advice, Callers, Confidence, GatewayName, Inert, Layer, LayerKind, Scope};
use crate::syntax::Node;
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::objects::{self, Object};
use crate::systems::retry_on::{self, Around};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Open Service Mesh.
pub struct OpenServiceMesh;

const ID: &str = "osm";
const TYPES: &str = "openservicemesh/osm pkg/apis/policy/v1alpha1/retry.go";
const VALUES: &str = "openservicemesh/osm charts/osm/values.yaml";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Open Service Mesh",
    reads: "Retry, and the flag in MeshConfig that switches it on",
    marks: &["openservicemesh.io/"],
    defaults: &[
        DefaultFigure { what: "no Retry", value: "1 attempt", source: TYPES },
        DefaultFigure {
            what: "featureFlags.enableRetryPolicy absent",
            value: "false: policies have no effect",
            source: VALUES,
        },
        DefaultFigure {
            what: "the cap of retryBackoffBaseInterval",
            value: "10 times the interval",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "limit on all tries together",
            value: "none",
            source: "openservicemesh/osm pkg/envoy/generator/rds/route_config.go",
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: TYPES },
    ],
};

impl System for OpenServiceMesh {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for object in objects::of(root) {
                let group = object.version.split('/').next().unwrap_or_default();
                match (group, object.kind) {
                    ("policy.openservicemesh.io", "Retry") => retry(&object, facts),
                    ("config.openservicemesh.io", "MeshConfig") => facts.switches.push(mesh_config(&object)),
                    _ => {}
                }
            }
        }
    }

    /// Without the flag the policies do nothing. Where the mesh's settings are not in the files it may be set.
    fn join(&self, facts: &mut Facts) {
        let (mine, rest): (Vec<_>, _) =
            std::mem::take(&mut facts.switches).into_iter().partition(|s: &SwitchFact| s.system == ID);
        facts.switches = rest;
        let off = !mine.is_empty() && mine.iter().all(|s| !s.on);
        for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
            if off {
                let why = "the feature flag `enableRetryPolicy` of the MeshConfig is not set, so nothing is retried";
                let found = Inert::new(layer.opens, "`retryPolicy`", why).of(&layer.name);
                facts.inert.push(found.instead("Set `spec.featureFlags.enableRetryPolicy: true`"));
                let off = Count::off(layer.place, layer.reading.clone());
                layer.attempts = off.attempts;
            } else if mine.is_empty() {
                layer.confidence = Confidence::Medium;
            }
        }
    }
}

fn mesh_config(object: &Object<'_>) -> SwitchFact {
    let flag = object.spec(&["featureFlags", "enableRetryPolicy"]);
    let on = flag.and_then(Node::as_bool) == Some(true);
    SwitchFact { system: ID, on, span: flag.map_or(object.name_span, |n| n.span) }
}

fn retry(object: &Object<'_>, facts: &mut Facts) {
    let Some(key) = object.spec(&[]).and_then(|s| s.entry("retryPolicy")) else { return };
    let name = format!("OSM Retry {}", object.name);
    let node = &*key.value;
    let mut inert = Vec::new();
    let per_try = envoy_based::per_try(node.entry("perTryTimeout"), None, go, &mut inert);
    let words = node.entry("retryOn");
    let listed = words.map(|e| settings::list(&e.value)).unwrap_or_default();
    let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
    let on = retry_on::read(&listed, &[], around);
    let count = Count::of(node.entry("numRetries"), key, envoy_based::one_retry());
    let mut policy = Policy::new(count, key, words, on, &mut inert);
    if let Some(base) = node.entry("retryBackoffBaseInterval") {
        policy.wait = envoy_based::wait(base, Some(&base.value), None, go);
    }
    policy.per_try = per_try;
    facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
    let destinations = object.spec(&["destinations"]).map_or(&[][..], Node::items).iter();
    let to = destinations.filter_map(|d| {
        let name = d.get("name")?;
        settings::host(name.as_str()?, name.span, d.get("namespace").and_then(Node::as_str).or(object.namespace))
    });
    let source = object.spec(&["source", "name"]).and_then(Node::as_str);
    // A service account is named as the application that has it, as far as anybody can tell.
    let gateways = source.map(|name| GatewayName::Labelled(vec![("app".to_string(), name.to_string())]));
    let from = Callers { mesh: gateways.is_none(), gateways: gateways.into_iter().collect() };
    let scope = Scope::Hops { from, to: settings::distinct(to), fallback: false };
    let id = format!("{ID}:retry:{}", object.qualified()).into();
    let identity = Identity { system: ID, kind: LayerKind::Mesh, id, name, opens: key.key_span };
    facts.layers.push(Layer { advice: advice(), ..envoy_based::layer(identity, scope, policy) });
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `numRetries: 0`"),
        statuses: some("name in `retryOn` only what can pass, such as `connect-failure,gateway-error`"),
        ..Advice::default()
    }
}
