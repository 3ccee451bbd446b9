//! Consul service mesh: service-router entries, as custom resources and as configuration entries, and retry filters of
//! the API gateway.

use crate::facts::{AttachedPolicyFact, Facts, ObjectRef};
use crate::model::{Advice, HostRef, Inert, Layer, LayerKind, Methods, Scope, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::objects;
use crate::systems::retry_on::{self, Around};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Consul.
pub struct Consul;

const ID: &str = "consul";
const ROUTES: &str = "hashicorp/consul agent/xds/routes.go";
const FILTER: &str = "hashicorp/consul-k8s control-plane/api/v1alpha1/routeretryfilter_types.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Consul",
    reads: "service-router: ServiceRouter resources and configuration entries (HCL, JSON, YAML); RouteRetryFilter",
    marks: &["consul.hashicorp.com/", "service-router"],
    defaults: &[
        DefaultFigure { what: "a route without settings for retries", value: "1 attempt", source: ROUTES },
        DefaultFigure {
            what: "NumRetries absent or 0, with a condition",
            value: "2 attempts (1 retry)",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "NumRetries without a condition", value: "1 attempt", source: ROUTES },
        DefaultFigure {
            what: "wait",
            value: "25 ms, doubling, at most 250 ms; there is no such setting",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "RequestTimeout absent",
            value: "15 s over all tries and waits",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure {
            what: "limit on one try",
            value: "none; a request that takes too long is not retried",
            source: ROUTES,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: ROUTES },
    ],
};

impl System for Consul {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("consul.hashicorp.com/")) {
                let Some(spec) = object.spec(&[]) else { continue };
                match object.kind {
                    "ServiceRouter" => router(object.name, object.name_span, spec, facts),
                    "RouteRetryFilter" => {
                        let target = ObjectRef {
                            kind: object.kind.to_string(),
                            namespace: object.namespace.map(str::to_string),
                            name: object.name.to_string(),
                            section: None,
                            span: object.name_span,
                        };
                        let id = format!("{ID}:filter:{}", object.qualified());
                        filter(id, target, spec, facts);
                    }
                    _ => {}
                }
            }
            for entry in entries(root) {
                if let Some(name) = get(entry, "name")
                    && let Some(text) = name.as_str()
                {
                    router(text, name.span, entry, facts);
                }
            }
        }
    }
}

/// A field in any of its spellings: `NumRetries`, `num_retries`, `numRetries`.
fn entry<'n>(node: &'n Node, field: &str) -> Option<&'n Entry> {
    node.entry_relaxed(field).filter(|e| !e.value.is_null())
}

fn get<'n>(node: &'n Node, field: &str) -> Option<&'n Node> {
    entry(node, field).map(|e| &*e.value)
}

/// The configuration entries of a file: the file itself, a list, or those with which a server starts.
fn entries(root: &Node) -> Vec<&Node> {
    let bootstrap = get(root, "configentries").and_then(|e| get(e, "bootstrap")).map_or(&[][..], Node::items);
    let all = root.items().iter().chain(bootstrap).map(|n| &**n).chain([root]);
    let is_router =
        |n: &&Node| n.get("apiVersion").is_none() && get(n, "kind").and_then(Node::as_str) == Some("service-router");
    all.filter(is_router).collect()
}

/// One layer for each route that has settings for retries.
fn router(name: &str, name_span: Span, fields: &Node, facts: &mut Facts) {
    let routes = get(fields, "routes").map_or(&[][..], Node::items);
    let mut ids = Ids::default();
    for (i, route) in routes.iter().enumerate() {
        let Some(key) = entry(route, "destination") else { continue };
        let title = matched(route).map_or_else(|| (i + 1).to_string(), str::to_string);
        let title = format!("Consul service-router {name}, route {title}");
        let mut inert = Vec::new();
        let policy = policy(key, &mut inert);
        facts.inert.extend(inert.into_iter().map(|i| i.of(&title)));
        let Some(policy) = policy else { continue };
        // Callers name the router's service, wherever the route then leads.
        let target = get(&key.value, "service");
        let to = target.and_then(|n| settings::host(n.as_str()?, n.span, None));
        let to = to.into_iter().chain(settings::host(name, name_span, None));
        let id = ids.next(format!("{ID}:router:{name}:{}", i + 1));
        let identity = Identity { system: ID, kind: LayerKind::Mesh, id, name: title, opens: key.key_span };
        let methods = methods(route);
        facts.layers.push(Layer {
            overall: overall(&key.value),
            methods,
            advice: advice(),
            ..envoy_based::layer(identity, envoy_based::from_sidecars(distinct(to)), policy)
        });
    }
}

