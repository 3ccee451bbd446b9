//! What single settings make of a layer, where a fixture would hide it among others.

use retrylint::facts::Facts;
use retrylint::systems::Versions;

fn facts(file: &str, text: &str) -> Facts {
    super::read(vec![(file.into(), text.into())], &Versions::default()).1
}

fn istio_default(port: &str) -> usize {
    let rule = "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: db, namespace: n}, spec: {host: db.n.svc.cluster.local}}";
    let service = format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: db, namespace: n}}, spec: {{selector: {{app: db}}, ports: [{port}]}}}}"
    );
    facts("k.yaml", &format!("{rule}\n---\n{service}\n")).layers.len()
}

#[test]
fn istio_retries_nothing_on_ports_of_bytes() {
    for port in [
        "{port: 6379, name: tcp-redis}",
        "{port: 9999, name: mysql}",
        "{port: 80, appProtocol: tcp}",
        "{port: 3306}",
        "{port: 3306}, {port: 5432}",
    ] {
        assert_eq!(istio_default(port), 0, "{port}");
    }
    for port in ["{port: 3306, name: http}", "{port: 80}", "{port: 3306}, {port: 80, name: http}", ""] {
        assert_eq!(istio_default(port), 1, "{port}");
    }
}

#[test]
fn kumas_default_is_for_http_and_grpc() {
    let policy = "{apiVersion: kuma.io/v1alpha1, kind: MeshCircuitBreaker, metadata: {name: c, namespace: kuma-system}, spec: {to: [{targetRef: {kind: MeshService, name: a, namespace: n}, default: {}}]}}";
    let layers = |metadata: &str, port: &str| {
        let service = format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: a, namespace: n{metadata}}}, spec: {{ports: [{port}]}}}}"
        );
        facts("k.yaml", &format!("{policy}\n---\n{service}\n")).layers.len()
    };
    for port in
        ["{port: 80}", "{port: 80, appProtocol: tcp}", "{port: 80, appProtocol: http2}", "{port: 80, name: http}"]
    {
        assert_eq!(layers("", port), 0, "{port}");
    }
    for port in
        ["{port: 80, appProtocol: http}", "{port: 80, appProtocol: grpc}", "{port: 79}, {port: 80, appProtocol: http}"]
    {
        assert_eq!(layers("", port), 1, "{port}");
    }
    assert_eq!(layers(", annotations: {80.service.kuma.io/protocol: http}", "{port: 80}"), 1);
}

#[test]
fn a_mesh_timeout_holds_for_the_hosts_that_it_names() {
    let overall = |timeout: &str| {
        let retry = "{type: MeshRetry, mesh: m, name: r, spec: {to: [{targetRef: {kind: MeshService, name: a}, default: {http: {numRetries: 2, perTryTimeout: 3s}}}]}}";
        let text = format!("{retry}\n---\n{{type: MeshTimeout, mesh: m, name: t, spec: {{to: [{timeout}]}}}}\n");
        let facts = facts("k.yaml", &text);
        let layer = facts.layers.into_iter().find(|l| l.id.contains("meshretry")).unwrap();
        (layer.overall.and_then(|o| o.value().map(|d| d.as_secs())), layer.per_try.is_some())
    };
    let of = |name: &str, secs: u64| {
        format!("{{targetRef: {{kind: MeshService, name: {name}}}, default: {{http: {{requestTimeout: {secs}s}}}}}}")
    };
    assert_eq!(overall(&of("a", 2)), (Some(2), false));
    assert_eq!(overall(&of("a", 20)), (Some(20), true));
    assert_eq!(overall(&of("other", 2)), (Some(15), true));
    assert_eq!(overall("{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s}}}"), (None, true));
}

