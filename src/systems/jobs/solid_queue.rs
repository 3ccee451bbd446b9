//! Solid Queue: what becomes of jobs that fail. It repeats none by itself: that is Active Job's business, in Ruby.

use crate::facts::Facts;
use crate::model::{DeadLetter, QueueRef};
use crate::systems::settings;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Solid Queue.
pub struct SolidQueue;

const ID: &str = "solid-queue";
const README: &str = "rails/solid_queue README.md, failed jobs and retries";

/// The table in which it keeps what failed, which gauges are called after.
const FAILED: &str = "solid_queue_failed_executions";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Solid Queue",
    reads: "config/queue.yml, config/solid_queue.yml: that there are failed executions for somebody to look at",
    marks: &["dispatchers:"],
    defaults: &[
        DefaultFigure { what: "retries of a job", value: "none; Active Job decides", source: README },
        DefaultFigure {
            what: "failed executions",
            value: "kept until somebody retries or discards them",
            source: README,
        },
    ],
};

impl System for SolidQueue {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let is_own = |path: &str| {
            ["config/queue.yml", "config/solid_queue.yml"]
                .iter()
                .any(|own| path.strip_suffix(own).is_some_and(|before| before.is_empty() || before.ends_with('/')))
        };
        for (file, root) in unit.documents().filter(|(file, _)| is_own(&file.path)) {
            // By environments, or for all of them.
            let mut parts = root.entries().iter().map(|e| &*e.value).chain([root]);
            if !parts.any(|part| part.get("dispatchers").is_some() && part.get("workers").is_some()) {
                continue;
            }
            let id = format!("{ID}:failed:{}", file.path).into();
            let name = "the failed executions of Solid Queue".to_owned();
            let mut failed = repeats::queue(ID, id, name, settings::opening(file, root));
            failed.names = vec![QueueRef::Name(FAILED.to_owned())];
            failed.holds_dead_letters = true;
            failed.dead_letter = DeadLetter::BuiltIn;
            facts.queues.push(failed);
        }
    }
}
