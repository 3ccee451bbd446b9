//! Tests of the graph, with hand-made components, hops and layers.

mod brute_force;
mod design;
mod ladder;
mod placing;
mod repository;
mod times;
mod who_is_who;

pub(super) use brute_force::{Numbers, random_graph};
pub(super) use ladder::ladder;

use super::paths::{self, Paths};
use crate::model::{
    Attempts, Component, ComponentIx, ComponentKind, Hop, Layer, LayerIx, LayerKind, LayerUse, Mode, ModeSet, Model,
    Path, Setting,
};
use crate::testing::Draft;

/// A call graph in the making.
pub(super) struct Build {
    draft: Draft,
    components: Vec<Component>,
    hops: Vec<Hop>,
    limit: u64,
}

impl Build {
    fn new() -> Self {
        Self { draft: Draft::new(), components: Vec::new(), hops: Vec::new(), limit: 10 }
    }

    /// A layer that tries `count` times, on these failures.
    fn layer(&mut self, kind: LayerKind, count: u64, modes: ModeSet) -> LayerIx {
        let ix = LayerIx(self.draft.model.layers.len() as u32);
        let layer = self.draft.any_layer(&format!("layer {}", ix.0));
        layer.kind = kind;
        layer.retries.yes = modes;
        layer.attempts = Setting::written(Attempts::Count(count), layer.place);
        ix
    }

    fn layer_mut(&mut self, ix: LayerIx) -> &mut Layer {
        &mut self.draft.model.layers[ix.0 as usize]
    }

    fn of_kind(&mut self, kind: ComponentKind, name: &str) -> ComponentIx {
        if let Some(at) = self.components.iter().position(|c| c.name == name) {
            return ComponentIx(at as u32);
        }
        self.components.push(Component { name: name.to_owned(), kind, place: None });
        ComponentIx(self.components.len() as u32 - 1)
    }

    fn service(&mut self, name: &str) -> ComponentIx {
        self.of_kind(ComponentKind::Service, name)
    }

    /// A hop between services with these layers, outermost first.
    fn hop(&mut self, from: &str, to: &str, layers: &[LayerIx]) -> &mut Hop {
        let (from, to) = (self.service(from), self.service(to));
        let uses = layers.iter().map(|ix| {
            let layer = &self.draft.model.layers[ix.0 as usize];
            let modes = if layer.copies { ModeSet::all() } else { layer.retries.yes.union(layer.retries.unknown) };
            LayerUse { layer: *ix, modes }
        });
        let layers = uses.collect();
        self.hops.push(Hop { layers, ..Hop::new(from, to, None) });
        self.hops.last_mut().unwrap()
    }

    /// The graph, as a model.
    pub(super) fn model(self) -> Model {
        Model { components: self.components, hops: self.hops, ..self.draft.model }
    }

    fn paths(&self) -> Paths {
        paths::list(&self.components, &self.hops, &self.draft.model.layers, self.limit)
    }

    /// Every path, those of one layer too.
    fn all(&mut self) -> Vec<Path> {
        self.limit = 0;
        self.paths().listed
    }

    fn only(&mut self) -> Path {
        let mut all = self.all();
        assert_eq!(all.len(), 1, "{all:#?}");
        all.remove(0)
    }
}

fn refused() -> ModeSet {
    [Mode::Refused].into_iter().collect()
}

pub(super) fn any_5xx() -> ModeSet {
    ModeSet::statuses(500..=599)
}

fn status(code: u16) -> ModeSet {
    ModeSet::statuses([code])
}

fn ids(layers: &[LayerIx]) -> Vec<u32> {
    layers.iter().map(|l| l.0).collect()
}
