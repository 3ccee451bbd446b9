//! Ingresses of Kubernetes, whichever controller serves them.

use super::objects::Object;
use super::settings;
use crate::model::{GatewayName, HostRef};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};

/// Whether an object is an Ingress.
pub(super) fn is_ingress(object: &Object<'_>) -> bool {
    let group = object.version.rsplit_once('/').map_or("", |(group, _)| group);
    object.kind == "Ingress" && matches!(group, "networking.k8s.io" | "extensions")
}

/// What an Ingress is called as a gateway.
pub(super) fn gateway(object: &Object<'_>) -> GatewayName {
    GatewayName::Named(format!("ingress {}", object.name))
}

/// The services behind an Ingress, each with the place of its path; the default backend is one more.
pub(super) fn backends(file: &SourceFile, object: &Object<'_>) -> Vec<(HostRef, Span)> {
    let paths = object.spec(&["rules"]).map_or(&[][..], Node::items).iter();
    let paths = paths.filter_map(|rule| rule.at(&["http", "paths"])).flat_map(Node::items).map(|n| &**n);
    let default = ["defaultBackend", "backend"].iter().find_map(|key| object.spec(&[key]));
    let paths = paths.filter_map(|path| Some((path.get("backend")?, settings::opening(file, path))));
    let all = paths.chain(default.map(|b| (b, settings::opening(file, b))));
    all.filter_map(|(backend, span)| Some((backend_host(backend, object.namespace)?, span))).collect()
}

/// The shape before networking.k8s.io/v1 has the name at the backend itself.
fn backend_host(backend: &Node, namespace: Option<&str>) -> Option<HostRef> {
    let name = backend.at(&["service", "name"]).or_else(|| backend.get("serviceName"))?;
    let host = settings::host(name.as_str()?, name.span, namespace)?;
    let port = backend.at(&["service", "port", "number"]).or_else(|| backend.get("servicePort"));
    Some(HostRef { port: port.and_then(Node::as_int).and_then(|p| u16::try_from(p).ok()), ..host })
}

/// An annotation of an object.
pub(super) fn annotation<'n>(object: &Object<'n>, name: &str) -> Option<&'n Entry> {
    object.node.at(&["metadata", "annotations"])?.entry(name).filter(|e| !e.value.is_null())
}

/// The class of an Ingress: which controller serves it.
pub(super) fn class<'n>(object: &Object<'n>) -> Option<&'n str> {
    let annotated = annotation(object, "kubernetes.io/ingress.class").and_then(|e| e.value.as_str());
    object.spec(&["ingressClassName"]).and_then(Node::as_str).or(annotated)
}
