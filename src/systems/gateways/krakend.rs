//! KrakenD: it does not retry; `concurrent_calls` sends copies at once, which multiply all the same.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, ModeSet, Pick, Setting};
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

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "KrakenD",
    reads: "`krakend.json` (also YAML and TOML): endpoints, their backends, `concurrent_calls`",
    marks: &["url_pattern", "concurrent_calls"],
    defaults: &[
        DefaultFigure { what: "an endpoint", value: "1 attempt: there is no retry", source: CONFIG },
        DefaultFigure {
            what: "concurrent_calls",
            value: "so many copies of each request at once, whatever its method",
            source: CONCURRENT,
        },
        DefaultFigure { what: "timeout absent", value: "2 s", source: CONFIG },
    ],
};

impl System for KrakenD {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(_, root)| is_krakend(root)) {
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
        advice: Advice { fewer: Some("leave `concurrent_calls` out".to_string()), ..Advice::default() },
        scope: base::hops(vec![from], to),
        ..base::layer(ID, ids.next(format!("{ID}:{method}:{path}")), name, opens, CONCURRENT)
    });
}

fn copies(endpoint: &Node) -> Option<(&Entry, u64)> {
    let entry = endpoint.entry("concurrent_calls")?;
    let copies = u64::try_from(entry.value.as_int()?).ok().filter(|n| *n > 1)?;
    Some((entry, copies))
}

/// Backends without hosts have those of the whole service.
fn hosts(root: &Node, endpoint: &Node) -> Vec<HostRef> {
    let backends = endpoint.get("backend").map_or(&[][..], Node::items).iter();
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
