//! Gateways: which component a gateway's settings speak of, and the hops that its routes make.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::hops::Ends;
use super::hosts::{Hosts, Part};
use super::names::{image_name, lies_in};
use crate::facts::RouteFact;
use crate::model::{ComponentIx, ComponentKind, GatewayName, Hop, HostRef, Layer, LayerIx, Reason, Scope};
use crate::source::{FileId, Sources};

/// The gateways by what their settings call them.
#[derive(Debug, Default)]
pub(super) struct Gateways {
    named: BTreeMap<String, ComponentIx>,
    of_files: BTreeMap<(&'static str, FileId), ComponentIx>,
    /// Why a component is the gateway of a file.
    reasons: BTreeMap<ComponentIx, Reason>,
}

impl Gateways {
    /// Finds the gateways of all layers and routes, or makes them.
    pub(super) fn new(draft: &mut Draft<'_>, routes: &[RouteFact]) -> Self {
        let mut uses: Vec<(GatewayName, Vec<HostRef>)> =
            routes.iter().map(|r| (r.from.clone(), r.to.clone())).collect();
        for layer in &draft.layers {
            if let Scope::Hops { from, to, .. } = &layer.scope {
                uses.extend(from.gateways.iter().map(|g| (g.clone(), to.clone())));
            }
        }
        let mut gateways = Self::default();
        gateways.find_named(&uses, &mut draft.hosts);
        gateways.find_of_files(&uses, &mut draft.hosts, draft.sources);
        gateways
    }

    /// The component of a gateway.
    pub(super) fn of(&self, name: &GatewayName) -> Option<ComponentIx> {
        match name {
            GatewayName::Named(name) => self.named.get(name).copied(),
            GatewayName::OfFile { file, system } => self.of_files.get(&(*system, *file)).copied(),
            GatewayName::Labelled(_) | GatewayName::Delegating { .. } => None,
        }
    }

    fn find_named(&mut self, uses: &[(GatewayName, Vec<HostRef>)], hosts: &mut Hosts) {
        let mut targets: BTreeMap<&str, Vec<ComponentIx>> = BTreeMap::new();
        for (gateway, to) in uses {
            if let GatewayName::Named(name) = gateway {
                let reached = to.iter().flat_map(|host| hosts.resolve(host).components);
                targets.entry(name).or_default().extend(reached);
            }
        }
        for (name, reached) in targets {
            // A route named as the service that it leads to is not that service.
            let known = hosts.named(name).or_else(|| hosts.leaf_named(name));
            let component = known.filter(|ix| !reached.contains(ix));
            let ix = component.unwrap_or_else(|| hosts.add(Part::new(name, ComponentKind::Gateway, None)));
            make_gateway(ix, hosts);
            self.named.insert(name.to_owned(), ix);
        }
    }

