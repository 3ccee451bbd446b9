//! Kong in Kubernetes: annotations `konghq.com/*` of Services, Ingresses of Kong's class, KongService, KongIngress.

use std::time::Duration;

use super::{kong, own_counts};
use crate::facts::{Facts, LimitFact, PolicyUseFact, RouteRuleFact};
use crate::model::{Attempts, GatewayName, HostRef, Inert, Layer, Scope, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::Entry;
use crate::systems::gateways::base;
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, ingresses, settings};

/// Kong's controller for Kubernetes.
pub struct KongIngress;

const ID: &str = "kong-ingress";
const TRANSLATOR: &str = "Kong/kubernetes-ingress-controller internal/dataplane/translator/translate_vars.go";
const ANNOTATIONS: &str = "Kong/kubernetes-ingress-controller internal/annotations/annotations.go";
const RETRIES: &str = "konghq.com/retries";
const READ_TIMEOUT: &str = "konghq.com/read-timeout";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kong Ingress Controller",
    reads: "annotations `konghq.com/retries` and `konghq.com/read-timeout` of Services, Ingresses of the class kong, \
            KongService, `proxy` of KongIngresses before 3.0",
    marks: &["konghq.com", "ingressClassName", "ingress.class"],
    defaults: &[
        DefaultFigure {
            what: "konghq.com/retries absent on the Service",
            value: "6 attempts (5 retries), at once",
            source: TRANSLATOR,
        },
        DefaultFigure { what: "konghq.com/retries", value: "counts retries: one attempt more", source: ANNOTATIONS },
        DefaultFigure { what: "konghq.com/read-timeout absent", value: "60 s for each try", source: TRANSLATOR },
    ],
};

/// What the id of a KongIngress's layer begins with.
const OVERRIDE: &str = "kong-ingress:KongIngress:";

/// What the id of a Service's layer begins with.
const SERVICE: &str = "kong-ingress:service:";

impl System for KongIngress {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        let has_proxy = versions.is_before(ID, 3, 0);
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                match object.kind {
                    "Service" if object.version == "v1" => {
                        facts.policy_uses.extend(has_proxy.then(|| overridden(&object)).flatten());
                        facts.inert.extend(no_number(&object));
                        facts.layers.extend(service(&object));
                    }
                    "KongService" => facts.layers.extend(kong_service(&object)),
                    "KongUpstreamPolicy" => facts.inert.extend(no_such_field(&object)),
                    "KongIngress" if has_proxy => facts.layers.extend(kong_ingress(&object)),
                    "KongIngress" => facts.inert.extend(proxy_of_old(&object)),
                    _ if ingresses::is_ingress(&object) && is_kongs(&object) => ingress(file, &object, facts),
                    _ => {}
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        override_services(facts);
        own_counts::join(facts, ID, SERVICE);
        take_limits(facts);
        kong::widen(facts, ID);
    }
}

fn is_kongs(object: &Object<'_>) -> bool {
    ingresses::class(object).is_some_and(|class| class.contains("kong"))
}

/// A Service with a setting of its own.
fn service(object: &Object<'_>) -> Option<Layer> {
    let retries = ingresses::annotation(object, RETRIES);
    let read = ingresses::annotation(object, READ_TIMEOUT);
    let opens = retries.or(read)?.key_span;
    let host = settings::host(object.name, object.name_span, object.namespace)?;
    let name = format!("Kong service {}", object.name);
    let from = GatewayName::Named("kong".to_string());
    let layer = layer(format!("{SERVICE}{}", object.qualified()), name, opens, vec![from], vec![host]);
    // What is no number is passed over.
    let retries = retries.filter(|e| e.value.as_int().is_some());
    Some(with_count(Layer { per_try: Some(per_try(read)), ..layer }, retries))
}

