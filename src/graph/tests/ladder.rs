//! Graphs with far too many paths to walk.

use super::*;
use std::time::{Duration, Instant};

/// `diamonds` times two ways to the next component; each hop has a layer of its own.
pub(in crate::graph) fn ladder(diamonds: usize, mut modes: impl FnMut(usize) -> ModeSet) -> Build {
    let mut b = Build::new();
    for i in 0..diamonds {
        for side in ["left", "right"] {
            let middle = format!("{side} {i}");
            let (upper, lower) = (b.layer(LayerKind::Code, 2, modes(i)), b.layer(LayerKind::Code, 2, modes(i)));
            b.hop(&format!("c{i}"), &middle, &[upper]);
            b.hop(&middle, &format!("c{}", i + 1), &[lower]);
        }
    }
    b
}

fn quickly(b: &Build) -> Paths {
    let start = Instant::now();
    let paths = b.paths();
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    paths
}

#[test]
fn two_to_the_fortieth_paths_are_listed_at_once() {
    let paths = quickly(&ladder(40, |_| any_5xx()));
    assert!(paths.truncated);
    assert_eq!(paths.listed.len(), paths::LISTED);
    assert!(paths.listed.iter().all(|p| p.layers.len() == 80 && p.leaf == "c40".into()));
    let distinct: std::collections::BTreeSet<_> = paths.listed.iter().map(|p| &p.layers).collect();
    assert_eq!(distinct.len(), paths::LISTED);
}

#[test]
fn layers_that_do_not_multiply_in_the_worst_mode_make_no_difference() {
    // All 2^39 ways through the middle come to the same two layers.
    let mut b = ladder(40, |i| if i == 0 || i == 39 { any_5xx() } else { refused() });
    b.limit = 3;
    let paths = quickly(&b);
    assert!(paths.truncated);
    assert_eq!(paths.listed.first().map(|p| p.product), Some(16));
}

#[test]
fn hops_without_layers_make_no_difference() {
    let mut b = ladder(40, |_| any_5xx());
    b.hops.iter_mut().for_each(|h| h.layers.clear());
    let (o, i) = (b.layer(LayerKind::Code, 4, any_5xx()), b.layer(LayerKind::Code, 4, any_5xx()));
    b.hop("entry", "c0", &[o]);
    b.hop("c40", "leaf", &[i]);
    let paths = quickly(&b);
    assert_eq!((paths.listed.len(), paths.truncated), (1, false));
}

#[test]
fn a_chain_of_ten_thousand_hops_is_no_trouble() {
    let mut b = Build::new();
    let layer = b.layer(LayerKind::Code, 1, any_5xx());
    let names: Vec<_> = (0..10_000).map(|i| format!("c{i}")).collect();
    b.components =
        names.iter().map(|n| Component { name: n.clone(), kind: ComponentKind::Service, place: None }).collect();
    let uses = vec![LayerUse { layer, modes: any_5xx() }];
    b.hops = (0..9_999)
        .map(|i| Hop { layers: uses.clone(), ..Hop::new(ComponentIx(i), ComponentIx(i + 1), None) })
        .collect();
    assert!(quickly(&b).listed.is_empty());
}

/// Six hundred components in ten tiers; each calls five of the next tier, two of them with its own client's retries.
#[test]
fn a_large_graph_takes_seconds_at_most() {
    let mut b = Build::new();
    let name = |i: u32| format!("c{i}");
    b.components = (0..600).map(|i| Component { name: name(i), kind: ComponentKind::Service, place: None }).collect();
    for i in 0..540u32 {
        let codes = [429, 500, 502, 503, 504].into_iter().filter(|c| (i * 7 + u32::from(*c)) % 3 != 0);
        let modes = ModeSet::statuses(codes);
        let layer = b.layer(LayerKind::Code, 2 + u64::from(i % 4), modes);
        let next_tier = (i / 60 + 1) * 60;
        for k in 0..5 {
            let layers = if k < 2 { vec![LayerUse { layer, modes }] } else { Vec::new() };
            let (from, to) = (ComponentIx(i), ComponentIx(next_tier + (i * 31 + k * 17) % 60));
            b.hops.push(Hop { layers, ..Hop::new(from, to, None) });
        }
    }
    let paths = quickly(&b);
    assert_eq!(paths.listed.len(), paths::LISTED);
    assert!(paths.truncated);
}
