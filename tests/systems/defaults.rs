//! One test for each row of the default figures: the smallest settings that leave the figure to the system.

use std::time::Duration;

use retrylint::facts::Facts;
use retrylint::model::{
    Attempts, DeadLetter, Jitter, Layer, Methods, Mode, ModeSet, Purpose, RedriveLack, Scope, Setting, Wait,
};
use retrylint::systems::{self, Version, Versions};

/// A row: the system, the figure as its list has it, a file, and what must be read from it.
pub struct Row {
    pub system: &'static str,
    pub what: &'static str,
    pub file: &'static str,
    pub text: &'static str,
    pub holds: fn(&Facts) -> bool,
}

const MACHINE: &str = r#"{"StartAt": "A", "States": {"A": {"Retry": [{"ErrorEquals": ["States.ALL"]}]}}}"#;

const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: []}}}}";

const CONNECTOR: &str =
    r#"{"name": "a", "config": {"connector.class": "FileSinkConnector", "topics": "t", "errors.tolerance": "all"}}"#;

const MAVEN: &str = "-Daether.transport.http.retryHandler.count=5\n";

const GENERATED: &str = r#"{"methodConfig": [{"name": [{"service": "google.a.B"}], "timeout": "20s", "retryPolicy": {"maxAttempts": 4, "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;

const GENERATED_OPEN: &str = r#"{"methodConfig": [{"name": [{"service": "google.a.B"}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;

const TF_QUEUE: &str = "resource \"aws_sqs_queue\" \"q\" {\n}\n";

