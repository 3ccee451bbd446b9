//! Which layer sits on which hops.

use std::time::Duration;

use super::repository::{Repository, gateway, host, mesh, text};
use super::*;
use crate::facts::RouteFact;
use crate::model::{Callers, GatewayName, LimitKind, Scope};
use crate::source::Span;

#[test]
fn a_gateway_is_the_component_that_mounts_its_file() {
    let mut r = Repository::new();
    r.component("front", None).mounts = vec!["gw/envoy.yaml".to_owned()];
    r.component("orders", None);
    let file = r.file("gw/envoy.yaml").file;
    let from = Callers { gateways: vec![GatewayName::OfFile { file, system: "envoy" }], mesh: false };
    let scope = Scope::Hops { from, to: vec![host("orders", None)], fallback: false };
    r.layer("gateway.yaml", "envoy", LayerKind::Gateway, scope);
    assert_eq!(r.hops(), ["front -> orders [gateway.yaml]"]);
    let model = r.link();
    assert_eq!(model.component(model.hops[0].from).kind, ComponentKind::Gateway);
    assert_eq!(model.layers[0].component.as_deref(), Some("front"));

    // Else the only one whose image runs the system; else one named after the system.
    r.facts.components[0].mounts.clear();
    r.facts.components[0].images = vec!["envoyproxy/envoy:v1.34".to_owned()];
    assert_eq!(r.hops(), ["front -> orders [gateway.yaml]"]);
    r.facts.components[0].images.clear();
    assert_eq!(r.hops(), ["envoy -> orders [gateway.yaml]"]);
}

#[test]
fn a_call_to_a_gateway_goes_on_through_its_routes() {
    let mut r = Repository::new();
    r.component("kong", None);
    r.service("kong-proxy", None, "kong");
    r.component("bff", None);
    let package = r.package("bff", "bff");
    r.call(package, text("http://kong-proxy"), 1);
    r.layer("kong.yml", "kong", LayerKind::Gateway, gateway("kong", &["orders"])).retries.yes = refused();
    assert_eq!(r.hops(), ["bff -> kong [bff/src/layer0.rs]", "kong -> orders [kong.yml]"]);
    let path = &r.link().paths[0];
    assert_eq!((path.product, path.failure, &*path.entry, &*path.leaf), (9, Mode::Refused, "bff", "orders"));
}

#[test]
fn a_route_named_as_its_service_is_not_that_service() {
    let mut r = Repository::new();
    r.component("orders", None);
    r.layer("gateway.yaml", "istio", LayerKind::Mesh, gateway("orders", &["orders"]));
    let model = r.link();
    let hop = &model.hops[0];
    assert_ne!(hop.from, hop.to);
    assert_eq!(model.component(hop.from).kind, ComponentKind::Gateway);
}

#[test]
fn routes_without_a_layer_are_hops_too() {
    let mut r = Repository::new();
    let span = r.file("ingress.yaml");
    let from = GatewayName::Named("ingress shop".to_owned());
    r.facts.routes.push(RouteFact { from, to: vec![host("orders", None)], grpc: false, limit: None, span });
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["orders"]));
    assert_eq!(r.hops(), ["edge -> orders [gateway.yaml]", "ingress shop -> orders []"]);
}

/// A route from the edge to orders within so many seconds, in front of three tries of orders' own.
fn limited(limit: u64) -> Repository {
    let mut r = Repository::new();
    r.component("orders", None);
    let span = r.file("edge.yaml");
    let from = GatewayName::Named("edge".to_owned());
    let limit = Some(Setting::written(Duration::from_secs(limit), span));
    r.facts.routes.push(RouteFact { from, to: vec![host("orders", None)], grpc: false, limit, span });
    let package = r.package("orders", "orders");
    r.call(package, text("http://bank.example"), 1);
    let layer = r.reading.layers.last_mut().unwrap();
    layer.attempts = Setting::written(Attempts::Count(3), span);
    layer.per_try = Some(Setting::written(Duration::from_secs(10), span));
    r
}

#[test]
fn a_route_that_nothing_repeats_ends_before_the_tries_behind_it() {
    let model = limited(2).link();
    let [overrun] = model.overruns.as_slice() else { panic!("{:?}", model.overruns) };
    assert_eq!((overrun.kind, overrun.layer, overrun.tried_again), (LimitKind::Call, None, false));
    assert_eq!(overrun.limit.value(), Some(&Duration::from_secs(2)));
    assert!(overrun.time.known >= Duration::from_secs(30), "{:?}", overrun.time);
    assert_eq!(limited(40).link().overruns, []);
}

#[test]
fn a_route_whose_limit_its_layer_has_is_told_once() {
    let mut r = limited(2);
    let limit = r.facts.routes[0].limit.clone();
    let layer = r.layer("edge.yaml", "envoy", LayerKind::Gateway, gateway("edge", &["orders"]));
    layer.overall = limit;
    assert_eq!(r.link().overruns.len(), 1);
    assert_eq!(r.link().hops.len(), 2);
}

