//! VirtualServices: one layer for each entry of `http`.

use std::collections::BTreeSet;

use super::{ID, VIRTUAL_SERVICE, destinations, policy};
use crate::facts::{DelegationFact, Facts, PolicyUseFact, RouteFact};
use crate::model::{Advice, Callers, GatewayName, HostRef, Layer, LayerKind, Methods, Scope, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::envoy_based::{self, Identity, Policy};
use crate::systems::objects::Object;
use crate::systems::settings::{self, Ids};
use crate::systems::{delegates, duration};

/// Reads one VirtualService.
pub(super) struct Reader<'a> {
    file: &'a SourceFile,
    object: &'a Object<'a>,
    callers: Callers,
    before_1_24: bool,
    ids: Ids,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a SourceFile, object: &'a Object<'a>, before_1_24: bool) -> Self {
        let has_hosts = object.spec(&["hosts"]).is_some_and(|h| !h.items().is_empty());
        let callers = if has_hosts {
            callers(object.spec(&["gateways"]))
        } else {
            // It has the callers of those that delegate to it.
            Callers { gateways: vec![delegates::placeholder(ID, object.qualified())], mesh: false }
        };
        Self { file, object, callers, before_1_24, ids: Ids::default() }
    }

    pub(super) fn read(&mut self, facts: &mut Facts) {
        let routes = self.object.spec(&["http"]).map_or(&[][..], Node::items);
        for (i, route) in routes.iter().enumerate() {
            let opens = settings::opening(self.file, route);
            let callers = self.callers_of(route);
            if let Some(delegate) = route.get("delegate") {
                let layer = route.get("retries").filter(|n| !n.is_null()).is_some().then(|| {
                    self.layer(
                        route,
                        None,
                        opens,
                        Scope::Hops { from: callers.clone(), to: Vec::new(), fallback: false },
                        facts,
                    )
                });
                facts.delegations.extend(self.delegation(delegate, &callers, layer));
            }
            let destinations = self.destinations(route);
            if destinations.is_empty() {
                continue;
            }
            for gateway in callers.gateways.iter().filter(|g| !matches!(g, GatewayName::Labelled(_))) {
                let (from, to) = (gateway.clone(), destinations.clone());
                facts.routes.push(RouteFact { from, to, grpc: false, limit: None, span: opens });
            }
            let title = (routes.len() > 1).then(|| title(route, i));
            if !callers.mesh {
                destinations.iter().for_each(|host| fallback(host.clone(), self.before_1_24, facts));
            }
            let to = self.called_as(&callers, destinations);
            let layer = self.layer(route, title, opens, Scope::Hops { from: callers, to, fallback: false }, facts);
            facts.policy_uses.extend(self.subset(route, &layer));
            facts.layers.push(layer);
        }
    }

    /// The subset that all requests of a route go to, for its budget.
    fn subset(&self, route: &Node, layer: &Layer) -> Option<PolicyUseFact> {
        let mut all = route.get("route").map_or(&[][..], Node::items).iter().map(|target| {
            let destination = target.get("destination")?;
            let (host, subset) = (destination.get("host")?, destination.get("subset")?.as_str()?);
            let host = settings::host(host.as_str()?, host.span, self.object.namespace)?;
            Some(HostRef { name: destinations::of_subset(&host.name, subset), ..host })
        });
        let first = all.next()??;
        all.all(|other| other.is_some_and(|o| o.name == first.name)).then(|| PolicyUseFact {
            system: ID,
            policy: layer.id.to_string(),
            from: None,
            span: first.span,
            to: vec![first],
            others: Vec::new(),
        })
    }

    /// Another VirtualService takes a route over, with the policy of this one where it has none itself.
    fn delegation(&self, delegate: &Node, callers: &Callers, policy: Option<Layer>) -> Option<DelegationFact> {
        let name = delegate.get("name")?.as_str()?;
        let namespace = delegate.get("namespace").and_then(Node::as_str).or(self.object.namespace);
        Some(DelegationFact {
            system: ID,
            object: namespace.map_or_else(|| name.to_string(), |n| format!("{n}/{name}")),
            callers: callers.clone(),
            hosts: self.hosts(),
            policy: policy.map(Box::new),
        })
    }

    /// The names under which sidecars find this VirtualService.
    fn hosts(&self) -> Vec<HostRef> {
        let hosts = self.object.spec(&["hosts"]).map_or(&[][..], Node::items).iter();
        hosts.filter_map(|n| settings::host(n.as_str()?, n.span, self.object.namespace)).collect()
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

    /// A match can narrow the gateways of the whole, or the sidecars to those of some pods.
    fn callers_of(&self, route: &Node) -> Callers {
        let matches = route.get("match").map_or(&[][..], Node::items);
        let narrowed: Option<Vec<Callers>> = matches.iter().map(|m| self.narrowed(m)).collect();
        match narrowed {
            Some(all) if !all.is_empty() => all.into_iter().fold(Callers::default(), |mut out, one| {
                out.mesh |= one.mesh;
                out.gateways.extend(one.gateways.into_iter().filter(|g| !out.gateways.contains(g)).collect::<Vec<_>>());
                out
            }),
            _ => self.callers.clone(),
        }
    }

    /// The callers that one match names; where it names gateways, Istio does not look at its labels.
    fn narrowed(&self, matching: &Node) -> Option<Callers> {
        if let Some(gateways) = matching.get("gateways").filter(|g| !g.items().is_empty()) {
            return Some(callers(Some(gateways)));
        }
        let labels = matching.get("sourceLabels").map_or(&[][..], Node::entries).iter();
        let labels: Vec<(String, String)> =
            labels.filter_map(|e| Some((e.key.to_string(), e.value.as_str()?.to_string()))).collect();
        let of_pods = || Callers { gateways: vec![GatewayName::Labelled(labels.clone())], mesh: false };
        (!labels.is_empty() && self.callers.mesh).then(of_pods)
    }

    /// Sidecars apply a route to calls to the names in `hosts`, wherever it then leads.
    fn called_as(&self, callers: &Callers, to: Vec<HostRef>) -> Vec<HostRef> {
        let of_pods = callers.gateways.iter().all(|g| matches!(g, GatewayName::Labelled(_)));
        if !of_pods || !callers.mesh && callers.gateways.is_empty() {
            return to;
        }
        let reached: BTreeSet<String> = to.iter().map(|host| host.name.clone()).collect();
        let hosts = self.hosts().into_iter().filter(|host| !reached.contains(&host.name));
        settings::distinct(to.into_iter().chain(hosts))
    }

    fn layer(&mut self, route: &Node, title: Option<String>, opens: Span, scope: Scope, facts: &mut Facts) -> Layer {
        let overall = route.get("timeout").and_then(|n| settings::limit(n, duration::proto));
        let own = route.entry("retries").filter(|e| !e.value.is_null());
        let name = match &title {
            Some(title) => format!("Istio VirtualService {}, route {title}", self.object.name),
            None => format!("Istio VirtualService {}", self.object.name),
        };
        let mut inert = Vec::new();
        let policy = match own {
            Some(key) => policy::read(key, overall.as_ref(), self.before_1_24, &mut inert),
            None => policy::absent(opens, self.before_1_24),
        };
        facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
        let reading = match own {
            Some(_) => format!("{} on {name}", policy.count.reading),
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
            ..layer(id, name, policy, scope)
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

pub(super) fn layer(id: std::sync::Arc<str>, name: String, policy: Policy, scope: Scope) -> Layer {
    let opens = policy.count.place;
    Layer {
        reading: name.clone(),
        asked_for: false,
        retry_after: Setting::default(false, VIRTUAL_SERVICE),
        advice: advice(),
        ..envoy_based::layer(Identity { system: ID, kind: LayerKind::Mesh, id, name, opens }, scope, policy)
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
        none: Some("set `retries: {attempts: 0}` on the route".to_string()),
        statuses: Some(
            "name in `retryOn` only what can pass, such as `connect-failure,refused-stream,503`".to_string(),
        ),
        pass_on: Some("take 429 and 503 out of `retryOn`".to_string()),
        ..Advice::default()
    }
}