const ROWS: &[Row] = &[
    Row {
        system: "kong",
        what: "services[].retries absent",
        file: "kong.yaml",
        text: KONG,
        holds: |f| default_count(f, 6),
    },
    Row {
        system: "kong",
        what: "services[].retries: 0",
        file: "kong.yaml",
        text: "{_format_version: '3.0', services: [{name: a, url: 'http://a', retries: 0}]}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "kong",
        what: "services[].read_timeout absent",
        file: "kong.yaml",
        text: KONG,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(60)),
    },
    Row {
        system: "kong",
        what: "limit on all tries together",
        file: "kong.yaml",
        text: KONG,
        holds: |f| only(f).overall.is_none(),
    },
    Row {
        system: "kong",
        what: "what is retried",
        file: "kong.yaml",
        text: KONG,
        holds: |f| only(f).retries.yes == ModeSet::transport() && only(f).wait == Wait::None,
    },
    Row {
        system: "kong",
        what: "POST, PATCH, LOCK",
        file: "kong.yaml",
        text: KONG,
        holds: |f| matches!(&only(f).methods, Methods::Only(m) if !m.contains(&"POST".into()) && m.contains(&"GET".into())),
    },
    Row {
        system: "envoy",
        what: "no retry_policy",
        file: "envoy.yaml",
        text: "{virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: a}}]}]}",
        holds: |f| f.layers.is_empty() && f.routes.len() == 1,
    },
    Row {
        system: "envoy",
        what: "retry_policy.num_retries absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| default_count(f, 2),
    },
    Row {
        system: "envoy",
        what: "retry_policy.retry_on absent or of unknown words",
        file: "envoy.yaml",
        text: "{virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, \
               route: {cluster: a, retry_policy: {num_retries: 7}}}]}]}",
        holds: |f| written_count(f, 1) && !only(f).is_active(),
    },
    Row {
        system: "envoy",
        what: "retry_policy.retry_back_off absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| waits(f, [25, 50, 100, 200, 250]),
    },
    Row {
        system: "envoy",
        what: "retry_back_off.max_interval absent",
        file: "envoy.yaml",
        text: "{virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, \
               route: {cluster: a, retry_policy: {retry_on: 5xx, retry_back_off: {base_interval: 0.1s}}}}]}]}",
        holds: |f| waits(f, [100, 200, 400, 800, 1000]),
    },
    Row {
        system: "envoy",
        what: "jitter",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| default_jitter(f, Jitter::Full),
    },
    Row {
        system: "envoy",
        what: "retry_policy.per_try_timeout absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| only(f).per_try.is_none() && !only(f).retries.yes.contains(retrylint::model::Mode::Timeout),
    },
    Row {
        system: "envoy",
        what: "route.timeout absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| is_default(&only(f).overall, Duration::from_secs(15)),
    },
    Row {
        system: "envoy",
        what: "rate_limited_retry_back_off absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "envoy",
        what: "x-envoy-retry-on added without a retry_policy",
        file: "envoy.yaml",
        text: "{virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: a}, \
               request_headers_to_add: [{header: {key: x-envoy-retry-on, value: 5xx}}]}]}]}",
        holds: |f| default_count(f, 2),
    },
    Row {
        system: "envoy",
        what: "retriable_request_headers absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| only(f).methods == Methods::Any,
    },
    Row {
        system: "envoy",
        what: "circuit_breakers.thresholds[].max_retries absent",
        file: "envoy.yaml",
        text: ENVOY,
        holds: |f| only(f).budget.is_none(),
    },
    Row {
        system: "envoy",
        what: "retry_budget.budget_percent absent",
        file: "envoy.yaml",
        text: "{static_resources: {clusters: [{name: a, circuit_breakers: {thresholds: [{retry_budget: {}}]}}]}, \
               virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, \
               route: {cluster: a, retry_policy: {retry_on: 5xx}}}]}]}",
        holds: |f| only(f).budget.as_ref().is_some_and(|b| b.ratio.value() == Some(&0.2) && b.ratio.is_default()),
    },
    Row {
        system: "ingress-nginx",
        what: "proxy-next-upstream-tries absent",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| default_count(f, 3) && only(f).is_implicit(),
    },
    Row {
        system: "ingress-nginx",
        what: "proxy-next-upstream-tries: 0",
        file: "i.yaml",
        text: INGRESS_ZERO,
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "ingress-nginx",
        what: "proxy-next-upstream absent",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| only(f).retries.yes == ModeSet::transport() && only(f).wait == Wait::None,
    },
    Row {
        system: "ingress-nginx",
        what: "proxy-next-upstream-timeout absent",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| only(f).overall.is_none(),
    },
    Row {
        system: "ingress-nginx",
        what: "proxy-read-timeout absent",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(60)),
    },
    Row {
        system: "ingress-nginx",
        what: "retry-non-idempotent absent",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| matches!(&only(f).methods, Methods::Only(m) if !m.contains(&"POST".into()) && m.contains(&"PUT".into())),
    },
    Row {
        system: "ingress-nginx",
        what: "Retry-After",
        file: "i.yaml",
        text: INGRESS,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "no Retry filter",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {routes: [{id: a, uri: 'http://a', filters: [StripPrefix=1]}]}}}}",
        holds: |f| f.layers.is_empty() && f.routes.len() == 1,
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without retries",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without series",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "5xx"],
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without methods",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| only(f).methods == Methods::Only(vec!["GET".into()]),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without exceptions",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| ModeSet::transport().difference(only(f).retries.yes).is_empty(),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without backoff",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "spring-cloud-gateway",
        what: "backoff.firstBackoff absent",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {routes: [{id: a, uri: 'http://a', \
               filters: [{name: Retry, args: {backoff: {basedOnPreviousValue: false}}}]}]}}}}",
        holds: |f| waits(f, [5, 10, 20, 40, 80]),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "backoff.factor absent",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {routes: [{id: a, uri: 'http://a', \
               filters: [{name: Retry, args: {backoff: {basedOnPreviousValue: false}}}]}]}}}}",
        holds: |f| waits(f, [5, 10, 20, 40, 80]),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "backoff.maxBackoff absent",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {routes: [{id: a, uri: 'http://a', \
               filters: [{name: Retry, args: {backoff: {basedOnPreviousValue: false}}}]}]}}}}",
        holds: |f| only(f).wait.nominal(20) == Some(Duration::from_millis(5 << 20)),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry without jitter",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| default_jitter(f, Jitter::None),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "WebMVC: retries: 3",
        file: "application.yml",
        text: SPRING_MVC,
        holds: |f| written_count(f, 3),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "WebMVC: methods",
        file: "application.yml",
        text: SPRING_MVC,
        holds: |f| only(f).methods == Methods::Any,
    },
    Row {
        system: "spring-cloud-gateway",
        what: "WebMVC: backoff.maxBackoff absent",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {mvc: {routes: [{id: a, uri: 'http://a', filters: [{name: Retry, args: {retries: 12, backoff: {firstBackoff: 1s}}}]}]}}}}}",
        holds: |f| only(f).wait.nominal(10) == Some(Duration::from_secs(30)),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "WebMVC with use-framework-retry-filter: retries: 3",
        file: "application.yml",
        text: "{spring: {cloud: {gateway: {server: {webmvc: {use-framework-retry-filter: true, routes: [{id: a, uri: 'http://a', filters: ['Retry=3']}]}}}}}}",
        holds: |f| written_count(f, 4) && only(f).wait.nominal(2) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "spring-cloud-gateway",
        what: "Retry-After",
        file: "application.yml",
        text: SPRING_GATEWAY,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "istio",
        what: "no retries on a route, and none for the mesh",
        file: "vs.yaml",
        text: ISTIO,
        holds: |f| default_count(f, 3) && only(f).is_implicit(),
    },
    Row {
        system: "istio",
        what: "retries.retryOn absent",
        file: "vs.yaml",
        text: ISTIO_COUNT,
        holds: |f| only(f).retries.yes.names() == ["refused", "grpc:1", "grpc:14"] && written_count(f, 3),
    },
    Row {
        system: "istio",
        what: "retries: {}, or retries without attempts",
        file: "vs.yaml",
        text: "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, \
               spec: {hosts: [a], http: [{retries: {backoff: 1s}, route: [{destination: {host: a}}]}]}}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "istio",
        what: "retries.backoff absent",
        file: "vs.yaml",
        text: ISTIO_COUNT,
        holds: |f| waits(f, [25, 50, 100, 200, 250]),
    },
    Row {
        system: "istio",
        what: "the cap of retries.backoff",
        file: "vs.yaml",
        text: "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, \
               spec: {hosts: [a], http: [{retries: {attempts: 9, backoff: 10ms}, route: [{destination: {host: a}}]}]}}",
        holds: |f| waits(f, [10, 20, 40, 80, 100]),
    },
    Row { system: "istio", what: "jitter", file: "vs.yaml", text: ISTIO, holds: |f| default_jitter(f, Jitter::Full) },
    Row {
        system: "istio",
        what: "http[].timeout absent",
        file: "vs.yaml",
        text: ISTIO,
        holds: |f| only(f).overall.is_none(),
    },
    Row {
        system: "istio",
        what: "retries.perTryTimeout absent",
        file: "vs.yaml",
        text: ISTIO_COUNT,
        holds: |f| only(f).per_try.is_none(),
    },
    Row {
        system: "istio",
        what: "Retry-After",
        file: "vs.yaml",
        text: ISTIO,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "istio",
        what: "spec.gateways absent",
        file: "vs.yaml",
        text: ISTIO,
        holds: |f| matches!(&only(f).scope, Scope::Hops { from, .. } if from.mesh && from.gateways.is_empty()),
    },
    Row {
        system: "istio",
        what: "connectionPool.http.maxRetries absent",
        file: "vs.yaml",
        text: ISTIO,
        holds: |f| only(f).budget.is_none(),
    },
    Row {
        system: "istio",
        what: "retryBudget.percent absent",
        file: "dr.yaml",
        text: "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: a}, \
               spec: {host: a, trafficPolicy: {retryBudget: {minRetryConcurrency: 9}}}}",
        holds: |f| only(f).budget.as_ref().is_some_and(|b| b.ratio.value() == Some(&0.2) && b.ratio.is_default()),
    },
    Row {
        system: "linkerd",
        what: "isRetryable absent",
        file: "p.yaml",
        text: "{apiVersion: linkerd.io/v1alpha2, kind: ServiceProfile, metadata: {name: a.b.svc.cluster.local}, \
               spec: {routes: [{name: r}]}}",
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "linkerd",
        what: "retryBudget absent",
        file: "p.yaml",
        text: PROFILE_TIMED,
        holds: |f| matches!(only(f).attempts.value(), Some(Attempts::Within { about: 101, .. })),
    },
    Row {
        system: "linkerd",
        what: "timeout of a retryable route absent",
        file: "p.yaml",
        text: PROFILE,
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "linkerd",
        what: "responseClasses absent",
        file: "p.yaml",
        text: PROFILE,
        holds: |f| only(f).retries.yes.names() == ["5xx"],
    },
    Row {
        system: "linkerd",
        what: "wait of a ServiceProfile",
        file: "p.yaml",
        text: PROFILE,
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "linkerd",
        what: "retry.linkerd.io/limit absent",
        file: "s.yaml",
        text: ANNOTATED,
        holds: |f| default_count(f, 2),
    },
    Row {
        system: "linkerd",
        what: "retry.linkerd.io/limit: 0",
        file: "s.yaml",
        text: "{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {retry.linkerd.io/http: 5xx, \
               retry.linkerd.io/limit: '0'}}}",
        holds: |f| default_count(f, 2),
    },
    Row {
        system: "linkerd",
        what: "wait of the annotations",
        file: "s.yaml",
        text: ANNOTATED,
        holds: |f| waits(f, [25, 50, 100, 200, 250]),
    },
    Row {
        system: "linkerd",
        what: "Retry-After",
        file: "s.yaml",
        text: ANNOTATED,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "resilience4j",
        what: "max-attempts absent",
        file: "application.yml",
        text: "resilience4j.retry.instances.a.wait-duration: 1s",
        holds: |f| default_count(f, 3) && only(f).asked_for,
    },
    Row {
        system: "resilience4j",
        what: "wait-duration absent",
        file: "application.yml",
        text: R4J,
        holds: |f| waits(f, [500; 5]) && matches!(only(f).wait, Wait::Fixed(_)),
    },
    Row {
        system: "resilience4j",
        what: "exponential-backoff-multiplier absent",
        file: "application.yml",
        text: R4J_EXPONENTIAL,
        holds: |f| waits(f, [1000, 1500, 2250, 3375, 5062]),
    },
    Row {
        system: "resilience4j",
        what: "exponential-max-wait-duration absent",
        file: "application.yml",
        text: R4J_EXPONENTIAL,
        holds: |f| matches!(&only(f).wait, Wait::Exponential { cap, .. } if cap.value() == Some(&None)),
    },
    Row {
        system: "resilience4j",
        what: "enable-randomized-wait absent",
        file: "application.yml",
        text: R4J,
        holds: |f| default_jitter(f, Jitter::None),
    },
    Row {
        system: "resilience4j",
        what: "randomized-wait-factor absent",
        file: "application.yml",
        text: "resilience4j.retry.instances.a: {wait-duration: 1s, enable-randomized-wait: true}",
        holds: |f| only(f).jitter.value() == Some(&Jitter::Partial { low: 0.5, high: 1.5 }),
    },
    Row {
        system: "resilience4j",
        what: "retry-exceptions and its predicate absent",
        file: "application.yml",
        text: R4J,
        holds: |f| only(f).retries.yes == ModeSet::all() && only(f).retries.any_error.is_some(),
    },
    Row {
        system: "resilience4j",
        what: "base-config absent",
        file: "application.yml",
        text: "resilience4j.retry: {configs: {default: {max-attempts: 9}}, instances: {a: {}}}",
        holds: |f| written_count(f, 9),
    },
    Row {
        system: "resilience4j",
        what: "Retry-After",
        file: "application.yml",
        text: R4J,
        holds: |f| only(f).retry_after.value() == Some(&false) && only(f).advice.retry_after.is_none(),
    },
    Row {
        system: "openfeign",
        what: "retryer absent",
        file: "application.yml",
        text: "spring.cloud.openfeign.client.config.a: {read-timeout: 5}",
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "openfeign",
        what: "retryer: feign.Retryer.Default",
        file: "application.yml",
        text: FEIGN,
        holds: |f| written_count(f, 5),
    },
    Row {
        system: "openfeign",
        what: "retryer: another class",
        file: "application.yml",
        text: "feign.client.config.a.retryer: org.example.Mine",
        holds: |f| matches!(only(f).attempts, Setting::Unknown { .. }) && matches!(only(f).wait, Wait::Unknown { .. }),
    },
    Row {
        system: "openfeign",
        what: "waits",
        file: "application.yml",
        text: FEIGN,
        holds: |f| waits(f, [150, 225, 337, 506, 759]) && only(f).wait.nominal(9) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "openfeign",
        what: "jitter",
        file: "application.yml",
        text: FEIGN,
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "openfeign",
        what: "what is retried",
        file: "application.yml",
        text: FEIGN,
        holds: |f| only(f).retries.yes == ModeSet::transport() && only(f).retries.unknown.contains(Mode::Status(503)),
    },
    Row {
        system: "openfeign",
        what: "Retry-After",
        file: "application.yml",
        text: FEIGN,
        holds: |f| only(f).retry_after.value() == Some(&true),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "max-retries-on-same-service-instance, -next-service-instance absent",
        file: "application.yml",
        text: BALANCER,
        holds: |f| default_count(f, 2) && only(f).asked_for,
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "both counts",
        file: "application.yml",
        text: "spring.cloud.loadbalancer.retry: {max-retries-on-same-service-instance: 2, max-retries-on-next-service-instance: 3}",
        holds: |f| written_count(f, 12),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "backoff.enabled absent",
        file: "application.yml",
        text: BALANCER,
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "backoff.min-backoff, max-backoff, jitter absent",
        file: "application.yml",
        text: "spring.cloud.loadbalancer.retry.backoff.enabled: true",
        holds: |f| waits(f, [5, 10, 20, 40, 80]) && default_jitter(f, Jitter::Partial { low: 0.5, high: 1.5 }),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "retryable-status-codes absent",
        file: "application.yml",
        text: BALANCER,
        holds: |f| only(f).retries.yes == ModeSet::transport(),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "retry-on-all-operations absent",
        file: "application.yml",
        text: BALANCER,
        holds: |f| only(f).methods == Methods::Only(vec!["GET".to_string()]),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "Retry-After",
        file: "application.yml",
        text: BALANCER,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "spring-cloud-loadbalancer",
        what: "spring.cloud.config.retry",
        file: "application.yml",
        text: "spring.cloud.config: {fail-fast: true, retry: {multiplier: 1.1}}",
        holds: |f| {
            default_count(f, 6)
                && waits(f, [1000, 1100, 1210, 1331, 1464])
                && only(f).wait.nominal(20) == Some(Duration::from_secs(2))
        },
    },
    Row {
        system: "spring-messaging",
        what: "spring.rabbitmq…retry.enabled absent",
        file: "application.yml",
        text: "spring.rabbitmq.template.retry.max-attempts: 9",
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "spring-messaging",
        what: "max-attempts (Spring Boot 3)",
        file: "application.yml",
        text: "spring.rabbitmq.template.retry: {enabled: true, max-attempts: 4}",
        holds: |f| written_count(f, 4),
    },
    Row {
        system: "spring-messaging",
        what: "max-retries (Spring Boot 4)",
        file: "application.yml",
        text: "spring.rabbitmq.template.retry: {enabled: true, max-retries: 4}",
        holds: |f| written_count(f, 5),
    },
    Row {
        system: "spring-messaging",
        what: "both absent",
        file: "application.yml",
        text: TEMPLATE,
        holds: |f| matches!(only(f).attempts, Setting::Unknown { .. }),
    },
    Row {
        system: "spring-messaging",
        what: "initial-interval, multiplier, max-interval absent",
        file: "application.yml",
        text: TEMPLATE,
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "spring-messaging",
        what: "jitter",
        file: "application.yml",
        text: TEMPLATE,
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "spring-messaging",
        what: "spring.kafka.producer.retries absent",
        file: "application.yml",
        text: "spring.kafka.producer.properties: {delivery.timeout.ms: 3000}",
        holds: |f| matches!(only(f).attempts, Setting::Written { value: Attempts::Within { about: 6, .. }, .. }),
    },
    Row {
        system: "spring-messaging",
        what: "retry.backoff.ms, retry.backoff.max.ms absent",
        file: "application.yml",
        text: "spring.kafka.producer.retries: 5",
        holds: |f| waits(f, [100, 200, 400, 800, 1000]) && written_count(f, 6),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "maxRetries absent",
        file: "application.properties",
        text: "a.B/Retry/delay=100",
        holds: |f| matches!(only(f).attempts, Setting::Unknown { .. }),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "maxRetries: -1",
        file: "application.properties",
        text: "a.B/Retry/maxRetries=-1\na.B/Retry/delay=1000",
        holds: |f| matches!(only(f).attempts, Setting::Written { value: Attempts::Within { about: 181, .. }, .. }),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "maxDuration absent",
        file: "application.properties",
        text: FAULT_TOLERANCE,
        holds: |f| is_default(&only(f).overall, Duration::from_secs(180)),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "maxDuration: 0",
        file: "application.properties",
        text: "a.B/Retry/maxRetries=-1\na.B/Retry/maxDuration=0",
        holds: |f| only(f).is_unbounded() && only(f).overall.is_none(),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "delay, jitter absent",
        file: "application.properties",
        text: FAULT_TOLERANCE,
        holds: |f| waits(f, [100; 5]) && default_jitter(f, Jitter::Partial { low: 0.0, high: 2.0 }),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "product and specification",
        file: "application.properties",
        text: "quarkus.fault-tolerance.\"a.B\".retry.max-retries=7\na.B/Retry/maxRetries=2",
        holds: |f| written_count(f, 8),
    },
    Row {
        system: "microprofile-fault-tolerance",
        what: "Retry-After",
        file: "application.properties",
        text: FAULT_TOLERANCE,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "retryable",
        what: "Spring Retry: maxAttempts absent",
        file: "A.java",
        text: SPRING_RETRY,
        holds: |f| default_count(f, 3) && only(f).asked_for,
    },
    Row {
        system: "retryable",
        what: "Spring Retry: backoff absent",
        file: "A.java",
        text: SPRING_RETRY,
        holds: |f| waits(f, [1000; 5]) && default_jitter(f, Jitter::None),
    },
    Row {
        system: "retryable",
        what: "Spring Retry: maxDelay absent, with a multiplier",
        file: "A.java",
        text: "import org.springframework.retry.annotation.*;\nclass A { @Retryable(backoff = @Backoff(delay = 2000, multiplier = 3)) void f() {} }",
        holds: |f| waits(f, [2000, 6000, 18_000, 30_000, 30_000]),
    },
    Row {
        system: "retryable",
        what: "Spring Framework 7: maxRetries absent",
        file: "A.java",
        text: FRAMEWORK_RETRY,
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "retryable",
        what: "Spring Framework 7: delay absent",
        file: "A.java",
        text: FRAMEWORK_RETRY,
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "retryable",
        what: "Micronaut: attempts absent",
        file: "A.java",
        text: MICRONAUT,
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "retryable",
        what: "Micronaut: delay, multiplier absent",
        file: "A.java",
        text: MICRONAUT,
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "retryable",
        what: "Micronaut: @CircuitBreaker",
        file: "A.java",
        text: "import io.micronaut.retry.annotation.CircuitBreaker;\n@CircuitBreaker class A {}",
        holds: |f| default_count(f, 4) && waits(f, [500; 5]) && is_default(&only(f).overall, Duration::from_secs(5)),
    },
    Row {
        system: "retryable",
        what: "exceptions absent",
        file: "A.java",
        text: SPRING_RETRY,
        holds: |f| only(f).retries.yes == ModeSet::all() && only(f).retries.any_error.is_some(),
    },
    Row {
        system: "retryable",
        what: "Retry-After",
        file: "A.java",
        text: SPRING_RETRY,
        holds: |f| only(f).retry_after.value() == Some(&false) && only(f).advice.retry_after.is_none(),
    },
    Row {
        system: "grpc",
        what: "no retryPolicy",
        file: "a.json",
        text: r#"{"methodConfig": [{"name": [{"service": "a"}], "timeout": "1s"}]}"#,
        holds: |f| f.layers.is_empty(),
    },
    Row { system: "grpc", what: "maxAttempts above 5", file: "a.json", text: GRPC, holds: |f| written_count(f, 5) },
    Row {
        system: "grpc",
        what: "a field of retryPolicy absent",
        file: "a.json",
        text: GRPC_SHORT,
        holds: |f| matches!(only(f).attempts, Setting::Unknown { .. }),
    },
    Row {
        system: "grpc",
        what: "jitter",
        file: "a.json",
        text: GRPC,
        holds: |f| default_jitter(f, Jitter::Partial { low: 0.8, high: 1.2 }),
    },
    Row {
        system: "grpc",
        what: "grpc-retry-pushback-ms",
        file: "a.json",
        text: GRPC,
        holds: |f| only(f).retry_after.value() == Some(&true),
    },
    Row {
        system: "grpc",
        what: "hedgingDelay absent",
        file: "a.json",
        text: r#"{"methodConfig": [{"name": [{"service": "a"}], "hedgingPolicy": {"maxAttempts": 3}}]}"#,
        holds: |f| only(f).copies && only(f).wait == Wait::None,
    },
    Row {
        system: "grpc",
        what: "maxAttempts for generated clients of Google's APIs",
        file: "a_grpc_service_config.json",
        text: GENERATED,
        holds: |f| matches!(only(f).attempts.value(), Some(Attempts::Within { deadline, about: 5 }) if deadline.as_secs() == 20),
    },
    Row {
        system: "grpc",
        what: "timeout for generated clients of Google's APIs absent",
        file: "a_grpc_service_config.json",
        text: GENERATED_OPEN,
        holds: |f| is_default(&only(f).overall, Duration::from_secs(120)),
    },
    Row {
        system: "grpc",
        what: "retryThrottling absent",
        file: "a.json",
        text: GRPC,
        holds: |f| only(f).budget.is_none(),
    },
    Row {
        system: "otel-collector",
        what: "retry_on_failure absent",
        file: "a.yaml",
        text: OTLP,
        holds: |f| {
            matches!(only(f).attempts, Setting::Default { value: Attempts::Within { about: 13, .. }, .. })
                && only(f).is_implicit()
        },
    },
    Row {
        system: "otel-collector",
        what: "max_elapsed_time: 0",
        file: "a.yaml",
        text: "{exporters: {otlp: {retry_on_failure: {max_elapsed_time: 0s}}}, service: {pipelines: {a: {exporters: [otlp]}}}}",
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "otel-collector",
        what: "initial_interval, multiplier, max_interval absent",
        file: "a.yaml",
        text: OTLP,
        holds: |f| {
            waits(f, [5000, 7500, 11250, 16875, 25312]) && only(f).wait.nominal(9) == Some(Duration::from_secs(30))
        },
    },
    Row {
        system: "otel-collector",
        what: "randomization_factor absent",
        file: "a.yaml",
        text: OTLP,
        holds: |f| default_jitter(f, Jitter::Partial { low: 0.5, high: 1.5 }),
    },
    Row {
        system: "otel-collector",
        what: "timeout absent",
        file: "a.yaml",
        text: OTLP,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(5)),
    },
    Row {
        system: "otel-collector",
        what: "what otlphttp retries",
        file: "a.yaml",
        text: "{exporters: {otlphttp: {}}, service: {pipelines: {a: {exporters: [otlphttp]}}}}",
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "429", "502-504"]
                && only(f).retry_after.value() == Some(&true)
                && is_default(&only(f).per_try, Duration::from_secs(30))
        },
    },
    Row {
        system: "otel-collector",
        what: "what otlp retries",
        file: "a.yaml",
        text: OTLP,
        holds: |f| {
            only(f).retries.yes.names()
                == ["refused", "timeout", "grpc:1", "grpc:4", "grpc:10", "grpc:11", "grpc:14", "grpc:15"]
        },
    },
    Row {
        system: "prometheus-remote-write",
        what: "remote_write",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| only(f).is_unbounded() && only(f).is_implicit() && only(f).purpose == Purpose::Background,
    },
    Row {
        system: "prometheus-remote-write",
        what: "min_backoff, max_backoff absent",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| waits(f, [30, 60, 120, 240, 480]) && only(f).wait.nominal(20) == Some(Duration::from_secs(5)),
    },
    Row {
        system: "prometheus-remote-write",
        what: "jitter",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "prometheus-remote-write",
        what: "retry_on_http_429 absent",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| !only(f).retries.yes.contains(Mode::Status(429)),
    },
    Row {
        system: "prometheus-remote-write",
        what: "what is retried",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "5xx"] && only(f).retry_after.value() == Some(&true)
        },
    },
    Row {
        system: "prometheus-remote-write",
        what: "sample_age_limit absent",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| only(f).overall.is_none(),
    },
    Row {
        system: "prometheus-remote-write",
        what: "remote_timeout absent",
        file: "a.yaml",
        text: REMOTE_WRITE,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(30)),
    },
    Row {
        system: "vector",
        what: "retry_attempts absent",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| only(f).is_unbounded() && only(f).is_implicit(),
    },
    Row {
        system: "vector",
        what: "retry_initial_backoff_secs, retry_max_duration_secs absent",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| {
            waits(f, [1000, 2000, 3000, 5000, 8000]) && only(f).wait.nominal(20) == Some(Duration::from_secs(30))
        },
    },
    Row {
        system: "vector",
        what: "retry_jitter_mode absent",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| default_jitter(f, Jitter::Full),
    },
    Row {
        system: "vector",
        what: "retry_strategy absent",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "500", "502-599"],
    },
    Row {
        system: "vector",
        what: "timeout_secs absent",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(60)),
    },
    Row {
        system: "vector",
        what: "Retry-After",
        file: "a.yaml",
        text: VECTOR,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "fluent-bit",
        what: "Retry_Limit absent",
        file: "a.yaml",
        text: FLUENT_BIT,
        holds: |f| default_count(f, 2),
    },
    Row {
        system: "fluent-bit",
        what: "Retry_Limit no_limits, False or off",
        file: "a.yaml",
        text: "pipeline: {outputs: [{name: es, retry_limit: False}]}",
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "fluent-bit",
        what: "Retry_Limit no_retries",
        file: "a.yaml",
        text: "pipeline: {outputs: [{name: es, retry_limit: no_retries}]}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "fluent-bit",
        what: "Retry_Limit 0 or less",
        file: "a.yaml",
        text: "pipeline: {outputs: [{name: es, retry_limit: -1}]}",
        holds: |f| written_count(f, 2),
    },
    Row {
        system: "fluent-bit",
        what: "scheduler.base, scheduler.cap absent",
        file: "a.yaml",
        text: FLUENT_BIT,
        holds: |f| {
            waits(f, [5000, 10000, 20000, 40000, 80000]) && only(f).wait.nominal(20) == Some(Duration::from_secs(2000))
        },
    },
    Row {
        system: "fluent-bit",
        what: "jitter",
        file: "a.yaml",
        text: FLUENT_BIT,
        holds: |f| default_jitter(f, Jitter::Full),
    },
    Row {
        system: "fluent-bit",
        what: "what the http output retries",
        file: "a.yaml",
        text: FLUENT_BIT,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "5xx"],
    },
    Row {
        system: "fluent-bit",
        what: "Retry-After",
        file: "a.yaml",
        text: FLUENT_BIT,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "promtail",
        what: "max_retries absent",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| default_count(f, 10),
    },
    Row {
        system: "promtail",
        what: "max_retries: 0",
        file: "a.yaml",
        text: "{positions: {}, clients: [{url: 'http://l', backoff_config: {max_retries: 0}}]}",
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "promtail",
        what: "min_period, max_period absent",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| {
            waits(f, [500, 1000, 2000, 4000, 8000]) && only(f).wait.nominal(20) == Some(Duration::from_secs(300))
        },
    },
    Row {
        system: "promtail",
        what: "jitter",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| default_jitter(f, Jitter::Partial { low: 1.0, high: 2.0 }),
    },
    Row {
        system: "promtail",
        what: "what is retried",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "429", "5xx"],
    },
    Row {
        system: "promtail",
        what: "Retry-After",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "promtail",
        what: "timeout absent",
        file: "a.yaml",
        text: PROMTAIL,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(10)),
    },
    Row {
        system: "query-frontend",
        what: "max_retries: 0",
        file: "a.yaml",
        text: "{blocks_storage: {}, query_range: {max_retries: 0}}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "query-frontend",
        what: "Cortex's waits",
        file: "a.yaml",
        text: "{blocks_storage: {}, query_range: {max_retries: 4}}",
        holds: |f| only(f).wait == Wait::None && written_count(f, 4),
    },
    Row {
        system: "query-frontend",
        what: "Mimir's waits",
        file: "a.yaml",
        text: "{blocks_storage: {}, frontend: {max_retries: 4}}",
        holds: |f| only(f).wait == Wait::None && written_count(f, 4),
    },
    Row {
        system: "query-frontend",
        what: "Tempo's waits",
        file: "a.yaml",
        text: "{query_frontend: {max_retries: 4}}",
        holds: |f| only(f).wait == Wait::None && written_count(f, 4),
    },
    Row {
        system: "query-frontend",
        what: "Tempo's max_retries: 0",
        file: "a.yaml",
        text: "{queryFrontend: {config: {max_retries: 0}}}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "query-frontend",
        what: "Loki's waits",
        file: "a.yaml",
        text: "{schema_config: {}, query_range: {max_retries: 4}}",
        holds: |f| waits(f, [250, 500, 1000, 2000, 4000]),
    },
    Row {
        system: "query-frontend",
        what: "Thanos's waits",
        file: "a.yaml",
        text: "args: [--query-range.max-retries-per-request=4]",
        holds: |f| waits(f, [200, 400, 800, 1600, 2000]) && written_count(f, 4),
    },
    Row {
        system: "query-frontend",
        what: "grpc_client_config.backoff_config",
        file: "a.yaml",
        text: "grpc_client_config: {backoff_on_ratelimits: true, backoff_config: {}}",
        holds: |f| {
            default_count(f, 10) && waits(f, [100, 200, 400, 800, 1600]) && only(f).retries.yes.names() == ["grpc:8"]
        },
    },
    Row {
        system: "telegraf",
        what: "outputs",
        file: "telegraf.conf",
        text: TELEGRAF,
        holds: |f| only(f).is_unbounded() && only(f).is_implicit(),
    },
    Row {
        system: "telegraf",
        what: "flush_interval absent",
        file: "telegraf.conf",
        text: TELEGRAF,
        holds: |f| waits(f, [10_000; 5]),
    },
    Row {
        system: "telegraf",
        what: "flush_jitter absent",
        file: "telegraf.conf",
        text: TELEGRAF,
        holds: |f| matches!(only(f).jitter, Setting::Default { value: Jitter::None, .. }),
    },
    Row {
        system: "telegraf",
        what: "what outputs.http retries",
        file: "telegraf.conf",
        text: TELEGRAF,
        holds: |f| only(f).retries.any_error.is_some() && only(f).retries.yes.contains(Mode::Status(404)),
    },
    Row {
        system: "telegraf",
        what: "what outputs.influxdb_v2 retries",
        file: "telegraf.conf",
        text: "[[outputs.influxdb_v2]]\nurls = ['http://i']\n",
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "401", "403", "429", "5xx"]
                && waits(f, [25, 100, 225, 400, 625])
                && only(f).wait.nominal(60) == Some(Duration::from_secs(60))
        },
    },
    Row {
        system: "beats",
        what: "max_retries absent",
        file: "metricbeat.yml",
        text: BEAT,
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "beats",
        what: "max_retries in Filebeat",
        file: "filebeat.yml",
        text: "output.elasticsearch: {hosts: ['http://s'], max_retries: 3}",
        holds: |f| only(f).is_unbounded() && only(f).labels.len() == 1,
    },
    Row {
        system: "beats",
        what: "max_retries below 0",
        file: "metricbeat.yml",
        text: "output.elasticsearch: {hosts: ['http://s'], max_retries: -1}",
        holds: |f| only(f).is_unbounded() && !only(f).is_implicit(),
    },
    Row {
        system: "beats",
        what: "backoff.init, backoff.max absent",
        file: "metricbeat.yml",
        text: BEAT,
        holds: |f| {
            waits(f, [2000, 4000, 8000, 16_000, 32_000]) && only(f).wait.nominal(20) == Some(Duration::from_secs(60))
        },
    },
    Row {
        system: "beats",
        what: "jitter",
        file: "metricbeat.yml",
        text: BEAT,
        holds: |f| default_jitter(f, Jitter::Partial { low: 0.5, high: 1.0 }),
    },
    Row {
        system: "beats",
        what: "what output.elasticsearch retries",
        file: "metricbeat.yml",
        text: BEAT,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "4xx", "5xx"],
    },
    Row {
        system: "beats",
        what: "timeout absent",
        file: "metricbeat.yml",
        text: BEAT,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(90)),
    },
    Row {
        system: "fluentd",
        what: "retry_max_times absent",
        file: "fluent.conf",
        text: FLUENTD,
        holds: |f| matches!(only(f).attempts, Setting::Default { value: Attempts::Within { about: 18, .. }, .. }),
    },
    Row {
        system: "fluentd",
        what: "retry_forever: true",
        file: "fluent.conf",
        text: "<match a>\n@type http\n<buffer>\nretry_forever true\n</buffer>\n</match>\n",
        holds: |f| only(f).is_unbounded() && !only(f).is_implicit(),
    },
    Row {
        system: "fluentd",
        what: "retry_wait, retry_exponential_backoff_base absent",
        file: "fluent.conf",
        text: FLUENTD,
        holds: |f| {
            waits(f, [1000, 2000, 4000, 8000, 16_000])
                && matches!(&only(f).wait, Wait::Exponential { cap, .. } if cap.value() == Some(&None))
        },
    },
    Row {
        system: "fluentd",
        what: "retry_randomize absent",
        file: "fluent.conf",
        text: FLUENTD,
        holds: |f| default_jitter(f, Jitter::Partial { low: 0.875, high: 1.125 }),
    },
    Row {
        system: "fluentd",
        what: "retry_type: periodic",
        file: "fluent.conf",
        text: "<match a>\n@type http\n<buffer>\nretry_type periodic\n</buffer>\n</match>\n",
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "fluentd",
        what: "retryable_response_codes absent",
        file: "fluent.conf",
        text: FLUENTD,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "503"],
    },
    Row {
        system: "fluentd",
        what: "Retry-After",
        file: "fluent.conf",
        text: FLUENTD,
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "logstash",
        what: "output elasticsearch",
        file: "logstash.conf",
        text: LOGSTASH,
        holds: |f| only(f).is_unbounded() && only(f).is_implicit(),
    },
    Row {
        system: "logstash",
        what: "retry_initial_interval, retry_max_interval absent",
        file: "logstash.conf",
        text: LOGSTASH,
        holds: |f| {
            waits(f, [2000, 4000, 8000, 16_000, 32_000]) && only(f).wait.nominal(9) == Some(Duration::from_secs(64))
        },
    },
    Row {
        system: "logstash",
        what: "jitter of output elasticsearch",
        file: "logstash.conf",
        text: LOGSTASH,
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "logstash",
        what: "what output elasticsearch retries",
        file: "logstash.conf",
        text: LOGSTASH,
        holds: |f| only(f).retries.any_error.is_some() && only(f).retries.yes.contains(Mode::Status(404)),
    },
    Row {
        system: "logstash",
        what: "retry_failed absent (http)",
        file: "logstash.conf",
        text: LOGSTASH_HTTP,
        holds: |f| only(f).is_unbounded() && only(f).is_implicit(),
    },
    Row {
        system: "logstash",
        what: "waits of output http",
        file: "logstash.conf",
        text: LOGSTASH_HTTP,
        holds: |f| {
            waits(f, [1000, 4000, 9000, 16_000, 25_000]) && only(f).wait.nominal(9) == Some(Duration::from_secs(60))
        },
    },
    Row {
        system: "logstash",
        what: "retryable_codes absent (http)",
        file: "logstash.conf",
        text: LOGSTASH_HTTP,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "429", "500", "502-504"],
    },
    Row {
        system: "logstash",
        what: "request_timeout absent (http)",
        file: "logstash.conf",
        text: LOGSTASH_HTTP,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(60)),
    },
    Row {
        system: "alloy",
        what: "loki.write: max_backoff_retries absent",
        file: "a.alloy",
        text: ALLOY,
        holds: |f| default_count(f, 10),
    },
    Row {
        system: "alloy",
        what: "pyroscope.write: max_backoff_retries absent",
        file: "a.alloy",
        text: "pyroscope.write \"a\" { endpoint { url = \"http://p\" } }",
        holds: |f| default_count(f, 10),
    },
    Row {
        system: "alloy",
        what: "loki.write: max_backoff_retries 0",
        file: "a.alloy",
        text: "loki.write \"a\" { endpoint { url = \"http://l\"\n max_backoff_retries = 0 } }",
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "alloy",
        what: "loki.write: min_backoff_period, max_backoff_period absent",
        file: "a.alloy",
        text: ALLOY,
        holds: |f| {
            waits(f, [500, 1000, 2000, 4000, 8000]) && only(f).wait.nominal(20) == Some(Duration::from_secs(300))
        },
    },
    Row {
        system: "alloy",
        what: "loki.write: what is retried",
        file: "a.alloy",
        text: ALLOY,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "429", "5xx"],
    },
    Row {
        system: "alloy",
        what: "prometheus.remote_write",
        file: "a.alloy",
        text: ALLOY_METRICS,
        holds: |f| only(f).is_unbounded() && only(f).retries.yes.contains(Mode::Status(429)),
    },
    Row {
        system: "alloy",
        what: "prometheus.remote_write: min_backoff, max_backoff absent",
        file: "a.alloy",
        text: ALLOY_METRICS,
        holds: |f| waits(f, [30, 60, 120, 240, 480]) && only(f).wait.nominal(20) == Some(Duration::from_secs(5)),
    },
    Row {
        system: "alloy",
        what: "otelcol.exporter: retry_on_failure absent",
        file: "a.alloy",
        text: "otelcol.exporter.otlp \"a\" { client { endpoint = \"t:4317\" } }",
        holds: |f| matches!(only(f).attempts, Setting::Default { value: Attempts::Within { about: 13, .. }, .. }),
    },
    Row {
        system: "dotnet-resilience",
        what: "MaxRetryAttempts absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| default_count(f, 4) && only(f).asked_for,
    },
    Row {
        system: "dotnet-resilience",
        what: "MaxRetryAttempts: 2147483647",
        file: "a.json",
        text: r#"{"Retry": {"MaxRetryAttempts": 2147483647}}"#,
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "dotnet-resilience",
        what: "Delay absent",
        file: "a.json",
        text: r#"{"Retry": {"MaxRetryAttempts": 3}}"#,
        holds: |f| waits(f, [2000; 5]),
    },
    Row {
        system: "dotnet-resilience",
        what: "BackoffType absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| waits(f, [1000, 2000, 4000, 8000, 16_000]),
    },
    Row {
        system: "dotnet-resilience",
        what: "UseJitter absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| default_jitter(f, Jitter::Decorrelated),
    },
    Row {
        system: "dotnet-resilience",
        what: "MaxDelay absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| matches!(&only(f).wait, Wait::Exponential { cap, .. } if cap.value() == Some(&None)),
    },
    Row {
        system: "dotnet-resilience",
        what: "what is retried",
        file: "a.json",
        text: HANDLER,
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "5xx"],
    },
    Row {
        system: "dotnet-resilience",
        what: "ShouldRetryAfterHeader absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| only(f).retry_after.value() == Some(&true),
    },
    Row {
        system: "dotnet-resilience",
        what: "TotalRequestTimeout absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| is_default(&only(f).overall, Duration::from_secs(30)),
    },
    Row {
        system: "dotnet-resilience",
        what: "AttemptTimeout absent",
        file: "a.json",
        text: HANDLER,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(10)),
    },
    Row {
        system: "dotnet-resilience",
        what: "MaxHedgedAttempts absent",
        file: "a.json",
        text: r#"{"A": {"Hedging": {"Delay": "00:00:02"}, "Endpoint": {"Timeout": {"Timeout": "00:00:03"}}, "AttemptTimeout": {"Timeout": "00:00:01"}}}"#,
        holds: |f| default_count(f, 2) && only(f).copies && waits(f, [2000; 5]),
    },
    Row { system: "azure-sdk", what: "MaxRetries absent", file: "a.json", text: AZURE, holds: |f| default_count(f, 4) },
    Row {
        system: "azure-sdk",
        what: "Mode absent",
        file: "a.json",
        text: AZURE,
        holds: |f| matches!(only(f).wait, Wait::Exponential { .. }),
    },
    Row {
        system: "azure-sdk",
        what: "Delay, MaxDelay absent",
        file: "a.json",
        text: r#"{"A": {"serviceUri": "https://a", "Retry": {"MaxRetries": 9}}}"#,
        holds: |f| {
            waits(f, [800, 1600, 3200, 6400, 12_800]) && only(f).wait.nominal(20) == Some(Duration::from_secs(60))
        },
    },
    Row {
        system: "azure-sdk",
        what: "jitter",
        file: "a.json",
        text: AZURE,
        holds: |f| default_jitter(f, Jitter::Partial { low: 0.8, high: 1.2 }),
    },
    Row {
        system: "azure-sdk",
        what: "Mode: Fixed",
        file: "a.json",
        text: r#"{"A": {"VaultUri": "https://a", "Retry": {"Mode": "Fixed", "Delay": "00:00:03"}}}"#,
        holds: |f| waits(f, [3000; 5]) && default_jitter(f, Jitter::None),
    },
    Row {
        system: "azure-sdk",
        what: "NetworkTimeout absent",
        file: "a.json",
        text: AZURE,
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(100)),
    },
    Row {
        system: "azure-sdk",
        what: "what is retried",
        file: "a.json",
        text: AZURE,
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "500", "502-504"]
                && only(f).retry_after.value() == Some(&true)
        },
    },
    Row {
        system: "azure-functions",
        what: "maxRetryCount: -1",
        file: "host.json",
        text: r#"{"retry": {"strategy": "fixedDelay", "maxRetryCount": -1, "delayInterval": "00:00:05"}}"#,
        holds: |f| only(f).is_unbounded(),
    },
    Row {
        system: "azure-functions",
        what: "strategy absent",
        file: "host.json",
        text: FUNCTIONS,
        holds: |f| matches!(only(f).wait, Wait::Scheduled { .. }) && written_count(f, 6),
    },
    Row {
        system: "azure-functions",
        what: "exponentialBackoff",
        file: "host.json",
        text: FUNCTIONS,
        holds: |f| waits(f, [2000, 4000, 6000, 10_000, 18_000]),
    },
    Row {
        system: "azure-functions",
        what: "jitter",
        file: "host.json",
        text: FUNCTIONS,
        holds: |f| matches!(only(f).jitter, Setting::Default { value: Jitter::Partial { .. }, .. }),
    },
    Row {
        system: "azure-functions",
        what: "fixedDelay",
        file: "host.json",
        text: r#"{"retry": {"strategy": "fixedDelay", "maxRetryCount": 3, "delayInterval": "00:00:05"}}"#,
        holds: |f| waits(f, [5000; 5]) && default_jitter(f, Jitter::None),
    },
    Row {
        system: "aws-sdk-config",
        what: "max_attempts",
        file: ".aws/config",
        text: "[default]\nmax_attempts = 6\n",
        holds: |f| written_count(f, 6),
    },
    Row {
        system: "aws-sdk-config",
        what: "max_attempts absent, mode standard or adaptive",
        file: ".aws/config",
        text: "[default]\nretry_mode = adaptive\n",
        holds: |f| default_count(f, 3),
    },
    Row {
        system: "aws-sdk-config",
        what: "max_attempts absent, mode legacy",
        file: ".aws/config",
        text: "[default]\nretry_mode = legacy\n",
        holds: |f| matches!(only(f).attempts, Setting::Unknown { .. }),
    },
    Row {
        system: "aws-sdk-config",
        what: "waits",
        file: ".aws/config",
        text: "[default]\nmax_attempts = 6\n",
        holds: |f| {
            default_jitter(f, Jitter::Full)
                && matches!(&only(f).wait, Wait::Exponential { cap, .. } if cap.value() == Some(&Some(Duration::from_secs(20))))
        },
    },
    Row {
        system: "aws-sdk-config",
        what: "what is retried",
        file: ".aws/config",
        text: "[default]\nmax_attempts = 6\n",
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "500", "502-504"],
    },
    Row {
        system: "terraform-aws",
        what: "max_retries absent",
        file: "a.tf.json",
        text: r#"{"provider": {"aws": {"region": "a"}}}"#,
        holds: |f| default_count(f, 25) && only(f).is_implicit(),
    },
    Row {
        system: "terraform-aws",
        what: "max_retries",
        file: "a.tf.json",
        text: r#"{"provider": {"aws": [{"max_retries": 8}]}}"#,
        holds: |f| written_count(f, 8),
    },
    Row {
        system: "terraform-aws",
        what: "waits",
        file: "a.tf.json",
        text: r#"{"provider": {"aws": {"region": "a"}}}"#,
        holds: |f| default_jitter(f, Jitter::Full),
    },
    Row {
        system: "airflow",
        what: "default_task_retries: 0",
        file: "airflow.cfg",
        text: "[core]\ndefault_task_retries = 0\n",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "airflow",
        what: "default_task_retry_delay absent",
        file: "airflow.cfg",
        text: "[core]\ndefault_task_retries = 2\n",
        holds: |f| waits(f, [300_000; 5]) && written_count(f, 3),
    },
    Row {
        system: "airflow",
        what: "jitter",
        file: "airflow.cfg",
        text: "[core]\ndefault_task_retries = 2\n",
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "dbt",
        what: "retries (postgres, redshift)",
        file: "profiles.yml",
        text: "a: {outputs: {b: {type: postgres, host: h, retries: 2}}}",
        holds: |f| written_count(f, 3) && only(f).retries.yes == ModeSet::transport(),
    },
    Row {
        system: "dbt",
        what: "connect_retries with retry_all (snowflake)",
        file: "profiles.yml",
        text: "a: {outputs: {b: {type: snowflake, connect_retries: 4, retry_all: true}}}",
        holds: |f| written_count(f, 5) && only(f).retries.any_error.is_some(),
    },
    Row {
        system: "dbt",
        what: "waits",
        file: "profiles.yml",
        text: "a: {outputs: {b: {type: redshift, retries: 2}}}",
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "cargo",
        what: "net.retry: 0",
        file: ".cargo/config.toml",
        text: "[net]\nretry = 0\n",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "cargo",
        what: "waits",
        file: ".cargo/config.toml",
        text: "[net]\nretry = 5\n",
        holds: |f| waits(f, [1000, 3500, 6500, 9500, 10_000]),
    },
    Row {
        system: "cargo",
        what: "what is retried",
        file: ".cargo/config.toml",
        text: "[net]\nretry = 5\n",
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "429", "5xx"]
                && only(f).retry_after.value() == Some(&true)
        },
    },
    Row {
        system: "npm",
        what: "fetch-retries: 0",
        file: ".npmrc",
        text: "fetch-retries=0\n",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "npm",
        what: "fetch-retry-mintimeout, -factor, -maxtimeout absent",
        file: ".npmrc",
        text: "fetch-retries=5\n",
        holds: |f| waits(f, [10_000, 60_000, 60_000, 60_000, 60_000]) && written_count(f, 6),
    },
    Row {
        system: "npm",
        what: "Retry-After",
        file: ".npmrc",
        text: "fetch-retries=5\n",
        holds: |f| only(f).retry_after.value() == Some(&false),
    },
    Row {
        system: "npm",
        what: "what is retried",
        file: ".npmrc",
        text: "fetch-retries=5\n",
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "408", "420", "429", "5xx"],
    },
    Row {
        system: "yarn",
        what: "httpRetry: 0",
        file: ".yarnrc.yml",
        text: "httpRetry: 0",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "yarn",
        what: "waits",
        file: ".yarnrc.yml",
        text: "httpRetry: 4",
        holds: |f| waits(f, [1000, 2000, 4000, 8000, 16_000]) && written_count(f, 5),
    },
    Row {
        system: "yarn",
        what: "httpTimeout absent",
        file: ".yarnrc.yml",
        text: "httpRetry: 4",
        holds: |f| is_default(&only(f).per_try, Duration::from_secs(60)),
    },
    Row {
        system: "yarn",
        what: "what is retried",
        file: ".yarnrc.yml",
        text: "httpRetry: 4",
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "500", "502-504", "521", "522", "524"]
        },
    },
    Row {
        system: "uv",
        what: "UV_HTTP_RETRIES: 0",
        file: "compose.yaml",
        text: "services: {a: {image: a, environment: {UV_HTTP_RETRIES: '0'}}}",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "uv",
        what: "waits",
        file: "compose.yaml",
        text: "services: {a: {image: a, environment: {UV_HTTP_RETRIES: '4'}}}",
        holds: |f| {
            let cap = Some(Duration::from_secs(30));
            written_count(f, 5)
                && matches!(&only(f).wait, Wait::Exponential { cap: Setting::Default { value, .. }, .. } if *value == cap)
                && only(f).jitter.value().is_some_and(|j| *j != Jitter::None)
        },
    },
    Row {
        system: "uv",
        what: "what is retried",
        file: "compose.yaml",
        text: "services: {a: {image: a, environment: {UV_HTTP_RETRIES: '4'}}}",
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "408", "429", "5xx"],
    },
    Row {
        system: "maven",
        what: "retryHandler.count: 0",
        file: ".mvn/maven.config",
        text: "-Daether.transport.http.retryHandler.count=0\n",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "maven",
        what: "retryHandler.interval, .intervalMax absent",
        file: ".mvn/maven.config",
        text: MAVEN,
        holds: |f| {
            waits(f, [5000, 10_000, 15_000, 20_000, 25_000])
                && only(f).wait.nominal(99) == Some(Duration::from_secs(300))
        },
    },
    Row {
        system: "maven",
        what: "what is retried",
        file: ".mvn/maven.config",
        text: MAVEN,
        holds: |f| {
            only(f).retries.yes.names() == ["refused", "timeout", "429", "503"]
                && only(f).retry_after.value() == Some(&true)
        },
    },
    Row {
        system: "pip",
        what: "retries: 0",
        file: "pip.conf",
        text: "[global]\nretries = 0\n",
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "pip",
        what: "waits",
        file: "pip.conf",
        text: "[global]\nretries = 2\n",
        holds: |f| waits(f, [0, 500, 1000, 2000, 4000]) && written_count(f, 3),
    },
    Row {
        system: "pip",
        what: "what is retried",
        file: "pip.conf",
        text: "[global]\nretries = 2\n",
        holds: |f| only(f).retries.yes.names() == ["refused", "timeout", "500", "502", "503", "520", "527"],
    },
    Row {
        system: "gradle",
        what: "max.tentatives, max.attempts",
        file: "gradle.properties",
        text: GRADLE,
        holds: |f| written_count(f, 6),
    },
    Row {
        system: "gradle",
        what: "initial.backoff, initial.backOff absent",
        file: "gradle.properties",
        text: GRADLE,
        holds: |f| waits(f, [1000, 2000, 4000, 8000, 16_000]),
    },
    Row {
        system: "gradle",
        what: "what is retried",
        file: "gradle.properties",
        text: GRADLE,
        holds: |f| only(f).retries.yes == ModeSet::transport(),
    },
    Row {
        system: "cloudformation",
        what: "AWS::SQS::Queue without RedrivePolicy",
        file: "t.yaml",
        text: "{Resources: {Q: {Type: 'AWS::SQS::Queue'}}}",
        holds: |f| {
            let deadline = Duration::from_secs(345_600);
            matches!(&only(f).attempts, Setting::Default { value: Attempts::Within { deadline: d, about: 11_520 }, .. } if *d == deadline)
                && f.queues[0].dead_letter == DeadLetter::None
        },
    },
    Row {
        system: "cloudformation",
        what: "RedrivePolicy.maxReceiveCount absent",
        file: "t.yaml",
        text: "{Resources: {Q: {Type: 'AWS::SQS::Queue', Properties: {RedrivePolicy: {deadLetterTargetArn: 'arn:aws:sqs:r:1:d'}}}}}",
        holds: |f| default_count(f, 10),
    },
    Row {
        system: "cloudformation",
        what: "MessageRetentionPeriod absent",
        file: "t.yaml",
        text: "{Resources: {Q: {Type: 'AWS::SQS::Queue'}}}",
        holds: |f| is_default(&f.queues[0].retention, Duration::from_secs(345_600)),
    },
    Row {
        system: "cloudformation",
        what: "VisibilityTimeout absent",
        file: "t.yaml",
        text: "{Resources: {Q: {Type: 'AWS::SQS::Queue'}}}",
        holds: |f| matches!(&only(f).wait, Wait::Fixed(Setting::Default { value, .. }) if value.as_secs() == 30),
    },
    Row {
        system: "cloudformation",
        what: "AWS::SNS::Subscription (http, https) without DeliveryPolicy",
        file: "t.yaml",
        text: "{Resources: {T: {Type: 'AWS::SNS::Topic'}, S: {Type: 'AWS::SNS::Subscription', \
               Properties: {TopicArn: !Ref T, Protocol: https, Endpoint: 'https://a'}}}}",
        holds: |f| {
            default_count(f, 4)
                && matches!(&only(f).wait, Wait::Fixed(Setting::Default { value, .. }) if value.as_secs() == 20)
        },
    },
    Row {
        system: "cloudformation",
        what: "RetryPolicy.MaximumRetryAttempts of an EventBridge target absent",
        file: "t.yaml",
        text: "{Resources: {R: {Type: 'AWS::Events::Rule', Properties: {EventPattern: {}, Targets: [{Id: a, Arn: b}]}}}}",
        holds: |f| default_count(f, 186),
    },
    Row {
        system: "cloudformation",
        what: "RetryPolicy.MaximumRetryAttempts of an EventBridge schedule absent",
        file: "t.yaml",
        text: "{Resources: {S: {Type: 'AWS::Scheduler::Schedule', Properties: {Target: {Arn: a}}}}}",
        holds: |f| default_count(f, 186),
    },
    Row {
        system: "cloudformation",
        what: "MaximumRetryAttempts of asynchronous invocation absent",
        file: "t.yaml",
        text: "{Resources: {F: {Type: 'AWS::Serverless::Function', Properties: {Events: {E: {Type: S3}}}}}}",
        holds: |f| default_count(f, 3),
    },
    Row {
        system: "cloudformation",
        what: "MaximumRetryAttempts of a stream's event source absent",
        file: "t.yaml",
        text: "{Resources: {M: {Type: 'AWS::Lambda::EventSourceMapping', \
               Properties: {EventSourceArn: 'arn:aws:kinesis:r:1:stream/x', FunctionName: f}}}}",
        holds: |f| matches!(&only(f).attempts, Setting::Unknown { .. }) && f.queues[0].dead_letter == DeadLetter::None,
    },
    Row {
        system: "terraform-aws-messaging",
        what: "aws_sqs_queue without redrive_policy",
        file: "a.tf",
        text: TF_QUEUE,
        holds: |f| {
            let deadline = Duration::from_secs(345_600);
            matches!(&only(f).attempts, Setting::Default { value: Attempts::Within { deadline: d, about: 11_520 }, .. } if *d == deadline)
                && f.queues[0].dead_letter == DeadLetter::None
        },
    },
    Row {
        system: "terraform-aws-messaging",
        what: "message_retention_seconds absent",
        file: "a.tf",
        text: TF_QUEUE,
        holds: |f| is_default(&f.queues[0].retention, Duration::from_secs(345_600)),
    },
    Row {
        system: "terraform-aws-messaging",
        what: "visibility_timeout_seconds absent",
        file: "a.tf",
        text: TF_QUEUE,
        holds: |f| matches!(&only(f).wait, Wait::Fixed(Setting::Default { value, .. }) if value.as_secs() == 30),
    },
    Row {
        system: "terraform-aws-messaging",
        what: "retry_policy of an aws_cloudwatch_event_target absent",
        file: "a.tf",
        text: "resource \"aws_cloudwatch_event_target\" \"a\" {\n  arn = \"b\"\n}\n",
        holds: |f| default_count(f, 186),
    },
    Row {
        system: "terraform-aws-messaging",
        what: "maximum_retry_attempts of asynchronous invocation absent",
        file: "a.tf",
        text: "resource \"aws_lambda_function\" \"f\" {\n}\nresource \"aws_lambda_permission\" \"p\" {\n  function_name = \
               aws_lambda_function.f.arn\n  principal = \"s3.amazonaws.com\"\n}\n",
        holds: |f| default_count(f, 3),
    },
    Row {
        system: "terraform-aws-messaging",
        what: "maximum_retry_attempts of an aws_lambda_event_source_mapping of a stream absent",
        file: "a.tf",
        text: "resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \
               \"arn:aws:kinesis:r:1:stream/x\"\n  function_name = \"f\"\n}\n",
        holds: |f| matches!(&only(f).attempts, Setting::Unknown { .. }) && f.queues[0].dead_letter == DeadLetter::None,
    },
    Row {
        system: "step-functions",
        what: "Retry[].MaxAttempts absent",
        file: "m.asl.json",
        text: MACHINE,
        holds: |f| matches!(&only(f).attempts, Setting::Default { value: Attempts::Count(4), .. }),
    },
    Row {
        system: "step-functions",
        what: "Retry[].MaxAttempts: 0",
        file: "m.asl.json",
        text: r#"{"StartAt": "A", "States": {"A": {"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]}}}"#,
        holds: |f| written_count(f, 1),
    },
    Row {
        system: "step-functions",
        what: "Retry[].IntervalSeconds absent",
        file: "m.asl.json",
        text: MACHINE,
        holds: |f| waits(f, [1000, 2000, 4000, 8000, 16_000]),
    },
    Row {
        system: "step-functions",
        what: "Retry[].BackoffRate absent",
        file: "m.asl.json",
        text: MACHINE,
        holds: |f| waits(f, [1000, 2000, 4000, 8000, 16_000]),
    },
    Row {
        system: "step-functions",
        what: "Retry[].MaxDelaySeconds absent",
        file: "m.asl.json",
        text: MACHINE,
        holds: |f| only(f).wait.nominal(30).is_some_and(|d| d.as_secs() == 1 << 30),
    },
    Row {
        system: "step-functions",
        what: "Retry[].JitterStrategy absent",
        file: "m.asl.json",
        text: MACHINE,
        holds: |f| default_jitter(f, Jitter::None),
    },
    Row {
        system: "kubernetes-jobs",
        what: "backoffLimit absent",
        file: "j.yaml",
        text: JOB,
        holds: |f| default_count(f, 7),
    },
    Row {
        system: "kubernetes-jobs",
        what: "wait between runs",
        file: "j.yaml",
        text: JOB,
        holds: |f| {
            waits(f, [10_000, 20_000, 40_000, 80_000, 160_000])
                && only(f).wait.nominal(9).is_some_and(|d| d.as_secs() == 360)
        },
    },
    Row {
        system: "kafka-connect",
        what: "errors.tolerance absent",
        file: "c.json",
        text: r#"{"name": "a", "config": {"connector.class": "FileSinkConnector", "topics": "t"}}"#,
        holds: |f| f.queues[0].dead_letter == DeadLetter::Unknown,
    },
    Row {
        system: "kafka-connect",
        what: "errors.retry.timeout absent",
        file: "c.json",
        text: CONNECTOR,
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "kafka-connect",
        what: "errors.retry.delay.max.ms absent",
        file: "c.json",
        text: r#"{"name": "a", "config": {"connector.class": "FileSinkConnector", "errors.retry.timeout": 1000}}"#,
        holds: |f| {
            waits(f, [300, 600, 1200, 2400, 4800]) && only(f).wait.nominal(20).is_some_and(|d| d.as_secs() == 60)
        },
    },
    Row {
        system: "kafka-connect",
        what: "errors.deadletterqueue.topic.name absent",
        file: "c.json",
        text: CONNECTOR,
        holds: |f| f.queues[0].dead_letter == DeadLetter::None && f.incomplete_records.is_empty(),
    },
    Row {
        system: "kafka-connect",
        what: "errors.deadletterqueue.context.headers.enable absent",
        file: "c.json",
        text: r#"{"name": "a", "config": {"connector.class": "FileSinkConnector", "topics": "t", "errors.deadletterqueue.topic.name": "d"}}"#,
        holds: |f| f.incomplete_records.len() == 1,
    },
    Row {
        system: "rabbitmq",
        what: "delivery limit of a quorum queue absent, 4.0 and newer",
        file: "d.json",
        text: r#"{"rabbitmq_version": "4.0.1", "queues": [{"name": "a", "arguments": {"x-queue-type": "quorum"}}]}"#,
        holds: |f| default_count(f, 21) && only(f).wait.nominal(0) == Some(Duration::ZERO),
    },
    Row {
        system: "rabbitmq",
        what: "delivery limit of a quorum queue absent, before 4.0",
        file: "d.json",
        text: r#"{"rabbitmq_version": "3.13.7", "queues": [{"name": "a", "arguments": {"x-queue-type": "quorum"}}]}"#,
        holds: |f| matches!(&only(f).attempts, Setting::Default { value: Attempts::Unbounded, .. }),
    },
    Row {
        system: "rabbitmq",
        what: "dead-letter exchange absent",
        file: "d.json",
        text: r#"{"rabbitmq_version": "4.0.1", "queues": [{"name": "a", "arguments": {"x-queue-type": "quorum"}}]}"#,
        holds: |f| f.queues[0].dead_letter == DeadLetter::None,
    },
    Row {
        system: "argo-workflows",
        what: "retryStrategy.limit absent",
        file: "w.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, spec: {templates: [{name: t, retryStrategy: {backoff: {duration: 10s}}}]}}",
        holds: |f| {
            matches!(&only(f).attempts, Setting::Default { value: Attempts::Unbounded, .. })
                && only(f).wait == Wait::None
        },
    },
    Row {
        system: "argo-workflows",
        what: "retryStrategy.backoff absent",
        file: "w.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, spec: {templates: [{name: t, retryStrategy: {limit: 3}}]}}",
        holds: |f| written_count(f, 4) && only(f).wait == Wait::None,
    },
    Row {
        system: "argo-workflows",
        what: "retryStrategy.backoff.factor absent",
        file: "w.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, spec: {templates: [{name: t, retryStrategy: {limit: 3, backoff: {duration: 10}}}]}}",
        holds: |f| waits(f, [10_000; 5]),
    },
    Row {
        system: "argo-workflows",
        what: "retryStrategy.backoff.cap absent",
        file: "w.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, spec: {templates: [{name: t, retryStrategy: {limit: 3, backoff: {duration: 10, factor: 2}}}]}}",
        holds: |f| only(f).wait.nominal(20).is_some_and(|d| d.as_secs() == 10 << 20),
    },
    Row {
        system: "argo-workflows",
        what: "jitter",
        file: "w.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, spec: {templates: [{name: t, retryStrategy: {limit: 3}}]}}",
        holds: |f| default_jitter(f, Jitter::None),
    },
    Row {
        system: "cloudflare-queues",
        what: "max_retries absent",
        file: "wrangler.json",
        text: r#"{"queues": {"consumers": [{"queue": "a"}]}}"#,
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "cloudflare-queues",
        what: "retry_delay absent",
        file: "wrangler.json",
        text: r#"{"queues": {"consumers": [{"queue": "a"}]}}"#,
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "cloudflare-queues",
        what: "dead_letter_queue absent",
        file: "wrangler.json",
        text: r#"{"queues": {"consumers": [{"queue": "a"}]}}"#,
        holds: |f| f.queues[0].dead_letter == DeadLetter::None,
    },
    Row {
        system: "cloudflare-queues",
        what: "a dead-letter queue without a consumer",
        file: "wrangler.toml",
        text: "[[queues.consumers]]\nqueue = \"a\"\ndead_letter_queue = \"b\"\n",
        holds: |f| {
            f.queues.iter().any(|q| is_default(&q.retention, Duration::from_secs(345_600)) && q.is_for_dead_letters())
        },
    },
    Row {
        system: "pubsub",
        what: "deadLetterPolicy absent",
        file: "s.yaml",
        text: "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {topicRef: {name: t}}}",
        holds: |f| f.queues[0].dead_letter == DeadLetter::None && matches!(&only(f).attempts, Setting::Unknown { .. }),
    },
    Row {
        system: "pubsub",
        what: "maxDeliveryAttempts absent in a deadLetterPolicy",
        file: "s.yaml",
        text: "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {deadLetterPolicy: {deadLetterTopicRef: {name: d}}}}",
        holds: |f| default_count(f, 5),
    },
    Row {
        system: "pubsub",
        what: "retryPolicy absent",
        file: "s.yaml",
        text: "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {topicRef: {name: t}}}",
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "pubsub",
        what: "retryPolicy absent, where the service pushes",
        file: "main.tf",
        text: "resource \"google_pubsub_subscription\" \"a\" {\n  topic = \"t\"\n  push_config {\n    push_endpoint = \
               \"https://a\"\n  }\n}\n",
        holds: |f| matches!(only(f).wait, Wait::Unknown { .. }),
    },
    Row {
        system: "pubsub",
        what: "bounds of a retryPolicy absent",
        file: "s.yaml",
        text: "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {retryPolicy: {}}}",
        holds: |f| {
            waits(f, [10_000, 20_000, 40_000, 80_000, 160_000])
                && only(f).wait.nominal(20).is_some_and(|d| d.as_secs() == 600)
        },
    },
    Row {
        system: "pubsub",
        what: "messageRetentionDuration absent",
        file: "s.yaml",
        text: "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {topicRef: {name: t}}}",
        holds: |f| is_default(&f.queues[0].retention, Duration::from_secs(604_800)),
    },
    Row {
        system: "knative",
        what: "delivery.retry absent in a delivery",
        file: "t.yaml",
        text: "{apiVersion: eventing.knative.dev/v1, kind: Trigger, metadata: {name: a}, spec: {broker: b, delivery: {backoffPolicy: linear}}}",
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "knative",
        what: "delivery.backoffPolicy or backoffDelay absent",
        file: "t.yaml",
        text: "{apiVersion: eventing.knative.dev/v1, kind: Trigger, metadata: {name: a}, spec: {broker: b, delivery: {retry: 3, backoffPolicy: linear}}}",
        holds: |f| written_count(f, 4) && only(f).wait == Wait::None,
    },
    Row {
        system: "knative",
        what: "cap of the wait",
        file: "t.yaml",
        text: "{apiVersion: eventing.knative.dev/v1, kind: Trigger, metadata: {name: a}, spec: {broker: b, delivery: {retry: 3, backoffPolicy: exponential, backoffDelay: PT1S}}}",
        holds: |f| only(f).wait.nominal(20).is_some_and(|d| d.as_secs() == 1 << 20),
    },
    Row {
        system: "redrive-commands",
        what: "start-message-move-task without a rate",
        file: "a.yaml",
        text: "run: aws sqs start-message-move-task --source-arn $DEAD",
        holds: |f| f.redrives.iter().any(|r| r.lacks.contains(&RedriveLack::Bound)),
    },
    Row {
        system: "redrive-commands",
        what: "src-delete-after of a shovel absent",
        file: "a.yaml",
        text: "{apiVersion: rabbitmq.com/v1beta1, kind: Shovel, metadata: {name: a}, spec: {srcQueue: a.dlq, destQueue: a}}",
        holds: |f| f.redrives.iter().any(|r| r.lacks.contains(&RedriveLack::Person)),
    },
    Row {
        system: "spring-cloud-stream",
        what: "maxAttempts absent",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| default_count(f, 3),
    },
    Row {
        system: "spring-cloud-stream",
        what: "backOffInitialInterval absent",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "spring-cloud-stream",
        what: "backOffMultiplier absent",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| only(f).wait.nominal(1) == Some(Duration::from_secs(2)),
    },
    Row {
        system: "spring-cloud-stream",
        what: "backOffMaxInterval absent",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| only(f).wait.nominal(9) == Some(Duration::from_secs(10)),
    },
    Row {
        system: "spring-cloud-stream",
        what: "defaultRetryable absent",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| only(f).retries.any_error.is_some(),
    },
    Row {
        system: "spring-cloud-stream",
        what: "enableDlq absent (Kafka)",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {kafka: {binder: {brokers: b}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None),
    },
    Row {
        system: "spring-cloud-stream",
        what: "autoBindDlq absent (RabbitMQ)",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {rabbit: {bindings: {a-in-0: {consumer: {prefetch: 1}}}}, bindings: {a-in-0: {destination: a, group: g}}}}}}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None),
    },
    Row {
        system: "spring-cloud-stream",
        what: "republishToDlq absent (RabbitMQ)",
        file: "application.yml",
        text: "{spring: {cloud: {stream: {rabbit: {bindings: {a-in-0: {consumer: {auto-bind-dlq: true}}}}}}}}",
        holds: |f| f.queues.len() == 1 && f.incomplete_records.is_empty(),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.kafka.retry.topic.attempts absent",
        file: "application.yml",
        text: "{spring: {kafka: {retry: {topic: {enabled: true}}}}}",
        holds: |f| default_count(f, 3),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.kafka.retry.topic.backoff.delay absent",
        file: "application.yml",
        text: "{spring: {kafka: {retry: {topic: {enabled: true}}}}}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.kafka.retry.topic.backoff.multiplier absent",
        file: "application.yml",
        text: "{spring: {kafka: {retry: {topic: {enabled: true}}}}}",
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.kafka.retry.topic.backoff.max-delay absent",
        file: "application.yml",
        text: "{spring: {kafka: {retry: {topic: {enabled: true, backoff: {multiplier: 10}}}}}}",
        holds: |f| only(f).wait.nominal(5) == Some(Duration::from_secs(30)),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.kafka.retry.topic.backoff.jitter absent",
        file: "application.yml",
        text: "{spring: {kafka: {retry: {topic: {enabled: true}}}}}",
        holds: |f| default_jitter(f, Jitter::None),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.rabbitmq.listener.*.retry.max-retries absent",
        file: "application.yml",
        text: "{spring: {rabbitmq: {listener: {simple: {retry: {enabled: true}}}}}}",
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.rabbitmq.listener.*.retry.initial-interval absent",
        file: "application.yml",
        text: "{spring: {rabbitmq: {listener: {simple: {retry: {enabled: true}}}}}}",
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "spring-boot-listeners",
        what: "spring.rabbitmq.listener.*.default-requeue-rejected absent",
        file: "application.yml",
        text: "{spring: {rabbitmq: {listener: {simple: {prefetch: 5}}}}}",
        holds: |f| only(f).is_unbounded() && only(f).wait == Wait::None,
    },
    Row {
        system: "nats-jetstream",
        what: "maxDeliver absent",
        file: "a.yaml",
        text: "{apiVersion: jetstream.nats.io/v1beta2, kind: Consumer, metadata: {name: a}, spec: {streamName: S, ackPolicy: explicit}}",
        holds: |f| only(f).is_unbounded() && only(f).attempts.is_default(),
    },
    Row {
        system: "nats-jetstream",
        what: "ackWait absent in a server's JSON",
        file: "a.json",
        text: "{\"stream_name\": \"S\", \"config\": {\"durable_name\": \"a\", \"ack_policy\": \"explicit\"}}",
        holds: |f| waits(f, [30_000; 5]),
    },
    Row {
        system: "nats-jetstream",
        what: "ackWait absent in a Consumer object",
        file: "a.yaml",
        text: "{apiVersion: jetstream.nats.io/v1beta2, kind: Consumer, metadata: {name: a}, spec: {streamName: S, ackPolicy: explicit}}",
        holds: |f| only(f).wait == Wait::None,
    },
    Row {
        system: "nats-jetstream",
        what: "ackPolicy absent in a Consumer object",
        file: "a.yaml",
        text: "{apiVersion: jetstream.nats.io/v1beta2, kind: Consumer, metadata: {name: a}, spec: {streamName: S}}",
        holds: |f| f.layers.is_empty() && f.queues.is_empty(),
    },
    Row {
        system: "nats-jetstream",
        what: "dead letters",
        file: "a.yaml",
        text: "{apiVersion: jetstream.nats.io/v1beta2, kind: Consumer, metadata: {name: a}, spec: {streamName: S, ackPolicy: explicit}}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None),
    },
    Row {
        system: "azure-service-bus",
        what: "maxDeliveryCount absent",
        file: "a.json",
        text: "{\"resources\": [{\"type\": \"Microsoft.ServiceBus/namespaces/queues\", \"name\": \"n/a\", \"properties\": {}}]}",
        holds: |f| default_count(f, 10),
    },
    Row {
        system: "azure-service-bus",
        what: "deadLetteringOnMessageExpiration absent",
        file: "a.json",
        text: "{\"resources\": [{\"type\": \"Microsoft.ServiceBus/namespaces/queues\", \"name\": \"n/a\", \"properties\": {\"defaultMessageTimeToLive\": \"PT1H\"}}]}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None),
    },
    Row {
        system: "azure-service-bus",
        what: "dead letters",
        file: "a.json",
        text: "{\"resources\": [{\"type\": \"Microsoft.ServiceBus/namespaces/queues\", \"name\": \"n/a\", \"properties\": {}}]}",
        holds: |f| f.queues.iter().all(|q| q.dead_letter == DeadLetter::BuiltIn),
    },
    Row {
        system: "cloud-tasks",
        what: "retry_parameters absent",
        file: "queue.yaml",
        text: "{queue: [{name: a, rate: 1/s}]}",
        holds: |f| only(f).is_unbounded() && only(f).attempts.is_default(),
    },
    Row {
        system: "cloud-tasks",
        what: "maxAttempts: -1",
        file: "a.json",
        text: "{\"name\": \"projects/p/locations/l/queues/a\", \"retryConfig\": {\"maxAttempts\": -1}}",
        holds: |f| only(f).is_unbounded() && !only(f).attempts.is_default(),
    },
    Row {
        system: "cloud-tasks",
        what: "dead letters",
        file: "queue.yaml",
        text: "{queue: [{name: a, rate: 1/s}]}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None && q.minor),
    },
    Row {
        system: "cloud-tasks",
        what: "retryCount of a CloudSchedulerJob absent",
        file: "a.yaml",
        text: "{apiVersion: cloudscheduler.cnrm.cloud.google.com/v1beta1, kind: CloudSchedulerJob, metadata: {name: a}, spec: {retryConfig: {}}}",
        holds: |f| default_count(f, 1),
    },
    Row {
        system: "cloud-tasks",
        what: "minBackoffDuration of a CloudSchedulerJob absent",
        file: "a.yaml",
        text: "{apiVersion: cloudscheduler.cnrm.cloud.google.com/v1beta1, kind: CloudSchedulerJob, metadata: {name: a}, spec: {retryConfig: {retryCount: 5}}}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_secs(5)),
    },
    Row {
        system: "cloud-tasks",
        what: "maxBackoffDuration of a CloudSchedulerJob absent",
        file: "a.yaml",
        text: "{apiVersion: cloudscheduler.cnrm.cloud.google.com/v1beta1, kind: CloudSchedulerJob, metadata: {name: a}, spec: {retryConfig: {retryCount: 5}}}",
        holds: |f| only(f).wait.nominal(40) == Some(Duration::from_secs(3600)),
    },
    Row {
        system: "cloud-tasks",
        what: "maxDoublings of a CloudSchedulerJob absent",
        file: "a.yaml",
        text: "{apiVersion: cloudscheduler.cnrm.cloud.google.com/v1beta1, kind: CloudSchedulerJob, metadata: {name: a}, spec: {retryConfig: {retryCount: 5}}}",
        holds: |f| only(f).wait.nominal(5) == Some(Duration::from_secs(160)),
    },
    Row {
        system: "argo-events",
        what: "retryStrategy absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}}]}}",
        holds: |f| f.layers.is_empty() && f.queues.len() == 1,
    },
    Row {
        system: "argo-events",
        what: "retryStrategy.steps absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}, retryStrategy: {}}]}}",
        holds: |f| default_count(f, 5),
    },
    Row {
        system: "argo-events",
        what: "retryStrategy.duration absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}, retryStrategy: {}}]}}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "argo-events",
        what: "retryStrategy.factor absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}, retryStrategy: {}}]}}",
        holds: |f| waits(f, [1000; 5]),
    },
    Row {
        system: "argo-events",
        what: "retryStrategy.jitter absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}, retryStrategy: {}}]}}",
        holds: |f| default_jitter(f, Jitter::Partial { low: 1.0, high: 2.0 }),
    },
    Row {
        system: "argo-events",
        what: "dlqTrigger absent",
        file: "a.yaml",
        text: "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: a}, spec: {triggers: [{template: {name: t}, retryStrategy: {}}]}}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None),
    },
    Row {
        system: "redpanda-connect",
        what: "retry.max_retries absent or 0",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {retry: {output: {kafka: {topic: a}}}}}",
        holds: |f| only(f).is_unbounded() && only(f).attempts.is_default(),
    },
    Row {
        system: "redpanda-connect",
        what: "retry.backoff.initial_interval absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {retry: {output: {kafka: {topic: a}}}}}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_millis(500)),
    },
    Row {
        system: "redpanda-connect",
        what: "retry.backoff.max_interval absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {retry: {output: {kafka: {topic: a}}}}}",
        holds: |f| only(f).wait.nominal(50) == Some(Duration::from_secs(3)),
    },
    Row {
        system: "redpanda-connect",
        what: "retry.backoff.max_elapsed_time absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {retry: {output: {kafka: {topic: a}}}}}",
        holds: |f| only(f).overall.is_none(),
    },
    Row {
        system: "redpanda-connect",
        what: "http_client.retries absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {http_client: {url: 'http://a'}}}",
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "redpanda-connect",
        what: "http_client.retry_period absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {http_client: {url: 'http://a'}}}",
        holds: |f| matches!(&only(f).wait, Wait::Exponential { base, .. } if base.value() == Some(&Duration::from_secs(1))),
    },
    Row {
        system: "redpanda-connect",
        what: "http_client.max_retry_backoff absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, output: {http_client: {url: 'http://a'}}}",
        holds: |f| matches!(&only(f).wait, Wait::Exponential { cap, .. } if cap.value() == Some(&Some(Duration::from_secs(300)))),
    },
    Row {
        system: "redpanda-connect",
        what: "memory.default_ttl absent",
        file: "a.yaml",
        text: "{input: {stdin: {}}, pipeline: {processors: [{dedupe: {cache: c, key: k}}]}, cache_resources: [{label: c, memory: {}}], output: {stdout: {}}}",
        holds: |f| f.purges.iter().any(|p| p.age.is_some_and(|(age, _)| age == Duration::from_secs(300))),
    },
    Row {
        system: "kafka-topics",
        what: "retention.ms absent",
        file: "a.yaml",
        text: "{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaTopic, metadata: {name: a}, spec: {}}",
        holds: |f| f.queues.iter().any(|q| is_default(&q.retention, Duration::from_secs(604_800))),
    },
    Row {
        system: "kafka-topics",
        what: "retention.bytes absent",
        file: "a.yaml",
        text: "{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaTopic, metadata: {name: seen}, spec: {}}",
        holds: |f| f.purges.is_empty() && f.queues.len() == 1,
    },
    Row {
        system: "tekton",
        what: "tasks[].retries absent",
        file: "a.yaml",
        text: "{apiVersion: tekton.dev/v1, kind: Pipeline, metadata: {name: a}, spec: {tasks: [{name: t, taskRef: {name: t}}]}}",
        holds: |f| f.layers.is_empty(),
    },
    Row {
        system: "tekton",
        what: "wait between the tries",
        file: "a.yaml",
        text: "{apiVersion: tekton.dev/v1, kind: Pipeline, metadata: {name: a}, spec: {tasks: [{name: t, retries: 1, taskRef: {name: t}}]}}",
        holds: |f| only(f).wait == Wait::None && only(f).advice.wait.is_none(),
    },
    Row {
        system: "sidekiq",
        what: "max_retries absent",
        file: "sidekiq.yml",
        text: "{':concurrency': 5}",
        holds: |f| default_count(f, 26),
    },
    Row {
        system: "sidekiq",
        what: "wait before retry n",
        file: "sidekiq.yml",
        text: "{':concurrency': 5}",
        holds: |f| waits(f, [15_000, 16_000, 31_000, 96_000, 271_000]),
    },
    Row {
        system: "sidekiq",
        what: "dead_timeout_in_seconds absent",
        file: "sidekiq.yml",
        text: "{':concurrency': 5}",
        holds: |f| f.queues.iter().any(|q| is_default(&q.retention, Duration::from_secs(15_552_000))),
    },
    Row {
        system: "solid-queue",
        what: "retries of a job",
        file: "config/queue.yml",
        text: "{production: {dispatchers: [{batch_size: 5}], workers: [{queues: '*'}]}}",
        holds: |f| f.layers.is_empty() && f.queues.len() == 1,
    },
    Row {
        system: "solid-queue",
        what: "failed executions",
        file: "config/queue.yml",
        text: "{dispatchers: [{batch_size: 5}], workers: [{queues: '*'}]}",
        holds: |f| f.queues.iter().all(|q| q.dead_letter == DeadLetter::BuiltIn && q.retention.is_none()),
    },
    Row {
        system: "celery",
        what: "max_retries absent",
        file: "celery.yml",
        text: "{task_annotations: {'*': {autoretry_for: [OSError]}}}",
        holds: |f| default_count(f, 4),
    },
    Row {
        system: "celery",
        what: "max_retries: null",
        file: "celery.yml",
        text: "{task_annotations: {'*': {max_retries: null}}}",
        holds: |f| only(f).is_unbounded() && !only(f).attempts.is_default(),
    },
    Row {
        system: "celery",
        what: "default_retry_delay absent",
        file: "celery.yml",
        text: "{task_annotations: {'*': {max_retries: 2}}}",
        holds: |f| waits(f, [180_000; 5]) && default_jitter(f, Jitter::None) && written_count(f, 3),
    },
    Row {
        system: "celery",
        what: "retry_backoff_max absent",
        file: "celery.yml",
        text: "{task_annotations: {'*': {retry_backoff: true}}}",
        holds: |f| {
            waits(f, [1000, 2000, 4000, 8000, 16_000]) && only(f).wait.nominal(30) == Some(Duration::from_secs(600))
        },
    },
    Row {
        system: "celery",
        what: "retry_jitter absent, with retry_backoff",
        file: "celery.yml",
        text: "{task_annotations: {'*': {retry_backoff: 5}}}",
        holds: |f| default_jitter(f, Jitter::Full) && only(f).wait.nominal(0) == Some(Duration::from_secs(5)),
    },
    Row {
        system: "celery",
        what: "dead letters",
        file: "celery.yml",
        text: "{task_annotations: {'*': {max_retries: 2}}}",
        holds: |f| f.queues.iter().any(|q| q.dead_letter == DeadLetter::None && q.minor),
    },
    Row {
        system: "dag-factory",
        what: "retry_delay_sec absent",
        file: "dags.yml",
        text: "{etl: {default_args: {retries: 2}, tasks: {a: {operator: b.BashOperator}}}}",
        holds: |f| waits(f, [300_000; 5]) && written_count(f, 3),
    },
    Row {
        system: "dag-factory",
        what: "jitter of the same wait each time",
        file: "dags.yml",
        text: "{etl: {default_args: {retries: 2}, tasks: {a: {operator: b.BashOperator}}}}",
        holds: |f| default_jitter(f, Jitter::None) && only(f).advice.jitter.is_none(),
    },
    Row {
        system: "temporal",
        what: "MaximumAttempts absent or 0",
        file: "a.yaml",
        text: "{history.defaultActivityRetryPolicy: [{value: {}}]}",
        holds: |f| only(f).is_unbounded() && only(f).attempts.is_default(),
    },
    Row {
        system: "temporal",
        what: "InitialIntervalInSeconds absent",
        file: "a.yaml",
        text: "{history.defaultActivityRetryPolicy: [{value: {}}]}",
        holds: |f| only(f).wait.nominal(0) == Some(Duration::from_secs(1)),
    },
    Row {
        system: "temporal",
        what: "BackoffCoefficient absent",
        file: "a.yaml",
        text: "{history.defaultActivityRetryPolicy: [{value: {}}]}",
        holds: |f| only(f).wait.nominal(1) == Some(Duration::from_secs(2)),
    },
    Row {
        system: "temporal",
        what: "MaximumIntervalCoefficient absent",
        file: "a.yaml",
        text: "{history.defaultActivityRetryPolicy: [{value: {}}]}",
        holds: |f| only(f).wait.nominal(20) == Some(Duration::from_secs(100)),
    },
];

