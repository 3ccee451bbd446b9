//! Retry, the policy of Kuma before 3.0.

use super::policy::{self, Draft, GRPC, HTTP, Words};
use super::{ID, Resource, service};
use crate::facts::Facts;
use crate::model::{Callers, GatewayName, HostRef};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based;
use crate::systems::settings;

/// Reads one policy.
pub(super) fn read(resource: &Resource<'_>, facts: &mut Facts) {
    let Some(conf) = resource.spec.get("conf") else { return };
    let tags = |list: &str| -> Vec<(&str, Span)> {
        let items = resource.spec.get(list).map_or(&[][..], Node::items).iter();
        let services = items.filter_map(|i| i.at(&["match", "kuma.io/service"]));
        services.filter_map(|n| Some((n.as_str()?, n.span))).collect()
    };
    let hosts: Vec<HostRef> =
        tags("destinations").into_iter().filter_map(|(name, span)| service(name, span, None)).collect();
    let sources: Vec<&str> = tags("sources").into_iter().map(|(name, _)| name).collect();
    let labelled = |name: &&str| {
        let short = name.split('_').next().unwrap_or(name).to_string();
        GatewayName::Labelled(vec![("kuma.io/service".to_string(), short)])
    };
    let everybody = sources.is_empty() || sources.contains(&"*");
    let gateways = if everybody { Vec::new() } else { sources.iter().map(labelled).collect() };
    let from = Callers { gateways, mesh: everybody };
    for what in ["http", "grpc"] {
        let Some(key) = conf.entry(what).filter(|e| !e.value.is_null()) else { continue };
        let draft = Draft {
            id: format!("{ID}:retry:{}:{what}", resource.qualified()),
            name: format!("Kuma Retry {}", resource.name),
            from: from.clone(),
            to: settings::distinct(hosts.clone()),
            key,
            words: words(key, what),
        };
        let layer = policy::layer(draft, facts);
        facts.layers.push(layer);
    }
}

fn words<'n>(key: &'n Entry, what: &str) -> Words<'n> {
    let mut out = Words { codes: envoy_based::codes(key.value.get("retriableStatusCodes")), ..Words::default() };
    for (text, span) in envoy_based::words(key.value.get("retryOn")) {
        out.words.push((word(text), span));
    }
    if out.words.is_empty() {
        let usual: &[&str] = if what == "http" { &HTTP } else { &GRPC };
        out.words.extend(usual.iter().map(|word| (*word, key.key_span)));
    }
    if let Some((_, span)) = out.codes.first() {
        out.words.push(("retriable-status-codes", *span));
    }
    let methods = envoy_based::words(key.value.get("retriableMethods"));
    out.methods = methods.into_iter().map(|(method, _)| method.to_uppercase()).collect();
    out
}

fn word(text: &str) -> &str {
    match text {
        "all_5xx" => "5xx",
        "gateway_error" => "gateway-error",
        "retriable_4xx" => "retriable-4xx",
        "connect_failure" => "connect-failure",
        "envoy_ratelimited" => "envoy-ratelimited",
        "refused_stream" => "refused-stream",
        "http3_post_connect_failure" => "http3-post-connect-failure",
        "deadline_exceeded" => "deadline-exceeded",
        "resource_exhausted" => "resource-exhausted",
        other => other,
    }
}
