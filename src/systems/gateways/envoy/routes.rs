//! Virtual hosts and their routes: the most specific retry policy wins whole, nothing is merged.

use std::collections::BTreeMap;
use std::time::Duration;

use super::headers::{self, Headers};
use super::{ID, entry, get, items, policy};
use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, GatewayName, HostRef, Inert, Layer, LayerKind, Methods, Setting, Unresolved};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::duration;
use crate::systems::envoy_based::{self, Identity};
use crate::systems::settings::{self, Ids};

/// Reads the route configurations of one file.
pub(super) struct Reader<'a> {
    file: &'a SourceFile,
    /// The policies that clusters have of their own.
    clusters: &'a BTreeMap<&'a str, &'a Entry>,
    ids: Ids,
}

/// Routes that one policy repeats, with what they share.
struct Repeated<'a> {
    policy: &'a Entry,
    /// "route /orders of virtual host shop"
    title: String,
    id: String,
    to: Vec<HostRef>,
    /// Each route's limit on all tries.
    overall: Vec<Option<Setting<Duration>>>,
    hedge: Option<&'a Entry>,
    methods: Vec<Option<Vec<String>>>,
    headers: Headers<'a>,
}

/// Clusters that a route leads to, alternatives that share what is said of them.
struct Target<'a, 'n> {
    /// The policy that the cluster has of its own.
    policy: Option<&'a Entry>,
    /// The entry of a weighted route, where it adds something.
    adds: Option<&'n Node>,
    to: Vec<HostRef>,
}

impl<'a> Repeated<'a> {
    /// One more route that has the same policy from its virtual host.
    fn add(&mut self, other: Self) {
        self.to.extend(other.to);
        self.overall.extend(other.overall);
        self.hedge = self.hedge.or(other.hedge);
        self.methods.extend(other.methods);
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a SourceFile, clusters: &'a BTreeMap<&'a str, &'a Entry>) -> Self {
        Self { file, clusters, ids: Ids::default() }
    }

    /// The virtual hosts of one route configuration.
    pub(super) fn read(&mut self, config: &Node, hosts: &Node, facts: &mut Facts) {
        let name = get(config, "name").and_then(Node::as_str);
        for host in hosts.items() {
            let title = get(host, "name").and_then(Node::as_str).unwrap_or("without a name");
            let id = [name.unwrap_or_default(), title].join("/");
            self.virtual_host(config, host, title, id.trim_start_matches('/'), facts);
        }
    }

