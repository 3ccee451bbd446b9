//! Reverse proxies of a Caddyfile.

use std::time::Duration;

use super::matchers::{Matcher, Matchers};
use super::{Proxy, Written};
use crate::model::{HostRef, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::{duration, settings};

/// Every `reverse_proxy`, in whatever block it stands; the site around it names it.
pub(super) fn proxies(root: &Node) -> Vec<Proxy> {
    // A file of one site may leave its braces out: the first line is the address.
    let bare = root.entries().first().filter(|e| e.value.block().is_none());
    let mut out = Vec::new();
    let mut stack: Vec<(&Node, Option<&Entry>)> = vec![(root, bare)];
    while let Some((block, site)) = stack.pop() {
        for entry in block.entries() {
            if &*entry.key == "reverse_proxy" {
                out.push(proxy(entry, site));
            } else if let Some(inner) = entry.value.block() {
                stack.push((inner, site.or(Some(entry))));
            }
        }
    }
    out.sort_by_key(|p| p.opens);
    out
}

fn proxy(entry: &Entry, site: Option<&Entry>) -> Proxy {
    let mut args: Vec<&Node> = entry.value.args().collect();
    let is_matcher = |n: &&Node| n.as_str().is_some_and(|t| t == "*" || t.starts_with('/') || t.starts_with('@'));
    let matcher = args.first().copied().filter(is_matcher);
    if matcher.is_some() {
        args.remove(0);
    }
    let block = entry.value.block();
    let more = block.into_iter().flat_map(|b| b.directives("to")).flat_map(|e| e.value.args());
    let all: Vec<&Node> = args.into_iter().chain(more).collect();
    let to = settings::distinct(all.iter().filter_map(|n| host(n)));
    let get = |name: &str| block.and_then(|b| b.directive(name));
    let target = || to.first().map(|h| format!("to {}", h.name));
    let title = matcher.and_then(Node::as_str).map(str::to_string).or_else(target).unwrap_or_default();
    let site = site.map(|e| format!(" of {}", e.key.trim_end_matches(','))).unwrap_or_default();
    let list = block.into_iter().flat_map(|b| b.directives("lb_retry_match"));
    let sets: Vec<(&Entry, Vec<Matcher>)> = list.map(|e| (e, matcher_set(e))).collect();
    Proxy {
        title: format!("{}{}", settings::shown(&title), settings::shown(&site)),
        opens: entry.head(),
        answer: answer(block),
        grpc: all.iter().any(|n| n.as_str().is_some_and(|t| t.starts_with("h2c://"))),
        fail_duration: get("fail_duration").and_then(|e| written(e, time)),
        max_fails: get("max_fails").and_then(|e| u64::try_from(e.value.args().next()?.as_int()?).ok()),
        // Upstreams that are asked for at run time cannot be counted.
        upstreams: if get("dynamic").is_some() { 0 } else { u64::try_from(all.len()).unwrap_or(0) },
        to,
        retries: get("lb_retries").and_then(|e| written(e, |n| n.as_int().and_then(|n| u64::try_from(n).ok()))),
        duration: get("lb_try_duration").and_then(|e| written(e, time)),
        interval: get("lb_try_interval").and_then(|e| written(e, time)),
        matchers: sets
            .first()
            .map(|(first, _)| Matchers { span: first.key_span, sets: Vec::new() })
            .map(|m| Matchers { sets: sets.into_iter().map(|(_, set)| set).collect(), ..m }),
    }
}

fn written<T>(entry: &Entry, parse: impl Fn(&Node) -> Option<T>) -> Option<Written<T>> {
    let value = entry.value.args().next()?;
    let text = format!("`{} {}`", entry.key, settings::shown(value.as_str().unwrap_or_default()));
    Some(Written { value: parse(value), span: value.span, key_span: entry.key_span, text })
}

/// `transport http { response_header_timeout 5s }`
fn answer(block: Option<&Node>) -> Option<Setting<Duration>> {
    let mut transports = block?.directives("transport").filter_map(|e| e.value.block());
    let timeout = transports.find_map(|t| t.directive("response_header_timeout"))?;
    settings::limit(timeout.value.args().next()?, time)
}

fn time(node: &Node) -> Option<Duration> {
    duration::go(node.as_str()?)
}

/// An address of Caddy's: `orders:8080`, `http://orders:8080`, `:8080` on this machine, `unix//run/app.sock`.
pub(super) fn host(node: &Node) -> Option<HostRef> {
    let text = node.as_str()?;
    let is_local = text.starts_with("unix/") || text.starts_with(':') || text.contains("{$") || text.contains('{');
    (!is_local).then(|| settings::host(text.trim_start_matches("tcp/"), node.span, None)).flatten()
}

/// `lb_retry_match { method POST }`, or the same on one line.
fn matcher_set(entry: &Entry) -> Vec<Matcher> {
    let mut args = entry.value.args();
    let inline = args.next().and_then(Node::as_str).map(|name| Matcher::of_words(name, &args.collect::<Vec<_>>()));
    let block = entry.value.block().map_or(&[][..], Node::entries).iter();
    let block = block.map(|e| Matcher::of_words(&e.key, &e.value.args().collect::<Vec<_>>()));
    inline.into_iter().chain(block).collect()
}
