//! Settings files that stand as text inside a ConfigMap.

use std::sync::Arc;

use super::objects;
use crate::source::{SourceFile, Span};
use crate::syntax::{self, Entry, Node, Parsed, Syntax, Value};

/// The settings files in the ConfigMaps of some documents, one list for each ConfigMap: the spans of their trees are
/// those of the file around them. What cannot be read stays the text that it is.
pub(super) fn in_config_maps<'a>(
    documents: impl Iterator<Item = (&'a SourceFile, &'a Node)>,
) -> Vec<Vec<(&'a SourceFile, Parsed)>> {
    let mut out = Vec::new();
    for (file, root) in documents {
        for object in objects::of(root).into_iter().filter(|o| o.kind == "ConfigMap" && o.version == "v1") {
            let entries = object.node.get("data").map_or(&[][..], Node::entries);
            let parsed = entries.iter().filter_map(|e| Some((file, parse(file, e, syntax_of(&e.key)?)?)));
            out.push(parsed.collect());
        }
    }
    out.retain(|files: &Vec<_>| !files.is_empty());
    out
}

/// Keys are named like files; `mesh` is Istio's.
fn syntax_of(key: &str) -> Option<Syntax> {
    if key == "mesh" { Some(Syntax::Yaml) } else { Syntax::of_path(key) }
}

fn parse(file: &SourceFile, entry: &Entry, syntax: Syntax) -> Option<Parsed> {
    in_place(file, &entry.value, syntax)
}

/// The settings that stand as text in a scalar: with their own places where the text stands in the file as it is, else
/// with that of the scalar. `None` for what is no scalar, or cannot be read.
pub(super) fn of_scalar(file: &SourceFile, node: &Node, syntax: Syntax) -> Option<Parsed> {
    if let Some(parsed) = in_place(file, node, syntax) {
        return Some(parsed);
    }
    let inner = SourceFile { id: file.id, path: file.path.clone(), text: node.scalar()?.text.clone() };
    let mut parsed = syntax::parse(syntax, &inner);
    if !parsed.errors.is_empty() {
        return None;
    }
    parsed.documents = parsed.documents.iter().map(|d| Arc::new(placed_at(d, node.span))).collect();
    parsed.comments.clear();
    Some(parsed)
}

/// A copy of a tree whose parts all stand at one place.
fn placed_at(node: &Node, span: Span) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => Value::Scalar(crate::syntax::Scalar { verbatim: None, ..scalar.clone() }),
        Value::List(items) => Value::List(items.iter().map(|n| Arc::new(placed_at(n, span))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry { key: e.key.clone(), key_span: span, value: Arc::new(placed_at(&e.value, span)) })
                .collect(),
        ),
    };
    Node { span, value, tag: node.tag.clone() }
}

fn in_place(file: &SourceFile, node: &Node, syntax: Syntax) -> Option<Parsed> {
    let start = content_start(file, node)?;
    let end = (node.span.end as usize).max(start);
    let text = file.text.get(start..end)?;
    // A quoted scalar ends with its quote.
    let text = if node.scalar()?.verbatim.is_some() { text.trim_end_matches(['"', '\'']) } else { text };
    let inner = SourceFile { id: file.id, path: file.path.clone(), text: text.into() };
    let mut parsed = syntax::parse(syntax, &inner);
    if !parsed.errors.is_empty() {
        return None;
    }
    let by = u32::try_from(start).ok()?;
    parsed.documents = parsed.documents.iter().map(|d| Arc::new(shifted(d, by))).collect();
    parsed.comments.iter_mut().for_each(|c| c.span = moved(c.span, by));
    Some(parsed)
}

/// Where the text begins: below the `|` of a block, whose lines stand in the file as they are but for their indent;
/// else where the scalar stands byte for byte.
fn content_start(file: &SourceFile, node: &Node) -> Option<usize> {
    let start = node.span.start as usize;
    let raw = file.text.get(start..node.span.end as usize)?;
    if raw.starts_with('|') {
        return Some(start + raw.find('\n')? + 1);
    }
    node.scalar()?.verbatim.filter(|_| !raw.starts_with('>')).map(|offset| offset as usize)
}

/// A copy of a tree, moved; as deep as the reader allows.
fn shifted(node: &Node, by: u32) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => {
            let mut scalar = scalar.clone();
            scalar.verbatim = scalar.verbatim.map(|v| v.saturating_add(by));
            Value::Scalar(scalar)
        }
        Value::List(items) => Value::List(items.iter().map(|n| Arc::new(shifted(n, by))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry {
                    key: e.key.clone(),
                    key_span: moved(e.key_span, by),
                    value: Arc::new(shifted(&e.value, by)),
                })
                .collect(),
        ),
    };
    Node { span: moved(node.span, by), value, tag: node.tag.clone() }
}

fn moved(span: Span, by: u32) -> Span {
    Span { start: span.start.saturating_add(by), end: span.end.saturating_add(by), ..span }
}
