//! Policies of a mesh: they sit innermost on every hop from a component with a sidecar to the host that they name.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::gateways::Gateways;
use super::hops::Ends;
use super::hosts::Part;
use super::names::ServiceName;
use crate::model::{Callers, ComponentIx, ComponentKind, GatewayName, HostRef, LayerIx, LayerUse, Reason, Scope};

/// Puts the policies of all meshes on their hops.
pub(super) fn add_layers(draft: &mut Draft<'_>, gateways: &Gateways) {
    let policies = policies(draft, false);
    add_callers(draft, &policies);
    for (to, by_system) in group(draft, &policies) {
        let all: Vec<&Alternative> = by_system.values().flatten().collect();
        if all.iter().all(|a| a.of.is_empty()) {
            let groups: Vec<Vec<LayerIx>> = by_system.values().map(|group| ixs(group)).collect();
            draft.put_on(&groups, Ends::To(to), |draft, h| draft.in_mesh(h.from));
            continue;
        }
        let callers = draft.hops.with(Ends::To(to)).map(|h| h.from).filter(|from| draft.in_mesh(*from));
        let callers: BTreeSet<ComponentIx> = callers.collect();
        for from in callers {
            let groups = by_system.values().map(|group| nearest(draft, group, from));
            let groups: Vec<Vec<LayerIx>> = groups.filter(|group| !group.is_empty()).collect();
            draft.put_on(&groups, Ends::Between(from, to), |_, _| true);
        }
    }
    add_defaults(draft, gateways);
}

/// One of the policies of a system for a host, and whose requests it is for: everybody's, if nobody is named.
#[derive(PartialEq)]
struct Alternative {
    layer: LayerIx,
    of: Vec<Vec<(String, String)>>,
}

fn ixs(group: &[Alternative]) -> Vec<LayerIx> {
    group.iter().map(|a| a.layer).collect()
}

/// The policies that name this caller; where none does, those for everybody.
fn nearest(draft: &Draft<'_>, group: &[Alternative], from: ComponentIx) -> Vec<LayerIx> {
    let is = |a: &&Alternative| a.of.iter().any(|labels| draft.bears(from, labels));
    let named: Vec<LayerIx> = group.iter().filter(is).map(|a| a.layer).collect();
    if named.is_empty() { group.iter().filter(|a| a.of.is_empty()).map(|a| a.layer).collect() } else { named }
}

/// The callers that a policy names by their labels.
fn labelled(from: &Callers) -> Vec<Vec<(String, String)>> {
    let labels = from.gateways.iter().filter_map(|g| match g {
        GatewayName::Labelled(labels) => Some(labels.clone()),
        _ => None,
    });
    labels.collect()
}

/// Whether a policy is one of sidecars.
fn is_of_sidecars(from: &Callers) -> bool {
    from.mesh || !labelled(from).is_empty()
}

/// A policy with its callers and hosts.
type Policy = (LayerIx, Callers, Vec<HostRef>);

fn policies(draft: &Draft<'_>, defaults: bool) -> Vec<Policy> {
    draft
        .layer_ixs()
        .filter_map(|ix| match draft.layer(ix).map(|l| &l.scope) {
            Some(Scope::Hops { from, to, fallback }) if *fallback == defaults => Some((ix, from.clone(), to.clone())),
            _ => None,
        })
        .collect()
}

/// The policies for each component that they reach, by system: several of one system are alternative routes.
fn group(
    draft: &mut Draft<'_>,
    policies: &[Policy],
) -> BTreeMap<ComponentIx, BTreeMap<&'static str, Vec<Alternative>>> {
    let mut groups: BTreeMap<ComponentIx, BTreeMap<&'static str, Vec<Alternative>>> = BTreeMap::new();
    for (ix, from, hosts) in policies.iter().filter(|(_, from, _)| is_of_sidecars(from)) {
        let Some(system) = draft.layer(*ix).map(|l| l.system) else { continue };
        for host in hosts {
            for to in draft.hosts.resolve(host).components {
                let alternatives = groups.entry(to).or_default().entry(system).or_default();
                if alternatives.iter().all(|a| a.layer != *ix) {
                    alternatives.push(Alternative { layer: *ix, of: labelled(from) });
                }
            }
        }
    }
    groups
}

/// A policy for hosts that nobody in the repository calls is there for callers elsewhere.
fn add_callers(draft: &mut Draft<'_>, policies: &[Policy]) {
    for (_, from, hosts) in policies.iter().filter(|(_, from, _)| is_of_sidecars(from)) {
        let mut targets: BTreeSet<ComponentIx> =
            hosts.iter().flat_map(|host| draft.hosts.resolve(host).components).collect();
        if targets.iter().any(|to| draft.hops.any(Ends::To(*to))) {
            continue;
        }
        for host in hosts {
            let found = draft.hosts.resolve(host).components;
            let reached: Vec<ComponentIx> = found.into_iter().filter(|to| targets.remove(to)).collect();
            if !reached.is_empty() {
                let mut callers: Vec<ComponentIx> =
                    labelled(from).iter().flat_map(|labels| draft.bearing(labels)).collect();
                if callers.is_empty() {
                    callers.push(callers_of(draft, host));
                }
                for (to, from) in reached.iter().flat_map(|to| callers.iter().map(move |from| (*to, *from))) {
                    let text = format!("a policy holds for `{}`, which nothing in the repository calls", host.name);
                    let reasons = [Reason::new(host.span, text), draft.hosts.why(host, to)];
                    let hop = draft.hop_because((from, to), Some(host.span), reasons);
                    draft.add_hop(hop);
                }
            }
        }
    }
}

/// What stands for the callers of a host, whatever form its name has.
fn callers_of(draft: &mut Draft<'_>, host: &HostRef) -> ComponentIx {
    let form = ServiceName::parse(&host.name).filter(|form| form.sure);
    let name = format!("callers of {}", form.map_or(&*host.name, |form| form.name));
    let namespace = form.and_then(|form| form.namespace).or(host.namespace.as_deref());
    let mut part = Part::new(&name, ComponentKind::Outside, None);
    part.namespace = namespace.map(str::to_owned);
    draft.hosts.same_as(&part).unwrap_or_else(|| draft.hosts.add(part))
}

/// The default policy of a mesh holds where no other layer of that mesh covers the hop.
fn add_defaults(draft: &mut Draft<'_>, gateways: &Gateways) {
    for (ix, from, hosts) in policies(draft, true) {
        let Some(system) = draft.layer(ix).map(|l| l.system) else { continue };
        let named: Vec<ComponentIx> = from.gateways.iter().filter_map(|g| gateways.of(g)).collect();
        for host in hosts {
            for to in draft.hosts.resolve(&host).components {
                for &gateway in &named {
                    if !draft.has_hop(gateway, to) {
                        let leads = Reason::new(host.span, format!("a route leads to `{}`", host.name));
                        let reasons = [leads, draft.hosts.why(&host, to)];
                        let hop = draft.hop_because((gateway, to), Some(host.span), reasons);
                        draft.add_hop(hop);
                    }
                }
                draft.put_on(&[vec![ix]], Ends::To(to), |draft, h| {
                    let labelled = || labelled(&from).iter().any(|labels| draft.bears(h.from, labels));
                    let called = named.contains(&h.from) || draft.in_mesh(h.from) && (from.mesh || labelled());
                    let of_system = |l: &LayerUse| draft.layer(l.layer).is_some_and(|l| l.system == system);
                    called && !h.layers.iter().any(of_system)
                });
            }
        }
    }
}
