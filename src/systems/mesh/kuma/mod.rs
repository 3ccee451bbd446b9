//! Kuma and Kong Mesh: MeshRetry, the older Retry, and the policy that every mesh gets by itself.

mod legacy;
mod policy;
mod retry;

use std::collections::BTreeSet;

use crate::facts::{Facts, LimitFact, SwitchFact, UpstreamFact};
use crate::model::{
    Advice, Attempts, Callers, GatewayName, HostRef, Inert, Layer, LayerKind, Scope, Setting, Unresolved,
};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::envoy_based::{self, Count, Identity, Policy};
use crate::systems::retry_on;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, protocols, settings, upstreams};

/// Kuma.
pub struct Kuma;

const ID: &str = "kuma";
const DEFAULTS: &str = "kumahq/kuma pkg/defaults/mesh/meshretry.go";
const CONFIGURER: &str = "kumahq/kuma pkg/plugins/policies/meshretry/plugin/xds/configurer.go";
const TIMEOUT: &str = "kumahq/kuma pkg/defaults/mesh/meshtimeout.go";
const FALLBACK: &str = "kuma:default:";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kuma, Kong Mesh",
    reads: "MeshRetry and Retry, as Kubernetes and universal resources; which hosts are in the mesh from its other policies",
    marks: &["kuma.io/", "type: MeshRetry", "type: Retry", "type: Mesh", "\"MeshRetry\"", "\"Retry\""],
    defaults: &[
        DefaultFigure {
            what: "no MeshRetry for a host of the mesh",
            value: "6 attempts (5 retries), by the policy that a new mesh gets",
            source: DEFAULTS,
        },
        DefaultFigure {
            what: "skipCreatingInitialPolicies of * or MeshRetry",
            value: "1 attempt",
            source: "kumahq/kuma pkg/defaults/mesh/mesh.go",
        },
        DefaultFigure {
            what: "http.numRetries absent in a policy",
            value: "2 attempts (1 retry)",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure {
            what: "http.retryOn absent, or without a condition",
            value: "502-504 and every transport fault",
            source: CONFIGURER,
        },
        DefaultFigure {
            what: "grpc.retryOn absent",
            value: "gRPC 1, 8 and 14, 502-504 and every transport fault",
            source: CONFIGURER,
        },
        DefaultFigure {
            what: "backOff absent",
            value: "25 ms, doubling, at most 250 ms",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure {
            what: "backOff.maxInterval absent",
            value: "10 times baseInterval",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure { what: "MeshTimeout absent", value: "15 s over all tries and waits", source: TIMEOUT },
        DefaultFigure { what: "rateLimitedBackOff absent", value: "Retry-After is ignored", source: CONFIGURER },
        DefaultFigure {
            what: "connectionLimits.maxRetries absent",
            value: "3 retries at a time, which does not lower what one request causes",
            source: "kumahq/kuma pkg/defaults/mesh/meshcircuitbreaker.go",
        },
    ],
};

/// A resource, in either form.
struct Resource<'n> {
    kind: &'n str,
    name: &'n str,
    name_span: Span,
    namespace: Option<&'n str>,
    spec: &'n Node,
}

impl<'n> Resource<'n> {
    /// A Kubernetes object, or a universal resource, whose older kinds have their fields at the top.
    fn of(root: &'n Node) -> Option<Self> {
        if let Some(version) = root.get("apiVersion").and_then(Node::as_str) {
            let name = root.at(&["metadata", "name"])?;
            let spec = root.get("spec").unwrap_or(root);
            let namespace = root.at(&["metadata", "namespace"]).and_then(Node::as_str);
            let kind = root.get("kind")?.as_str()?;
            let is_kuma = version.starts_with("kuma.io/");
            return is_kuma.then_some(Self { kind, name: name.as_str()?, name_span: name.span, namespace, spec });
        }
        let (kind, name) = (root.get("type")?.as_str()?, root.get("name")?);
        let known = kind.starts_with("Mesh") || kind == "Retry" && root.get("conf").is_some();
        let spec = root.get("spec").unwrap_or(root);
        known.then_some(Self { kind, name: name.as_str()?, name_span: name.span, namespace: None, spec })
    }

    fn qualified(&self) -> String {
        self.namespace.map_or_else(|| self.name.to_string(), |n| format!("{n}/{}", self.name))
    }
}

impl System for Kuma {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            let Some(resource) = Resource::of(root) else { continue };
            match resource.kind {
                "MeshRetry" => retry::read(&resource, facts),
                "Retry" => legacy::read(&resource, facts),
                "Mesh" => facts.switches.extend(initial_policies(&resource)),
                "MeshHTTPRoute" => facts.upstreams.push(route(&resource)),
                "MeshTimeout" => facts.limits.extend(limits(&resource)),
                _ => {}
            }
            for target in resource.spec.get("to").map_or(&[][..], Node::items) {
                if let Some(to) = target.get("targetRef").and_then(|t| host(t, resource.namespace)) {
                    facts.layers.push(fallback(to));
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        let (meshes, rest): (Vec<_>, _) = std::mem::take(&mut facts.switches).into_iter().partition(|s| s.system == ID);
        facts.switches = rest;
        resolve_routes(facts);
        drop_bytes(facts);
        let mut seen = BTreeSet::new();
        facts.layers.retain(|l| !is_fallback(l) || seen.insert(l.id.clone()));
        if !whole_mesh(facts) && !meshes.is_empty() && meshes.iter().all(|m| !m.on) {
            facts.layers.retain(|l| !is_fallback(l));
        }
        apply_limits(facts);
    }
}

/// The limits that a MeshTimeout sets.
fn limits(resource: &Resource<'_>) -> Vec<LimitFact> {
    let from = resource.spec.get("targetRef").filter(|t| t.get("kind").and_then(Node::as_str) != Some("Mesh"));
    let from = from.map(|target| callers(Some(target)));
    let limit = |target: &Node| {
        let node = target.at(&["default", "http", "requestTimeout"])?;
        let to = target.get("targetRef").filter(|t| t.get("kind").and_then(Node::as_str) != Some("Mesh"));
        let to = match to {
            // What it names otherwise, such as a route, are not all requests to a host.
            Some(to) => vec![host(to, resource.namespace)?],
            None => Vec::new(),
        };
        let limit = settings::limit(node, envoy_based::go);
        Some(LimitFact { system: ID, from: from.clone(), to, limit, span: node.span })
    };
    resource.spec.get("to").map_or(&[][..], Node::items).iter().filter_map(|target| limit(target)).collect()
}

/// Gives each layer the limit of the MeshTimeout for its host, else of that for all, else the default one.
fn apply_limits(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
    facts.limits = rest;
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
        let Scope::Hops { from, to, .. } = &layer.scope else { continue };
        let names = |limit: &LimitFact| {
            let is = |a: &HostRef, b: &HostRef| {
                upstreams::same_name((&a.name, a.namespace.as_deref()), (&b.name, b.namespace.as_deref()))
            };
            limit.to.iter().any(|a| to.iter().any(|b| is(a, b)))
        };
        let nearest = mine.iter().find(|l| names(l)).or_else(|| mine.iter().find(|l| l.to.is_empty()));
        let overall = match nearest {
            None => Some(policy::default_overall()),
            Some(LimitFact { from: Some(others), span, .. }) if others != from => {
                Some(Setting::unknown("a MeshTimeout sets it for some of the callers", Some(*span)))
            }
            Some(limit) => limit.limit.clone(),
        };
        envoy_based::bound(layer, overall, "perTryTimeout", &mut facts.inert);
    }
}

/// Kuma makes no routes, and so no retries, for ports that carry neither HTTP/1 nor gRPC.
fn drop_bytes(facts: &mut Facts) {
    let services = &facts.services;
    let bytes = |layer: &Layer| {
        let all = targets(layer).iter().map(|host| {
            let ports = protocols::ports(host, services);
            ports.iter().all(|port| protocols::is_bytes_to_kuma(port)).then(|| ports.first().map(|p| p.span)).flatten()
        });
        all.collect::<Option<Vec<Span>>>().and_then(|spans| spans.first().copied())
    };
    facts.layers.retain(|l| !is_fallback(l) || bytes(l).is_none());
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID && l.is_active()) {
        let Some(port) = bytes(layer) else { continue };
        let why =
            "Kuma retries only what a port with `appProtocol: http` or `grpc` carries, and takes the rest for TCP";
        facts.inert.push(
            Inert::new(layer.opens, "the policy", why)
                .of(&layer.name)
                .because(port, "a port of the Service")
                .instead("Set `appProtocol: http` or `grpc` on the ports of the Service"),
        );
        layer.attempts = Setting::written(Attempts::Count(1), layer.opens);
    }
}

