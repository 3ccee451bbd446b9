//! The search for whole ways: best first, from the entries inwards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::rc::Rc;

use super::super::bounds::Behind;
use super::super::chains::Graph;
use super::super::cycles::Node;
use super::super::products::{HopTable, Product};
use super::history::{History, Way};
use super::{Chain, Factors, Failure, LISTED};
use crate::model::{Layer, LayerIx};

/// Where the search ends.
#[derive(Debug)]
pub(super) struct Limits {
    /// How many ways are listed whose worst failures differ, and how many that come to the same as another.
    pub(super) listed: usize,
    /// How many steps the search may make.
    pub(super) steps: usize,
    /// How many numbers the ways may be.
    pub(super) numbers: usize,
    /// How many answers of one component, in one mode, are told apart.
    pub(super) ways: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { listed: LISTED, steps: 200_000, numbers: 2_000_000, ways: 8 }
    }
}

/// By class of modes, what repeats a failure on its way out; none where the mode cannot occur.
type Ways = Vec<Vec<Way>>;

/// A chain as far as it goes.
struct Begun {
    parent: Option<usize>,
    hop: usize,
    /// Hops without layers between the parent's and this one.
    via: Rc<[usize]>,
    ways: Ways,
    worst: Option<Product>,
    depth: usize,
    complete: bool,
}

/// What to do next: the largest product first; of equal ones the longest chain, so that the search does not go broad.
type Step = (Product, usize, Reverse<usize>);

/// A component on the way to the next layered hop.
struct Between {
    node: Node,
    ways: Ways,
    via: Vec<usize>,
}

