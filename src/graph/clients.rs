//! Clients' settings: they sit on the hops of the component that reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::draft::Draft;
use super::hops::Ends;
use super::hosts::Part;
use super::owners::Owners;
use crate::model::{ComponentIx, ComponentKind, HostRef, Layer, LayerIx, LayerKind, Reason, Scope};

/// Puts the settings of all clients on their hops.
pub(super) fn add_layers(draft: &mut Draft<'_>, owners: &Owners) {
    // Base settings and profiles that speak of one client are alternatives: they share its id.
    let mut groups: BTreeMap<(ComponentIx, ComponentIx), BTreeMap<Arc<str>, Vec<LayerIx>>> = BTreeMap::new();
    let mut speak_grpc = BTreeSet::new();
    for ix in draft.layer_ixs() {
        let Some(layer) = draft.layer(ix).cloned() else { continue };
        let Scope::Client { to, grpc } = &layer.scope else { continue };
        if !layer.is_on_paths() {
            continue;
        }
        let of = owners_of(draft, owners, ix);
        if to.is_none() && matches!(layer.kind, LayerKind::Queue | LayerKind::Job) {
            repeat_all(draft, ix, &of);
            continue;
        }
        for owner in of {
            let targets = match to {
                Some(host) => {
                    let namespace = draft.hosts.part(owner).and_then(|p| p.namespace.clone());
                    let host = HostRef { namespace: host.namespace.clone().or(namespace), ..host.clone() };
                    draft.hosts.behind_client(&host)
                }
                None => vec![draft.unknown_target(&layer.name, layer.opens, "its settings name no host".to_owned())],
            };
            for target in targets {
                if *grpc {
                    speak_grpc.insert((owner, target));
                }
                groups.entry((owner, target)).or_default().entry(layer.id.clone()).or_default().push(ix);
            }
        }
    }
    for ((owner, target), by_id) in groups {
        let groups: Vec<Vec<LayerIx>> = by_id.into_values().collect();
        if !draft.has_hop(owner, target) {
            let first = groups.iter().flatten().next().and_then(|ix| draft.layer(*ix));
            let place = first.map(|l| l.opens);
            let names = |p: &Part| p.name.clone();
            let of = |ix| draft.hosts.part(ix).map(names).unwrap_or_default();
            let says = |l: &Layer| Reason::new(l.opens, format!("{} of {} is for {}", l.name, of(owner), of(target)));
            let reasons: Vec<Reason> = first.map(says).into_iter().collect();
            let hop = draft.hop_because((owner, target), place, reasons);
            draft.add_hop(hop);
        }
        if speak_grpc.contains(&(owner, target)) {
            draft.mark_grpc(owner, target, true);
        }
        draft.put_on(&groups, Ends::Between(owner, target), |_, _| true);
    }
}

fn owners_of(draft: &mut Draft<'_>, owners: &Owners, ix: LayerIx) -> Vec<ComponentIx> {
    let Some(layer) = draft.layer(ix).cloned() else { return Vec::new() };
    match &layer.component {
        Some(name) => {
            let known = draft.hosts.all_named(name);
            if known.is_empty() { vec![draft.hosts.add(Part::new(name, ComponentKind::Service, None))] } else { known }
        }
        None => {
            let path = draft.sources.get(layer.place.file).map_or_else(String::new, |f| f.path.to_string());
            owners.of_place(layer.place, &path, &mut draft.hosts)
        }
    }
}

/// A redelivery or a rerun repeats whatever its component does.
fn repeat_all(draft: &mut Draft<'_>, ix: LayerIx, owners: &[ComponentIx]) {
    for owner in owners {
        if !draft.hops.any(Ends::From(*owner)) {
            let Some((name, opens)) = draft.layer(ix).map(|l| (l.name.clone(), l.opens)) else { continue };
            let reason = "nothing shows what its component calls";
            let why = Reason::new(opens, format!("{name} repeats something, and {reason}"));
            let to = draft.unknown_target(&name, opens, reason.to_owned());
            let hop = draft.hop_because((*owner, to), Some(opens), [why]);
            draft.add_hop(hop);
        }
        draft.put_on(&[vec![ix]], Ends::From(*owner), |_, _| true);
    }
}
