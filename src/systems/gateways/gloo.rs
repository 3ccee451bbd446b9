//! Gloo Gateway, its own API: VirtualServices, RouteTables, and options that stand by themselves.

use std::time::Duration;

use super::gateway_api;
use crate::facts::{AttachedPolicyFact, DelegationFact, Facts, ObjectRef, RouteFact, RouteRuleFact};
use crate::model::{Advice, Attempts, Callers, GatewayName, HostRef, Inert, Layer, LayerKind, Methods, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::gateways::envoy;
use crate::systems::objects::{self, Object};
use crate::systems::retry_on::{self, Around};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, delegates};

/// Gloo Gateway.
pub struct Gloo;

const ID: &str = "gloo";
const PLUGIN: &str = "solo-io/gloo projects/gloo/pkg/plugins/basicroute/plugin.go";
const PROTO: &str = "solo-io/gloo projects/gloo/api/v1/options/retries/retries.proto";

/// What Gloo calls its proxy.
const PROXY: &str = "gateway-proxy";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Gloo Gateway (classic API)",
    reads: "VirtualService, RouteTable, RouteOption and VirtualHostOption of gateway.solo.io",
    marks: &["gateway.solo.io/"],
    defaults: &[
        DefaultFigure { what: "no options.retries", value: "1 attempt", source: PROTO },
        DefaultFigure { what: "retries.numRetries absent or 0", value: "2 attempts (1 retry)", source: PLUGIN },
        DefaultFigure { what: "retries.retryOn absent", value: "1 attempt", source: retry_on::RETRY_STATE },
        DefaultFigure {
            what: "retries.retryBackOff absent",
            value: "25 ms, doubling, at most 250 ms",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure {
            what: "retryBackOff.maxInterval absent",
            value: "10 times baseInterval",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "options.timeout absent",
            value: "15 s over all tries and waits",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "rateLimitedRetryBackOff absent", value: "Retry-After is ignored", source: PROTO },
    ],
};

impl System for Gloo {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("gateway.solo.io/")) {
                let mut reader = Reader { file, object, ids: Ids::default() };
                match object.kind {
                    "VirtualService" => reader.virtual_service(facts),
                    "RouteTable" => {
                        let from = delegates::placeholder(ID, object.qualified());
                        reader.routes(object.spec(&["routes"]), &from, (None, &[]), facts);
                    }
                    "RouteOption" | "VirtualHostOption" => reader.option(facts),
                    _ => {}
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        delegates::resolve(facts, ID);
    }
}

struct Reader<'a> {
    file: &'a SourceFile,
    object: Object<'a>,
    ids: Ids,
}

/// Both spellings of a field of a message.
fn entry<'n>(node: &'n Node, field: &str) -> Option<&'n Entry> {
    envoy::entry(node, field)
}

