//! Custom resources, and the annotation of Ingresses.

use super::{ID, Policy, per_try};
use crate::facts::{Facts, LimitFact, RouteFact};
use crate::model::{GatewayName, HostRef, Inert};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Value};
use crate::systems::objects::Object;
use crate::systems::{ingresses, settings};

const ANNOTATION: &str = "k8s.apisix.apache.org/upstream-retries";

const READ_TIMEOUT: &str = "k8s.apisix.apache.org/upstream-read-timeout";

/// Reads one object. Of the pods behind a Service nobody knows the number: without `retries` there is nothing to say.
pub(super) fn read(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    if ingresses::is_ingress(object) {
        return ingress(file, object, facts);
    }
    if !object.version.starts_with("apisix.apache.org/") {
        return;
    }
    match object.kind {
        "ApisixUpstream" => upstream(file, object, facts),
        "ApisixRoute" => routes(object, facts),
        "BackendTrafficPolicy" => traffic_policy(object, facts),
        _ => {}
    }
}

fn gateway() -> GatewayName {
    GatewayName::Named(ID.to_string())
}

fn policy(object: &Object<'_>, part: &str, opens: Span, from: GatewayName, to: Vec<HostRef>) -> Policy {
    Policy {
        id: format!("{ID}:{}:{}{part}", object.kind, object.qualified()).into(),
        name: format!("APISIX {} {}{part}", object.kind, object.name),
        opens,
        from,
        to,
        nodes: None,
    }
}

/// Its name is that of the Service, unless it lists nodes outside of the cluster.
fn upstream(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let Some(spec) = object.spec(&[]) else { return };
    let outside = spec.get("externalNodes").map_or(&[][..], Node::items).iter();
    let outside: Vec<HostRef> =
        outside.filter_map(|n| n.get("name")).filter_map(|n| settings::host(n.as_str()?, n.span, None)).collect();
    let own = || settings::host(object.name, object.name_span, object.namespace).into_iter().collect();
    let to = if outside.is_empty() { own() } else { outside };
    let whole = policy(object, "", object.name_span, gateway(), to.clone());
    facts.layers.extend(whole.layer(spec, spec.get("timeout")));
    for settings in spec.get("portLevelSettings").map_or(&[][..], Node::items) {
        let port = settings.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        let to = to.iter().map(|h| HostRef { port, ..h.clone() }).collect();
        let part = port.map_or(String::new(), |p| format!(" port {p}"));
        let opens = crate::systems::settings::opening(file, settings);
        let layer = policy(object, &part, opens, gateway(), to).layer(settings, settings.get("timeout"));
        facts.layers.extend(layer);
    }
}

fn routes(object: &Object<'_>, facts: &mut Facts) {
    for route in object.spec(&["http"]).map_or(&[][..], Node::items) {
        let backends = route.get("backends").map_or(&[][..], Node::items).iter();
        let to: Vec<HostRef> = backends
            .filter_map(|b| {
                let name = b.get("serviceName")?;
                let host = settings::host(name.as_str()?, name.span, object.namespace)?;
                let port = b.get("servicePort").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
                Some(HostRef { port, ..host })
            })
            .collect();
        if !to.is_empty() {
            let span = route.get("name").map_or(object.name_span, |n| n.span);
            // The timeout of a route beats that of its upstream.
            if let Some(node) = route.at(&["timeout", "read"]) {
                let limit = settings::limit(node, super::seconds);
                facts.limits.push(LimitFact { system: ID, from: None, to: to.clone(), limit, span: node.span });
            }
            let limit = route.get("timeout").map(|timeout| per_try(Some(timeout)));
            facts.routes.push(RouteFact { from: gateway(), to, grpc: false, limit, span });
        }
    }
}

fn traffic_policy(object: &Object<'_>, facts: &mut Facts) {
    let Some(spec) = object.spec(&[]) else { return };
    let targets = spec.get("targetRefs").map_or(&[][..], Node::items).iter();
    let to =
        targets.filter_map(|t| t.get("name")).filter_map(|n| settings::host(n.as_str()?, n.span, object.namespace));
    let policy = policy(object, "", object.name_span, gateway(), to.collect());
    facts.layers.extend(policy.layer(spec, spec.get("timeout")));
}

/// Only a number above zero has an effect.
fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let Some(entry) = ingresses::annotation(object, ANNOTATION) else { return };
    if entry.value.as_int() == Some(0) {
        let why = "the controller takes numbers above zero only, so each pod is still tried once";
        let inert = Inert::new(entry.value.span, settings::quote(entry), why).of(&format!("Ingress {}", object.name));
        facts.inert.push(inert.instead("Set `retries: 0` in an ApisixUpstream of the Service's name"));
        return;
    }
    let to = settings::distinct(ingresses::backends(file, object).into_iter().map(|(host, _)| host));
    let retries = Entry { key: "retries".into(), ..entry.clone() };
    let spec = Node::new(entry.value.span, Value::Map(vec![retries]));
    let policy = policy(object, "", entry.key_span, ingresses::gateway(object), to);
    let read = ingresses::annotation(object, READ_TIMEOUT);
    let read = read.map(|e| Entry { key: "read".into(), ..e.clone() });
    let timeout = read.map(|e| Node::new(e.value.span, Value::Map(vec![e])));
    facts.layers.extend(policy.layer(&spec, timeout.as_ref()));
}
