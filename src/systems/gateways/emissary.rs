//! Emissary-ingress (Ambassador): Mappings, and the default policy of the Module.

use std::time::Duration;

use crate::facts::{Facts, LimitFact, MeshDefaultFact, RouteFact};
use crate::model::{Advice, GatewayName, HostRef, Inert, Layer, LayerKind, Methods, Scope, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::ingresses::annotation;
use crate::systems::objects::{self, Object};
use crate::systems::retry_on::{self, Around};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, embedded, settings};

/// Emissary-ingress.
pub struct Emissary;

const ID: &str = "emissary";
const POLICY: &str = "emissary-ingress/emissary python/ambassador/src/ambassador/ir/irretrypolicy.py";
const MAPPING: &str = "emissary-ingress/emissary python/ambassador/src/ambassador/ir/irhttpmapping.py";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Emissary-ingress (Ambassador)",
    reads: "Mapping and Module `ambassador` (v2, v3alpha1), also in the annotation `getambassador.io/config` of Services",
    marks: &["getambassador.io/"],
    defaults: &[
        DefaultFigure { what: "no retry_policy, and none in the Module", value: "1 attempt", source: MAPPING },
        DefaultFigure {
            what: "retry_policy.num_retries absent",
            value: "2 attempts (1 retry)",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure {
            what: "wait",
            value: "25 ms, doubling, at most 250 ms; there is no such setting",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "timeout_ms absent, and no cluster_request_timeout_ms in the Module",
            value: "3 s over all tries and waits",
            source: MAPPING,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: POLICY },
    ],
};

/// The conditions that a policy may name, one of them.
const CONDITIONS: [&str; 6] =
    ["5xx", "gateway-error", "connect-failure", "retriable-4xx", "refused-stream", "retriable-status-codes"];

impl System for Emissary {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                if object.version.starts_with("getambassador.io/") {
                    read(file, &Item::of_object(&object), facts);
                } else if let Some(entry) = annotation(&object, "getambassador.io/config")
                    && let Some(inner) = embedded::of_scalar(file, &entry.value, Syntax::Yaml)
                {
                    for document in &inner.documents {
                        if let Some(item) = Item::of_annotation(document, object.namespace) {
                            read(file, &item, facts);
                        }
                    }
                }
            }
        }
    }

    /// The Module's policy holds for every Mapping that has none, whichever file it stands in.
    fn join(&self, facts: &mut Facts) {
        let (mine, rest): (Vec<_>, _) =
            std::mem::take(&mut facts.mesh_defaults).into_iter().partition(|d: &MeshDefaultFact| d.system == ID);
        facts.mesh_defaults = rest;
        let is_open = |l: &Layer| l.system == ID && !l.asked_for;
        match mine.first() {
            Some(default) => take_default(default, facts),
            None => facts.layers.retain(|l| !is_open(l)),
        }
        take_limit(facts);
    }
}

fn take_default(default: &MeshDefaultFact, facts: &mut Facts) {
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID && !l.asked_for) {
        layer.asked_for = true;
        layer.attempts = default.attempts.clone();
        layer.place = default.span;
        layer.retries = default.retries.clone();
        layer.per_try = default.per_try.clone();
        layer.reading = format!("{}, for {}", default.reading, layer.name);
        layer.labels.push((layer.opens, format!("{} sets no `retry_policy`", layer.name)));
    }
}

/// The Module's limit on all tries holds for every Mapping that sets none
/// (emissary-ingress/emissary python/ambassador/envoy/v3/v3route.py).
fn take_limit(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
    facts.limits = rest;
    let of_module = |own: Option<Setting<Duration>>| match (own, mine.first()) {
        (Some(Setting::Default { .. }), Some(module)) => module.limit.clone(),
        (own, _) => own,
    };
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
        let overall = of_module(layer.overall.take());
        envoy_based::bound(layer, overall, "per_try_timeout", &mut facts.inert);
    }
    let is_mine = |r: &&mut RouteFact| matches!(&r.from, GatewayName::Named(name) if name == ID);
    for route in facts.routes.iter_mut().filter(is_mine) {
        route.limit = of_module(route.limit.take());
    }
}

/// A Mapping or a Module: an object, or a document in an annotation, whose fields stand at its top.
struct Item<'n> {
    kind: &'n str,
    name: &'n str,
    namespace: Option<&'n str>,
    fields: &'n Node,
}

impl<'n> Item<'n> {
    fn of_object(object: &Object<'n>) -> Self {
        let fields = object.spec(&[]).unwrap_or(object.node);
        Self { kind: object.kind, name: object.name, namespace: object.namespace, fields }
    }

    fn of_annotation(document: &'n Node, namespace: Option<&'n str>) -> Option<Self> {
        let text = |key: &str| document.get(key).and_then(Node::as_str);
        Some(Self { kind: text("kind")?, name: text("name")?, namespace, fields: document })
    }
}

fn read(file: &SourceFile, item: &Item<'_>, facts: &mut Facts) {
    match item.kind {
        "Module" if item.name == "ambassador" => module(item.fields, facts),
        "Mapping" => mapping(file, item, facts),
        _ => {}
    }
}

