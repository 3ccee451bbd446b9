//! Names that one file of a system gives to groups of hosts, and another uses.

use crate::facts::{Facts, UpstreamFact};
use crate::model::{GatewayName, HostRef, Scope};

/// Puts the hosts of `system`'s upstreams where its layers and routes name the upstream, and their budgets on the
/// layers. The upstreams are gone afterwards.
pub(super) fn resolve(facts: &mut Facts, system: &'static str) {
    let (mine, rest) = std::mem::take(&mut facts.upstreams).into_iter().partition(|u| u.system == system);
    facts.upstreams = rest;
    let mine = Upstreams(mine);
    for layer in facts.layers.iter_mut().filter(|l| l.system == system) {
        let Scope::Hops { to, .. } = &mut layer.scope else { continue };
        if layer.budget.is_none() {
            layer.budget = to.iter().flat_map(|host| mine.of(host)).find_map(|u| u.budget.clone());
        }
        *to = mine.hosts(to);
    }
    for route in &mut facts.routes {
        if matches!(route.from, GatewayName::OfFile { system: of, .. } if of == system) {
            route.to = mine.hosts(&route.to);
        }
    }
}

struct Upstreams(Vec<UpstreamFact>);

impl Upstreams {
    /// The upstreams that a name means: those of its own file, else those of the nearest file that has the name.
    /// Files are numbered in the order of their paths, so the nearest is in the same folder if any is.
    fn of(&self, host: &HostRef) -> Vec<&UpstreamFact> {
        let named: Vec<&UpstreamFact> = self.0.iter().filter(|u| same(u, host)).collect();
        let distance = |u: &&UpstreamFact| u.span.file.0.abs_diff(host.span.file.0);
        let nearest = named.iter().map(distance).min();
        named.into_iter().filter(|u| Some(distance(u)) == nearest).collect()
    }

    fn hosts(&self, names: &[HostRef]) -> Vec<HostRef> {
        let mut out: Vec<HostRef> = Vec::new();
        for name in names {
            let hosts: Vec<HostRef> = self.of(name).into_iter().flat_map(|u| u.to.iter().cloned()).collect();
            let hosts = if hosts.is_empty() { vec![name.clone()] } else { hosts };
            for host in hosts {
                if !out.iter().any(|o| (&o.name, o.port, &o.namespace) == (&host.name, host.port, &host.namespace)) {
                    out.push(host);
                }
            }
        }
        out
    }
}

/// Whether an upstream and a host are one name: written alike, or one of them with its namespace (`ledger` in `pay`
/// is `ledger.pay.svc.cluster.local`).
fn same(upstream: &UpstreamFact, host: &HostRef) -> bool {
    let longer = |long: &str, short: &str, namespace: &Option<String>| {
        let rest = long.strip_prefix(short).and_then(|rest| rest.strip_prefix('.'));
        let Some(namespace) = namespace else { return false };
        rest.and_then(|rest| rest.strip_prefix(namespace.as_str()))
            .is_some_and(|rest| matches!(rest, "" | ".svc" | ".svc.cluster.local"))
    };
    match (&upstream.namespace, &host.namespace) {
        (Some(a), Some(b)) if upstream.name == host.name => a == b,
        _ if upstream.name == host.name => true,
        (ours, theirs) => longer(&upstream.name, &host.name, theirs) || longer(&host.name, &upstream.name, ours),
    }
}
