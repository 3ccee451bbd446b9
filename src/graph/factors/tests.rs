//! Products worked out from the factors are those of the tool, whatever the attempts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::graph::paths;
use crate::graph::products::Product;
use crate::graph::tests::{Numbers, random_graph};
use crate::model::{Attempts, Path, Setting};

/// A path as both sides know it: the product, the layers, the leaf.
type Row = (Product, Vec<LayerIx>, u32);

/// How bad a row is: the product, the mode that is named first, the depth.
type Order = (Product, Reverse<usize>, Reverse<usize>);

/// The repeats of a failure, outermost first.
fn repeats<'f>(factors: &'f Factors, failure: &Failure) -> Vec<&'f Repeat> {
    let mut repeats: Vec<&Repeat> =
        std::iter::successors(Some(&factors.repeats[failure.repeat]), |r| r.outer.map(|o| &factors.repeats[o]))
            .collect();
    repeats.reverse();
    repeats
}

/// What the page does with the factors: it multiplies and compares.
fn rows(factors: &Factors, model: &Model) -> BTreeSet<Row> {
    let layer = |ix: LayerIx| &model.layers[ix.0 as usize];
    let active = |ix: &LayerIx| layer(*ix).is_active() && layer(*ix).is_on_paths();
    let mut best: BTreeMap<Vec<usize>, Option<(Order, Row)>> = BTreeMap::new();
    for chain in &factors.chains {
        let hop_is_active = |hop: &usize| model.hops[*hop].layers.iter().any(|l| active(&l.layer));
        let repeated: Vec<usize> = chain.hops.iter().copied().filter(hop_is_active).collect();
        let slot = best.entry(repeated.clone()).or_default();
        for failure in &chain.failures {
            let hop = factors.repeats[failure.repeat].hop;
            if !factors.repeats[failure.repeat].layers.iter().any(active) {
                continue;
            }
            let all = repeats(factors, failure).into_iter().flat_map(|r| r.layers.iter().copied());
            let layers: Vec<LayerIx> = all.filter(active).collect();
            let product = layers.iter().map(|l| Product::of(layer(*l))).fold(Product::ONE, Product::times);
            let depth = repeated.iter().position(|h| *h == hop).unwrap();
            let order = (product, Reverse(failure.modes[0]), Reverse(depth));
            if slot.as_ref().is_none_or(|(known, _)| order > *known) {
                *slot = Some((order, (product, layers, model.hops[hop].to.0)));
            }
        }
    }
    let inside = |short: &[usize], long: &[usize]| {
        long.len() > short.len() && (short.is_empty() || long.windows(short.len()).any(|w| w == short))
    };
    let maximal = |hops: &[usize]| !best.keys().any(|other| inside(hops, other));
    best.iter().filter(|(hops, _)| maximal(hops)).filter_map(|(_, best)| best.clone()).map(|(_, row)| row).collect()
}

fn change(model: &mut Model, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(3) {
        if model.layers.is_empty() {
            return;
        }
        let at = numbers.below(model.layers.len() as u64) as usize;
        let layer = &mut model.layers[at];
        let attempts = match numbers.below(8) {
            0..3 => Attempts::Count(1),
            3 => Attempts::Unbounded,
            n => Attempts::Count(n),
        };
        layer.attempts = Setting::written(attempts, layer.place);
    }
}

fn key(path: &Path, model: &Model) -> (u64, bool, bool, Vec<LayerIx>, u32) {
    let leaf = model.components.iter().position(|c| *c.name == *path.leaf).unwrap() as u32;
    (path.product, path.unbounded, path.at_least, path.layers.clone(), leaf)
}

#[test]
fn changed_attempts_multiply_to_what_the_tool_says_of_the_changed_input() {
    let mut told = 0;
    for seed in 1..400 {
        let mut model = random_graph(seed).model();
        let factors = factors(&model);
        assert!(factors.complete);
        let numbers = &mut Numbers(seed * 77 + 1);
        for _ in 0..4 {
            let listed = paths::list(&model.components, &model.hops, &model.layers, 0).listed;
            let expected: BTreeSet<_> = listed.iter().map(|p| key(p, &model)).collect();
            let rows: BTreeSet<_> = rows(&factors, &model)
                .into_iter()
                .map(|(p, layers, leaf)| (p.shown(), p.unbounded > 0, p.unknown > 0, layers, leaf))
                .collect();
            assert_eq!(rows, expected, "seed {seed}: {:#?} {:#?}", model.hops, factors);
            told += expected.len();
            change(&mut model, numbers);
        }
    }
    assert!(told > 2000, "the graphs are too simple to tell anything: {told}");
}

#[test]
fn graphs_with_far_too_many_ways_are_cut_and_say_so() {
    let model = crate::graph::tests::ladder(40, |_| crate::graph::tests::any_5xx()).model();
    let factors = factors(&model);
    assert!(!factors.complete);
    assert_eq!(factors.chains.len(), LISTED);
    assert!(factors.chains.iter().all(|c| c.hops.len() == 80));
}
