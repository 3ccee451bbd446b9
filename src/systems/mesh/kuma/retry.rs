//! MeshRetry.

use super::policy::{self, Draft, GRPC, HTTP, Words};
use super::{ID, ROUTE, Resource, callers, host};
use crate::facts::Facts;
use crate::model::{Callers, HostRef, Inert, Mode};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based;
use crate::systems::settings;

/// One layer for each destination and protocol.
pub(super) fn read(resource: &Resource<'_>, facts: &mut Facts) {
    let from = callers(resource.spec.get("targetRef"));
    for (i, to) in resource.spec.get("to").map_or(&[][..], Node::items).iter().enumerate() {
        let Some(default) = to.get("default") else { continue };
        let target = to.get("targetRef");
        let host = target.and_then(|t| host(t, resource.namespace).or_else(|| route(t)));
        let title = match &host {
            Some(host) => format!("Kuma MeshRetry {} for {}", resource.name, host.name),
            None => format!("Kuma MeshRetry {}", resource.name),
        };
        let (http, grpc) = (default.entry("http"), default.entry("grpc"));
        let id = |what: &str| format!("{ID}:meshretry:{}:{}:{what}", resource.qualified(), i + 1);
        let hosts: Vec<_> = host.into_iter().collect();
        let is_mesh = target.and_then(|t| t.get("kind")).and_then(Node::as_str).is_none_or(|kind| kind == "Mesh");
        for (key, what) in [(http, "http"), (grpc, "grpc")] {
            let Some(key) = key.filter(|e| !e.value.is_null()) else { continue };
            let (words, name) = match what {
                "http" => (http_words(key), title.clone()),
                _ => (grpc_words(key), format!("{title} (gRPC)")),
            };
            let from = if hosts.is_empty() && !is_mesh { Callers::default() } else { from.clone() };
            let draft = Draft { id: id(what), name, from, to: hosts.clone(), key, words };
            let mut layer = policy::layer(draft, facts);
            // Beside a policy for HTTP that for gRPC is for what only gRPC knows.
            if what == "grpc" && http.is_some() {
                layer.retries.yes = Mode::grpc().filter(|m| layer.retries.yes.contains(*m)).collect();
            }
            facts.layers.push(layer);
        }
    }
}

/// A route as a target: joining finds its services.
fn route(target: &Node) -> Option<HostRef> {
    let name = target.get("name").filter(|_| target.get("kind").and_then(Node::as_str) == Some("MeshHTTPRoute"))?;
    let text = format!("{ROUTE}{}", name.as_str()?.to_lowercase());
    Some(HostRef { name: text, port: None, namespace: None, span: name.span })
}

/// A list of statuses and methods alone keeps the default conditions.
fn http_words(key: &Entry) -> Words<'_> {
    let mut out = Words::default();
    let listed = key.value.get("retryOn").map_or(&[][..], Node::items).iter().take(settings::MAX_LIST);
    for node in listed {
        let Some(text) = node.as_str() else { continue };
        if let Some(method) = text.strip_prefix("HttpMethod") {
            out.methods.push(method.to_uppercase());
        } else if let Ok(code) = text.parse() {
            out.codes.push((code, node.span));
        } else {
            out.words.push((word(text), node.span));
        }
    }
    if out.words.is_empty() {
        let place = key.value.entry("retryOn").map_or(key.key_span, |e| e.key_span);
        out.words.extend(HTTP.map(|word| (word, place)));
    }
    if let Some((_, span)) = out.codes.first() {
        out.words.push(("retriable-status-codes", *span));
    }
    out
}

fn word(text: &str) -> &str {
    match text {
        "GatewayError" => "gateway-error",
        "Reset" => "reset",
        "Retriable4xx" => "retriable-4xx",
        "ConnectFailure" => "connect-failure",
        "EnvoyRatelimited" => "envoy-ratelimited",
        "RefusedStream" => "refused-stream",
        "Http3PostConnectFailure" => "http3-post-connect-failure",
        other => other,
    }
}

/// Conditions for gRPC take the place of the default ones, and there is none for connections among them.
fn grpc_words(key: &Entry) -> Words<'_> {
    let mut out = Words::default();
    let listed: Vec<(&str, Span)> = envoy_based::words(key.value.get("retryOn"));
    for &(text, span) in &listed {
        match text {
            "Canceled" => {
                let why = "Kuma hands it on as `canceled`, which Envoy does not know: it is spelled `cancelled` there";
                out.inert.push(Inert::new(span, "`Canceled`", why));
            }
            "DeadlineExceeded" => out.words.push(("deadline-exceeded", span)),
            "Internal" => out.words.push(("internal", span)),
            "ResourceExhausted" => out.words.push(("resource-exhausted", span)),
            "Unavailable" => out.words.push(("unavailable", span)),
            other => out.words.push((other, span)),
        }
    }
    if listed.is_empty() {
        out.words.extend(GRPC.map(|word| (word, key.key_span)));
    }
    out
}
