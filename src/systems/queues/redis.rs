//! Redis servers that remember handled messages and forget them when memory is short: `maxmemory-policy allkeys-...` in
//! Compose files, manifests and the configuration files in ConfigMaps.

use crate::facts::Facts;
use crate::model::{Keeps, Purge, PurgeBound};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::objects;
use crate::systems::settings;
use crate::systems::{System, SystemMeta, Unit, Versions};

/// Redis servers.
pub struct Redis;

static META: SystemMeta = SystemMeta {
    id: "redis",
    name: "Redis",
    reads: "Compose files, manifests and ConfigMaps: the eviction policy of servers that are named for handled messages",
    marks: &["maxmemory-policy"],
    defaults: &[],
};

const POLICY: &str = "maxmemory-policy";

impl System for Redis {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for service in root.get("services").map_or(&[][..], Node::entries) {
                let command = service.value.get("command");
                facts.purges.extend(command.and_then(|c| eviction(&service.key, c)));
            }
            for object in objects::of(root) {
                if object.kind == "ConfigMap" {
                    let files = object.node.get("data").map_or(&[][..], Node::entries);
                    facts.purges.extend(files.iter().filter_map(|file| eviction(object.name, &file.value)));
                }
                let pods = object.node.walk().filter_map(|node| node.get("containers")).flat_map(Node::items);
                for container in pods {
                    for key in ["command", "args"] {
                        facts.purges.extend(container.get(key).and_then(|words| eviction(object.name, words)));
                    }
                }
            }
        }
    }
}

/// The policy in a command or a configuration, if it takes keys whether they have a time to live or not.
fn eviction(owner: &str, node: &Node) -> Option<Purge> {
    if !remembers(owner) {
        return None;
    }
    let (policy, place) = match node.items() {
        [] => in_text(node)?,
        words => {
            let at = words.iter().position(|w| w.as_str().is_some_and(|w| w.ends_with(POLICY)))?;
            let policy = words.get(at + 1)?;
            (policy.as_str()?, policy.span)
        }
    };
    policy.starts_with("allkeys-").then(|| Purge {
        table: format!("Redis server {}", settings::shown(owner)),
        keeps: Keeps::Handled,
        place,
        bound: PurgeBound::Size,
        bound_span: None,
        age: None,
        advice: Some("`maxmemory-policy noeviction`, or `volatile-ttl`, with a time to live on each key".to_owned()),
        minor: true,
    })
}

/// The word after the name of the setting.
fn in_text(node: &Node) -> Option<(&str, Span)> {
    let text = node.as_str()?;
    let after = text.find(POLICY)? + POLICY.len();
    let rest = text.get(after..)?;
    let start = after + (rest.len() - rest.trim_start_matches([' ', '=', '\t', '"']).len());
    let word = text.get(start..)?.split([' ', '\n', '\r', '"', '\'']).next()?;
    Some((word, settings::within(node, start..start + word.len())))
}

/// Whether a server is named as one that remembers handled messages.
fn remembers(name: &str) -> bool {
    let words = [
        "dedup",
        "dedupe",
        "deduplication",
        "idempotency",
        "idempotent",
        "inbox",
        "seen",
        "nonce",
        "nonces",
        "processed",
    ];
    name.to_ascii_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| words.contains(&w))
}
