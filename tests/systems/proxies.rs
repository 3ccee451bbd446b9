//! The default figures of proxies: one test for each row of their lists.

use std::time::Duration;

use retrylint::facts::Facts;
use retrylint::model::{Attempts, Jitter, Methods, Mode, ModeSet, Setting, Wait};

use super::defaults::{Row, default_count, default_jitter, is_default, only, waits, written_count};

const fn row(
    system: &'static str,
    what: &'static str,
    file: &'static str,
    text: &'static str,
    holds: fn(&Facts) -> bool,
) -> Row {
    Row { system, what, file, text, holds }
}

const SKIPPER: &str = "a: Path(\"/a\") -> <roundRobin, \"http://a\", \"http://b\">;";
const SKIPPER_ONE: &str = "a: * -> \"http://a\"; b: Method(\"POST\") -> <roundRobin, \"http://b\", \"http://c\">;";
const WSO2_ONE: &str = "{data: {endpointConfig: {endpoint_type: http, production_endpoints: {url: 'http://a', config: {retryTimeOut: 3}}}}}";
const WSO2_TWO: &str = "{data: {endpointConfig: {endpoint_type: failover, production_endpoints: {url: 'http://a', \
    config: {retryTimeOut: 3}}, production_failovers: [{url: 'http://b'}]}}}";

