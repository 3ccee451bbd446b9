//! Policies of implementations that are objects of their own, attached to Gateways and routes: what Envoy Gateway and
//! kgateway do alike.

use std::time::Duration;

use super::targets;
use crate::facts::{AttachedPolicyFact, Facts};
use crate::model::{Advice, Budget, Inert, Layer, LayerKind, Scope, Setting};
use crate::syntax::Entry;
use crate::systems::Unit;
use crate::systems::envoy_based::{self, Identity, Policy};
use crate::systems::objects::{self, Object};

/// A kind of policy that has a `retry`.
pub(in crate::systems) struct PolicyKind {
    /// The system.
    pub system: &'static str,
    /// The group of its API, with a slash.
    pub group: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Before its name, for people: "kgateway TrafficPolicy".
    pub title: &'static str,
    /// What its `retry` says.
    pub read: fn(&Object<'_>, &Entry, &mut Vec<Inert>) -> Read,
    /// What to write instead.
    pub advice: fn() -> Advice,
}

/// What one policy says.
pub(in crate::systems) struct Read {
    /// Of its retries.
    pub policy: Policy,
    /// Its limit on all tries: `None` inside for one that lifts it.
    pub overall: Option<Option<Setting<Duration>>>,
    /// Its budget.
    pub budget: Option<Budget>,
    /// What it says of Retry-After, if it has a setting for it.
    pub retry_after: Option<Setting<bool>>,
}

impl PolicyKind {
    /// The policies of this kind in a unit. Joining finds the hops of their layers.
    pub(in crate::systems) fn extract(&self, unit: &Unit<'_>, facts: &mut Facts) {
        for object in unit.documents().flat_map(|(_, root)| objects::of(root)) {
            if object.kind == self.kind && object.version.starts_with(self.group) {
                facts.attached.extend(self.policy(&object, &mut facts.inert));
            }
        }
    }

    fn policy(&self, object: &Object<'_>, inert: &mut Vec<Inert>) -> Option<AttachedPolicyFact> {
        let key = object.spec(&[])?.entry("retry").filter(|e| !e.value.is_null())?;
        let name = format!("{} {}", self.title, object.name);
        let mut found = Vec::new();
        let targets = targets(object);
        let of_bytes = targets.iter().all(|t| matches!(t.kind.as_str(), "TCPRoute" | "TLSRoute" | "UDPRoute"));
        if let Some(route) = targets.first().filter(|_| of_bytes) {
            let why = "the proxy passes on bytes there, and sees no request that it could send again";
            inert.push(Inert::new(key.key_span, "`retry`", why).of(&name).because(route.span, "the route"));
            return None;
        }
        let Read { policy, overall, budget, retry_after } = (self.read)(object, key, &mut found);
        inert.extend(found.into_iter().map(|i| i.of(&name)));
        let id = format!("{}:policy:{}", self.system, object.qualified()).into();
        let identity = Identity { system: self.system, kind: LayerKind::Gateway, id, name, opens: key.key_span };
        let layer = envoy_based::layer(identity, Scope::Code, policy);
        let retry_after = retry_after.unwrap_or_else(|| layer.retry_after.clone());
        let layer = Some(Box::new(Layer { advice: (self.advice)(), retry_after, ..layer }));
        Some(AttachedPolicyFact { system: self.system, targets, layer, overall, budget })
    }
}
