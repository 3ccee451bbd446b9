//! The paths that are reported: the worst first, without walking them all.
//!
//! A best-first search from the entries inwards. [`Behind`] says exactly what a chain can still come to, so the
//! search goes straight to the largest products, however many paths there are.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::bounds::Behind;
use super::chains::{Graph, Reaches};
use super::cycles::Order;
use super::modes::{ClassIx, Classes};
use super::products::{HopTable, Product};
use crate::model::{Attempts, Component, ComponentIx, Hop, Layer, LayerIx, Path};

/// So many paths are listed.
pub(super) const LISTED: usize = 1000;

/// How much the search may hold: numbers, over all chains. Only graphs with very many paths that come to the same
/// layers reach it; the list then says that it is not complete.
const CAPACITY: usize = 1_000_000;

/// How many outcomes of hops the search may look at: a second's work.
const WORK: usize = 50_000_000;

/// How many chains are looked at to see whether a path has a worse one beside it.
const EXTENSIONS: usize = 2_000;

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
    let tables: Vec<HopTable> = hops.iter().map(|h| HopTable::new(h, components, layers, &classes)).collect();
    let order = Order::new(components.len(), hops, &tables);
    let behind = Behind::all(&order, &tables, classes.len());
    let work = Cell::new(0);
    let graph = Graph { tables: &tables, order: &order, classes: classes.len(), work: &work };
    let mut search = Search { graph, behind: &behind, chains: Vec::new(), waiting: BinaryHeap::new(), full: false };
    search.start();
    let mut listed = Vec::new();
    let mut known = BTreeSet::new();
    let mut truncated = false;
    while let Some(found) = search.next() {
        let Some((chain, best)) = search.chains.get(found).and_then(|c| Some((c, c.own?))) else { continue };
        let trace = search.trace(chain, best.class);
        let Some(path) = describe(&trace, best, (components, hops, layers, &classes)) else { continue };
        let worth = path.layers.len() >= 2 || path.unbounded || path.product > limit;
        if !worth || known.contains(&(path.layers.clone(), trace.leaf(hops))) || !search.is_worst(chain) {
            continue;
        }
        if listed.len() == LISTED {
            truncated = true;
            break;
        }
        known.insert((path.layers.clone(), trace.leaf(hops)));
        listed.push((best.product, path));
    }
    listed.sort_by(|(a, p), (b, q)| {
        b.cmp(a).then_with(|| (&p.layers, &p.leaf, &p.entry).cmp(&(&q.layers, &q.leaf, &q.entry)))
    });
    let listed = listed.into_iter().map(|(_, path)| path).collect();
    Paths { listed, truncated: truncated || search.full, cycles: order.cut.clone() }
}

/// The failure at the inner end of a chain that comes to most.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    product: Product,
    class: ClassIx,
}

impl Best {
    /// Whether it is named rather than `other`: the larger product, else the mode that comes first.
    fn beats(self, other: Option<Self>) -> bool {
        other.is_none_or(|o| (self.product, Reverse(self.class)) > (o.product, Reverse(o.class)))
    }
}

/// A chain of repeated hops from an entry.
#[derive(Debug, Clone)]
struct Chain {
    parent: Option<usize>,
    depth: usize,
    hop: usize,
    reaches: Reaches,
    /// The worst failure of the innermost callee in which the innermost hop is repeated.
    own: Option<Best>,
    /// The worst failure at any component further out.
    outer: Option<Best>,
}

impl Chain {
    fn worst(&self) -> Option<Best> {
        match self.own {
            Some(own) if own.beats(self.outer) => Some(own),
            _ => self.outer,
        }
    }
}

/// What to do next: the largest product first; of equal ones the deepest chain, so that the search does not go broad.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    product: Product,
    /// The chain is a path as it is; else it is to be made longer.
    complete: bool,
    depth: usize,
    chain: Reverse<usize>,
}

struct Search<'a> {
    graph: Graph<'a>,
    behind: &'a [Behind],
    chains: Vec<Chain>,
    waiting: BinaryHeap<Step>,
    full: bool,
}