pub const ROWS: &[Row] = &[
    row("traefik", "no retry middleware", "t.yml", TRAEFIK_ROUTE, |f| f.layers.is_empty() && f.routes.len() == 1),
    row("traefik", "retry.attempts", "t.yml", TRAEFIK, |f| written_count(f, 4)),
    row("traefik", "retry.attempts absent or 0", "t.yml", "{http: {middlewares: {a: {retry: {attempts: 0}}}}}", |f| {
        !only(f).is_active()
    }),
    row("traefik", "retry.initialInterval absent", "t.yml", TRAEFIK, |f| only(f).wait == Wait::None),
    row("traefik", "retry.initialInterval", "t.yml", TRAEFIK_WAIT, |f| {
        let wait = |n| only(f).wait.nominal(n).unwrap().as_millis();
        [wait(0), wait(1), wait(2), wait(3)] == [200, 237, 282, 336] && wait(99) == 60_000
    }),
    row("traefik", "jitter", "t.yml", TRAEFIK_WAIT, |f| default_jitter(f, Jitter::Partial { low: 0.5, high: 1.5 })),
    row("traefik", "retry.status absent", "t.yml", TRAEFIK, |f| {
        only(f).retries.yes == [Mode::Refused].into_iter().collect() && only(f).methods == Methods::Any
    }),
    row("traefik", "retry.retryNonIdempotentMethod absent", "t.yml", TRAEFIK_WAIT, no_post),
    row("traefik", "retry.timeout absent", "t.yml", TRAEFIK_WAIT, |f| only(f).overall.is_none()),
    row("traefik", "Retry-After", "t.yml", TRAEFIK_WAIT, ignores_retry_after),
    row(
        "traefik",
        "buffering.retryExpression without Attempts()",
        "t.yml",
        "{http: {middlewares: {a: {buffering: {retryExpression: IsNetworkError()}}}}}",
        |f| default_count(f, 11) && only(f).wait == Wait::None && !methods(f).contains(&"GET".to_string()),
    ),
    row(
        "traefik",
        "retry.attempts absent, version 1",
        "traefik.toml",
        "defaultEntryPoints = ['http']\n[retry]\n[backends.a.servers.x]\nurl = 'http://a'\n[backends.a.servers.y]\nurl = 'http://b'\n",
        |f| default_count(f, 2),
    ),
    row(
        "krakend",
        "backend/lambda max_retries absent, or in JSON",
        "krakend.json",
        r#"{"endpoints": [{"backend": [{"url_pattern": "/", "extra_config": {"backend/lambda": {"region": "r", "max_retries": 0}}}]}]}"#,
        |f| default_count(f, 4) && f.inert.len() == 1,
    ),
    row("skipper", "a backend of several endpoints", "a.eskip", SKIPPER, |f| {
        default_count(f, 2) && only(f).is_implicit()
    }),
    row("skipper", "any other backend", "a.eskip", SKIPPER_ONE, |f| f.layers.is_empty() && f.routes.len() == 2),
    row("skipper", "what is retried", "a.eskip", SKIPPER, |f| {
        only(f).retries.yes == [Mode::Refused].into_iter().collect() && !methods(f).contains(&"POST".to_string())
    }),
    row("wso2", "a single endpoint", "api.yaml", WSO2_ONE, |f| f.layers.is_empty() && f.routes.len() == 1),
    row("wso2", "retryTimeOut", "api.yaml", WSO2_TWO, |f| written_count(f, 2)),
    row("wso2", "endpoint_type: failover", "api.yaml", WSO2_TWO, |f| {
        only(f).retries.yes == ModeSet::transport() && only(f).wait == Wait::None && only(f).methods == Methods::Any
    }),
    row("traefik", "buffering.retryExpression absent", "t.yml", "{http: {middlewares: {a: {buffering: {}}}}}", |f| {
        f.layers.is_empty()
    }),
    row("nginx", "proxy_next_upstream_tries absent or 0", "nginx.conf", NGINX, |f| {
        default_count(f, 3) && only(f).wait == Wait::None && only(f).is_implicit()
    }),
    row("nginx", "proxy_next_upstream_tries", "nginx.conf", NGINX_TRIES, |f| written_count(f, 2)),
    row(
        "nginx",
        "an upstream of one server",
        "nginx.conf",
        "location / { proxy_pass http://a; proxy_next_upstream_tries 4; proxy_next_upstream error http_503; }",
        |f| written_count(f, 1),
    ),
    row(
        "nginx",
        "server ... down",
        "nginx.conf",
        "upstream u { server a; server b down; server c backup; } server { location / { proxy_pass http://u; } }",
        |f| default_count(f, 2),
    ),
    row("nginx", "proxy_next_upstream absent", "nginx.conf", NGINX, |f| only(f).retries.yes == ModeSet::transport()),
    row("nginx", "without non_idempotent", "nginx.conf", NGINX, no_post),
    row("nginx", "proxy_next_upstream_timeout absent or 0", "nginx.conf", NGINX, |f| only(f).overall.is_none()),
    row("nginx", "proxy_read_timeout absent", "nginx.conf", NGINX, |f| {
        is_default(&only(f).per_try, Duration::from_secs(60))
    }),
    row("nginx", "Retry-After", "nginx.conf", NGINX, ignores_retry_after),
    row(
        "nginx",
        "stream: proxy_next_upstream absent",
        "nginx.conf",
        "stream { upstream u { server a:1; server b:1; } server { listen 1; proxy_pass u; } }",
        |f| default_count(f, 2) && only(f).retries.yes == [Mode::Refused].into_iter().collect(),
    ),
    row("haproxy", "retries absent", "haproxy.cfg", HAPROXY, |f| default_count(f, 4) && only(f).is_implicit()),
    row("haproxy", "retries 0", "haproxy.cfg", "backend a\n  retries 0\n  server s b:80\n", |f| written_count(f, 1)),
    row("haproxy", "retry-on absent", "haproxy.cfg", HAPROXY, |f| {
        only(f).retries.yes == [Mode::Refused].into_iter().collect()
    }),
    row("haproxy", "the wait after a refused connection", "haproxy.cfg", HAPROXY, |f| {
        only(f).wait.nominal(0) == Some(Duration::from_secs(1))
    }),
    row(
        "haproxy",
        "option redispatch with several servers",
        "haproxy.cfg",
        "backend a\n option redispatch\n server s b:80\n server t c:80\n",
        |f| only(f).wait == Wait::None,
    ),
    row("haproxy", "methods", "haproxy.cfg", HAPROXY_WIDE, |f| only(f).methods == Methods::Any),
    row("haproxy", "timeout server absent", "haproxy.cfg", HAPROXY, |f| only(f).per_try.is_none()),
    row("haproxy", "limit on all tries together", "haproxy.cfg", HAPROXY, |f| only(f).overall.is_none()),
    row("haproxy", "Retry-After", "haproxy.cfg", HAPROXY_WIDE, ignores_retry_after),
    row("haproxy", "mode tcp", "haproxy.cfg", "backend a\n  mode tcp\n  retry-on 503\n  server s b:80\n", |f| {
        only(f).retries.yes.is_empty()
    }),
    row("nginx-ingress", "next-upstream-tries", "v.yaml", VIRTUAL_SERVER, |f| written_count(f, 2)),
    row("nginx-ingress", "next-upstream-tries absent or 0", "v.yaml", VIRTUAL_SERVER_ALL, |f| {
        matches!(only(f).attempts, Setting::Unknown { .. })
    }),
    row(
        "nginx-ingress",
        "use-cluster-ip: true",
        "v.yaml",
        "{apiVersion: k8s.nginx.org/v1, kind: VirtualServer, metadata: {name: a}, \
         spec: {upstreams: [{name: u, service: s, port: 80, use-cluster-ip: true, next-upstream-tries: 3}]}}",
        |f| default_count(f, 1),
    ),
    row("nginx-ingress", "next-upstream absent", "v.yaml", VIRTUAL_SERVER, |f| {
        only(f).retries.yes == ModeSet::transport()
    }),
    row("nginx-ingress", "without non_idempotent", "v.yaml", VIRTUAL_SERVER, no_post),
    row("nginx-ingress", "next-upstream-timeout absent", "v.yaml", VIRTUAL_SERVER, |f| only(f).overall.is_none()),
    row("nginx-ingress", "read-timeout absent", "v.yaml", VIRTUAL_SERVER, |f| {
        is_default(&only(f).per_try, Duration::from_secs(60))
    }),
    row("nginx-ingress", "Retry-After", "v.yaml", VIRTUAL_SERVER, ignores_retry_after),
    row("apisix", "retries", "apisix.yaml", APISIX_ONE, |f| written_count(f, 3)),
    row("apisix", "retries absent", "apisix.yaml", APISIX, |f| {
        default_count(f, 3) && only(f).is_implicit() && only(f).wait == Wait::None
    }),
    row(
        "apisix",
        "retries: 0",
        "apisix.yaml",
        "{upstreams: [{id: u, retries: 0, nodes: {'a:80': 1, 'b:80': 1}}]}",
        |f| written_count(f, 1),
    ),
    row(
        "apisix",
        "retries with several nodes",
        "apisix.yaml",
        "{upstreams: [{id: u, retries: 9, nodes: {'a:80': 1, 'b:80': 1}}]}",
        |f| written_count(f, 2),
    ),
    row("apisix", "retries with one node", "apisix.yaml", APISIX_ONE, |f| written_count(f, 3)),
    row("apisix", "what is retried", "apisix.yaml", APISIX, |f| only(f).retries.yes == ModeSet::transport()),
    row("apisix", "POST, PATCH, LOCK", "apisix.yaml", APISIX, no_post),
    row("apisix", "timeout absent", "apisix.yaml", APISIX, |f| is_default(&only(f).per_try, Duration::from_secs(60))),
    row("apisix", "retry_timeout absent or 0", "apisix.yaml", APISIX, |f| only(f).overall.is_none()),
    row("apisix", "Retry-After", "apisix.yaml", APISIX, ignores_retry_after),
    row("krakend", "an endpoint", "krakend.json", KRAKEND, |f| f.layers.is_empty() && f.routes.len() == 1),
    row("krakend", "concurrent_calls", "krakend.json", KRAKEND_COPIES, |f| {
        written_count(f, 3)
            && only(f).copies
            && matches!(&only(f).methods, Methods::Written { methods, .. } if methods == &["POST"])
    }),
    row("krakend", "timeout absent", "krakend.json", KRAKEND_COPIES, |f| {
        is_default(&only(f).overall, Duration::from_secs(2))
    }),
    row("caddy", "neither lb_retries nor lb_try_duration", "Caddyfile", ":80\nreverse_proxy a:80\n", |f| {
        f.layers.is_empty() && f.routes.len() == 1
    }),
    row("caddy", "lb_retries", "Caddyfile", CADDY, |f| written_count(f, 4)),
    row("caddy", "lb_try_duration alone", "Caddyfile", CADDY_TIME, |f| {
        only(f).attempts.value() == Some(&Attempts::Within { deadline: Duration::from_secs(5), about: 21 })
    }),
    row("caddy", "lb_try_interval absent, with lb_try_duration", "Caddyfile", CADDY_TIME, |f| {
        only(f).wait == Wait::Fixed(Setting::default(Duration::from_millis(250), CADDY_SOURCE))
    }),
    row("caddy", "lb_try_interval absent, without lb_try_duration", "Caddyfile", CADDY, |f| only(f).wait == Wait::None),
    row("caddy", "jitter", "Caddyfile", CADDY_TIME, |f| default_jitter(f, Jitter::None)),
    row("caddy", "lb_retry_match absent", "Caddyfile", CADDY, |f| {
        only(f).retries.yes == ModeSet::transport() && methods(f) == ["GET".to_string()]
    }),
    row("caddy", "Retry-After", "Caddyfile", CADDY, ignores_retry_after),
    row("kong-ingress", "konghq.com/retries absent on the Service", "i.yaml", KONG_INGRESS, |f| {
        default_count(f, 6) && only(f).is_implicit() && only(f).wait == Wait::None
    }),
    row(
        "kong-ingress",
        "konghq.com/retries",
        "s.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {konghq.com/retries: '1'}}}",
        |f| written_count(f, 2),
    ),
    row("kong-ingress", "konghq.com/read-timeout absent", "i.yaml", KONG_INGRESS, |f| {
        is_default(&only(f).per_try, Duration::from_secs(60))
    }),
    row("haproxy-ingress", "an Ingress without a snippet", "i.yaml", HAPROXY_INGRESS, |f| {
        default_count(f, 4) && only(f).is_implicit()
    }),
    row("haproxy-ingress", "what is retried", "i.yaml", HAPROXY_INGRESS, |f| {
        only(f).retries.yes == [Mode::Refused].into_iter().collect()
    }),
    row("haproxy-ingress", "timeout server", "i.yaml", HAPROXY_INGRESS, |f| {
        is_default(&only(f).per_try, Duration::from_secs(50))
    }),
    row(
        "haproxy-ingress",
        "Backend without retries",
        "b.yaml",
        "{apiVersion: ingress.v3.haproxy.org/v3, kind: Backend, metadata: {name: a}, spec: {retry_on: conn-failure}}",
        |f| default_count(f, 4),
    ),
    row(
        "ribbon",
        "MaxAutoRetries and MaxAutoRetriesNextServer",
        "application.yml",
        "{a: {ribbon: {MaxAutoRetries: 2, MaxAutoRetriesNextServer: 3}}}",
        |f| written_count(f, 12),
    ),
    row("ribbon", "MaxAutoRetries absent", "application.yml", RIBBON_NEXT, |f| written_count(f, 4)),
    row("ribbon", "MaxAutoRetriesNextServer absent", "application.yml", ZUUL, |f| default_count(f, 2)),
    row(
        "spring-cloud",
        "zuul.routes.<id> without url and serviceId",
        "application.yml",
        "{zuul: {routes: {orders: {path: /a}}}}",
        |f| f.layers.is_empty() && f.routes.len() == 1 && f.routes[0].to[0].name == "orders",
    ),
    row("ribbon", "zuul.retryable absent", "application.yml", "{zuul: {routes: {a: {path: /a}}}}", |f| {
        f.layers.is_empty()
    }),
    row("ribbon", "OkToRetryOnAllOperations absent", "application.yml", RIBBON_NEXT, |f| {
        methods(f) == ["GET".to_string()]
    }),
    row("ribbon", "retryableStatusCodes absent", "application.yml", RIBBON_NEXT, |f| {
        only(f).retries.yes == ModeSet::transport()
    }),
    row("ribbon", "the wait", "application.yml", RIBBON_NEXT, |f| only(f).wait == Wait::None),
    row("ribbon", "ReadTimeout absent", "application.yml", RIBBON_NEXT, |f| {
        is_default(&only(f).per_try, Duration::from_secs(1))
    }),
    row("ribbon", "Retry-After", "application.yml", RIBBON_NEXT, ignores_retry_after),
    row(
        "azure-api-management",
        "no retry element",
        "a.xml",
        "<policies><backend><forward-request /></backend></policies>",
        |f| f.layers.is_empty(),
    ),
    row("azure-api-management", "count", "a.xml", APIM, |f| written_count(f, 5)),
    row("azure-api-management", "interval alone", "a.xml", APIM, |f| waits(f, [2000; 5])),
    row(
        "azure-api-management",
        "interval with delta",
        "a.xml",
        "<policies><retry condition='@(x)' count='5' interval='1' delta='3'></retry></policies>",
        |f| waits(f, [1000, 4000, 7000, 10_000, 13_000]),
    ),
    row("azure-api-management", "interval with delta and max-interval", "a.xml", APIM_GROWING, |f| {
        waits(f, [10_000, 20_000, 40_000, 80_000, 100_000])
    }),
    row("azure-api-management", "jitter", "a.xml", APIM_GROWING, |f| {
        default_jitter(f, Jitter::Partial { low: 0.8, high: 1.2 })
    }),
    row("azure-api-management", "first-fast-retry absent", "a.xml", APIM, |f| {
        only(f).wait.nominal(0) == Some(Duration::from_secs(2))
    }),
    row("azure-api-management", "methods", "a.xml", APIM, |f| only(f).methods == Methods::Any),
    row("azure-api-management", "forward-request timeout absent", "a.xml", APIM, |f| {
        is_default(&only(f).per_try, Duration::from_secs(300))
    }),
    row("azure-api-management", "Retry-After", "a.xml", APIM, ignores_retry_after),
    row("google-url-map", "retryPolicy.numRetries", "m.yaml", URL_MAP, |f| written_count(f, 4)),
    row(
        "google-url-map",
        "retryPolicy without numRetries",
        "m.yaml",
        "{kind: 'compute#urlMap', name: m, defaultService: a/b, defaultRouteAction: {retryPolicy: {retryConditions: [5xx]}}}",
        |f| default_count(f, 2),
    ),
    row("google-url-map", "5xx", "m.yaml", URL_MAP, |f| {
        let yes = only(f).retries.yes;
        yes.contains(Mode::Status(599)) && yes.contains(Mode::Timeout) && yes.contains(Mode::Refused)
    }),
    row(
        "google-url-map",
        "gateway-error",
        "m.yaml",
        "{kind: 'compute#urlMap', name: m, defaultService: a/b, defaultRouteAction: {retryPolicy: {retryConditions: [gateway-error]}}}",
        |f| only(f).retries.yes == ModeSet::statuses(502..=504),
    ),
    row("google-url-map", "retriable-4xx", "m.yaml", URL_MAP, |f| {
        only(f).retries.yes.contains(Mode::Status(409)) && !only(f).retries.yes.contains(Mode::Status(429))
    }),
    row("google-url-map", "the wait", "m.yaml", URL_MAP, |f| matches!(only(f).wait, Wait::Unknown { .. })),
    row("cloudfront", "ConnectionAttempts absent", "t.json", CLOUDFRONT, |f| {
        default_count(f, 3) && only(f).is_implicit()
    }),
    row("cloudfront", "ConnectionAttempts", "t.json", CLOUDFRONT_TWO, |f| written_count(f, 2)),
    row("cloudfront", "what is retried", "t.json", CLOUDFRONT, |f| only(f).retries.yes == ModeSet::transport()),
    row("cloudfront", "methods", "t.json", CLOUDFRONT, |f| methods(f) == ["GET".to_string(), "HEAD".to_string()]),
    row("cloudfront", "OriginReadTimeout absent", "t.json", CLOUDFRONT, |f| {
        is_default(&only(f).per_try, Duration::from_secs(30))
    }),
    row("cloudfront", "ResponseCompletionTimeout absent", "t.json", CLOUDFRONT, |f| only(f).overall.is_none()),
    row("cloudfront", "an origin group", "t.yaml", CLOUDFRONT_GROUP, |f| {
        f.layers.len() == 3 && f.layers[2].attempts.value() == Some(&Attempts::Count(2))
    }),
    row("gravitee", "no step with the policy retry", "a.json", GRAVITEE_NONE, |f| f.layers.is_empty()),
    row("gravitee", "maxRetries", "a.json", GRAVITEE, |f| written_count(f, 4)),
    row(
        "gravitee",
        "maxRetries absent",
        "a.json",
        r#"{"definitionVersion": "4.0.0", "flows": [{"request": [{"policy": "retry", "configuration": {"condition": "{#response.status > 499}"}}]}]}"#,
        |f| default_count(f, 2),
    ),
    row("gravitee", "delay absent", "a.json", GRAVITEE, |f| only(f).wait == Wait::None),
    row("gravitee", "timeout absent", "a.json", GRAVITEE, |f| is_default(&only(f).per_try, Duration::from_secs(1))),
    row("gravitee", "what is retried", "a.json", GRAVITEE, |f| {
        only(f).retries.yes.names() == ["refused", "timeout", "5xx"] && only(f).methods == Methods::Any
    }),
    row("gravitee", "Retry-After", "a.json", GRAVITEE, ignores_retry_after),
    row("gravitee", "http.readTimeout of an endpoint absent, version 2", "a.json", GRAVITEE_TWO, |f| {
        is_default(&f.routes[0].limit, Duration::from_secs(10))
    }),
    row(
        "oathkeeper",
        "remote, remote_json, oauth2_introspection, oauth2_client_credentials",
        "oathkeeper.yml",
        OATHKEEPER,
        |f| default_count(f, 5) && only(f).is_implicit(),
    ),
    row(
        "oathkeeper",
        "hydrator without retry",
        "oathkeeper.yml",
        "{authenticators: {noop: {enabled: true}}, mutators: {hydrator: {enabled: true, config: {api: {url: 'http://a'}}}}}",
        |f| f.layers.is_empty(),
    ),
    row("oathkeeper", "hydrator with retry", "oathkeeper.yml", HYDRATOR, |f| default_count(f, 5)),
    row("oathkeeper", "give_up_after absent", "oathkeeper.yml", OATHKEEPER, |f| waits(f, [1000; 5])),
    row(
        "oathkeeper",
        "keto_engine_acp_ory",
        "oathkeeper.yml",
        "{authenticators: {noop: {enabled: true}}, authorizers: {keto_engine_acp_ory: {enabled: true, config: {base_url: 'http://a'}}}}",
        |f| default_count(f, 6) && waits(f, [100; 5]),
    ),
    row(
        "oathkeeper",
        "give_up_after absent, oauth2_client_credentials",
        "oathkeeper.yml",
        "{authenticators: {oauth2_client_credentials: {enabled: true, config: {token_url: 'http://a'}}}, authorizers: {allow: {enabled: true}}}",
        |f| waits(f, [1000, 2000, 2000, 2000, 2000]),
    ),
    row("oathkeeper", "max_delay absent, of a hydrator", "oathkeeper.yml", HYDRATOR, |f| waits(f, [100; 5])),
    row("oathkeeper", "what is retried", "oathkeeper.yml", OATHKEEPER, |f| {
        only(f).retries.yes.names() == ["refused", "timeout", "429", "500", "502-599"]
    }),
    row("oathkeeper", "Retry-After", "oathkeeper.yml", OATHKEEPER, |f| only(f).retry_after.value() == Some(&true)),
    row(
        "yarp",
        "a cluster",
        "appsettings.json",
        r#"{"ReverseProxy": {"Clusters": {"c": {"Destinations": {"a": {"Address": "http://a/"}}}}}}"#,
        |f| f.layers.is_empty() && f.routes.len() == 1,
    ),
    row(
        "ocelot",
        "a route, QoSOptions or not",
        "ocelot.json",
        r#"{"Routes": [{"DownstreamPathTemplate": "/", "DownstreamHostAndPorts": [{"Host": "a", "Port": 80}], "QoSOptions": {"Timeout": 3000}}]}"#,
        |f| f.layers.is_empty() && f.routes.len() == 1,
    ),
    row("tyk", "an API", "a.json", r#"{"proxy": {"listen_path": "/a/", "target_url": "http://a/"}}"#, |f| {
        f.layers.is_empty() && f.routes.len() == 1
    }),
];

