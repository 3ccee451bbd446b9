//! Reverse proxies of a JSON configuration: every handler of that name, wherever it stands.

use std::time::Duration;

use super::file::host;
use super::matchers::{Matcher, Matchers};
use super::{Proxy, Written};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::{duration, settings};

pub(super) fn proxies(file: &SourceFile, root: &Node) -> Vec<Proxy> {
    // Without this a document of another kind is walked in vain.
    if root.get("apps").is_none() && root.get("handler").is_none() && root.get("routes").is_none() {
        return Vec::new();
    }
    let is_proxy = |n: &&Node| n.get("handler").and_then(Node::as_str) == Some("reverse_proxy");
    root.walk().filter(is_proxy).map(|n| proxy(file, n)).collect()
}

fn proxy(file: &SourceFile, handler: &Node) -> Proxy {
    let upstreams = handler.get("upstreams").map_or(&[][..], Node::items).iter();
    let to = settings::distinct(upstreams.filter_map(|u| host(u.get("dial")?)));
    let balancing = handler.get("load_balancing");
    let get = |key: &str| balancing.and_then(|b| b.entry(key)).filter(|e| !e.value.is_null());
    let answer = handler.at(&["transport", "response_header_timeout"]);
    let passive = handler.at(&["health_checks", "passive"]);
    let versions = handler.at(&["transport", "versions"]).map_or(&[][..], Node::items);
    Proxy {
        title: to.first().map(|h| format!("to {}", h.name)).unwrap_or_default(),
        opens: settings::opening(file, handler),
        grpc: versions.iter().any(|v| v.as_str() == Some("h2c")),
        fail_duration: passive.and_then(|p| p.entry("fail_duration")).map(|e| written(e, time)),
        max_fails: passive.and_then(|p| u64::try_from(p.get("max_fails")?.as_int()?).ok()),
        upstreams: match handler.get("dynamic_upstreams") {
            Some(_) => 0,
            None => handler.get("upstreams").map_or(0, |u| u64::try_from(u.items().len()).unwrap_or(0)),
        },
        to,
        answer: answer.and_then(|n| settings::limit(n, time)),
        retries: get("retries").map(|e| written(e, |n| n.as_int().and_then(|n| u64::try_from(n).ok()))),
        duration: get("try_duration").map(|e| written(e, time)),
        interval: get("try_interval").map(|e| written(e, time)),
        matchers: get("retry_match").map(|e| Matchers {
            span: e.key_span,
            sets: e.value.items().iter().map(|set| set.entries().iter().map(Matcher::of_entry).collect()).collect(),
        }),
    }
}

fn written<T>(entry: &Entry, parse: impl Fn(&Node) -> Option<T>) -> Written<T> {
    let text = settings::quote(entry);
    Written { value: parse(&entry.value), span: entry.value.span, key_span: entry.key_span, text }
}

/// A text as Go writes it, or a number of nanoseconds.
fn time(node: &Node) -> Option<Duration> {
    let nanos = node.as_int().and_then(|n| u64::try_from(n).ok()).map(Duration::from_nanos);
    nanos.or_else(|| duration::go(node.as_str()?))
}
