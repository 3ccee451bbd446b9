//! DestinationRules: a host that is in the mesh, and what limits the retries to it together.

use super::{DESTINATION_RULE, ID, routes};
use crate::facts::{Facts, UpstreamFact};
use crate::model::{Budget, Inert, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::objects::Object;
use crate::systems::settings;

/// A host with a policy is known to be in the mesh, whose default then holds for calls to it; a budget limits them.
pub(super) fn read(object: &Object<'_>, before_1_24: bool, facts: &mut Facts) {
    let Some(host) = object.spec(&["host"]) else { return };
    let Some(to) = host.as_str().and_then(|text| settings::host(text, host.span, object.namespace)) else { return };
    let subsets = object.spec(&["subsets"]).map_or(&[][..], Node::items).iter();
    let subsets = subsets.filter_map(|subset| subset.get("trafficPolicy"));
    let policies: Vec<&Node> = object.spec(&["trafficPolicy"]).into_iter().chain(subsets).collect();
    let owner = format!("Istio DestinationRule {}", object.name);
    facts.inert.extend(policies.iter().flat_map(|policy| inert(policy)).map(|i| i.of(&owner)));
    let budget = policies.iter().find_map(|p| p.entry("retryBudget"));
    if let Some(budget) = budget {
        facts.upstreams.push(UpstreamFact {
            system: ID,
            name: to.name.clone(),
            namespace: to.namespace.clone(),
            to: Vec::new(),
            budget: Some(Budget { ratio: ratio(&budget.value) }),
            span: host.span,
        });
    }
    routes::fallback(to, before_1_24, facts);
}

fn ratio(budget: &Node) -> Setting<f64> {
    match budget.get("percent") {
        Some(node) => match node.as_f64() {
            Some(percent) => Setting::written(percent / 100.0, node.span),
            None => Setting::unknown("not a number here", Some(node.span)),
        },
        None => Setting::default(0.2, DESTINATION_RULE),
    }
}

/// What a traffic policy says of retries and Istio does not use.
fn inert(policy: &Node) -> Vec<Inert> {
    let cap = policy.at(&["connectionPool", "http"]).and_then(|http| http.entry("maxRetries"));
    let replaced = |budget: &Entry| {
        let cap = cap?;
        let found = Inert::new(cap.key_span, settings::quote(cap), "`retryBudget` beside it takes its place");
        Some(found.because(budget.key_span, "the budget").instead("Keep one of the two"))
    };
    let replaced = policy.entry("retryBudget").and_then(replaced);
    let ports = policy.get("portLevelSettings").map_or(&[][..], Node::items).iter();
    let of_ports = ports.filter_map(|port| port.entry("retryBudget")).map(|budget| {
        let why = "Istio has no budget for one port";
        Inert::new(budget.key_span, "`retryBudget`", why)
            .instead("Set it in `trafficPolicy` itself, or in that of a subset")
    });
    replaced.into_iter().chain(of_ports).collect()
}