const TRAEFIK_ROUTE: &str = "{http: {routers: {r: {rule: 'Path(`/`)', service: s}}, \
                             services: {s: {loadBalancer: {servers: [{url: 'http://a'}]}}}}}";
const TRAEFIK: &str = "{http: {middlewares: {a: {retry: {attempts: 4}}}}}";
const TRAEFIK_WAIT: &str =
    "{http: {middlewares: {a: {retry: {attempts: 5, initialInterval: 200ms, status: ['500-599']}}}}}";
const NGINX: &str = "upstream u { server a; server b; server c; } server { location / { proxy_pass http://u; } }";
const NGINX_TRIES: &str = "upstream u { server a; server b; server c; } \
                           server { location / { proxy_pass http://u; proxy_next_upstream_tries 2; } }";
const HAPROXY: &str = "backend a\n  server s b:80\n";
const HAPROXY_WIDE: &str = "backend a\n  retry-on conn-failure 503\n  server s b:80\n";

const VIRTUAL_SERVER: &str = "{apiVersion: k8s.nginx.org/v1, kind: VirtualServer, metadata: {name: a}, \
     spec: {upstreams: [{name: u, service: s, port: 80, next-upstream-tries: 2}]}}";
const VIRTUAL_SERVER_ALL: &str = "{apiVersion: k8s.nginx.org/v1, kind: VirtualServer, metadata: {name: a}, \
     spec: {upstreams: [{name: u, service: s, port: 80, next-upstream: error, next-upstream-tries: 0}]}}";