const INGRESS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, \
                       spec: {ingressClassName: nginx, defaultBackend: {service: {name: b}}}}";
const INGRESS_ZERO: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, \
                            annotations: {nginx.ingress.kubernetes.io/proxy-next-upstream-tries: '0'}}, \
                            spec: {defaultBackend: {service: {name: b}}}}";
const SPRING_GATEWAY: &str = "{spring: {cloud: {gateway: {routes: [{id: a, uri: 'http://a', filters: [Retry]}]}}}}";
const SPRING_MVC: &str =
    "{spring: {cloud: {gateway: {server: {webmvc: {routes: [{id: a, uri: 'http://a', filters: [Retry=3]}]}}}}}}";
const PROFILE: &str = "{apiVersion: linkerd.io/v1alpha2, kind: ServiceProfile, metadata: {name: a.b.svc.cluster.local}, \
                       spec: {routes: [{name: r, isRetryable: true}]}}";
const PROFILE_TIMED: &str = "{apiVersion: linkerd.io/v1alpha2, kind: ServiceProfile, metadata: {name: a.b.svc.cluster.local}, \
     spec: {routes: [{name: r, isRetryable: true, timeout: 1s}]}}";
const ANNOTATED: &str =
    "{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {retry.linkerd.io/http: 5xx}}}";
