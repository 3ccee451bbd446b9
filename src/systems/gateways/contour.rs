//! Contour: HTTPProxies, and annotations of Ingresses.

use crate::facts::{DelegationFact, Facts, RouteFact};
use crate::model::{Advice, Attempts, Callers, GatewayName, HostRef, Inert, Layer, LayerKind, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::ingresses::{self, annotation};
use crate::systems::objects::{self, Object};
use crate::systems::retry_on::{self, Around};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, delegates};

/// Contour.
pub struct Contour;

const ID: &str = "contour";
const POLICY: &str = "projectcontour/contour internal/dag/policy.go";
const TYPES: &str = "projectcontour/contour apis/projectcontour/v1/httpproxy.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Contour",
    reads: "HTTPProxy with its includes; annotations `projectcontour.io/*` of Ingresses",
    marks: &["projectcontour.io/"],
    defaults: &[
        DefaultFigure { what: "no retryPolicy", value: "1 attempt", source: TYPES },
        DefaultFigure { what: "retryPolicy.count absent or 0", value: "2 attempts (1 retry)", source: POLICY },
        DefaultFigure {
            what: "retryPolicy.count: -1",
            value: "1 attempt; 2 before 1.34",
            source: "projectcontour/contour issue 5944",
        },
        DefaultFigure {
            what: "retryPolicy.retryOn absent",
            value: "5xx: every 5xx and every transport fault",
            source: POLICY,
        },
        DefaultFigure {
            what: "wait",
            value: "25 ms, doubling, at most 250 ms; there is no such setting",
            source: retry_on::RETRY_STATE,
        },
        DefaultFigure { what: "jitter", value: "full, always", source: envoy_based::BACKOFF },
        DefaultFigure {
            what: "timeoutPolicy.response absent",
            value: "15 s over all tries and waits",
            source: envoy_based::ROUTE_PROTO,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: TYPES },
    ],
};

impl System for Contour {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        let before_1_34 = versions.is_before(ID, 1, 34);
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                if object.kind == "HTTPProxy" && object.version.starts_with("projectcontour.io/") {
                    Reader { file, object, before_1_34, ids: Ids::default() }.read(facts);
                } else if ingresses::is_ingress(&object) {
                    ingress(file, &object, facts);
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        delegates::resolve(facts, ID);
    }
}

/// The Envoys that Contour runs serve everything.
fn gateway() -> GatewayName {
    GatewayName::Named(ID.to_string())
}

struct Reader<'a> {
    file: &'a SourceFile,
    object: Object<'a>,
    before_1_34: bool,
    ids: Ids,
}

