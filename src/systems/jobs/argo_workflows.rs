//! Argo Workflows: the retry strategies of templates.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, Conditions, Confidence, Layer, LayerKind, ModeSet, Redone, Rerun, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Argo Workflows.
pub struct ArgoWorkflows;

const ID: &str = "argo-workflows";
const TYPES: &str = "argoproj/argo-workflows pkg/apis/workflow/v1alpha1/workflow_types.go";
const OPERATOR: &str = "argoproj/argo-workflows workflow/controller/operator.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Argo Workflows",
    reads: "Workflows, WorkflowTemplates, ClusterWorkflowTemplates and CronWorkflows: retryStrategy",
    marks: &["retryStrategy"],
    defaults: &[
        DefaultFigure { what: "retryStrategy.limit absent", value: "no limit, and no wait", source: OPERATOR },
        DefaultFigure { what: "retryStrategy.backoff absent", value: "at once", source: OPERATOR },
        DefaultFigure { what: "retryStrategy.backoff.factor absent", value: "the same wait each time", source: TYPES },
        DefaultFigure { what: "retryStrategy.backoff.cap absent", value: "no cap", source: TYPES },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: OPERATOR },
    ],
};

impl System for ArgoWorkflows {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            // Workflows often have a `generateName` only.
            for object in objects::of_any_name(root).into_iter().filter(|o| o.version.starts_with("argoproj.io/")) {
                let spec = match object.kind {
                    "Workflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate" => object.node.get("spec"),
                    "CronWorkflow" => object.spec(&["workflowSpec"]),
                    _ => None,
                };
                if let Some(spec) = spec {
                    workflow(&object, spec, &mut ids, facts);
                }
            }
        }
    }
}

fn workflow(object: &Object<'_>, spec: &Node, ids: &mut Ids, facts: &mut Facts) {
    let deadline = spec.entry("activeDeadlineSeconds").is_some();
    let templates = spec.get("templates").map_or(&[][..], Node::items).iter().map(|n| &**n);
    for template in templates.chain(spec.get("templateDefaults")) {
        let Some(strategy) = template.entry("retryStrategy") else { continue };
        let own = template.get("name").and_then(Node::as_str).unwrap_or("defaults");
        let name = format!("template {own} of {} {}", object.kind, object.name);
        let bounded = deadline || template.entry("activeDeadlineSeconds").is_some();
        let id = ids.next(format!("{ID}:{}:{own}", object.name));
        let layer = layer(id, name, strategy, bounded);
        facts.reruns.extend(rerun(template, &layer));
        facts.layers.push(layer);
    }
}

/// A template that is made of others runs all of them again.
fn rerun(template: &Node, layer: &Layer) -> Option<Rerun> {
    let parts = template.entry_any(&["dag", "steps"]).filter(|e| !e.value.is_null())?;
    let what = if &*parts.key == "dag" { "every task of the DAG" } else { "every step" };
    layer.is_active().then(|| Rerun {
        job: layer.name.clone(),
        place: layer.place,
        attempts: layer.attempts.value().and_then(|a| a.count()),
        what: Redone::Steps { span: parts.key_span, what: what.to_owned() },
        confidence: Confidence::Medium,
    })
}

