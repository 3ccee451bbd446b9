//! Routers, middlewares and services: the same shape in YAML, in TOML and in labels.

use std::time::Duration;

use super::{ID, Limits, MIDDLEWARE, SERVICE, key, policy};
use crate::facts::{Facts, PolicyUseFact, RouteFact, UpstreamFact};
use crate::model::{GatewayName, HostRef, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::settings;

/// Where a dynamic configuration comes from.
pub(super) struct Dynamic<'a> {
    pub file: &'a SourceFile,
    /// What follows the `@` in references from elsewhere.
    pub provider: &'a str,
    /// The container that carries the labels: the upstream of its routers.
    pub own: Option<HostRef>,
    /// Before 3.7, statuses are never retried.
    pub is_old: bool,
    pub limits: &'a Limits,
}

/// A field; their names are compared without case, as Traefik does in labels.
pub(super) fn field<'n>(node: &'n Node, name: &str) -> Option<&'n Entry> {
    node.entry_relaxed(name).filter(|e| !e.value.is_null())
}

/// The items of a list, or the parts of a comma list as labels have it.
pub(super) fn words(node: &Node) -> Vec<(&str, Span)> {
    let items = node.items().iter().take(settings::MAX_LIST);
    if node.items().is_empty() { settings::list(node) } else { items.flat_map(|n| settings::list(n)).collect() }
}

impl Dynamic<'_> {
    /// Reads what stands under `http`.
    pub(super) fn read(&self, http: &Node, facts: &mut Facts) {
        let section = |name: &str| field(http, name).map_or(&[][..], |e| e.value.entries());
        for middleware in section("middlewares") {
            self.middleware(middleware, facts);
        }
        for service in section("services") {
            self.service(service, facts);
        }
        for router in section("routers") {
            self.router(router, section("services"), facts);
        }
    }

    fn gateway(&self) -> GatewayName {
        GatewayName::OfFile { file: self.file.id, system: ID }
    }

    fn middleware(&self, entry: &Entry, facts: &mut Facts) {
        let key = key(&entry.key, self.provider);
        if let Some(list) = field(&entry.value, "chain").and_then(|e| field(&e.value, "middlewares")) {
            let others = words(&list.value).into_iter().map(|(name, _)| super::key(name, self.provider)).collect();
            facts.policy_uses.push(chain(key.clone(), others, entry.key_span));
        }
        facts.inert.extend(policy::inert(&entry.key, &entry.value));
        facts.layers.extend(policy::layers(&entry.key, &format!("{MIDDLEWARE}{key}"), &entry.value, self.is_old));
    }

    fn service(&self, entry: &Entry, facts: &mut Facts) {
        let refer = |node: &Node| self.refer(node.as_str()?, node.span);
        let mut to = Vec::new();
        let balancer = field(&entry.value, "loadBalancer");
        if let Some(balancer) = balancer {
            let servers = field(&balancer.value, "servers").map_or(&[][..], |e| e.value.items());
            to.extend(
                servers
                    .iter()
                    .filter_map(|s| field(s, "url"))
                    .filter_map(|e| settings::host(e.value.as_str()?, e.value.span, None)),
            );
            to.extend(self.own.clone());
            // Of addresses alone the service's name stands for them.
            let has_address = to.iter().any(|h: &HostRef| settings::is_address(&h.name));
            to.retain(|h| !settings::is_address(&h.name));
            if to.is_empty() && has_address {
                to.extend(settings::host(&entry.key, entry.key_span, None));
            }
        }
        if let Some(list) = field(&entry.value, "weighted").and_then(|e| field(&e.value, "services")) {
            to.extend(list.value.items().iter().filter_map(|s| refer(&field(s, "name")?.value)));
        }
        if let Some(main) = field(&entry.value, "mirroring").and_then(|e| field(&e.value, "service")) {
            to.extend(refer(&main.value));
        }
        if let Some(failover) = field(&entry.value, "failover") {
            let both = ["service", "fallback"].iter().filter_map(|name| refer(&field(&failover.value, name)?.value));
            to.extend(both);
            let name = format!("Traefik failover {}", entry.key);
            let id = format!("traefik:failover:{}", key(&entry.key, self.provider));
            let layer = policy::failover(&name, id, failover).filter(|_| !self.is_old);
            facts.layers.extend(layer.map(|layer| policy::on_hops(layer, self.gateway(), to.clone())));
        }
        facts.upstreams.push(UpstreamFact {
            system: ID,
            name: key(&entry.key, self.provider),
            namespace: None,
            to,
            budget: None,
            span: entry.key_span,
        });
    }

    fn refer(&self, name: &str, span: Span) -> Option<HostRef> {
        let name = format!("{SERVICE}{}", key(name, self.provider));
        (!name.ends_with("@internal")).then_some(HostRef { name, port: None, namespace: None, span })
    }

    /// How long the transport of a service waits for an answer.
    fn limit(&self, service: &Entry) -> Option<Setting<Duration>> {
        let transport = field(&field(&service.value, "loadBalancer")?.value, "serversTransport")?;
        self.limits.get(&key(transport.value.as_str()?, "file")).cloned()
    }

    fn router(&self, entry: &Entry, services: &[Entry], facts: &mut Facts) {
        let named = field(&entry.value, "service");
        let to = match (named, &self.own) {
            (Some(e), _) => e.value.as_str().and_then(|name| self.refer(name, e.value.span)),
            // Without a name it is the service of the same container, or the container itself.
            (None, Some(own)) => match services {
                [only] => self.refer(&only.key, only.key_span),
                _ => Some(own.clone()),
            },
            (None, None) => None,
        };
        let Some(to) = to else { return };
        let called = named.and_then(|e| e.value.as_str());
        let service = services.iter().find(|s| called.is_some_and(|name| s.key.eq_ignore_ascii_case(name)));
        let service = service.or(if let [only] = services { Some(only) } else { None }.filter(|_| named.is_none()));
        facts.routes.push(RouteFact {
            from: self.gateway(),
            to: vec![to.clone()],
            grpc: false,
            limit: service.and_then(|s| self.limit(s)),
            span: entry.key_span,
        });
        let list = field(&entry.value, "middlewares").map_or(Vec::new(), |e| words(&e.value));
        for (name, span) in list {
            facts.policy_uses.push(PolicyUseFact {
                system: ID,
                policy: key(name, self.provider),
                from: Some(self.gateway()),
                to: vec![to.clone()],
                others: Vec::new(),
                span,
            });
        }
    }
}

/// A middleware that stands for others.
pub(super) fn chain(policy: String, others: Vec<String>, span: Span) -> PolicyUseFact {
    PolicyUseFact { system: ID, policy, from: None, to: Vec::new(), others, span }
}