#[test]
fn the_limit_of_emissarys_module_holds_where_a_mapping_has_none() {
    let limit = |mapping: &str| {
        let module = "{apiVersion: getambassador.io/v3alpha1, kind: Module, metadata: {name: ambassador}, spec: {config: {cluster_request_timeout_ms: 10000}}}";
        let mapping = format!(
            "{{apiVersion: getambassador.io/v3alpha1, kind: Mapping, metadata: {{name: m}}, spec: {{prefix: /, service: a, {mapping}retry_policy: {{retry_on: 5xx, per_try_timeout: 4s}}}}}}"
        );
        let facts = facts("k.yaml", &format!("{module}\n---\n{mapping}\n"));
        (facts.layers[0].overall.clone().unwrap().value().unwrap().as_secs(), facts.inert.len())
    };
    assert_eq!(limit(""), (10, 0));
    assert_eq!(limit("timeout_ms: 4000, "), (4, 1));
}

#[test]
fn methods_of_flows_and_of_matchers_on_requests_narrow_a_policy() {
    use retrylint::model::Methods;
    let only = |file, text: &str| match facts(file, text).layers.remove(0).methods {
        Methods::Only(methods) => methods.concat(),
        other => format!("{other:?}"),
    };
    let flow = |methods: &str| {
        format!(
            r#"{{"name": "a", "gravitee": "2.0.0", "proxy": {{"endpoints": [{{"target": "http://a"}}]}}, "flows": [{{"methods": [{methods}], "pre": [{{"policy": "retry", "configuration": {{"maxRetries": 2}}}}]}}]}}"#
        )
    };
    assert_eq!(only("api.json", &flow("\"GET\"")), "GET");
    assert_eq!(only("api.json", &flow("")), "Any");
    let matcher = |name: &str| {
        format!(
            "{{type: MeshRetry, mesh: m, name: r, spec: {{to: [{{targetRef: {{kind: MeshService, name: a}}, default: {{http: {{numRetries: 2, retriableRequestHeaders: [{{name: '{name}', type: Exact, value: GET}}]}}}}}}]}}}}"
        )
    };
    assert_eq!(only("k.yaml", &matcher(":method")), "GET");
    assert_eq!(only("k.yaml", &matcher("x-retry")), "Unknown");
}

#[test]
fn patches_of_one_side_leave_the_other_alone() {
    let route = "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a, namespace: n}, spec: {hosts: [a], gateways: [gw, mesh], http: [{route: [{destination: {host: a}}]}]}}";
    let filter = "{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: f}, spec: {configPatches: [{applyTo: HTTP_ROUTE, match: {context: GATEWAY}, patch: {operation: MERGE, value: {route: {retry_policy: {num_retries: 4, retry_on: retriable-status-codes, retriable_status_codes: [429], rate_limited_retry_back_off: {reset_headers: [{name: Retry-After, format: SECONDS}]}}}}}}]}}";
    let facts = facts("k.yaml", &format!("{route}\n---\n{filter}\n"));
    let mut found: Vec<_> = facts
        .layers
        .iter()
        .map(|l| (l.attempts.value().and_then(|a| a.count()), l.retry_after.value().copied()))
        .collect();
    found.sort();
    assert_eq!(found, [(Some(3), Some(false)), (Some(5), Some(true))]);
}

#[test]
fn a_poll_is_no_retry_and_a_body_may_read_retry_after() {
    let policy = |condition: &str, body: &str| {
        let text = format!(
            "<policies><backend><retry condition=\"@({condition})\" count=\"10\" interval=\"30\">{body}</retry></backend></policies>"
        );
        facts("p.xml", &text).layers
    };
    assert_eq!(policy("context.Response.StatusCode == 202", "<forward-request />").len(), 0);
    let plain = policy("context.Response.StatusCode == 429", "<forward-request />");
    assert_eq!(plain[0].retry_after.value(), Some(&false));
    let benched = policy(
        "context.Response.StatusCode == 429",
        "<forward-request /><set-variable name=\"w\" value=\"@(context.Response.Headers.GetValueOrDefault('Retry-After','1'))\" />",
    );
    assert_eq!(benched[0].retry_after.value(), None);
}

