//! Google Cloud load balancers: retry policies in URL maps.

use std::time::Duration;

use crate::facts::{Facts, LimitFact, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Inert, Layer, Mode, ModeSet, Pick, Scope, Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, terraform};

/// URL maps.
pub struct GoogleUrlMap;

const ID: &str = "google-url-map";
const TERRAFORM: &str = "hashicorp/terraform-provider-google website/docs/r/compute_url_map.html.markdown";
const POLICY: &str = "cloud.google.com/python/docs/reference/compute/latest HttpRetryPolicy";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Google Cloud URL maps",
    reads: "`compute#urlMap` in YAML and JSON, google_compute_url_map and google_compute_region_url_map in Terraform: \
            `retryPolicy` of route actions; HttpRoutes and GrpcRoutes of Network Services",
    marks: &["retryPolicy", "google_compute_url_map", "google_compute_region_url_map", "google_network_services_"],
    defaults: &[
        DefaultFigure { what: "retryPolicy.numRetries", value: "counts retries: one attempt more", source: POLICY },
        DefaultFigure { what: "retryPolicy without numRetries", value: "2 attempts (1 retry)", source: TERRAFORM },
        DefaultFigure { what: "5xx", value: "every 5xx, and no answer", source: POLICY },
        DefaultFigure { what: "gateway-error", value: "502, 503 and 504", source: POLICY },
        DefaultFigure { what: "retriable-4xx", value: "409", source: POLICY },
        DefaultFigure { what: "the wait", value: "the provider's own; there is no such setting", source: POLICY },
    ],
};

impl System for GoogleUrlMap {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            facts.inert.extend(objects::of(root).iter().filter_map(no_such_field));
            if is_url_map(root) {
                let title = root.get("name").and_then(Node::as_str).unwrap_or("without a name");
                read(file, ("URL map", title), root, facts);
            }
            if is_route(root) {
                let name = root.get("name").and_then(Node::as_str).and_then(|n| n.rsplit('/').next());
                read(file, ("Network Services route", name.unwrap_or("without a name")), root, facts);
            }
        }
        for kind in ["google_compute_backend_service", "google_compute_region_backend_service"] {
            for resource in terraform::resources(unit, kind).iter().filter(|r| &*r.kind == kind) {
                let Some(node) = get(&resource.body, "timeoutSec") else { continue };
                let limit = settings::limit(node, |n| duration::millis(n.as_f64()? * 1e3));
                let to = settings::host(resource.name(), node.span, None).into_iter().collect();
                facts.limits.push(LimitFact { system: ID, from: None, to, limit, span: node.span });
            }
        }
        let kinds = [
            ("google_compute_url_map", "URL map"),
            ("google_compute_region_url_map", "URL map"),
            ("google_network_services_http_route", "Network Services route"),
            ("google_network_services_grpc_route", "Network Services route"),
        ];
        for (kind, title) in kinds {
            for resource in terraform::resources(unit, kind).iter().filter(|r| &*r.kind == kind) {
                if let Some(file) = resource.file(unit) {
                    read(file, (title, resource.name()), &resource.body, facts);
                }
            }
        }
    }

    /// A route that sets no limit on all tries has the longest of its backend services
    /// (cloud.google.com/compute/docs/reference/rest/v1/urlMaps, routeAction.timeout).
    fn join(&self, facts: &mut Facts) {
        let (mine, rest): (Vec<_>, _) = std::mem::take(&mut facts.limits).into_iter().partition(|l| l.system == ID);
        facts.limits = rest;
        for layer in facts.layers.iter_mut().filter(|l| l.system == ID && l.overall.is_none()) {
            let Scope::Hops { to, .. } = &layer.scope else { continue };
            let of = |host: &HostRef| mine.iter().find(|l| l.to.iter().any(|h| h.name == host.name))?.limit.clone();
            let limits: Option<Vec<Setting<Duration>>> = to.iter().map(of).collect();
            layer.overall = limits.into_iter().flatten().max_by_key(|l| l.value().copied());
        }
    }
}

/// A policy of GKE's for backends, which says nothing of retries.
fn no_such_field(object: &Object<'_>) -> Option<Inert> {
    let is_policy = object.kind == "GCPBackendPolicy" && object.version.starts_with("networking.gke.io/");
    let entry = object.spec(&["default"]).filter(|_| is_policy)?.entry_any(&["retryPolicy", "retry"])?;
    let owner = format!("GCPBackendPolicy {}", object.name);
    Some(Inert::new(entry.key_span, format!("`{}`", entry.key), "it has no such field").of(&owner))
}

/// An HttpRoute or GrpcRoute of Network Services, as it is exported.
fn is_route(root: &Node) -> bool {
    let is_served = ["meshes", "gateways"].iter().any(|key| root.get(key).is_some_and(|n| !n.items().is_empty()));
    let has_action = |rules: &Node| rules.items().iter().any(|rule| rule.get("action").is_some());
    root.get("apiVersion").is_none() && is_served && root.get("rules").is_some_and(has_action)
}

