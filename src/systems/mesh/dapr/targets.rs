//! Which policy holds for which app, actor and component.

use std::collections::BTreeSet;
use std::time::Duration;

use super::policy::{self, Read};
use super::{BUILT_IN, ID, base, host};
use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Callers, ComponentName, Conditions, GatewayName, HostRef, Inert, Layer, LayerKind, Methods,
    ModeSet, Scope, Setting, Unresolved,
};
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Identity};
use crate::systems::objects::Object;
use crate::systems::{duration, settings};

/// How the layers for named apps are numbered.
pub(super) const APPS: &str = "dapr:app:";
/// Those for every app that is not named.
pub(super) const DEFAULTS: &str = "dapr:default:";

/// Those for components.
const COMPONENTS: &str = "dapr:component:";

/// Those that take the place of the built-in ones.
pub(super) const REDEFINED: &str = "dapr:built-in-policy:";

/// Failures in a row that open a breaker without `trip` (dapr/dapr pkg/resiliency/breaker/circuitbreaker.go).
const BREAKER: u64 = 6;

/// How long a breaker without `timeout` stays open (the same file).
const OPEN: Duration = Duration::from_secs(60);

/// Reads one Resiliency.
pub(super) fn read(object: &Object<'_>, facts: &mut Facts) {
    let retries = object.spec(&["policies", "retries"]).map_or(&[][..], Node::entries);
    let mut reader = Reader {
        object: *object,
        retries,
        timeouts: object.spec(&["policies", "timeouts"]),
        breakers: object.spec(&["policies", "circuitBreakers"]),
        scopes: scopes(object),
        used: BTreeSet::new(),
    };
    for app in object.spec(&["targets", "apps"]).map_or(&[][..], Node::entries) {
        let to = host(&app.key, app.key_span, object.namespace);
        let scope = Scope::Hops { from: reader.callers(), to: to.into_iter().collect(), fallback: false };
        reader.target(&app.value, format!("{APPS}{}", app.key), format!("app {}", app.key), scope, facts);
    }
    for actor in object.spec(&["targets", "actors"]).map_or(&[][..], Node::entries) {
        let scope = Scope::Hops { from: reader.callers(), to: Vec::new(), fallback: false };
        reader.target(&actor.value, format!("dapr:actor:{}", actor.key), format!("actor {}", actor.key), scope, facts);
    }
    for component in object.spec(&["targets", "components"]).map_or(&[][..], Node::entries) {
        for direction in ["outbound", "inbound"] {
            let Some(settings) = component.value.get(direction) else { continue };
            let id = format!("{COMPONENTS}{}:{direction}", component.key);
            let title = format!("component {} ({direction})", component.key);
            let scope = reader.of_component(component, direction, &id);
            reader.target(settings, id, title, scope, facts);
        }
    }
    reader.defaults(facts);
    reader.other_defaults(facts);
    reader.unused(facts);
}

/// The apps to which a Resiliency applies; none: all.
fn scopes(object: &Object<'_>) -> Vec<String> {
    let scopes = object.node.get("scopes").or_else(|| object.spec(&["scopes"]));
    scopes.map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str()).map(str::to_string).collect()
}

struct Reader<'a> {
    object: Object<'a>,
    retries: &'a [Entry],
    timeouts: Option<&'a Node>,
    breakers: Option<&'a Node>,
    scopes: Vec<String>,
    used: BTreeSet<String>,
}