const APISIX: &str = "{upstreams: [{id: u, nodes: {'a:80': 1, 'b:80': 1, 'c:80': 1}}]}";
const APISIX_ONE: &str = "{upstreams: [{id: u, retries: 2, nodes: {'a:80': 1}}]}";
const KRAKEND: &str =
    r#"{"endpoints": [{"endpoint": "/a", "backend": [{"host": ["http://a"], "url_pattern": "/a"}]}]}"#;
const KRAKEND_COPIES: &str = r#"{"endpoints": [{"endpoint": "/a", "method": "POST", "concurrent_calls": 3,
    "backend": [{"host": ["http://a"], "url_pattern": "/a"}]}]}"#;
const CADDY: &str = ":80 {\n reverse_proxy a:80 {\n  lb_retries 3\n }\n}\n";
const CADDY_TIME: &str = ":80 {\n reverse_proxy a:80 {\n  lb_try_duration 5s\n }\n}\n";
const CADDY_SOURCE: &str = "caddyserver/caddy v2.11 modules/caddyhttp/reverseproxy/reverseproxy.go";

const KONG_INGRESS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, \
     spec: {ingressClassName: kong, defaultBackend: {service: {name: b}}}}";
const HAPROXY_INGRESS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, \
     spec: {ingressClassName: haproxy, defaultBackend: {service: {name: b}}}}";
