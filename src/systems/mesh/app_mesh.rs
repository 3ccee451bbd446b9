//! AWS App Mesh: routes of virtual routers, as Kubernetes objects, in CloudFormation, and as the API takes them.

use std::time::Duration;

use crate::facts::{Facts, PolicyUseFact, UpstreamFact};
use crate::model::{
    Advice, Attempts, Callers, Conditions, Confidence, HostRef, Inert, Layer, LayerKind, Methods, Mode, ModeSet, Pick,
    Scope, Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, terraform, upstreams};

/// AWS App Mesh.
pub struct AppMesh;

const ID: &str = "app-mesh";
const TYPES: &str = "aws/aws-app-mesh-controller-for-k8s apis/appmesh/v1beta2/virtualrouter_types.go";
const API: &str = "App Mesh API reference HttpRetryPolicy";
const GUIDE: &str = "App Mesh user guide, Envoy defaults set by App Mesh";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "AWS App Mesh",
    reads: "VirtualRouter, VirtualNode and VirtualService (Kubernetes), AWS::AppMesh::Route (CloudFormation), \
            aws_appmesh_route (Terraform), routes as the API takes them",
    marks: &["appmesh.k8s.aws/", "AWS::AppMesh::", "httpRetryEvents", "grpcRetryEvents", "aws_appmesh_route"],
    defaults: &[
        DefaultFigure {
            what: "no retryPolicy on a route",
            value: "3 attempts (2 retries), in accounts whose first mesh is of 2020-07-29 or later",
            source: GUIDE,
        },
        DefaultFigure {
            what: "what is retried without a retryPolicy",
            value: "refused connections, 503, gRPC 14",
            source: GUIDE,
        },
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
        for (file, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("appmesh.k8s.aws/")) {
                match object.kind {
                    "VirtualRouter" => {
                        let routes = object.spec(&["routes"]).map_or(&[][..], Node::items);
                        let title = format!("App Mesh VirtualRouter {}", object.name);
                        let mut reader = Reader::new(file, title, object.qualified(), Some(object));
                        routes.iter().for_each(|route| reader.route(route, facts));
                    }
                    "VirtualNode" => facts.upstreams.extend(node(&object)),
                    "VirtualService" => virtual_service(&object, facts),
                    _ => {}
                }
            }
            for resource in root.get("Resources").map_or(&[][..], Node::entries) {
                if resource.value.get("Type").and_then(Node::as_str) == Some("AWS::AppMesh::Route")
                    && let Some(spec) = resource.value.at(&["Properties", "Spec"])
                {
                    let title = format!("App Mesh route {}", resource.key);
                    Reader::new(file, title, resource.key.to_string(), None).route(spec, facts);
                }
            }
            if let (Some(name), Some(spec), None) = (root.get("routeName"), root.get("spec"), root.get("apiVersion")) {
                let name = name.as_str().unwrap_or("without a name");
                let title = format!("App Mesh route {name}");
                Reader::new(file, title, name.to_string(), None).route(spec, facts);
            }
        }
        for resource in terraform::resources(unit, "aws_appmesh_route") {
            if let Some((spec, file)) = resource.body.get("spec").zip(resource.file(unit)) {
                let title = format!("App Mesh route {}", resource.name());
                Reader::new(file, title, resource.name().to_string(), None).route(spec, facts);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        let (mine, rest): (Vec<_>, _) =
            std::mem::take(&mut facts.policy_uses).into_iter().partition(|u: &PolicyUseFact| u.system == ID);
        facts.policy_uses = rest;
        // Callers name the virtual service, wherever its router then leads.
        for used in mine {
            for layer in facts.layers.iter_mut().filter(|l| l.system == ID && l.id.starts_with(&*used.policy)) {
                if let Scope::Hops { to, .. } = &mut layer.scope {
                    to.extend(used.to.iter().cloned());
                }
            }
        }
        upstreams::resolve(facts, ID);
    }
}

/// A virtual service: the name of a router, or of a node, to which the default policy then holds.
fn virtual_service(object: &Object<'_>, facts: &mut Facts) {
    let name = object.spec(&["awsName"]).and_then(|n| Some((n.as_str()?, n.span)));
    let (text, span) = name.unwrap_or((object.name, object.name_span));
    let Some(host) = settings::host(text, span, object.namespace) else { return };
    let named = |path: &[&str]| object.spec(&["provider"])?.at(path)?.as_str();
    if let Some(router) = named(&["virtualRouter", "virtualRouterRef", "name"]) {
        let namespace = named(&["virtualRouter", "virtualRouterRef", "namespace"]).or(object.namespace);
        let router = namespace.map_or_else(|| router.to_string(), |n| format!("{n}/{router}"));
        facts.policy_uses.push(PolicyUseFact {
            system: ID,
            policy: format!("{ID}:route:{router}:"),
            from: None,
            to: vec![host],
            others: Vec::new(),
            span,
        });
    } else if named(&["virtualNode", "virtualNodeRef", "name"]).is_some() {
        let name = format!("App Mesh's default policy for {}", object.name);
        let from = Callers { gateways: Vec::new(), mesh: true };
        let scope = Scope::Hops { from, to: vec![host], fallback: true };
        let id = format!("{ID}:default:{}", object.qualified()).into();
        let identity = Identity { system: ID, kind: LayerKind::Mesh, id, name, opens: span };
        let layer = envoy_based::layer(identity, scope, absent(span));
        let overall = Some(Setting::default(Duration::from_secs(15), TYPES));
        facts.layers.push(implicit(Layer { overall, ..layer }));
    }
}