impl Reader<'_> {
    fn virtual_service(&mut self, facts: &mut Facts) {
        let Some(host) = self.object.spec(&["virtualHost"]) else { return };
        let from = GatewayName::Named(PROXY.to_string());
        let shared = host.get("options").and_then(|o| entry(o, "retries"));
        let options = references(host, "VirtualHostOption", self.object.namespace);
        self.routes(host.get("routes"), &from, (shared, &options), facts);
    }

    /// A route's own policy beats that of options by themselves, and each of these that of the virtual host.
    fn routes(
        &mut self,
        routes: Option<&Node>,
        from: &GatewayName,
        (shared, of_host): (Option<&Entry>, &[ObjectRef]),
        facts: &mut Facts,
    ) {
        let routes = routes.map_or(&[][..], Node::items);
        for (i, route) in routes.iter().enumerate() {
            if let Some(action) = route.get("delegateAction") {
                facts.delegations.extend(self.delegations(action, from));
                continue;
            }
            let Some(action) = route.get("routeAction") else {
                let name = format!("Gloo {} {}", self.object.kind, self.object.name);
                facts.inert.extend(no_route_action(route).map(|i| i.of(&name)));
                continue;
            };
            let to = self.upstreams(action);
            let opens = settings::opening(self.file, route);
            let options = route.get("options");
            let own = options.and_then(|o| entry(o, "retries"));
            let title = matcher(route).map_or_else(|| (i + 1).to_string(), str::to_string);
            let named = references(route, "RouteOption", self.object.namespace);
            let referred = if named.is_empty() && shared.is_none() { of_host.to_vec() } else { named };
            if own.is_none() && !referred.is_empty() {
                facts.route_rules.push(self.with_options(route, &title, to, referred));
                continue;
            }
            let limit = if own.or(shared).is_none() { overall(options) } else { None };
            facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit, span: opens });
            let Some(key) = own.or(shared) else { continue };
            let name = format!("Gloo {} {}, route {title}", self.object.kind, self.object.name);
            let id = format!("{ID}:{}:{}:{title}", self.object.kind.to_lowercase(), self.object.qualified());
            let layer = self.layer(id, name, key, options, (from.clone(), to), facts);
            facts.layers.push(Layer { methods: methods(route).map_or(Methods::Any, Methods::Only), ..layer });
        }
    }

    /// A route for which joining finds the options that it names.
    fn with_options(&self, route: &Node, title: &str, to: Vec<HostRef>, filters: Vec<ObjectRef>) -> RouteRuleFact {
        let object = |kind: &str, name: &str| ObjectRef {
            kind: kind.to_string(),
            namespace: self.object.namespace.map(str::to_string),
            name: name.to_string(),
            section: None,
            span: self.object.name_span,
        };
        let timeout = route.get("options").and_then(|o| entry(o, "timeout"));
        RouteRuleFact {
            route: object(self.object.kind, self.object.name),
            title: format!("Gloo {} {}, route {title}", self.object.kind, self.object.name),
            id: format!("{ID}:{}:{}:{title}", self.object.kind.to_lowercase(), self.object.qualified()),
            parents: vec![object("Gateway", PROXY)],
            to,
            filters,
            retry: None,
            overall: timeout.map(|e| settings::limit(&e.value, go)),
            per_try: None,
            methods: methods(route),
            before_1_24: false,
            before_1_19: false,
            opens: settings::opening(self.file, route),
        }
    }

    /// Options by themselves: routes name them, or they name what they are attached to.
    fn option(&mut self, facts: &mut Facts) {
        let Some(options) = self.object.spec(&["options"]) else { return };
        let Some(key) = entry(options, "retries") else { return };
        let name = format!("Gloo {} {}", self.object.kind, self.object.name);
        let id = format!("{ID}:{}:{}", self.object.kind.to_lowercase(), self.object.qualified());
        let from = GatewayName::Named(PROXY.to_string());
        let layer = self.layer(id, name, key, Some(options), (from, Vec::new()), facts);
        let itself = ObjectRef {
            kind: self.object.kind.to_string(),
            namespace: self.object.namespace.map(str::to_string),
            name: self.object.name.to_string(),
            section: None,
            span: self.object.name_span,
        };
        facts.attached.push(AttachedPolicyFact {
            system: ID,
            targets: gateway_api::targets(&self.object).into_iter().chain([itself]).collect(),
            overall: entry(options, "timeout").map(|e| settings::limit(&e.value, go)),
            layer: Some(Box::new(layer)),
            budget: None,
        });
    }

    fn delegations(&self, action: &Node, from: &GatewayName) -> Vec<DelegationFact> {
        let target = action.get("ref").unwrap_or(action);
        let Some(name) = target.get("name").and_then(Node::as_str) else { return Vec::new() };
        let namespace = target.get("namespace").and_then(Node::as_str).or(self.object.namespace);
        vec![DelegationFact {
            system: ID,
            object: namespace.map_or_else(|| name.to_string(), |n| format!("{n}/{name}")),
            callers: Callers { gateways: vec![from.clone()], mesh: false },
            hosts: Vec::new(),
            policy: None,
        }]
    }

    fn upstreams(&self, action: &Node) -> Vec<HostRef> {
        let many = action.at(&["multi", "destinations"]).map_or(&[][..], Node::items).iter();
        let many = many.filter(|d| d.get("weight").and_then(Node::as_int) != Some(0));
        let many = many.filter_map(|d| d.get("destination"));
        settings::distinct(action.get("single").into_iter().chain(many).filter_map(|d| self.upstream(d)))
    }

    /// A Service, or an Upstream: those that Gloo finds by itself are named namespace-service-port.
    fn upstream(&self, destination: &Node) -> Option<HostRef> {
        if let Some(target) = destination.at(&["kube", "ref"]) {
            let name = target.get("name")?;
            let namespace = target.get("namespace").and_then(Node::as_str);
            let port = destination.at(&["kube", "port"]).and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
            return Some(HostRef { port, ..settings::host(name.as_str()?, name.span, namespace)? });
        }
        let name = destination.at(&["upstream", "name"])?;
        let (service, port) = discovered(name.as_str()?);
        let namespace = self.object.namespace.filter(|n| *n != "gloo-system");
        Some(HostRef { port, ..settings::host(service, name.span, namespace)? })
    }

    fn layer(
        &mut self,
        id: String,
        name: String,
        key: &Entry,
        options: Option<&Node>,
        (from, to): (GatewayName, Vec<HostRef>),
        facts: &mut Facts,
    ) -> Layer {
        let node = &*key.value;
        let mut inert = Vec::new();
        let overall = overall(options);
        let per_try = envoy_based::per_try(entry(node, "per_try_timeout"), overall.as_ref(), go, &mut inert);
        let words = entry(node, "retry_on");
        let listed = words.map(|e| settings::list(&e.value)).unwrap_or_default();
        let codes = entry(node, "retriable_status_codes");
        let statuses = envoy_based::codes(codes.map(|e| &*e.value));
        let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
        let on = retry_on::read(&listed, &statuses, around);
        if let (Some(codes), true, false) =
            (codes, on.known && !statuses.is_empty(), listed.iter().any(|(w, _)| *w == "retriable-status-codes"))
        {
            inert.push(envoy_based::unused_statuses(codes));
        }
        let mut policy = Policy::new(count(key, &mut inert), key, words, on, &mut inert);
        if let Some(block) = entry(node, "retry_back_off") {
            let interval = |field| envoy::get(&block.value, field);
            policy.wait = envoy_based::wait(block, interval("base_interval"), interval("max_interval"), go);
            inert.extend(envoy::without_base(block));
        }
        policy.per_try = per_try;
        facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
        let retry_after = entry(node, "rate_limited_retry_back_off").map(|e| e.key_span);
        let identity =
            Identity { system: ID, kind: LayerKind::Gateway, id: self.ids.next(id), name, opens: key.key_span };
        let layer = envoy_based::layer(identity, envoy_based::from_gateways(vec![from], to), policy);
        Layer { overall, retry_after: follows(retry_after), advice: advice(), ..layer }
    }
}

