//! Traefik: the retry and buffering middlewares of file providers (YAML, TOML), of labels in Compose files and of
//! custom resources, and the routers that use them.

mod dynamic;
mod expression;
mod labels;
mod policy;
mod resources;
mod version_one;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use self::dynamic::Dynamic;
use crate::facts::{Facts, UpstreamFact};
use crate::model::{GatewayName, HostRef, Scope, Setting};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::duration::go_or_seconds;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, objects, settings};

/// Traefik.
pub struct Traefik;

const ID: &str = "traefik";
const RETRY: &str = "traefik/traefik v3.7 pkg/middlewares/retry/retry.go";
const BUFFER: &str = "vulcand/oxy v2.1.0 buffer/buffer.go";
const BACKOFF: &str = "cenkalti/backoff v4.3.0 exponential.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Traefik",
    reads: "dynamic configuration (YAML, TOML), labels in Compose files, IngressRoutes, Middlewares and TraefikServices: \
            retry, buffering, failover; `[retry]` of version 1",
    marks: &["traefik", "routers:", "http.routers", "middlewares:", "http.middlewares", "loadBalancer", "[retry]"],
    defaults: &[
        DefaultFigure { what: "no retry middleware", value: "1 attempt", source: RETRY },
        DefaultFigure { what: "retry.attempts", value: "counts tries, the first one included", source: RETRY },
        DefaultFigure {
            what: "retry.attempts absent or 0",
            value: "the middleware cannot be built: its routers answer 404",
            source: RETRY,
        },
        DefaultFigure { what: "retry.initialInterval absent", value: "no wait", source: RETRY },
        DefaultFigure {
            what: "retry.initialInterval",
            value: "the first wait; the last one is at most twice as long, 60 s at most",
            source: RETRY,
        },
        DefaultFigure { what: "jitter", value: "±50 % of each wait, always", source: BACKOFF },
        DefaultFigure {
            what: "retry.status absent",
            value: "refused connections only: whatever the method, nothing was sent",
            source: RETRY,
        },
        DefaultFigure {
            what: "retry.retryNonIdempotentMethod absent",
            value: "a status of POST, PATCH or LOCK is not retried",
            source: RETRY,
        },
        DefaultFigure { what: "retry.timeout absent", value: "no limit on all tries", source: RETRY },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRY },
        DefaultFigure {
            what: "buffering.retryExpression without Attempts()",
            value: "11 attempts, at once, of requests with a body",
            source: BUFFER,
        },
        DefaultFigure {
            what: "retry.attempts absent, version 1",
            value: "one attempt for each server of the backend",
            source: version_one::BALANCER,
        },
        DefaultFigure { what: "buffering.retryExpression absent", value: "1 attempt", source: BUFFER },
    ],
};

impl System for Traefik {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        let is_old = versions.is_before(ID, 3, 7);
        let limits = limits(unit);
        for (file, root) in unit.documents() {
            if let Some(http) = root.get("http").filter(|http| is_dynamic(http)) {
                Dynamic { file, provider: "file", own: None, is_old, limits: &limits }.read(http, facts);
            }
            if let Some(entries) = root.get_any(&["entryPoints", "entrypoints"]) {
                everywhere(file, entries, facts);
            }
            version_one::read(file, root, facts);
            labels::read(file, root, is_old, &limits, facts);
            labels::tags(file, root, is_old, &limits, facts);
            for object in objects::of(root) {
                resources::read(file, &object, is_old, &limits, facts);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        let services = Services::take(facts);
        let uses = Uses::take(facts);
        let answers = answers(facts);
        for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
            let Scope::Hops { from, to, .. } = &mut layer.scope else { continue };
            if let Some(key) = layer.id.strip_prefix(MIDDLEWARE) {
                let (gateways, hosts) = uses.of(key.split('#').next().unwrap_or(key));
                from.gateways = gateways;
                // Each try waits so long for an answer.
                let all: Option<Vec<_>> = hosts.iter().map(|h| answers.get(&h.name).cloned()).collect();
                let longest = all.into_iter().flatten().max_by_key(|l| l.value().copied());
                layer.per_try = layer.per_try.take().or(longest);
                *to = hosts;
            }
            *to = services.hosts(to);
            if to.is_empty() {
                from.gateways.clear();
            }
        }
        let mine = |from: &GatewayName| match from {
            GatewayName::Named(name) => name == ID,
            GatewayName::OfFile { system, .. } => *system == ID,
            GatewayName::Labelled(_) | GatewayName::Delegating { .. } => false,
        };
        for route in facts.routes.iter_mut().filter(|r| mine(&r.from)) {
            route.to = services.hosts(&route.to);
        }
    }
}