fn is_fallback(layer: &Layer) -> bool {
    layer.system == ID && layer.id.starts_with(FALLBACK)
}

/// What marks the name of a route where a host stands otherwise.
const ROUTE: &str = "route ";

/// A route, by the services whose requests it takes.
fn route(resource: &Resource<'_>) -> UpstreamFact {
    let targets = resource.spec.get("to").map_or(&[][..], Node::items).iter();
    let hosts = targets.filter_map(|to| host(to.get("targetRef")?, resource.namespace));
    UpstreamFact {
        system: ID,
        name: format!("{ROUTE}{}", resource.name.to_lowercase()),
        namespace: None,
        to: settings::distinct(hosts),
        budget: None,
        span: resource.name_span,
    }
}

/// Puts the services of routes in the place of these. A policy for a route that is not in the files is on no hop.
fn resolve_routes(facts: &mut Facts) {
    upstreams::resolve(facts, ID);
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
        let Scope::Hops { from, to, .. } = &mut layer.scope else { continue };
        if let Some(route) = to.iter().find(|h| h.name.starts_with(ROUTE)) {
            facts.unresolved.push(Unresolved {
                span: route.span,
                what: format!("upstream of {}", layer.name),
                reason: "the MeshHTTPRoute that it is for is not in these files".to_string(),
            });
            (*from, *to) = (Callers::default(), Vec::new());
        }
    }
}

