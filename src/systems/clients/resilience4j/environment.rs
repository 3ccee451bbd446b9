//! Counts that a deployment sets by environment variable: they beat those in files.

use std::collections::BTreeMap;

use super::ID;
use crate::facts::{ComponentFact, EnvFact, Facts};
use crate::model::{Attempts, Layer, Setting};
use crate::syntax::relaxed;
use crate::systems::settings::shown;

/// Puts the counts of `RESILIENCE4J_RETRY_INSTANCES_NAME_MAXATTEMPTS` in the place of those from files.
pub(super) fn override_counts(facts: &mut Facts) {
    let mut by_instance: BTreeMap<String, Vec<(&ComponentFact, &EnvFact)>> = BTreeMap::new();
    for component in &facts.components {
        for env in &component.env {
            if let Some(instance) = instance(&env.name) {
                by_instance.entry(instance).or_default().push((component, env));
            }
        }
    }
    for layer in facts.layers.iter_mut().filter(|l| l.system == ID) {
        let Some(name) = layer.id.rsplit('/').next().map(|n| n.strip_prefix("resilience4j:").unwrap_or(n)) else {
            continue;
        };
        let owner = layer.component.as_deref();
        let candidates = by_instance.get(&relaxed(name)).into_iter().flatten();
        let env = candidates.filter(|(c, _)| owner.is_none_or(|o| c.name == o || c.hosts.iter().any(|h| h == o)));
        if let Some(env) = env.map(|(_, env)| *env).next() {
            set(layer, env);
        }
    }
}

/// The instance of a variable, relaxed.
fn instance(variable: &str) -> Option<String> {
    let rest = ["RESILIENCE4J_RETRY_INSTANCES_", "RESILIENCE4J_RETRY_BACKENDS_"]
        .iter()
        .find_map(|p| variable.strip_prefix(p))?;
    let name = ["_MAXATTEMPTS", "_MAX_ATTEMPTS"].iter().find_map(|s| rest.strip_suffix(s))?;
    Some(relaxed(name))
}

fn set(layer: &mut Layer, env: &EnvFact) {
    let Ok(count) = env.value.trim().parse::<u64>() else { return };
    layer.labels.push((layer.place, format!("beaten by {}", env.name)));
    layer.attempts = Setting::written(Attempts::Count(count.max(1)), env.span);
    layer.place = env.span;
    layer.reading = format!("`{}: {}` for {}", env.name, shown(&env.value), layer.name);
}