#[test]
fn a_call_that_nothing_repeats_ends_before_the_tries_behind_it() {
    let mut r = limited(60);
    let package = r.package("web", "web");
    let span = r.file("web/src/limit.rs");
    r.call(package, text("http://orders"), 0).limit = Some(Setting::written(Duration::from_secs(5), span));
    let model = r.link();
    let [overrun] = model.overruns.as_slice() else { panic!("{:?}", model.overruns) };
    assert_eq!((overrun.kind, overrun.limit.span()), (LimitKind::Call, Some(span)));
}

#[test]
fn several_upstreams_and_several_routes_are_alternative_hops() {
    let mut r = Repository::new();
    r.layer("one.yaml", "kong", LayerKind::Gateway, gateway("edge", &["a", "b"]));
    r.layer("two.yaml", "kong", LayerKind::Gateway, gateway("edge", &["b"]));
    assert_eq!(r.hops(), ["edge -> a [one.yaml]", "edge -> b [one.yaml]", "edge -> b [two.yaml]"]);
}

#[test]
fn a_route_whose_upstream_is_not_known_still_repeats() {
    let mut r = Repository::new();
    r.layer("gateway.yaml", "envoy", LayerKind::Gateway, gateway("edge", &[]));
    assert_eq!(r.hops(), ["edge -> the host behind gateway.yaml [gateway.yaml]"]);
}

#[test]
fn components_that_call_each_other_in_a_circle_are_told_once() {
    let mut r = Repository::new();
    let (a, b) = (r.package("a", "a"), r.package("b", "b"));
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["a"]));
    r.call(a, text("http://b"), 1);
    r.call(b, text("http://a"), 1);
    let model = r.link();
    let told: Vec<&str> = model.unresolved.iter().map(|u| &*u.what).collect();
    assert_eq!(told, ["how often calls go round from a to b and back"]);
    let seen: Vec<_> = model.paths.iter().map(|p| (p.product, &*p.entry, &*p.leaf)).collect();
    assert_eq!(seen, [(27, "edge", "a")], "the way back to a is counted, and ends there");
}

#[test]
fn a_count_that_cannot_be_known_is_told() {
    let mut r = Repository::new();
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["a"]));
    assert_eq!(r.link().unresolved.len(), 0);
    let layer = r.facts.layers.last_mut().unwrap();
    layer.attempts = Setting::Unknown { why: "comes from RETRIES".to_owned(), span: None };
    let model = r.link();
    let told: Vec<_> = model.unresolved.iter().map(|u| (&*u.what, &*u.reason, u.span)).collect();
    assert_eq!(told, [("attempts of gateway.yaml", "comes from RETRIES", model.layers[0].place)]);
}

#[test]
fn a_mesh_policy_is_innermost_on_every_hop_to_its_host_but_those_of_gateways() {
    let mut r = Repository::new();
    let (orders, web) = (r.package("orders", "orders"), r.package("web", "web"));
    r.call(orders, text("http://stock.shop.svc"), 1);
    r.call(web, text("http://stock"), 0);
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["stock"]));
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    assert_eq!(
        r.hops(),
        [
            "edge -> stock [gateway.yaml]",
            "orders -> stock [orders/src/layer0.rs, mesh.yaml]",
            "web -> stock [mesh.yaml]"
        ]
    );
}

#[test]
fn a_mesh_policy_for_a_host_that_nobody_calls_has_callers_elsewhere() {
    let mut r = Repository::new();
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    assert_eq!(r.hops(), ["callers of stock -> stock [mesh.yaml]"]);
    let model = r.link();
    assert_eq!(model.component(model.hops[0].from).kind, ComponentKind::Outside);
    assert_eq!(model.layers[0].component, None);
}

#[test]
fn callers_elsewhere_are_named_by_the_host_that_they_call() {
    let mut r = Repository::new();
    for name in ["stock-v1", "stock-v2"] {
        r.component(name, Some("shop")).labels = vec![("app".to_owned(), "stock".to_owned())];
    }
    r.service("stock", Some("shop"), "stock");
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock.shop.svc.cluster.local", "stock"]));
    let hops = ["callers of stock -> stock-v1 [mesh.yaml]", "callers of stock -> stock-v2 [mesh.yaml]"];
    assert_eq!(r.hops(), hops);
}

#[test]
fn a_policy_is_for_those_who_call_its_host_by_any_of_its_names() {
    let mut r = Repository::new();
    let package = r.package("web", "web");
    r.call(package, text("http://stock"), 0);
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock-v2", "stock"]));
    assert_eq!(r.hops(), ["web -> stock [mesh.yaml]"]);
}

