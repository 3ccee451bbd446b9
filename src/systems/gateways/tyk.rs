//! Tyk: API definitions. It sends each request once; `throttle_retry_limit` asks its own rate limiter again.

use crate::facts::{Facts, RouteFact};
use crate::model::GatewayName;
use crate::syntax::Node;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, objects, settings};

/// Tyk.
pub struct Tyk;

const ID: &str = "tyk";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Tyk",
    reads: "API definitions (JSON, OAS with `x-tyk-api-gateway`) and ApiDefinitions: targets, which are hops without \
            retries",
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
                facts.routes.push(RouteFact { from, to, grpc: false, limit: None, span });
            }
        }
    }
}