/// What is no number is passed over.
fn no_number(object: &Object<'_>) -> Option<Inert> {
    let entry = ingresses::annotation(object, RETRIES).filter(|e| e.value.as_int().is_none())?;
    let is_template = entry.value.as_str().is_some_and(|t| t.contains("{{") || t.contains('$'));
    let why = "it is no whole number, and the controller writes its own 5";
    let inert = Inert::new(entry.value.span, settings::quote(entry), why).of(&format!("Service {}", object.name));
    (!is_template).then(|| inert.instead("Write a number in quotes, such as \"2\""))
}

fn with_count(layer: Layer, retries: Option<&Entry>) -> Layer {
    match retries {
        None => layer,
        Some(e) => Layer {
            reading: format!("{} on {}", settings::quote(e), layer.name),
            place: e.value.span,
            attempts: settings::retries(e),
            asked_for: true,
            ..layer
        },
    }
}

fn per_try(read: Option<&Entry>) -> Setting<Duration> {
    match read.map(|e| (e.value.as_f64().and_then(duration::millis), e.value.span)) {
        None => Setting::default(Duration::from_secs(60), TRANSLATOR),
        Some((Some(d), span)) => Setting::written(d, span),
        Some((None, span)) => Setting::unknown("not a number of milliseconds", Some(span)),
    }
}

/// A service as Kong tries it where nobody says anything: five retries.
fn layer(id: String, name: String, opens: Span, from: Vec<GatewayName>, to: Vec<HostRef>) -> Layer {
    Layer {
        reading: format!("{name}, which sets no `{RETRIES}`"),
        attempts: Setting::default(Attempts::Count(6), TRANSLATOR),
        retries: kong::conditions(opens),
        methods: base::idempotent(),
        per_try: Some(per_try(None)),
        advice: crate::model::Advice {
            none: Some("annotate the Service with `konghq.com/retries: \"0\"`".to_string()),
            ..crate::model::Advice::default()
        },
        scope: base::hops(from, to),
        ..base::layer(ID, id.into(), name, opens, TRANSLATOR)
    }
}

/// A rule of a route of the Gateway API, which the controller makes a service of; its limit on one try is read.
pub(super) fn of_rule(rule: &RouteRuleFact, from: Vec<GatewayName>, facts: &mut Facts) {
    let id = format!("{ID}:{}", rule.id);
    if let Some(limit) = &rule.per_try {
        let (limit, span) = (Some(limit.clone()), limit.span().unwrap_or(rule.opens));
        facts.limits.push(LimitFact { system: ID, from: None, to: rule.to.clone(), limit, span });
    }
    facts.layers.push(layer(id, rule.title.clone(), rule.opens, from, rule.to.clone()));
}

/// Puts the limits of rules on the services that set none.
fn take_limits(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
    facts.limits = rest;
    let open = |l: &&mut Layer| l.system == ID && l.per_try.as_ref().is_some_and(Setting::is_default);
    for layer in facts.layers.iter_mut().filter(open) {
        let Scope::Hops { to, .. } = &layer.scope else { continue };
        let is = |a: &HostRef| to.iter().any(|b| a.name == b.name && a.namespace == b.namespace);
        if let Some(limit) = mine.iter().find(|l| l.to.iter().any(is)).and_then(|l| l.limit.clone()) {
            layer.per_try = Some(limit);
        }
    }
}

fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    if let Some(entry) = ingresses::annotation(object, RETRIES) {
        let why = "Kong's controller reads it on the Service, not on the Ingress";
        let inert = Inert::new(entry.key_span, settings::quote(entry), why).of(&format!("Ingress {}", object.name));
        facts.inert.push(inert.instead("Annotate the Service behind it"));
    }
    let to = settings::distinct(ingresses::backends(file, object).into_iter().map(|(host, _)| host));
    if !to.is_empty() {
        let name = format!("Ingress {}", object.name);
        let id = format!("{ID}:ingress:{}", object.qualified());
        facts.layers.push(layer(id, name, object.name_span, vec![ingresses::gateway(object)], to));
    }
}

