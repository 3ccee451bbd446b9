//! Clusters: which hosts a route's cluster stands for, and its retry budget.

use super::{ID, entry, get, items};
use crate::facts::{Facts, UpstreamFact};
use crate::model::{Budget, HostRef, Inert, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::settings;

const BREAKER_PROTO: &str = "envoyproxy/data-plane-api envoy/config/cluster/v3/circuit_breaker.proto";

/// The clusters and endpoint lists of a bootstrap file, a discovery response or a list of resources.
pub(super) fn all(root: &Node) -> Vec<&Node> {
    let of_type = |n: &Node, name: &str| {
        n.get("@type").and_then(Node::as_str).is_some_and(|t| t.rsplit(['.', '/']).next() == Some(name))
    };
    let typed = items(root, "resources")
        .chain([root])
        .map(|r| r.get("resource").unwrap_or(r))
        .filter(|r| of_type(r, "Cluster") || of_type(r, "ClusterLoadAssignment"));
    let fixed = get(root, "static_resources").into_iter().flat_map(|s| items(s, "clusters"));
    let bare = items(root, "clusters").filter(|c| get(c, "load_assignment").is_some());
    fixed.chain(bare).chain(typed).collect()
}

/// The hosts behind a cluster and its budget. One with neither still is what its name means in this file.
pub(super) fn read(cluster: &Node, facts: &mut Facts) {
    let Some(name) = get(cluster, "name").or_else(|| get(cluster, "cluster_name")) else { return };
    let Some(text) = name.as_str() else { return };
    facts.inert.extend(overridden_cap(cluster).map(|i| i.of(&format!("Envoy cluster {text}"))));
    facts.upstreams.push(UpstreamFact {
        system: ID,
        name: text.to_lowercase(),
        namespace: None,
        to: hosts(cluster),
        budget: budget(cluster),
        span: name.span,
    });
}

/// A budget replaces the number of retries at a time that stands beside it.
fn overridden_cap(cluster: &Node) -> Option<Inert> {
    let threshold = items(get(cluster, "circuit_breakers")?, "thresholds").next()?;
    let (cap, budget) = (entry(threshold, "max_retries")?, entry(threshold, "retry_budget")?);
    let why = "`retry_budget` beside it takes its place";
    Some(
        Inert::new(cap.key_span, settings::quote(cap), why)
            .because(budget.key_span, "the budget")
            .instead("Keep one of the two"),
    )
}

/// The retry policy that a cluster has of its own.
pub(super) fn policy(cluster: &Node) -> Option<&Entry> {
    let options = get(cluster, "typed_extension_protocol_options")?;
    entry(options.get("envoy.extensions.upstreams.http.v3.HttpProtocolOptions")?, "retry_policy")
}

/// The host names of the endpoints. An address of a machine says less than the cluster's name, so those are left out.
fn hosts(cluster: &Node) -> Vec<HostRef> {
    let assignment = get(cluster, "load_assignment").unwrap_or(cluster);
    let endpoints = items(assignment, "endpoints")
        .flat_map(|e| items(e, "lb_endpoints"))
        .filter_map(|e| e.get("endpoint"))
        .filter_map(|e| e.get("address"));
    let old = items(cluster, "hosts");
    let sockets = endpoints.chain(old).filter_map(|a| get(a, "socket_address"));
    let host = |socket: &Node| {
        let address = get(socket, "address")?;
        let mut host = settings::host(address.as_str()?, address.span, None)?;
        host.port = get(socket, "port_value").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        (!settings::is_address(&host.name)).then_some(host)
    };
    settings::distinct(sockets.filter_map(host))
}

fn budget(cluster: &Node) -> Option<Budget> {
    let threshold = items(get(cluster, "circuit_breakers")?, "thresholds").next()?;
    // Present but empty is a budget as well.
    let budget = threshold.get("retry_budget").or_else(|| threshold.get("retryBudget"))?;
    let percent = get(budget, "budget_percent").and_then(|p| get(p, "value"));
    let ratio = match percent {
        None => Setting::default(0.2, BREAKER_PROTO),
        Some(node) => match node.as_f64() {
            Some(value) => Setting::written(value / 100.0, node.span),
            None => Setting::unknown("not a number here", Some(node.span)),
        },
    };
    Some(Budget { ratio })
}