#[test]
fn routes_of_one_mesh_are_alternatives_and_two_meshes_are_factors() {
    let mut r = Repository::new();
    let package = r.package("web", "web");
    r.call(package, text("http://stock"), 0);
    r.layer("a.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    r.layer("b.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    r.layer("c.yaml", "dapr", LayerKind::Mesh, mesh(&["stock"]));
    assert_eq!(r.hops(), ["web -> stock [c.yaml, a.yaml]", "web -> stock [c.yaml, b.yaml]"]);
}

#[test]
fn a_meshs_default_holds_where_no_other_layer_of_it_does() {
    let default = |hosts: &[&str]| match mesh(hosts) {
        Scope::Hops { from, to, .. } => Scope::Hops { from, to, fallback: true },
        other => other,
    };
    let mut r = Repository::new();
    let package = r.package("web", "web");
    r.call(package, text("http://a"), 0);
    r.call(package, text("http://b"), 0);
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["a"]));
    for host in ["a", "b", "c"] {
        let layer = r.new_layer(&format!("default {host}"), "istio", LayerKind::Mesh, default(&[host]));
        r.facts.layers.push(crate::model::Layer { asked_for: false, ..layer });
    }
    assert_eq!(r.hops(), ["web -> a [mesh.yaml]", "web -> b [default b]"]);
    let ids: Vec<_> = r.link().layers.iter().map(|l| l.id.to_string()).collect();
    assert_eq!(ids, ["mesh.yaml", "default b"], "a default that applies to nothing is not in the inventory");
}

#[test]
fn a_clients_setting_is_on_its_owners_hops_to_the_host() {
    let mut r = Repository::new();
    r.component("edge", None).images = vec!["edge:2".to_owned()];
    let package = r.package("web", "web");
    r.call(package, text("http://stock"), 1);
    let to = |name| Scope::Client { to: Some(host(name, None)), grpc: false };
    r.layer("web/settings.toml", "grpc", LayerKind::Client, to("stock"));
    r.layer("edge/src/main/resources/application.yml", "resilience4j", LayerKind::Client, to("stock"));
    r.layer("any.yml", "resilience4j", LayerKind::Client, to("tax")).component = Some("edge".to_owned());
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    assert_eq!(
        r.hops(),
        [
            "edge -> stock [edge/src/main/resources/application.yml, mesh.yaml]",
            "edge -> tax [any.yml]",
            "web -> stock [web/src/layer0.rs, web/settings.toml, mesh.yaml]"
        ]
    );
}

#[test]
fn a_clients_setting_without_a_host_reaches_one_that_is_not_known() {
    let mut r = Repository::new();
    r.package("web", "web");
    r.layer("web/settings.toml", "grpc", LayerKind::Client, Scope::Client { to: None, grpc: false });
    assert_eq!(r.hops(), ["web -> the host behind web/settings.toml [web/settings.toml]"]);
    assert_eq!(r.link().unresolved.len(), 1);
}

#[test]
fn settings_of_one_client_in_several_profiles_are_alternatives() {
    let mut r = Repository::new();
    let to = Scope::Client { to: Some(host("stock", None)), grpc: false };
    for file in ["base.yml", "prod.yml"] {
        let layer = r.layer(file, "resilience4j", LayerKind::Client, to.clone());
        layer.id = "resilience4j:stock".into();
        layer.component = Some("edge".to_owned());
    }
    assert_eq!(r.hops(), ["edge -> stock [resilience4j:stock]", "edge -> stock [resilience4j:stock]"]);
}

#[test]
fn settings_belong_to_the_component_that_mounts_them() {
    let mut r = Repository::new();
    r.component("web", None).mounts = vec!["config".to_owned()];
    r.component("other", None);
    let to = Scope::Client { to: Some(host("stock", None)), grpc: false };
    r.layer("config/application.yml", "resilience4j", LayerKind::Client, to);
    assert_eq!(r.hops(), ["web -> stock [config/application.yml]"]);
}

#[test]
fn a_queue_is_outermost_on_all_that_its_component_calls() {
    let mut r = Repository::new();
    let package = r.package("web", "web");
    r.call(package, text("http://a"), 1);
    r.layer("web/queue.yaml", "sqs", LayerKind::Queue, Scope::Client { to: None, grpc: false });
    assert_eq!(r.hops(), ["web -> a [web/queue.yaml, web/src/layer0.rs]"]);
}

#[test]
fn a_port_for_grpc_makes_a_hop_grpc() {
    let mut r = Repository::new();
    r.component("stock", None);
    r.service("stock", None, "stock").grpc = true;
    let package = r.package("web", "web");
    r.call(package, text("http://stock"), 0);
    assert!(r.link().hops[0].grpc);
}

#[test]
fn layers_are_in_the_order_of_their_places_and_paths_follow() {
    let mut r = Repository::new();
    let package = r.package("web", "web");
    r.call(package, text("http://stock"), 1);
    r.layer("mesh.yaml", "istio", LayerKind::Mesh, mesh(&["stock"]));
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["web"]));
    let model = r.link();
    let places: Vec<Span> = model.layers.iter().map(|l| l.place).collect();
    assert!(places.is_sorted());
    let path = &model.paths[0];
    let ids: Vec<&str> = path.layers.iter().map(|ix| &*model.layer(*ix).id).collect();
    assert_eq!(ids, ["gateway.yaml", "web/src/layer0.rs", "mesh.yaml"]);
    assert_eq!((path.product, &*path.entry, &*path.leaf), (27, "edge", "stock"));
    assert_eq!(model, r.link(), "two runs, one model");
}
