//! Envoy: bootstrap files and xDS resources.

mod cluster;
mod headers;
pub(in crate::systems) mod policy;
mod routes;

use std::collections::BTreeMap;

use crate::facts::{Facts, GatewayNameFact};
use crate::model::{GatewayName, Inert, ModeSet, Pick, Scope};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Value};
use crate::systems::envoy_based::{self, ROUTE_PROTO};
use crate::systems::retry_on::RETRY_STATE;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings, upstreams};

pub(in crate::systems) use headers::Headers;

/// Envoy.
pub struct Envoy;

const ID: &str = "envoy";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Envoy",
    reads: "bootstrap files and xDS resources (YAML, JSON; snake_case, camelCase): routes, virtual hosts, clusters",
    marks: &[
        "virtual_hosts",
        "virtualHosts",
        "load_assignment",
        "loadAssignment",
        "static_resources",
        "staticResources",
    ],
    defaults: &[
        DefaultFigure { what: "no retry_policy", value: "1 attempt", source: ROUTE_PROTO },
        DefaultFigure { what: "retry_policy.num_retries absent", value: "2 attempts (1 retry)", source: ROUTE_PROTO },
        DefaultFigure {
            what: "retry_policy.retry_on absent or of unknown words",
            value: "1 attempt",
            source: RETRY_STATE,
        },
        DefaultFigure {
            what: "retry_policy.retry_back_off absent",
            value: "25 ms, doubling, at most 250 ms",
            source: RETRY_STATE,
        },
        DefaultFigure {
            what: "retry_back_off.max_interval absent",
            value: "10 times base_interval",
            source: ROUTE_PROTO,
        },
        DefaultFigure {
            what: "jitter",
            value: "full, always",
            source: "envoyproxy/envoy source/common/common/backoff_strategy.cc",
        },
        DefaultFigure {
            what: "retry_policy.per_try_timeout absent",
            value: "the route's timeout: a try that takes too long is not retried",
            source: ROUTE_PROTO,
        },
        DefaultFigure { what: "route.timeout absent", value: "15 s over all tries and waits", source: ROUTE_PROTO },
        DefaultFigure {
            what: "rate_limited_retry_back_off absent",
            value: "Retry-After is ignored",
            source: ROUTE_PROTO,
        },
        DefaultFigure {
            what: "x-envoy-retry-on added without a retry_policy",
            value: "2 attempts (1 retry)",
            source: RETRY_STATE,
        },
        DefaultFigure { what: "retriable_request_headers absent", value: "any method", source: ROUTE_PROTO },
        DefaultFigure {
            what: "circuit_breakers.thresholds[].max_retries absent",
            value: "3 retries at a time for the whole cluster, which does not lower what one request causes",
            source: "envoyproxy/data-plane-api envoy/config/cluster/v3/circuit_breaker.proto",
        },
        DefaultFigure {
            what: "retry_budget.budget_percent absent",
            value: "20 % of the active requests",
            source: "envoyproxy/data-plane-api envoy/config/cluster/v3/circuit_breaker.proto",
        },
    ],
};

impl System for Envoy {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for part in &unit.parts {
            let roots: Vec<&Node> = part.parsed.documents.iter().map(|d| &**d).filter(|d| !is_kubernetes(d)).collect();
            read(part.file, &roots, facts);
        }
    }

    fn join(&self, facts: &mut Facts) {
        upstreams::resolve(facts, ID);
        take_names(facts);
    }
}

/// Reads what a file holds of Envoy's own resources.
pub(in crate::systems) fn read(file: &SourceFile, roots: &[&Node], facts: &mut Facts) {
    // A cluster's own policy beats the route's, wherever in the file it stands.
    let mut clusters = BTreeMap::new();
    for cluster in roots.iter().flat_map(|root| cluster::all(root)) {
        cluster::read(cluster, facts);
        if let (Some(name), Some(policy)) = (cluster.get("name").and_then(Node::as_str), cluster::policy(cluster)) {
            clusters.insert(name, policy);
        }
    }
    for root in roots {
        name(file, root, facts);
        let mut reader = routes::Reader::new(file, &clusters);
        root.walk().filter_map(virtual_hosts).for_each(|(config, hosts)| reader.read(config, hosts, facts));
    }
}

/// Objects of Kubernetes are other systems', even where they hold parts of Envoy's settings.
fn is_kubernetes(root: &Node) -> bool {
    root.get("apiVersion").is_some() && root.get("kind").is_some()
}