#[test]
fn haproxys_defaults_resource_holds_where_a_config_map_names_it() {
    let defaults = "{apiVersion: ingress.v1.haproxy.org/v1, kind: Defaults, metadata: {name: d, namespace: n}, spec: {config: {retries: 7}}}";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {cr-defaults: n/d}}";
    let ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: n}, spec: {ingressClassName: haproxy, rules: [{http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}}";
    let count = |text: &str| {
        let layers = facts("k.yaml", text).layers;
        assert_eq!(layers.len(), 1, "{layers:?}");
        (layers[0].attempts.value().and_then(|a| a.count()), layers[0].asked_for)
    };
    assert_eq!(count(&[defaults, map, ingress].join("\n---\n")), (Some(8), true));
    assert_eq!(count(&[defaults, ingress].join("\n---\n")), (Some(4), false));
}

fn tries(file: &str, text: &str) -> (Option<u64>, Option<u128>, Option<u128>) {
    let layers = facts(file, text).layers;
    assert_eq!(layers.len(), 1, "{layers:?}");
    let per_try = layers[0].per_try.as_ref().and_then(|l| l.value()).map(|d| d.as_millis());
    let wait = layers[0].wait.nominal(0).map(|d| d.as_millis());
    (layers[0].attempts.value().and_then(|a| a.count()), per_try, wait)
}

#[test]
fn haproxy_rules_set_the_count_and_a_hashed_request_stays_where_it_is() {
    let backend = |lines: &str| {
        tries("haproxy.cfg", &format!("backend b\n  option redispatch\n{lines}  server s a:80\n  server t b:80\n"))
    };
    assert_eq!(backend("  http-request set-retries 9\n"), (Some(10), None, Some(0)));
    assert_eq!(backend("  http-request set-retries 9 if METH_GET\n").0, None);
    assert_eq!(backend("  balance source\n"), (Some(4), None, Some(1000)));
    assert_eq!(backend("  balance roundrobin\n"), (Some(4), None, Some(0)));
}

#[test]
fn how_long_a_try_may_take_is_read_where_each_system_says_it() {
    let route = "routes: [{id: a, uri: 'http://a', filters: [Retry=3]}]";
    let spring = format!("{{spring: {{cloud: {{gateway: {{httpclient: {{response-timeout: 5s}}, {route}}}}}}}}}");
    assert_eq!(tries("application.yml", &spring), (Some(4), Some(5000), Some(0)));
    let caddy = "a.example {\n\treverse_proxy a:80 {\n\t\tlb_retries 2\n\t\ttransport http {\n\t\t\tresponse_header_timeout 4s\n\t\t}\n\t}\n}\n";
    assert_eq!(tries("Caddyfile", caddy), (Some(3), Some(4000), Some(0)));
    let ingress = |annotations: &str, class: &str| {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: i, annotations: {{{annotations}}}}}, spec: {{ingressClassName: {class}, rules: [{{http: {{paths: [{{path: /, backend: {{service: {{name: a, port: {{number: 80}}}}}}}}]}}}}]}}}}"
        )
    };
    let haproxy = ingress("haproxy-ingress.github.io/timeout-server: 10s", "haproxy");
    assert_eq!(tries("k.yaml", &haproxy).1, Some(10_000));
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: nginx-config}, data: {proxy-read-timeout: 7s}}";
    let nginx = ingress("nginx.org/proxy-next-upstream-tries: '3'", "nginx");
    assert_eq!(tries("k.yaml", &format!("{map}\n---\n{nginx}")).1, Some(7000));
    let apisix = ingress(
        "k8s.apisix.apache.org/upstream-retries: '2', k8s.apisix.apache.org/upstream-read-timeout: 5s",
        "apisix",
    );
    assert_eq!(tries("k.yaml", &apisix), (Some(3), Some(5000), Some(0)));
    let upstream = "{apiVersion: apisix.apache.org/v2, kind: ApisixUpstream, metadata: {name: a, namespace: n}, spec: {retries: 3, timeout: {read: 2s}}}";
    let route = "{apiVersion: apisix.apache.org/v2, kind: ApisixRoute, metadata: {name: r, namespace: n}, spec: {http: [{name: a, timeout: {read: 9s}, backends: [{serviceName: a, servicePort: 80}]}]}}";
    assert_eq!(tries("k.yaml", upstream).1, Some(2000));
    assert_eq!(tries("k.yaml", &format!("{upstream}\n---\n{route}")).1, Some(9000));
    let origin = "{Resources: {W: {Type: 'AWS::CloudFront::Distribution', Properties: {DistributionConfig: {Origins: [{Id: a, DomainName: a.example, CustomOriginConfig: {OriginReadTimeout: 23}}]}}}}}";
    assert_eq!(tries("t.yaml", origin), (Some(3), Some(23_000), Some(0)));
}

