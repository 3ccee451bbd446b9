//! Temporal: the retry policies that a server gives to activities and workflows which have none.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, Confidence, LayerKind, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Temporal.
pub struct Temporal;

const ID: &str = "temporal";
const POLICY: &str = "temporalio/temporal common/retrypolicy/retry_policy.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Temporal",
    reads: "dynamic configuration of the server: default retry policies of activities and workflows",
    marks: &["defaultActivityRetryPolicy", "defaultWorkflowRetryPolicy"],
    defaults: &[
        DefaultFigure { what: "MaximumAttempts absent or 0", value: "no limit", source: POLICY },
        DefaultFigure { what: "InitialIntervalInSeconds absent", value: "1 s", source: POLICY },
        DefaultFigure { what: "BackoffCoefficient absent", value: "2", source: POLICY },
        DefaultFigure {
            what: "MaximumIntervalCoefficient absent",
            value: "up to 100 times the first wait",
            source: POLICY,
        },
    ],
};

impl System for Temporal {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            for (key, what) in [
                ("history.defaultActivityRetryPolicy", "activities"),
                ("history.defaultWorkflowRetryPolicy", "workflows"),
            ] {
                let Some(entry) = root.entry(key) else { continue };
                for constraint in entry.value.items() {
                    let Some(value) = constraint.get("value") else { continue };
                    let name = format!("default policy of Temporal's {what}");
                    facts.layers.push(layer(entry, value, name, &mut ids));
                }
            }
        }
    }
}

fn layer(entry: &Entry, policy: &Node, name: String, ids: &mut Ids) -> crate::model::Layer {
    let count = policy.entry("MaximumAttempts").filter(|e| !e.value.is_null());
    let attempts = match count {
        Some(e) => match e.value.as_int() {
            Some(n) if n > 0 => Setting::written(Attempts::Count(n.unsigned_abs()), e.value.span),
            Some(_) => Setting::written(Attempts::Unbounded, e.value.span),
            None => Setting::unknown("not a number here", Some(e.value.span)),
        },
        None => Setting::default(Attempts::Unbounded, POLICY),
    };
    let id = ids.next(format!("{ID}:{}", entry.key));
    let mut layer = repeats::layer(ID, LayerKind::Job, id, name.clone(), entry.key_span, attempts);
    layer.asked_for = true;
    layer.place = count.map_or(entry.key_span, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} in the {name}", settings::quote(e)),
        None => format!("the {name}, which sets no `MaximumAttempts`"),
    };
    let number = |key: &str, default: f64| match policy.get(key).filter(|n| !n.is_null()) {
        Some(node) => match node.as_f64().filter(|n| *n >= 0.0) {
            Some(n) => Setting::written(n, node.span),
            None => Setting::unknown("not a number here", Some(node.span)),
        },
        None => Setting::default(default, POLICY),
    };
    let base = number("InitialIntervalInSeconds", 1.0);
    let longest = number("MaximumIntervalCoefficient", 100.0);
    let seconds = |s: f64| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX);
    let cap = match (base.value(), longest.value()) {
        (Some(base), Some(times)) => match longest.span() {
            Some(span) => Setting::written(Some(seconds(base * times)), span),
            None => Setting::default(Some(seconds(base * times)), POLICY),
        },
        _ => Setting::unknown("not a number here", None),
    };
    layer.wait = Wait::Exponential { base: base.map(seconds), factor: number("BackoffCoefficient", 2.0), cap };
    let keys = ["BackoffCoefficient", "InitialIntervalInSeconds", "MaximumIntervalCoefficient"];
    layer.wait_place = Some(policy.entry_any(&keys).map_or(entry.key_span, |e| e.key_span));
    layer.advice.grow = Some("set `BackoffCoefficient: 2.0`".to_owned());
    layer.advice.limit = Some("set `MaximumAttempts`, or give each activity a schedule-to-close timeout".to_owned());
    layer.advice.fewer = Some("a smaller `MaximumAttempts`".to_owned());
    // A timeout in code may bound it all the same.
    layer.confidence = Confidence::Low;
    layer
}
