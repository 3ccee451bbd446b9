//! Linkerd: ServiceProfiles, and the annotations on Services and routes.

mod annotations;
mod profile;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Callers, Conditions, Confidence, HostRef, Inert, Jitter, Layer, LayerKind, Methods, Purpose,
    Scope, Setting, Wait,
};
use crate::source::Span;
use crate::systems::objects;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Linkerd.
pub struct Linkerd;

const ID: &str = "linkerd";
const PROFILE: &str = "linkerd/linkerd2 controller/api/destination/profile_translator.go";
const BUDGET: &str = "linkerd/linkerd2-proxy linkerd/service-profiles/src/proto.rs; tower retry/budget TpsBudget";
const RETRY: &str = "linkerd/linkerd2 policy-controller/k8s/index/src/outbound/index/http.rs";
const BACKOFF: &str = "linkerd/linkerd2 policy-controller/grpc/src/outbound/http.rs";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Linkerd",
    reads: "ServiceProfile; annotations `retry.linkerd.io/*` and `timeout.linkerd.io/*` of Services, HTTPRoutes and GRPCRoutes",
    marks: &["linkerd.io"],
    defaults: &[
        DefaultFigure { what: "isRetryable absent", value: "1 attempt", source: PROFILE },
        DefaultFigure {
            what: "retryBudget absent",
            value: "20 % of the requests and 10 retries each second, for 10 s: up to 100 retries of one request",
            source: PROFILE,
        },
        DefaultFigure {
            what: "timeout of a retryable route absent",
            value: "no limit: retried as long as the budget refills",
            source: BUDGET,
        },
        DefaultFigure { what: "responseClasses absent", value: "every 5xx; no transport fault", source: PROFILE },
        DefaultFigure { what: "wait of a ServiceProfile", value: "none", source: BUDGET },
        DefaultFigure { what: "retry.linkerd.io/limit absent", value: "2 attempts (1 retry)", source: RETRY },
        DefaultFigure { what: "retry.linkerd.io/limit: 0", value: "2 attempts: read as absent", source: RETRY },
        DefaultFigure {
            what: "wait of the annotations",
            value: "25 ms, doubled up to 250 ms, and up to as much again at random",
            source: BACKOFF,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: BACKOFF },
    ],
};

impl System for Linkerd {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for object in objects::of(root) {
                match object.kind {
                    "ServiceProfile" if object.version.starts_with("linkerd.io/") => {
                        facts.layers.extend(profile::layers(&object));
                    }
                    "Service" | "HTTPRoute" | "GRPCRoute" | "EgressNetwork" => {
                        facts.layers.extend(annotations::layer_of(&object, &mut facts.inert));
                    }
                    _ => {}
                }
            }
        }
    }

    /// A ServiceProfile makes the proxies ignore the annotations; those of a route hide those of its Service.
    fn join(&self, facts: &mut Facts) {
        let hosts = |prefix: &str| -> BTreeMap<String, Span> {
            let mine = facts.layers.iter().filter(|l| l.system == ID && l.id.starts_with(prefix));
            mine.flat_map(|l| targets(l).iter().map(|host| (short(host), l.opens))).collect()
        };
        let (profiles, routes) = (hosts(PROFILES), hosts(ROUTES));
        let inert = &mut facts.inert;
        facts.layers.retain(|layer| {
            if layer.system != ID {
                return true;
            }
            let hider =
                |by: &BTreeMap<String, Span>| targets(layer).iter().find_map(|host| by.get(&short(host)).copied());
            let is_service = layer.id.starts_with(SERVICES);
            let annotated = is_service || layer.id.starts_with(ROUTES);
            let profile = hider(&profiles).filter(|_| annotated);
            let hidden = profile.map(|span| {
                (span, "the proxies look at the ServiceProfile of this host alone", "the route of the ServiceProfile")
            });
            let route = || {
                hider(&routes).filter(|_| is_service).map(|span| {
                    (span, "the annotations of a route to this host hide it", "the annotations of the route")
                })
            };
            let Some((span, why, what)) = hidden.or_else(route) else { return true };
            inert.push(Inert::new(layer.opens, "`retry.linkerd.io/*`", why).of(&layer.name).because(span, what));
            false
        });
    }
}

const PROFILES: &str = "linkerd:profile:";
const ROUTES: &str = "linkerd:route:";
const SERVICES: &str = "linkerd:service:";

fn targets(layer: &Layer) -> &[HostRef] {
    match &layer.scope {
        Scope::Hops { to, .. } => to,
        _ => &[],
    }
}

/// `menu` in `shop` and `menu.shop.svc.cluster.local` are one: `menu.shop`.
fn short(host: &HostRef) -> String {
    let name = host.name.split(".svc").next().unwrap_or_default();
    match (&host.namespace, name.contains('.')) {
        (Some(namespace), false) => format!("{name}.{namespace}"),
        _ => name.to_string(),
    }
}

/// A layer with what all of Linkerd's share.
fn layer(id: String, name: String, opens: Span, to: Vec<HostRef>, attempts: Setting<Attempts>) -> Layer {
    let from = Callers { gateways: Vec::new(), mesh: true };
    Layer {
        id: Arc::from(id),
        system: ID,
        kind: LayerKind::Mesh,
        reading: name.clone(),
        name,
        place: opens,
        opens,
        component: None,
        scope: Scope::Hops { from, to, fallback: false },
        attempts,
        asked_for: true,
        wait: Wait::None,
        wait_place: None,
        jitter: Setting::default(Jitter::None, BUDGET),
        retries: Conditions::default(),
        retry_after: Setting::default(false, BACKOFF),
        methods: Methods::Any,
        per_try: None,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
    }
}
