//! Apache APISIX: upstreams of its declarative files and of bodies for its Admin API, and custom resources.

mod resources;

use std::sync::Arc;
use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, Confidence, GatewayName, HostRef, Inert, Layer, ModeSet, Pick, Scope, Setting,
};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::gateways::base;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, objects, upstreams};

/// APISIX.
pub struct Apisix;

const ID: &str = "apisix";
const BALANCER: &str = "apache/apisix 3.18 apisix/balancer.lua";
const PICKER: &str = "apache/apisix 3.18 apisix/balancer/roundrobin.lua";
const TEMPLATE: &str = "apache/apisix 3.18 apisix/cli/ngx_tpl.lua";
const SCHEMA: &str = "apache/apisix 3.18 apisix/schema_def.lua";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Apache APISIX",
    reads: "`apisix.yaml`, `apisix.json` and bodies for the Admin API: upstreams of their own, of routes and of services; \
            ApisixUpstream, ApisixRoute, BackendTrafficPolicy, annotations of Ingresses",
    marks: &[
        "apisix",
        "upstream_id",
        "roundrobin",
        "chash",
        "upstreams:",
        "\"upstreams\"",
        "upstream:",
        "\"upstream\"",
    ],
    defaults: &[
        DefaultFigure { what: "retries", value: "counts retries: one attempt more", source: BALANCER },
        DefaultFigure {
            what: "retries absent",
            value: "as many attempts as the upstream has nodes, at once",
            source: BALANCER,
        },
        DefaultFigure { what: "retries: 0", value: "1 attempt", source: BALANCER },
        DefaultFigure {
            what: "retries with several nodes",
            value: "each node is tried once: never more attempts than nodes",
            source: PICKER,
        },
        DefaultFigure { what: "retries with one node", value: "the same node is tried again", source: PICKER },
        DefaultFigure {
            what: "what is retried",
            value: "refused connections and timeouts, no HTTP status (nginx's `error timeout`)",
            source: TEMPLATE,
        },
        DefaultFigure {
            what: "POST, PATCH, LOCK",
            value: "not sent again once sent",
            source: "nginx ngx_http_proxy_module, proxy_next_upstream",
        },
        DefaultFigure { what: "timeout absent", value: "60 s for each try", source: TEMPLATE },
        DefaultFigure { what: "retry_timeout absent or 0", value: "no limit on all tries", source: SCHEMA },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: BALANCER },
    ],
};

impl System for Apisix {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            if is_apisix(root) {
                facts.inert.extend(not_ended(file, root));
                read(file, root, facts);
            }
            for object in objects::of(root) {
                resources::read(file, &object, facts);
            }
        }
    }

    /// What a route sets for one try holds for the upstream that it leads to; of several routes the longest.
    fn join(&self, facts: &mut Facts) {
        let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
        facts.limits = rest;
        for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
            let Scope::Hops { to, .. } = &layer.scope else { continue };
            let is = |a: &HostRef, b: &HostRef| {
                let of_port = a.port == b.port || a.port.is_none() || b.port.is_none();
                of_port && upstreams::same_name((&a.name, a.namespace.as_deref()), (&b.name, b.namespace.as_deref()))
            };
            let own = mine.iter().filter(|l| l.to.iter().any(|a| to.iter().any(|b| is(a, b))));
            if let Some(longest) = own.filter_map(|l| l.limit.clone()).max_by_key(|l| l.value().copied()) {
                layer.per_try = Some(longest);
            }
        }
    }
}

/// A standalone file that APISIX does not load: a line `#END` has to close it.
fn not_ended(file: &SourceFile, root: &Node) -> Option<Inert> {
    let is_standalone = file.path.rsplit('/').next() == Some("apisix.yaml");
    let first = root.entries().first().filter(|_| is_standalone && !file.text.lines().any(|l| l.trim() == "#END"))?;
    let why = "without a line `#END` at its end APISIX loads nothing of the file";
    let inert = Inert::new(first.key_span, "what this file sets", why).of("APISIX in standalone mode");
    Some(inert.confidence(Confidence::Medium).instead("Add a last line `#END`"))
}

