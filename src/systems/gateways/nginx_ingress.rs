//! NGINX Ingress Controller of NGINX Inc.: VirtualServers, TransportServers, and annotations `nginx.org/*` of Ingresses.

use std::sync::Arc;
use std::time::Duration;

use crate::facts::{Facts, LimitFact, PolicyUseFact, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Inert, Layer, Methods, Mode, ModeSet, Pick, Setting,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::duration::go_or_seconds;
use crate::systems::gateways::base;
use crate::systems::next_upstream::{self, NextUpstream};
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded, ingresses, settings};

/// NGINX Ingress Controller.
pub struct NginxIngress;

const ID: &str = "nginx-ingress";
const TEMPLATE: &str = "nginx/kubernetes-ingress internal/configs/version2/nginx.virtualserver.tmpl";
const CONFIGS: &str = "nginx/kubernetes-ingress internal/configs/virtualserver.go";
const PREFIX: &str = "nginx.org/";
const SNIPPET: &str = "nginx.org/location-snippets";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "NGINX Ingress Controller",
    reads: "VirtualServers, VirtualServerRoutes and TransportServers of k8s.nginx.org, annotations `nginx.org/*` of \
            Ingresses: `next-upstream`, its tries and its timeout",
    marks: &["k8s.nginx.org", PREFIX, "proxy-read-timeout"],
    defaults: &[
        DefaultFigure {
            what: "next-upstream-tries",
            value: "counts tries, the first one included; never more than there are pods",
            source: TEMPLATE,
        },
        DefaultFigure {
            what: "next-upstream-tries absent or 0",
            value: "as many attempts as the Service has pods",
            source: CONFIGS,
        },
        DefaultFigure { what: "use-cluster-ip: true", value: "1 attempt: the Service is one server", source: CONFIGS },
        DefaultFigure { what: "next-upstream absent", value: "`error timeout`: no HTTP status", source: CONFIGS },
        DefaultFigure {
            what: "without non_idempotent",
            value: "POST, LOCK and PATCH are not sent again once sent",
            source: TEMPLATE,
        },
        DefaultFigure { what: "next-upstream-timeout absent", value: "no limit on all tries", source: CONFIGS },
        DefaultFigure { what: "read-timeout absent", value: "60 s for each try", source: CONFIGS },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: TEMPLATE },
    ],
};

impl System for NginxIngress {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                let is_own = object.version.starts_with("k8s.nginx.org/");
                if is_own || (ingresses::is_ingress(&object) && is_served(&object)) {
                    facts.policy_uses.push(seen(&object));
                }
                match object.kind {
                    "VirtualServer" | "VirtualServerRoute" if is_own => upstreams(file, &object, facts),
                    "TransportServer" if is_own => transport(file, &object, facts),
                    "ConfigMap" => facts.limits.extend(read_timeout(&object)),
                    _ if ingresses::is_ingress(&object) && is_served(&object) => ingress(file, &object, facts),
                    _ => {}
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        claim_class(facts);
        let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
        facts.limits = rest;
        if let Some(limit) = mine.into_iter().find_map(|l| l.limit) {
            let open = |l: &&mut Layer| l.system == ID && l.per_try.as_ref().is_some_and(Setting::is_default);
            facts.layers.iter_mut().filter(open).for_each(|l| l.per_try = Some(limit.clone()));
        }
    }
}

/// The read timeout that the controller's ConfigMap sets for all. That of the other controller is a bare number of seconds.
fn read_timeout(object: &Object<'_>) -> Option<LimitFact> {
    let node = object.node.at(&["data", "proxy-read-timeout"])?;
    let has_unit = node.as_str().is_some_and(|t| t.trim().ends_with(|c: char| c.is_ascii_alphabetic()));
    let limit = settings::limit(node, go_or_seconds);
    let fact = LimitFact { system: ID, from: None, to: Vec::new(), limit, span: node.span };
    (object.name == "nginx-config" || has_unit && object.name.contains("nginx")).then_some(fact)
}

/// What tells that this controller is in use.
const SEEN: &str = "this controller";

fn seen(object: &Object<'_>) -> PolicyUseFact {
    PolicyUseFact {
        system: ID,
        policy: SEEN.to_string(),
        from: None,
        to: Vec::new(),
        others: Vec::new(),
        span: object.name_span,
    }
}

/// The class `nginx` is that of two controllers. Where this one is seen and nothing is written for the other, Ingresses
/// that say nothing are not taken for the other's, which would try them three times.
fn claim_class(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut facts.policy_uses).into_iter().partition(|u| u.system == ID);
    facts.policy_uses = rest;
    let is_others = |l: &Layer| l.system == "ingress-nginx";
    let is_written = facts.layers.iter().any(|l| is_others(l) && !l.is_implicit());
    if !mine.is_empty() && !is_written {
        facts.layers.retain(|l| !is_others(l));
    }
}