const KONG: &str = "{_format_version: '3.0', services: [{name: a, url: 'http://a'}]}";
const ENVOY: &str = "{virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, \
                     route: {cluster: a, retry_policy: {retry_on: 5xx}}}]}]}";
const ISTIO: &str = "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, \
                     spec: {hosts: [a], http: [{route: [{destination: {host: a}}]}]}}";
const ISTIO_COUNT: &str = "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, \
                           spec: {hosts: [a], http: [{retries: {attempts: 2}, route: [{destination: {host: a}}]}]}}";
const R4J: &str = "resilience4j.retry.instances.a.max-attempts: 4";
const R4J_EXPONENTIAL: &str = "resilience4j.retry.instances.a: {wait-duration: 1s, enable-exponential-backoff: true}";

const FEIGN: &str = "spring.cloud.openfeign.client.config.a.retryer: feign.Retryer.Default";
const BALANCER: &str = "spring.cloud.loadbalancer.retry.enabled: true";
const TEMPLATE: &str = "spring.rabbitmq.template.retry.enabled: true";
const FAULT_TOLERANCE: &str = "a.B/Retry/maxRetries=2";
const FLUENTD: &str = "<match a>\n@type http\nendpoint http://b\n</match>\n";
const LOGSTASH: &str = "input { beats { port => 1 } }\noutput { elasticsearch { hosts => [\"http://e:9200\"] } }";
const LOGSTASH_HTTP: &str = "input { beats { port => 1 } }\noutput { http { url => \"http://h\" } }";
const ALLOY: &str = "loki.write \"a\" { endpoint { url = \"http://l\" } }";
const ALLOY_METRICS: &str = "prometheus.remote_write \"a\" { endpoint { url = \"http://m\" } }";
const SPRING_RETRY: &str = "import org.springframework.retry.annotation.Retryable;\nclass A { @Retryable void f() {} }";
const FRAMEWORK_RETRY: &str =
    "import org.springframework.resilience.annotation.Retryable;\nclass A { @Retryable void f() {} }";
