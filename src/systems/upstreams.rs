//! Names that one file of a system gives to groups of hosts, and another uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::settings;
use crate::facts::{Facts, UpstreamFact};
use crate::model::{GatewayName, HostRef, Scope};
use crate::source::FileId;

/// Puts the hosts of `system`'s upstreams where its layers and routes name the upstream, and their budgets on the
/// layers. The upstreams are gone afterwards.
pub(super) fn resolve(facts: &mut Facts, system: &'static str) {
    let (mine, rest) = std::mem::take(&mut facts.upstreams).into_iter().partition(|u| u.system == system);
    facts.upstreams = rest;
    let mine = Upstreams::new(mine, &facts.paths);
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

/// Upstreams, and where each is found: under its own name and under the one with its namespace.
struct Upstreams<'p> {
    paths: &'p BTreeMap<FileId, Arc<str>>,
    all: Vec<UpstreamFact>,
    index: BTreeMap<String, BTreeSet<usize>>,
}

/// More hosts behind one name are alternatives that add nothing to a product, and a name can be used very often.
const MAX_HOSTS: usize = 16;

impl<'p> Upstreams<'p> {
    fn new(facts: Vec<UpstreamFact>, paths: &'p BTreeMap<FileId, Arc<str>>) -> Self {
        let mut out = Self { paths, all: Vec::new(), index: BTreeMap::new() };
        let mut known: BTreeMap<(FileId, String, Option<String>), usize> = BTreeMap::new();
        for mut fact in facts {
            fact.to.truncate(MAX_HOSTS);
            let key = (fact.span.file, fact.name.clone(), fact.namespace.clone());
            match known.get(&key).and_then(|&i| out.all.get_mut(i)) {
                // One name that a file defines twice: alternatives.
                Some(first) => {
                    first.to.extend(fact.to);
                    first.to.truncate(MAX_HOSTS);
                    first.budget = first.budget.take().or(fact.budget);
                }
                None => {
                    known.insert(key, out.all.len());
                    for name in [fact.name.clone(), qualified(&fact.name, fact.namespace.as_deref())] {
                        out.index.entry(name).or_default().insert(out.all.len());
                    }
                    out.all.push(fact);
                }
            }
        }
        out
    }

    /// The upstreams that a name means: those of its own file, else those of the nearest folder that has the name
    /// (the environments of one repository name theirs alike).
    fn of(&self, host: &HostRef) -> Vec<&UpstreamFact> {
        let keys = [host.name.clone(), qualified(&host.name, host.namespace.as_deref())];
        let found: BTreeSet<usize> = keys.iter().filter_map(|key| self.index.get(key)).flatten().copied().collect();
        let named: Vec<&UpstreamFact> =
            found.iter().filter_map(|&i| self.all.get(i)).filter(|u| same(u, host)).collect();
        let distance = |u: &&UpstreamFact| self.distance(u.span.file, host.span.file);
        let nearest = named.iter().map(distance).min();
        named.into_iter().filter(|u| Some(distance(u)) == nearest).collect()
    }

    /// How many steps lead from the folder of one file to that of another; `None`, the nearest, within one file.
    fn distance(&self, a: FileId, b: FileId) -> Option<usize> {
        if a == b {
            return None;
        }
        let folders = |file: FileId| -> Vec<&str> {
            let path = self.paths.get(&file).map_or("", |path| path);
            path.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect())
        };
        let (a, b) = (folders(a), folders(b));
        let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        Some(a.len() + b.len() - 2 * common)
    }

    fn hosts(&self, names: &[HostRef]) -> Vec<HostRef> {
        settings::distinct(names.iter().flat_map(|name| {
            let hosts: Vec<HostRef> = self.of(name).into_iter().flat_map(|u| u.to.iter().cloned()).collect();
            if hosts.is_empty() { vec![name.clone()] } else { hosts }
        }))
    }
}

/// A name with its namespace: `ledger` in `pay`, `ledger.pay.svc` and `ledger.pay.svc.cluster.local` are `ledger.pay`.
fn qualified(name: &str, namespace: Option<&str>) -> String {
    let short = name.strip_suffix(".svc.cluster.local").or_else(|| name.strip_suffix(".svc"));
    match (short, namespace) {
        (Some(short), _) => short.to_string(),
        (None, Some(namespace)) if !name.contains('.') => format!("{name}.{namespace}"),
        (None, _) => name.to_string(),
    }
}

/// Whether an upstream and a host are one name.
fn same(upstream: &UpstreamFact, host: &HostRef) -> bool {
    same_name((&upstream.name, upstream.namespace.as_deref()), (&host.name, host.namespace.as_deref()))
}

/// Whether two names, each with its namespace, are one: the same with their namespaces, or written alike where one of the
/// namespaces is not known.
pub(super) fn same_name(a: (&str, Option<&str>), b: (&str, Option<&str>)) -> bool {
    let alike = a.0 == b.0 && (a.1.is_none() || b.1.is_none());
    alike || qualified(a.0, a.1) == qualified(b.0, b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn names_with_and_without_their_namespace() {
        let is_same = |a: (&str, Option<&str>), b: (&str, Option<&str>)| {
            let span = Span::start_of(FileId(0));
            let owned = |n: Option<&str>| n.map(str::to_string);
            let host = HostRef { name: b.0.into(), port: None, namespace: owned(b.1), span };
            let (name, namespace) = (a.0.to_string(), owned(a.1));
            same(&UpstreamFact { system: "x", name, namespace, to: Vec::new(), budget: None, span }, &host)
        };
        assert!(is_same(("ledger", Some("pay")), ("ledger.pay.svc.cluster.local", Some("shop"))));
        assert!(is_same(("ledger.pay", None), ("ledger", Some("pay"))));
        assert!(is_same(("ledger", None), ("ledger", Some("pay"))));
        assert!(!is_same(("ledger", Some("pay")), ("ledger", Some("shop"))));
        assert!(!is_same(("ledger", Some("pay")), ("ledger.shop", None)));
    }
}