/// Whether an Ingress is written for this controller, not for that of the Kubernetes project: it has an annotation of it.
pub(super) fn is_served(object: &Object<'_>) -> bool {
    let annotations = object.node.at(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    annotations.iter().any(|e| e.key.starts_with(PREFIX) || e.key.starts_with("nginx.com/"))
}

/// What is written at one place, and what it holds for.
struct Place<'n> {
    id: Arc<str>,
    name: String,
    opens: Span,
    gateway: GatewayName,
    to: Vec<HostRef>,
    words: Option<&'n Entry>,
    tries: Option<&'n Entry>,
    timeout: Option<&'n Entry>,
    read: Option<&'n Entry>,
    /// There is one server, whatever the number of pods.
    is_single: bool,
}

impl Place<'_> {
    /// Nothing written: as often as there are pods, which only the cluster knows.
    fn is_silent(&self) -> bool {
        self.words.is_none() && self.tries.is_none() && self.timeout.is_none()
    }

    /// Tries for which there is one server only.
    fn inert(&self) -> Option<Inert> {
        let entry = self.tries.or(self.words).filter(|_| self.is_single)?;
        let why = "with `use-cluster-ip` the Service is one server, and nginx asks each server once at most";
        let inert = Inert::new(entry.key_span, settings::quote(entry), why).of(&self.name);
        Some(inert.instead("Take `use-cluster-ip` out, or the setting"))
    }

    fn layer(self) -> Option<Layer> {
        if self.is_silent() {
            return None;
        }
        let words = self.words.map_or_else(Vec::new, |e| next_upstream::words(&e.value));
        let next = NextUpstream::read(&words).unwrap_or_else(|| NextUpstream::by_default(self.opens));
        let (attempts, place, reading) = self.count(&next);
        Some(Layer {
            reading,
            place,
            asked_for: true,
            attempts,
            retries: next.conditions,
            methods: next_upstream::methods(next.non_idempotent),
            per_try: Some(match self.read.map(|e| (go_or_seconds(&e.value), e.value.span)) {
                None => Setting::default(Duration::from_secs(60), CONFIGS),
                Some((Some(d), span)) => Setting::written(d, span),
                Some((None, span)) => Setting::unknown("not a duration", Some(span)),
            }),
            overall: self.timeout.and_then(|e| settings::limit(&e.value, go_or_seconds)),
            advice: advice(),
            scope: base::hops(vec![self.gateway], self.to),
            ..base::layer(ID, self.id, self.name, self.opens, TEMPLATE)
        })
    }

    fn count(&self, next: &NextUpstream) -> (Setting<Attempts>, Span, String) {
        let name = &self.name;
        if let (Some(off), Some(words)) = (next.off, self.words) {
            let reading = format!("{} on {name}", settings::quote(words));
            return (Setting::written(Attempts::Count(1), off), off, reading);
        }
        let place = self.tries.map(|e| e.value.span).or(self.words.map(|e| e.key_span)).unwrap_or(self.opens);
        let reading = match self.tries.or(self.words) {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => name.clone(),
        };
        let pods = "is as high as the Service has pods";
        let attempts = match self.tries.map(|e| (e.value.as_int(), e.value.span)) {
            _ if self.is_single => Setting::default(Attempts::Count(1), CONFIGS),
            Some((Some(n), span)) if n > 0 => Setting::written(Attempts::Count(n.unsigned_abs()), span),
            Some((Some(0), span)) => Setting::unknown(pods, Some(span)),
            Some((_, span)) => Setting::unknown("`next-upstream-tries` is not a whole number here", Some(span)),
            None => Setting::unknown(pods, self.words.map(|e| e.key_span)),
        };
        (attempts, place, reading)
    }
}

fn named_gateway(object: &Object<'_>) -> GatewayName {
    GatewayName::Named(format!("{} {}", object.kind, object.name))
}

fn service(upstream: &Node, namespace: Option<&str>) -> Option<HostRef> {
    let name = upstream.get("service")?;
    // A service of another namespace is written `namespace/name`.
    let (namespace, text) = match name.as_str()?.split_once('/') {
        Some((namespace, text)) => (Some(namespace), text),
        None => (namespace, name.as_str()?),
    };
    let host = settings::host(text, name.span, namespace)?;
    let port = upstream.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
    Some(HostRef { port, ..host })
}

