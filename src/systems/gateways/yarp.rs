//! YARP: clusters and their destinations. It sends each request once.

use crate::facts::{Facts, RouteFact};
use crate::model::{Confidence, GatewayName, Inert};
use crate::syntax::Node;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// YARP.
pub struct Yarp;

const ID: &str = "yarp";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "YARP",
    reads: "`ReverseProxy` in appsettings*.json: clusters and destinations, which are hops without retries",
    marks: &["ReverseProxy"],
    defaults: &[DefaultFigure {
        what: "a cluster",
        value: "1 attempt: there is no retry",
        source: "microsoft/reverse-proxy src/ReverseProxy/Forwarder/HttpForwarder.cs",
    }],
};

impl System for Yarp {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            facts.inert.extend(root.get("ReverseProxy").into_iter().flat_map(metadata));
            for cluster in root.at(&["ReverseProxy", "Clusters"]).map_or(&[][..], Node::entries) {
                let destinations = cluster.value.get("Destinations").map_or(&[][..], Node::entries).iter();
                let addresses = destinations.filter_map(|d| d.value.get("Address"));
                let to = settings::distinct(addresses.filter_map(|a| settings::host(a.as_str()?, a.span, None)));
                if !to.is_empty() {
                    let from = GatewayName::OfFile { file: file.id, system: ID };
                    let limit = cluster.value.at(&["HttpRequest", "ActivityTimeout"]);
                    let limit = limit.and_then(|n| settings::limit(n, |n| duration::time_span(n.as_str()?)));
                    facts.routes.push(RouteFact { from, to, grpc: false, limit, span: cluster.key_span });
                }
            }
        }
    }
}

/// Keys about retries among what YARP keeps for code of one's own.
fn metadata(proxy: &Node) -> Vec<Inert> {
    let mut out = Vec::new();
    for (list, what) in [("Routes", "route"), ("Clusters", "cluster")] {
        for item in proxy.get(list).map_or(&[][..], Node::entries) {
            let metadata = item.value.get("Metadata").map_or(&[][..], Node::entries).iter();
            out.extend(metadata.filter(|e| e.key.to_lowercase().contains("retry")).map(|e| {
                let why = "YARP sends each request once, and reads no metadata: that is for code of your own";
                let inert = Inert::new(e.key_span, settings::quote(e), why);
                inert.of(&format!("YARP {what} {}", settings::shown(&item.key))).confidence(Confidence::Medium)
            }));
        }
    }
    out
}
