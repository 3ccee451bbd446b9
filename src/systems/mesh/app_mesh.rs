//! AWS App Mesh: routes of virtual routers, as Kubernetes objects, in CloudFormation, and as the API takes them.

use std::time::Duration;

use crate::facts::{Facts, UpstreamFact};
use crate::model::{Advice, Conditions, HostRef, Layer, LayerKind, Methods, Mode, ModeSet, Pick, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, upstreams};

/// AWS App Mesh.
pub struct AppMesh;

const ID: &str = "app-mesh";
const TYPES: &str = "aws/aws-app-mesh-controller-for-k8s apis/appmesh/v1beta2/virtualrouter_types.go";
const API: &str = "App Mesh API reference HttpRetryPolicy";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "AWS App Mesh",
    reads: "VirtualRouter and VirtualNode (Kubernetes), AWS::AppMesh::Route (CloudFormation), routes as the API takes them",
    marks: &["appmesh.k8s.aws/", "AWS::AppMesh::", "httpRetryEvents", "grpcRetryEvents"],
    defaults: &[
        DefaultFigure { what: "maxRetries: 0", value: "1 attempt", source: API },
        DefaultFigure { what: "timeout.perRequest absent", value: "15 s over all tries and waits", source: TYPES },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: API },
        DefaultFigure { what: "wait", value: "not documented; there is no such setting", source: API },
    ],
};

impl System for AppMesh {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("appmesh.k8s.aws/")) {
                match object.kind {
                    "VirtualRouter" => {
                        let routes = object.spec(&["routes"]).map_or(&[][..], Node::items);
                        let title = format!("App Mesh VirtualRouter {}", object.name);
                        let mut reader =
                            Reader { title, id: object.qualified(), ids: Ids::default(), object: Some(object) };
                        routes.iter().for_each(|route| reader.route(route, facts));
                    }
                    "VirtualNode" => facts.upstreams.extend(node(&object)),
                    _ => {}
                }
            }
            for resource in root.get("Resources").map_or(&[][..], Node::entries) {
                if resource.value.get("Type").and_then(Node::as_str) == Some("AWS::AppMesh::Route")
                    && let Some(spec) = resource.value.at(&["Properties", "Spec"])
                {
                    let title = format!("App Mesh route {}", resource.key);
                    Reader { title, id: resource.key.to_string(), ids: Ids::default(), object: None }
                        .route(spec, facts);
                }
            }
            if let (Some(name), Some(spec), None) = (root.get("routeName"), root.get("spec"), root.get("apiVersion")) {
                let name = name.as_str().unwrap_or("without a name");
                let title = format!("App Mesh route {name}");
                Reader { title, id: name.to_string(), ids: Ids::default(), object: None }.route(spec, facts);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        upstreams::resolve(facts, ID);
    }
}

/// What a virtual node is called in the network.
fn node(object: &Object<'_>) -> Option<UpstreamFact> {
    let host = object.spec(&["serviceDiscovery", "dns", "hostname"]);
    let to = host.and_then(|n| settings::host(n.as_str()?, n.span, object.namespace));
    Some(UpstreamFact {
        system: ID,
        name: object.name.to_lowercase(),
        namespace: object.namespace.map(str::to_string),
        to: to.into_iter().collect(),
        budget: None,
        span: object.name_span,
    })
}

struct Reader<'a> {
    title: String,
    id: String,
    ids: Ids,
    object: Option<Object<'a>>,
}

/// A field, with a small first letter or, in CloudFormation, a capital one.
fn entry<'n>(node: &'n Node, field: &str) -> Option<&'n Entry> {
    node.entry_relaxed(field).filter(|e| !e.value.is_null())
}

fn get<'n>(node: &'n Node, field: &str) -> Option<&'n Node> {
    entry(node, field).map(|e| &*e.value)
}