const RIBBON_NEXT: &str = "{a: {ribbon: {MaxAutoRetriesNextServer: 3}}}";
const ZUUL: &str = "{zuul: {retryable: true, routes: {a: {path: /a}}}}";
const APIM: &str = "<policies><backend><retry condition='@(context.Response.StatusCode == 503)' count='4' interval='2'>\
     <forward-request /></retry></backend></policies>";
const APIM_GROWING: &str =
    "<policies><retry condition='@(x)' count='5' interval='10' delta='10' max-interval='100'></retry></policies>";
const URL_MAP: &str = "{kind: 'compute#urlMap', name: m, defaultService: a/b, \
     defaultRouteAction: {retryPolicy: {numRetries: 3, retryConditions: [5xx, retriable-4xx]}}}";
const CLOUDFRONT: &str = r#"{"Resources": {"W": {"Type": "AWS::CloudFront::Distribution", "Properties": {"DistributionConfig":
    {"Origins": [{"Id": "a", "DomainName": "a.example.test", "CustomOriginConfig": {}}]}}}}}"#;
const CLOUDFRONT_TWO: &str = r#"{"Resources": {"W": {"Type": "AWS::CloudFront::Distribution", "Properties": {"DistributionConfig":
    {"Origins": [{"Id": "a", "DomainName": "a.example.test", "ConnectionAttempts": 2, "CustomOriginConfig": {}}]}}}}}"#;