impl Reader<'_> {
    fn callers(&self) -> Callers {
        let labelled = |name: &String| GatewayName::Labelled(vec![("app".to_string(), name.clone())]);
        Callers { gateways: self.scopes.iter().map(labelled).collect(), mesh: self.scopes.is_empty() }
    }

    /// What an app sends to a component, or what the component delivers to the apps.
    fn of_component(&self, component: &Entry, direction: &str, group: &str) -> Scope {
        if direction == "outbound" {
            let to: Option<HostRef> = host(&component.key, component.key_span, self.object.namespace);
            return Scope::Hops { from: self.callers(), to: to.into_iter().collect(), fallback: false };
        }
        let namespace = self.object.namespace.map(str::to_string);
        let name = |name: &String| ComponentName { name: name.clone(), namespace: namespace.clone() };
        Scope::Consumers { queue: None, components: self.scopes.iter().map(name).collect(), group: group.to_string() }
    }

    fn target(&mut self, target: &Node, id: String, title: String, scope: Scope, facts: &mut Facts) {
        let Some(retry) = target.entry("retry").filter(|e| !e.value.is_null()) else { return };
        let Some(name) = retry.value.as_str() else { return };
        let Some(key) = self.retries.iter().find(|e| &*e.key == name) else {
            facts.unresolved.push(Unresolved {
                span: retry.value.span,
                what: format!("retries of Dapr {title}"),
                reason: format!("no policy `{}` is in this Resiliency", settings::shown(name)),
            });
            return;
        };
        let is_new = self.used.insert(name.to_string());
        let per_try = target.get("timeout").and_then(|n| self.timeout(n));
        let of_component = id.starts_with(COMPONENTS) && id.ends_with(":outbound");
        let layer = self.layer(key, id, &format!("Dapr retry policy of {title}"), scope, is_new, facts);
        let labels = vec![(retry.value.span, format!("{title} has this policy"))];
        let mut layer = Layer { per_try, labels, ..layer };
        if of_component {
            // What is sent to a component is no HTTP request: it fails, and there is no status and no method to look at.
            layer.retries = without_statuses(&layer.retries);
            layer.methods = Methods::Unknown;
        }
        if let Some(breaker) = target.get("circuitBreaker").and_then(|n| self.breakers?.entry(n.as_str()?)) {
            end_by(breaker, &mut layer);
        }
        facts.layers.push(layer);
    }

    fn layer(&self, key: &Entry, id: String, name: &str, scope: Scope, is_new: bool, facts: &mut Facts) -> Layer {
        let Read { policy, jitter, inert } = policy::read(key);
        // What a policy leaves without effect is told once, however many have it.
        let owner = format!("Dapr retry policy {}", key.key);
        facts.inert.extend(inert.into_iter().filter(|_| is_new).map(|i| i.of(&owner)));
        let kind = if matches!(scope, Scope::Consumers { .. }) { LayerKind::Queue } else { LayerKind::Mesh };
        let identity = Identity { system: ID, kind, id: id.into(), name: name.to_string(), opens: key.key_span };
        Layer { jitter, scope, advice: advice(), ..base(identity, policy) }
    }

    /// A limit on each try, by the name of its policy.
    fn timeout(&self, name: &Node) -> Option<Setting<Duration>> {
        let node = self.timeouts?.get(name.as_str()?)?;
        settings::limit(node, |n| envoy_based::go(n).or_else(|| duration::millis(n.as_f64()?)))
    }

    /// Policies under reserved names hold without a target.
    fn defaults(&mut self, facts: &mut Facts) {
        let app = ["DefaultAppRetryPolicy", "DefaultRetryPolicy"];
        let retries = self.retries;
        if let Some(key) = app.iter().find_map(|name| retries.iter().find(|e| &*e.key == *name)) {
            let scope = Scope::Hops { from: self.callers(), to: Vec::new(), fallback: false };
            let id = format!("{DEFAULTS}{}", self.object.qualified());
            let layer = self.layer(key, id, "Dapr's default policy for apps", scope, true, facts);
            facts.layers.push(layer);
        }
        if let Some(key) = retries.iter().find(|e| &*e.key == "DaprBuiltInServiceRetries") {
            let scope = Scope::Hops { from: self.callers(), to: Vec::new(), fallback: false };
            let id = format!("{REDEFINED}{}", self.object.qualified());
            let layer = self.layer(key, id, "Dapr's built-in retries, redefined", scope, true, facts);
            // Whatever the policy says of conditions, it is asked only where the other sidecar cannot be reached.
            let retries = super::unreachable(key.key_span);
            facts.layers.push(Layer { system: BUILT_IN, retries, ..layer });
        }
    }

    /// Defaults for actors and components, which are not named anywhere, and built-in policies of other calls.
    fn other_defaults(&self, facts: &mut Facts) {
        let of_apps = ["DefaultAppRetryPolicy", "DefaultRetryPolicy", "DaprBuiltInServiceRetries"];
        for key in self.retries.iter().filter(|e| !of_apps.contains(&&*e.key)) {
            let owner = format!("Dapr retry policy {}", settings::shown(&key.key));
            if &*key.key == "DaprBuiltInActorNotFoundRetries" {
                let why = "Dapr lets nobody redefine this one";
                facts.inert.push(Inert::new(key.key_span, "the policy", why).of(&owner).instead("Take it out"));
            } else if key.key.starts_with("DaprBuiltIn") {
                facts.inert.extend(policy::read(key).inert.into_iter().map(|i| i.of(&owner)));
            } else if let Some(of) = key.key.strip_prefix("Default").and_then(|k| k.strip_suffix("RetryPolicy")) {
                let scope = Scope::Hops { from: self.callers(), to: Vec::new(), fallback: false };
                let id = format!("dapr:default-of:{of}:{}", self.object.qualified());
                let layer = self.layer(key, id, &format!("Dapr's default policy {}", key.key), scope, true, facts);
                facts.layers.push(layer);
            }
        }
    }

    /// A policy that nothing names does nothing.
    fn unused(&self, facts: &mut Facts) {
        let reserved = |name: &str| name.starts_with("Default") || name.starts_with("DaprBuiltIn");
        let unused = self.retries.iter().filter(|e| !reserved(&e.key) && !self.used.contains(&*e.key));
        facts.inert.extend(unused.map(|e| {
            let setting = format!("the policy `{}`", settings::shown(&e.key));
            let found = Inert::new(e.key_span, setting, "no target of this Resiliency names it");
            found.of(&format!("Dapr Resiliency {}", self.object.name)).instead("Name it in `targets`, or take it out")
        }));
    }
}

