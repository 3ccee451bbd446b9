//! Who has a layer and whom it calls, as every report tells it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Layer, LayerIx, Model, Scope};

/// The callers and callees of the hops on which a layer sits.
#[derive(Debug, Default)]
pub(super) struct Ends<'m> {
    from: BTreeSet<&'m str>,
    to: BTreeSet<&'m str>,
}

/// The ends of all layers that sit on a hop.
pub(super) fn of_layers(model: &Model) -> BTreeMap<LayerIx, Ends<'_>> {
    let mut all: BTreeMap<LayerIx, Ends<'_>> = BTreeMap::new();
    for hop in &model.hops {
        for used in &hop.layers {
            let ends = all.entry(used.layer).or_default();
            ends.from.insert(&model.component(hop.from).name);
            ends.to.insert(&model.component(hop.to).name);
        }
    }
    all
}

impl Ends<'_> {
    /// The component that has the layer; of code that several run, all of them.
    pub(super) fn component(&self, layer: &Layer) -> Option<String> {
        layer.component.clone().or_else(|| joined(self.from.iter().copied()))
    }

    /// The callees, where linking found some; else what the settings name.
    pub(super) fn target(&self, layer: &Layer) -> Option<String> {
        joined(self.to.iter().copied()).or_else(|| {
            let named: BTreeSet<&str> = match &layer.scope {
                Scope::Hops { to, .. } => to.iter().map(|host| &*host.name).collect(),
                Scope::Client { to, .. } => to.iter().map(|host| &*host.name).collect(),
                Scope::Code | Scope::Consumers { .. } => BTreeSet::new(),
            };
            joined(named.into_iter())
        })
    }
}

fn joined<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}