/// Other gateways have routes, services and upstreams as well: APISIX's have nodes.
fn is_apisix(root: &Node) -> bool {
    let list = |key: &str| root.get(key).map_or(&[][..], Node::items).iter();
    let has_nodes = |upstream: &Node| {
        let discovered = upstream.get("discovery_type").is_some() && upstream.get("service_name").is_some();
        upstream.get("nodes").is_some() || discovered
    };
    root.get("apiVersion").is_none()
        && (list("upstreams").any(|u| has_nodes(u))
            || list("routes").chain(list("services")).any(|r| r.get("upstream").is_some_and(has_nodes))
            || (root.get_any(&["uri", "uris"]).is_some() && root.get("upstream").is_some_and(has_nodes)))
}

fn read(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let mut ids = Ids::default();
    let lists = [("upstream", "upstreams"), ("route", "routes"), ("service", "services")];
    for (kind, key) in lists {
        for item in root.get(key).map_or(&[][..], Node::items) {
            add(file, kind, item, &mut ids, facts);
            facts.routes.extend(limited(file, root, item));
            for route in item.get("routes").map_or(&[][..], Node::items) {
                add(file, "route", route, &mut ids, facts);
            }
        }
    }
    // The body of a request to the Admin API is one route.
    if root.get("upstream").is_some() {
        add(file, "route", root, &mut ids, facts);
    }
}

/// An upstream, or a route or service with one inside.
fn add(file: &SourceFile, kind: &str, item: &Node, ids: &mut Ids, facts: &mut Facts) {
    let inner = item.get("upstream");
    let upstream = if kind == "upstream" { Some(item) } else { inner };
    let Some(upstream) = upstream.filter(|u| u.get_any(&["nodes", "service_name"]).is_some()) else { return };
    let title = item.get_any(&["name", "id", "uri"]).and_then(Node::as_str).unwrap_or("without a name");
    let opens = settings::opening(file, item);
    let from = GatewayName::OfFile { file: file.id, system: ID };
    let nodes = Nodes::of(upstream);
    let to = nodes.to.clone();
    let policy = Policy {
        id: ids.next(format!("{ID}:{kind}:{title}")),
        name: format!("APISIX {kind} {}", settings::shown(title)),
        opens,
        from: from.clone(),
        nodes: nodes.count,
        to: nodes.to,
    };
    // The timeout of a route beats that of its upstream.
    let timeout = item.get("timeout").or_else(|| upstream.get("timeout"));
    let layer = policy.layer(upstream, timeout);
    let limit = if layer.is_none() { Some(per_try(timeout)) } else { None };
    facts.routes.push(RouteFact { from, to, grpc: is_grpc(upstream), limit, span: opens });
    facts.layers.extend(layer);
}

/// A route or service with a timeout of its own before an upstream that is written elsewhere in the file.
fn limited(file: &SourceFile, root: &Node, item: &Node) -> Option<RouteFact> {
    let id = item.get("upstream_id")?.as_str()?;
    let limit = item.get("timeout").map(|timeout| per_try(Some(timeout)))?;
    let mut upstreams = root.get("upstreams").map_or(&[][..], Node::items).iter();
    let upstream = upstreams.find(|u| u.get("id").and_then(Node::as_str) == Some(id))?;
    let from = GatewayName::OfFile { file: file.id, system: ID };
    let (to, span) = (Nodes::of(upstream).to, settings::opening(file, item));
    (!to.is_empty()).then(|| RouteFact { from, to, grpc: is_grpc(upstream), limit: Some(limit), span })
}

fn is_grpc(upstream: &Node) -> bool {
    upstream.get("scheme").and_then(Node::as_str).is_some_and(|s| matches!(s, "grpc" | "grpcs"))
}

/// The nodes of an upstream.
struct Nodes {
    to: Vec<HostRef>,
    /// How many take requests; `None` where a registry tells.
    count: Option<u64>,
}