const MICRONAUT: &str = "import io.micronaut.retry.annotation.Retryable;\n@Retryable interface A {}";
const GRPC: &str = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "retryPolicy": {"maxAttempts": 9,
    "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
const GRPC_SHORT: &str = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "retryPolicy": {"maxAttempts": 3}}]}"#;
const OTLP: &str = "{exporters: {otlp: {endpoint: 'a:1'}}, service: {pipelines: {a: {exporters: [otlp]}}}}";
const REMOTE_WRITE: &str = "remote_write: [{url: 'http://m/push'}]";
const VECTOR: &str = "sinks: {a: {type: http, inputs: [b], uri: 'http://c'}}";
const FLUENT_BIT: &str = "pipeline: {outputs: [{name: http, host: h}]}";
const PROMTAIL: &str = "{positions: {}, clients: [{url: 'http://l'}]}";
const TELEGRAF: &str = "[[outputs.http]]\nurl = 'http://m'\n";
const BEAT: &str = "output.elasticsearch: {hosts: ['http://s']}";
const HANDLER: &str = r#"{"A": {"Retry": {"Delay": "00:00:01"},
    "CircuitBreaker": {"SamplingDuration": "00:00:30"}}}"#;
const AZURE: &str = r#"{"A": {"serviceUri": "https://a", "Retry": {"MaxDelay": "00:00:30"}}}"#;
const FUNCTIONS: &str =
    r#"{"retry": {"maxRetryCount": 5, "minimumInterval": "00:00:02", "maximumInterval": "00:05:00"}}"#;
