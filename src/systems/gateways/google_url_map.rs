//! Google Cloud load balancers: retry policies in URL maps.

use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Mode, ModeSet, Pick, Setting, Wait};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
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
            if is_url_map(root) {
                let title = root.get("name").and_then(Node::as_str).unwrap_or("without a name");
                read(file, ("URL map", title), root, facts);
            }
            if is_route(root) {
                let name = root.get("name").and_then(Node::as_str).and_then(|n| n.rsplit('/').next());
                read(file, ("Network Services route", name.unwrap_or("without a name")), root, facts);
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