/// Whether a mesh gets its policies by itself.
fn initial_policies(mesh: &Resource<'_>) -> Option<SwitchFact> {
    let skipped = mesh.spec.get("skipCreatingInitialPolicies").map_or(&[][..], Node::items);
    let on = !skipped.iter().any(|n| matches!(n.as_str(), Some("*" | "MeshRetry")));
    Some(SwitchFact { system: ID, on, span: mesh.name_span })
}

/// The policy that a new mesh gets, for calls to a host that no other policy covers.
fn fallback(to: HostRef) -> Layer {
    let qualified = to.namespace.as_ref().map_or_else(|| to.name.clone(), |n| format!("{n}/{}", to.name));
    let opens = to.span;
    let policy = Policy {
        count: Count { attempts: Setting::default(Attempts::Count(6), DEFAULTS), reading: String::new(), place: opens },
        wait: envoy_based::default_wait(),
        conditions: policy::default_http(opens),
        per_try: Some(Setting::default(std::time::Duration::from_secs(16), DEFAULTS)),
    };
    let name = format!("Kuma's default policy for {}", to.name);
    let identity =
        Identity { system: ID, kind: LayerKind::Mesh, id: format!("{FALLBACK}{qualified}").into(), name, opens };
    let from = Callers { gateways: Vec::new(), mesh: true };
    let scope = Scope::Hops { from, to: vec![HostRef { port: None, ..to }], fallback: true };
    let layer = envoy_based::layer(identity, scope, policy);
    Layer {
        reading: layer.name.clone(),
        asked_for: false,
        overall: Some(policy::default_overall()),
        advice: advice(),
        ..layer
    }
}

