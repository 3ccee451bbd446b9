//! HAProxy in Kubernetes: HAProxy's own controller (haproxytech) and HAProxy Ingress (jcmoraisjr).

use std::collections::BTreeMap;
use std::time::Duration;

use super::haproxy::policy::Lines;
use super::own_counts;
use crate::facts::{Facts, LimitFact, PolicyUseFact};
use crate::model::{Attempts, Conditions, GatewayName, HostRef, Layer, Mode, ModeSet, Pick, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::gateways::base;
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, embedded, ingresses, settings};

/// Both controllers.
pub struct HaProxyIngress;

const ID: &str = "haproxy-ingress";
const CONFIG: &str = "haproxytech/kubernetes-ingress fs/usr/local/etc/haproxy/haproxy.cfg";
const TEMPLATE: &str = "jcmoraisjr/haproxy-ingress rootfs/etc/templates/haproxy/haproxy.tmpl";
const RESOURCES: &str = "haproxytech/kubernetes-ingress crs/definition/ingress.v1.haproxy.org_backends.yaml";

/// Annotations that carry lines of a backend.
const SNIPPETS: [&str; 4] = [
    "haproxy.org/backend-config-snippet",
    "haproxy-ingress.github.io/config-backend",
    "ingress.kubernetes.io/config-backend",
    "haproxy-ingress.github.io/config-backend-late",
];

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "HAProxy ingress controllers",
    reads: "of haproxytech and of jcmoraisjr: Ingresses of the class haproxy, snippets of backend lines, Backend \
            resources of ingress.v1 and ingress.v3",
    marks: &[
        "haproxy.org",
        "haproxy-ingress.github.io",
        "ingressClassName",
        "ingress.class",
        "cr-defaults",
        "timeout-server",
    ],
    defaults: &[
        DefaultFigure { what: "an Ingress without a snippet", value: "4 attempts (3 retries)", source: CONFIG },
        DefaultFigure { what: "what is retried", value: "refused connections", source: TEMPLATE },
        DefaultFigure { what: "timeout server", value: "50 s for each try", source: CONFIG },
        DefaultFigure { what: "Backend without retries", value: "4 attempts (3 retries)", source: RESOURCES },
    ],
};

impl System for HaProxyIngress {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                match object.kind {
                    _ if ingresses::is_ingress(&object) => facts.layers.extend(ingress(file, &object)),
                    "Service" if object.version == "v1" => {
                        facts.layers.extend(service(file, &object));
                        facts.policy_uses.extend(bound(&object));
                    }
                    "Backend" if object.version.contains(".haproxy.org/") => {
                        facts.layers.extend(resource(&object, BACKEND, "HAProxy Backend"));
                    }
                    "Defaults" if object.version.contains(".haproxy.org/") => {
                        facts.layers.extend(resource(&object, DEFAULTS, "HAProxy Defaults"));
                    }
                    "ConfigMap" => config_map(&object, facts),
                    _ => {}
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        take_defaults(facts);
        let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
        facts.limits = rest;
        if let Some(limit) = mine.into_iter().find_map(|l| l.limit) {
            let open = |l: &&mut Layer| l.system == ID && l.per_try.as_ref().is_some_and(Setting::is_default);
            facts.layers.iter_mut().filter(open).for_each(|l| l.per_try = Some(limit.clone()));
        }
        bind(facts);
        own_counts::join(facts, ID, SERVICE);
    }
}

/// What the id of a Service's layer begins with.
const SERVICE: &str = "haproxy-ingress:service:";

/// What the id of a Backend resource's layer begins with: it stands for the Services that name it.
const BACKEND: &str = "haproxy-ingress:service:Backend ";

/// What the id of a Defaults resource's layer begins with: joining puts what it says where nothing nearer says it.
const DEFAULTS: &str = "haproxy-ingress:defaults:";

