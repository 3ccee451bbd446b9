//! Ocelot: routes. Its quality of service is a breaker and a timeout; it sends each request once.

use crate::facts::{Facts, RouteFact};
use crate::model::{GatewayName, HostRef};
use crate::syntax::Node;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// Ocelot.
pub struct Ocelot;

const ID: &str = "ocelot";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Ocelot",
    reads: "`Routes` in ocelot*.json: downstream hosts, which are hops without retries",
    marks: &["DownstreamPathTemplate"],
    defaults: &[DefaultFigure {
        what: "a route, QoSOptions or not",
        value: "1 attempt: there is no retry",
        source: "ThreeMammals/Ocelot src/Configuration/QoSOptions.cs",
    }],
};

impl System for Ocelot {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let routes = root.get_any(&["Routes", "ReRoutes"]).map_or(&[][..], Node::items).iter();
            for route in routes.filter(|r| r.get("DownstreamPathTemplate").is_some()) {
                let to = hosts(route);
                if !to.is_empty() {
                    let from = GatewayName::OfFile { file: file.id, system: ID };
                    let span = settings::opening(file, route);
                    let limit = route.at(&["QoSOptions", "TimeoutValue"]);
                    let limit = limit.and_then(|n| settings::limit(n, |n| duration::millis(n.as_f64()?)));
                    facts.routes.push(RouteFact { from, to, grpc: false, limit, span });
                }
            }
        }
    }
}

fn hosts(route: &Node) -> Vec<HostRef> {
    let listed = route.get("DownstreamHostAndPorts").map_or(&[][..], Node::items).iter();
    let listed = listed.filter_map(|item| {
        let host = item.get("Host")?;
        let port = item.get("Port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        Some(HostRef { port, ..settings::host(host.as_str()?, host.span, None)? })
    });
    let service = route.get("ServiceName").and_then(|n| settings::host(n.as_str()?, n.span, None));
    settings::distinct(listed.chain(service))
}
