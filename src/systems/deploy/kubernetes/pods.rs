//! Pod templates: environment values and what they take from ConfigMaps.

use std::collections::BTreeMap;

use crate::facts::{ConfigUse, ConfigUseFact, EnvFact};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::deploy::commands;

/// The variables of a container that have a value here. `$(NAME)` is that of a variable before it; what only the
/// cluster knows stays out.
pub(super) fn env(container: &Node) -> Vec<EnvFact> {
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    // Values that repeat others must not grow without end.
    let mut growth = MAX_GROWTH;
    let mut out = Vec::new();
    for entry in container.get("env").map_or(&[][..], Node::items) {
        let (Some(name), Some(value)) = (entry.get("name").and_then(Node::as_str), entry.get("value")) else {
            continue;
        };
        let Some(text) = value.as_str() else { continue };
        let expanded = Some(expand(text, &known)).filter(|e| e.len() <= text.len() + growth);
        let expanded = expanded.unwrap_or_else(|| text.to_string());
        growth -= expanded.len().saturating_sub(text.len());
        known.insert(name, expanded.clone());
        out.push(EnvFact { name: name.to_string(), value: expanded, span: value.span });
    }
    out
}

/// The addresses that a container's command names.
pub(super) fn command(container: &Node) -> impl Iterator<Item = EnvFact> {
    ["command", "args"].into_iter().flat_map(|key| commands::addresses(key, container.get(key)))
}

/// Puts known variables in. Kubernetes gives every container `NAME_SERVICE_HOST` for the Services of its namespace.
fn expand(text: &str, known: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        let Some((name, next)) = after.split_once(')') else {
            out.push_str("$(");
            rest = after;
            continue;
        };
        // `$$(NAME)` is not a reference.
        match known.get(name).filter(|_| !before.ends_with('$')) {
            Some(value) => out.push_str(value),
            None => match name.strip_suffix("_SERVICE_HOST") {
                Some(service) => out.push_str(&service.to_lowercase().replace('_', "-")),
                None => {
                    out.push_str("$(");
                    out.push_str(name);
                    out.push(')');
                }
            },
        }
        if out.len() > MAX_GROWTH {
            return text.to_string();
        }
        rest = next;
    }
    out + rest
}

/// How much longer references may make the values of one container in all.
const MAX_GROWTH: usize = 64 * 1024;

/// What the pods take from ConfigMaps: volumes that a container mounts, and variables; of Secrets the volumes.
pub(super) fn config_uses(component: Span, template: &Node, containers: &[&Node]) -> Vec<ConfigUseFact> {
    let mut out = Vec::new();
    let mut add = |name: Option<&Node>, is_secret: bool, what: ConfigUse| {
        if let Some(name) = name.and_then(Node::as_str) {
            out.push(ConfigUseFact { component, config_map: name.to_string(), is_secret, what });
        }
    };
    let list = |node: &Node, key: &str| node.get(key).map(|n| n.items().to_vec()).unwrap_or_default();
    for volume in template.at(&["spec", "volumes"]).map_or(&[][..], Node::items) {
        add(volume.at(&["configMap", "name"]), false, ConfigUse::Mount);
        add(volume.at(&["secret", "secretName"]), true, ConfigUse::Mount);
        for source in volume.at(&["projected", "sources"]).map_or(&[][..], Node::items) {
            add(source.at(&["configMap", "name"]), false, ConfigUse::Mount);
            add(source.at(&["secret", "name"]), true, ConfigUse::Mount);
        }
    }
    let mut take = |config_map: Option<&Node>, what: ConfigUse| add(config_map, false, what);
    for container in containers {
        for source in list(container, "envFrom") {
            let prefix = source.get("prefix").and_then(Node::as_str).unwrap_or_default().to_string();
            take(source.at(&["configMapRef", "name"]), ConfigUse::AllValues { prefix });
        }
        for entry in list(container, "env") {
            let Some(reference) = entry.at(&["valueFrom", "configMapKeyRef"]) else { continue };
            let text = |node: Option<&Node>| node.and_then(Node::as_str).map(str::to_string);
            if let (Some(name), Some(key)) = (text(entry.get("name")), text(reference.get("key"))) {
                take(reference.get("name"), ConfigUse::OneValue { name, key });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_between_variables() {
        let known = BTreeMap::from([("HOST", "orders".to_string())]);
        assert_eq!(expand("http://$(HOST):80/$(X)", &known), "http://orders:80/$(X)");
        assert_eq!(expand("http://$(TAX_RATES_SERVICE_HOST)", &known), "http://tax-rates");
        assert_eq!(expand("$$(HOST) $(", &known), "$$(HOST) $(");
    }
}