    fn find_of_files(&mut self, uses: &[(GatewayName, Vec<HostRef>)], hosts: &mut Hosts, sources: &Sources) {
        let keys: std::collections::BTreeSet<(&'static str, FileId)> = uses
            .iter()
            .filter_map(|(gateway, _)| match gateway {
                GatewayName::OfFile { file, system } => Some((*system, *file)),
                GatewayName::Named(_) | GatewayName::Labelled(_) | GatewayName::Delegating { .. } => None,
            })
            .collect();
        for &(system, file) in &keys {
            let path = sources.get(file).map_or("", |f| &f.path);
            let mounting = mounting(path, system, hosts).map(|ix| (ix, format!("mounts {path}")));
            let running = || Some((running(system, hosts)?, format!("is the only one whose image runs {system}")));
            let known = mounting.or_else(running);
            if let Some((ix, why)) = &known
                && let Some(part) = hosts.part(*ix)
            {
                self.reasons.insert(*ix, Reason::new(part.place, format!("{} {why}", part.name)));
            }
            let ix = known.map(|(ix, _)| ix).unwrap_or_else(|| {
                let alone = keys.iter().filter(|(other, _)| *other == system).count() == 1;
                let name = if alone { system.to_owned() } else { format!("{system} ({path})") };
                hosts.add(Part::new(&name, ComponentKind::Gateway, None))
            });
            make_gateway(ix, hosts);
            self.of_files.insert((system, file), ix);
        }
    }
}

/// The component that mounts a file; of several the one whose image runs the system.
fn mounting(path: &str, system: &str, hosts: &Hosts) -> Option<ComponentIx> {
    let mounting: Vec<(ComponentIx, &Part)> =
        hosts.iter().filter(|(_, p)| !path.is_empty() && p.mounts.iter().any(|m| lies_in(path, m))).collect();
    let running: Vec<&(ComponentIx, &Part)> = mounting.iter().filter(|(_, p)| runs(p, system)).collect();
    match (mounting.as_slice(), running.as_slice()) {
        ([only], _) => Some(only.0),
        (_, [only]) => Some(only.0),
        _ => None,
    }
}

/// The only component whose image runs a system.
fn running(system: &str, hosts: &Hosts) -> Option<ComponentIx> {
    let mut all = hosts.iter().filter(|(_, p)| runs(p, system));
    let first = all.next()?;
    all.next().is_none().then_some(first.0)
}

fn runs(part: &Part, system: &str) -> bool {
    part.images.iter().any(|image| image_name(image).contains(system))
}

fn make_gateway(ix: ComponentIx, hosts: &mut Hosts) {
    if let Some(part) = hosts.part_mut(ix) {
        part.kind = ComponentKind::Gateway;
    }
}

/// One hop for each layer of a gateway and each of its upstreams: routes are alternatives.
pub(super) fn add_layers(draft: &mut Draft<'_>, gateways: &Gateways) {
    for ix in draft.layer_ixs() {
        let Some(Scope::Hops { from, to, fallback: false }) = draft.layer(ix).map(|l| l.scope.clone()) else {
            continue;
        };
        for gateway in from.gateways.iter().filter_map(|g| gateways.of(g)) {
            for host in &to {
                add_hop(draft, gateways, gateway, host, Carries::Layer(ix));
            }
            if to.is_empty() {
                add_hop_to_unknown(draft, gateway, ix);
            }
        }
    }
}

/// Routes without a layer.
pub(super) fn add_routes(draft: &mut Draft<'_>, gateways: &Gateways, routes: &[RouteFact]) {
    for route in routes {
        let Some(gateway) = gateways.of(&route.from) else { continue };
        for host in &route.to {
            add_hop(draft, gateways, gateway, host, Carries::Route(route));
        }
    }
}

/// A route whose upstream only the request tells; its system has said so.
fn add_hop_to_unknown(draft: &mut Draft<'_>, gateway: ComponentIx, ix: LayerIx) {
    let Some((name, opens)) = draft.layer(ix).map(|l| (format!("the host behind {}", l.name), l.opens)) else { return };
    let to = draft.hosts.add(Part::new(&name, ComponentKind::Host, Some(opens)));
    let why = Reason::new(opens, "only the request tells where this route leads");
    let hop = draft.hop_because((gateway, to), Some(opens), [why]);
    let layers = draft.uses(&[ix]);
    draft.add_hop(Hop { layers, ..hop });
}

/// What a hop is made of.
#[derive(Clone, Copy)]
enum Carries<'r> {
    /// A layer of the gateway.
    Layer(LayerIx),
    /// A route that nothing may repeat.
    Route(&'r RouteFact),
}

fn add_hop(draft: &mut Draft<'_>, gateways: &Gateways, gateway: ComponentIx, host: &HostRef, carries: Carries<'_>) {
    let found = draft.hosts.resolve(host);
    for to in found.components {
        let (layers, limit, grpc) = match carries {
            Carries::Layer(layer) => (draft.uses(&[layer]), None, false),
            Carries::Route(route) if is_told(draft, gateway, to, route) => {
                draft.mark_grpc(gateway, to, route.grpc);
                continue;
            }
            Carries::Route(route) => (Vec::new(), route.limit.clone(), route.grpc),
        };
        let leads = Reason::new(host.span, format!("a route leads to `{}`", host.name));
        let because = gateways.reasons.get(&gateway).cloned();
        let reasons = because.into_iter().chain([leads, draft.hosts.why(host, to)]);
        let hop = draft.hop_because((gateway, to), Some(host.span), reasons);
        draft.add_hop(Hop { layers, limit, grpc: found.grpc || grpc, ..hop });
    }
}

/// Whether a route adds nothing to the hops that are there: no limit, or one that a layer already has.
fn is_told(draft: &Draft<'_>, gateway: ComponentIx, to: ComponentIx, route: &RouteFact) -> bool {
    let Some(limit) = &route.limit else { return draft.has_hop(gateway, to) };
    let has = |layer: &Layer| layer.overall.as_ref() == Some(limit);
    draft.hops.with(Ends::Between(gateway, to)).flat_map(|h| &h.layers).filter_map(|l| draft.layer(l.layer)).any(has)
}
