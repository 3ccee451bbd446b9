//! Gradle.

use std::time::Duration;

use super::super::spring::{self, Leaf};
use super::{Tool, base, folder, layer, name};
use crate::facts::Facts;
use crate::model::{Conditions, ModeSet, Setting};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Gradle.
pub struct Gradle;

const RESOLVE: &str = "gradle/gradle ivyresolve/ErrorHandlingModuleComponentRepository.java";
const UPLOAD: &str = "gradle/gradle transport/NetworkOperationBackOffAndRetry.java";

const TOOL: Tool = Tool {
    id: "gradle",
    name: "Gradle",
    off: "systemProp.org.gradle.internal.repository.max.tentatives=1",
    source: RESOLVE,
};

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "`systemProp.org.gradle.internal.repository.max.tentatives`, `….network.retry.max.attempts` and their waits in gradle.properties",
    marks: &["systemProp.org.gradle.internal"],
    defaults: &[
        DefaultFigure { what: "max.tentatives, max.attempts", value: "all tries, the first included", source: RESOLVE },
        DefaultFigure { what: "initial.backoff, initial.backOff absent", value: "1 s, × 2, no cap", source: UPLOAD },
        DefaultFigure { what: "what is retried", value: "failed connections only", source: RESOLVE },
    ],
};

impl System for Gradle {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    /// Without `systemProp.` a key in this file sets nothing.
    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(file, _)| name(file) == "gradle.properties") {
            let leaves = spring::leaves(root, &["systemProp", "org", "gradle", "internal"]);
            let find = |end: &str| leaves.iter().rev().find(|l| joined(l) == end).map(|l| l.entry);
            for (count, wait) in [
                ("repository.max.tentatives", "repository.initial.backoff"),
                ("network.retry.max.attempts", "network.retry.initial.backOff"),
            ] {
                let Some(entry) = find(count) else { continue };
                let mut layer = layer(&TOOL, folder(file), entry, base::tries(entry));
                layer.id = format!("{}:{count}", layer.id).into();
                layer.wait = base::exponential(
                    base::or_default(find(wait), base::millis, Duration::from_secs(1), UPLOAD),
                    Setting::default(2.0, UPLOAD),
                    Setting::default(None, UPLOAD),
                );
                layer.retry_after = Setting::default(false, RESOLVE);
                layer.retries = Conditions { yes: ModeSet::transport(), ..Conditions::default() };
                facts.layers.push(layer);
            }
        }
    }
}

fn joined(leaf: &Leaf<'_>) -> String {
    let parts: Vec<&str> = leaf.path.iter().skip(4).map(|(part, _)| part.as_str()).collect();
    parts.join(".")
}
