//! The paths that are reported: the worst first, without walking them all.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cycles::Order;
use super::modes::Classes;
use super::products::{HopTable, multiplies};
use super::search::{Best, search};
use super::times;
use super::ways::Ways;
use crate::model::{Attempts, Component, ComponentIx, Hop, Layer, LayerIx, Path, WorstTime};

/// So many paths are listed.
pub(super) const LISTED: usize = 1000;

/// The paths of a graph, and what had to be cut.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// The largest products first.
    pub(super) listed: Vec<Path>,
    /// Whether there are more.
    pub(super) truncated: bool,
    /// One hop of each cycle.
    pub(super) cycles: Vec<usize>,
}

/// Lists the paths.
pub(super) fn list(components: &[Component], hops: &[Hop], layers: &[Layer], limit: u64) -> Paths {
    let classes = Classes::new(hops);
    let tables = HopTable::all(hops, components, layers, &classes, multiplies);
    let order = Order::new(components.len(), hops, |hop| tables.get(hop).is_some_and(|t| t.starts));
    let mut ways = Ways::new(&order, &tables);
    let mut listed = Vec::new();
    let mut known = BTreeSet::new();
    let mut truncated = false;
    let full = search(&tables, &order, classes.len(), |search, best, trace| {
        let Some(path) = describe(&trace, best, (components, hops, layers, &classes)) else { return true };
        let path = Path { hops: ways.through(&trace.chain_hops), ..path };
        let worth = path.layers.len() >= 2 || path.unbounded || path.product > limit;
        let key = (path.layers.clone(), trace.leaf(hops));
        if worth && !known.contains(&key) && search.is_worst(&trace) {
            truncated = listed.len() == LISTED;
            if !truncated {
                known.insert(key);
                let time = times::of_path(&path, hops, layers);
                listed.push((best.product, Path { time, ..path }));
            }
        }
        !truncated
    });
    listed.sort_by(|(a, p), (b, q)| {
        b.cmp(a).then_with(|| (&p.layers, &p.leaf, &p.entry).cmp(&(&q.layers, &q.leaf, &q.entry)))
    });
    let listed = listed.into_iter().map(|(_, path)| path).collect();
    Paths { listed, truncated: truncated || full, cycles: order.cut.clone() }
}

/// The repeated hops of a path, innermost first, and its layers, outermost first.
pub(super) struct Trace {
    pub(super) chain: usize,
    pub(super) layers: Vec<LayerIx>,
    pub(super) hops: Vec<usize>,
    /// All hops of the chain that have layers, innermost first.
    pub(super) chain_hops: Vec<usize>,
}

impl Trace {
    fn leaf(&self, hops: &[Hop]) -> Option<ComponentIx> {
        Some(hops.get(*self.hops.first()?)?.to)
    }

    fn entry(&self, hops: &[Hop]) -> Option<ComponentIx> {
        Some(hops.get(*self.hops.last()?)?.from)
    }
}

fn describe(
    trace: &Trace,
    best: Best,
    (components, hops, layers, classes): (&[Component], &[Hop], &[Layer], &Classes),
) -> Option<Path> {
    let name = |ix: ComponentIx| components.get(ix.0 as usize).map(|c| Arc::from(c.name.as_str()));
    let used = trace.layers.iter().filter_map(|ix| layers.get(ix.0 as usize));
    Some(Path {
        product: best.product.shown(),
        unbounded: best.product.unbounded > 0,
        at_least: best.product.unknown > 0,
        sustained: used.map(sustained).product(),
        failure: classes.name(best.class)?,
        entry: name(trace.entry(hops)?)?,
        leaf: name(trace.leaf(hops)?)?,
        layers: trace.layers.clone(),
        hops: Vec::new(),
        time: WorstTime::default(),
    })
}

/// What a layer multiplies the load by in the long run.
fn sustained(layer: &Layer) -> f64 {
    let attempts = match layer.attempts.value().map(|a: &Attempts| a.count()) {
        Some(Some(count)) => count as f64,
        Some(None) => f64::INFINITY,
        None => 1.0,
    };
    let ratio = layer.budget.as_ref().and_then(|b| b.ratio.value());
    ratio.map_or(attempts, |ratio| attempts.min(1.0 + ratio.max(0.0)))
}