/// What a route has without a policy. The accounts that were there before have none, which nothing in a repository tells.
fn absent(opens: Span) -> Policy {
    let modes: ModeSet = [Mode::Refused, Mode::Status(503), Mode::Grpc(14)].into_iter().collect();
    let pick = Pick { modes, span: opens, text: "App Mesh's default conditions".to_string() };
    Policy {
        count: Count { attempts: Setting::default(Attempts::Count(3), GUIDE), reading: String::new(), place: opens },
        wait: unknown_wait(),
        conditions: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
        per_try: None,
    }
}

fn implicit(layer: Layer) -> Layer {
    Layer {
        jitter: unknown_jitter(),
        retry_after: Setting::unknown("App Mesh sets the policy and does not say", None),
        asked_for: false,
        confidence: Confidence::Medium,
        reading: format!("{}, which sets no `retryPolicy`", layer.name),
        advice: advice(),
        ..layer
    }
}

fn unknown_wait() -> (Wait, Option<Span>) {
    (Wait::Unknown { why: "App Mesh sets it and does not say how".to_string() }, None)
}

fn unknown_jitter() -> Setting<crate::model::Jitter> {
    Setting::unknown("App Mesh sets the waits and does not say how", None)
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
    file: &'a SourceFile,
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

impl<'a> Reader<'a> {
    fn new(file: &'a SourceFile, title: String, id: String, object: Option<Object<'a>>) -> Self {
        Self { file, title, id, ids: Ids::default(), object }
    }

    fn route(&mut self, route: &Node, facts: &mut Facts) {
        for kind in ["httpRoute", "http2Route", "grpcRoute"] {
            let Some(body) = get(route, kind) else { continue };
            let own = entry(body, "retryPolicy");
            let name = match get(route, "name").and_then(Node::as_str) {
                Some(route) => format!("{}, route {route}", self.title),
                None => self.title.clone(),
            };
            let action = get(body, "action").into_iter();
            let targets = action.flat_map(|a| terraform::repeated(a, &["weightedTargets", "weightedTarget"]));
            let to = settings::distinct(targets.filter_map(|t| self.target(t)));
            let overall = match get(body, "timeout").and_then(|t| get(t, "perRequest")) {
                Some(node) => limit(node),
                None => Some(Setting::default(Duration::from_secs(15), TYPES)),
            };
            let opens = own.map_or_else(|| settings::opening(self.file, route), |key| key.key_span);
            let mut inert = Vec::new();
            let policy = own.map_or_else(|| absent(opens), |key| policy(key, overall.as_ref(), &mut inert));
            facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
            let id = self.ids.next(format!("{ID}:route:{}:{kind}", self.id));
            let identity = Identity { system: ID, kind: LayerKind::Mesh, id, name, opens };
            let layer = Layer {
                jitter: unknown_jitter(),
                overall,
                methods: methods(body),
                advice: advice(),
                ..envoy_based::layer(identity, envoy_based::from_sidecars(to), policy)
            };
            facts.layers.push(if own.is_some() { layer } else { implicit(layer) });
        }
    }

    fn target(&self, target: &Node) -> Option<HostRef> {
        if get(target, "weight").and_then(Node::as_int) == Some(0) {
            return None;
        }
        let name = get(target, "virtualNodeRef").and_then(|r| r.get("name")).or_else(|| get(target, "virtualNode"))?;
        settings::host(terraform::name(name)?, name.span, self.object.and_then(|o| o.namespace))
    }
}

fn policy(key: &Entry, overall: Option<&Setting<Duration>>, inert: &mut Vec<Inert>) -> Policy {
    let per_try = envoy_based::per_try(entry(&key.value, "perRetryTimeout"), overall, time, inert);
    let missing = Setting::unknown("`maxRetries` is missing", None);
    Policy {
        count: Count::of(entry(&key.value, "maxRetries"), key, missing),
        wait: unknown_wait(),
        conditions: conditions(&key.value, per_try.is_some(), inert),
        per_try,
    }
}

fn limit(node: &Node) -> Option<Setting<Duration>> {
    settings::limit(node, time)
}

/// `{unit: ms, value: 2000}`
fn time(node: &Node) -> Option<Duration> {
    let value = get(node, "value")?.as_f64()?;
    match get(node, "unit")?.as_str()? {
        "s" => duration::millis(value * 1e3),
        "ms" => duration::millis(value),
        _ => None,
    }
}

fn conditions(policy: &Node, timeouts: bool, inert: &mut Vec<Inert>) -> Conditions {
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
            "stream-error" => continue,
            other => {
                let why = "App Mesh knows no such event";
                inert.push(Inert::new(span, format!("`{}`", settings::shown(other)), why));
                continue;
            }
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
        none: some("set `maxRetries: 0`"),
        statuses: some("name in `httpRetryEvents` only what can pass: `gateway-error`, `stream-error`"),
        ..Advice::default()
    }
}
