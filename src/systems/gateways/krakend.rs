//! KrakenD: it does not retry; `concurrent_calls` sends copies at once, which multiply all the same.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, Confidence, GatewayName, HostRef, Inert, Layer, Methods, ModeSet, Pick, Setting, Wait,
};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// KrakenD.
pub struct KrakenD;

const ID: &str = "krakend";
const CONCURRENT: &str = "luraproject/lura proxy/concurrent.go";
const CONFIG: &str = "luraproject/lura config/config.go";

const LAMBDA: &str = "krakend/krakend-lambda backend.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "KrakenD",
    reads: "`krakend.json` (also YAML and TOML): endpoints, their backends, `concurrent_calls`, functions of AWS Lambda",
    marks: &["url_pattern", "concurrent_calls"],
    defaults: &[
        DefaultFigure { what: "an endpoint", value: "1 attempt: there is no retry", source: CONFIG },
        DefaultFigure {
            what: "concurrent_calls",
            value: "so many copies of each request at once, whatever its method",
            source: CONCURRENT,
        },
        DefaultFigure { what: "timeout absent", value: "2 s", source: CONFIG },
        DefaultFigure {
            what: "backend/lambda max_retries absent, or in JSON",
            value: "4 attempts (3 retries) of the AWS SDK: the number of JSON is none of Go's whole numbers",
            source: LAMBDA,
        },
    ],
};

impl System for KrakenD {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(_, root)| is_krakend(root)) {
            let why = "KrakenD has no such setting and passes over it";
            let mistaken = root.entry_any(&["retry", "retries"]);
            facts.inert.extend(mistaken.map(|e| Inert::new(e.key_span, format!("`{}`", e.key), why).of("KrakenD")));
            let mut ids = Ids::default();
            for endpoint in root.get("endpoints").map_or(&[][..], Node::items) {
                read(file, root, endpoint, &mut ids, facts);
            }
        }
    }
}

fn is_krakend(root: &Node) -> bool {
    let backends =
        |e: &Node| e.get("backend").is_some_and(|b| b.items().iter().any(|b| b.get("url_pattern").is_some()));
    root.get("endpoints").is_some_and(|list| list.items().iter().any(|e| backends(e)))
}

fn read(file: &SourceFile, root: &Node, endpoint: &Node, ids: &mut Ids, facts: &mut Facts) {
    let opens = settings::opening(file, endpoint);
    let from = GatewayName::OfFile { file: file.id, system: ID };
    let to = hosts(root, endpoint);
    if !to.is_empty() {
        let limit = if copies(endpoint).is_none() { Some(overall(root, endpoint)) } else { None };
        facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit, span: opens });
    }
    let path = endpoint.get("endpoint").and_then(Node::as_str).unwrap_or("without a path");
    let method = endpoint.get("method").and_then(Node::as_str).unwrap_or("GET");
    let title = format!("{method} {}", settings::shown(path));
    let backends = endpoint.get("backend").map_or(&[][..], Node::items).iter().map(|n| &**n);
    let mistaken = backends.chain([endpoint]).filter_map(|n| n.entry_any(&["retry", "retries"]));
    let why = "KrakenD has no such setting and passes over it";
    let owner = format!("KrakenD endpoint {title}");
    facts.inert.extend(mistaken.map(|e| Inert::new(e.key_span, format!("`{}`", e.key), why).of(&owner)));
    for backend in endpoint.get("backend").map_or(&[][..], Node::items) {
        let layer = lambda(file, backend, &title, ids, &mut facts.inert);
        facts.layers.extend(layer);
    }
    let Some((entry, copies)) = copies(endpoint) else { return };
    let span = entry.value.span;
    let name = format!("KrakenD endpoint {method} {}", settings::shown(path));
    let every = ModeSet::all();
    let pick = Pick { modes: every, span, text: settings::quote(entry) };
    facts.layers.push(Layer {
        reading: format!("{} on {name}", settings::quote(entry)),
        place: span,
        asked_for: true,
        attempts: Setting::written(Attempts::Count(copies), span),
        retries: Conditions { yes: every, picks: vec![pick], ..Conditions::default() },
        overall: Some(overall(root, endpoint)),
        copies: true,
        methods: match endpoint.get("method") {
            Some(node) => Methods::Written { methods: vec![method.to_uppercase()], span: node.span },
            None => Methods::Only(vec!["GET".to_string()]),
        },
        advice: Advice { none: Some("leave `concurrent_calls` out".to_string()), ..Advice::default() },
        scope: base::hops(vec![from], to),
        ..base::layer(ID, ids.next(format!("{ID}:{method}:{path}")), name, opens, CONCURRENT)
    });
}