/// How long Traefik waits for the head of an answer, by the services that routers name.
fn answers(facts: &Facts) -> Limits {
    let limited = facts.routes.iter().filter_map(|r| Some((r, r.limit.clone()?)));
    let of_services =
        limited.flat_map(|(route, limit)| route.to.iter().map(move |to| (to.name.clone(), limit.clone())));
    of_services.filter(|(name, _)| name.starts_with(SERVICE)).collect()
}

/// What the id of a middleware's layer begins with; its key follows.
const MIDDLEWARE: &str = "traefik:middleware:";

/// What marks a reference to a service of Traefik among hosts; its key follows.
const SERVICE: &str = "service ";

/// Every router uses what an entry point lists.
const EVERY_ROUTER: &str = "every router";

/// A middleware or service as every reference to it spells it: `name@provider`, lower case.
fn key(name: &str, provider: &str) -> String {
    let name = name.trim().to_lowercase();
    if name.contains('@') { name } else { format!("{name}@{provider}") }
}

fn is_dynamic(http: &Node) -> bool {
    http.get_any(&["routers", "middlewares", "services"]).is_some_and(|n| !n.entries().is_empty())
}

/// How long Traefik waits for the head of an answer, by the transport of a service.
type Limits = BTreeMap<String, Setting<Duration>>;

fn limits(unit: &Unit<'_>) -> Limits {
    let mut limits = Limits::new();
    let mut add = |key: String, transport: &Node| {
        let timeout = dynamic::field(transport, "forwardingTimeouts")
            .and_then(|e| dynamic::field(&e.value, "responseHeaderTimeout"))
            .and_then(|e| settings::limit(&e.value, go_or_seconds));
        limits.extend(timeout.map(|timeout| (key, timeout)));
    };
    for (_, root) in unit.documents() {
        let transports = root.get("http").and_then(|http| dynamic::field(http, "serversTransports"));
        for transport in transports.map_or(&[][..], |e| e.value.entries()) {
            add(key(&transport.key, "file"), &transport.value);
        }
        for object in objects::of(root).iter().filter(|o| o.kind == "ServersTransport") {
            if let Some(spec) = object.spec(&[]) {
                add(resources::of_resource(object.namespace, object.name), spec);
            }
        }
    }
    limits
}

/// Middlewares that the static configuration puts on every router of an entry point.
fn everywhere(file: &SourceFile, entries: &Node, facts: &mut Facts) {
    for entry in entries.entries() {
        let Some(list) = entry.value.at(&["http", "middlewares"]) else { continue };
        for (name, span) in dynamic::words(list) {
            facts.policy_uses.push(crate::facts::PolicyUseFact {
                system: ID,
                policy: key(name, "file"),
                from: Some(GatewayName::OfFile { file: file.id, system: ID }),
                to: vec![HostRef { name: EVERY_ROUTER.to_string(), port: None, namespace: None, span }],
                others: Vec::new(),
                span,
            });
        }
    }
}

/// A service can stand for others, and a middleware for others, but not for long.
const MAX_DEPTH: usize = 8;

/// More routers of one middleware are alternatives that add nothing.
const MAX_USES: usize = 1_000;

/// More hosts behind one service are alternatives that add nothing.
const MAX_HOSTS: usize = 16;

/// The services by their keys.
struct Services(BTreeMap<String, Vec<HostRef>>);

