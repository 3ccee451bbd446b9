//! Whole ways through the graph, with what multiplies on each of them for every failing point and mode: enough to
//! work every product out anew when somebody changes the attempts of a layer, without the algebra of failures.
//!
//! Layers with one attempt stand among the factors, too: they may be given more.

mod history;
mod search;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use super::bounds::Behind;
use super::chains::Graph;
use super::cycles::Order;
use super::modes::Classes;
use super::products::{HopTable, may_multiply};
use crate::model::{LayerIx, ModeSet, Model};
use search::{Limits, Search};

/// All that products are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Factors {
    /// The failure modes, those together that no layer tells apart; in the order in which equal products are named.
    pub modes: Vec<ModeSet>,
    /// What repeats failures, hop by hop; whatever one refers to stands before it.
    pub repeats: Vec<Repeat>,
    /// The ways, those with the largest products first.
    pub chains: Vec<Chain>,
    /// Whether these are all.
    pub complete: bool,
}

/// The layers that repeat a hop, and what then repeats further out.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// Further out: an index into [`Factors::repeats`].
    pub outer: Option<usize>,
    /// The hop: an index into [`Model::hops`].
    pub hop: usize,
    /// Its layers that repeat it, outermost first.
    pub layers: Vec<LayerIx>,
}

/// One way through the graph that no other one contains: from the outermost hop with a layer to the innermost.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The hops, as indexes into [`Model::hops`], outermost first. Where several ways without layers lead from one
    /// layered hop to the next, this names one of them; the failures are those of all.
    pub hops: Vec<usize>,
    /// The failures in which the hop to the failing component is repeated: by mode, then from the outermost inwards.
    pub failures: Vec<Failure>,
}

/// Failures of one component, and what they multiply to.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The modes in which it fails: indexes into [`Factors::modes`], ascending.
    pub modes: Vec<usize>,
    /// What repeats it, from the hop to it outwards: an index into [`Factors::repeats`].
    pub repeat: usize,
}

/// So many ways are listed whose worst failures differ in their layers, and as many again that come to the same.
pub const LISTED: usize = super::paths::LISTED;

/// Lists the ways through a graph.
pub fn factors(model: &Model) -> Factors {
    list(model, &Limits::default())
}

fn list(model: &Model, limits: &Limits) -> Factors {
    let Model { components, hops, layers, .. } = model;
    let classes = Classes::new(hops);
    let tables = HopTable::all(hops, components, layers, &classes, may_multiply);
    let order = Order::new(components.len(), hops, |hop| tables.get(hop).is_some_and(|t| t.starts));
    let behind = Behind::all(&order, &tables, classes.len());
    let work = Cell::new(0);
    let graph = Graph { tables: &tables, order: &order, classes: classes.len(), work: &work };
    let found = Search::new(graph, &behind, layers, limits).run();
    Factors { modes: classes.members(), ..found }
}