const CLOUDFRONT_GROUP: &str = "{Resources: {W: {Type: 'AWS::CloudFront::Distribution', Properties: {DistributionConfig: {\
     Origins: [{Id: a, DomainName: a.test, CustomOriginConfig: {}}, {Id: b, DomainName: b.test, CustomOriginConfig: {}}], \
     OriginGroups: {Items: [{Id: g, Members: {Items: [{OriginId: a}, {OriginId: b}]}}]}}}}}}";
const GRAVITEE: &str = r#"{"definitionVersion": "4.0.0", "flows": [{"request": [{"policy": "retry",
    "configuration": {"condition": "{#response.status >= 500}", "maxRetries": 3}}]}]}"#;
const GRAVITEE_NONE: &str =
    r#"{"definitionVersion": "4.0.0", "flows": [{"request": [{"policy": "cache", "configuration": {}}]}]}"#;
const GRAVITEE_TWO: &str = r#"{"gravitee": "2.0.0", "proxy": {"endpoints": [{"target": "http://a:80"}]}}"#;
const OATHKEEPER: &str = "{authenticators: {noop: {enabled: true}}, \
     authorizers: {remote_json: {enabled: true, config: {remote: 'http://a'}}}}";
const HYDRATOR: &str = "{authenticators: {noop: {enabled: true}}, \
     mutators: {hydrator: {enabled: true, config: {api: {url: 'http://a', retry: {}}}}}}";