fn upstreams(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    for upstream in object.spec(&["upstreams"]).map_or(&[][..], Node::items) {
        let to: Vec<HostRef> = service(upstream, object.namespace).into_iter().collect();
        let title = upstream.get("name").and_then(Node::as_str).unwrap_or("without a name");
        let get = |key: &str| upstream.entry(key).filter(|e| !e.value.is_null());
        let opens = settings::opening(file, upstream);
        let grpc = get("type").is_some_and(|e| e.value.as_str() == Some("grpc"));
        let gateway = named_gateway(object);
        facts.routes.push(RouteFact { from: gateway.clone(), to: to.clone(), grpc, limit: None, span: opens });
        let place = Place {
            id: format!("{ID}:{}:{}:{title}", object.kind, object.qualified()).into(),
            name: format!("upstream {title} of {} {}", object.kind, object.name),
            opens,
            gateway,
            to,
            words: get("next-upstream"),
            tries: get("next-upstream-tries"),
            timeout: get("next-upstream-timeout"),
            read: get("read-timeout"),
            is_single: get("use-cluster-ip").is_some_and(|e| e.value.as_bool() == Some(true)),
        };
        facts.inert.extend(place.inert());
        facts.layers.extend(place.layer());
    }
}

/// Layer 4: connections that fail. Only `nextUpstream: true` writes the other settings.
fn transport(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let upstreams = object.spec(&["upstreams"]).map_or(&[][..], Node::items);
    let to: Vec<HostRef> = upstreams.iter().filter_map(|u| service(u, object.namespace)).collect();
    let gateway = named_gateway(object);
    if let Some(first) = upstreams.first() {
        let span = settings::opening(file, first);
        facts.routes.push(RouteFact { from: gateway.clone(), to: to.clone(), grpc: false, limit: None, span });
    }
    let Some(parameters) = object.spec(&["upstreamParameters"]) else { return };
    if let Some(off) = parameters.entry("nextUpstream").filter(|e| e.value.as_bool() == Some(false)) {
        let why = "the controller writes nothing then, and nginx's own default is on";
        let owner = format!("TransportServer {}", object.name);
        facts.inert.push(Inert::new(off.key_span, settings::quote(off), why).of(&owner));
    }
    let Some(switch) = parameters.entry("nextUpstream").filter(|e| e.value.as_bool() == Some(true)) else { return };
    let place = Place {
        id: format!("{ID}:TransportServer:{}", object.qualified()).into(),
        name: format!("TransportServer {}", object.name),
        opens: switch.key_span,
        gateway,
        to,
        words: None,
        tries: parameters.entry("nextUpstreamTries"),
        timeout: parameters.entry("nextUpstreamTimeout"),
        read: None,
        is_single: false,
    };
    let modes: ModeSet = [Mode::Refused].into_iter().collect();
    let pick = Pick { modes, span: switch.key_span, text: settings::quote(switch) };
    let retries = Conditions { yes: modes, picks: vec![pick], ..Conditions::default() };
    facts.layers.extend(place.layer().map(|l| Layer { retries, methods: Methods::Any, per_try: None, ..l }));
}

fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let to = settings::distinct(ingresses::backends(file, object).into_iter().map(|(host, _)| host));
    if to.is_empty() {
        return;
    }
    // Before there were annotations, and still, lines of nginx's own do it.
    let snippet = ingresses::annotation(object, SNIPPET);
    let parsed = snippet.and_then(|e| embedded::of_scalar(file, &e.value, Syntax::Nginx));
    let lines = parsed.iter().flat_map(|p| &p.documents).flat_map(|d| d.entries());
    let lines: Vec<Entry> = lines.map(|e| next_upstream::as_setting(file, e)).collect();
    let get = |key: &str| {
        let line = key.replace('-', "_");
        let written = ingresses::annotation(object, &format!("{PREFIX}{key}"));
        written.or_else(|| lines.iter().rev().find(|e| *e.key == *line))
    };
    let (words, tries) = (get("proxy-next-upstream"), get("proxy-next-upstream-tries"));
    let timeout = get("proxy-next-upstream-timeout");
    let place = Place {
        id: format!("{ID}:ingress:{}", object.qualified()).into(),
        name: format!("Ingress {}", object.name),
        opens: words.or(timeout).or(tries).map_or(object.name_span, |e| e.key_span),
        gateway: ingresses::gateway(object),
        to,
        words,
        tries,
        timeout,
        read: get("proxy-read-timeout"),
        is_single: get("use-cluster-ip").is_some_and(|e| e.value.as_bool() == Some(true)),
    };
    facts.inert.extend(place.inert());
    facts.layers.extend(place.layer());
}

/// There is no setting for a wait or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `next-upstream` to `off`, or `next-upstream-tries` to 1"),
        limit: some("set `next-upstream-tries` to 2 or 3"),
        statuses: some("keep `error timeout` in `next-upstream`, and of the statuses 502 and 503"),
        ..Advice::default()
    }
}
