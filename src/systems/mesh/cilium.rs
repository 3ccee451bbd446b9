//! Cilium: Envoy's own resources inside CiliumEnvoyConfigs. Its Gateways are read with the Gateway API.

use crate::facts::Facts;
use crate::systems::gateways::envoy;
use crate::systems::objects;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Cilium.
pub struct Cilium;

const ID: &str = "cilium";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Cilium",
    reads: "CiliumEnvoyConfig and CiliumClusterwideEnvoyConfig: the Envoy resources in them",
    marks: &["cilium.io/"],
    defaults: &[DefaultFigure {
        what: "no retry_policy in a resource",
        value: "1 attempt",
        source: crate::systems::envoy_based::ROUTE_PROTO,
    }],
};

impl System for Cilium {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                let mine = matches!(object.kind, "CiliumEnvoyConfig" | "CiliumClusterwideEnvoyConfig");
                if let (true, Some(spec)) = (mine && object.version.starts_with("cilium.io/"), object.spec(&[])) {
                    envoy::read(file, &[spec], facts);
                }
            }
        }
    }
}