#[test]
fn an_ingress_with_a_timeout_of_its_own_keeps_it_beside_the_controllers_settings() {
    let ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: '5'}}, spec: {ingressClassName: nginx, rules: [{http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}}";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: ingress-nginx-controller}, data: {proxy-next-upstream-tries: '2'}}";
    let facts = facts("k.yaml", &format!("{ingress}\n---\n{map}"));
    let own = facts.layers.iter().find(|l| l.name == "Ingress i").unwrap();
    assert_eq!(own.attempts.value().and_then(|a| a.count()), Some(2));
    assert_eq!(own.per_try.as_ref().and_then(|l| l.value()).map(|d| d.as_secs()), Some(5));
}

#[test]
fn a_url_map_without_a_limit_has_that_of_its_backend_service() {
    let map = |timeout: &str| {
        let text = format!(
            "resource \"google_compute_url_map\" \"m\" {{\n  default_service = google_compute_backend_service.d.id\n  default_route_action {{\n{timeout}    retry_policy {{\n      retry_conditions = [\"5xx\"]\n      num_retries = 3\n    }}\n  }}\n}}\nresource \"google_compute_backend_service\" \"d\" {{\n  timeout_sec = 10\n}}\n"
        );
        let layers = facts("main.tf", &text).layers;
        layers[0].overall.as_ref().and_then(|l| l.value()).map(|d| d.as_secs())
    };
    assert_eq!(map(""), Some(10));
    assert_eq!(map("    timeout {\n      seconds = 4\n    }\n"), Some(4));
}

#[test]
fn a_callout_of_kongs_repeats_where_it_is_told_to() {
    let plugin = |action: &str| {
        format!(
            "{{_format_version: '3.0', plugins: [{{name: request-callout, config: {{callouts: [{{name: c, request: {{url: 'http://c', error: {{on_error: {action}, http_statuses: [503], retries: 3}}}}}}]}}}}]}}"
        )
    };
    assert_eq!(tries("kong.yaml", &plugin("retry")).0, Some(4));
    assert_eq!(facts("kong.yaml", &plugin("fail")).layers.len(), 0);
}

#[test]
fn rules_of_oathkeeper_have_settings_of_their_own() {
    let rule = "[{id: r, match: {url: 'http://a'}, authenticators: [{handler: noop}], authorizer: {handler: remote_json, config: {remote: 'https://p.example/allow'}}}]";
    assert_eq!(tries("rules.yaml", rule).0, Some(5));
    let bare =
        "[{id: r, match: {url: 'http://a'}, authenticators: [{handler: noop}], authorizer: {handler: remote_json}}]";
    assert_eq!(facts("rules.yaml", bare).layers.len(), 0);
}

#[test]
fn the_budget_of_a_subset_is_for_routes_that_lead_there() {
    let rule = "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: a, namespace: n}, spec: {host: a, subsets: [{name: v1, trafficPolicy: {retryBudget: {percent: 7}}}]}}";
    let budget = |destinations: &str| {
        let route = format!(
            "{{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {{name: a, namespace: n}}, spec: {{hosts: [a], http: [{{route: [{destinations}]}}]}}}}"
        );
        let layers = facts("k.yaml", &format!("{rule}\n---\n{route}")).layers;
        layers.iter().find(|l| l.id.contains("virtualservice")).unwrap().budget.is_some()
    };
    assert!(budget("{destination: {host: a, subset: v1}}"));
    assert!(!budget("{destination: {host: a}}"));
    assert!(!budget("{destination: {host: a, subset: v2}}"));
    assert!(!budget("{destination: {host: a, subset: v1}}, {destination: {host: a, subset: v2}}"));
}

