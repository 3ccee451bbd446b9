//! Skipper: one more try, built in, of a request without a body that could not be delivered to one of several endpoints.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, Confidence, GatewayName, HostRef, Layer, Methods, Mode, ModeSet, Pick, Setting,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::gateways::base;
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Skipper.
pub struct Skipper;

const ID: &str = "skipper";
const PROXY: &str = "zalando/skipper proxy/proxy.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Skipper",
    reads: "routes (*.eskip) and RouteGroups: backends with several endpoints, which are tried twice",
    marks: &["zalando.org/v1", "<roundRobin", "<random", "<consistentHash", "<powerOfRandomNChoices"],
    defaults: &[
        DefaultFigure { what: "a backend of several endpoints", value: "2 attempts (1 retry), at once", source: PROXY },
        DefaultFigure { what: "any other backend", value: "1 attempt", source: PROXY },
        DefaultFigure {
            what: "what is retried",
            value: "connections that fail, of requests without a body",
            source: PROXY,
        },
    ],
};

impl System for Skipper {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for part in &unit.parts {
            for root in &part.parsed.documents {
                if Syntax::of_path(part.name) == Some(Syntax::Eskip) {
                    let mut ids = Ids::default();
                    root.entries().iter().for_each(|route| eskip(part.file, route, &mut ids, facts));
                }
                for object in objects::of(root) {
                    if object.kind == "RouteGroup" && object.version.starts_with("zalando.org/") {
                        group(part.file, &object, facts);
                    }
                }
            }
        }
    }
}

/// A route as either form tells it.
struct Route {
    title: String,
    id: String,
    from: GatewayName,
    to: Vec<HostRef>,
    /// Whether it has several endpoints.
    balanced: bool,
    methods: Option<Vec<String>>,
    overall: Option<Setting<Duration>>,
    opens: Span,
}

fn eskip(file: &SourceFile, route: &Entry, ids: &mut Ids, facts: &mut Facts) {
    let backends = route.value.get("backends").map_or(&[][..], Node::items);
    let to = settings::distinct(backends.iter().filter_map(|n| settings::host(n.as_str()?, n.span, None)));
    let argument = |part: &str, name: &str| route.value.at(&[part, name])?.items().first().cloned();
    let method = argument("predicates", "Method").and_then(|n| Some(vec![n.as_str()?.to_uppercase()]));
    let timeout = argument("filters", "backendTimeout");
    let title = if route.key.is_empty() { "without an id" } else { &*route.key };
    add(
        Route {
            title: format!("Skipper route {title}"),
            id: ids.next(format!("{ID}:{title}")).to_string(),
            from: GatewayName::OfFile { file: file.id, system: ID },
            balanced: backends.len() > 1,
            to,
            methods: method,
            overall: timeout.and_then(|n| settings::limit(&n, |n| duration::go(n.as_str()?))),
            opens: route.key_span,
        },
        facts,
    );
}

fn group(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let backends = object.spec(&["backends"]).map_or(&[][..], Node::items);
    let defaults = object.spec(&["defaultBackends"]).map_or(&[][..], Node::items);
    let mut ids = Ids::default();
    for (i, route) in object.spec(&["routes"]).map_or(&[][..], Node::items).iter().enumerate() {
        let own = route.get("backends").map_or(&[][..], Node::items);
        let used = if own.is_empty() { defaults } else { own };
        let path = route.get_any(&["pathSubtree", "path", "pathRegexp"]).and_then(Node::as_str);
        let title = path.map_or_else(|| (i + 1).to_string(), str::to_string);
        let methods = route.get("methods").map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str());
        let methods: Vec<String> = methods.map(str::to_uppercase).collect();
        let named = used.iter().filter_map(|u| u.get("backendName")?.as_str());
        for backend in
            named.filter_map(|name| backends.iter().find(|b| b.get("name").and_then(Node::as_str) == Some(name)))
        {
            let (to, balanced) = endpoints(backend, object.namespace);
            add(
                Route {
                    title: format!("Skipper RouteGroup {}, route {title}", object.name),
                    id: ids.next(format!("{ID}:{}:{title}", object.qualified())).to_string(),
                    from: GatewayName::Named(ID.to_string()),
                    to,
                    balanced,
                    methods: Some(methods.clone()).filter(|m| !m.is_empty()),
                    overall: None,
                    opens: settings::opening(file, route),
                },
                facts,
            );
        }
    }
}

/// The hosts behind a backend, and whether there are several endpoints for sure: how many pods a Service has, it does
/// not say.
fn endpoints(backend: &Node, namespace: Option<&str>) -> (Vec<HostRef>, bool) {
    let host = |n: &Node, namespace: Option<&str>| settings::host(n.as_str()?, n.span, namespace);
    let listed = backend.get("endpoints").map_or(&[][..], Node::items);
    let addresses = listed.iter().map(|n| n.get("address").unwrap_or(n)).chain(backend.get("address"));
    let service = backend.get("serviceName").and_then(|n| host(n, namespace));
    let to = settings::distinct(addresses.filter_map(|n| host(n, None)).chain(service));
    (to, listed.len() > 1)
}

fn add(route: Route, facts: &mut Facts) {
    let Route { title: name, id, from, to, balanced, methods, overall, opens } = route;
    if to.is_empty() {
        return;
    }
    // What has a body is sent once.
    let bodiless = ["DELETE", "GET", "HEAD", "OPTIONS"].map(String::from);
    let methods: Vec<String> =
        bodiless.into_iter().filter(|m| methods.as_ref().is_none_or(|named| named.contains(m))).collect();
    let is_repeated = balanced && !methods.is_empty();
    let limit = if is_repeated { None } else { overall.clone() };
    facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit, span: opens });
    if !is_repeated {
        return;
    }
    let modes: ModeSet = [Mode::Refused].into_iter().collect();
    let pick = Pick { modes, span: opens, text: "Skipper's fixed conditions".to_string() };
    facts.layers.push(Layer {
        reading: format!("{name}, whose endpoints are tried twice"),
        attempts: Setting::default(Attempts::Count(2), PROXY),
        retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
        methods: Methods::Only(methods),
        overall,
        advice: Advice::default(),
        confidence: Confidence::Low,
        scope: base::hops(vec![from], to),
        ..base::layer(ID, id.into(), name, opens, PROXY)
    });
}
