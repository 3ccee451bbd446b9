//! What a chart's values put in the place of its actions.

use std::sync::Arc;

use crate::syntax::tree::{Entry, Node, Scalar, Value};

/// The values of a chart: its own, and what the chart around it says for it.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// `values.yaml` beside the templates.
    pub own: Option<&'a Node>,
    /// That of the chart around it, and the name of this chart there.
    pub outer: Option<(&'a Node, &'a str)>,
}

impl<'a> Chart<'a> {
    /// The value under `.Values.…`.
    fn get(&self, path: &[&str]) -> Option<&'a Node> {
        let outer = self.outer.and_then(|(values, name)| match path {
            ["global", ..] => values.at(path),
            _ => values.get(name)?.at(path),
        });
        outer.or_else(|| self.own?.at(path))
    }
}

/// A tree with the values of a chart where its actions name them. A scalar that is one action becomes the value as it
/// stands in the values, with its place there; in a longer text its own text is put in.
pub fn resolve(node: &Arc<Node>, chart: Chart<'_>) -> Arc<Node> {
    let has_action = |n: &Node| n.scalar().is_some_and(|s| s.text.contains("{{"));
    if !node.walk().any(has_action) {
        return node.clone();
    }
    let value = match &node.value {
        Value::Scalar(scalar) => match whole(&scalar.text) {
            Some(action) => return value_of(action, node, chart).unwrap_or_else(|| node.clone()),
            None => match within(&scalar.text, chart) {
                Some(text) => Value::Scalar(Scalar { text: text.into(), plain: scalar.plain, verbatim: None }),
                None => return node.clone(),
            },
        },
        Value::List(items) => Value::List(items.iter().map(|n| resolve(n, chart)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry { key: e.key.clone(), key_span: e.key_span, value: resolve(&e.value, chart) })
                .collect(),
        ),
    };
    Arc::new(Node { span: node.span, value, tag: node.tag.clone() })
}

/// The inside of a text that is one action and nothing else.
fn whole(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{")).then(|| inner.trim_matches('-').trim())
}

/// The value that an action names: `.Values.a.b`, with filters that leave it what it is, or with a default.
fn value_of(action: &str, node: &Arc<Node>, chart: Chart<'_>) -> Option<Arc<Node>> {
    let mut parts = action.split('|').map(str::trim);
    let first = parts.next()?;
    let (mut otherwise, term) = match first.strip_prefix("default ") {
        Some(rest) => {
            let (literal, term) = rest.trim().split_once(' ')?;
            (Some(literal), term.trim())
        }
        None => (None, unwrapped(first)),
    };
    for filter in parts {
        match filter.split_once(' ') {
            Some(("default", literal)) => otherwise = Some(literal.trim()),
            None if matches!(filter, "quote" | "squote" | "int" | "int64" | "toString" | "float64" | "trim") => {}
            _ => return None,
        }
    }
    let path = path(term)?;
    let found = chart.get(&path).filter(|n| n.scalar().is_some() && !n.is_null());
    match (found, otherwise) {
        (Some(found), _) => Some(Arc::new(found.clone())),
        (None, Some(literal)) => literal_of(literal, node),
        (None, None) => None,
    }
}

/// `int .Values.a`, `(.Values.a)` → `.Values.a`
fn unwrapped(term: &str) -> &str {
    let term = term.trim_matches(['(', ')']).trim();
    ["int64 ", "int ", "quote ", "toString "].iter().find_map(|f| term.strip_prefix(f)).unwrap_or(term).trim()
}

/// `.Values.a.b`, `$.Values.a.b`
fn path(term: &str) -> Option<Vec<&str>> {
    let rest = term.strip_prefix('$').unwrap_or(term).strip_prefix(".Values.")?;
    let parts: Vec<&str> = rest.split('.').collect();
    let plain = |p: &&str| !p.is_empty() && p.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    parts.iter().all(plain).then_some(parts)
}

/// A default that stands in the action itself.
fn literal_of(literal: &str, node: &Node) -> Option<Arc<Node>> {
    let quoted = literal.strip_prefix('"').and_then(|l| l.strip_suffix('"'));
    let plain = quoted.is_none();
    let text = quoted.unwrap_or(literal);
    let simple = !text.is_empty() && !text.contains(['(', ')', '"', '$']) && !text.starts_with('.');
    let scalar = Scalar { text: text.into(), plain, verbatim: None };
    simple.then(|| Arc::new(Node { span: node.span, value: Value::Scalar(scalar), tag: None }))
}

/// A longer text with the values of all its actions; `None` if one of them is not known.
fn within(text: &str, chart: Chart<'_>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (action, next) = after.split_once("}}")?;
        let found = chart.get(&path(action.trim_matches('-').trim())?)?;
        out.push_str(before);
        out.push_str(found.as_str()?);
        rest = next;
    }
    out.push_str(rest);
    Some(out)
}