/// The same entity as in a declarative file.
fn kong_service(object: &Object<'_>) -> Option<Layer> {
    let spec = object.spec(&[])?;
    let host = kong::host_of(spec)?;
    let retries = spec.entry("retries").filter(|e| !e.value.is_null());
    let name = format!("KongService {}", object.name);
    let from = GatewayName::Named("kong".to_string());
    let layer =
        layer(format!("{ID}:KongService:{}", object.qualified()), name, object.name_span, vec![from], vec![host]);
    Some(with_count(Layer { per_try: Some(per_try(spec.entry("read_timeout"))), ..layer }, retries))
}

/// A Service that takes the settings of a KongIngress.
fn overridden(object: &Object<'_>) -> Option<PolicyUseFact> {
    let named = ingresses::annotation(object, "konghq.com/override")?;
    let policy = object.namespace.map(|n| format!("{n}/")).unwrap_or_default() + named.value.as_str()?;
    Some(PolicyUseFact {
        system: ID,
        policy,
        from: None,
        to: vec![settings::host(object.name, object.name_span, object.namespace)?],
        others: Vec::new(),
        span: named.value.span,
    })
}

/// The settings of a KongIngress, on hops that joining finds.
fn kong_ingress(object: &Object<'_>) -> Option<Layer> {
    let proxy = object.node.entry("proxy")?;
    let written = |key: &str| proxy.value.entry(key).filter(|e| !e.value.is_null());
    let name = format!("KongIngress {}", object.name);
    let id = format!("{OVERRIDE}{}", object.qualified());
    let layer = layer(id, name, proxy.key_span, Vec::new(), Vec::new());
    Some(with_count(Layer { per_try: Some(per_try(written("read_timeout"))), ..layer }, written("retries")))
}

/// Puts the settings of KongIngresses on the Services that name them; annotations of the Service itself beat them.
fn override_services(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, _) =
        std::mem::take(&mut facts.policy_uses).into_iter().partition(|u: &PolicyUseFact| u.system == ID);
    facts.policy_uses = rest;
    for used in mine {
        let named = |l: &&Layer| l.system == ID && l.id.strip_prefix(OVERRIDE) == Some(&used.policy);
        let Some(settings) = facts.layers.iter().find(named).cloned() else { continue };
        let to_same = |l: &&mut Layer| matches!(&l.scope, Scope::Hops { to, .. } if *to == used.to);
        let own = facts.layers.iter_mut().filter(|l| l.system == ID && l.id.starts_with(SERVICE)).find(to_same);
        match own {
            Some(layer) if layer.asked_for => {}
            Some(layer) => {
                let (id, scope) = (layer.id.clone(), layer.scope.clone());
                *layer = Layer { id, scope, ..settings };
            }
            None => {
                let name = used.to.first().map_or_else(String::new, |h| h.name.clone());
                let scope = base::hops(vec![GatewayName::Named("kong".to_string())], used.to);
                facts.layers.push(Layer { id: format!("{SERVICE}{name}").into(), scope, ..settings });
            }
        }
    }
}

/// A policy for upstreams says nothing of retries.
fn no_such_field(object: &Object<'_>) -> Option<Inert> {
    let entry = object.spec(&[])?.entry("retries")?;
    let owner = format!("KongUpstreamPolicy {}", object.name);
    let inert = Inert::new(entry.key_span, settings::quote(entry), "it has no such field").of(&owner);
    Some(inert.instead("Annotate the Service with `konghq.com/retries`"))
}

fn proxy_of_old(object: &Object<'_>) -> Option<Inert> {
    let entry = object.node.get("proxy")?.entry("retries")?;
    let why = "since version 3.0 the controller takes no `proxy` of a KongIngress";
    let inert = Inert::new(entry.value.span, settings::quote(entry), why).of(&format!("KongIngress {}", object.name));
    Some(inert.instead("Annotate the Service with `konghq.com/retries`"))
}