/// The virtual hosts of a route configuration, however deep it stands.
fn virtual_hosts(node: &Node) -> Option<(&Node, &Node)> {
    let hosts = get(node, "virtual_hosts")?;
    let is_one = |host: &Node| host.get("routes").is_some() && host.get("domains").is_some();
    hosts.items().iter().any(|host| is_one(host)).then_some((node, hosts))
}

/// Settings that name their Envoy do so for logs and for the control plane.
fn name(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let name = root.get("node").and_then(|n| n.get_any(&["cluster", "id"])).and_then(Node::as_str);
    if let Some(name) = name {
        facts.gateway_names.push(GatewayNameFact {
            system: ID,
            file: file.id,
            path: file.path.to_string(),
            name: name.to_string(),
        });
    }
}

/// Gives gateways the name from their file, where no component mounts the file and not just one runs Envoy's image.
fn take_names(facts: &mut Facts) {
    let (mine, rest) = std::mem::take(&mut facts.gateway_names).into_iter().partition(|n| n.system == ID);
    facts.gateway_names = rest;
    let mine: Vec<GatewayNameFact> = mine;
    if facts.components.iter().filter(|c| c.images.iter().any(|i| i.contains("envoy"))).count() == 1 {
        return;
    }
    let mounts = |fact: &GatewayNameFact| {
        let holds =
            |m: &String| fact.path == *m || fact.path.strip_prefix(m.as_str()).is_some_and(|r| r.starts_with('/'));
        facts.components.iter().any(|c| c.mounts.iter().any(holds))
    };
    let names: Vec<GatewayNameFact> = mine.into_iter().filter(|n| !mounts(n)).collect();
    let rename = |gateway: &mut GatewayName| {
        if let GatewayName::OfFile { file, system } = gateway
            && let Some(fact) = names.iter().find(|n| n.file == *file && *system == ID)
        {
            *gateway = GatewayName::Named(fact.name.clone());
        }
    };
    facts.routes.iter_mut().for_each(|r| rename(&mut r.from));
    for layer in &mut facts.layers {
        if let Scope::Hops { from, .. } = &mut layer.scope {
            from.gateways.iter_mut().for_each(rename);
        }
    }
}

/// The entry of a protobuf field: its own name, or the same in lowerCamelCase.
pub(in crate::systems) fn entry<'n>(node: &'n Node, field: &str) -> Option<&'n Entry> {
    node.entries().iter().rev().find(|e| (*e.key == *field || is_camel(&e.key, field)) && !e.value.is_null())
}

/// Whether `key` is `field` in lowerCamelCase.
fn is_camel(key: &str, field: &str) -> bool {
    let mut after_underscore = false;
    let mut letters = field.chars().filter_map(|c| {
        let upper = std::mem::replace(&mut after_underscore, c == '_');
        (c != '_').then(|| if upper { c.to_ascii_uppercase() } else { c })
    });
    key.chars().all(|c| letters.next() == Some(c)) && letters.next().is_none()
}

/// The value of a protobuf field.
pub(in crate::systems) fn get<'n>(node: &'n Node, field: &str) -> Option<&'n Node> {
    entry(node, field).map(|e| &*e.value)
}

/// What a policy's list of statuses picks, whether or not its conditions name it.
pub(in crate::systems) fn statuses(policy: &Node) -> Vec<Pick> {
    let listed = items(policy, "retriable_status_codes").take(settings::MAX_LIST);
    let picks = listed.filter_map(|n| {
        let status = u16::try_from(n.as_int()?).ok()?;
        Some(Pick { modes: ModeSet::statuses([status]), span: n.span, text: format!("`{status}`") })
    });
    picks.collect()
}

/// The items of a repeated field.
fn items<'n>(node: &'n Node, field: &str) -> impl Iterator<Item = &'n Node> + use<'n> {
    match get(node, field).map(|n| &n.value) {
        Some(Value::List(items)) => items.as_slice(),
        _ => &[],
    }
    .iter()
    .map(|n| &**n)
}

/// A longest wait without a first one, in either spelling.
pub(in crate::systems) fn without_base(block: &Entry) -> Option<Inert> {
    if get(&block.value, "base_interval").is_some() {
        return None;
    }
    let spellings = [("base_interval", "max_interval"), ("baseInterval", "maxInterval")];
    spellings.into_iter().find_map(|(base, longest)| envoy_based::without_base(block, base, longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protobuf_names() {
        assert!(is_camel("retriableStatusCodes", "retriable_status_codes"));
        assert!(is_camel("name", "name"));
        for other in ["retriable_status_codes", "retriablestatuscodes", "retriableStatus", "retriableStatusCodesX"] {
            assert!(!is_camel(other, "retriable_status_codes"), "{other}");
        }
    }
}