#[test]
fn envoys_word_for_resets_covers_requests_that_were_sent() {
    let lost = |word: &str| {
        let text = format!(
            "{{virtual_hosts: [{{name: v, domains: ['*'], routes: [{{match: {{prefix: /}}, route: {{cluster: a, retry_policy: {{retry_on: {word}}}}}}}]}}]}}"
        );
        facts("envoy.yaml", &text).layers[0].retries.lost_answers
    };
    assert!(lost("reset") && lost("gateway-error"));
    assert!(!lost("connect-failure") && !lost("reset-before-request"));
}

#[test]
fn traefik_waits_for_an_answer_as_the_transport_of_the_service_says() {
    let service = |transport: &str| {
        let text = format!(
            "{{http: {{routers: {{r: {{rule: x, service: s, middlewares: [m]}}}}, middlewares: {{m: {{retry: {{attempts: 3}}}}}}, services: {{s: {{loadBalancer: {{serversTransport: {transport}, servers: [{{url: 'http://a'}}]}}}}}}, serversTransports: {{t: {{forwardingTimeouts: {{responseHeaderTimeout: 7s}}}}}}}}}}"
        );
        tries("t.yml", &text).1
    };
    assert_eq!(service("t"), Some(7000));
    assert_eq!(service("other"), None);
}

#[test]
fn kong_tries_what_a_route_of_the_gateway_api_leads_to_six_times() {
    let route = |gateway: &str, timeouts: &str| {
        format!(
            "{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: gw, namespace: n}}, spec: {{gatewayClassName: {gateway}}}}}\n---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: r, namespace: n}}, spec: {{parentRefs: [{{name: gw}}], rules: [{{{timeouts}backendRefs: [{{name: a, port: 80}}]}}]}}}}"
        )
    };
    let timeouts = "timeouts: {backendRequest: 7s}, ";
    assert_eq!(tries("k.yaml", &route("kong", timeouts)), (Some(6), Some(7000), Some(0)));
    assert_eq!(facts("k.yaml", &route("contour", timeouts)).layers.len(), 0);
    let service = "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: n, annotations: {konghq.com/retries: '3'}}, spec: {ports: [{port: 80}]}}";
    assert_eq!(
        tries("k.yaml", &format!("{service}\n---\n{}", route("kong", timeouts))),
        (Some(4), Some(7000), Some(0))
    );
}

#[test]
fn synapse_moves_on_to_the_next_endpoint() {
    let endpoint = |list: &str| {
        format!(
            "<endpoint name=\"x\"><{list}><endpoint name=\"a\"><address uri=\"http://a\"/></endpoint><endpoint name=\"b\"><http uri-template=\"http://b/\"/></endpoint></{list}></endpoint>"
        )
    };
    assert_eq!(tries("e.xml", &endpoint("failover")).0, Some(2));
    assert_eq!(facts("e.xml", &endpoint("recipientlist")).layers.len(), 0);
}

#[test]
fn tags_of_a_nomad_job_are_labels_of_traefik() {
    let job = |tag: &str| {
        format!(
            "job \"a\" {{\n  group \"g\" {{\n    service {{\n      name = \"a\"\n      tags = [\"traefik.http.routers.a.rule=x\", \"traefik.http.routers.a.middlewares=m\", \"{tag}=6\"]\n    }}\n  }}\n}}\n"
        )
    };
    assert_eq!(tries("a.nomad", &job("traefik.http.middlewares.m.retry.attempts")).0, Some(6));
    assert_eq!(facts("a.nomad", &job("http.middlewares.m.retry.attempts")).layers.len(), 0);
}
