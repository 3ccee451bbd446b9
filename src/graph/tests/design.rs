//! One test for each thing that is said about failure modes and products.

use super::*;
use crate::model::{Answer, Budget, MAX_PRODUCT, Purpose};
use std::time::Duration;

const CODE: LayerKind = LayerKind::Code;
const GATEWAY: LayerKind = LayerKind::Gateway;
const MESH: LayerKind = LayerKind::Mesh;

/// outer → middle → leaf with a layer on each hop.
fn two_hops(outer: ModeSet, inner: ModeSet) -> Build {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, outer), b.layer(CODE, 4, inner));
    b.hop("outer", "middle", &[o]);
    b.hop("middle", "leaf", &[i]);
    b
}

#[test]
fn any_component_on_the_path_can_be_the_one_that_fails() {
    // The outer layer retries refused connections only: it multiplies where the middle fails, not where the leaf does.
    let mut b = two_hops(refused(), status(503));
    b.layer_mut(LayerIx(0)).attempts = Setting::written(Attempts::Count(12), b.draft.model.layers[0].place);
    let path = b.only();
    assert_eq!((path.product, path.failure, &*path.leaf), (12, Mode::Refused, "middle"));
    assert_eq!(ids(&path.layers), [0]);
}

#[test]
fn the_product_is_the_largest_over_the_failing_points_and_the_finding_names_the_mode() {
    let path = two_hops(any_5xx(), status(429).union(status(503))).only();
    assert_eq!((path.product, path.failure, &*path.leaf, &*path.entry), (12, Mode::Status(503), "leaf", "outer"));
}

#[test]
fn same_hop_all_layers_see_the_leafs_own_failure() {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, refused()), b.layer(LayerKind::Client, 4, refused()));
    b.hop("a", "leaf", &[o, i]);
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Refused));
    assert_eq!(ids(&path.layers), [0, 1]);
}

#[test]
fn a_proxy_turns_refused_into_503_for_whoever_sits_in_front_of_it() {
    let mut b = Build::new();
    let (code, mesh) = (b.layer(CODE, 3, status(503)), b.layer(MESH, 4, refused()));
    b.hop("a", "leaf", &[code, mesh]);
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Refused));

    let mut b = Build::new();
    let (code, mesh) = (b.layer(CODE, 3, refused()), b.layer(MESH, 4, refused()));
    b.hop("a", "leaf", &[code, mesh]);
    let path = b.only();
    assert_eq!((path.product, ids(&path.layers)), (4, vec![1]), "the code never sees the refused connection");
}

#[test]
fn a_proxy_turns_its_own_timeout_into_504_for_whoever_sits_in_front_of_it() {
    let timeout: ModeSet = [Mode::Timeout].into_iter().collect();
    let mut b = Build::new();
    let (code, mesh) = (b.layer(CODE, 3, status(504)), b.layer(MESH, 4, timeout));
    b.layer_mut(mesh).per_try = Some(Setting::default(Duration::from_secs(1), "test"));
    b.hop("a", "leaf", &[code, mesh]);
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Timeout));

    b.layer_mut(mesh).per_try = None;
    assert_eq!(b.only().product, 4, "a proxy without a time limit waits as long as whoever sits in front of it");
}

#[test]
fn a_service_between_answers_with_any_5xx_that_the_outer_layer_retries() {
    for inner in [refused(), any_5xx(), status(500)] {
        let path = two_hops(status(503), inner).only();
        assert_eq!((path.product, &*path.leaf), (12, "leaf"));
    }
}

#[test]
fn the_5xx_is_the_one_with_the_largest_product_over_the_layers_of_that_hop_together() {
    let mut b = Build::new();
    let (o, p) = (b.layer(CODE, 2, status(503)), b.layer(LayerKind::Client, 3, status(503).union(status(502))));
    let (q, i) = (b.layer(MESH, 5, status(502)), b.layer(CODE, 4, any_5xx()));
    b.hop("a", "b", &[o, p, q]);
    b.hop("b", "leaf", &[i]);
    let path = b.only();
    assert_eq!((path.product, ids(&path.layers)), (3 * 5 * 4, vec![1, 2, 3]));
}