fn module(fields: &Node, facts: &mut Facts) {
    let Some(config) = fields.get("config") else { return };
    if let Some(node) = config.get("cluster_request_timeout_ms").filter(|n| !n.is_null()) {
        let (limit, span) = (settings::limit(node, millis), node.span);
        facts.limits.push(LimitFact { system: ID, from: None, to: Vec::new(), limit, span });
    }
    let Some(key) = config.entry("retry_policy").filter(|e| !e.value.is_null()) else { return };
    let mut inert = Vec::new();
    let policy = policy(key, &mut inert);
    facts.inert.extend(inert.into_iter().map(|i| i.of("Emissary Module ambassador")));
    facts.mesh_defaults.push(MeshDefaultFact {
        system: ID,
        attempts: policy.count.attempts,
        wait: policy.wait.0,
        wait_place: None,
        retries: policy.conditions,
        per_try: policy.per_try,
        reading: format!("{} of the Module's `{}`", policy.count.reading, key.key),
        span: policy.count.place,
    });
}

fn mapping(file: &SourceFile, item: &Item<'_>, facts: &mut Facts) {
    let Some(service) = item.fields.get("service") else { return };
    let Some(to) = service.as_str().and_then(|text| settings::host(text, service.span, item.namespace)) else { return };
    let gateway = GatewayName::Named(ID.to_string());
    let opens = settings::opening(file, item.fields);
    let grpc = item.fields.get("grpc").and_then(Node::as_bool) == Some(true);
    let name = format!("Emissary Mapping {}", item.name);
    let overall = match item.fields.get("timeout_ms").filter(|n| !n.is_null()) {
        Some(node) => settings::limit(node, millis),
        None => Some(Setting::default(Duration::from_secs(3), MAPPING)),
    };
    let own = item.fields.entry("retry_policy").filter(|e| !e.value.is_null());
    let limit = if own.is_none() { overall.clone() } else { None };
    facts.routes.push(RouteFact { from: gateway.clone(), to: vec![to.clone()], grpc, limit, span: opens });
    let mut inert = Vec::new();
    let policy = match own {
        Some(key) => policy(key, &mut inert),
        None => Policy {
            count: Count { attempts: envoy_based::one_retry(), reading: String::new(), place: opens },
            wait: envoy_based::default_wait(),
            conditions: Default::default(),
            per_try: None,
        },
    };
    facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
    let qualified = item.namespace.map_or_else(|| item.name.to_string(), |n| format!("{n}/{}", item.name));
    let identity = Identity {
        system: ID,
        kind: LayerKind::Gateway,
        id: format!("{ID}:mapping:{qualified}").into(),
        name,
        opens: own.map_or(opens, |key| key.key_span),
    };
    let layer = envoy_based::layer(identity, scope(gateway, to), policy);
    // Without a policy of its own it has that of the Module; joining tells.
    facts.layers.push(Layer {
        asked_for: own.is_some(),
        overall,
        methods: methods(item.fields),
        advice: advice(),
        ..layer
    });
}

fn millis(node: &Node) -> Option<Duration> {
    duration::millis(node.as_f64()?)
}

fn scope(gateway: GatewayName, to: HostRef) -> Scope {
    envoy_based::from_gateways(vec![gateway], vec![to])
}

/// Joining knows the limit on all tries.
fn policy(key: &Entry, inert: &mut Vec<Inert>) -> Policy {
    let words = key.value.entry("retry_on");
    let listed = words.map(|e| settings::list(&e.value)).unwrap_or_default();
    let per_try = key.value.get("per_try_timeout").filter(|n| !n.is_null()).and_then(|n| settings::limit(n, go));
    let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
    let count = Count::of(key.value.entry("num_retries"), key, envoy_based::one_retry());
    let refused = words.filter(|_| listed.len() > 1 || listed.iter().any(|(word, _)| !CONDITIONS.contains(word)));
    if let Some(words) = refused {
        let why = "Emissary takes one condition, of a list of its own, and refuses the policy otherwise";
        inert.push(
            Inert::new(words.value.span, settings::quote(words), why)
                .instead(format!("Write one of {}", CONDITIONS.join(", "))),
        );
        let reading = format!("{} which Emissary refuses", settings::quote(words));
        return Policy {
            count: Count::off(words.value.span, reading),
            wait: envoy_based::default_wait(),
            conditions: Default::default(),
            per_try: None,
        };
    }
    let on = retry_on::read(&listed, &[], around);
    let mut policy = Policy::new(count, key, words, on, inert);
    policy.per_try = per_try;
    policy
}

/// `method` of a Mapping, unless it is a pattern.
fn methods(fields: &Node) -> Methods {
    let is_regex = fields.get("method_regex").and_then(Node::as_bool) == Some(true);
    match fields.get("method").and_then(Node::as_str).filter(|_| !is_regex) {
        Some(method) => Methods::Only(vec![method.to_uppercase()]),
        None => Methods::Any,
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `num_retries: 0`, or take the `retry_policy` out"),
        statuses: some("set `retry_on` to what can pass, such as `connect-failure` or `gateway-error`"),
        ..Advice::default()
    }
}
