//! VirtualServices: one layer for each entry of `http`.

use std::collections::BTreeSet;

use super::policy::{self, Policy};
use super::{ID, VIRTUAL_SERVICE};
use crate::facts::{Facts, RouteFact};
use crate::model::{
    Advice, Callers, Confidence, GatewayName, HostRef, Jitter, Layer, LayerKind, Methods, Scope, Setting,
};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::duration;
use crate::systems::objects::Object;
use crate::systems::retry_on::RETRY_STATE;
use crate::systems::settings::{self, Ids};

/// Reads one VirtualService.
pub(super) struct Reader<'a> {
    file: &'a SourceFile,
    object: &'a Object<'a>,
    callers: Callers,
    before_1_24: bool,
    ids: Ids,
}

impl<'a> Reader<'a> {
    /// `delegated`: the callers of the VirtualServices that delegate to this one.
    pub(super) fn new(
        file: &'a SourceFile,
        object: &'a Object<'a>,
        delegated: Option<Callers>,
        before_1_24: bool,
    ) -> Self {
        let own = || callers(object.spec(&["gateways"]));
        let has_hosts = object.spec(&["hosts"]).is_some_and(|h| !h.items().is_empty());
        let callers = delegated.filter(|_| !has_hosts).unwrap_or_else(own);
        Self { file, object, callers, before_1_24, ids: Ids::default() }
    }

    pub(super) fn read(&mut self, facts: &mut Facts) {
        let routes = self.object.spec(&["http"]).map_or(&[][..], Node::items);
        for (i, route) in routes.iter().enumerate() {
            let destinations = self.destinations(route);
            if destinations.is_empty() {
                continue;
            }
            let opens = settings::opening(self.file, route);
            let callers = self.callers_of(route);
            for gateway in &callers.gateways {
                let (from, to) = (gateway.clone(), destinations.clone());
                facts.routes.push(RouteFact { from, to, grpc: false, span: opens });
            }
            let title = (routes.len() > 1).then(|| title(route, i));
            if !callers.mesh {
                destinations.iter().for_each(|host| fallback(host.clone(), self.before_1_24, facts));
            }
            let to = self.called_as(&callers, destinations);
            facts.layers.push(self.layer(route, title, opens, callers, to));
        }
    }

    /// The hosts that a route leads to, by their names in the mesh.
    fn destinations(&self, route: &Node) -> Vec<HostRef> {
        let host = |target: &Node| {
            let destination = target.get("destination")?;
            let node = destination.get("host")?;
            let mut host = settings::host(node.as_str()?, node.span, self.object.namespace)?;
            host.port = destination.at(&["port", "number"]).and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
            (target.get("weight").and_then(Node::as_int) != Some(0)).then_some(host)
        };
        settings::distinct(route.get("route").map_or(&[][..], Node::items).iter().filter_map(|t| host(t)))
    }

    /// A match can narrow the gateways of the whole.
    fn callers_of(&self, route: &Node) -> Callers {
        let matches = route.get("match").map_or(&[][..], Node::items);
        let narrowed: Option<Vec<Callers>> =
            matches.iter().map(|m| m.get("gateways").map(|g| callers(Some(g)))).collect();
        match narrowed {
            Some(all) if !all.is_empty() => all.into_iter().fold(Callers::default(), |mut out, one| {
                out.mesh |= one.mesh;
                out.gateways.extend(one.gateways.into_iter().filter(|g| !out.gateways.contains(g)).collect::<Vec<_>>());
                out
            }),
            _ => self.callers.clone(),
        }
    }

    /// Sidecars apply a route to calls to the names in `hosts`, wherever it then leads.
    fn called_as(&self, callers: &Callers, to: Vec<HostRef>) -> Vec<HostRef> {
        if !callers.mesh || !callers.gateways.is_empty() {
            return to;
        }
        let reached: BTreeSet<String> = to.iter().map(|host| host.name.clone()).collect();
        let hosts = self.object.spec(&["hosts"]).map_or(&[][..], Node::items).iter();
        let hosts = hosts.filter_map(|n| settings::host(n.as_str()?, n.span, self.object.namespace));
        settings::distinct(to.into_iter().chain(hosts.filter(|host| !reached.contains(&host.name))))
    }

