//! The order in which hops can be worked through: cycles are cut at their back edges.

use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::Hop;

/// A node: what a component does on request, what it does by itself, or a component at which a cycle is cut.
pub(super) type Node = usize;

/// The hops as an acyclic graph.
#[derive(Debug)]
pub(super) struct Order {
    /// The node that each hop leaves.
    pub(super) from: Vec<Node>,
    /// The node that each hop reaches.
    pub(super) to: Vec<Node>,
    /// The hops that leave each node, ascending.
    pub(super) leaving: Vec<Vec<usize>>,
    /// All nodes, callers before callees.
    pub(super) nodes: Vec<Node>,
    /// Where each node stands among them.
    pub(super) position: Vec<usize>,
    /// One hop of each cycle, at which it was cut.
    pub(super) cut: Vec<usize>,
}

impl Order {
    /// Orders the hops. `starts`: whether a hop is none that a request causes. What a component does by itself is a node apart, so that no request leads there; a hop that
    /// closes a cycle leads to a node of its own, at which the path ends.
    pub(super) fn new(components: usize, hops: &[Hop], starts: impl Fn(usize) -> bool) -> Self {
        let from = hops.iter().enumerate().map(|(i, h)| 2 * h.from.0 as usize + usize::from(starts(i))).collect();
        let to = hops.iter().map(|h| 2 * h.to.0 as usize).collect();
        let mut order =
            Self { from, to, leaving: Vec::new(), nodes: Vec::new(), position: Vec::new(), cut: Vec::new() };
        let end = 2 * components;
        order.leaving = vec![Vec::new(); end + 1];
        for (hop, &node) in order.from.iter().enumerate() {
            if let Some(leaving) = order.leaving.get_mut(node) {
                leaving.push(hop);
            }
        }
        let back = order.back_edges();
        order.cut = order.one_of_each_cycle(&back);
        for hop in back {
            if let Some(to) = order.to.get_mut(hop) {
                *to = end;
            }
        }
        // Without its back edges the graph has no cycle, so sorting cannot fail.
        order.nodes = toposort(&order.graph(), None).unwrap_or_default().into_iter().map(NodeIndex::index).collect();
        order.position = vec![0; order.leaving.len()];
        for (position, &node) in order.nodes.iter().enumerate() {
            if let Some(slot) = order.position.get_mut(node) {
                *slot = position;
            }
        }
        order
    }

    fn graph(&self) -> DiGraph<(), (), usize> {
        let mut graph = DiGraph::with_capacity(self.leaving.len(), self.from.len());
        self.leaving.iter().for_each(|_| {
            graph.add_node(());
        });
        for (&from, &to) in self.from.iter().zip(&self.to) {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        }
        graph
    }

    /// Hops that lead back to a node from which they were reached. Entries are walked first, so a cycle is cut where
    /// requests from outside come round again.
    fn back_edges(&self) -> Vec<usize> {
        let mut called = vec![false; self.leaving.len()];
        for &to in &self.to {
            if let Some(called) = called.get_mut(to) {
                *called = true;
            }
        }
        let nodes = 0..self.leaving.len();
        let is_called = |n: &usize| called.get(*n).copied().unwrap_or(false);
        let entries = nodes.clone().filter(|n| !is_called(n));
        let mut walk = Walk { state: vec![State::New; self.leaving.len()], back: Vec::new() };
        entries.chain(nodes.filter(is_called)).for_each(|n| walk.from(n, self));
        walk.back.sort_unstable();
        walk.back
    }

    fn one_of_each_cycle(&self, back: &[usize]) -> Vec<usize> {
        let mut cycle_of = vec![0; self.leaving.len()];
        for (cycle, nodes) in kosaraju_scc(&self.graph()).into_iter().enumerate() {
            for node in nodes {
                if let Some(slot) = cycle_of.get_mut(node.index()) {
                    *slot = cycle;
                }
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        let cycle = |hop: usize| self.to.get(hop).and_then(|to| cycle_of.get(*to)).copied();
        back.iter().copied().filter(|hop| seen.insert(cycle(*hop))).collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// A depth-first walk without recursion: graphs may be deep.
struct Walk {
    state: Vec<State>,
    back: Vec<usize>,
}

impl Walk {
    fn from(&mut self, start: Node, order: &Order) {
        if self.state.get(start) != Some(&State::New) {
            return;
        }
        self.set(start, State::Open);
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let hop = order.leaving.get(node).and_then(|hops| hops.get(*next)).copied();
            *next += 1;
            let Some(hop) = hop else {
                self.set(node, State::Done);
                stack.pop();
                continue;
            };
            let Some(&to) = order.to.get(hop) else { continue };
            match self.state.get(to) {
                Some(State::Open) => self.back.push(hop),
                Some(State::New) => {
                    self.set(to, State::Open);
                    stack.push((to, 0));
                }
                Some(State::Done) | None => {}
            }
        }
    }

    fn set(&mut self, node: Node, state: State) {
        if let Some(slot) = self.state.get_mut(node) {
            *slot = state;
        }
    }
}
