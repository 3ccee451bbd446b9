//! What a Service of Kubernetes says itself, where otherwise the Ingress that leads to it decides.

use std::collections::BTreeMap;

use crate::facts::Facts;
use crate::model::{GatewayName, Layer, Scope};

/// The layers of Services, whose ids begin with `prefix`, take the place of the Ingresses' own, and get their callers.
pub(super) fn join(facts: &mut Facts, system: &str, prefix: &str) {
    let is_service = |l: &Layer| l.system == system && l.id.starts_with(prefix);
    let (mut services, rest): (Vec<Layer>, Vec<Layer>) =
        std::mem::take(&mut facts.layers).into_iter().partition(is_service);
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, layer) in services.iter().enumerate() {
        if let Scope::Hops { to, .. } = &layer.scope {
            to.iter().for_each(|h| by_name.entry(h.name.clone()).or_default().push(at));
        }
    }
    facts.layers = rest;
    for layer in facts.layers.iter_mut().filter(|l| l.system == system) {
        let Scope::Hops { from, to, .. } = &mut layer.scope else { continue };
        to.retain(|host| {
            let named = by_name.get(&host.name).into_iter().flatten().copied();
            let mut found = false;
            for at in named {
                let Some(Scope::Hops { from: callers, to, .. }) = services.get_mut(at).map(|l| &mut l.scope) else {
                    continue;
                };
                let same = to
                    .iter()
                    .any(|h| h.namespace.is_none() || host.namespace.is_none() || h.namespace == host.namespace);
                if same {
                    found = true;
                    let new = from.gateways.iter().filter(|g| !callers.gateways.contains(g)).cloned();
                    let new: Vec<GatewayName> = new.collect();
                    callers.gateways.extend(new);
                }
            }
            !found
        });
    }
    // An Ingress of such Services alone has nothing of its own left; a Service with an Ingress is not called otherwise.
    let has_nothing =
        |l: &Layer| matches!(&l.scope, Scope::Hops { from, to, .. } if to.is_empty() && !from.gateways.is_empty());
    facts.layers.retain(|l| l.system != system || !has_nothing(l));
    for layer in &mut services {
        if let Scope::Hops { from, .. } = &mut layer.scope
            && from.gateways.len() > 1
        {
            from.gateways.remove(0);
        }
    }
    facts.layers.extend(services);
}
