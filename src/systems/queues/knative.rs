//! Knative Eventing: how events are delivered, by brokers, triggers, channels and subscriptions.

use std::collections::BTreeMap;

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, LayerKind, Setting, Wait};
use crate::syntax::Node;
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Knative Eventing.
pub struct Knative;

const ID: &str = "knative";
const TYPES: &str = "knative/eventing pkg/apis/duck/v1/delivery_types.go";
const RETRIES: &str = "knative/eventing pkg/kncloudevents/retries.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Knative Eventing",
    reads: "delivery of Brokers, Triggers, Channels and Subscriptions: retries, backoff, dead-letter sink",
    marks: &["eventing.knative.dev", "messaging.knative.dev"],
    defaults: &[
        DefaultFigure { what: "delivery.retry absent in a delivery", value: "1 attempt", source: TYPES },
        DefaultFigure { what: "delivery.backoffPolicy or backoffDelay absent", value: "at once", source: RETRIES },
        DefaultFigure { what: "cap of the wait", value: "none; there is no such setting", source: RETRIES },
    ],
};

impl System for Knative {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        let objects: Vec<Object<'_>> =
            unit.documents().flat_map(|(_, root)| objects::of(root)).filter(|o| is_eventing(o)).collect();
        let brokers: BTreeMap<&str, bool> =
            objects.iter().filter(|o| o.kind == "Broker").map(|o| (o.name, has_sink(o))).collect();
        for object in &objects {
            let id = ids.next(format!("{ID}:{}:{}", object.kind.to_lowercase(), object.qualified()));
            let name = format!("{} {}", object.kind, object.name);
            if let Some(delivery) = object.spec(&["delivery"]) {
                facts.layers.extend(layer(object, delivery, id.clone(), &name));
            }
            if matches!(object.kind, "Trigger" | "Subscription") {
                let mut queue = repeats::queue("knative", id, name, object.name_span);
                queue.otherwise = "is given up after its last delivery, and is gone".to_owned();
                queue.advice = Some("a `deadLetterSink` in its `delivery`".to_owned());
                queue.dead_letter = dead_letter(object, &brokers);
                facts.queues.push(queue);
            }
        }
    }
}

fn is_eventing(object: &Object<'_>) -> bool {
    let group = object.version.split('/').next().unwrap_or_default();
    matches!(group, "eventing.knative.dev" | "messaging.knative.dev" | "flows.knative.dev")
}

fn has_sink(object: &Object<'_>) -> bool {
    object.spec(&["delivery", "deadLetterSink"]).is_some()
}

/// A trigger's own delivery stands for its broker's; a broker or channel of another file may have a sink.
fn dead_letter(object: &Object<'_>, brokers: &BTreeMap<&str, bool>) -> DeadLetter {
    if has_sink(object) {
        return DeadLetter::BuiltIn;
    }
    let broker = object.spec(&["broker"]).and_then(Node::as_str);
    match broker.and_then(|name| brokers.get(name)) {
        Some(true) => DeadLetter::BuiltIn,
        Some(false) => DeadLetter::None,
        // Its own delivery says that it tries again, and not where to go then.
        None if object.spec(&["delivery", "retry"]).is_some() => DeadLetter::None,
        None => DeadLetter::Unknown,
    }
}

fn layer(object: &Object<'_>, delivery: &Node, id: std::sync::Arc<str>, name: &str) -> Option<crate::model::Layer> {
    let retry = delivery.entry("retry")?;
    let mut layer =
        repeats::layer(ID, LayerKind::Queue, id, name.to_owned(), object.name_span, settings::retries(retry));
    layer.place = retry.value.span;
    layer.reading = format!("{} on {name}", settings::quote(retry));
    layer.wait = wait(delivery);
    layer.wait_place = delivery.entry_any(&["backoffPolicy", "backoffDelay"]).map(|e| e.key_span);
    layer.advice.wait = Some("set both `backoffPolicy: exponential` and `backoffDelay: PT1S`".to_owned());
    layer.advice.cap = Some("a smaller `retry` or `backoffDelay`: there is no cap to set".to_owned());
    layer.advice.fewer = Some("a smaller `retry`".to_owned());
    if matches!(layer.attempts.value(), Some(Attempts::Count(0 | 1))) {
        layer.advice.wait = None;
    }
    Some(layer)
}

/// Only both keys together make a wait. The first linear wait is none, and each one is longer by the delay.
fn wait(delivery: &Node) -> Wait {
    let policy = delivery.get("backoffPolicy").and_then(Node::as_str);
    let (Some(policy), Some(delay)) = (policy, delivery.get("backoffDelay")) else { return Wait::None };
    let base = match delay.as_str().and_then(duration::iso) {
        Some(d) => Setting::written(d, delay.span),
        None => Setting::unknown("not an ISO 8601 duration", Some(delay.span)),
    };
    match policy {
        "exponential" => {
            Wait::Exponential { base, factor: Setting::default(2.0, RETRIES), cap: Setting::default(None, RETRIES) }
        }
        _ => Wait::Linear { step: base, cap: Setting::default(None, RETRIES) },
    }
}