fn methods(facts: &Facts) -> &[String] {
    match &only(facts).methods {
        Methods::Only(methods) | Methods::Written { methods, .. } => methods,
        Methods::Any | Methods::Unknown => &[],
    }
}

fn no_post(facts: &Facts) -> bool {
    let is = |name: &str| methods(facts).contains(&name.to_string());
    is("GET") && is("PUT") && !is("POST") && !is("PATCH") && !is("LOCK")
}

fn ignores_retry_after(facts: &Facts) -> bool {
    only(facts).retry_after.value() == Some(&false)
}

#[test]
fn tries_beyond_the_servers_count_as_the_servers() {
    let text = NGINX_TRIES.replace("tries 2", "tries 9");
    let (_, facts) = super::read(vec![("nginx.conf".into(), text)], &Default::default());
    assert_eq!(only(&facts).attempts.value(), Some(&Attempts::Count(3)));
}

#[test]
fn the_environment_of_kong_widens_what_it_retries() {
    let kong = "{_format_version: '3.0', services: [{name: a, url: 'http://a'}]}";
    let compose = "{services: {kong: {image: 'kong:3', environment: {\
        KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM: error http_502 non_idempotent, \
        KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM_TRIES: 3}}}}";
    let files = [("kong.yaml", kong), ("compose.yaml", compose)].map(|(p, t)| (p.to_string(), t.to_string())).to_vec();
    let (_, facts) = super::read(files, &Default::default());
    assert_eq!(only(&facts).retries.yes.names(), ["refused", "502"]);
    assert!(methods(&facts).contains(&"POST".to_string()) && written_count(&facts, 3));
}

