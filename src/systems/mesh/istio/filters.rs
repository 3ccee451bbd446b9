//! EnvoyFilters: patches of the routes that Istio makes, in Envoy's own words.

use super::{ID, policy, routes};
use crate::facts::{Facts, PatchFact};
use crate::model::{Attempts, Conditions, GatewayName, HostRef, Inert, Layer, Pick, Scope, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::gateways::envoy;
use crate::systems::objects::Object;
use crate::systems::settings;

/// The patches of one EnvoyFilter that concern retries.
pub(super) fn read(object: &Object<'_>, before_1_24: bool, facts: &mut Facts) {
    let name = format!("Istio EnvoyFilter {}", object.name);
    for (i, patch) in object.spec(&["configPatches"]).map_or(&[][..], Node::items).iter().enumerate() {
        let text = |path: &[&str]| patch.at(path).and_then(Node::as_str);
        let Some(value) = patch.at(&["patch", "value"]).filter(|_| text(&["patch", "operation"]) == Some("MERGE"))
        else {
            continue;
        };
        match text(&["applyTo"]) {
            Some("VIRTUAL_HOST") => facts.inert.extend(of_virtual_host(value).map(|i| i.of(&name))),
            Some("HTTP_ROUTE") => {
                let Some(key) = value.get("route").and_then(|route| envoy::entry(route, "retry_policy")) else {
                    continue;
                };
                let context = text(&["match", "context"]).unwrap_or("ANY");
                let id = format!("{ID}:envoyfilter:{}:{}", object.qualified(), i + 1);
                let host = patch.at(&["match", "routeConfiguration", "vhost", "name"]);
                let (layer, conditions) = layer(id, &name, key, before_1_24, facts);
                facts.patches.push(PatchFact {
                    system: ID,
                    host: host.and_then(virtual_host),
                    sidecars: matches!(context, "SIDECAR_OUTBOUND" | "ANY"),
                    gateways: matches!(context, "GATEWAY" | "ANY"),
                    policy: Box::new(layer),
                    conditions,
                });
            }
            _ => {}
        }
    }
}

/// Istio's routes all carry a policy of their own, the default if nothing else.
fn of_virtual_host(value: &Node) -> Option<Inert> {
    let key = envoy::entry(value, "retry_policy")?;
    let why = "every route that Istio makes has a retry policy of its own, and Envoy merges nothing";
    let found = Inert::new(key.key_span, format!("`{}` of a virtual host", key.key), why);
    Some(found.instead("Patch `HTTP_ROUTE` and `route.retry_policy`, or set `retries` in a VirtualService"))
}

/// The mesh's default policy with a patch over it, and whether the patch says what is retried.
fn layer(id: String, name: &str, key: &Entry, before_1_24: bool, facts: &mut Facts) -> (Layer, bool) {
    let read = envoy::policy::read(key, None, None, &envoy::Headers::default());
    let default = policy::absent(key.key_span, before_1_24);
    let says_what = envoy::get(&key.value, "retry_on").is_some();
    let mut policy = read.policy;
    if envoy::get(&key.value, "num_retries").is_none() {
        policy.count = default.count;
        policy.count.reading = format!("`{}` without `num_retries`", key.key);
    } else if !says_what {
        // The conditions are those of the route that it is merged into.
        let count = envoy::entry(&key.value, "num_retries");
        policy.count = crate::systems::envoy_based::Count::of(count, key, default.count.attempts);
    }
    let more = envoy::statuses(&key.value);
    if !says_what {
        // A list of statuses is added to the one that Istio writes, whose token is there already.
        let mut conditions = default.conditions;
        more.into_iter().for_each(|pick| add(&mut conditions, pick));
        policy.conditions = conditions;
    } else {
        facts.inert.extend(read.inert.into_iter().map(|i| i.of(name)));
    }
    if envoy::get(&key.value, "retry_back_off").is_none() {
        policy.wait = default.wait;
    }
    let reading = format!("{} on {name}", policy.count.reading);
    let layer = routes::layer(id.into(), name.to_owned(), policy, Scope::Code);
    (Layer { opens: key.key_span, asked_for: true, reading, retry_after: read.retry_after, ..layer }, says_what)
}

fn add(conditions: &mut Conditions, pick: Pick) {
    conditions.yes = conditions.yes.union(pick.modes);
    conditions.picks.push(pick);
}

/// `reviews.shop.svc.cluster.local:9080`
fn virtual_host(node: &Node) -> Option<HostRef> {
    settings::host(node.as_str()?, node.span, None)
}

/// Puts the patches on the policies that they reach, and makes one for a host that has none.
pub(super) fn apply(facts: &mut Facts) {
    let (mine, rest): (Vec<_>, _) =
        std::mem::take(&mut facts.patches).into_iter().partition(|p: &PatchFact| p.system == ID);
    facts.patches = rest;
    if mine.iter().any(|patch| patch.sidecars != patch.gateways) {
        split_sides(&mine, &mut facts.layers);
    }
    for patch in mine {
        let mut reached = false;
        for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
            if reaches(&patch, layer) {
                reached |= !matches!(layer.scope, Scope::Hops { fallback: true, .. });
                merge(layer, &patch, &mut facts.inert);
            }
        }
        if let (false, Some(host)) = (reached, &patch.host) {
            facts.layers.retain(|l| !(super::is_fallback(l) && reaches(&patch, l)));
            let scope = crate::systems::envoy_based::from_sidecars(vec![HostRef { port: None, ..host.clone() }]);
            let reading = patch.policy.reading.clone();
            facts.layers.push(Layer { scope, reading, ..*patch.policy });
        }
    }
}