impl Reader<'_> {
    fn read(&mut self, facts: &mut Facts) {
        let from = match self.object.spec(&["virtualhost"]) {
            Some(_) => gateway(),
            None => delegates::placeholder(ID, self.object.qualified()),
        };
        for include in self.object.spec(&["includes"]).map_or(&[][..], Node::items) {
            facts.delegations.extend(self.delegation(include, &from));
        }
        let routes = self.object.spec(&["routes"]).map_or(&[][..], Node::items);
        for (i, route) in routes.iter().enumerate() {
            let to = self.services(route);
            if to.is_empty() {
                continue;
            }
            let opens = settings::opening(self.file, route);
            let retries = route.entry("retryPolicy").filter(|e| !e.value.is_null());
            let limit = match retries {
                Some(_) => None,
                None => overall(route.at(&["timeoutPolicy", "response"])),
            };
            facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit, span: opens });
            let title = (routes.len() > 1).then(|| prefix(route).map_or_else(|| (i + 1).to_string(), str::to_string));
            if let Some(key) = retries {
                let layer = self.layer(route, key, title, from.clone(), to, facts);
                facts.layers.push(layer);
            }
        }
    }

    /// Another HTTPProxy takes over what is below a prefix.
    fn delegation(&self, include: &Node, from: &GatewayName) -> Option<DelegationFact> {
        let name = include.get("name")?.as_str()?;
        let namespace = include.get("namespace").and_then(Node::as_str).or(self.object.namespace);
        Some(DelegationFact {
            system: ID,
            object: namespace.map_or_else(|| name.to_string(), |n| format!("{n}/{name}")),
            callers: Callers { gateways: vec![from.clone()], mesh: false },
            hosts: Vec::new(),
            policy: None,
        })
    }

    fn services(&self, route: &Node) -> Vec<HostRef> {
        let services = route.get("services").map_or(&[][..], Node::items).iter();
        let host = |service: &Node| {
            let name = service.get("name")?;
            let port = service.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
            let host = settings::host(name.as_str()?, name.span, self.object.namespace)?;
            let mirrors = service.get("mirror").and_then(Node::as_bool) == Some(true);
            (!mirrors && service.get("weight").and_then(Node::as_int) != Some(0)).then_some(HostRef { port, ..host })
        };
        settings::distinct(services.filter_map(|s| host(s)))
    }

    fn layer(
        &mut self,
        route: &Node,
        key: &Entry,
        title: Option<String>,
        from: GatewayName,
        to: Vec<HostRef>,
        facts: &mut Facts,
    ) -> Layer {
        let (name, suffix) = match title {
            Some(title) => (format!("Contour HTTPProxy {}, route {title}", self.object.name), format!(":{title}")),
            None => (format!("Contour HTTPProxy {}", self.object.name), String::new()),
        };
        let mut inert = Vec::new();
        let overall = overall(route.at(&["timeoutPolicy", "response"]));
        let per_try = envoy_based::per_try(key.value.entry("perTryTimeout"), overall.as_ref(), go, &mut inert);
        // A value that cannot be read, `infinity` included, counts as none.
        let per_try = per_try.filter(|limit| limit.value().is_some());
        inert.extend(key.value.entry("perTryTimeout").and_then(unreadable));
        let codes = key.value.entry("retriableStatusCodes");
        let statuses = envoy_based::codes(codes.map(|e| &*e.value));
        let mut words = envoy_based::words(key.value.get("retryOn"));
        if words.is_empty() {
            words.push(("5xx", key.key_span));
        }
        if let (Some(codes), false) = (codes, words.iter().any(|(w, _)| *w == "retriable-status-codes"))
            && !statuses.is_empty()
        {
            inert.push(envoy_based::unused_statuses(codes));
        }
        let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
        let on = retry_on::read(&words, &statuses, around);
        let count = self.count(key, &mut inert);
        let mut policy = Policy::new(count, key, key.value.entry("retryOn"), on, &mut inert);
        policy.per_try = per_try;
        facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
        let id = self.ids.next(format!("{ID}:httpproxy:{}{suffix}", self.object.qualified()));
        let identity = Identity { system: ID, kind: LayerKind::Gateway, id, name, opens: key.key_span };
        let scope = envoy_based::from_gateways(vec![from], to);
        Layer { overall, advice: advice(), ..envoy_based::layer(identity, scope, policy) }
    }

    /// Zero is read as absent; -1 is none, as of 1.34.
    fn count(&self, key: &Entry, inert: &mut Vec<Inert>) -> Count {
        let entry = key.value.entry("count").filter(|e| !e.value.is_null());
        let default = Setting::default(Attempts::Count(2), POLICY);
        let Some((written, number)) = entry.and_then(|e| Some((e, e.value.as_int()?))) else {
            return Count::of(entry, key, default);
        };
        let ignored = |why: &str| {
            Inert::new(written.key_span, settings::quote(written), why)
                .instead("For no retries, take the `retryPolicy` out")
        };
        let place = written.value.span;
        let reading = settings::quote(written);
        match number {
            0 => inert.push(ignored("Contour reads 0 as if nothing was written, which stands for 1 retry")),
            _ if number < 0 && self.before_1_34 => {
                inert.push(ignored("Contour before 1.34 reads it as if nothing was written, which stands for 1 retry"));
            }
            _ if number < 0 => return Count::off(place, reading),
            _ => return Count::of(Some(written), key, default),
        }
        Count { attempts: default, reading, place }
    }
}

