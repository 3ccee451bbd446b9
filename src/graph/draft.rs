//! The model in the making: components, layers by number, hops.

use std::collections::BTreeSet;

use super::hops::{Ends, Hops};
use super::hosts::{Hosts, Part};
use super::products::Product;
use crate::model::{
    ComponentIx, ComponentKind, Hop, Layer, LayerIx, LayerKind, LayerUse, ModeSet, Reason, Scope, Unresolved,
};
use crate::source::{Sources, Span};

/// So many combinations of alternatives are told apart on one hop; beyond, each takes its worst.
const MAX_ALTERNATIVES: usize = 64;

/// Labels whose value is the name of an application.
const NAMING: [&str; 4] = ["app", "app.kubernetes.io/name", "k8s-app", "kuma.io/service"];

/// The model in the making. Layers are numbered as they came; sorting them by place comes last.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) hosts: Hosts,
    pub(super) sources: &'a Sources,
    pub(super) layers: Vec<Layer>,
    pub(super) hops: Hops,
    pub(super) unresolved: Vec<Unresolved>,
    /// Calls that take messages from a queue, or say that they are done.
    pub(super) taking: BTreeSet<Span>,
}

impl Draft<'_> {
    /// The numbers of all layers.
    pub(super) fn layer_ixs(&self) -> impl Iterator<Item = LayerIx> + use<> {
        (0..self.layers.len() as u32).map(LayerIx)
    }

    /// A layer.
    pub(super) fn layer(&self, ix: LayerIx) -> Option<&Layer> {
        self.layers.get(ix.0 as usize)
    }

    /// A hop without layers that a request can cause, with what it rests on.
    pub(super) fn hop_because(
        &self,
        (from, to): (ComponentIx, ComponentIx),
        place: Option<Span>,
        reasons: impl IntoIterator<Item = Reason>,
    ) -> Hop {
        Hop { reasons: reasons.into_iter().collect(), ..Hop::new(from, to, place) }
    }

    /// Adds a hop, once.
    pub(super) fn add_hop(&mut self, hop: Hop) {
        self.hops.add(hop);
    }

    /// Whether there is a hop.
    pub(super) fn has_hop(&self, from: ComponentIx, to: ComponentIx) -> bool {
        self.hops.any(Ends::Between(from, to))
    }

    /// Marks the hops between two components as gRPC.
    pub(super) fn mark_grpc(&mut self, from: ComponentIx, to: ComponentIx, grpc: bool) {
        self.hops.change(Ends::Between(from, to), |h| h.grpc |= grpc);
    }

    /// Layers of settings as they work on a hop.
    pub(super) fn uses(&self, layers: &[LayerIx]) -> Vec<LayerUse> {
        let modes = |layer: &Layer| match layer.copies {
            true => ModeSet::all(),
            false => layer.retries.yes.union(layer.retries.unknown),
        };
        layers.iter().filter_map(|ix| Some(LayerUse { layer: *ix, modes: modes(self.layer(*ix)?) })).collect()
    }

    /// A leaf for what a layer or a call of unknown target reaches, and the reason among what is not resolved.
    pub(super) fn unknown_target(&mut self, of: &str, span: Span, reason: String) -> ComponentIx {
        let name = format!("the host behind {of}");
        self.unresolved.push(Unresolved { span, what: name.clone(), reason });
        self.hosts
            .leaf_named(&name)
            .unwrap_or_else(|| self.hosts.add(Part::new(&name, ComponentKind::Host, Some(span))))
    }

    /// Puts layers on the hops with these ends that `test` picks. Each group holds alternatives: a hop takes one of
    /// each group, and there is one hop for each choice.
    pub(super) fn put_on(&mut self, groups: &[Vec<LayerIx>], ends: Ends, test: impl Fn(&Self, &Hop) -> bool) {
        let choices = self.choices(groups);
        let mut hops = std::mem::take(&mut self.hops);
        hops.replace(ends, |hop| {
            if !test(self, &hop) {
                return vec![hop];
            }
            let with = |choice: &Vec<LayerIx>| {
                let mut hop = hop.clone();
                choice.iter().for_each(|layer| self.insert(&mut hop, *layer));
                hop
            };
            choices.iter().map(with).collect()
        });
        self.hops = hops;
    }

    fn choices(&self, groups: &[Vec<LayerIx>]) -> Vec<Vec<LayerIx>> {
        let many = groups.iter().fold(1usize, |n, g| n.saturating_mul(g.len())) > MAX_ALTERNATIVES;
        groups.iter().fold(vec![Vec::new()], |choices, group| {
            let worst =
                group.iter().copied().max_by_key(|ix| (self.layer(*ix).map(Product::of), std::cmp::Reverse(*ix)));
            let group: Vec<LayerIx> = if many { worst.into_iter().collect() } else { group.clone() };
            let longer = |choice: &Vec<LayerIx>| {
                let choice = choice.clone();
                group.iter().map(move |ix| [choice.as_slice(), &[*ix]].concat()).collect::<Vec<_>>()
            };
            choices.iter().flat_map(longer).collect()
        })
    }

    /// Puts a layer where its kind stands: outermost queues and jobs, then code, clients, proxies. Once.
    fn insert(&self, hop: &mut Hop, layer: LayerIx) {
        let depth = |ix: LayerIx| self.layer(ix).map_or(0, |l| l.kind.depth());
        if hop.layers.iter().any(|l| l.layer == layer) {
            return;
        }
        let at = hop.layers.iter().rposition(|l| depth(l.layer) <= depth(layer)).map_or(0, |at| at + 1);
        hop.layers.splice(at..at, self.uses(&[layer]));
    }

    /// The components that have a sidecar of a mesh, as far as anybody can tell: all but gateways.
    pub(super) fn in_mesh(&self, ix: ComponentIx) -> bool {
        self.hosts.part(ix).is_some_and(|p| p.kind != ComponentKind::Gateway)
    }

    /// Whether a component's pods bear these labels, or it is named as one of those that name an application. What stands
    /// for callers elsewhere may.
    pub(super) fn bears(&self, ix: ComponentIx, labels: &[(String, String)]) -> bool {
        let Some(part) = self.hosts.part(ix) else { return false };
        let all = |own: &Vec<(String, String)>| labels.iter().all(|pair| own.contains(pair));
        let named = |(key, value): &(String, String)| NAMING.contains(&key.as_str()) && *value == part.name;
        part.kind == ComponentKind::Outside || part.labels.iter().any(all) || labels.iter().any(named)
    }

    /// The components of the repository that do.
    pub(super) fn bearing(&self, labels: &[(String, String)]) -> Vec<ComponentIx> {
        let runs = |p: &Part| matches!(p.kind, ComponentKind::Service | ComponentKind::Job);
        let all = self.hosts.iter().filter(|(_, p)| runs(p)).map(|(ix, _)| ix);
        all.filter(|ix| self.bears(*ix, labels)).collect()
    }

    /// Takes out the defaults of a mesh that apply to nothing.
    pub(super) fn drop_idle_defaults(&mut self) {
        let used: BTreeSet<LayerIx> = self.hops.iter().flat_map(|h| h.layers.iter().map(|l| l.layer)).collect();
        // One that somebody wrote opens where it is written, not where its host is named.
        let is_default = |l: &Layer| matches!(l.scope, Scope::Hops { fallback: true, .. }) && !l.asked_for;
        let unwritten = |l: &Layer| match &l.scope {
            Scope::Hops { to, fallback: true, .. } => to.iter().any(|host| host.span == l.opens),
            _ => false,
        };
        let idle = |ix: LayerIx, l: &Layer| {
            (unwritten(l) || is_default(l)) && l.kind == LayerKind::Mesh && !used.contains(&ix)
        };
        let kept: Vec<LayerIx> =
            self.layer_ixs().zip(&self.layers).filter(|(ix, l)| !idle(*ix, l)).map(|(ix, _)| ix).collect();
        self.renumber(&kept);
    }

    /// Sorts the layers by place.
    pub(super) fn sort_layers(&mut self) {
        let mut order: Vec<LayerIx> = self.layer_ixs().collect();
        order.sort_by_key(|ix| self.layer(*ix).map(|l| (l.place, l.id.clone())));
        self.renumber(&order);
    }

    /// Keeps these layers, in this order.
    fn renumber(&mut self, kept: &[LayerIx]) {
        let mut new: Vec<Option<LayerIx>> = vec![None; self.layers.len()];
        for (number, old) in kept.iter().enumerate() {
            if let Some(slot) = new.get_mut(old.0 as usize) {
                *slot = Some(LayerIx(number as u32));
            }
        }
        self.layers = kept.iter().filter_map(|ix| self.layer(*ix).cloned()).collect();
        for hop in self.hops.iter_mut() {
            hop.layers = std::mem::take(&mut hop.layers)
                .into_iter()
                .filter_map(|l| Some(LayerUse { layer: new.get(l.layer.0 as usize).copied().flatten()?, ..l }))
                .collect();
        }
    }
}