/// Every route action of a map or of a route.
fn read(file: &SourceFile, title: (&str, &str), map: &Node, facts: &mut Facts) {
    let mut ids = Ids::default();
    for node in map.walk() {
        for key in ["routeAction", "defaultRouteAction", "action"] {
            let Some(action) = get(node, key) else { continue };
            let Some(policy) = action.entry_relaxed("retryPolicy").filter(|e| !e.value.is_null()) else { continue };
            let to = services(node, action);
            add(file, title, action, policy, to, &mut ids, facts);
        }
    }
}

/// A field, in the spelling of the API or of Terraform.
fn get<'n>(node: &'n Node, field: &str) -> Option<&'n Node> {
    node.entry_relaxed(field).map(|e| &*e.value)
}

fn is_url_map(root: &Node) -> bool {
    let kind = root.get("kind").and_then(Node::as_str);
    kind == Some("compute#urlMap")
        || (kind.is_none() && root.get("pathMatchers").is_some() && root.get("defaultService").is_some())
}

/// The backend services of a rule: by weight, its own, or the default beside it.
fn services(rule: &Node, action: &Node) -> Vec<HostRef> {
    let weighted = terraform::repeated(action, &["weightedBackendServices"]);
    let destinations = terraform::repeated(action, &["destinations"]).filter_map(|d| get(d, "serviceName"));
    let weighted: Vec<&Node> = weighted.filter_map(|w| get(w, "backendService")).chain(destinations).collect();
    let own = ["service", "defaultService"].iter().find_map(|key| get(rule, key)).into_iter().collect();
    let nodes: Vec<&Node> = if weighted.is_empty() { own } else { weighted };
    let names = nodes.into_iter().filter_map(|n| {
        let name = terraform::name(n)?.rsplit('/').next()?;
        settings::host(name, n.span, None)
    });
    settings::distinct(names)
}

fn add(
    file: &SourceFile,
    (kind, title): (&str, &str),
    action: &Node,
    policy: &Entry,
    to: Vec<HostRef>,
    ids: &mut Ids,
    facts: &mut Facts,
) {
    let from = GatewayName::Named(title.to_string());
    let opens = policy.key_span;
    let service = to.first().map_or("a service", |h| h.name.as_str()).to_string();
    let name = format!("{kind} {title} to {service}");
    if !to.is_empty() {
        let span = settings::opening(file, &policy.value);
        facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit: None, span });
    }
    let retries = policy.value.entry_relaxed("numRetries").filter(|e| !e.value.is_null());
    let limit = |node: Option<&Node>| node.and_then(|n| settings::limit(n, duration::proto));
    facts.layers.push(Layer {
        reading: match retries {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, whose `retryPolicy` sets no `numRetries`"),
        },
        place: retries.map_or(opens, |e| e.value.span),
        asked_for: true,
        attempts: retries.map_or(Setting::default(Attempts::Count(2), TERRAFORM), settings::retries),
        wait: Wait::Unknown { why: "the provider sets it".to_string() },
        jitter: Setting::unknown("the provider sets it", None),
        retry_after: Setting::unknown("the provider does not say", None),
        retries: conditions(policy, opens),
        per_try: limit(get(&policy.value, "perTryTimeout")),
        overall: limit(get(action, "timeout")),
        advice: Advice {
            none: Some("take `retryPolicy` out".to_string()),
            fewer: Some("lower `numRetries`".to_string()),
            statuses: Some("keep `gateway-error` and `connect-failure` in `retryConditions`".to_string()),
            ..Advice::default()
        },
        scope: base::hops(vec![from], to),
        ..base::layer(ID, ids.next(format!("{ID}:{title}:{service}")), name, opens, POLICY)
    });
}

fn conditions(policy: &Entry, opens: Span) -> Conditions {
    let mut out = Conditions::default();
    let list = get(&policy.value, "retryConditions").map_or(&[][..], Node::items);
    for (word, span) in list.iter().take(settings::MAX_LIST).filter_map(|n| Some((n.as_str()?, n.span))) {
        let modes = modes(word);
        out.yes = out.yes.union(modes);
        if !modes.is_empty() {
            out.picks.push(Pick { modes, span, text: format!("`{word}`") });
        }
    }
    if list.is_empty() {
        // What holds without a list, the provider does not say.
        out.unknown = ModeSet::statuses(crate::model::STATUSES).union(ModeSet::transport());
        out.picks.push(Pick { modes: ModeSet::EMPTY, span: opens, text: "no `retryConditions`".to_string() });
    }
    out
}

fn modes(word: &str) -> ModeSet {
    let one = |mode: Mode| [mode].into_iter().collect::<ModeSet>();
    match word {
        "5xx" => ModeSet::statuses(500..=599).union(ModeSet::transport()),
        "gateway-error" => ModeSet::statuses(502..=504),
        "connect-failure" | "reset" | "refused-stream" => one(Mode::Refused),
        "retriable-4xx" => ModeSet::statuses([409]),
        "cancelled" => one(Mode::Grpc(1)),
        "deadline-exceeded" => one(Mode::Grpc(4)),
        "resource-exhausted" => one(Mode::Grpc(8)),
        "internal" => one(Mode::Grpc(13)),
        "unavailable" => one(Mode::Grpc(14)),
        _ => ModeSet::EMPTY,
    }
}
