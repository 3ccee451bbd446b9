//! Tekton: the retries of a pipeline's tasks.

use crate::facts::Facts;
use crate::model::{Confidence, LayerKind, Redone, Rerun, Wait};
use crate::syntax::Node;
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Tekton.
pub struct Tekton;

const ID: &str = "tekton";
const DOCS: &str = "tektoncd/pipeline docs/pipelines.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Tekton",
    reads: "Pipelines and PipelineRuns: the retries of tasks",
    marks: &["tekton.dev/"],
    defaults: &[
        DefaultFigure { what: "tasks[].retries absent", value: "1 attempt", source: DOCS },
        DefaultFigure { what: "wait between the tries", value: "none; there is no such setting", source: DOCS },
    ],
};

impl System for Tekton {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            for object in objects::of_any_name(root).into_iter().filter(|o| o.version.starts_with("tekton.dev/")) {
                let spec = match object.kind {
                    "Pipeline" => object.node.get("spec"),
                    "PipelineRun" => object.spec(&["pipelineSpec"]),
                    _ => None,
                };
                for key in ["tasks", "finally"] {
                    let tasks = spec.and_then(|s| s.get(key)).map_or(&[][..], Node::items);
                    tasks.iter().for_each(|task| read(&object, task, &mut ids, facts));
                }
            }
        }
    }
}

fn read(object: &Object<'_>, task: &Node, ids: &mut Ids, facts: &mut Facts) {
    let Some(retries) = task.entry("retries").filter(|e| !e.value.is_null()) else { return };
    let Some(name) = task.get("name").and_then(Node::as_str) else { return };
    let name = format!("task {name} of {} {}", object.kind, object.name);
    let id = ids.next(format!("{ID}:{}:{name}", object.qualified()));
    let attempts = settings::retries(retries);
    let mut layer = repeats::layer(ID, LayerKind::Job, id, name.clone(), retries.value.span, attempts);
    layer.reading = format!("{} on {name}", settings::quote(retries));
    layer.wait = Wait::None;
    layer.advice.fewer = Some("a smaller `retries`".to_owned());
    // A pipeline in a pipeline runs all of its tasks again.
    let inner = task.entry_any(&["pipelineRef", "pipelineSpec"]);
    facts.reruns.extend(inner.filter(|_| layer.is_active()).map(|inner| Rerun {
        job: name,
        place: retries.value.span,
        attempts: layer.attempts.value().and_then(|a| a.count()),
        what: Redone::Steps { span: inner.key_span, what: "every task of the inner pipeline".to_owned() },
        confidence: Confidence::Medium,
    }));
    facts.layers.push(layer);
}
