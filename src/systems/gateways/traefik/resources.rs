//! Custom resources, and the annotation of Ingresses that lists middlewares.

use std::time::Duration;

use super::dynamic::{chain, words};
use super::{ID, Limits, MIDDLEWARE, SERVICE, key, policy};
use crate::facts::{Facts, PolicyUseFact, RouteFact, UpstreamFact};
use crate::model::{GatewayName, HostRef, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::objects::Object;
use crate::systems::{ingresses, settings};

/// What follows the name of a resource in references.
pub(super) const PROVIDER: &str = "@kubernetescrd";

const ANNOTATION: &str = "traefik.ingress.kubernetes.io/router.middlewares";

/// Reads one object.
pub(super) fn read(file: &SourceFile, object: &Object<'_>, is_old: bool, limits: &Limits, facts: &mut Facts) {
    let group = object.version.split('/').next().unwrap_or("");
    if ingresses::is_ingress(object) {
        return ingress(file, object, facts);
    }
    if !matches!(group, "traefik.io" | "traefik.containo.us") {
        return;
    }
    let resource = Resource { file, object, limits };
    match object.kind {
        "Middleware" => resource.middleware(is_old, facts),
        "IngressRoute" => resource.routes(facts),
        "TraefikService" => resource.service(is_old, facts),
        _ => {}
    }
}

fn ingress(file: &SourceFile, object: &Object<'_>, facts: &mut Facts) {
    let Some(list) = ingresses::annotation(object, ANNOTATION) else { return };
    let to: Vec<HostRef> = ingresses::backends(file, object).into_iter().map(|(host, _)| host).collect();
    for (name, span) in words(&list.value) {
        facts.policy_uses.push(PolicyUseFact {
            system: ID,
            policy: key(name, "kubernetes"),
            from: Some(ingresses::gateway(object)),
            to: to.clone(),
            others: Vec::new(),
            span,
        });
    }
}

struct Resource<'a> {
    file: &'a SourceFile,
    object: &'a Object<'a>,
    limits: &'a Limits,
}

impl Resource<'_> {
    /// The key of a resource that a reference names, in its own namespace or that of the object.
    fn key(&self, reference: &Node) -> Option<(String, Span)> {
        let name = reference.get("name").unwrap_or(reference);
        let text = name.as_str()?;
        if text.contains('@') {
            return Some((key(text, ""), name.span));
        }
        let namespace = reference.get("namespace").and_then(Node::as_str).or(self.object.namespace);
        Some((of_resource(namespace, text), name.span))
    }

    fn own_key(&self) -> String {
        of_resource(self.object.namespace, self.object.name)
    }

    fn middleware(&self, is_old: bool, facts: &mut Facts) {
        let Some(spec) = self.object.spec(&[]) else { return };
        let key = self.own_key();
        if let Some(list) = spec.at(&["chain", "middlewares"]) {
            let others = list.items().iter().filter_map(|m| Some(self.key(m)?.0)).collect();
            facts.policy_uses.push(chain(key.clone(), others, self.object.name_span));
        }
        let name = self.object.qualified();
        facts.inert.extend(policy::inert(&name, spec));
        facts.layers.extend(policy::layers(&name, &format!("{MIDDLEWARE}{key}"), spec, is_old));
    }

    fn routes(&self, facts: &mut Facts) {
        let gateway = GatewayName::Named(ID.to_string());
        for route in self.object.spec(&["routes"]).map_or(&[][..], Node::items) {
            let to = self.services(route.get("services"));
            if to.is_empty() {
                continue;
            }
            let span = settings::opening(self.file, route);
            let limit = self.limit(route.get("services"));
            facts.routes.push(RouteFact { from: gateway.clone(), to: to.clone(), grpc: false, limit, span });
            for middleware in route.get("middlewares").map_or(&[][..], Node::items) {
                let Some((policy, span)) = self.key(middleware) else { continue };
                let from = Some(gateway.clone());
                facts.policy_uses.push(PolicyUseFact {
                    system: ID,
                    policy,
                    from,
                    to: to.clone(),
                    others: Vec::new(),
                    span,
                });
            }
        }
    }

    /// How long the transport of the services waits for an answer.
    fn limit(&self, services: Option<&Node>) -> Option<Setting<Duration>> {
        let mut transports = services.map_or(&[][..], Node::items).iter().filter_map(|s| s.get("serversTransport"));
        transports.find_map(|t| self.limits.get(&self.key(t)?.0).cloned())
    }

    /// Services of Kubernetes, or of Traefik itself.
    fn services(&self, list: Option<&Node>) -> Vec<HostRef> {
        let items = list.map_or(&[][..], Node::items).iter();
        items.filter_map(|item| self.host(item)).collect()
    }

    fn host(&self, reference: &Node) -> Option<HostRef> {
        let name = reference.get("name")?;
        if reference.get("kind").and_then(Node::as_str) == Some("TraefikService") {
            let (key, span) = self.key(reference)?;
            let is_internal = key.ends_with("@internal");
            return (!is_internal).then(|| HostRef {
                name: format!("{SERVICE}{key}"),
                port: None,
                namespace: None,
                span,
            });
        }
        let namespace = reference.get("namespace").and_then(Node::as_str).or(self.object.namespace);
        let host = settings::host(name.as_str()?, name.span, namespace)?;
        let port = reference.get("port").and_then(Node::as_int).and_then(|p| u16::try_from(p).ok());
        Some(HostRef { port, ..host })
    }

    fn service(&self, is_old: bool, facts: &mut Facts) {
        let mut to = self.services(self.object.spec(&["weighted", "services"]));
        to.extend(self.object.spec(&["mirroring"]).and_then(|m| self.host(m)));
        if let Some(failover) = self.object.spec(&[]).and_then(|spec| spec.entry("failover")) {
            let both = ["service", "fallback"].iter().filter_map(|name| self.host(failover.value.get(name)?));
            to.extend(both);
            let name = format!("Traefik failover {}", self.object.qualified());
            let layer = policy::failover(&name, format!("traefik:failover:{}", self.own_key()), failover);
            let gateway = GatewayName::Named(ID.to_string());
            facts.layers.extend(layer.filter(|_| !is_old).map(|l| policy::on_hops(l, gateway, to.clone())));
        }
        let span = self.object.name_span;
        facts.upstreams.push(UpstreamFact {
            system: ID,
            name: self.own_key(),
            namespace: None,
            to,
            budget: None,
            span,
        });
    }
}

/// `namespace-name@kubernetescrd`.
pub(super) fn of_resource(namespace: Option<&str>, name: &str) -> String {
    format!("{}-{name}{PROVIDER}", namespace.unwrap_or_default()).to_lowercase()
}
