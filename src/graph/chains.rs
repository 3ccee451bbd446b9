//! Chains of repeated hops, from an entry inwards, with what each failure at the inner end comes to.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::cycles::{Node, Order};
use super::modes::ClassIx;
use super::products::{HopTable, Product};

/// What a failure at some component comes to at the entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    /// The product of all layers that repeat something on the way out.
    pub(super) product: Product,
    /// The class of modes in which the callee of the next repeated hop outside fails; `None`: nothing is repeated
    /// any further out.
    pub(super) outer: Option<ClassIx>,
}

impl Reach {
    const END: Self = Self { product: Product::ONE, outer: None };

    /// The larger one; of equal ones that of the class that is named first.
    fn or(self, other: Self) -> Self {
        let order = |r: &Self| (r.product, r.outer.is_some(), std::cmp::Reverse(r.outer));
        if order(&other) > order(&self) { other } else { self }
    }
}

/// By class of modes; `None` where the mode cannot occur.
pub(super) type Reaches = Vec<Option<Reach>>;

/// The graph with its tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Graph<'a> {
    /// The hops' tables.
    pub(super) tables: &'a [HopTable],
    /// The hops in order.
    pub(super) order: &'a Order,
    /// How many classes of modes there are.
    pub(super) classes: usize,
    /// How many outcomes have been looked at.
    pub(super) work: &'a Cell<usize>,
}

impl<'a> Graph<'a> {
    /// The table of a hop.
    pub(super) fn table(&self, hop: usize) -> Option<&'a HopTable> {
        self.tables.get(hop)
    }

    /// The node that a hop reaches.
    pub(super) fn callee(&self, hop: usize) -> Option<Node> {
        self.order.to.get(hop).copied()
    }

    /// The hops that leave a node.
    pub(super) fn leaving(&self, node: Node) -> impl Iterator<Item = (usize, &'a HopTable)> {
        let hops = self.order.leaving.get(node).into_iter().flatten();
        hops.filter_map(|&hop| Some((hop, self.table(hop)?)))
    }

    /// The outermost repeated hops: those to which no other repeated hop leads.
    pub(super) fn entries(&self) -> Vec<(usize, Reaches)> {
        let mut inside = vec![false; self.order.leaving.len()];
        let mut entries = Vec::new();
        for &node in &self.order.nodes {
            let here = inside.get(node).copied().unwrap_or(false);
            for (hop, table) in self.leaving(node) {
                if table.layered && !here {
                    let outside = vec![Some(Reach::END); self.classes];
                    entries.push((hop, self.across(table, &outside)));
                }
                if let Some(to) = self.callee(hop).and_then(|to| inside.get_mut(to)) {
                    *to |= here || table.layered;
                }
            }
        }
        entries
    }

    /// The next repeated hops inwards, through hops that nothing repeats: these are folded away.
    pub(super) fn next(&self, hop: usize, reaches: &Reaches) -> Vec<(usize, Reaches)> {
        let mut next = Vec::new();
        let Some(start) = self.callee(hop) else { return next };
        let here: Reaches =
            reaches.iter().enumerate().map(|(class, r)| r.map(|r| Reach { outer: Some(class), ..r })).collect();
        // Callers before callees, so that a component is left only when all ways to it are known.
        let mut waiting: BTreeMap<usize, (Node, Reaches)> = BTreeMap::from([(self.position(start), (start, here))]);
        while let Some((_, (node, outside))) = waiting.pop_first() {
            for (hop, table) in self.leaving(node) {
                let inside = self.across(table, &outside);
                if table.layered {
                    next.push((hop, inside));
                } else if let Some(to) = self.callee(hop) {
                    let (_, known) = waiting.entry(self.position(to)).or_insert_with(|| (to, vec![None; self.classes]));
                    merge(known, inside);
                }
            }
        }
        next
    }

    /// Where a node stands in the order of callers before callees.
    pub(super) fn position(&self, node: Node) -> usize {
        self.order.position.get(node).copied().unwrap_or(0)
    }

    /// What failures of a hop's callee come to, given what those of its caller do.
    fn across(&self, table: &HopTable, outside: &Reaches) -> Reaches {
        let mut inside = vec![None; self.classes];
        self.work.set(self.work.get().saturating_add(self.classes));
        for (class, outcome) in table.outcomes() {
            let outer = match outcome.outside.as_slice() {
                [] => Some(Reach::END),
                seen => seen.iter().filter_map(|c| outside.get(*c).copied().flatten()).reduce(Reach::or),
            };
            if let (Some(outer), Some(slot)) = (outer, inside.get_mut(class)) {
                *slot = Some(Reach { product: outer.product.times(outcome.product), ..outer });
            }
        }
        inside
    }
}

fn merge(known: &mut Reaches, more: Reaches) {
    for (slot, more) in known.iter_mut().zip(more) {
        *slot = match (*slot, more) {
            (Some(a), Some(b)) => Some(a.or(b)),
            (a, b) => a.or(b),
        };
    }
}