fn follows(place: Option<Span>) -> Setting<bool> {
    place.map_or_else(|| Setting::default(false, PROTO), |span| Setting::written(true, span))
}

/// Zero is passed on as nothing, which stands for one retry.
fn count(key: &Entry, inert: &mut Vec<Inert>) -> Count {
    let default = Setting::default(Attempts::Count(2), PLUGIN);
    let written = entry(&key.value, "num_retries");
    match written.filter(|e| e.value.as_int() == Some(0)) {
        Some(zero) => {
            let why = "Gloo passes 0 on as if nothing was written, which stands for 1 retry";
            let found = Inert::new(zero.key_span, settings::quote(zero), why);
            inert.push(found.instead("For no retries, take the `retries` out"));
            Count { attempts: default, reading: settings::quote(zero), place: zero.value.span }
        }
        None => Count::of(written, key, default),
    }
}

/// `shop-orders-8080`, the name that discovery gives, without the namespace, which cannot be told from the name.
fn discovered(name: &str) -> (&str, Option<u16>) {
    match name.rsplit_once('-').and_then(|(service, port)| Some((service, port.parse().ok()?))) {
        Some((service, port)) => (service, Some(port)),
        None => (name, None),
    }
}

/// A route that answers by itself calls nobody.
fn no_route_action(route: &Node) -> Option<Inert> {
    let key = route.get("options").and_then(|o| entry(o, "retries"))?;
    let answers = route.get_any(&["redirectAction", "directResponseAction"]).is_some();
    let why = "the route answers by itself: retries belong to a `routeAction`";
    answers.then(|| Inert::new(key.key_span, "`retries`", why))
}

/// The options that a route or a virtual host refers to.
fn references(node: &Node, kind: &str, namespace: Option<&str>) -> Vec<ObjectRef> {
    let listed = node.at(&["optionsConfigRefs", "delegateOptions"]).map_or(&[][..], Node::items);
    listed.iter().take(settings::MAX_LIST).filter_map(|n| gateway_api::reference(n, namespace, kind)).collect()
}

/// The methods that every matcher of a route names.
fn methods(route: &Node) -> Option<Vec<String>> {
    let matchers = route.get("matchers")?.items().iter();
    let named = matchers.map(|m| {
        let methods = m.get("methods")?.items().iter().filter_map(|n| n.as_str());
        Some(methods.map(str::to_uppercase).collect::<Vec<_>>()).filter(|m| !m.is_empty())
    });
    named.collect::<Option<Vec<_>>>().map(|m| m.concat()).filter(|m| !m.is_empty())
}

fn matcher(route: &Node) -> Option<&str> {
    let first = route.get("matchers")?.items().first()?;
    first.get_any(&["prefix", "exact", "regex"])?.as_str()
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the `retries` out (a count of 0 counts as 1)"),
        statuses: some("name in `retryOn` only what can pass, such as `connect-failure,gateway-error`"),
        retry_after: some(
            "add `rateLimitedRetryBackOff: {resetHeaders: [{name: retry-after, format: SECONDS}]}` to the retries",
        ),
        ..Advice::default()
    }
}

/// The limit on all tries of a route.
fn overall(options: Option<&Node>) -> Option<Setting<Duration>> {
    match options.and_then(|o| entry(o, "timeout")) {
        Some(e) => settings::limit(&e.value, go),
        None => Some(envoy_based::default_overall()),
    }
}
