//! ServiceProfiles: routes that are retried at once, as long as a budget lets them.

use std::time::Duration;

use super::{PROFILE, PROFILES, layer};
use crate::model::{Advice, Attempts, Budget, Conditions, Layer, Methods, ModeSet, Pick, Setting};
use crate::syntax::{Entry, Node};
use crate::systems::objects::Object;
use crate::systems::settings::Ids;
use crate::systems::{duration, settings};

/// One layer for each route that is retryable.
pub(super) fn layers(object: &Object<'_>) -> Vec<Layer> {
    let Some(to) = settings::host(object.name, object.name_span, object.namespace) else { return Vec::new() };
    let floor = Floor::read(object.spec(&["retryBudget"]));
    let mut ids = Ids::default();
    let mut out = Vec::new();
    for route in object.spec(&["routes"]).map_or(&[][..], Node::items) {
        let Some(key) = route.entry("isRetryable").filter(|e| e.value.as_bool() == Some(true)) else { continue };
        let title = route.get("name").and_then(Node::as_str).unwrap_or("without a name");
        let name = format!("Linkerd ServiceProfile {}, route {title}", object.name);
        let id = ids.next(format!("{PROFILES}{}:{title}", object.qualified()));
        let overall = route.get("timeout").and_then(|n| settings::limit(n, go));
        out.push(Layer {
            place: key.key_span,
            reading: format!("{} on {name}", settings::quote(key)),
            retries: conditions(route, key),
            methods: methods(route, key),
            budget: Some(floor.budget.clone()),
            advice: advice(),
            attempts: floor.attempts(overall.as_ref(), key),
            overall,
            ..layer(id.to_string(), name, key.key_span, vec![to.clone()], Setting::default(Attempts::Count(1), PROFILE))
        });
    }
    out
}

fn go(node: &Node) -> Option<Duration> {
    duration::go(node.as_str()?)
}

/// What the budget lets one request spend, whatever the other traffic: a stock of retries that refills.
struct Floor {
    budget: Budget,
    each_second: Option<f64>,
    ttl: Option<Duration>,
}

impl Floor {
    fn read(budget: Option<&Node>) -> Self {
        let Some(budget) = budget else {
            let ratio = Setting::default(0.2, PROFILE);
            return Self { budget: Budget { ratio }, each_second: Some(10.0), ttl: Some(Duration::from_secs(10)) };
        };
        let ratio = match budget.get("retryRatio") {
            Some(node) => match node.as_f64() {
                Some(ratio) => Setting::written(ratio, node.span),
                None => Setting::unknown("not a number here", Some(node.span)),
            },
            None => Setting::unknown("`retryRatio` is missing", Some(budget.span)),
        };
        Self {
            budget: Budget { ratio },
            each_second: budget.get("minRetriesPerSecond").and_then(Node::as_f64),
            ttl: budget.get("ttl").and_then(go),
        }
    }

    /// Tries at once until the deadline: the stock, and what comes in where the deadline is later than one refill.
    fn attempts(&self, overall: Option<&Setting<Duration>>, key: &Entry) -> Setting<Attempts> {
        let Some(overall) = overall else { return Setting::written(Attempts::Unbounded, key.key_span) };
        match (overall.value(), self.each_second, self.ttl) {
            (Some(deadline), Some(each_second), Some(ttl)) => {
                let retries = (each_second * ttl.max(*deadline).as_secs_f64()).clamp(0.0, 1e15) as u64;
                Setting::written(Attempts::Within { deadline: *deadline, about: retries + 1 }, key.key_span)
            }
            (None, ..) => Setting::unknown("the route's timeout is not a duration", overall.span()),
            _ => Setting::unknown("the retry budget is not complete", Some(key.key_span)),
        }
    }
}

/// Every 5xx, unless the route's classes say otherwise.
fn conditions(route: &Node, key: &Entry) -> Conditions {
    let mut yes = ModeSet::statuses(500..=599);
    for class in route.get("responseClasses").map_or(&[][..], Node::items).iter().rev() {
        let Some(status) = class.at(&["condition", "status"]) else { continue };
        let bound = |key: &str, or: u16| status.get(key).map_or(Some(or), |n| u16::try_from(n.as_int()?).ok());
        let (Some(min), Some(max)) = (bound("min", 100), bound("max", 599)) else { continue };
        let these = ModeSet::statuses(min.max(400)..=max.min(599));
        let fails = class.get("isFailure").and_then(Node::as_bool) == Some(true);
        yes = if fails { yes.union(these) } else { yes.difference(these) };
    }
    let text = "what counts as a failure".to_string();
    Conditions { yes, picks: vec![Pick { modes: yes, span: key.key_span, text }], ..Conditions::default() }
}

/// The condition may name the method; `isRetryable` then lets it be repeated.
fn methods(route: &Node, key: &Entry) -> Methods {
    match route.at(&["condition", "method"]).and_then(Node::as_str) {
        Some(method) => Methods::Written { methods: vec![method.to_uppercase()], span: key.key_span },
        None => Methods::Any,
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take `isRetryable` out"),
        limit: some("set `timeout` on the route: the tries end with it"),
        ..Advice::default()
    }
}