/// What a ConfigMap of the controller says for all backends: which Defaults resource holds, and how long a server may take.
fn config_map(object: &Object<'_>, facts: &mut Facts) {
    let data = object.node.get("data");
    let is_theirs = object.name.contains("haproxy") || data.is_some_and(|d| d.get("cr-defaults").is_some());
    if let Some(node) = data.and_then(|d| d.get("timeout-server")).filter(|_| is_theirs) {
        let limit = settings::limit(node, time);
        facts.limits.push(LimitFact { system: ID, from: None, to: Vec::new(), limit, span: node.span });
    }
    let named = data.and_then(|d| d.entry("cr-defaults")).and_then(|e| Some((e.value.as_str()?, e.value.span)));
    if let Some((text, span)) = named {
        let own = || object.namespace.map_or_else(|| text.to_string(), |n| format!("{n}/{text}"));
        let name = if text.contains('/') { text.to_string() } else { own() };
        let policy = format!("{DEFAULTS}{name}");
        facts.policy_uses.push(PolicyUseFact {
            system: ID,
            policy,
            from: None,
            to: Vec::new(),
            others: Vec::new(),
            span,
        });
    }
}

/// Puts the Defaults resource that a ConfigMap names on the layers that set nothing themselves.
fn take_defaults(facts: &mut Facts) {
    let (defaults, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut facts.layers).into_iter().partition(|l| l.id.starts_with(DEFAULTS));
    facts.layers = rest;
    let is_named = |l: &Layer| facts.policy_uses.iter().any(|u| u.system == ID && *u.policy == *l.id);
    let Some(default) = defaults.into_iter().find(is_named) else { return };
    let of_ingress = |l: &Layer| l.system == ID && matches!(l.attempts, Setting::Default { .. });
    for layer in facts.layers.iter_mut().filter(|l| of_ingress(l)) {
        layer.attempts = default.attempts.clone();
        layer.asked_for = true;
        layer.place = default.place;
        layer.reading = format!("{}, for {}", default.reading, layer.name);
        layer.labels.push((layer.opens, format!("{} sets no count", layer.name)));
        let only_default = layer.retries.picks.iter().all(|p| p.span == layer.opens);
        if only_default && default.retries.picks.iter().any(|p| p.span != default.opens) {
            layer.retries = default.retries.clone();
        }
    }
}

/// The Backend resource that a Service names.
fn bound(object: &Object<'_>) -> Option<PolicyUseFact> {
    let names = ["haproxy.org/cr-backend", "ingress.kubernetes.io/cr-backend", "haproxy.com/cr-backend", "cr-backend"];
    let entry = names.iter().find_map(|name| ingresses::annotation(object, name))?;
    let text = entry.value.as_str()?;
    let own = || object.namespace.map_or_else(|| text.to_string(), |n| format!("{n}/{text}"));
    Some(PolicyUseFact {
        system: ID,
        policy: if text.contains('/') { text.to_string() } else { own() },
        from: None,
        to: settings::host(object.name, object.name_span, object.namespace).into_iter().collect(),
        others: Vec::new(),
        span: entry.value.span,
    })
}

/// Puts the layers of Backend resources on the hops to the Services that name them.
fn bind(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut facts.policy_uses).into_iter().partition(|u| u.system == ID);
    facts.policy_uses = rest;
    let mut hosts: BTreeMap<String, Vec<HostRef>> = BTreeMap::new();
    mine.into_iter().for_each(|u| hosts.entry(u.policy).or_default().extend(u.to));
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
        let Some(to) = layer.id.strip_prefix(BACKEND).and_then(|name| hosts.get(name)) else { continue };
        layer.scope = base::hops(vec![GatewayName::Named("haproxy".to_string())], to.clone());
    }
}

/// Whether one of the two serves an Ingress: its class says so, or an annotation of theirs is there.
fn serves(object: &Object<'_>) -> bool {
    let annotations = object.node.at(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    let is_theirs = |e: &Entry| e.key.starts_with("haproxy.org/") || e.key.starts_with("haproxy-ingress.github.io/");
    match ingresses::class(object) {
        Some(class) => class.contains("haproxy"),
        None => annotations.iter().any(is_theirs),
    }
}

fn snippet<'n>(object: &Object<'n>) -> Option<&'n Entry> {
    SNIPPETS.iter().find_map(|name| ingresses::annotation(object, name))
}