#[test]
fn unless_its_handler_is_seen_to_answer_otherwise() {
    let mut b = two_hops(status(503), any_5xx());
    b.hops[1].answers = vec![(ModeSet::all(), Answer::Status(502))];
    assert_eq!(ids(&b.only().layers), [1], "a 502 is not what the outer layer retries");
    b.hops[1].answers = vec![(status(500), Answer::Status(503)), (ModeSet::all(), Answer::Status(404))];
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Status(500)));
}

#[test]
fn a_200_with_a_fallback_ends_the_path_there() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.hops[1].answers = vec![(ModeSet::all(), Answer::Success)];
    let all = b.all();
    let seen: Vec<_> = all.iter().map(|p| (p.product, &*p.entry, &*p.leaf)).collect();
    assert_eq!(seen, [(4, "middle", "leaf"), (3, "outer", "middle")]);
}

#[test]
fn a_fallback_for_some_failures_leaves_the_others() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.hops[1].answers = vec![(status(503), Answer::Success)];
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Status(504)));
}

#[test]
fn a_timeout_stays_a_timeout_for_the_outer_layer() {
    let timeout: ModeSet = [Mode::Timeout].into_iter().collect();
    let path = two_hops(timeout, timeout).only();
    assert_eq!((path.product, path.failure, &*path.leaf), (12, Mode::Timeout, "leaf"));
    assert_eq!(two_hops(any_5xx(), timeout).only().product, 4);
}

#[test]
fn a_layer_that_retries_only_connection_faults_multiplies_only_on_the_hop_next_to_the_failing_one() {
    let path = two_hops(refused(), refused()).only();
    assert_eq!((path.product, ids(&path.layers)), (4, vec![1]));
}

#[test]
fn a_4xx_or_429_from_the_leaf_is_passed_on_as_it_is() {
    for code in [404, 429] {
        let path = two_hops(status(code), status(code)).only();
        assert_eq!((path.product, path.failure), (12, Mode::Status(code)));
    }
    assert_eq!(two_hops(status(429), status(404)).only().product, 4);
}

#[test]
fn a_gateway_passes_a_5xx_on_as_it_is() {
    let mut b = Build::new();
    let (edge, proxy) = (b.layer(GATEWAY, 3, status(503)), b.layer(GATEWAY, 4, status(500)));
    b.of_kind(ComponentKind::Gateway, "edge");
    b.of_kind(ComponentKind::Gateway, "proxy");
    b.hop("edge", "proxy", &[edge]);
    b.hop("proxy", "leaf", &[proxy]);
    assert_eq!(b.only().product, 4, "the edge sees the 500 that it does not retry");
    b.layer_mut(proxy);
    b.hops[1].layers[0].modes = refused();
    assert_eq!(b.only().product, 12, "a refused connection is a 5xx by then");
}

#[test]
fn a_layer_whose_conditions_are_unknown_retries_every_mode() {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, ModeSet::EMPTY), b.layer(CODE, 4, status(418)));
    b.layer_mut(o).retries.unknown = ModeSet::all();
    b.hop("a", "b", &[o]);
    b.hop("b", "leaf", &[i]);
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Status(418)));
}

#[test]
fn a_deadline_counts_as_often_as_its_schedule_fits() {
    let mut b = two_hops(any_5xx(), any_5xx());
    let within = Attempts::Within { deadline: Duration::from_secs(900), about: 25 };
    b.layer_mut(LayerIx(1)).attempts = Setting::default(within, "test");
    assert_eq!(b.only().product, 75);
}

#[test]
fn an_unknown_count_counts_one_and_the_path_is_at_least() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.layer_mut(LayerIx(0)).attempts = Setting::unknown("an argument", None);
    let path = b.only();
    assert_eq!((path.product, path.at_least, ids(&path.layers)), (4, true, vec![0, 1]));
    b.layer_mut(LayerIx(1)).attempts = Setting::unknown("an argument", None);
    let path = b.only();
    assert_eq!((path.product, path.at_least, path.layers.len()), (1, true, 2));
}