    fn virtual_host(&mut self, config: &Node, host: &Node, title: &str, id: &str, facts: &mut Facts) {
        let shared = entry(host, "retry_policy");
        let hedge_of_host = get(host, "hedge_policy").and_then(hedge);
        let known = facts.layers.len();
        let mut unused_hedge = None;
        facts.inert.extend(policy::not_implemented(host).map(|i| i.of(&format!("Envoy virtual host {title}"))));
        let mut inherited: Option<Repeated<'_>> = None;
        let mut replaced_by: Option<&Entry> = None;
        let mut is_used = false;
        for route in items(host, "routes") {
            let Some(action) = route.get("route") else { continue };
            let targets = self.targets(action);
            let to = settings::distinct(targets.iter().flat_map(|t| t.to.clone()));
            let opens = settings::opening(self.file, route);
            let grpc = route.get("match").is_some_and(|m| m.get("grpc").is_some());
            let path = path(route);
            let owner = format!("Envoy route {path} of virtual host {title}");
            let written = entry(action, "retry_policy");
            let added = Headers::of(&[route, host, config]);
            let repeats = written.or(shared).or(added.policy()).is_some() || targets.iter().any(|t| t.policy.is_some());
            let limit = if repeats { None } else { overall(action) };
            facts.routes.push(RouteFact { from: self.gateway(), to: to.clone(), grpc, limit, span: opens });
            facts.inert.extend(policy::not_implemented(action).map(|i| i.of(&owner)));
            if let (Some(written), Some(own)) = (written, targets.first().and_then(|t| t.policy))
                && targets.iter().all(|t| t.policy.is_some())
            {
                facts
                    .inert
                    .push(replaced(written, own, "the cluster has a policy of its own, which counts alone").of(&owner));
            }
            for target in targets {
                let levels = target.adds.into_iter().chain([route, host, config]);
                let headers = Headers::of(&levels.collect::<Vec<_>>());
                let own = target.policy.or(written);
                replaced_by = replaced_by.or(own);
                let Some(policy) = own.or(shared).or(headers.policy()) else {
                    let hedge = get(action, "hedge_policy").and_then(hedge).map(policy::hedge_without_policy);
                    let found = headers.without_conditions().into_iter().chain(hedge);
                    facts.inert.extend(found.map(|i| i.of(&owner)));
                    continue;
                };
                if let Some(header) = get(action, "cluster_header").filter(|_| target.to.is_empty()) {
                    facts.unresolved.push(Unresolved {
                        span: header.span,
                        what: format!("upstream of {owner}"),
                        reason: "a header of each request names it".to_string(),
                    });
                }
                let alone = own.is_some() || !headers.is_empty();
                is_used |= own.is_none();
                let repeated = Repeated {
                    policy,
                    title: format!("route {path} of virtual host {title}"),
                    id: format!("{ID}:route:{id}:{path}"),
                    to: target.to,
                    overall: vec![overall(action)],
                    hedge: [action, host].iter().find_map(|n| get(n, "hedge_policy")).and_then(hedge),
                    methods: vec![route_methods(route)],
                    headers,
                };
                match &mut inherited {
                    _ if alone => {
                        let layer = self.layer(repeated, facts);
                        facts.layers.push(layer);
                        unused_hedge = take_hedge(hedge_of_host, &mut facts.inert).or(unused_hedge);
                    }
                    Some(all) => all.add(repeated),
                    None => {
                        inherited = Some(Repeated {
                            title: format!("virtual host {title}"),
                            id: format!("{ID}:virtual-host:{id}"),
                            ..repeated
                        });
                    }
                }
            }
        }
        match (inherited, shared, replaced_by) {
            (Some(repeated), ..) => {
                let layer = self.layer(repeated, facts);
                facts.layers.push(layer);
                unused_hedge = take_hedge(hedge_of_host, &mut facts.inert).or(unused_hedge);
            }
            (None, Some(shared), Some(own)) if !is_used => {
                let why = "every route has a policy of its own, and Envoy merges nothing";
                facts.inert.push(replaced(shared, own, why).of(&format!("Envoy virtual host {title}")));
            }
            _ => {}
        }
        // What one of its routes uses is there for that one.
        let is_used = facts.layers.get(known..).unwrap_or_default().iter().any(|l| l.per_try.is_some());
        facts.inert.extend(unused_hedge.filter(|_| !is_used).map(|i| i.of(&format!("Envoy virtual host {title}"))));
    }

    fn gateway(&self) -> GatewayName {
        GatewayName::OfFile { file: self.file.id, system: ID }
    }

    /// Where a route leads: to clusters, by name, for which joining puts their endpoints in. Clusters of a weighted route
    /// that have a policy of their own, or add headers, stand by themselves.
    fn targets<'n>(&self, action: &'n Node) -> Vec<Target<'a, 'n>> {
        let of = |name: &'n Node, adds: Option<&'n Node>| Target {
            policy: name.as_str().and_then(|name| self.clusters.get(name).copied()),
            adds,
            to: name.as_str().and_then(|text| cluster_host(text, name.span)).into_iter().collect(),
        };
        let weighted = headers::weighted(action).filter_map(|c| Some(of(get(c, "name")?, Some(c))));
        let all = get(action, "cluster").into_iter().map(|name| of(name, None)).chain(weighted);
        let is_apart = |t: &Target<'_, '_>| t.policy.is_some() || t.adds.is_some_and(|c| !Headers::of(&[c]).is_empty());
        let (apart, plain): (Vec<_>, Vec<_>) = all.partition(is_apart);
        let mut out: Vec<Target<'_, '_>> = Vec::new();
        if !plain.is_empty() || apart.is_empty() {
            out.push(Target { policy: None, adds: None, to: plain.into_iter().flat_map(|t| t.to).collect() });
        }
        out.extend(apart);
        out
    }

    fn layer(&mut self, repeated: Repeated<'_>, facts: &mut Facts) -> Layer {
        let Repeated { policy: key, title, id, to, overall, hedge, methods, headers } = repeated;
        let to = settings::distinct(to);
        // Of routes with different limits the longest says whether one on each try can matter, the shortest cuts tries off.
        let longest = overall.iter().max_by_key(|o| o.as_ref().map_or(Some(Duration::MAX), |s| s.value().copied()));
        let shortest = overall.iter().flatten().min_by_key(|s| s.value().copied().unwrap_or(Duration::MAX)).cloned();
        let read = policy::read(key, longest.and_then(Option::as_ref), hedge, &headers);
        let name = format!("Envoy {title}");
        facts.inert.extend(read.inert.into_iter().map(|i| i.of(&name)));
        let scope = envoy_based::from_gateways(vec![self.gateway()], to);
        let identity =
            Identity { system: ID, kind: LayerKind::Gateway, id: self.ids.next(id), name, opens: key.key_span };
        Layer {
            retry_after: read.retry_after,
            methods: narrow(read.methods, methods),
            overall: shortest,
            advice: advice(),
            ..envoy_based::layer(identity, scope, read.policy)
        }
    }
}