fn ingress(file: &SourceFile, object: &Object<'_>) -> Option<Layer> {
    let to = settings::distinct(ingresses::backends(file, object).into_iter().map(|(host, _)| host));
    if to.is_empty() || !serves(object) {
        return None;
    }
    let name = format!("Ingress {}", object.name);
    let id = format!("{ID}:ingress:{}", object.qualified());
    Some(layer(file, object, id, name, ingresses::gateway(object), to))
}

/// A Service with lines of its own.
fn service(file: &SourceFile, object: &Object<'_>) -> Option<Layer> {
    snippet(object)?;
    let host = settings::host(object.name, object.name_span, object.namespace)?;
    let name = format!("HAProxy backend of Service {}", object.name);
    let gateway = GatewayName::Named("haproxy".to_string());
    Some(layer(file, object, format!("{SERVICE}{}", object.qualified()), name, gateway, vec![host]))
}

fn layer(
    file: &SourceFile,
    object: &Object<'_>,
    id: String,
    name: String,
    from: GatewayName,
    to: Vec<HostRef>,
) -> Layer {
    let snippet = snippet(object);
    let opens = snippet.map_or(object.name_span, |e| e.key_span);
    let parsed = snippet.and_then(|e| embedded::of_scalar(file, &e.value, Syntax::HaProxyLines));
    let blocks: Vec<&Node> = parsed.iter().flat_map(|p| p.documents.iter().map(|d| &**d)).collect();
    let base = Layer { scope: base::hops(vec![from], to), ..base::layer(ID, id.into(), name, opens, CONFIG) };
    let filled = Lines { blocks, has_several: true }.fill(base);
    let keys = ["haproxy.org/timeout-server", "haproxy-ingress.github.io/timeout-server"];
    let annotated = keys.iter().find_map(|key| ingresses::annotation(object, key));
    let annotated = annotated.and_then(|e| settings::limit(&e.value, time));
    let otherwise = || Setting::default(Duration::from_secs(50), CONFIG);
    let per_try = filled.per_try.clone().or(annotated).unwrap_or_else(otherwise);
    Layer { per_try: Some(per_try), ..filled }
}

/// A time without a unit is in milliseconds.
fn time(node: &Node) -> Option<Duration> {
    let text = node.as_str()?;
    let number: Option<u32> = text.trim().parse().ok();
    number.map(|n| Duration::from_millis(n.into())).or_else(|| duration::go(text))
}

/// A custom resource with the settings of a backend; where it holds, others say.
fn resource(object: &Object<'_>, prefix: &str, title: &str) -> Option<Layer> {
    let spec = object.spec(&["config"]).or_else(|| object.spec(&[]))?;
    let name = format!("{title} {}", object.name);
    let opens = object.name_span;
    let retries = spec.entry("retries").filter(|e| !e.value.is_null());
    let retry_on = spec.entry("retry_on").filter(|e| !e.value.is_null());
    retries.or(retry_on)?;
    let id = format!("{prefix}{}", object.qualified());
    let base = base::layer(ID, id.into(), name.clone(), opens, RESOURCES);
    Some(Layer {
        reading: match retries {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, which sets no `retries`"),
        },
        place: retries.map_or(opens, |e| e.value.span),
        attempts: retries.map_or(Setting::default(Attempts::Count(4), RESOURCES), settings::retries),
        asked_for: true,
        retries: retry_on.map_or_else(|| refused(opens), |e| words(&e.value)),
        ..base
    })
}

fn refused(opens: Span) -> Conditions {
    let modes: ModeSet = [Mode::Refused].into_iter().collect();
    let pick = Pick { modes, span: opens, text: "the default `conn-failure`".to_string() };
    Conditions { yes: modes, picks: vec![pick], ..Conditions::default() }
}

/// The words of `retry-on` in one text.
fn words(list: &Node) -> Conditions {
    let mut out = Conditions::default();
    for (word, span) in crate::systems::next_upstream::words(list) {
        let Some(modes) = super::haproxy::retry_on::modes(word) else { continue };
        out.yes = out.yes.union(modes);
        if !modes.is_empty() {
            out.picks.push(Pick { modes, span, text: format!("`{word}`") });
        }
    }
    out
}
