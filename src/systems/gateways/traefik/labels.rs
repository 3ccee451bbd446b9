//! Labels of containers in Compose files: `traefik.http.routers.pay.middlewares=retry`; the same as tags of Nomad's services.

use std::sync::Arc;

use super::Limits;
use super::dynamic::Dynamic;
use crate::facts::Facts;
use crate::model::HostRef;
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Scalar, Value};
use crate::systems::settings;

/// Reads the labels of every service.
pub(super) fn read(file: &SourceFile, root: &Node, is_old: bool, limits: &Limits, facts: &mut Facts) {
    for service in root.get("services").map_or(&[][..], Node::entries) {
        let lists = [service.value.get("labels"), service.value.at(&["deploy", "labels"])];
        let labels: Vec<Label> = lists.into_iter().flatten().flat_map(labels).collect();
        let is_off = |l: &Label| l.parts.as_slice() == ["traefik", "enable"] && l.value.as_bool() == Some(false);
        if labels.is_empty() || labels.iter().any(is_off) {
            continue;
        }
        let tree = nested(&labels.iter().collect::<Vec<_>>(), 0, service.key_span);
        if let Some(http) = tree.at(&["traefik", "http"]) {
            let own = HostRef { name: service.key.to_lowercase(), port: None, namespace: None, span: service.key_span };
            Dynamic { file, provider: "docker", own: Some(own), is_old, limits }.read(http, facts);
        }
    }
}

/// Reads the tags of the services of a Nomad job.
pub(super) fn tags(file: &SourceFile, root: &Node, is_old: bool, limits: &Limits, facts: &mut Facts) {
    let job = root.get("job").into_iter();
    for service in job.flat_map(Node::walk) {
        let Some((name, list)) = service.get("name").zip(service.get("tags")) else { continue };
        let labels: Vec<Label> = labels(list);
        let tree = nested(&labels.iter().collect::<Vec<_>>(), 0, name.span);
        if let (Some(http), Some(text)) = (tree.at(&["traefik", "http"]), name.as_str()) {
            let own = settings::host(text, name.span, None);
            Dynamic { file, provider: "nomad", own, is_old, limits }.read(http, facts);
        }
    }
}

/// A label of Traefik.
struct Label {
    /// What stands between the dots.
    parts: Vec<String>,
    key: Span,
    value: Arc<Node>,
}

/// Keys have fewer parts.
const MAX_PARTS: usize = 16;

/// A mapping, or a list of `key=value`.
fn labels(node: &Node) -> Vec<Label> {
    let map = node.entries().iter().filter_map(|e| label(&e.key, e.key_span, e.value.clone()));
    let list = node.items().iter().filter_map(|item| {
        let scalar = item.scalar()?;
        let (key, text) = scalar.text.split_once('=')?;
        let at = key.len() + 1;
        let verbatim = scalar.verbatim.map(|v| v.saturating_add(at as u32));
        let span = settings::within(item, at..at + text.len());
        let value = Node::new(span, Value::Scalar(Scalar { text: text.into(), plain: false, verbatim }));
        label(key, settings::within(item, 0..key.len()), Arc::new(value))
    });
    map.chain(list).collect()
}

fn label(key: &str, span: Span, value: Arc<Node>) -> Option<Label> {
    let parts: Vec<String> = key.trim().split('.').take(MAX_PARTS).map(str::to_lowercase).collect();
    (parts.first().is_some_and(|p| p == "traefik")).then_some(Label { parts, key: span, value })
}

/// The labels as a tree, from the part at `depth` on; every level has the first of its labels as its place.
fn nested(labels: &[&Label], depth: usize, span: Span) -> Node {
    let mut groups: Vec<(&str, Vec<&Label>)> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    for label in labels {
        let Some(part) = label.parts.get(depth) else { continue };
        let at = *known.entry(part.as_str()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, group)) => group.push(label),
            None => groups.push((part, vec![label])),
        }
    }
    let entry = |(part, group): (&str, Vec<&Label>)| {
        let first = group.first()?;
        let leaf = group.iter().rev().find(|l| l.parts.len() == depth + 1);
        let deeper = group.iter().any(|l| l.parts.len() > depth + 1);
        let value = match leaf {
            Some(leaf) if !deeper => leaf.value.clone(),
            _ => Arc::new(nested(&group, depth + 1, first.key)),
        };
        Some(Entry { key: part.into(), key_span: leaf.unwrap_or(first).key, value })
    };
    Node::new(span, Value::Map(groups.into_iter().filter_map(entry).collect()))
}