fn distinct(hosts: impl Iterator<Item = HostRef>) -> Vec<HostRef> {
    settings::distinct(hosts)
}

/// `None` where nothing concerns retries.
fn policy(key: &Entry, inert: &mut Vec<Inert>) -> Option<Policy> {
    let node = &*key.value;
    let count = entry(node, "numretries");
    let connect = entry(node, "retryonconnectfailure").filter(|e| e.value.as_bool() == Some(true));
    let codes = entry(node, "retryonstatuscodes");
    let listed = entry(node, "retryon");
    let mut words = envoy_based::words(listed.map(|e| &*e.value));
    words.extend(connect.map(|e| ("connect-failure", e.key_span)));
    let statuses = envoy_based::codes(codes.map(|e| &*e.value));
    words.extend(codes.filter(|_| !statuses.is_empty()).map(|e| ("retriable-status-codes", e.key_span)));
    let is_zero = count.is_none_or(|e| e.value.as_int() == Some(0));
    if words.is_empty() && is_zero {
        return None;
    }
    let mut on = retry_on::read(&words, &statuses, Around::default());
    on.inert.iter_mut().filter(|i| i.why.contains("knows no such condition")).for_each(|i| {
        i.why = "it is none of the conditions that Consul takes, and it refuses the entry".to_string();
    });
    // Zero is passed on as nothing.
    let count = Count::of(count.filter(|_| !is_zero), key, envoy_based::one_retry());
    Some(Policy::new(count, key, listed, on, inert))
}

fn matched(route: &Node) -> Option<&str> {
    let http = get(get(route, "match")?, "http")?;
    ["pathprefix", "pathexact", "pathregex"].iter().find_map(|key| get(http, key)?.as_str())
}

fn methods(route: &Node) -> Methods {
    let named = get(route, "match").and_then(|m| get(get(m, "http")?, "methods"));
    let named = named.map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str());
    let named: Vec<String> = named.map(str::to_uppercase).collect();
    if named.is_empty() { Methods::Any } else { Methods::Only(named) }
}

/// 15 s unless the route says otherwise; a negative one lifts the limit.
fn overall(destination: &Node) -> Option<Setting<std::time::Duration>> {
    match get(destination, "requesttimeout") {
        Some(node) if node.as_str().is_some_and(|t| t.trim().starts_with('-')) => None,
        Some(node) => settings::limit(node, go).or_else(|| Some(envoy_based::default_overall())),
        None => Some(envoy_based::default_overall()),
    }
}

/// A filter of the API gateway, which routes refer to.
fn filter(id: String, target: ObjectRef, spec: &Node, facts: &mut Facts) {
    let name = format!("Consul RouteRetryFilter {}", target.name);
    let Some(first) = spec.entries().first() else { return };
    let key = entry(spec, "numretries").unwrap_or(first);
    let mut inert = Vec::new();
    // The fields stand at the top, as those of a destination do.
    let block = Entry { key: "spec".into(), key_span: key.key_span, value: std::sync::Arc::new(spec.clone()) };
    let policy = policy(&block, &mut inert);
    facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
    let Some(policy) = policy else { return };
    let identity = Identity { system: ID, kind: LayerKind::Gateway, id: id.into(), name, opens: key.key_span };
    let layer = envoy_based::layer(identity, Scope::Code, policy);
    let retry_after = Setting::default(false, FILTER);
    facts.attached.push(AttachedPolicyFact {
        system: ID,
        targets: vec![target],
        layer: Some(Box::new(Layer { retry_after, advice: advice(), ..layer })),
        overall: None,
        budget: None,
    });
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the conditions out (a `NumRetries` of 0 counts as 1)"),
        fewer: some("set a smaller `NumRetries`"),
        statuses: some("name in `RetryOnStatusCodes` only what can pass, such as 503"),
        pass_on: some("take 429 and 503 out"),
        ..Advice::default()
    }
}
