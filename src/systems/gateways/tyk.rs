//! Tyk: API definitions. It sends each request once; `throttle_retry_limit` asks its own rate limiter again.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{GatewayName, Setting};
use crate::syntax::Node;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, objects, settings};

/// Tyk.
pub struct Tyk;

const ID: &str = "tyk";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Tyk",
    reads: "API definitions (JSON, OAS with `x-tyk-api-gateway`) and ApiDefinitions: targets, which are hops without \
            retries, and the limits of its enforced timeouts",
    marks: &["x-tyk-api-gateway", "listen_path", "tyk.tyk.io"],
    defaults: &[DefaultFigure {
        what: "an API",
        value: "1 attempt: there is no retry",
        source: "TykTechnologies/tyk gateway/reverse_proxy.go",
    }],
};

impl System for Tyk {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let of_resource = objects::of(root).into_iter().find(|o| o.version.starts_with("tyk.tyk.io/"));
            let spec = of_resource.and_then(|o| o.spec(&[])).unwrap_or(root);
            let proxy = spec.get("proxy").filter(|p| p.get("listen_path").is_some());
            let targets = proxy.and_then(|p| p.get("target_list").filter(|t| !t.items().is_empty()));
            let single = proxy.and_then(|p| p.get("target_url"));
            let oas = spec.at(&["x-tyk-api-gateway", "upstream", "url"]);
            let nodes: Vec<&Node> = match targets {
                Some(list) => list.items().iter().map(|n| &**n).collect(),
                None => single.into_iter().chain(oas).collect(),
            };
            let to = settings::distinct(nodes.iter().filter_map(|n| settings::host(n.as_str()?, n.span, None)));
            if let Some(first) = to.first() {
                let from = GatewayName::OfFile { file: file.id, system: ID };
                let span = first.span;
                let route = RouteFact { from, to, grpc: false, limit: None, span };
                let limits = limits(spec).into_iter();
                facts.routes.extend(limits.map(|limit| RouteFact { limit: Some(limit), ..route.clone() }));
                facts.routes.push(route);
            }
        }
    }
}

/// How long it waits for the answers of the endpoints that have an enforced timeout, in seconds.
fn limits(spec: &Node) -> Vec<Setting<Duration>> {
    let versions = spec.at(&["version_data", "versions"]).map_or(&[][..], Node::entries).iter();
    let lists = versions.filter_map(|v| v.value.at(&["extended_paths", "hard_timeouts"])).flat_map(Node::items);
    let classic = lists.filter(|t| t.get("disabled").and_then(Node::as_bool) != Some(true));
    let classic = classic.filter_map(|t| t.get("timeout"));
    let operations = spec.at(&["x-tyk-api-gateway", "middleware", "operations"]).map_or(&[][..], Node::entries).iter();
    let oas = operations.filter_map(|o| o.value.get("enforceTimeout"));
    let oas = oas.filter(|t| t.get("enabled").and_then(Node::as_bool) != Some(false)).filter_map(|t| t.get("value"));
    let mut limits: Vec<Setting<Duration>> = Vec::new();
    for limit in classic.chain(oas).take(settings::MAX_LIST).filter_map(|n| settings::limit(n, duration::go_or_seconds))
    {
        if limits.iter().all(|known| known.value() != limit.value()) {
            limits.push(limit);
        }
    }
    limits
}