const GRADLE: &str = "systemProp.org.gradle.internal.repository.max.tentatives=6";

fn read(file: &str, text: &str, versions: &Versions) -> Facts {
    super::read(vec![(file.to_string(), text.to_string())], versions).1
}

pub fn only(facts: &Facts) -> &Layer {
    assert_eq!(facts.layers.len(), 1, "{:#?}", facts.layers);
    &facts.layers[0]
}

pub fn default_count(facts: &Facts, n: u64) -> bool {
    matches!(only(facts).attempts, Setting::Default { value: Attempts::Count(count), .. } if count == n)
}

pub fn written_count(facts: &Facts, n: u64) -> bool {
    matches!(only(facts).attempts, Setting::Written { value: Attempts::Count(count), .. } if count == n)
}

pub fn default_jitter(facts: &Facts, jitter: Jitter) -> bool {
    matches!(only(facts).jitter, Setting::Default { value, .. } if value == jitter)
}

pub fn is_default(setting: &Option<Setting<Duration>>, value: Duration) -> bool {
    matches!(setting, Some(Setting::Default { value: v, .. }) if *v == value)
}

pub fn waits(facts: &Facts, millis: [u64; 5]) -> bool {
    let waits = (0..5).map(|n| only(facts).wait.nominal(n).unwrap().as_millis() as u64);
    waits.eq(millis)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(super::envoy_defaults::ROWS).chain(super::proxies::ROWS)
}

