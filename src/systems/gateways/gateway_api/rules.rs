//! Rules of HTTPRoutes and GRPCRoutes.

use super::reference;
use crate::facts::{Facts, ObjectRef, RetryBlock, RouteRuleFact};
use crate::model::{HostRef, Inert, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::objects::Object;
use crate::systems::settings::{self, Ids};
use crate::systems::{Versions, duration};

/// Reads one route.
pub(super) fn read(file: &SourceFile, object: &Object<'_>, versions: &Versions, facts: &mut Facts) {
    let rules = object.spec(&["rules"]).map_or(&[][..], Node::items);
    let parents = object.spec(&["parentRefs"]).map_or(&[][..], Node::items).iter();
    let parents: Vec<ObjectRef> = parents.filter_map(|p| reference(p, object.namespace, "Gateway")).collect();
    let mut ids = Ids::default();
    for (i, rule) in rules.iter().enumerate() {
        let mut to = backends(rule, object.namespace);
        if to.is_empty() && rule.get("backendRefs").is_none() {
            // In a mesh a rule without backends is about requests to the Service itself.
            let services = parents.iter().filter(|p| p.kind == "Service");
            to = services.filter_map(|p| settings::host(&p.name, p.span, p.namespace.as_deref())).collect();
        }
        if to.is_empty() {
            continue;
        }
        let name = rule.get("name").and_then(Node::as_str);
        let what = name.or_else(|| path(rule)).map_or_else(|| (i + 1).to_string(), str::to_string);
        let title = match rules.len() {
            1 => format!("{} {}", object.kind, object.name),
            _ => format!("{} {}, rule {what}", object.kind, object.name),
        };
        let suffix = if rules.len() == 1 { String::new() } else { format!(":{what}") };
        let mut retry = rule.entry("retry").filter(|e| !e.value.is_null());
        if object.kind == "GRPCRoute"
            && let Some(key) = retry.take()
        {
            let found = Inert::new(key.key_span, "`retry`", "a GRPCRoute has no such field");
            facts
                .inert
                .push(found.of(&title).instead("Set a retry policy of the implementation that serves the route"));
        }
        let limit = |key: &str| rule.at(&["timeouts", key]).map(|node| settings::limit(node, go));
        facts.route_rules.push(RouteRuleFact {
            route: ObjectRef {
                kind: object.kind.to_string(),
                namespace: object.namespace.map(str::to_string),
                name: object.name.to_string(),
                section: name.map(str::to_string),
                span: object.name_span,
            },
            id: ids.next(format!("{}:{}{suffix}", object.kind.to_lowercase(), object.qualified())).to_string(),
            title,
            parents: parents.clone(),
            to,
            filters: filters(rule, object.namespace),
            retry: retry.map(block),
            overall: limit("request"),
            per_try: limit("backendRequest").flatten(),
            methods: methods(rule),
            before_1_24: versions.is_before("istio", 1, 24),
            before_1_19: versions.is_before("cilium", 1, 19),
            opens: settings::opening(file, rule),
        });
    }
}

fn go(node: &Node) -> Option<std::time::Duration> {
    duration::go(node.as_str()?)
}

/// The hosts behind a rule; a backend is a Service unless it says otherwise.
fn backends(rule: &Node, namespace: Option<&str>) -> Vec<HostRef> {
    let backends = rule.get("backendRefs").map_or(&[][..], Node::items).iter();
    let host = |backend: &Node| {
        let name = backend.get("name")?;
        let namespace = backend.get("namespace").and_then(Node::as_str).or(namespace);
        let port = backend.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        let host = settings::host(name.as_str()?, name.span, namespace)?;
        (backend.get("weight").and_then(Node::as_int) != Some(0)).then_some(HostRef { port, ..host })
    };
    settings::distinct(backends.filter_map(|b| host(b)))
}

/// The objects to which filters of the kind ExtensionRef refer.
fn filters(rule: &Node, namespace: Option<&str>) -> Vec<ObjectRef> {
    let filters = rule.get("filters").map_or(&[][..], Node::items).iter();
    filters.filter_map(|f| reference(f.get("extensionRef")?, namespace, "")).collect()
}

fn path(rule: &Node) -> Option<&str> {
    let first = rule.get("matches")?.items().first()?;
    let method = || first.at(&["method", "service"]).and_then(Node::as_str);
    first.at(&["path", "value"]).and_then(Node::as_str).or_else(method)
}

fn block(key: &Entry) -> RetryBlock {
    let node = &*key.value;
    let written = |field: &str| node.entry(field).filter(|e| !e.value.is_null());
    let backoff = written("backoff").map(|e| {
        let wait = match go(&e.value) {
            Some(d) => Setting::written(d, e.value.span),
            None => Setting::unknown("not a duration", Some(e.value.span)),
        };
        (wait, e.key_span)
    });
    let codes = node.get("codes").map_or(&[][..], Node::items).iter().take(settings::MAX_LIST);
    RetryBlock {
        opens: key.key_span,
        attempts: written("attempts").map(|e| (settings::retries(e), settings::quote(e))),
        backoff,
        codes: codes.filter_map(|n| Some((u16::try_from(n.as_int()?).ok()?, n.span))).collect(),
    }
}

/// The methods that every match of a rule names.
fn methods(rule: &Node) -> Option<Vec<String>> {
    let matches = rule.get("matches")?.items();
    let named: Option<Vec<String>> = matches.iter().map(|m| Some(m.get("method")?.as_str()?.to_uppercase())).collect();
    named.filter(|n| !n.is_empty())
}
