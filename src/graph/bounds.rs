//! The largest product behind every component, by dynamic programming: linear in hops times modes.

use super::cycles::{Node, Order};
use super::modes::ClassIx;
use super::products::{HopTable, Product};

/// What the hops behind a node can come to at most, counting only those paths whose innermost hop is repeated.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Behind {
    /// By the class of modes in which the component itself then fails.
    pub(super) failing: Vec<Option<Product>>,
    /// Where some component on the way answers with a success all the same.
    pub(super) absorbed: Option<Product>,
}

impl Behind {
    /// Works through all nodes, callees first.
    pub(super) fn all(order: &Order, tables: &[HopTable], classes: usize) -> Vec<Self> {
        let none = Self { failing: vec![None; classes], absorbed: None };
        let mut behind = vec![none.clone(); order.leaving.len()];
        for &node in order.nodes.iter().rev() {
            let mut sum = none.clone();
            for &hop in order.leaving.get(node).into_iter().flatten() {
                if let (Some(table), Some(inner)) = (tables.get(hop), at(&behind, order.to.get(hop))) {
                    sum.add(table, inner);
                }
            }
            if let Some(slot) = behind.get_mut(node) {
                *slot = sum;
            }
        }
        behind
    }

    fn add(&mut self, table: &HopTable, inner: &Behind) {
        self.absorbed = self.absorbed.max(inner.absorbed);
        for (class, outcome) in table.outcomes() {
            let deeper = inner.failing.get(class).copied().flatten();
            let own = (!outcome.layers.is_empty()).then_some(Product::ONE);
            let Some(best) = deeper.max(own) else { continue };
            let best = Some(best.times(outcome.product));
            if outcome.outside.is_empty() {
                self.absorbed = self.absorbed.max(best);
            }
            for &outside in &outcome.outside {
                self.raise(outside, best);
            }
        }
    }

    fn raise(&mut self, class: ClassIx, product: Option<Product>) {
        if let Some(slot) = self.failing.get_mut(class) {
            *slot = (*slot).max(product);
        }
    }
}

fn at<'a>(behind: &'a [Behind], node: Option<&Node>) -> Option<&'a Behind> {
    behind.get(*node?)
}
