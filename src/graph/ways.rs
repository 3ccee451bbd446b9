//! The hops between repeated ones: a path is shown with all that it leads through.

use std::collections::{BTreeMap, VecDeque};

use super::cycles::{Node, Order};
use super::products::HopTable;
use crate::model::HopIx;

/// So many hops are looked at for one stretch; a longer way is left out.
const LOOKED_AT: usize = 100_000;

/// Finds the shortest ways through hops that nothing repeats.
pub(super) struct Ways<'a> {
    order: &'a Order,
    tables: &'a [HopTable],
    known: BTreeMap<(Node, Node), Vec<usize>>,
}

impl<'a> Ways<'a> {
    pub(super) fn new(order: &'a Order, tables: &'a [HopTable]) -> Self {
        Self { order, tables, known: BTreeMap::new() }
    }

    /// A chain of repeated hops, innermost first → all hops, outermost first.
    pub(super) fn through(&mut self, chain: &[usize]) -> Vec<HopIx> {
        let mut hops: Vec<usize> = Vec::new();
        for &hop in chain.iter().rev() {
            if let Some((from, to)) = hops.last().and_then(|last| self.gap(*last, hop)) {
                hops.extend(self.between(from, to));
            }
            hops.push(hop);
        }
        hops.into_iter().map(|hop| HopIx(u32::try_from(hop).unwrap_or(u32::MAX))).collect()
    }

    /// Where one hop ends and the next begins, if these are not the same.
    fn gap(&self, hop: usize, next: usize) -> Option<(Node, Node)> {
        let (from, to) = (*self.order.to.get(hop)?, *self.order.from.get(next)?);
        (from != to).then_some((from, to))
    }

    fn between(&mut self, from: Node, to: Node) -> Vec<usize> {
        if let Some(way) = self.known.get(&(from, to)) {
            return way.clone();
        }
        let way = self.shortest(from, to);
        self.known.insert((from, to), way.clone());
        way
    }

    fn shortest(&self, from: Node, to: Node) -> Vec<usize> {
        let mut came_by: BTreeMap<Node, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([from]);
        let mut looked_at = 0;
        while let Some(node) = waiting.pop_front() {
            for &hop in self.order.leaving.get(node).into_iter().flatten() {
                looked_at += 1;
                let plain = self.tables.get(hop).is_some_and(|t| !t.layered);
                let Some(&next) = self.order.to.get(hop).filter(|next| plain && !came_by.contains_key(next)) else {
                    continue;
                };
                came_by.insert(next, hop);
                if next == to {
                    return self.back(from, to, &came_by);
                }
                waiting.push_back(next);
            }
            if looked_at > LOOKED_AT {
                break;
            }
        }
        Vec::new()
    }

    fn back(&self, from: Node, to: Node, came_by: &BTreeMap<Node, usize>) -> Vec<usize> {
        let mut way = Vec::new();
        let mut node = to;
        while let Some(&hop) = came_by.get(&node).filter(|_| node != from) {
            way.push(hop);
            node = self.order.from.get(hop).copied().unwrap_or(from);
        }
        way.reverse();
        way
    }
}