impl Nodes {
    fn of(upstream: &Node) -> Self {
        let Some(nodes) = upstream.get("nodes").filter(|n| !n.is_null()) else {
            let name = upstream.get("service_name");
            let to = name.and_then(|n| settings::host(n.as_str()?, n.span, None));
            return Self { to: to.into_iter().collect(), count: None };
        };
        let is_used = |weight: Option<&Node>| weight.and_then(Node::as_int) != Some(0);
        let map = nodes.entries().iter().filter(|e| is_used(Some(&e.value)));
        let list = nodes.items().iter().filter(|n| is_used(n.get("weight")));
        let count = map.clone().count() + list.clone().count();
        let of_map = map.filter_map(|e| settings::host(&e.key, e.key_span, None));
        let of_list = list.filter_map(|n| {
            let name = n.get("host")?;
            let port = n.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
            Some(HostRef { port, ..settings::host(name.as_str()?, name.span, None)? })
        });
        Self { to: settings::distinct(of_map.chain(of_list)), count: Some(count as u64) }
    }
}

/// What is written about retries at one place.
struct Policy {
    id: Arc<str>,
    name: String,
    opens: Span,
    from: GatewayName,
    to: Vec<HostRef>,
    nodes: Option<u64>,
}

impl Policy {
    /// One node about which nothing is written is asked once; how many a registry has cannot be known.
    fn layer(self, upstream: &Node, timeout: Option<&Node>) -> Option<Layer> {
        let retries = upstream.entry("retries").filter(|e| !e.value.is_null());
        // Below zero is as if nothing was written.
        let retries = retries.filter(|e| e.value.as_int().is_none_or(|n| n >= 0));
        let name = &self.name;
        let nodes = self.nodes;
        let (attempts, place, reading) = match (retries, nodes) {
            (None, None | Some(0 | 1)) => return None,
            (None, Some(n)) => {
                let reading = format!("{name}, which sets no `retries` and has {n} nodes");
                (Setting::default(Attempts::Count(n), BALANCER), self.opens, reading)
            }
            (Some(e), _) => {
                let most = nodes.filter(|n| *n > 1).unwrap_or(u64::MAX);
                let attempts = settings::retries(e).map(|a| match a {
                    Attempts::Count(n) => Attempts::Count(n.min(most)),
                    other => other,
                });
                let has = nodes.filter(|n| *n > 1).map_or(String::new(), |n| format!(", which has {n} nodes"));
                (attempts, e.value.span, format!("{} on {name}{has}", settings::quote(e)))
            }
        };
        let overall = upstream.get("retry_timeout").and_then(|n| settings::limit(n, seconds));
        Some(Layer {
            reading,
            place,
            asked_for: retries.is_some(),
            attempts,
            retries: transport(self.opens),
            methods: base::idempotent(),
            per_try: Some(per_try(timeout)),
            overall,
            advice: advice(),
            scope: base::hops(vec![self.from], self.to),
            ..base::layer(ID, self.id, self.name, self.opens, BALANCER)
        })
    }
}

fn transport(opens: Span) -> Conditions {
    let modes = ModeSet::transport();
    let pick = Pick { modes, span: opens, text: "APISIX's fixed conditions".to_string() };
    Conditions { yes: modes, picks: vec![pick], ..Conditions::default() }
}

/// Seconds, or a duration as custom resources write it.
fn seconds(node: &Node) -> Option<Duration> {
    let number = node.as_f64().and_then(|n| crate::systems::duration::millis(n * 1e3));
    number.or_else(|| crate::systems::duration::go(node.as_str()?))
}

/// How long the gateway waits for an answer to one try.
fn per_try(timeout: Option<&Node>) -> Setting<Duration> {
    match timeout.and_then(|t| t.get("read")).map(|n| (seconds(n), n.span)) {
        None => Setting::default(Duration::from_secs(60), TEMPLATE),
        Some((Some(d), span)) => Setting::written(d, span),
        Some((None, span)) => Setting::unknown("not a number of seconds", Some(span)),
    }
}

/// There is no setting for a wait, for statuses or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `retries: 0` on the upstream"),
        limit: some("set `retries` to 1 or 2"),
        ..Advice::default()
    }
}