/// A search.
pub(super) struct Search<'a> {
    graph: Graph<'a>,
    behind: &'a [Behind],
    limits: &'a Limits,
    history: History<'a>,
    begun: Vec<Begun>,
    waiting: BinaryHeap<Step>,
    complete: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: Graph<'a>, behind: &'a [Behind], layers: &'a [Layer], limits: &'a Limits) -> Self {
        let (begun, waiting) = (Vec::new(), BinaryHeap::new());
        Self { graph, behind, limits, history: History::new(layers), begun, waiting, complete: true }
    }

    /// The ways, with what repeats on them; the modes are left to be named.
    pub(super) fn run(mut self) -> Factors {
        for (hop, _) in self.graph.entries() {
            let outside = vec![vec![None]; self.graph.classes];
            self.begin(None, hop, Rc::from([]), &outside);
        }
        let mut chains = Vec::new();
        let (mut known, mut same, mut numbers) = (BTreeSet::new(), 0, 0);
        while let Some((_, _, Reverse(ix))) = self.waiting.pop() {
            if !self.begun.get(ix).is_some_and(|b| b.complete) {
                self.go_on(ix);
                continue;
            }
            let Some(worst) = self.worst_layers(ix) else { continue };
            let is_new = known.insert(worst);
            if (is_new && known.len() > self.limits.listed) || self.begun.len() > self.limits.steps {
                self.complete = false;
                break;
            }
            same += usize::from(!is_new);
            if !is_new && same > self.limits.listed {
                self.complete = false;
                continue;
            }
            let chain = self.chain(ix);
            numbers += size(&chain);
            chains.push(chain);
            if numbers >= self.limits.numbers {
                self.complete = false;
                break;
            }
        }
        let ways = chains.iter().flat_map(|c: &Chain| c.failures.iter().map(|f| f.repeat));
        let (repeats, numbers) = self.history.needed(ways);
        for failure in chains.iter_mut().flat_map(|c| &mut c.failures) {
            failure.repeat = numbers.get(&failure.repeat).copied().unwrap_or_default();
        }
        Factors { modes: Vec::new(), repeats, chains, complete: self.complete }
    }

    /// Makes a chain a layered hop longer, in all ways; one that cannot be made longer is complete.
    fn go_on(&mut self, ix: usize) {
        if self.begun.len() > self.limits.steps {
            self.complete = false;
            return;
        }
        let next = self.next(ix);
        if let (Some(chain), true) = (self.begun.get_mut(ix), next.is_empty()) {
            chain.complete = true;
            let (worst, depth) = (chain.worst, chain.depth);
            self.waiting.extend(worst.map(|w| (w, depth, Reverse(ix))));
        }
        for (hop, via, outside) in next {
            self.begin(Some(ix), hop, via, &outside);
        }
    }

    /// The next layered hops inwards, each with the hops that lead there and what repeats outside of it.
    fn next(&mut self, ix: usize) -> Vec<(usize, Rc<[usize]>, Ways)> {
        let mut next = Vec::new();
        let graph = self.graph;
        let Some(start) = self.begun.get(ix) else { return next };
        let Some(node) = graph.callee(start.hop) else { return next };
        let between = Between { node, ways: start.ways.clone(), via: Vec::new() };
        // Callers before callees, so that a component is left only when all ways to it are known.
        let mut waiting = BTreeMap::from([(graph.position(node), between)]);
        while let Some((_, at)) = waiting.pop_first() {
            let via: Rc<[usize]> = Rc::from(at.via.as_slice());
            for (hop, table) in graph.leaving(at.node) {
                if table.layered {
                    next.push((hop, Rc::clone(&via), at.ways.clone()));
                } else if let Some(node) = graph.callee(hop) {
                    let ways = self.across(hop, table, &at.ways);
                    let via: Vec<usize> = at.via.iter().copied().chain([hop]).collect();
                    let position = graph.position(node);
                    let known = waiting.remove(&position);
                    waiting.insert(position, self.merged(known, Between { node, ways, via }));
                }
            }
        }
        next
    }

    fn merged(&mut self, known: Option<Between>, more: Between) -> Between {
        let Some(mut known) = known else { return more };
        for (ways, more) in known.ways.iter_mut().zip(more.ways) {
            ways.extend(more);
            self.complete &= prune(&self.history, ways, self.limits.ways);
        }
        if more.via.len() < known.via.len() {
            known.via = more.via;
        }
        known
    }

    fn begin(&mut self, parent: Option<usize>, hop: usize, via: Rc<[usize]>, outside: &Ways) {
        let Some(table) = self.graph.table(hop) else { return };
        let ways = self.across(hop, table, outside);
        let outer = parent.and_then(|p| self.begun.get(p));
        let repeated = |class: usize| table.outcome(class).is_some_and(|o| !o.layers.is_empty());
        let own = ways.iter().enumerate().filter(|(class, _)| repeated(*class)).flat_map(|(_, ways)| ways);
        let own = own.map(|w| self.history.product(*w)).max();
        let worst = own.max(outer.and_then(|o| o.worst));
        let depth = outer.map_or(0, |o| o.depth + 1);
        let at_most = self.at_most_behind(hop, &ways).max(worst);
        let ix = self.begun.len();
        self.begun.push(Begun { parent, hop, via, ways, worst, depth, complete: false });
        self.waiting.extend(at_most.map(|product| (product, depth, Reverse(ix))));
    }

    /// The largest product that a chain can come to when it is made longer.
    fn at_most_behind(&self, hop: usize, ways: &Ways) -> Option<Product> {
        let behind = self.behind.get(self.graph.callee(hop)?)?;
        let largest = |ways: &Vec<Way>| ways.iter().map(|w| self.history.product(*w)).max();
        let failing = behind.failing.iter().zip(ways);
        failing.filter_map(|(inner, ways)| Some(inner.as_ref()?.times(largest(ways)?))).max().max(behind.absorbed)
    }

    /// What repeats failures of a hop's callee, given what repeats those of its caller.
    fn across(&mut self, hop: usize, table: &HopTable, outside: &Ways) -> Ways {
        let mut inside = vec![Vec::new(); self.graph.classes];
        for (class, outcome) in table.outcomes() {
            let mut ways: Vec<Way> = match outcome.outside.as_slice() {
                [] => vec![None],
                seen => seen.iter().filter_map(|c| outside.get(*c)).flatten().copied().collect(),
            };
            self.complete &= prune(&self.history, &mut ways, self.limits.ways);
            let ways = ways.into_iter().map(|way| self.history.through(way, hop, &outcome.layers)).collect();
            if let Some(slot) = inside.get_mut(class) {
                *slot = ways;
            }
        }
        inside
    }

    /// The chains from that of the outermost hop to this one.
    fn outwards(&self, ix: usize) -> Vec<usize> {
        let parents = std::iter::successors(Some(ix), |ix| self.begun.get(*ix).and_then(|b| b.parent));
        let mut chains: Vec<usize> = parents.collect();
        chains.reverse();
        chains
    }

    /// Every failure in which a hop of the chain is repeated, from the outermost hop inwards: what repeats it, and the
    /// classes of modes.
    fn failures(&self, ix: usize) -> Vec<Failure> {
        let mut failures: Vec<Failure> = Vec::new();
        for begun in self.outwards(ix).into_iter().filter_map(|ix| self.begun.get(ix)) {
            let first = failures.len();
            let Some(table) = self.graph.table(begun.hop) else { continue };
            for (class, _) in table.outcomes().filter(|(_, outcome)| !outcome.layers.is_empty()) {
                for &repeat in begun.ways.get(class).into_iter().flatten().flatten() {
                    match failures.iter_mut().skip(first).find(|f| f.repeat == repeat) {
                        Some(failure) => failure.modes.push(class),
                        None => failures.push(Failure { modes: vec![class], repeat }),
                    }
                }
            }
        }
        failures
    }

    /// What tells chains apart that look different: the layers of the worst failure, and its leaf.
    fn worst_layers(&self, ix: usize) -> Option<(Vec<LayerIx>, Option<Node>)> {
        let worst = self.failures(ix).into_iter().max_by_key(|f| self.history.product(Some(f.repeat)))?.repeat;
        let layers = self.history.outwards(Some(worst)).flat_map(|repeat| repeat.layers.iter().copied()).collect();
        let leaf = self.history.outwards(Some(worst)).next().and_then(|repeat| self.graph.callee(repeat.hop));
        Some((layers, leaf))
    }

    fn chain(&self, ix: usize) -> Chain {
        let mut hops = Vec::new();
        for begun in self.outwards(ix).into_iter().filter_map(|ix| self.begun.get(ix)) {
            hops.extend(begun.via.iter());
            hops.push(begun.hop);
        }
        let mut failures = self.failures(ix);
        failures.sort_by_key(|f| f.modes.first().copied());
        Chain { hops, failures }
    }
}

/// Takes out what never matters, then all but so many; says whether nothing that matters was lost.
fn prune(history: &History<'_>, ways: &mut Vec<Way>, most: usize) -> bool {
    if ways.len() > 1 {
        history.prune(ways);
    }
    let fits = ways.len() <= most;
    if !fits {
        ways.sort_by_key(|way| Reverse(history.product(*way)));
        ways.truncate(most);
    }
    fits
}

fn size(chain: &Chain) -> usize {
    chain.hops.len() + chain.failures.iter().map(|f| f.modes.len() + 1).sum::<usize>()
}
