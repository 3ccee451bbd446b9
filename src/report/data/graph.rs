//! Components, hops, paths and ways as data.

use serde::Serialize;

use super::{Location, Locator};
use crate::graph::{Chain, Failure, Repeat};
use crate::model::{Component, Hop, Model, Path};
use crate::report::json::{self, LoadJson, TimeJson};

/// A component.
#[derive(Debug, Serialize)]
pub struct ComponentData<'r> {
    /// Its name.
    pub name: &'r str,
    /// "gateway", "service", "job", "host" (outside of the repository), "outside" (stands for unknown callers).
    pub kind: &'static str,
    /// Where it is declared.
    pub location: Option<Location>,
}

/// A call.
#[derive(Debug, Serialize)]
pub struct HopData {
    /// The caller: an index into `components`.
    pub from: usize,
    /// The callee.
    pub to: usize,
    /// Its layers, outermost first: indexes into `layers`.
    pub layers: Vec<usize>,
    /// Whether it carries gRPC.
    pub grpc: bool,
    /// Whether it is made for each of several items: that is no retry, and no factor.
    pub per_item: bool,
    /// The queue that it leads through: the caller does not wait.
    pub through: Option<String>,
    /// Where the call is made or the route is written.
    pub location: Option<Location>,
}

/// A path.
#[derive(Debug, Serialize)]
pub struct PathData<'r> {
    /// What one request at the entry can become; null without end.
    pub product: Option<u64>,
    /// Whether something is tried without end.
    pub unbounded: bool,
    /// Whether a count is not known, so that the product is a lower bound.
    pub at_least: bool,
    /// With each retry budget counted as it works in the long run; null without end.
    pub sustained: Option<f64>,
    /// How the leaf fails.
    pub failure: String,
    /// Where it starts.
    pub entry: &'r str,
    /// Which component fails.
    pub leaf: &'r str,
    /// The layers that multiply, outermost first: indexes into `layers`.
    pub layers: Vec<usize>,
    /// How long one request at the entry can take at worst.
    pub worst_time: TimeJson,
    /// What the leaf gets on average, where each try at it fails with some probability.
    pub expected_load: Vec<LoadJson>,
}

/// The layers that repeat a hop in some failures, and what then repeats further out.
#[derive(Debug, Serialize)]
pub struct RepeatData {
    /// Further out: an index into `repeats`, smaller than that of this one.
    pub outer: Option<usize>,
    /// The hop: an index into `hops`.
    pub hop: usize,
    /// Its layers that repeat it, outermost first: indexes into `layers`.
    pub layers: Vec<usize>,
}

/// A way through the graph that no other one contains.
#[derive(Debug, Serialize)]
pub struct ChainData {
    /// Indexes into `hops`, outermost first.
    pub hops: Vec<usize>,
    /// Every failure on it in which something is repeated.
    pub failures: Vec<FailureData>,
}

/// Failures and what multiplies in them: the attempts of all layers from this repeat outwards. Their product is what one
/// request becomes.
#[derive(Debug, Serialize)]
pub struct FailureData {
    /// The callee of this repeat's hop fails: an index into `repeats`.
    pub repeat: usize,
    /// In one of these modes: indexes into `modes`.
    pub modes: Vec<usize>,
}

pub(in crate::report) fn components<'r>(model: &'r Model, places: &mut Locator<'_>) -> Vec<ComponentData<'r>> {
    let component = |c: &'r Component| ComponentData {
        name: &c.name,
        kind: c.kind.name(),
        location: c.place.map(|place| places.of(place)),
    };
    model.components.iter().map(component).collect()
}

pub(super) fn hops(model: &Model, places: &mut Locator<'_>) -> Vec<HopData> {
    let hop = |h: &Hop| HopData {
        from: h.from.0 as usize,
        to: h.to.0 as usize,
        layers: h.layers.iter().map(|l| l.layer.0 as usize).collect(),
        grpc: h.grpc,
        per_item: h.per_item,
        through: h.through.as_deref().map(str::to_owned),
        location: h.place.map(|place| places.of(place)),
    };
    model.hops.iter().map(hop).collect()
}

pub(super) fn paths(model: &Model) -> Vec<PathData<'_>> {
    model.paths.iter().map(|p| path(model, p)).collect()
}

fn path<'r>(model: &Model, path: &'r Path) -> PathData<'r> {
    PathData {
        product: (!path.unbounded).then_some(path.product),
        unbounded: path.unbounded,
        at_least: path.at_least,
        sustained: path.sustained.is_finite().then_some(path.sustained),
        failure: path.failure.to_string(),
        entry: &path.entry,
        leaf: &path.leaf,
        layers: path.layers.iter().map(|l| l.0 as usize).collect(),
        worst_time: json::worst_time(path.time),
        expected_load: json::expected_load(model, path),
    }
}

pub(super) fn repeat(repeat: &Repeat) -> RepeatData {
    let layers = repeat.layers.iter().map(|l| l.0 as usize).collect();
    RepeatData { outer: repeat.outer, hop: repeat.hop, layers }
}

pub(super) fn chain(chain: Chain) -> ChainData {
    let failure = |f: Failure| FailureData { repeat: f.repeat, modes: f.modes };
    ChainData { hops: chain.hops, failures: chain.failures.into_iter().map(failure).collect() }
}
