//! Policies of a mesh: they sit innermost on every hop from a component with a sidecar to the host that they name.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::gateways::Gateways;
use super::hops::Ends;
use super::hosts::Part;
use super::names::ServiceName;
use crate::model::{Callers, ComponentIx, ComponentKind, HostRef, LayerIx, LayerUse, Scope};

/// Puts the policies of all meshes on their hops.
pub(super) fn add_layers(draft: &mut Draft<'_>, gateways: &Gateways) {
    let policies = policies(draft, false);
    add_callers(draft, &policies);
    for (to, by_system) in group(draft, &policies) {
        let groups: Vec<Vec<LayerIx>> = by_system.into_values().collect();
        draft.put_on(&groups, Ends::To(to), |draft, h| draft.in_mesh(h.from));
    }
    add_defaults(draft, gateways);
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
fn group(draft: &mut Draft<'_>, policies: &[Policy]) -> BTreeMap<ComponentIx, BTreeMap<&'static str, Vec<LayerIx>>> {
    let mut groups: BTreeMap<ComponentIx, BTreeMap<&'static str, Vec<LayerIx>>> = BTreeMap::new();
    for (ix, _, hosts) in policies.iter().filter(|(_, from, _)| from.mesh) {
        let Some(system) = draft.layer(*ix).map(|l| l.system) else { continue };
        for host in hosts {
            for to in draft.hosts.resolve(host).components {
                let alternatives = groups.entry(to).or_default().entry(system).or_default();
                if !alternatives.contains(ix) {
                    alternatives.push(*ix);
                }
            }
        }
    }
    groups
}

/// A policy for hosts that nobody in the repository calls is there for callers elsewhere.
fn add_callers(draft: &mut Draft<'_>, policies: &[Policy]) {
    for (_, _, hosts) in policies.iter().filter(|(_, from, _)| from.mesh) {
        let mut targets: BTreeSet<ComponentIx> =
            hosts.iter().flat_map(|host| draft.hosts.resolve(host).components).collect();
        if targets.iter().any(|to| draft.hops.any(Ends::To(*to))) {
            continue;
        }
        for host in hosts {
            let found = draft.hosts.resolve(host).components;
            let reached: Vec<ComponentIx> = found.into_iter().filter(|to| targets.remove(to)).collect();
            if !reached.is_empty() {
                let callers = callers_of(draft, host);
                for to in reached {
                    let hop = draft.new_hop(callers, to, Some(host.span));
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
    let known =
        draft.hosts.iter().find(|(_, p)| (&p.name, &p.namespace, p.kind) == (&part.name, &part.namespace, part.kind));
    match known {
        Some((ix, _)) => ix,
        None => draft.hosts.add(part),
    }
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
                        let hop = draft.new_hop(gateway, to, Some(host.span));
                        draft.add_hop(hop);
                    }
                }
                draft.put_on(&[vec![ix]], Ends::To(to), |draft, h| {
                    let called = named.contains(&h.from) || (from.mesh && draft.in_mesh(h.from));
                    let of_system = |l: &LayerUse| draft.layer(l.layer).is_some_and(|l| l.system == system);
                    called && !h.layers.iter().any(of_system)
                });
            }
        }
    }
}