fn layer(id: std::sync::Arc<str>, name: String, strategy: &Entry, bounded: bool) -> Layer {
    let node = &*strategy.value;
    let limit = node.entry("limit").filter(|e| !e.value.is_null());
    let backoff = node.entry("backoff").filter(|e| !e.value.is_null());
    // The time of all tries and waits together, from the start of the first.
    let longest = backoff.and_then(|b| b.value.get("maxDuration")).filter(|n| !n.is_null());
    let longest = longest.map(|n| match n.as_str().and_then(length) {
        Some(d) => Setting::written(d, n.span),
        None => Setting::unknown("`maxDuration` is worked out at run time", Some(n.span)),
    });
    // The controller waits only where there is a limit.
    let wait = match (limit, backoff) {
        (Some(_), Some(b)) => wait(&b.value),
        _ => Wait::None,
    };
    let attempts = match limit {
        Some(e) => whichever_is_less(settings::retries(e), longest.as_ref(), &wait),
        // An expression, a deadline or a longest time ends it as well.
        None if bounded || longest.is_some() || node.entry("expression").is_some() => {
            Setting::unknown("no `limit`: it ends by a deadline or an expression", Some(strategy.key_span))
        }
        None => Setting::default(Attempts::Unbounded, OPERATOR),
    };
    let mut layer = repeats::layer(ID, LayerKind::Job, id, name.clone(), strategy.key_span, attempts);
    layer.asked_for = true;
    layer.place = limit.map_or(strategy.key_span, |e| e.value.span);
    layer.reading = match limit {
        Some(e) => format!("{} on {name}", settings::quote(e)),
        None => format!("{name}, whose `retryStrategy` has no `limit`"),
    };
    layer.wait = wait;
    layer.overall = longest;
    layer.wait_place = backoff.map(|b| b.key_span);
    layer.jitter = Setting::default(crate::model::Jitter::None, OPERATOR);
    layer.retries = conditions(node);
    layer.advice.limit = Some("set `limit` in the `retryStrategy`".to_owned());
    layer.advice.fewer = Some("a smaller `limit`".to_owned());
    layer.advice.wait = Some(match (limit, backoff) {
        (None, Some(_)) => "set a `limit`: without one the `backoff` has no effect".to_owned(),
        _ => "set `backoff: {duration: 10s, factor: 2, cap: 5m}` in the `retryStrategy`, with a `limit`".to_owned(),
    });
    layer.advice.grow = Some("set `factor: 2` in the `backoff`".to_owned());
    layer.advice.cap = Some("set `cap: 5m` in the `backoff`".to_owned());
    layer.advice.statuses = Some("an `expression` in the `retryStrategy`".to_owned());
    layer
}

/// The count, or as often as the waits fit into the time.
fn whichever_is_less(
    counted: Setting<Attempts>,
    longest: Option<&Setting<Duration>>,
    wait: &Wait,
) -> Setting<Attempts> {
    let count = |a: &Setting<Attempts>| a.value().and_then(|a| a.count());
    let timed = longest.map(|limit| Attempts::within(limit, wait, 1.0));
    match timed {
        Some(timed) if count(&timed).zip(count(&counted)).is_some_and(|(time, limit)| time < limit) => timed,
        _ => counted,
    }
}

fn wait(backoff: &Node) -> Wait {
    let base = match backoff.get("duration") {
        Some(node) => match node.as_str().and_then(length) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("`duration` is worked out at run time", Some(node.span)),
        },
        None => Setting::unknown("a `backoff` without `duration`", Some(backoff.span)),
    };
    let Some(factor) = backoff.get("factor").filter(|n| !n.is_null()) else { return Wait::Fixed(base) };
    let factor = match factor.as_int() {
        Some(n) => Setting::written(n as f64, factor.span),
        None => Setting::unknown("`factor` is worked out at run time", Some(factor.span)),
    };
    let cap = match backoff.get("cap").filter(|n| !n.is_null()) {
        Some(node) => match node.as_str().and_then(length) {
            Some(d) => Setting::written(Some(d), node.span),
            None => Setting::unknown("the bound is worked out at run time", Some(node.span)),
        },
        None => Setting::default(None, TYPES),
    };
    Wait::Exponential { base, factor, cap }
}

/// Seconds, or Go's form.
fn length(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse::<u64>().ok().map(Duration::from_secs);
    seconds.or_else(|| duration::go(text))
}

/// A failed run, unless the policy takes errors of the cluster only; `Always` takes both.
fn conditions(strategy: &Node) -> Conditions {
    let policy = strategy.entry("retryPolicy");
    let discriminates = strategy.entry("expression").is_some();
    let always = policy.filter(|e| e.value.as_str() == Some("Always"));
    match policy.and_then(|e| e.value.as_str()) {
        Some("OnError" | "OnTransientError") => Conditions { unknown: ModeSet::all(), ..Conditions::default() },
        _ => Conditions {
            unknown: ModeSet::all(),
            any_error: always.filter(|_| !discriminates).map(|e| e.value.span),
            ..Conditions::default()
        },
    }
}