impl Reader<'_> {
    fn route(&mut self, route: &Node, facts: &mut Facts) {
        for kind in ["httpRoute", "http2Route", "grpcRoute"] {
            let Some(body) = get(route, kind) else { continue };
            let Some(key) = entry(body, "retryPolicy") else { continue };
            let name = match get(route, "name").and_then(Node::as_str) {
                Some(route) => format!("{}, route {route}", self.title),
                None => self.title.clone(),
            };
            let targets = get(body, "action").and_then(|a| get(a, "weightedTargets")).map_or(&[][..], Node::items);
            let to = settings::distinct(targets.iter().filter_map(|t| self.target(t)));
            let per_try = get(&key.value, "perRetryTimeout").and_then(limit);
            let overall = match get(body, "timeout").and_then(|t| get(t, "perRequest")) {
                Some(node) => limit(node),
                None => Some(Setting::default(Duration::from_secs(15), TYPES)),
            };
            let policy = Policy {
                count: Count::of(
                    entry(&key.value, "maxRetries"),
                    key,
                    Setting::unknown("`maxRetries` is missing", None),
                ),
                wait: (Wait::Unknown { why: "App Mesh sets it and does not say how".to_string() }, None),
                conditions: conditions(&key.value, per_try.is_some()),
                per_try,
            };
            let id = self.ids.next(format!("{ID}:route:{}:{kind}", self.id));
            let identity = Identity { system: ID, kind: LayerKind::Mesh, id, name, opens: key.key_span };
            let layer = envoy_based::layer(identity, envoy_based::from_sidecars(to), policy);
            facts.layers.push(Layer {
                jitter: Setting::unknown("App Mesh sets the waits and does not say how", None),
                overall,
                methods: methods(body),
                advice: advice(),
                ..layer
            });
        }
    }

    fn target(&self, target: &Node) -> Option<HostRef> {
        if get(target, "weight").and_then(Node::as_int) == Some(0) {
            return None;
        }
        let name = get(target, "virtualNodeRef").and_then(|r| r.get("name")).or_else(|| get(target, "virtualNode"))?;
        settings::host(name.as_str()?, name.span, self.object.and_then(|o| o.namespace))
    }
}

fn limit(node: &Node) -> Option<Setting<Duration>> {
    let read = |node: &Node| {
        let value = get(node, "value")?.as_f64()?;
        match get(node, "unit")?.as_str()? {
            "s" => duration::millis(value * 1e3),
            "ms" => duration::millis(value),
            _ => None,
        }
    };
    settings::limit(node, read)
}

fn conditions(policy: &Node, timeouts: bool) -> Conditions {
    let mut out = Conditions::default();
    let resets = if timeouts { ModeSet::transport() } else { one(Mode::Refused) };
    let events = ["httpRetryEvents", "tcpRetryEvents", "grpcRetryEvents"];
    let events = events.iter().flat_map(|list| envoy_based::words(get(policy, list)));
    for (event, span) in events {
        let modes = match event {
            "server-error" => ModeSet::statuses((500..=508).chain([510, 511])).union(resets),
            "gateway-error" => ModeSet::statuses(502..=504).union(resets),
            "client-error" => ModeSet::statuses([409]),
            "connection-error" => one(Mode::Refused),
            "cancelled" => one(Mode::Grpc(1)),
            "deadline-exceeded" => one(Mode::Grpc(4)),
            "resource-exhausted" => one(Mode::Grpc(8)),
            "internal" => one(Mode::Grpc(13)),
            "unavailable" => one(Mode::Grpc(14)),
            _ => continue,
        };
        pick(&mut out, modes, span, event);
    }
    out
}

fn one(mode: Mode) -> ModeSet {
    [mode].into_iter().collect()
}

fn pick(out: &mut Conditions, modes: ModeSet, span: Span, event: &str) {
    out.yes = out.yes.union(modes);
    out.picks.push(Pick { modes, span, text: format!("`{event}`") });
}

fn methods(body: &Node) -> Methods {
    match get(body, "match").and_then(|m| get(m, "method")).and_then(Node::as_str) {
        Some(method) if method.chars().all(|c| c.is_ascii_alphabetic()) => Methods::Only(vec![method.to_uppercase()]),
        _ => Methods::Any,
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        fewer: some("set `maxRetries: 0`"),
        statuses: some("name in `httpRetryEvents` only what can pass: `gateway-error`, `stream-error`"),
        ..Advice::default()
    }
}