fn without_statuses(conditions: &Conditions) -> Conditions {
    let mut rest = conditions.clone();
    rest.yes = rest.yes.intersection(ModeSet::transport());
    for pick in &mut rest.picks {
        pick.modes = pick.modes.intersection(ModeSet::transport());
    }
    rest.picks.retain(|pick| !pick.modes.is_empty());
    rest
}

/// A breaker that is open when the next try is due ends the retries (dapr/dapr pkg/resiliency/policy.go): one request is
/// tried at most until then.
fn end_by(breaker: &Entry, layer: &mut Layer) {
    let field = |name: &str| breaker.value.entry(name).filter(|e| !e.value.is_null());
    let trip = field("trip");
    let span = trip.map_or(breaker.key_span, |e| e.value.span);
    let most = match trip {
        Some(e) => e.value.as_str().and_then(failures),
        None => Some(BREAKER),
    };
    // With an interval the failures are forgotten from time to time.
    let most = most.filter(|_| field("interval").is_none());
    let open = field("timeout").map_or(Some(OPEN), |e| envoy_based::go(&e.value));
    let next = most.and_then(|most| layer.wait.nominal(u32::try_from(most - 1).ok()?));
    let most = match (open, next) {
        // Closed again before the next try.
        (Some(open), Some(next)) if next >= open => return,
        (Some(_), Some(_)) => most,
        _ => None,
    };
    let known = layer.attempts.value().map(|attempts| attempts.count());
    layer.attempts = match (most, known) {
        (_, None) => return,
        (Some(most), Some(count)) if count.is_some_and(|count| count <= most) => return,
        (Some(most), _) if trip.is_none() => Setting::default(Attempts::Count(most), super::BREAKER),
        (Some(most), _) => Setting::written(Attempts::Count(most), span),
        (None, Some(Some(_))) => return,
        (None, Some(None)) => {
            Setting::unknown("it ends when its circuit breaker opens, and when that is cannot be told", Some(span))
        }
    };
    layer.reading = format!("{}, until `{}` opens", layer.reading, settings::shown(&breaker.key));
    layer.labels.push((span, "the circuit breaker opens here, which ends the retries".to_string()));
}

/// How many failures in a row open a breaker: "consecutiveFailures > 5".
fn failures(trip: &str) -> Option<u64> {
    let rest = trip.trim().strip_prefix("consecutiveFailures")?.trim_start();
    let (number, more) =
        [(">=", 0), (">", 1), ("==", 0)].iter().find_map(|(sign, more)| Some((rest.strip_prefix(sign)?, *more)))?;
    number.trim().parse::<u64>().ok()?.checked_add(more).filter(|n| *n > 0)
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `maxRetries` to 0"),
        fewer: some("set `maxRetries` to 1 or 2"),
        limit: some("set `maxRetries`; without it a constant policy never ends"),
        wait: some("set `policy: exponential` and `maxInterval`"),
        grow: some("set `policy: exponential` and `maxInterval`"),
        jitter: some("set `policy: exponential`, whose waits are random by half"),
        statuses: some("list in `matching.httpStatusCodes` only what can pass, such as \"502-504\""),
        ..Advice::default()
    }
}