impl Services {
    fn take(facts: &mut Facts) -> Self {
        let (mine, rest) = std::mem::take(&mut facts.upstreams).into_iter().partition(|u| u.system == ID);
        facts.upstreams = rest;
        let mut all: BTreeMap<String, Vec<HostRef>> = BTreeMap::new();
        for UpstreamFact { name, to, .. } in mine {
            all.entry(name).or_default().extend(to);
        }
        Self(all)
    }

    /// The hosts behind hosts and services; a service that nobody defines has none.
    fn hosts(&self, to: &[HostRef]) -> Vec<HostRef> {
        let mut out = Vec::new();
        for host in to.iter().take(MAX_USES) {
            self.add(host, MAX_DEPTH, &mut out);
        }
        settings::distinct(out)
    }

    fn add(&self, host: &HostRef, depth: usize, out: &mut Vec<HostRef>) {
        match host.name.strip_prefix(SERVICE) {
            None => out.push(host.clone()),
            Some(_) if depth == 0 => {}
            Some(key) => {
                let behind = named(&self.0, key).flat_map(|(_, hosts)| hosts).take(MAX_HOSTS);
                behind.for_each(|host| self.add(host, depth - 1, out));
            }
        }
    }
}

/// What has this key. A custom resource whose manifest names no namespace may be in any.
fn named<'m, T>(all: &'m BTreeMap<String, T>, key: &str) -> impl Iterator<Item = (&'m String, &'m T)> {
    let exact = all.get_key_value(key);
    let mut tails = Vec::new();
    if exact.is_none() && key.ends_with(resources::PROVIDER) {
        let dashes = key.match_indices('-').filter_map(|(at, _)| all.get_key_value(key.get(at..)?));
        tails.extend(dashes.take(1));
    }
    exact.into_iter().chain(tails)
}

/// Which routers use which middleware.
struct Uses {
    by_policy: BTreeMap<String, (Vec<GatewayName>, Vec<HostRef>)>,
}

impl Uses {
    fn take(facts: &mut Facts) -> Self {
        let (mine, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut facts.policy_uses).into_iter().partition(|u| u.system == ID);
        facts.policy_uses = rest;
        let chains: BTreeMap<String, Vec<String>> =
            mine.iter().filter(|u| u.from.is_none()).map(|u| (u.policy.clone(), u.others.clone())).collect();
        let all: Vec<HostRef> =
            facts.routes.iter().flat_map(|r| r.to.iter().cloned()).filter(|h| h.name.starts_with(SERVICE)).collect();
        let mut out = Self { by_policy: BTreeMap::new() };
        for used in mine {
            let Some(from) = used.from else { continue };
            let is_everywhere = used.to.iter().any(|h| h.name == EVERY_ROUTER);
            let to = if is_everywhere { &all } else { &used.to };
            out.add(&used.policy, &chains, &from, to, MAX_DEPTH);
        }
        out
    }

    fn add(
        &mut self,
        key: &str,
        chains: &BTreeMap<String, Vec<String>>,
        from: &GatewayName,
        to: &[HostRef],
        depth: usize,
    ) {
        let members: BTreeSet<&String> = named(chains, key).flat_map(|(_, members)| members).take(MAX_USES).collect();
        if !members.is_empty() {
            if depth > 0 {
                members.into_iter().for_each(|member| self.add(member, chains, from, to, depth - 1));
            }
            return;
        }
        let (gateways, hosts) = self.by_policy.entry(key.to_string()).or_default();
        if !gateways.contains(from) && gateways.len() < MAX_HOSTS {
            gateways.push(from.clone());
        }
        let room = MAX_USES.saturating_sub(hosts.len());
        hosts.extend(to.iter().take(room).cloned());
    }

    /// The gateways and upstreams of the routers that use a middleware.
    fn of(&self, key: &str) -> (Vec<GatewayName>, Vec<HostRef>) {
        let exact = self.by_policy.get(key).cloned();
        // Of a resource without a namespace, the references from elsewhere have one.
        let elsewhere = || {
            let tail = key.starts_with('-').then_some(key)?;
            let found = self.by_policy.iter().filter(|(k, _)| k.ends_with(tail));
            found.map(|(_, uses)| uses.clone()).next()
        };
        exact.or_else(elsewhere).unwrap_or_default()
    }
}