/// A policy that another one replaces whole.
fn replaced(policy: &Entry, by: &Entry, why: &str) -> Inert {
    Inert::new(policy.key_span, format!("`{}`", policy.key), why)
        .because(by.key_span, "the policy that counts")
        .instead("Take it out, or move what is meant into the policy that counts")
}

/// The policy's methods, or the routes' where the policy names none and every route does.
fn narrow(policy: Methods, routes: Vec<Option<Vec<String>>>) -> Methods {
    match (policy, routes.into_iter().collect::<Option<Vec<_>>>()) {
        (Methods::Any, Some(named)) => {
            let mut methods = named.concat();
            methods.sort();
            methods.dedup();
            Methods::Only(methods)
        }
        (policy, _) => policy,
    }
}

/// A route's own matcher on the method: all of its header matchers must hold, so one is enough.
fn route_methods(route: &Node) -> Option<Vec<String>> {
    items(route.get("match")?, "headers").find_map(policy::header_methods)
}

/// The limit on all tries: 15 s unless the route says otherwise.
fn overall(action: &Node) -> Option<Setting<Duration>> {
    match get(action, "timeout") {
        Some(node) => settings::limit(node, duration::proto),
        None => Some(envoy_based::default_overall()),
    }
}

/// Takes back what was said of the setting of a virtual host on one of its routes.
fn take_hedge(hedge: Option<&Entry>, inert: &mut Vec<Inert>) -> Option<Inert> {
    let hedge = hedge?;
    let at = inert.iter().rposition(|i| i.place == hedge.key_span)?;
    Some(inert.remove(at))
}

fn hedge(policy: &Node) -> Option<&Entry> {
    entry(policy, "hedge_on_per_try_timeout").filter(|e| e.value.as_bool() == Some(true))
}

/// What a route matches, for people: its path, else its name.
fn path(route: &Node) -> String {
    let matcher = route.get("match");
    let path = matcher.and_then(|m| {
        let plain = ["prefix", "path", "path_separated_prefix", "regex"].iter().find_map(|k| get(m, k)?.as_str());
        plain.or_else(|| get(m, "safe_regex")?.get("regex")?.as_str())
    });
    path.or_else(|| route.get("name")?.as_str()).unwrap_or("without a path").to_string()
}

/// The host that a cluster's name may be. Cilium names clusters `shop/orders`, with the namespace before the name.
fn cluster_host(name: &str, span: crate::source::Span) -> Option<HostRef> {
    match name.split_once('/') {
        Some((namespace, service)) if !service.contains('/') => settings::host(service, span, Some(namespace)),
        _ => settings::host(name, span, None).map(mesh_name),
    }
}

/// A control plane of Istio's names clusters `outbound|80|v1|orders.shop.svc.cluster.local`.
fn mesh_name(mut host: HostRef) -> HostRef {
    if let Some((_, name)) = host.name.rsplit_once('|') {
        host.name = name.to_string();
    }
    host
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `num_retries: 0`, or take the `retry_policy` out"),
        statuses: some("name in `retry_on` only what can pass, such as `connect-failure,refused-stream,gateway-error`"),
        retry_after: some(
            "add `rate_limited_retry_back_off: {reset_headers: [{name: retry-after, format: SECONDS}]}` to the retry policy",
        ),
        ..Advice::default()
    }
}
