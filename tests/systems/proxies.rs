//! The default figures of proxies: one test for each row of their lists.

use std::time::Duration;

use retrylint::facts::Facts;
use retrylint::model::{Attempts, Jitter, Methods, Mode, ModeSet, Wait};

use super::defaults::{Row, default_count, default_jitter, is_default, only, written_count};

const fn row(
    system: &'static str,
    what: &'static str,
    file: &'static str,
    text: &'static str,
    holds: fn(&Facts) -> bool,
) -> Row {
    Row { system, what, file, text, holds }
}

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
