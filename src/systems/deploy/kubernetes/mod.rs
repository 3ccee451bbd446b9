//! Kubernetes: workloads, Services, Ingresses, ConfigMaps and the generators of kustomizations.

mod config;
mod kustomize;
mod pods;

use crate::facts::{ComponentFact, ComponentFactKind, Facts, PortFact, RouteFact, ServiceFact};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::objects::{self, Object};
use crate::systems::{System, SystemMeta, Unit, Versions, ingresses};

/// Kubernetes.
pub struct Kubernetes;

static META: SystemMeta = SystemMeta {
    id: "kubernetes",
    name: "Kubernetes",
    reads: "workloads, Services, Ingress backends, ConfigMaps and kustomizations: names, hosts, images, environment, addresses in commands, mounted files",
    marks: &["apiVersion", "configMapGenerator", "namePrefix", "nameSuffix", "resources:"],
    defaults: &[],
};

impl System for Kubernetes {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            config::generators(file, root, facts);
            kustomize::read(file, root, facts);
            for object in objects::of(root) {
                read(file, &object, facts);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        config::join(facts);
        kustomize::join(facts);
    }
}

fn read(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let group = object.version.rsplit_once('/').map_or("", |(group, _)| group);
    match (group, object.kind) {
        ("", "ConfigMap") => facts.config_maps.extend(config::map(file, object)),
        ("", "Secret") => facts.config_maps.extend(config::secret(file, object)),
        ("", "Service") => facts.services.push(service(object)),
        ("networking.k8s.io" | "extensions", "Ingress") => ingress(file, object, facts),
        ("" | "apps" | "extensions" | "batch" | "argoproj.io", kind) => {
            let template = match kind {
                "Deployment"
                | "StatefulSet"
                | "DaemonSet"
                | "ReplicaSet"
                | "ReplicationController"
                | "Rollout"
                | "Job" => object.spec(&["template"]),
                "CronJob" => object.spec(&["jobTemplate", "spec", "template"]),
                "Pod" => Some(object.node),
                _ => None,
            };
            if let Some(template) = template {
                let job = matches!(kind, "Job" | "CronJob");
                let kind = if job { ComponentFactKind::Job } else { ComponentFactKind::Service };
                workload(object, template, kind, facts);
            }
        }
        _ => {}
    }
}

fn workload(object: &Object<'_>, template: &Node, kind: ComponentFactKind, facts: &mut Facts) {
    let containers: Vec<&Node> =
        template.at(&["spec", "containers"]).map_or(&[][..], Node::items).iter().map(|n| &**n).collect();
    let images = containers.iter().filter_map(|c| c.get("image")?.as_str()).map(str::to_string);
    facts.config_uses.extend(pods::config_uses(object.name_span, template, &containers));
    facts.components.push(ComponentFact {
        name: object.name.to_string(),
        namespace: object.namespace.map(str::to_string),
        kind,
        hosts: Vec::new(),
        labels: pairs(template.at(&["metadata", "labels"])),
        images: images.collect(),
        build: None,
        env: containers.iter().flat_map(|c| pods::env(c).into_iter().chain(pods::command(c))).collect(),
        mounts: Vec::new(),
        span: object.name_span,
    });
}

fn service(object: &Object<'_>) -> ServiceFact {
    ServiceFact {
        name: object.name.to_string(),
        namespace: object.namespace.map(str::to_string),
        selector: pairs(object.spec(&["selector"])),
        external: object.spec(&["externalName"]).and_then(Node::as_str).map(str::to_lowercase),
        grpc: object.spec(&["ports"]).map_or(&[][..], Node::items).iter().any(|port| is_grpc(port)),
        ports: object
            .spec(&["ports"])
            .map_or(&[][..], Node::items)
            .iter()
            .map(|port| self::port(object, port))
            .collect(),
        span: object.name_span,
    }
}

/// A port; Kuma takes an annotation of the Service for a port without `appProtocol`
/// (kumahq/kuma pkg/plugins/runtime/k8s/controllers/inbound_converter.go).
fn port(object: &Object<'_>, port: &Node) -> PortFact {
    let number = port.get("port").and_then(Node::as_int).and_then(|n| u16::try_from(n).ok());
    let text = |node: Option<&Node>| node.and_then(Node::as_str).map(str::to_lowercase);
    let annotated = || {
        let annotations = object.node.at(&["metadata", "annotations"])?;
        text(annotations.get(&format!("{}.service.kuma.io/protocol", number?)))
    };
    PortFact {
        number,
        name: text(port.get("name")),
        protocol: text(port.get("appProtocol")).or_else(annotated),
        span: port.span,
    }
}

/// A port's protocol is its `appProtocol`, else the beginning of its name.
fn is_grpc(port: &Node) -> bool {
    let text = port.get_any(&["appProtocol", "name"]).and_then(Node::as_str).unwrap_or_default();
    text == "grpc" || text.starts_with("grpc-")
}

fn pairs(map: Option<&Node>) -> Vec<(String, String)> {
    let entries = map.map_or(&[][..], Node::entries).iter();
    entries.filter_map(|e| Some((e.key.to_string(), e.value.as_str()?.to_string()))).collect()
}

/// One hop for each path; the default backend is one more.
fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    for (host, span) in ingresses::backends(file, object) {
        facts.routes.push(RouteFact {
            from: ingresses::gateway(object),
            to: vec![host],
            grpc: false,
            limit: None,
            span,
        });
    }
}
