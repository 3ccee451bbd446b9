//! How long paths take at worst, and which limits end before what they hold can.

use std::time::Duration;

use super::super::times;
use super::*;
use crate::model::{ComponentIx, LimitKind, Model, Overrun, Wait};

fn secs(n: u64) -> Setting<Duration> {
    Setting::written(Duration::from_secs(n), crate::source::Span::start_of(crate::source::FileId(9)))
}

fn by_default(n: u64) -> Setting<Duration> {
    Setting::default(Duration::from_secs(n), "test")
}

/// A layer without waits, each try as long as `per_try`.
fn tries(b: &mut Build, count: u64, per_try: Option<Setting<Duration>>) -> LayerIx {
    let ix = b.layer(LayerKind::Code, count, any_5xx());
    let layer = b.layer_mut(ix);
    layer.wait = Wait::None;
    layer.per_try = per_try;
    ix
}

fn overruns(b: Build) -> Vec<Overrun> {
    let model = Model { layers: b.draft.model.layers, components: b.components, hops: b.hops, ..Model::default() };
    times::overruns(&model)
}

fn only(b: Build) -> Overrun {
    let mut all = overruns(b);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn a_paths_time_is_that_of_its_layers_from_the_inside_out() {
    let mut b = Build::new();
    let outer = tries(&mut b, 3, None);
    let inner = tries(&mut b, 2, Some(secs(4)));
    b.layer_mut(outer).wait = Wait::Fixed(secs(1));
    b.hop("a", "b", &[outer]);
    b.hop("b", "between", &[]);
    b.hop("between", "leaf", &[inner]);
    b.hop("b", "aside", &[]);
    let path = b.only();
    assert_eq!((path.time.known, path.time.complete), (Duration::from_secs(3 * 2 * 4 + 2), true));
    let through: Vec<u32> = path.hops.iter().map(|h| h.0).collect();
    assert_eq!(through, [0, 1, 2]);
}

#[test]
fn a_try_that_nothing_limits_leaves_the_sum_open() {
    let mut b = Build::new();
    let (outer, inner) = (tries(&mut b, 3, None), tries(&mut b, 2, None));
    b.layer_mut(outer).wait = Wait::Fixed(secs(1));
    b.hop("a", "b", &[outer]);
    b.hop("b", "leaf", &[inner]);
    let path = b.only();
    assert_eq!((path.time.known, path.time.complete), (Duration::from_secs(2), false));
}

#[test]
fn a_limit_on_the_way_cuts_what_it_holds() {
    let mut b = Build::new();
    let (outer, inner) = (tries(&mut b, 3, None), tries(&mut b, 2, Some(secs(4))));
    b.hop("a", "b", &[outer]).limit = Some(secs(20));
    b.hop("b", "leaf", &[inner]).limit = Some(secs(5));
    assert_eq!(b.only().time.known, Duration::from_secs(15));
}

#[test]
fn the_limit_on_all_tries_is_too_short_for_them() {
    let mut b = Build::new();
    let layer = tries(&mut b, 2, Some(secs(4)));
    b.layer_mut(layer).overall = Some(secs(5));
    b.hop("a", "leaf", &[layer]);
    let overrun = only(b);
    assert_eq!((overrun.kind, overrun.layer, overrun.tried_again), (LimitKind::Overall, Some(layer), false));
    assert_eq!((overrun.time.known, ids(&overrun.inside)), (Duration::from_secs(8), vec![layer.0]));
}

#[test]
fn a_limit_that_is_long_enough_is_none() {
    let mut b = Build::new();
    let layer = tries(&mut b, 2, Some(secs(4)));
    b.layer_mut(layer).overall = Some(secs(8));
    b.hop("a", "leaf", &[layer]);
    assert_eq!(overruns(b), []);
}

#[test]
fn lengths_that_nobody_wrote_are_silent() {
    for (per_try, overall) in [(None, Some(secs(1))), (Some(by_default(60)), Some(secs(5)))] {
        let mut b = Build::new();
        let layer = tries(&mut b, 3, per_try);
        b.layer_mut(layer).overall = overall;
        b.hop("a", "leaf", &[layer]);
        assert_eq!(overruns(b), []);
    }
}

#[test]
fn a_limit_that_nobody_wrote_can_be_too_short() {
    let mut b = Build::new();
    let layer = tries(&mut b, 4, Some(secs(5)));
    b.layer_mut(layer).overall = Some(by_default(15));
    b.hop("a", "leaf", &[layer]);
    assert_eq!(only(b).limit.value(), Some(&Duration::from_secs(15)));
}

#[test]
fn what_runs_until_its_deadline_is_cut_as_it_should_be() {
    for attempts in [Attempts::Unbounded, Attempts::Within { deadline: Duration::from_secs(30), about: 30 }] {
        let mut b = Build::new();
        let layer = tries(&mut b, 1, Some(secs(4)));
        b.layer_mut(layer).attempts = Setting::default(attempts, "test");
        b.layer_mut(layer).overall = Some(secs(30));
        b.hop("a", "leaf", &[layer]);
        assert_eq!(overruns(b), []);
    }
}

/// edge → service → leaf; the edge gives up a try after 5 s, the service takes 8.
fn across(edge_tries: u64) -> Build {
    let mut b = Build::new();
    let outer = tries(&mut b, edge_tries, Some(secs(5)));
    let inner = tries(&mut b, 2, Some(secs(4)));
    b.hop("edge", "service", &[outer]);
    b.hop("service", "between", &[]);
    b.hop("between", "leaf", &[inner]);
    b
}

#[test]
fn a_limit_further_out_ends_before_the_tries_behind_it() {
    let overrun = only(across(1));
    assert_eq!((overrun.kind, overrun.layer, overrun.tried_again), (LimitKind::PerTry, Some(LayerIx(0)), false));
    assert_eq!((overrun.time.known, ids(&overrun.inside)), (Duration::from_secs(8), vec![1]));
    assert!(only(across(3)).tried_again, "it tries again, beside the old tries");
}

#[test]
fn who_tries_again_may_stand_further_out_than_the_limit() {
    let mut b = across(1);
    let outermost = tries(&mut b, 3, None);
    b.hop("outside", "edge", &[outermost]);
    assert!(only(b).tried_again);
}

#[test]
fn what_no_request_causes_is_in_no_requests_time() {
    let mut b = across(1);
    b.hops[2].on_request = false;
    assert_eq!(overruns(b), []);
}

#[test]
fn a_hops_own_limit_counts_too() {
    let mut b = across(1);
    b.layer_mut(LayerIx(0)).per_try = None;
    b.hops[0].limit = Some(secs(3));
    let overrun = only(b);
    assert_eq!((overrun.kind, overrun.layer, overrun.hop.0), (LimitKind::Call, None, 0));
}

#[test]
fn the_same_layer_on_many_hops_is_told_once_with_the_longest_that_it_holds() {
    let mut b = Build::new();
    let outer = tries(&mut b, 1, Some(secs(5)));
    for (name, each) in [("x", 3), ("y", 7), ("z", 4)] {
        let inner = tries(&mut b, 2, Some(secs(each)));
        b.hop("edge", name, &[outer]);
        b.hop(name, "leaf", &[inner]);
    }
    assert_eq!(only(b).time.known, Duration::from_secs(14));
}

#[test]
fn a_cycle_ends() {
    let mut b = across(1);
    b.hop("leaf", "edge", &[LayerIx(1)]);
    assert!(!overruns(b).is_empty());
}

#[test]
fn ten_thousand_components_in_a_row_are_no_trouble() {
    let mut b = Build::new();
    let layer = tries(&mut b, 1, Some(secs(5)));
    b.components =
        (0..10_000).map(|i| Component { name: i.to_string(), kind: ComponentKind::Service, place: None }).collect();
    let uses = vec![LayerUse { layer, modes: any_5xx() }];
    b.hops = (0..9_999)
        .map(|i| Hop { layers: uses.clone(), ..Hop::new(ComponentIx(i), ComponentIx(i + 1), None) })
        .collect();
    assert_eq!(overruns(b), []);
}

#[test]
fn a_redelivery_begins_anew_with_what_limits_the_call() {
    for (kind, cut) in [(LayerKind::Queue, false), (LayerKind::Job, false), (LayerKind::Client, true)] {
        let mut b = Build::new();
        let outer = b.layer(kind, 3, any_5xx());
        b.layer_mut(outer).wait = Wait::Fixed(secs(10));
        b.hop("worker", "orders", &[outer]).limit = Some(secs(5));
        assert_eq!(overruns(b).len(), usize::from(cut), "{kind:?}");
    }
}
