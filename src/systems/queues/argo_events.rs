//! Argo Events: how often the triggers of a sensor are tried, and where their events go then.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, Jitter, LayerKind, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Argo Events.
pub struct ArgoEvents;

const ID: &str = "argo-events";
const BACKOFF: &str = "argoproj/argo-events pkg/apis/events/v1alpha1/backoff.go";
const RETRY: &str = "argoproj/argo-events pkg/shared/util/retry.go";
const LISTENER: &str = "argoproj/argo-events pkg/sensors/listener.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Argo Events",
    reads: "Sensors: the retry strategies and dead-letter triggers of their triggers",
    marks: &["kind: Sensor", "\"Sensor\""],
    defaults: &[
        DefaultFigure { what: "retryStrategy absent", value: "1 attempt", source: LISTENER },
        DefaultFigure { what: "retryStrategy.steps absent", value: "5 attempts", source: RETRY },
        DefaultFigure { what: "retryStrategy.duration absent", value: "1 s", source: BACKOFF },
        DefaultFigure { what: "retryStrategy.factor absent", value: "the same wait each time", source: BACKOFF },
        DefaultFigure { what: "retryStrategy.jitter absent", value: "up to twice the wait", source: BACKOFF },
        DefaultFigure { what: "dlqTrigger absent", value: "the event is dropped", source: LISTENER },
    ],
};

impl System for ArgoEvents {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            let is_sensor = |o: &Object<'_>| o.kind == "Sensor" && o.version.starts_with("argoproj.io/");
            for sensor in objects::of(root).into_iter().filter(is_sensor) {
                for trigger in sensor.spec(&["triggers"]).map_or(&[][..], Node::items) {
                    read(&sensor, trigger, &mut ids, facts);
                }
            }
        }
    }
}

fn read(sensor: &Object<'_>, trigger: &Node, ids: &mut Ids, facts: &mut Facts) {
    let own = trigger.at(&["template", "name"]);
    let name = format!("trigger {} of Sensor {}", own.and_then(Node::as_str).unwrap_or("?"), sensor.name);
    let opens = own.map_or(sensor.name_span, |n| n.span);
    let id = ids.next(format!("{ID}:{}:{}", sensor.qualified(), own.and_then(Node::as_str).unwrap_or("?")));
    facts.layers.extend(trigger.entry("retryStrategy").map(|strategy| layer(&name, id.clone(), opens, strategy)));
    let mut queue = repeats::queue("argo-events", id, name, opens);
    queue.otherwise = "is dropped after the last attempt".to_owned();
    queue.advice = Some("a `dlqTrigger` on the trigger".to_owned());
    queue.dead_letter = match trigger.get("dlqTrigger").filter(|n| !n.is_null()) {
        Some(_) => DeadLetter::BuiltIn,
        None => DeadLetter::None,
    };
    // Whoever wants an event to come at least once has said so.
    let is_wanted = trigger.get("atLeastOnce").and_then(Node::as_bool) == Some(true);
    queue.minor = !is_wanted && trigger.get("retryStrategy").is_none();
    facts.queues.push(queue);
}

fn layer(name: &str, id: std::sync::Arc<str>, opens: Span, strategy: &Entry) -> crate::model::Layer {
    let node = &*strategy.value;
    let steps = node.entry("steps").filter(|e| !e.value.is_null());
    let attempts = match steps {
        Some(e) => match e.value.as_int() {
            Some(0) => Setting::written(Attempts::Count(5), e.value.span),
            Some(n) => Setting::written(Attempts::Count(u64::try_from(n).unwrap_or(1)), e.value.span),
            None => Setting::unknown("not a number here", Some(e.value.span)),
        },
        None => Setting::default(Attempts::Count(5), RETRY),
    };
    let mut layer = repeats::layer(ID, LayerKind::Queue, id, name.to_owned(), opens, attempts);
    layer.asked_for = true;
    layer.place = steps.map_or(strategy.key_span, |e| e.value.span);
    layer.reading = match steps {
        Some(e) => format!("{} on {name}", settings::quote(e)),
        None => format!("{name}, whose `retryStrategy` has no `steps`"),
    };
    let number = |key: &str| node.get(key).filter(|n| !n.is_null()).map(|n| (n.as_f64(), n.span));
    let base = match node.get("duration").filter(|n| !n.is_null()) {
        Some(n) => match time(n) {
            Some(d) => Setting::written(d, n.span),
            None => Setting::unknown("not a duration", Some(n.span)),
        },
        None => Setting::default(Duration::from_secs(1), BACKOFF),
    };
    let factor = match number("factor") {
        Some((Some(f), span)) => Setting::written(f, span),
        Some((None, span)) => Setting::unknown("not a number here", Some(span)),
        None => Setting::default(1.0, BACKOFF),
    };
    layer.wait = Wait::Exponential { base, factor, cap: Setting::unknown("none is set", None) };
    layer.wait_place =
        Some(node.entry_any(&["duration", "factor", "jitter"]).map_or(strategy.key_span, |e| e.key_span));
    layer.jitter = match number("jitter") {
        Some((Some(j), span)) if j <= 0.0 => Setting::written(Jitter::None, span),
        Some((Some(j), span)) => Setting::written(Jitter::Partial { low: 1.0, high: 1.0 + j }, span),
        Some((None, span)) => Setting::unknown("not a number here", Some(span)),
        None => Setting::default(Jitter::Partial { low: 1.0, high: 2.0 }, BACKOFF),
    };
    layer.advice.grow = Some("set `factor: 2` in the `retryStrategy`".to_owned());
    layer.advice.jitter = Some("set `jitter: 1`, which is the default".to_owned());
    layer.advice.fewer = Some("a smaller `steps`".to_owned());
    layer
}

/// Go's form, or nanoseconds.
fn time(node: &Node) -> Option<Duration> {
    match node.as_int() {
        Some(n) => u64::try_from(n).ok().map(Duration::from_nanos),
        None => duration::go(node.as_str()?),
    }
}