/// The limit on all tries: 15 s, unless the route says otherwise.
fn overall(response: Option<&Node>) -> Option<Setting<std::time::Duration>> {
    let Some(node) = response.filter(|n| !n.is_null()) else { return Some(envoy_based::default_overall()) };
    match node.as_str() {
        Some("infinity" | "infinite") => None,
        _ => Some(settings::limit(node, go).unwrap_or_else(envoy_based::default_overall)),
    }
}

/// A limit on one try that Contour cannot read; `infinity` says that there is to be none.
fn unreadable(entry: &Entry) -> Option<Inert> {
    let text = entry.value.as_str().filter(|_| !entry.value.is_null())?;
    let is_fine = go(&entry.value).is_some() || settings::is_template(text) || matches!(text, "infinity" | "infinite");
    let why = "it is no duration, and Contour then sets no limit on a try";
    (!is_fine)
        .then(|| Inert::new(entry.key_span, settings::quote(entry), why).instead("Write a duration, such as `750ms`"))
}

fn prefix(route: &Node) -> Option<&str> {
    let conditions = route.get("conditions")?.items();
    conditions.iter().find_map(|c| c.get_any(&["prefix", "exact", "regex"])?.as_str())
}

/// Annotations of an Ingress.
fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let get = |key: &str| annotation(object, &format!("projectcontour.io/{key}"));
    let (words, count) = (get("retry-on"), get("num-retries"));
    let name = format!("Ingress {}", object.name);
    let Some(key) = words else {
        let found = count.map(|e| {
            let why = "it counts only beside `projectcontour.io/retry-on`, so nothing is retried";
            Inert::new(e.key_span, settings::quote(e), why).of(&name).instead("Set `projectcontour.io/retry-on`")
        });
        facts.inert.extend(found);
        return;
    };
    let to = ingresses::backends(file, object);
    if to.is_empty() {
        return;
    }
    let mut inert = Vec::new();
    let overall = overall(get("response-timeout").map(|e| &*e.value));
    let per_try = envoy_based::per_try(get("per-try-timeout"), overall.as_ref(), go, &mut inert);
    let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
    let on = retry_on::read(&settings::list(&key.value), &[], around);
    let default = Setting::default(Attempts::Count(2), POLICY);
    inert.extend(count.filter(|e| e.value.as_int().is_some_and(|n| n == 0 || n < -1)).map(|e| {
        let why = "Contour reads it as if nothing was written, which stands for 1 retry";
        let found = Inert::new(e.key_span, settings::quote(e), why);
        found.instead("For no retries, take `projectcontour.io/retry-on` out")
    }));
    inert.extend(get("per-try-timeout").and_then(unreadable));
    let count = match count.and_then(|e| Some((e, e.value.as_int()?))) {
        Some((e, -1)) => Count::off(e.value.span, settings::quote(e)),
        Some((e, 1..)) => Count::of(Some(e), key, default),
        _ => Count { attempts: default, reading: settings::quote(key), place: key.value.span },
    };
    let mut policy = Policy::new(count, key, Some(key), on, &mut inert);
    policy.per_try = per_try;
    facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
    let id = format!("{ID}:ingress:{}", object.qualified()).into();
    let identity = Identity { system: ID, kind: LayerKind::Gateway, id, name, opens: key.key_span };
    let hosts = settings::distinct(to.into_iter().map(|(host, _)| host));
    let scope = envoy_based::from_gateways(vec![ingresses::gateway(object)], hosts);
    facts.layers.push(Layer { overall, advice: advice(), ..envoy_based::layer(identity, scope, policy) });
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the `retryPolicy` out (a count of 0 counts as 1)"),
        statuses: some("name in `retryOn` only what can pass, such as `connect-failure` and `gateway-error`"),
        pass_on: some("take 429 and 503 out"),
        ..Advice::default()
    }
}