#[test]
fn controllers_of_one_class_name_do_not_read_each_others_ingresses() {
    let ingress = |annotation: &str| {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: a, annotations: {{{annotation}}}}}, \
             spec: {{ingressClassName: nginx, defaultBackend: {{service: {{name: b}}}}}}}}"
        )
    };
    let read = |annotation: &str| super::read(vec![("i.yaml".into(), ingress(annotation))], &Default::default()).1;
    assert_eq!(only(&read("a: b")).system, "ingress-nginx");
    assert_eq!(only(&read("nginx.org/proxy-next-upstream-tries: '2'")).system, "nginx-ingress");
    assert!(read("nginx.org/client-max-body-size: 4m").layers.is_empty());
}

#[test]
fn a_class_of_two_controllers_goes_to_the_one_that_is_seen() {
    let ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, \
                   spec: {ingressClassName: nginx, defaultBackend: {service: {name: b}}}}";
    let server = "{apiVersion: k8s.nginx.org/v1, kind: VirtualServer, metadata: {name: v}, spec: {upstreams: []}}";
    let written = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: c, annotations: \
                   {nginx.ingress.kubernetes.io/proxy-next-upstream-tries: '2'}}, \
                   spec: {ingressClassName: nginx, defaultBackend: {service: {name: d}}}}";
    let count = |texts: &[&str]| {
        let files = texts.iter().zip(0..).map(|(text, n)| (format!("{n}.yaml"), (*text).to_string()));
        super::read(files.collect(), &Default::default()).1.layers.len()
    };
    assert_eq!(count(&[ingress]), 1);
    assert_eq!(count(&[ingress, server]), 0);
    assert_eq!(count(&[ingress, server, written]), 2);
}