/// A route of sidecars and gateways is two where a patch reaches those of one side alone.
fn split_sides(patches: &[PatchFact], layers: &mut Vec<Layer>) {
    let mut out = Vec::with_capacity(layers.len());
    for mut layer in std::mem::take(layers) {
        let of_one_side = |p: &PatchFact| p.sidecars != p.gateways && reaches(p, &layer);
        let is_split = layer.system == ID && patches.iter().any(of_one_side);
        let Scope::Hops { from, .. } = &mut layer.scope else {
            out.push(layer);
            continue;
        };
        let (pods, gateways): (Vec<_>, Vec<_>) =
            from.gateways.iter().cloned().partition(|g| matches!(g, GatewayName::Labelled(_)));
        if !is_split || gateways.is_empty() || !from.mesh && pods.is_empty() {
            out.push(layer);
            continue;
        }
        let mesh = std::mem::replace(&mut from.mesh, false);
        from.gateways = gateways;
        let mut sidecars = Layer { id: format!("{}:sidecars", layer.id).into(), ..layer.clone() };
        if let Scope::Hops { from, .. } = &mut sidecars.scope {
            (from.mesh, from.gateways) = (mesh, pods);
        }
        out.extend([layer, sidecars]);
    }
    *layers = out;
}

fn reaches(patch: &PatchFact, layer: &Layer) -> bool {
    let Scope::Hops { from, to, .. } = &layer.scope else { return false };
    let of_pods = |g: &GatewayName| matches!(g, GatewayName::Labelled(_));
    let sidecars = from.mesh || from.gateways.iter().any(of_pods);
    let gateways = from.gateways.iter().any(|g| !of_pods(g));
    let of_side = sidecars && patch.sidecars || gateways && patch.gateways;
    let is = |host: &HostRef| patch.host.as_ref().is_none_or(|wanted| same(wanted, host));
    of_side && to.iter().any(is)
}

/// Whether a virtual host's name is that of a host of a route.
fn same(wanted: &HostRef, host: &HostRef) -> bool {
    let short = |h: &HostRef| {
        let name = h.name.split(".svc").next().unwrap_or_default();
        match &h.namespace {
            Some(namespace) if !name.contains('.') => format!("{name}.{namespace}"),
            _ => name.to_owned(),
        }
    };
    short(wanted) == short(host)
}

/// Whether Istio gives a route the word for a list of statuses: to those without conditions of their own, and to those that
/// list statuses.
fn names_statuses(layer: &Layer) -> bool {
    let is_status = |p: &Pick| p.text.trim_matches('`').parse::<u16>().is_ok();
    layer.retries.picks.iter().any(|p| p.span == layer.opens || is_status(p))
}

/// A merge of messages: what the patch sets replaces, lists are added to.
fn merge(layer: &mut Layer, patch: &PatchFact, inert: &mut Vec<Inert>) {
    let new = &patch.policy;
    let off = |l: &Layer| matches!(l.attempts.value(), Some(Attempts::Count(1)));
    if matches!(new.attempts, Setting::Written { .. } | Setting::Unknown { .. }) {
        layer.labels.push((new.place, new.reading.clone()));
        layer.attempts = new.attempts.clone();
        layer.place = new.place;
        layer.reading = format!("{}, which changes {}", new.reading, layer.name);
        layer.asked_for = true;
    }
    if off(layer) {
        return;
    }
    if new.retry_after.value() == Some(&true) {
        layer.retry_after = new.retry_after.clone();
    }
    if new.wait_place.is_some() {
        layer.wait = new.wait.clone();
        layer.wait_place = new.wait_place;
    }
    if patch.conditions {
        layer.retries = new.retries.clone();
    } else {
        let written: Vec<Pick> = new.retries.picks.iter().filter(|p| p.span != new.opens).cloned().collect();
        if names_statuses(layer) {
            written.into_iter().for_each(|pick| add(&mut layer.retries, pick));
        } else {
            inert.extend(written.into_iter().map(|pick| {
                let why = "the route that it is merged into does not name `retriable-status-codes`, so Envoy does not look at it";
                Inert::new(pick.span, pick.text, why).of(&new.name).because(layer.opens, "the retries of the route")
            }));
        }
    }
    if let Some(per_try) = &new.per_try {
        layer.per_try = policy::effective(Some(per_try.clone()), layer.overall.as_ref());
    }
}