impl Search<'_> {
    fn start(&mut self) {
        for (hop, reaches) in self.graph.entries() {
            let chain = self.chain(None, hop, reaches);
            self.add(chain);
        }
    }

    /// The next chain that may be a path, in the order of the products.
    fn next(&mut self) -> Option<usize> {
        while let Some(step) = self.waiting.pop() {
            let ix = step.chain.0;
            if step.complete {
                return Some(ix);
            }
            let held = (self.chains.len() + 1).saturating_mul(self.graph.classes);
            if held > CAPACITY || self.graph.work.get() > WORK {
                self.full = true;
                return None;
            }
            let Some(chain) = self.chains.get(ix) else { continue };
            for (hop, reaches) in self.graph.next(chain.hop, &chain.reaches) {
                let chain = self.chain(Some(ix), hop, reaches);
                self.add(chain);
            }
        }
        None
    }

    fn chain(&self, parent: Option<usize>, hop: usize, reaches: Reaches) -> Chain {
        let outer = parent.and_then(|p| self.chains.get(p));
        self.chain_behind(parent, outer, hop, reaches)
    }

    fn chain_behind(&self, parent: Option<usize>, outer: Option<&Chain>, hop: usize, reaches: Reaches) -> Chain {
        let own = self.graph.table(hop).and_then(|table| {
            let repeated = table.outcomes().filter(|(_, outcome)| !outcome.layers.is_empty());
            let failures = repeated
                .filter_map(|(class, _)| Some(Best { product: reaches.get(class).copied().flatten()?.product, class }));
            failures.reduce(|a, b| if b.beats(Some(a)) { b } else { a })
        });
        let depth = outer.map_or(0, |c| c.depth + 1);
        Chain { parent, depth, hop, reaches, own, outer: outer.and_then(Chain::worst) }
    }

    fn add(&mut self, chain: Chain) {
        let ix = self.chains.len();
        let (depth, behind) = (chain.depth, self.at_most_behind(&chain));
        let worst = chain.worst();
        if let Some(own) = chain.own
            && own.beats(chain.outer)
        {
            self.waiting.push(Step { product: own.product, complete: true, depth, chain: Reverse(ix) });
        }
        // Whatever comes to less than a failure further out is no path's worst.
        if let Some(product) = behind
            && worst.is_none_or(|w| product >= w.product)
        {
            self.waiting.push(Step { product, complete: false, depth, chain: Reverse(ix) });
        }
        self.chains.push(chain);
    }

    /// The largest product that this chain can come to when it is made longer.
    fn at_most_behind(&self, chain: &Chain) -> Option<Product> {
        let behind = self.behind.get(self.graph.callee(chain.hop)?)?;
        let failing = behind.failing.iter().zip(&chain.reaches);
        failing
            .filter_map(|(inner, reach)| Some(inner.as_ref()?.times(reach.as_ref()?.product)))
            .max()
            .max(behind.absorbed)
    }

    /// Whether some path through this chain has no worse failure further in.
    fn is_worst(&self, chain: &Chain) -> bool {
        let Some(best) = chain.own else { return false };
        let mut open = vec![chain.clone()];
        for _ in 0..EXTENSIONS {
            let Some(chain) = open.pop() else { return false };
            if self.at_most_behind(&chain).is_none_or(|product| product < best.product) {
                return true;
            }
            let next = self.graph.next(chain.hop, &chain.reaches).into_iter();
            let longer = next.map(|(hop, reaches)| self.chain_behind(None, Some(&chain), hop, reaches));
            let not_worse = longer.filter(|c| !c.own.is_some_and(|own| own.beats(Some(best))));
            open.extend(not_worse);
        }
        // So many and none worse to the end: it is shown rather than hidden.
        true
    }

    /// The layers that repeat something when the innermost callee of a chain fails in this way.
    fn trace(&self, chain: &Chain, class: ClassIx) -> Trace {
        let mut trace = Trace { layers: Vec::new(), hops: Vec::new() };
        let mut next = Some((chain, class));
        while let Some((chain, class)) = next {
            let outcome = self.graph.table(chain.hop).and_then(|t| t.outcome(class));
            if let Some(outcome) = outcome.filter(|o| !o.layers.is_empty()) {
                trace.layers.splice(0..0, outcome.layers.iter().copied());
                trace.hops.push(chain.hop);
            }
            let reach = chain.reaches.get(class).copied().flatten();
            let parent = chain.parent.and_then(|p| self.chains.get(p));
            next = parent.zip(reach.and_then(|r| r.outer));
        }
        trace
    }
}

/// The repeated hops of a path, innermost first, and its layers, outermost first.
struct Trace {
    layers: Vec<LayerIx>,
    hops: Vec<usize>,
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
