//! The search for the worst paths: best first, from the entries inwards.
//!
//! [`Behind`] says exactly what a chain can still come to, so the search goes straight to the largest products,
//! however many paths there are.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::bounds::Behind;
use super::chains::{Graph, Reaches};
use super::cycles::Order;
use super::modes::ClassIx;
use super::paths::Trace;
use super::products::{HopTable, Product};

/// How many numbers the search may hold, over all chains. Only graphs with very many paths that come to the same
/// layers reach it; the list then says that it is not complete.
const CAPACITY: usize = 1_000_000;

/// How many outcomes of hops the search may look at: about a second's work; for the first path, some seconds'.
const WORK: usize = 50_000_000;
const WORK_FOR_THE_FIRST: usize = 20 * WORK;

/// How many chains are looked at to see whether a path has a worse one beside it.
const EXTENSIONS: usize = 2_000;

/// Of how many chains the longer ones are kept.
const RECENT: usize = 16;

/// The failure at the inner end of a chain that comes to most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub(super) product: Product,
    pub(super) class: ClassIx,
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

/// What to do next: the largest product first; of equal ones the longest chain, so that the search does not go broad.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    product: Product,
    /// The chain is a path as it is; else it is to be made longer.
    complete: bool,
    depth: usize,
    /// The chain: one that is known, and a hop more.
    chain: Reverse<(Option<usize>, usize)>,
}

/// A search for paths.
pub(super) struct Search<'a> {
    graph: Graph<'a>,
    behind: &'a [Behind],
    chains: Vec<Chain>,
    known: BTreeMap<(Option<usize>, usize), usize>,
    waiting: BinaryHeap<Step>,
    /// The chains that are a hop longer than some, for the last of them that were made longer.
    longer: VecDeque<(Option<usize>, BTreeMap<usize, Reaches>)>,
    found: bool,
    /// Whether it was given up before its end.
    pub(super) full: bool,
}

impl<'a> Search<'a> {
    /// Starts at the entries.
    pub(super) fn new(graph: Graph<'a>, behind: &'a [Behind]) -> Self {
        let (chains, known, longer) = (Vec::new(), BTreeMap::new(), VecDeque::new());
        let waiting = BinaryHeap::new();
        let mut search = Self { graph, behind, chains, known, waiting, longer, found: false, full: false };
        search.make_longer(None);
        search
    }

    /// The next chain that may be a path, in the order of the products.
    pub(super) fn next(&mut self) -> Option<(Best, Trace)> {
        while let Some(step) = self.waiting.pop() {
            let held = (self.chains.len() + 1).saturating_mul(self.graph.classes);
            let work = if self.found { WORK } else { WORK_FOR_THE_FIRST };
            if held.max(self.waiting.len()) > CAPACITY || self.graph.work.get() > work {
                self.full = true;
                return None;
            }
            let (parent, hop) = step.chain.0;
            let Some(ix) = self.chain(parent, hop) else { continue };
            if !step.complete {
                self.make_longer(Some(ix));
            } else if let Some((chain, own)) = self.chains.get(ix).and_then(|c| Some((c, c.own?))) {
                let trace = self.trace(ix, chain, own.class);
                self.found = true;
                return Some((own, trace));
            }
        }
        None
    }

    /// The number of a chain; what it comes to is worked out again where it is no longer at hand.
    fn chain(&mut self, parent: Option<usize>, hop: usize) -> Option<usize> {
        if let Some(ix) = self.known.get(&(parent, hop)) {
            return Some(*ix);
        }
        let recent = self.longer.iter().find(|(of, _)| *of == parent);
        let reaches = match recent {
            Some((_, longer)) => longer.get(&hop)?.clone(),
            None => self.hops_behind(parent).into_iter().find(|(h, _)| *h == hop)?.1,
        };
        let chain = self.chain_behind(parent, parent.and_then(|p| self.chains.get(p)), hop, reaches);
        let ix = self.chains.len();
        self.chains.push(chain);
        self.known.insert((parent, hop), ix);
        Some(ix)
    }

    fn hops_behind(&self, parent: Option<usize>) -> Vec<(usize, Reaches)> {
        match parent {
            None => self.graph.entries(),
            Some(ix) => self.chains.get(ix).map_or_else(Vec::new, |c| self.graph.next(c.hop, &c.reaches)),
        }
    }

    fn make_longer(&mut self, parent: Option<usize>) {
        let longer = self.hops_behind(parent);
        let outer = parent.and_then(|p| self.chains.get(p));
        let mut steps = Vec::new();
        for (hop, reaches) in &longer {
            let chain = self.chain_behind(parent, outer, *hop, reaches.clone());
            steps.extend(self.steps(&chain));
        }
        self.waiting.extend(steps);
        self.longer.push_front((parent, longer.into_iter().collect()));
        self.longer.truncate(RECENT);
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

    fn steps(&self, chain: &Chain) -> impl Iterator<Item = Step> + use<> {
        let step = |product, complete| Step {
            product,
            complete,
            depth: chain.depth,
            chain: Reverse((chain.parent, chain.hop)),
        };
        let complete = chain.own.filter(|own| own.beats(chain.outer)).map(|own| step(own.product, true));
        // Whatever comes to less than a failure further out is no path's worst.
        let worst = chain.worst();
        let goes_on = self.at_most_behind(chain).filter(|product| worst.is_none_or(|w| *product >= w.product));
        complete.into_iter().chain(goes_on.map(|product| step(product, false)))
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
    pub(super) fn is_worst(&self, path: &Trace) -> bool {
        let Some((chain, best)) = self.chains.get(path.chain).and_then(|c| Some((c, c.own?))) else { return false };
        let mut open = vec![chain.clone()];
        for _ in 0..EXTENSIONS {
            let Some(chain) = open.pop() else { return false };
            if self.graph.work.get() > WORK {
                break;
            }
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

    /// The hops of a chain, innermost first.
    fn hops_of(&self, chain: &Chain) -> Vec<usize> {
        let outwards = |c: &&'_ Chain| c.parent.and_then(|p| self.chains.get(p));
        std::iter::successors(Some(chain), outwards).map(|c| c.hop).collect()
    }

    /// The layers that repeat something when the innermost callee of a chain fails in this way.
    fn trace(&self, ix: usize, chain: &Chain, class: ClassIx) -> Trace {
        let mut trace = Trace { chain: ix, layers: Vec::new(), hops: Vec::new(), chain_hops: self.hops_of(chain) };
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

/// Runs `found` on one path after the other, the largest product first, until it returns `false`.
/// Returns whether the search was given up before its end.
pub(super) fn search(
    tables: &[HopTable],
    order: &Order,
    classes: usize,
    mut found: impl FnMut(&Search<'_>, Best, Trace) -> bool,
) -> bool {
    let behind = Behind::all(order, tables, classes);
    let work = Cell::new(0);
    let mut search = Search::new(Graph { tables, order, classes, work: &work }, &behind);
    while let Some((best, trace)) = search.next() {
        if !found(&search, best, trace) {
            break;
        }
    }
    search.full
}
