//! Systems that stand side by side in one repository: which of their layers end up on which hop.

use retrylint::config::Config;
use retrylint::graph;
use retrylint::model::{Attempts, Model};
use retrylint::rust::reading::CodeReading;
use retrylint::systems::{Version, Versions};

const SERVICES: &str = "\
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: web}}}
---
{apiVersion: v1, kind: Service, metadata: {name: stock, namespace: shop}, spec: {selector: {app: stock}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, env: [{name: STOCK_URL, value: 'http://stock:80'}]}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: jobs, namespace: shop}, spec: {template: {metadata: {labels: {app: jobs}}, spec: {containers: [{name: jobs, image: jobs, env: [{name: STOCK_URL, value: 'http://stock.shop:80'}]}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: stock, namespace: shop}, spec: {template: {metadata: {labels: {app: stock}}, spec: {containers: [{name: stock, image: stock}]}}}}
";

const VIRTUAL_SERVICE: &str = "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: stock, namespace: shop}, spec: {hosts: [stock], http: [{retries: {attempts: 4, retryOn: '503'}, route: [{destination: {host: stock}}]}]}}";
const DESTINATION_RULE: &str = "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: stock, namespace: shop}, spec: {host: stock.shop.svc.cluster.local}}";
const GATEWAY: &str = "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge, namespace: shop}, spec: {gatewayClassName: istio}}";
const EDGE_ROUTE: &str = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: shop}, spec: {parentRefs: [{name: edge}], rules: [{retry: {attempts: 1, codes: [503]}, backendRefs: [{name: web, port: 80}]}]}}";
const INGRESS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop, annotations: {nginx.ingress.kubernetes.io/proxy-next-upstream-tries: '2'}}, spec: {ingressClassName: nginx, rules: [{http: {paths: [{path: /, backend: {service: {name: web, port: {number: 80}}}}]}}]}}";

fn model(documents: &[&str]) -> Model {
    let files = documents.iter().enumerate().map(|(i, text)| (format!("{i}.yaml"), text.to_string())).collect();
    let (sources, facts) = super::read(files, &Versions::default());
    graph::link(facts, CodeReading::default(), &sources, &Config::default())
}

/// Each hop with the ids of its layers.
fn hops(documents: &[&str]) -> Vec<String> {
    let model = model(documents);
    let mut out: Vec<String> = Vec::new();
    for hop in &model.hops {
        let layers: Vec<&str> = hop.layers.iter().map(|l| &*model.layer(l.layer).id).collect();
        let name = |ix| &model.component(ix).name;
        out.push(format!("{} -> {}: {}", name(hop.from), name(hop.to), layers.join(", ")));
    }
    out.sort();
    out
}

#[test]
fn a_route_a_rule_and_a_gateway_of_one_mesh() {
    let found = hops(&[SERVICES, VIRTUAL_SERVICE, DESTINATION_RULE, GATEWAY, EDGE_ROUTE]);
    assert_eq!(
        found,
        [
            "edge -> web: gateway-api:httproute:shop/web",
            "jobs -> stock: istio:virtualservice:shop/stock",
            "web -> stock: istio:virtualservice:shop/stock",
        ]
    );
}

#[test]
fn an_ingress_controller_in_front_of_a_mesh() {
    let found = hops(&[SERVICES, VIRTUAL_SERVICE, INGRESS]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("ingress web -> web: ingress-nginx:"), "{found:?}");
    assert_eq!(found[2], "web -> stock: istio:virtualservice:shop/stock");
}

#[test]
fn the_default_of_a_mesh_holds_only_where_nothing_nearer_stands() {
    let found = hops(&[SERVICES, DESTINATION_RULE, DESTINATION_RULE]);
    assert_eq!(
        found,
        [
            "jobs -> stock: istio:default:shop/stock.shop.svc.cluster.local",
            "web -> stock: istio:default:shop/stock.shop.svc.cluster.local"
        ]
    );
}

#[test]
fn a_route_for_some_pods_is_theirs_alone() {
    let some = "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: stock, namespace: shop}, spec: {hosts: [stock], http: [\
                {name: some, match: [{sourceLabels: {app: web}}], retries: {attempts: 4, retryOn: '503'}, route: [{destination: {host: stock}}]},\
                {name: rest, retries: {attempts: 1, retryOn: '503'}, route: [{destination: {host: stock}}]}]}}";
    let found = hops(&[SERVICES, some]);
    assert_eq!(
        found,
        ["jobs -> stock: istio:virtualservice:shop/stock:rest", "web -> stock: istio:virtualservice:shop/stock:some"]
    );
}

