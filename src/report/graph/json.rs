//! The graph as data, version 1: within it fields may be added; none is renamed, removed or changes its meaning.
//! Indexes count from 0.

use std::io::{self, Write};

use serde::Serialize;

use crate::model::{Hop, LayerUse, Model, Path, Reason};
use crate::report::data::{self, ComponentData, Location, Locator};
use crate::run::Run;

#[derive(Serialize)]
struct GraphJson<'r> {
    schema_version: u32,
    components: Vec<ComponentData<'r>>,
    hops: Vec<HopJson<'r>>,
    paths: Vec<PathJson<'r>>,
    paths_truncated: bool,
}

/// A call from one component to another. Several between the same two are alternatives.
#[derive(Serialize)]
struct HopJson<'r> {
    from: usize,
    to: usize,
    /// Outermost first.
    layers: Vec<LayerJson<'r>>,
    /// Whether a request to the caller can cause it.
    on_request: bool,
    grpc: bool,
    /// Whether it is made for each of several items: that is no retry, and no factor.
    per_item: bool,
    /// The queue through which it leads; the caller does not wait then.
    through: Option<&'r str>,
    location: Option<Location>,
    reasons: Vec<ReasonJson<'r>>,
}

#[derive(Serialize)]
struct LayerJson<'r> {
    id: &'r str,
    name: &'r str,
    attempts: Option<u64>,
    unbounded: bool,
    /// The failures of the callee in which it repeats this hop.
    retries_on: Vec<String>,
    location: Location,
}

#[derive(Serialize)]
struct ReasonJson<'r> {
    text: &'r str,
    location: Option<Location>,
}

#[derive(Serialize)]
struct PathJson<'r> {
    product: Option<u64>,
    unbounded: bool,
    at_least: bool,
    failure: String,
    entry: &'r str,
    leaf: &'r str,
    hops: Vec<u32>,
}

pub(super) fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let model = &run.model;
    let mut writer = Writer { model, places: Locator::new(run) };
    let components = data::graph::components(model, &mut writer.places);
    let graph = GraphJson {
        schema_version: 1,
        components,
        hops: model.hops.iter().map(|hop| writer.hop(hop)).collect(),
        paths: model.paths.iter().map(path).collect(),
        paths_truncated: model.paths_truncated,
    };
    serde_json::to_writer_pretty(&mut *out, &graph)?;
    writeln!(out)
}

struct Writer<'r> {
    model: &'r Model,
    places: Locator<'r>,
}

impl<'r> Writer<'r> {
    fn hop(&mut self, hop: &'r Hop) -> HopJson<'r> {
        HopJson {
            from: hop.from.0 as usize,
            to: hop.to.0 as usize,
            layers: hop.layers.iter().map(|l| self.layer(l)).collect(),
            on_request: hop.on_request,
            grpc: hop.grpc,
            per_item: hop.per_item,
            through: hop.through.as_deref(),
            location: hop.place.map(|place| self.places.of(place)),
            reasons: hop.reasons.iter().map(|r| self.reason(r)).collect(),
        }
    }

    fn layer(&mut self, used: &LayerUse) -> LayerJson<'r> {
        let layer = self.model.layer(used.layer);
        LayerJson {
            id: &layer.id,
            name: &layer.name,
            attempts: layer.attempts.value().and_then(|a| a.count()),
            unbounded: layer.is_unbounded(),
            retries_on: used.modes.names(),
            location: self.places.of(layer.place),
        }
    }

    fn reason(&mut self, reason: &'r Reason) -> ReasonJson<'r> {
        ReasonJson { text: &reason.text, location: reason.span.map(|span| self.places.of(span)) }
    }
}

fn path(path: &Path) -> PathJson<'_> {
    PathJson {
        product: (!path.unbounded).then_some(path.product),
        unbounded: path.unbounded,
        at_least: path.at_least,
        failure: path.failure.to_string(),
        entry: &path.entry,
        leaf: &path.leaf,
        hops: path.hops.iter().map(|h| h.0).collect(),
    }
}