/// What makes a backend a function of AWS Lambda.
fn function(backend: &Node) -> Option<&Entry> {
    backend.get("extra_config")?.entry_any(&["backend/lambda", "github.com/devopsfaith/krakend-lambda"])
}

/// A function of AWS Lambda as a backend: the SDK repeats the call.
fn lambda(file: &SourceFile, backend: &Node, endpoint: &str, ids: &mut Ids, inert: &mut Vec<Inert>) -> Option<Layer> {
    let key = function(backend)?;
    let written = |name: &str| key.value.entry(name).filter(|e| !e.value.is_null());
    let named = written("function_name").and_then(|e| Some((e.value.as_str()?, e.value.span)));
    let name = format!("KrakenD function {} of endpoint {endpoint}", named.map_or("of the request", |(name, _)| name));
    let count = written("max_retries");
    let is_json = crate::syntax::Syntax::of_path(&file.path) == Some(crate::syntax::Syntax::Json);
    // Without a region none of the settings is looked at; -1 leaves the count to the SDK.
    let is_read = !is_json && written("region").is_some() && count.is_some_and(|e| e.value.as_int() != Some(-1));
    if let Some(count) = count.filter(|e| is_json && e.value.as_int().is_some_and(|n| n >= 0)) {
        let why = "KrakenD takes a whole number of Go for it, JSON gives none, and the 3 retries of the AWS SDK hold";
        inert.push(Inert::new(count.value.span, settings::quote(count), why).of(&name).confidence(Confidence::Low));
    }
    let read = count.filter(|_| is_read);
    let to = named.and_then(|(name, span)| settings::host(&format!("lambda.{name}"), span, None));
    let modes = ModeSet::statuses([500, 502, 503, 504]).union(ModeSet::transport());
    let pick = Pick { modes, span: key.key_span, text: "the conditions of the AWS SDK".to_string() };
    Some(Layer {
        reading: match read {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, whose count is the AWS SDK's"),
        },
        place: read.map_or(key.key_span, |e| e.value.span),
        asked_for: read.is_some(),
        attempts: read.map_or(Setting::default(Attempts::Count(4), LAMBDA), settings::retries),
        wait: Wait::Unknown { why: "the AWS SDK sets it".to_string() },
        jitter: Setting::unknown("the AWS SDK sets it", None),
        retries: Conditions {
            yes: modes,
            unknown: ModeSet::statuses([429]),
            picks: vec![pick],
            ..Conditions::default()
        },
        scope: base::hops(vec![GatewayName::OfFile { file: file.id, system: ID }], to.into_iter().collect()),
        ..base::layer(ID, ids.next(format!("{ID}:lambda:{endpoint}")), name, key.key_span, LAMBDA)
    })
}

fn copies(endpoint: &Node) -> Option<(&Entry, u64)> {
    let entry = endpoint.entry("concurrent_calls")?;
    let copies = u64::try_from(entry.value.as_int()?).ok().filter(|n| *n > 1)?;
    Some((entry, copies))
}

/// Backends without hosts have those of the whole service.
fn hosts(root: &Node, endpoint: &Node) -> Vec<HostRef> {
    // The host beside a function stands for nothing.
    let backends = endpoint.get("backend").map_or(&[][..], Node::items).iter().filter(|b| function(b).is_none());
    let lists = backends.filter_map(|b| b.get("host").or_else(|| root.get("host")));
    settings::distinct(lists.flat_map(Node::items).filter_map(|n| settings::host(n.as_str()?, n.span, None)))
}

fn overall(root: &Node, endpoint: &Node) -> Setting<Duration> {
    match endpoint.get("timeout").or_else(|| root.get("timeout")) {
        Some(node) => match node.as_str().and_then(duration::go) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        },
        None => Setting::default(Duration::from_secs(2), CONFIG),
    }
}