#[test]
fn a_route_of_the_mesh_that_asks_for_retries_has_none_of_the_meshs_own_policy() {
    let mesh = "meshConfig: {defaultHttpRetryPolicy: {attempts: 7, retryOn: 5xx}}";
    let route = |rule: &str| {
        format!(
            "{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: stock, namespace: shop}}, spec: {{parentRefs: [{{kind: Service, name: stock}}], rules: [{{{rule}backendRefs: [{{name: stock, port: 80}}]}}]}}}}"
        )
    };
    let attempts = |rule: &str| {
        let model = model(&[mesh, DESTINATION_RULE, &route(rule)]);
        let layer = model.layers.iter().find(|l| l.id.starts_with("gateway-api:")).unwrap();
        layer.attempts.value().copied()
    };
    assert_eq!(attempts("retry: {codes: [503]}, "), Some(Attempts::Count(3)));
    assert_eq!(attempts("retry: {attempts: 1, codes: [503]}, "), Some(Attempts::Count(2)));
    assert_eq!(attempts(""), Some(Attempts::Count(8)));
}

#[test]
fn a_kong_conf_widens_what_kong_repeats() {
    let kong = ("kong.yaml", "{_format_version: '3.0', services: [{name: a, url: 'http://a'}]}");
    let conf = (
        "kong.conf",
        "proxy_listen = 0.0.0.0:8000\nnginx_proxy_proxy_next_upstream = error timeout http_502 # and more\nnginx_proxy_proxy_next_upstream_tries = 2\n",
    );
    let files = |all: &[(&str, &str)]| all.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect();
    let (_, facts) = super::read(files(&[kong, conf]), &Versions::default());
    assert_eq!(facts.layers[0].retries.yes.names(), ["refused", "timeout", "502"]);
    assert_eq!(facts.layers[0].attempts.value(), Some(&Attempts::Count(2)));
    let (_, facts) = super::read(files(&[kong, ("other.conf", conf.1)]), &Versions::default());
    assert_eq!(facts.layers[0].attempts.value(), Some(&Attempts::Count(6)));
}

#[test]
fn a_kong_ingress_counts_before_the_third_version() {
    let objects = "\
{apiVersion: v1, kind: Service, metadata: {name: orders, namespace: shop, annotations: {konghq.com/override: tuned}}}
---
{apiVersion: v1, kind: Service, metadata: {name: carts, namespace: shop, annotations: {konghq.com/override: tuned, konghq.com/retries: '0'}}}
---
{apiVersion: configuration.konghq.com/v1, kind: KongIngress, metadata: {name: tuned, namespace: shop}, proxy: {retries: 3, read_timeout: 2000}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: shop, namespace: shop}, spec: {ingressClassName: kong, rules: [{http: {paths: [{path: /, backend: {service: {name: orders, port: {number: 80}}}}, {path: /c, backend: {service: {name: carts, port: {number: 80}}}}]}}]}}
";
    let counts = |major: u32| {
        let versions = Versions([("kong-ingress".to_string(), Version { major, minor: 0 })].into_iter().collect());
        let (_, facts) = super::read(vec![("a.yaml".to_string(), objects.to_string())], &versions);
        let mut counts: Vec<(String, Option<Attempts>)> = facts
            .layers
            .iter()
            .filter(|l| l.id.contains(":service:") || l.id.contains(":ingress:"))
            .map(|l| (l.id.to_string(), l.attempts.value().copied()))
            .collect();
        counts.sort_by(|a, b| a.0.cmp(&b.0));
        (counts, facts.inert.len())
    };
    let (old, inert) = counts(2);
    assert_eq!(
        old,
        [
            ("kong-ingress:service:orders".to_string(), Some(Attempts::Count(4))),
            ("kong-ingress:service:shop/carts".to_string(), Some(Attempts::Count(1))),
        ]
    );
    assert_eq!(inert, 0);
    let (new, inert) = counts(3);
    assert_eq!(new.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [Some(Attempts::Count(6)), Some(Attempts::Count(1))]);
    assert_eq!(inert, 1);
}

#[test]
fn a_retry_of_api_management_inside_another_multiplies() {
    let policy = "<policies><inbound><set-backend-service base-url=\"https://pay.internal\" /></inbound><backend>\
        <retry condition=\"@(context.Response.StatusCode >= 500)\" count=\"5\" interval=\"10\">\
        <retry condition=\"@(context.Response.StatusCode == 503)\" count=\"2\" interval=\"1\"><forward-request />\
        </retry></retry></backend></policies>";
    let files = vec![("policy.xml".to_string(), policy.to_string())];
    let (sources, facts) = super::read(files, &Versions::default());
    let model = graph::link(facts, CodeReading::default(), &sources, &Config::default());
    let counts: Vec<Vec<Option<u64>>> = model
        .hops
        .iter()
        .map(|h| h.layers.iter().map(|l| model.layer(l.layer).attempts.value().and_then(|a| a.count())).collect())
        .collect();
    assert_eq!(counts, [[Some(6), Some(3)]]);
}