#[test]
fn an_unbounded_layer_makes_the_product_infinite() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.layer_mut(LayerIx(1)).attempts = Setting::default(Attempts::Unbounded, "test");
    let path = b.only();
    assert!(path.unbounded && path.product == MAX_PRODUCT && path.sustained == f64::INFINITY);
    // One alone is listed too, whatever the limit.
    let mut b = Build::new();
    let only = b.layer(CODE, 1, any_5xx());
    b.layer_mut(only).attempts = Setting::default(Attempts::Unbounded, "test");
    b.hop("a", "leaf", &[only]);
    assert_eq!(b.paths().listed.len(), 1);
}

#[test]
fn a_single_layer_above_the_limit_is_in_the_paths() {
    for (count, listed) in [(10, 0), (11, 1)] {
        let mut b = Build::new();
        let only = b.layer(CODE, count, any_5xx());
        b.hop("a", "leaf", &[only]);
        assert_eq!(b.paths().listed.len(), listed);
    }
}

#[test]
fn a_budget_lowers_the_sustained_load_and_not_the_product() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.layer_mut(LayerIx(0)).budget = Some(Budget { ratio: Setting::default(0.2, "test") });
    let path = b.only();
    assert_eq!((path.product, path.sustained), (12, 1.2 * 4.0));
    b.layer_mut(LayerIx(0)).budget = Some(Budget { ratio: Setting::default(7.0, "test") });
    assert_eq!(b.only().sustained, 12.0, "a budget never adds");
}

#[test]
fn a_cycle_is_reported_once_and_cut_at_its_back_edge() {
    let mut b = Build::new();
    let (g, x, y) = (b.layer(GATEWAY, 2, any_5xx()), b.layer(CODE, 3, any_5xx()), b.layer(CODE, 5, any_5xx()));
    b.hop("gateway", "a", &[g]);
    b.hop("a", "b", &[x]);
    b.hop("b", "a", &[y]);
    let paths = b.paths();
    assert_eq!(paths.cycles, [2]);
    let seen: Vec<_> = paths.listed.iter().map(|p| (p.product, &*p.entry, &*p.leaf)).collect();
    assert_eq!(seen, [(30, "gateway", "a")]);
}

#[test]
fn a_component_that_calls_itself_is_a_cycle() {
    let mut b = Build::new();
    let x = b.layer(CODE, 30, any_5xx());
    b.hop("a", "a", &[x]);
    let paths = b.paths();
    assert_eq!((paths.cycles.len(), paths.listed.len()), (1, 1));
}

#[test]
fn two_alternative_routes_are_alternative_paths_and_not_factors() {
    let mut b = Build::new();
    let (one, other) = (b.layer(GATEWAY, 3, any_5xx()), b.layer(GATEWAY, 5, any_5xx()));
    b.hop("gateway", "a", &[one]);
    b.hop("gateway", "a", &[other]);
    let seen: Vec<u64> = b.all().iter().map(|p| p.product).collect();
    assert_eq!(seen, [5, 3]);
}

#[test]
fn copies_count_in_every_mode() {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, ModeSet::EMPTY), b.layer(CODE, 4, status(404)));
    b.layer_mut(o).copies = true;
    b.hop("a", "b", &[o]);
    b.hop("b", "leaf", &[i]);
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Status(404)));
}

#[test]
fn a_disabled_policy_is_not_in_a_paths_layers() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.layer_mut(LayerIx(0)).attempts = Setting::written(Attempts::Count(1), b.draft.model.layers[0].place);
    let path = b.only();
    assert_eq!((path.product, ids(&path.layers), &*path.entry), (4, vec![1], "middle"));
}

#[test]
fn a_stream_that_reconnects_never_multiplies() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.layer_mut(LayerIx(0)).purpose = Purpose::Upkeep;
    assert_eq!(ids(&b.only().layers), [1]);
}

#[test]
fn layers_that_cover_disjoint_faults_do_not_multiply() {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, status(503)), b.layer(CODE, 4, status(429)));
    b.hop("a", "leaf", &[o, i]);
    let path = b.only();
    assert_eq!((path.product, ids(&path.layers)), (4, vec![1]));
}

