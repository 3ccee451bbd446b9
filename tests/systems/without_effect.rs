//! Retry settings that do nothing where they stand: each with a near miss that does something.

use retrylint::systems::Versions;

struct Case {
    file: &'static str,
    /// A setting without effect.
    fires: &'static str,
    /// The nearest thing that has one.
    near: &'static str,
    /// What is said of it.
    says: &'static str,
}

const fn case(file: &'static str, fires: &'static str, near: &'static str, says: &'static str) -> Case {
    Case { file, fires, near, says }
}

const CASES: &[Case] = &[
    case(
        "vs.yaml",
        "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {hosts: [a], http: [{retries: {attempts: 3, retryOn: retriable-status-codes}, route: [{destination: {host: a}}]}]}}",
        "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {hosts: [a], http: [{retries: {attempts: 3, retryOn: 'retriable-status-codes,503'}, route: [{destination: {host: a}}]}]}}",
        "a list of statuses, and there is none",
    ),
    case(
        "vs.yaml",
        "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {hosts: [a], http: [{retries: {attempts: 3, retryOn: '503, reset'}, route: [{destination: {host: a}}]}]}}",
        "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {hosts: [a], http: [{retries: {attempts: 3, retryOn: '503,reset'}, route: [{destination: {host: a}}]}]}}",
        "a blank follows a comma",
    ),
    case(
        "route.yaml",
        "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, annotations: {retry.linkerd.io/http: '503'}}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: s, port: 80}]}]}}",
        "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, annotations: {retry.linkerd.io/http: '503'}}, spec: {parentRefs: [{group: core, kind: Service, name: s}], rules: [{backendRefs: [{name: s, port: 80}]}]}}",
        "routes whose parent is a Service",
    ),
    case(
        "route.yaml",
        "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, annotations: {retry.linkerd.io/http: 5xx}}, spec: {parentRefs: [{group: core, kind: Service, name: a}], rules: [{retry: {attempts: 3, codes: [500]}}]}}",
        "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, annotations: {retry.linkerd.io/http: 5xx}}, spec: {parentRefs: [{group: core, kind: Service, name: a}], rules: [{backendRefs: [{name: a, port: 80}]}]}}",
        "Linkerd does not read it",
    ),
    case(
        "policy.yaml",
        "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: BackendTrafficPolicy, metadata: {name: p}, spec: {targetRef: {kind: Gateway, name: gw}, retry: {perRetry: {backOff: {maxInterval: 2s}}}}}",
        "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: BackendTrafficPolicy, metadata: {name: p}, spec: {targetRef: {kind: Gateway, name: gw}, retry: {perRetry: {backOff: {baseInterval: 1s, maxInterval: 2s}}}}}",
        "Envoy refuses the policy",
    ),
    case(
        "policy.yaml",
        "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: BackendTrafficPolicy, metadata: {name: p}, spec: {targetRef: {kind: TCPRoute, name: t}, retry: {numRetries: 3}}}",
        "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: BackendTrafficPolicy, metadata: {name: p}, spec: {targetRef: {kind: HTTPRoute, name: t}, retry: {numRetries: 3}}}",
        "passes on bytes",
    ),
    case(
        "retry.yaml",
        "{type: MeshRetry, mesh: m, name: r, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3, backOff: {maxInterval: 3s}}}}]}}",
        "{type: MeshRetry, mesh: m, name: r, spec: {to: [{targetRef: {kind: Mesh}, default: {grpc: {numRetries: 3, backOff: {maxInterval: 3s}}}}]}}",
        "Envoy refuses the policy",
    ),
    case(
        "retry.yaml",
        "{type: MeshRetry, mesh: m, name: r, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3, perTryTimeout: 18s}}}]}}",
        "{type: MeshRetry, mesh: m, name: r, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3, perTryTimeout: 18s}}}]}}\n---\n{type: MeshTimeout, mesh: m, name: t, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]}}",
        "the limit of 15 s on all tries together",
    ),
    case(
        "retry.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: n}, spec: {ports: [{port: 80, appProtocol: http2}]}}\n---\n{apiVersion: kuma.io/v1alpha1, kind: MeshRetry, metadata: {name: r, namespace: kuma-system}, spec: {to: [{targetRef: {kind: MeshService, name: a, namespace: n}, default: {http: {numRetries: 3}}}]}}",
        "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: n}, spec: {ports: [{port: 80, appProtocol: http}]}}\n---\n{apiVersion: kuma.io/v1alpha1, kind: MeshRetry, metadata: {name: r, namespace: kuma-system}, spec: {to: [{targetRef: {kind: MeshService, name: a, namespace: n}, default: {http: {numRetries: 3}}}]}}",
        "takes the rest for TCP",
    ),
    case(
        "proxy.yaml",
        "{apiVersion: projectcontour.io/v1, kind: HTTPProxy, metadata: {name: a}, spec: {virtualhost: {fqdn: a}, routes: [{retryPolicy: {count: 2, perTryTimeout: soon}, services: [{name: s, port: 80}]}]}}",
        "{apiVersion: projectcontour.io/v1, kind: HTTPProxy, metadata: {name: a}, spec: {virtualhost: {fqdn: a}, routes: [{retryPolicy: {count: 2, perTryTimeout: infinity}, services: [{name: s, port: 80}]}]}}",
        "it is no duration",
    ),
    case(
        "ingress.yaml",
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, annotations: {projectcontour.io/retry-on: gateway-error, projectcontour.io/num-retries: '-5'}}, spec: {ingressClassName: contour, rules: [{http: {paths: [{path: /, backend: {service: {name: w, port: {number: 80}}}}]}}]}}",
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, annotations: {projectcontour.io/retry-on: gateway-error, projectcontour.io/num-retries: '-1'}}, spec: {ingressClassName: contour, rules: [{http: {paths: [{path: /, backend: {service: {name: w, port: {number: 80}}}}]}}]}}",
        "stands for 1 retry",
    ),
    case(
        "gloo.yaml",
        "{apiVersion: gateway.solo.io/v1, kind: VirtualService, metadata: {name: b}, spec: {virtualHost: {domains: [b], routes: [{routeAction: {single: {upstream: {name: x}}}, options: {retries: {retryOn: 5xx, numRetries: 2, retryBackOff: {maxInterval: 2s}}}}]}}}",
        "{apiVersion: gateway.solo.io/v1, kind: VirtualService, metadata: {name: b}, spec: {virtualHost: {domains: [b], routes: [{routeAction: {single: {upstream: {name: x}}}, options: {retries: {retryOn: 5xx, numRetries: 2, retryBackOff: {baseInterval: 1s, maxInterval: 2s}}}}]}}}",
        "Envoy refuses the policy",
    ),
    case(
        "dapr.yaml",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {DaprBuiltInActorNotFoundRetries: {policy: constant, maxRetries: 9}}}}}",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {DaprBuiltInActorRetries: {policy: constant, maxRetries: 9}}}}}",
        "lets nobody redefine",
    ),
    case(
        "dapr.yaml",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {DaprBuiltInActorRetries: {policy: constant, maxRetries: 2}}}}}",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {DaprBuiltInActorRetries: {policy: constant, maxRetries: 3}}}}}",
        "less than 3",
    ),
    case(
        "dapr.yaml",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {a: {maxRetries: 2, matching: {httpStatusCodes: '429, 500'}}}}, targets: {apps: {x: {retry: a}}}}}",
        "{apiVersion: dapr.io/v1alpha1, kind: Resiliency, metadata: {name: r}, spec: {policies: {retries: {a: {maxRetries: 2, matching: {httpStatusCodes: '429,500'}}}}, targets: {apps: {x: {retry: a}}}}}",
        "no blanks",
    ),
    case(
        "kong.yaml",
        "{apiVersion: configuration.konghq.com/v1beta1, kind: KongUpstreamPolicy, metadata: {name: p}, spec: {retries: 4}}",
        "{apiVersion: configuration.konghq.com/v1alpha1, kind: KongService, metadata: {name: p}, spec: {host: a, retries: 4}}",
        "no such field",
    ),
    case(
        "conf/apisix.yaml",
        "routes: [{uri: /a, upstream: {nodes: {'a:80': 1, 'b:80': 1}}}]\n",
        "routes: [{uri: /a, upstream: {nodes: {'a:80': 1, 'b:80': 1}}}]\n#END\n",
        "#END",
    ),
    case(
        "krakend.json",
        r#"{"version": 3, "retry": {"attempts": 3}, "endpoints": [{"endpoint": "/a", "backend": [{"host": ["http://a"], "url_pattern": "/"}]}]}"#,
        r#"{"version": 3, "timeout": "3s", "endpoints": [{"endpoint": "/a", "backend": [{"host": ["http://a"], "url_pattern": "/"}]}]}"#,
        "no such setting",
    ),
    case(
        "t.yml",
        "{http: {middlewares: {a: {retry: {attempts: 3, disableRetryOnNetworkError: true}}}}}",
        "{http: {middlewares: {a: {retry: {attempts: 3, disableRetryOnNetworkError: true, status: ['502']}}}}}",
        "nothing is left to retry",
    ),
    case(
        "t.yml",
        "{http: {middlewares: {a: {retry: {initialInterval: 1s}}}}}",
        "{http: {middlewares: {a: {retry: {attempts: 3, initialInterval: 1s}}}}}",
        "sets no `attempts`",
    ),
    case(
        "nginx.conf",
        "events {}\nhttp { upstream u { server a; server b; } server { location / { proxy_pass http://u; proxy_next_upstream updating; } } }\n",
        "events {}\nhttp { upstream u { server a; server b; } server { location / { proxy_pass http://u; proxy_next_upstream error updating; } } }\n",
        "names no failure",
    ),
    case(
        "nginx.conf",
        "events {}\nhttp { upstream u { server a; server b; } server { location / { fastcgi_pass u; fastcgi_next_upstream error http_502; } } }\n",
        "events {}\nhttp { upstream u { server a; server b; } server { location / { proxy_pass http://u; proxy_next_upstream error http_502; } } }\n",
        "has no such word",
    ),
    case(
        "haproxy.cfg",
        "defaults\n  mode http\nbackend a\n  retry-on conn-failure\n  retry-on 404 503\n  server s a:80\n",
        "defaults\n  mode http\n  retry-on conn-failure\nbackend a\n  retry-on 404 503\n  server s a:80\n",
        "takes its place whole",
    ),
    case(
        "appsettings.json",
        r#"{"ReverseProxy": {"Routes": {"r": {"ClusterId": "c", "Metadata": {"RetryPolicy": "3"}}}, "Clusters": {"c": {"Destinations": {"a": {"Address": "http://a"}}}}}}"#,
        r#"{"ReverseProxy": {"Routes": {"r": {"ClusterId": "c", "Metadata": {"Owner": "3"}}}, "Clusters": {"c": {"Destinations": {"a": {"Address": "http://a"}}}}}}"#,
        "sends each request once",
    ),
    case(
        "gke.yaml",
        "{apiVersion: networking.gke.io/v1, kind: GCPBackendPolicy, metadata: {name: p}, spec: {default: {timeoutSec: 40, retryPolicy: {numRetries: 3}}, targetRef: {kind: Service, name: s}}}",
        "{apiVersion: networking.gke.io/v1, kind: GCPBackendPolicy, metadata: {name: p}, spec: {default: {timeoutSec: 40}, targetRef: {kind: Service, name: s}}}",
        "no such field",
    ),
    case(
        "api.json",
        r#"{"name": "a", "definitionVersion": "4.0.0", "endpointGroups": [{"endpoints": [{"configuration": {"target": "http://a"}}]}], "flows": [{"response": [{"policy": "retry", "configuration": {"maxRetries": 9}}]}]}"#,
        r#"{"name": "a", "definitionVersion": "4.0.0", "endpointGroups": [{"endpoints": [{"configuration": {"target": "http://a"}}]}], "flows": [{"request": [{"policy": "retry", "configuration": {"maxRetries": 9}}]}]}"#,
        "works on requests only",
    ),
    case(
        "application.properties",
        "ribbon.MaxAutoRetries=1\nribbon.maxAutoRetriesNextServer=4\n",
        "ribbon.MaxAutoRetries=1\nribbon.MaxAutoRetriesNextServer=4\n",
        "capital letters",
    ),
    case(
        "Caddyfile",
        "a.example {\n\treverse_proxy a:80 {\n\t\tlb_retries 3\n\t\tfail_duration 10s\n\t}\n}\n",
        "a.example {\n\treverse_proxy a:80 b:80 {\n\t\tlb_retries 3\n\t\tfail_duration 10s\n\t}\n}\n",
        "reach nobody",
    ),
    case(
        "envoy.yaml",
        "{virtual_hosts: [{name: v, domains: ['*'], hedge_policy: {hedge_on_per_try_timeout: true}, routes: [{match: {prefix: /a}, route: {cluster: a, retry_policy: {retry_on: 5xx}}}, {match: {prefix: /b}, route: {cluster: a, retry_policy: {retry_on: 5xx}}}]}]}",
        "{virtual_hosts: [{name: v, domains: ['*'], hedge_policy: {hedge_on_per_try_timeout: true}, routes: [{match: {prefix: /a}, route: {cluster: a, retry_policy: {retry_on: 5xx}}}, {match: {prefix: /b}, route: {cluster: a, retry_policy: {retry_on: 5xx, per_try_timeout: 1s}}}]}]}",
        "there is no `per_try_timeout`",
    ),
];

fn told(case: &Case, text: &str) -> usize {
    let facts = super::read(vec![(case.file.into(), text.into())], &Versions::default()).1;
    facts.inert.iter().filter(|i| i.why.contains(case.says)).count()
}

#[test]
fn what_has_no_effect_is_told_once_and_its_near_miss_is_not() {
    for case in CASES {
        assert_eq!(told(case, case.fires), 1, "{}: {}", case.says, case.fires);
        assert_eq!(told(case, case.near), 0, "{}: {}", case.says, case.near);
    }
}