#[test]
fn every_figure_is_what_the_reading_does() {
    for row in rows() {
        let facts = read(row.file, row.text, &Versions::default());
        assert!((row.holds)(&facts), "{}: {}\n{:#?}", row.system, row.what, facts.layers);
    }
}

#[test]
fn every_figure_has_its_row_and_a_source() {
    let mut listed: Vec<(&str, &str)> =
        systems::all().iter().flat_map(|s| s.meta().defaults.iter().map(|d| (s.meta().id, d.what))).collect();
    let mut tested: Vec<(&str, &str)> = rows().map(|r| (r.system, r.what)).collect();
    listed.sort_unstable();
    tested.sort_unstable();
    assert_eq!(listed, tested);
    for figure in systems::all().iter().flat_map(|s| s.meta().defaults) {
        assert!(!figure.source.is_empty() && !figure.value.is_empty(), "{figure:?}");
    }
}

fn istio(minor: u32) -> Versions {
    Versions([("istio".to_string(), Version { major: 1, minor })].into_iter().collect())
}

#[test]
fn istio_retried_503_by_default_before_1_24() {
    assert_eq!(only(&read("vs.yaml", ISTIO, &istio(23))).retries.yes.names(), ["refused", "503", "grpc:1", "grpc:14"]);
    assert_eq!(only(&read("vs.yaml", ISTIO, &istio(24))).retries.yes.names(), ["refused", "grpc:1", "grpc:14"]);
}

