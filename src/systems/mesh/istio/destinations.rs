//! DestinationRules: a host that is in the mesh, and what limits the retries to it together.

use super::{DESTINATION_RULE, ID, routes};
use crate::facts::{Facts, UpstreamFact};
use crate::model::{Budget, Inert, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::objects::Object;
use crate::systems::settings;
use crate::systems::upstreams;

/// A host with a policy is known to be in the mesh, whose default then holds for calls to it; a budget limits them.
pub(super) fn read(object: &Object<'_>, before_1_24: bool, facts: &mut Facts) {
    let Some(host) = object.spec(&["host"]) else { return };
    let Some(to) = host.as_str().and_then(|text| settings::host(text, host.span, object.namespace)) else { return };
    let subsets = object.spec(&["subsets"]).map_or(&[][..], Node::items).iter();
    let subsets = subsets.filter_map(|subset| subset.get("trafficPolicy"));
    let policies: Vec<&Node> = object.spec(&["trafficPolicy"]).into_iter().chain(subsets).collect();
    let owner = format!("Istio DestinationRule {}", object.name);
    facts.inert.extend(policies.iter().flat_map(|policy| inert(policy)).map(|i| i.of(&owner)));
    let upstream = |name: String, budget: &Entry| UpstreamFact {
        system: ID,
        name,
        namespace: to.namespace.clone(),
        to: Vec::new(),
        budget: Some(Budget { ratio: ratio(&budget.value) }),
        span: host.span,
    };
    if let Some(budget) = object.spec(&["trafficPolicy"]).and_then(|p| p.entry("retryBudget")) {
        facts.upstreams.push(upstream(to.name.clone(), budget));
    }
    for subset in object.spec(&["subsets"]).map_or(&[][..], Node::items) {
        let budget = subset.get("trafficPolicy").and_then(|p| p.entry("retryBudget"));
        if let Some((name, budget)) = subset.get("name").and_then(Node::as_str).zip(budget) {
            facts.upstreams.push(upstream(of_subset(&to.name, name), budget));
        }
    }
    routes::fallback(to, before_1_24, facts);
}

/// What a subset of a host goes by where hosts stand otherwise.
pub(super) fn of_subset(host: &str, subset: &str) -> String {
    format!("{subset} of {host}")
}

/// Puts the budgets of subsets on the routes that lead there alone.
pub(super) fn budgets_of_subsets(facts: &mut Facts) {
    let (uses, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut facts.policy_uses).into_iter().partition(|u| u.system == ID);
    facts.policy_uses = rest;
    for used in uses {
        let Some(to) = used.to.first() else { continue };
        let (subset, host) = to.name.split_once(" of ").unwrap_or_default();
        let is = |u: &&UpstreamFact| {
            u.system == ID
                && u.name.split_once(" of ").is_some_and(|(own, name)| {
                    let (a, b) = ((name, u.namespace.as_deref()), (host, to.namespace.as_deref()));
                    own == subset && upstreams::same_name(a, b)
                })
        };
        let Some(budget) = facts.upstreams.iter().find(is).and_then(|u| u.budget.clone()) else { continue };
        if let Some(layer) = facts.layers.iter_mut().find(|l| l.system == ID && *l.id == *used.policy) {
            layer.budget = Some(budget);
        }
    }
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
