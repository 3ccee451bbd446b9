//! Objects that hand requests on to other objects of their system: what is written on one of them works for the callers of
//! all that lead to it.

use std::collections::BTreeMap;

use super::settings;
use crate::facts::{DelegationFact, Facts, RouteFact};
use crate::model::{Callers, GatewayName, Scope};

/// How many objects may hand requests on in a row.
const MAX_CHAIN: usize = 16;

/// The gateway of an object to which others hand requests on.
pub(super) fn placeholder(system: &'static str, object: String) -> GatewayName {
    GatewayName::Delegating { system, object }
}

/// Puts the callers of whoever hands requests on where the layers and routes of `system` leave them open. The
/// delegations are gone afterwards. What nobody hands on has no callers.
pub(super) fn resolve(facts: &mut Facts, system: &'static str) {
    let (mine, rest): (Vec<_>, _) =
        std::mem::take(&mut facts.delegations).into_iter().partition(|d: &DelegationFact| d.system == system);
    facts.delegations = rest;
    let mut known: BTreeMap<&str, Vec<&DelegationFact>> = BTreeMap::new();
    mine.iter().for_each(|d| known.entry(&d.object).or_default().push(d));
    for layer in facts.layers.iter_mut().filter(|l| l.system == system) {
        let Scope::Hops { from, to, .. } = &mut layer.scope else { continue };
        let objects: Vec<String> = from.gateways.iter().filter_map(object).map(str::to_owned).collect();
        if objects.is_empty() {
            continue;
        }
        from.gateways.retain(|g| object(g).is_none());
        for name in &objects {
            let callers = callers(&known, name, MAX_CHAIN);
            from.mesh |= callers.mesh;
            add(&mut from.gateways, callers.gateways);
        }
        let handing = || objects.iter().flat_map(|name| known.get(name.as_str()).into_iter().flatten());
        if from.mesh && from.gateways.is_empty() {
            *to = settings::distinct(std::mem::take(to).into_iter().chain(handing().flat_map(|d| d.hosts.clone())));
        }
        // What is written nearer counts; else that of whoever hands requests on.
        let inherited = handing().find_map(|d| d.policy.clone()).filter(|_| !layer.asked_for);
        if let Some(policy) = inherited {
            layer.labels.push((layer.opens, format!("{} sets none of its own", layer.name)));
            let (id, name, scope, opens) = (layer.id.clone(), layer.name.clone(), layer.scope.clone(), policy.opens);
            *layer = crate::model::Layer { id, name, scope, opens, labels: layer.labels.clone(), ..*policy };
        }
    }
    let routes = std::mem::take(&mut facts.routes);
    facts.routes = routes.into_iter().flat_map(|route| routes_of(route, system, &known)).collect();
}

/// A route of each gateway that leads to it.
fn routes_of(route: RouteFact, system: &'static str, known: &BTreeMap<&str, Vec<&DelegationFact>>) -> Vec<RouteFact> {
    match &route.from {
        GatewayName::Delegating { system: of, object } if *of == system => {
            let gateways = callers(known, object, MAX_CHAIN).gateways;
            gateways.into_iter().map(|from| RouteFact { from, ..route.clone() }).collect()
        }
        _ => vec![route],
    }
}

fn object(gateway: &GatewayName) -> Option<&str> {
    match gateway {
        GatewayName::Delegating { object, .. } => Some(object),
        _ => None,
    }
}

/// Whose requests reach an object in the end. Objects that hand on in a ring lead nowhere.
fn callers(known: &BTreeMap<&str, Vec<&DelegationFact>>, name: &str, depth: usize) -> Callers {
    let mut out = Callers::default();
    if depth == 0 {
        return out;
    }
    for from in known.get(name).into_iter().flatten() {
        out.mesh |= from.callers.mesh;
        for gateway in &from.callers.gateways {
            match object(gateway) {
                None => add(&mut out.gateways, vec![gateway.clone()]),
                Some(next) => {
                    let further = callers(known, next, depth - 1);
                    out.mesh |= further.mesh;
                    add(&mut out.gateways, further.gateways);
                }
            }
        }
    }
    out
}

fn add(all: &mut Vec<GatewayName>, more: Vec<GatewayName>) {
    for gateway in more {
        if !all.contains(&gateway) {
            all.push(gateway);
        }
    }
}
