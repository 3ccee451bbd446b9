//! What repeats a failure on its way out, as lists that share their outer ends.

use std::collections::{BTreeMap, BTreeSet};

use super::super::products::Product;
use super::Repeat;
use crate::model::{Layer, LayerIx};

/// What has repeated something so far, counted from outside: a number of a [`Repeat`]; `None`: nothing.
pub(super) type Way = Option<usize>;

/// All ways. Equal ones have equal numbers.
#[derive(Debug)]
pub(super) struct History<'a> {
    layers: &'a [Layer],
    repeats: Vec<(Repeat, Product)>,
    known: BTreeMap<(Way, usize, Vec<LayerIx>), usize>,
}

impl<'a> History<'a> {
    pub(super) fn new(layers: &'a [Layer]) -> Self {
        Self { layers, repeats: Vec::new(), known: BTreeMap::new() }
    }

    /// The way on which these layers of a hop repeat something, and further out what `outer` says.
    pub(super) fn through(&mut self, outer: Way, hop: usize, layers: &[LayerIx]) -> Way {
        if layers.is_empty() {
            return outer;
        }
        let key = (outer, hop, layers.to_vec());
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let here = layers.iter().filter_map(|l| self.layers.get(l.0 as usize)).map(Product::of);
        let product = here.fold(self.product(outer), Product::times);
        self.repeats.push((Repeat { outer, hop, layers: layers.to_vec() }, product));
        self.known.insert(key, self.repeats.len() - 1);
        Some(self.repeats.len() - 1)
    }

    /// The product, as the attempts are.
    pub(super) fn product(&self, way: Way) -> Product {
        way.and_then(|w| self.repeats.get(w)).map_or(Product::ONE, |(_, product)| *product)
    }

    /// What repeats, from the innermost outwards.
    pub(super) fn outwards(&self, way: Way) -> impl Iterator<Item = &Repeat> {
        let at = |way: Way| way.and_then(|w| self.repeats.get(w)).map(|(repeat, _)| repeat);
        std::iter::successors(at(way), move |repeat| at(repeat.outer))
    }

    /// Takes out what can never come to more than another way beside it: all its layers are among the other's. Of ways
    /// that come to the same, the first stays.
    pub(super) fn prune(&self, ways: &mut Vec<Way>) {
        let mut seen = BTreeSet::new();
        ways.retain(|way| seen.insert(*way));
        if ways.len() < 2 {
            return;
        }
        let all: Vec<Vec<LayerIx>> = ways.iter().map(|way| self.all(*way)).collect();
        let beaten = |i: usize, one: &Vec<LayerIx>| {
            let better =
                |(j, other): (usize, &Vec<LayerIx>)| j != i && within(one, other) && (one.len() < other.len() || j < i);
            all.iter().enumerate().any(better)
        };
        let kept: Vec<Way> =
            ways.iter().zip(&all).enumerate().filter(|(i, (_, one))| !beaten(*i, one)).map(|(_, (w, _))| *w).collect();
        *ways = kept;
    }

    /// The repeats that these ways need, numbered anew, and where each of the old numbers has gone.
    pub(super) fn needed(self, ways: impl Iterator<Item = usize>) -> (Vec<Repeat>, BTreeMap<usize, usize>) {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for way in ways {
            let mut next = Some(way);
            while let Some(at) = next.filter(|at| !numbers.contains_key(at)) {
                numbers.insert(at, 0);
                next = self.repeats.get(at).and_then(|(repeat, _)| repeat.outer);
            }
        }
        numbers.values_mut().enumerate().for_each(|(new, slot)| *slot = new);
        let renumbered = numbers
            .keys()
            .filter_map(|old| self.repeats.get(*old))
            .map(|(repeat, _)| Repeat { outer: repeat.outer.and_then(|o| numbers.get(&o).copied()), ..repeat.clone() });
        (renumbered.collect(), numbers)
    }

    /// All layers, ascending.
    fn all(&self, way: Way) -> Vec<LayerIx> {
        let mut all: Vec<LayerIx> = self.outwards(way).flat_map(|repeat| repeat.layers.iter().copied()).collect();
        all.sort_unstable();
        all
    }
}

/// Whether every item of one ascending list is in another, as often.
fn within(few: &[LayerIx], many: &[LayerIx]) -> bool {
    let mut many = many.iter();
    few.len() <= many.len() && few.iter().all(|item| many.by_ref().find(|other| *other >= item) == Some(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_within_lists() {
        let list = |items: &[u32]| items.iter().copied().map(LayerIx).collect::<Vec<_>>();
        let within = |few: &[u32], many: &[u32]| within(&list(few), &list(many));
        assert!(within(&[], &[]) && within(&[], &[1]) && within(&[1, 3], &[1, 2, 3]) && within(&[1, 1], &[1, 1, 2]));
        assert!(!within(&[1], &[]) && !within(&[1, 1], &[1, 2]) && !within(&[2, 4], &[1, 2, 3]));
    }
}