const MESH_POLICY: &str = "{attempts: 5, retryOn: 'gateway-error,429', perTryTimeout: 2s, backoff: 1s}";

/// The forms in which a mesh's default is written.
fn meshes(policy: &str) -> Vec<String> {
    vec![
        format!(
            "{{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {{name: m}}, \
             spec: {{meshConfig: {{defaultHttpRetryPolicy: {policy}}}}}}}"
        ),
        format!("meshConfig: {{defaultHttpRetryPolicy: {policy}}}"),
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: istio}}\ndata:\n  mesh: |-\n    accessLogFile: ''\n    \
             defaultHttpRetryPolicy: {policy}\n"
        ),
    ]
}

#[test]
fn a_mesh_default_in_another_file_holds_where_a_route_has_none() {
    for mesh in meshes(MESH_POLICY) {
        let at = mesh.find("5,").unwrap() as u32;
        let files = vec![("a.yaml".to_string(), ISTIO.to_string()), ("mesh.yaml".to_string(), mesh)];
        let (_, facts) = super::read(files, &Versions::default());
        let layer = only(&facts);
        assert!(written_count(&facts, 6), "{:?}", layer.attempts);
        assert!(!layer.is_implicit());
        assert_eq!(layer.attempts.span().map(|s| (s.file.0, s.start, s.end)), Some((1, at, at + 1)));
        assert_eq!(layer.place.file.0, 0, "the place stays the route");
        assert_eq!(layer.retries.yes.names(), ["refused", "timeout", "429", "502-504"]);
        assert_eq!(layer.wait.nominal(0), Some(Duration::from_secs(1)));
        assert_eq!(layer.labels.len(), 1);
    }
}

#[test]
fn a_mesh_default_of_nothing_switches_retries_off() {
    let rule = "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: b}, spec: {host: b}}";
    for mesh in meshes("{}").into_iter().chain(meshes("{attempts: 0}")) {
        let files = [("a.yaml", ISTIO), ("b.yaml", rule), ("mesh.yaml", &mesh)];
        let files = files.map(|(path, text)| (path.to_string(), text.to_string())).to_vec();
        let (_, facts) = super::read(files, &Versions::default());
        assert!(written_count(&facts, 1), "{mesh}");
    }
    let own = vec![("a.yaml".to_string(), ISTIO_COUNT.to_string()), ("mesh.yaml".to_string(), meshes("{}").remove(0))];
    assert!(written_count(&super::read(own, &Versions::default()).1, 3), "a route's own policy wins whole");
}

#[test]
fn an_environment_variable_beats_the_count_in_a_file() {
    let settings =
        "{spring: {application: {name: pay}}, resilience4j: {retry: {instances: {taxRates: {maxAttempts: 2}}}}}";
    let compose = "{services: {pay: {image: pay, environment: {RESILIENCE4J_RETRY_INSTANCES_TAXRATES_MAXATTEMPTS: 7}}, \
                   other: {image: o, environment: {RESILIENCE4J_RETRY_INSTANCES_TAXRATES_MAXATTEMPTS: 9}}}}";
    let files = [("application.yml", settings), ("compose.yaml", compose)];
    let (_, facts) =
        super::read(files.map(|(path, text)| (path.to_string(), text.to_string())).to_vec(), &Versions::default());
    assert!(written_count(&facts, 7), "{:?}", only(&facts).attempts);
    assert_eq!((only(&facts).place.file.0, only(&facts).labels.len()), (1, 1));
}

#[test]
fn any_field_can_come_from_the_environment_of_its_own_component() {
    let settings =
        "{spring: {application: {name: pay}}, resilience4j: {retry: {instances: {taxRates: {maxAttempts: 2}}}}}";
    let compose = "{services: {pay: {image: pay, environment: [RESILIENCE4J_RETRY_INSTANCES_TAXRATES_WAITDURATION=3s, \
                   RESILIENCE4J_RETRY_INSTANCES_TAXRATES_ENABLE_EXPONENTIAL_BACKOFF=true, \
                   RESILIENCE4J_RETRY_INSTANCES_NEW_MAXATTEMPTS=5]}, \
                   other: {image: o, environment: {RESILIENCE4J_RETRY_INSTANCES_ALIEN_MAXATTEMPTS: 9}}}}";
    let files = [("application.yml", settings), ("compose.yaml", compose)];
    let (_, facts) =
        super::read(files.map(|(path, text)| (path.to_string(), text.to_string())).to_vec(), &Versions::default());
    let names: Vec<&str> = facts.layers.iter().map(|l| &*l.name).collect();
    assert_eq!(names, ["Resilience4j retry taxRates", "Resilience4j retry new"]);
    assert!(matches!(facts.layers[0].wait, Wait::Exponential { .. }), "{:?}", facts.layers[0].wait);
    assert_eq!(facts.layers[0].wait.nominal(0), Some(Duration::from_secs(3)));
    assert_eq!(facts.layers[1].component.as_deref(), Some("pay"));
}

#[test]
fn an_envoy_that_a_component_reads_is_that_component() {
    let envoy = format!("{{node: {{cluster: edge}}, {}", ENVOY.trim_start_matches('{'));
    let compose = "{services: {proxy: {image: 'proxy:1', volumes: ['./conf:/etc/envoy']}}}";
    let gateway = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        format!("{:?}", super::read(files, &Versions::default()).1.routes[0].from)
    };
    assert!(gateway(&[("conf/envoy.yaml", &envoy)]).contains("edge"));
    assert!(gateway(&[("conf/envoy.yaml", &envoy), ("compose.yaml", compose)]).contains("OfFile"));
    assert!(gateway(&[("config/envoy.yaml", &envoy), ("compose.yaml", compose)]).contains("edge"));
}
