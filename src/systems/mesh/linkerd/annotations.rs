//! `retry.linkerd.io/*` on Services and routes.

use std::time::Duration;

use super::{BACKOFF, RETRY, ROUTES, SERVICES, layer};
use crate::model::{
    Advice, Attempts, Conditions, HostRef, Inert, Jitter, Layer, Methods, Mode, ModeSet, Pick, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::ingresses::annotation;
use crate::systems::objects::Object;
use crate::systems::{duration, settings};

/// The layer that the annotations of an object make; `None` where none is about retries, or where Linkerd drops them
/// because one cannot be read.
pub(super) fn layer_of(object: &Object<'_>, inert: &mut Vec<Inert>) -> Option<Layer> {
    let get = |key: &str| annotation(object, &format!("retry.linkerd.io/{key}"));
    let (http, grpc, limit, timeout) = (get("http"), get("grpc"), get("limit"), get("timeout"));
    let first = [http, grpc, limit, timeout].into_iter().flatten().min_by_key(|e| e.key_span);
    let to = targets(object);
    // Those of the Gateway API's own group are told where that is read.
    if object.version.starts_with("policy.linkerd.io/") {
        inert.extend(unread_blocks(object));
    }
    if let Some(first) = first.filter(|_| to.is_empty() && matches!(object.kind, "HTTPRoute" | "GRPCRoute")) {
        let why = "Linkerd reads them on routes whose parent is a Service, and this one has none";
        let found = Inert::new(first.key_span, settings::quote(first), why);
        let found = found.of(&format!("Linkerd annotations on {} {}", object.kind, object.name));
        inert.push(found.instead("Annotate the Service, or a route with the Service among its `parentRefs`"));
    }
    let first = first.filter(|_| !to.is_empty())?;
    let (kind, prefix) = if object.kind == "Service" { ("Service", SERVICES) } else { (object.kind, ROUTES) };
    let name = format!("Linkerd policy of {kind} {}", object.name);
    if object.kind == "Service" && object.spec(&["clusterIP"]).and_then(Node::as_str) == Some("None") {
        let why = "the Service is headless, and Linkerd has no such settings for the pods behind it";
        inert.push(Inert::new(first.key_span, settings::quote(first), why).of(&name));
        return None;
    }
    let conditions = match conditions(http, grpc, timeout) {
        Ok(conditions) => conditions,
        Err(dropped) => {
            inert.push(dropped.of(&name));
            return None;
        }
    };
    if let Some(zero) = limit.filter(|e| e.value.as_int() == Some(0)) {
        let why = "Linkerd reads 0 as if nothing was written, which stands for 1 retry";
        let found = Inert::new(zero.key_span, settings::quote(zero), why).of(&name);
        inert.push(found.instead("For no retries, take the `retry.linkerd.io` annotations out"));
    }
    let (attempts, place, reading) = count(&name, limit, first.key_span);
    let id = format!("{prefix}{}:{}", kind.to_lowercase(), object.qualified());
    Some(Layer {
        place,
        reading,
        wait: wait(),
        jitter: Setting::default(Jitter::Partial { low: 1.0, high: 2.0 }, BACKOFF),
        retries: conditions,
        methods: methods(object),
        per_try: timeout.and_then(|e| settings::limit(&e.value, go)),
        overall: match annotation(object, "timeout.linkerd.io/request") {
            Some(e) => settings::limit(&e.value, go),
            None => shortest_of_rules(object),
        },
        advice: advice(),
        ..layer(id, name, first.key_span, to, attempts)
    })
}

/// The limits on all tries that the rules of a route set: the shortest cuts tries off.
fn shortest_of_rules(object: &Object<'_>) -> Option<Setting<Duration>> {
    let rules = object.spec(&["rules"]).map_or(&[][..], Node::items).iter();
    let limits = rules.filter_map(|rule| settings::limit(rule.at(&["timeouts", "request"])?, go));
    limits.min_by_key(|l| l.value().copied().unwrap_or(Duration::MAX))
}

fn go(node: &Node) -> Option<Duration> {
    duration::go(node.as_str()?)
}

/// A Service is called itself; a route names the Services that are called.
fn targets(object: &Object<'_>) -> Vec<HostRef> {
    let host = |name: &str, span: Span, namespace: Option<&str>| settings::host(name, span, namespace);
    if matches!(object.kind, "Service" | "EgressNetwork") {
        return host(object.name, object.name_span, object.namespace).into_iter().collect();
    }
    let parents = object.spec(&["parentRefs"]).map_or(&[][..], Node::items).iter();
    let services = parents.filter(|p| p.get("kind").and_then(Node::as_str) == Some("Service"));
    settings::distinct(services.filter_map(|parent| {
        let name = parent.get("name")?;
        let namespace = parent.get("namespace").and_then(Node::as_str).or(object.namespace);
        let port = parent.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        Some(HostRef { port, ..host(name.as_str()?, name.span, namespace)? })
    }))
}

/// Retries; zero is read as absent.
fn count(name: &str, limit: Option<&Entry>, opens: Span) -> (Setting<Attempts>, Span, String) {
    let Some(entry) = limit else {
        let reading = format!("{name}, without `retry.linkerd.io/limit`");
        return (Setting::default(Attempts::Count(2), RETRY), opens, reading);
    };
    let attempts = match entry.value.as_int() {
        Some(0) => Setting::default(Attempts::Count(2), RETRY),
        _ => settings::retries(entry),
    };
    let text = entry.value.as_str().unwrap_or_default();
    (attempts, entry.value.span, format!("`retry.linkerd.io/limit: {text}` on {name}"))
}

/// `retry` of a route's rules, which other implementations of the Gateway API read.
fn unread_blocks(object: &Object<'_>) -> Vec<Inert> {
    let rules = object.spec(&["rules"]).map_or(&[][..], Node::items).iter();
    let blocks = rules.filter_map(|rule| rule.entry("retry")).filter(|e| !e.value.is_null());
    blocks
        .map(|e| {
            let found = Inert::new(e.key_span, "`retry`", "Linkerd does not read it");
            found.of(&format!("{} {}", object.kind, object.name)).instead("Set the `retry.linkerd.io` annotations")
        })
        .collect()
}

/// A list that Linkerd cannot read: it then drops all the settings.
fn dropped(entry: &Entry, span: Span, what: &str) -> Box<Inert> {
    let why = format!("{what}, and Linkerd then drops all `retry.linkerd.io` annotations of the object");
    let found = Inert::new(span, settings::quote(entry), why);
    Box::new(found.instead("Write the conditions with a comma and no blank between two"))
}

fn conditions(http: Option<&Entry>, grpc: Option<&Entry>, timeout: Option<&Entry>) -> Result<Conditions, Box<Inert>> {
    let mut out = Conditions::default();
    let mut add = |modes: ModeSet, span: Span, text: String| {
        out.yes = out.yes.union(modes);
        if !modes.is_empty() {
            out.picks.push(Pick { modes, span, text });
        }
    };
    for (entry, read) in [(http, statuses as fn(&str) -> Option<ModeSet>), (grpc, codes)] {
        let Some(entry) = entry else { continue };
        // A blank in the list, or an unknown word, and the whole of it is dropped.
        if entry.value.as_str().is_some_and(|text| text.contains(char::is_whitespace)) {
            return Err(dropped(entry, entry.value.span, "the list has a blank in it"));
        }
        for (word, span) in settings::list(&entry.value) {
            let Some(modes) = read(word) else {
                return Err(dropped(entry, span, &format!("`{}` is no condition of Linkerd's", settings::shown(word))));
            };
            add(modes, span, format!("`{word}`"));
        }
    }
    if let Some(timeout) = timeout {
        add([Mode::Timeout].into_iter().collect(), timeout.key_span, "`retry.linkerd.io/timeout`".to_string());
    }
    Ok(out)
}

fn statuses(word: &str) -> Option<ModeSet> {
    let (from, to) = match word {
        "5xx" => (500, 599),
        "gateway-error" => (502, 504),
        _ => {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            (from.parse().ok()?, to.parse().ok()?)
        }
    };
    (100 <= from && from <= to && to <= 599).then(|| ModeSet::statuses(from..=to))
}

fn codes(word: &str) -> Option<ModeSet> {
    let code = match word {
        "cancelled" => 1,
        "deadline-exceeded" => 4,
        "resource-exhausted" => 8,
        "internal" => 13,
        "unavailable" => 14,
        _ => return None,
    };
    Some([Mode::Grpc(code)].into_iter().collect())
}

/// The methods that every match of every rule names.
fn methods(object: &Object<'_>) -> Methods {
    let rules = object.spec(&["rules"]).map_or(&[][..], Node::items);
    let named: Option<Vec<String>> = rules
        .iter()
        .flat_map(|rule| match rule.get("matches").map_or(&[][..], Node::items) {
            [] => vec![None],
            all => all.iter().map(|m| Some(m.get("method")?.as_str()?.to_uppercase())).collect(),
        })
        .collect();
    match named {
        Some(methods) if !methods.is_empty() => Methods::Only(methods),
        _ => Methods::Any,
    }
}

/// Fixed: 25 ms, doubled up to 250 ms.
fn wait() -> Wait {
    Wait::Exponential {
        base: Setting::default(Duration::from_millis(25), BACKOFF),
        factor: Setting::default(2.0, BACKOFF),
        cap: Setting::default(Some(Duration::from_millis(250)), BACKOFF),
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the `retry.linkerd.io` annotations out (a limit of 0 counts as 1)"),
        statuses: some("list in `retry.linkerd.io/http` only what can pass, such as `502-504`"),
        ..Advice::default()
    }
}