/// Puts a policy for the whole mesh in the place of the one that the mesh gets by itself.
fn whole_mesh(facts: &mut Facts) -> bool {
    let hosts: Vec<HostRef> = facts.layers.iter().filter(|l| is_fallback(l)).flat_map(targets).cloned().collect();
    let Some(policy) = facts.layers.iter_mut().find(|l| is_for_all(l)) else { return false };
    if let Scope::Hops { to, fallback, .. } = &mut policy.scope
        && !hosts.is_empty()
    {
        (*to, *fallback) = (hosts, true);
    }
    facts.layers.retain(|l| !is_fallback(l));
    true
}

fn targets(layer: &Layer) -> &[HostRef] {
    match &layer.scope {
        Scope::Hops { to, .. } => to,
        _ => &[],
    }
}

/// Whether a policy is for everybody's calls to everybody.
fn is_for_all(layer: &Layer) -> bool {
    let open = matches!(&layer.scope, Scope::Hops { from, to, .. } if from.mesh && to.is_empty());
    layer.system == ID && open && layer.id.ends_with(":http")
}

/// The host that a `targetRef` of a destination names; `None` for the whole mesh and for routes.
fn host(target: &Node, namespace: Option<&str>) -> Option<HostRef> {
    let kind = target.get("kind")?.as_str()?;
    if !matches!(kind, "MeshService" | "MeshExternalService" | "MeshMultiZoneService") {
        return None;
    }
    let name = target.get("name")?;
    let namespace = target.get("namespace").and_then(Node::as_str).or(namespace.filter(|n| !is_system(n)));
    service(name.as_str()?, name.span, namespace)
}

fn is_system(namespace: &str) -> bool {
    matches!(namespace, "kuma-system" | "kong-mesh-system")
}

/// `api_shop_svc_8080` is the Service api in shop.
fn service(name: &str, span: Span, namespace: Option<&str>) -> Option<HostRef> {
    let parts: Vec<&str> = name.split('_').collect();
    match parts.as_slice() {
        [service, namespace, "svc", rest @ ..] => {
            let host = settings::host(service, span, Some(namespace))?;
            Some(HostRef { port: rest.first().and_then(|p| p.parse().ok()), ..host })
        }
        _ => settings::host(name, span, namespace),
    }
}

/// Whose requests a `targetRef` at the top means: everybody's, a gateway's, or those of some data planes.
fn callers(target: Option<&Node>) -> Callers {
    let everybody = Callers { gateways: Vec::new(), mesh: true };
    let Some(target) = target else { return everybody };
    let text = |key: &str| target.get(key).and_then(Node::as_str);
    let pairs = |key: &str| -> Vec<(String, String)> {
        let entries = target.get(key).map_or(&[][..], Node::entries).iter();
        entries.filter_map(|e| Some((e.key.to_string(), e.value.as_str()?.to_string()))).collect()
    };
    let named = |name: &str| {
        let short = name.split('_').next().unwrap_or(name);
        vec![("kuma.io/service".to_string(), short.to_string())]
    };
    let labels = match text("kind") {
        Some("Dataplane") => pairs("labels"),
        Some("MeshSubset") => pairs("tags"),
        Some("MeshService" | "MeshServiceSubset") => text("name").map(named).unwrap_or_default(),
        Some("MeshGateway") => {
            let gateway = text("name").map(|n| GatewayName::Named(n.to_string()));
            return Callers { gateways: gateway.into_iter().collect(), mesh: false };
        }
        _ => return everybody,
    };
    match labels.is_empty() {
        true => everybody,
        false => Callers { gateways: vec![GatewayName::Labelled(labels)], mesh: false },
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `numRetries: 0` in a MeshRetry for the host"),
        statuses: some("name in `retryOn` conditions that can pass, such as `ConnectFailure` and `GatewayError`"),
        retry_after: some(
            "add `rateLimitedBackOff: {resetHeaders: [{name: Retry-After, format: Seconds}]}` to the policy",
        ),
        ..Advice::default()
    }
}