    fn layer(&mut self, route: &Node, title: Option<String>, opens: Span, from: Callers, to: Vec<HostRef>) -> Layer {
        let overall = route.get("timeout").and_then(|n| settings::limit(n, duration::proto));
        let own = route.entry("retries").filter(|e| !e.value.is_null());
        let policy = match own {
            Some(key) => policy::read(key, overall.as_ref(), self.before_1_24),
            None => policy::absent(opens, self.before_1_24),
        };
        let name = match &title {
            Some(title) => format!("Istio VirtualService {}, route {title}", self.object.name),
            None => format!("Istio VirtualService {}", self.object.name),
        };
        let reading = match own {
            Some(_) => format!("{} on {name}", policy.reading),
            None => format!("{name}, which sets no `retries`"),
        };
        let suffix = title.map(|t| format!(":{t}")).unwrap_or_default();
        let id = self.ids.next(format!("{ID}:virtualservice:{}{suffix}", self.object.qualified()));
        Layer {
            opens: own.map_or(opens, |key| key.key_span),
            asked_for: own.is_some(),
            methods: policy::methods(route).map_or(Methods::Any, Methods::Only),
            overall,
            reading,
            ..layer(id, name, policy, Scope::Hops { from, to, fallback: false })
        }
    }
}

/// The layer of the mesh's default policy for calls from sidecars to a host that no route of theirs covers.
/// Joining keeps one for each host.
pub(super) fn fallback(host: HostRef, before_1_24: bool, facts: &mut Facts) {
    let qualified = host.namespace.as_ref().map_or_else(|| host.name.clone(), |n| format!("{n}/{}", host.name));
    let id = format!("{ID}:default:{qualified}");
    let name = format!("Istio's default policy for {}", host.name);
    let policy = policy::absent(host.span, before_1_24);
    let from = Callers { gateways: Vec::new(), mesh: true };
    let to = vec![HostRef { port: None, ..host }];
    facts.layers.push(layer(id.into(), name, policy, Scope::Hops { from, to, fallback: true }));
}

/// The gateways, and `mesh` for the sidecars, which is meant where nothing is named.
pub(super) fn callers(gateways: Option<&Node>) -> Callers {
    let names = gateways.map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str());
    let mut callers = Callers::default();
    for name in names {
        match name {
            "mesh" => callers.mesh = true,
            // The same gateway is written with its namespace and without.
            name => {
                let short = name.rsplit_once('/').map_or(name, |(_, short)| short);
                callers.gateways.push(GatewayName::Named(short.to_string()));
            }
        }
    }
    callers.mesh |= callers.gateways.is_empty();
    callers
}

fn layer(id: std::sync::Arc<str>, name: String, policy: Policy, scope: Scope) -> Layer {
    Layer {
        id,
        system: ID,
        kind: LayerKind::Mesh,
        reading: name.clone(),
        name,
        place: policy.place,
        opens: policy.place,
        component: None,
        scope,
        asked_for: false,
        attempts: policy.attempts,
        wait: policy.wait,
        wait_place: policy.wait_place,
        jitter: Setting::default(Jitter::Full, RETRY_STATE),
        retries: policy.conditions,
        retry_after: Setting::default(false, VIRTUAL_SERVICE),
        methods: Methods::Any,
        per_try: policy.per_try,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: advice(),
        copies: false,
        stream: false,
        confidence: Confidence::High,
    }
}

/// What tells the entries of `http` apart: the name, else the first path, else the number.
fn title(route: &Node, index: usize) -> String {
    let path = || {
        let uri = route.get("match")?.items().first()?.get("uri")?;
        uri.get_any(&["prefix", "exact", "regex"])?.as_str()
    };
    let named = route.get("name").and_then(Node::as_str).or_else(path);
    named.map_or_else(|| (index + 1).to_string(), str::to_string)
}

fn advice() -> Advice {
    Advice {
        fewer: Some("set `retries: {attempts: 0}` on the route".to_string()),
        statuses: Some(
            "name in `retryOn` only what can pass, such as `connect-failure,refused-stream,503`".to_string(),
        ),
        retry_after: Some(
            "Istio has no setting for it, so take 429 and 503 out of `retryOn` and leave them to the caller"
                .to_string(),
        ),
        ..Advice::default()
    }
}