#[test]
fn grpc_modes_occur_only_on_hops_that_carry_grpc() {
    let unavailable: ModeSet = [Mode::Grpc(14)].into_iter().collect();
    let mut b = two_hops(unavailable, unavailable);
    assert!(b.all().is_empty());
    b.hops[1].grpc = true;
    let path = b.only();
    assert_eq!((path.product, ids(&path.layers)), (4, vec![1]), "the outer hop carries no gRPC");
    b.hops[0].grpc = true;
    let path = b.only();
    // A gRPC client sees a proxy's plain 503 as UNAVAILABLE, so 503 comes first by rank.
    assert_eq!((path.product, path.failure), (12, Mode::Status(503)));
}

#[test]
fn a_proxys_503_is_unavailable_to_a_grpc_client() {
    let unavailable: ModeSet = [Mode::Grpc(14)].into_iter().collect();
    let mut b = Build::new();
    let (code, mesh) = (b.layer(CODE, 3, unavailable), b.layer(MESH, 4, refused()));
    b.hop("a", "leaf", &[code, mesh]).grpc = true;
    assert_eq!((b.only().product, b.only().failure), (12, Mode::Refused));
}

#[test]
fn a_grpc_client_error_is_the_http_status_that_stands_for_it_further_out() {
    let not_found: ModeSet = [Mode::Grpc(5)].into_iter().collect();
    let mut b = two_hops(status(404), not_found);
    b.hops[1].grpc = true;
    let path = b.only();
    assert_eq!((path.product, path.failure), (12, Mode::Grpc(5)));
}

#[test]
fn equal_products_name_the_first_mode() {
    let all = ModeSet::all();
    let without = |mode: Mode| all.difference([mode].into_iter().collect());
    assert_eq!(two_hops(all, all).only().failure, Mode::Refused);
    assert_eq!(two_hops(without(Mode::Refused), without(Mode::Refused)).only().failure, Mode::Timeout);
    let statuses = ModeSet::statuses(400..=599);
    assert_eq!(two_hops(statuses, statuses).only().failure, Mode::Status(503));
    let few = ModeSet::statuses([500, 502, 429]);
    assert_eq!(two_hops(few, few).only().failure, Mode::Status(502));
}

#[test]
fn products_saturate() {
    let mut b = Build::new();
    let mut last = "c0".to_owned();
    for i in 1..10 {
        let layer = b.layer(CODE, 4096, any_5xx());
        let next = format!("c{i}");
        b.hop(&last, &next, &[layer]);
        last = next;
    }
    let path = b.only();
    assert_eq!((path.product, path.layers.len()), (MAX_PRODUCT, 9));
}

#[test]
fn a_hop_that_no_request_causes_starts_a_path_of_its_own() {
    let mut b = two_hops(any_5xx(), any_5xx());
    b.hops[1].on_request = false;
    let all = b.all();
    let seen: Vec<_> = all.iter().map(|p| (p.product, &*p.entry)).collect();
    assert_eq!(seen, [(4, "middle"), (3, "outer")]);
}

#[test]
fn components_without_layers_are_folded_away_first() {
    let mut b = Build::new();
    let (o, i) = (b.layer(CODE, 3, any_5xx()), b.layer(CODE, 4, any_5xx()));
    for first in ["x", "y"] {
        b.hop(first, "outer", &[]);
    }
    b.hop("outer", "p", &[o]);
    b.hop("outer", "q", &[o]);
    for middle in ["p", "q"] {
        b.hop(middle, "inner", &[]);
    }
    b.hop("inner", "leaf", &[i]);
    b.hop("leaf", "database", &[]);
    let path = b.only();
    assert_eq!((path.product, &*path.entry, &*path.leaf), (12, "outer", "leaf"));
}

#[test]
fn a_shorter_path_beside_a_longer_one_is_listed() {
    // One client for both calls: the hop to pricing ends there, the one to stock goes on.
    let mut b = Build::new();
    let (g, c, s) = (b.layer(GATEWAY, 2, any_5xx()), b.layer(CODE, 3, any_5xx()), b.layer(CODE, 4, any_5xx()));
    b.hop("gateway", "orders", &[g]);
    b.hop("orders", "pricing", &[c]);
    b.hop("orders", "stock", &[c]);
    b.hop("stock", "leaf", &[s]);
    let all = b.all();
    let seen: Vec<_> = all.iter().map(|p| (p.product, &*p.leaf)).collect();
    assert_eq!(seen, [(24, "leaf"), (6, "pricing")]);
}
