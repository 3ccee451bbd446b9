//! What a chart's values put in the place of its actions.

use std::sync::Arc;

use super::helpers::Helpers;
use crate::source::{SourceFile, Span};
use crate::syntax::tree::{Entry, Node, Scalar, Value};

/// The values of a chart: its own, and what the chart around it says for it.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// `values.yaml` beside the templates.
    pub own: Option<&'a Node>,
    /// That of the chart around it, and the name of this chart there.
    pub outer: Option<(&'a Node, &'a str)>,
    /// Its name.
    pub name: Option<&'a str>,
    /// The name under which the chart around all others is taken to be installed: its own.
    pub release: Option<&'a str>,
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

    /// A value, where there is one.
    pub(super) fn value(&self, path: &[&str]) -> Option<&'a Node> {
        self.get(path).filter(|node| !node.is_null())
    }
}

/// A tree with the values and the named templates of a chart where its actions name them. A scalar that is one action
/// becomes the value as it stands in the values, with its place there; in a longer text its own text is put in.
pub fn resolve(node: &Arc<Node>, chart: Chart<'_>, helpers: &Helpers<'_>) -> Arc<Node> {
    let has_action = |n: &Node| match &n.value {
        Value::Scalar(scalar) => scalar.text.contains("{{"),
        Value::Map(entries) => entries.iter().any(|e| e.key.contains("{{")),
        Value::List(_) => false,
    };
    if !node.walk().any(has_action) {
        return node.clone();
    }
    let value = match &node.value {
        Value::Scalar(scalar) => match of_scalar(scalar, node, chart, helpers) {
            Some(resolved) => return resolved,
            None => return node.clone(),
        },
        Value::List(items) => Value::List(items.iter().map(|n| resolve(n, chart, helpers)).collect()),
        Value::Map(entries) => match entries.as_slice() {
            // All that a key holds is what the values hold.
            [only] if let Some(values) = listed(only, chart) => return values,
            entries => Value::Map(entries.iter().flat_map(|e| of_entry(e, chart, helpers)).collect()),
        },
    };
    Arc::new(Node { span: node.span, value, tag: node.tag.clone() })
}

fn of_scalar(scalar: &Scalar, node: &Arc<Node>, chart: Chart<'_>, helpers: &Helpers<'_>) -> Option<Arc<Node>> {
    if let Some(found) = whole(&scalar.text).and_then(|action| value_of(action, node, chart)) {
        return Some(found);
    }
    let text = helpers.expand(&scalar.text, chart)?;
    if scalar.text.contains("indent ")
        && let Some(block) = block(&text, node.span)
    {
        return Some(block);
    }
    let value = Value::Scalar(Scalar { text: text.into(), plain: scalar.plain, verbatim: None });
    Some(Arc::new(Node { span: node.span, value, tag: node.tag.clone() }))
}

/// An entry with its values; those that a named template puts in the place of one.
fn of_entry(entry: &Entry, chart: Chart<'_>, helpers: &Helpers<'_>) -> Vec<Entry> {
    if entry.key.contains("{{") {
        let own = || match &listed(entry, chart)?.value {
            Value::Map(entries) => Some(entries.clone()),
            _ => None,
        };
        let made = || match &block(&helpers.expand(&entry.key, chart)?, entry.key_span)?.value {
            Value::Map(entries) => Some(entries.clone()),
            _ => None,
        };
        if is_put_in(entry)
            && let Some(entries) = own().or_else(made)
        {
            return entries;
        }
    }
    let key = match entry.key.contains("{{") {
        true => helpers.expand(&entry.key, chart).map_or_else(|| entry.key.clone(), Into::into),
        false => entry.key.clone(),
    };
    vec![Entry { key, key_span: entry.key_span, value: resolve(&entry.value, chart, helpers) }]
}

/// Whether an entry stands for an action on a line of its own.
fn is_put_in(entry: &Entry) -> bool {
    entry.value.as_str() == Some(&*entry.key)
}

/// `{{ toYaml .Values.env }}` on a line of its own: the values, with their places.
fn listed(entry: &Entry, chart: Chart<'_>) -> Option<Arc<Node>> {
    let action = whole(&entry.key).filter(|_| is_put_in(entry))?;
    let path = path(action.strip_prefix("toYaml ")?.trim())?;
    let found = chart.get(&path).filter(|n| n.scalar().is_none())?;
    Some(Arc::new(found.clone()))
}

/// A text of YAML that stands in the place of an action.
fn block(text: &str, place: Span) -> Option<Arc<Node>> {
    let file = SourceFile { id: place.file, path: "template.yaml".into(), text: text.into() };
    let parsed = super::yaml::parse(&file);
    let document = parsed.documents.first().filter(|d| parsed.errors.is_empty() && d.scalar().is_none())?;
    Some(placed(document, place))
}

/// As deep as the reader allows.
fn placed(node: &Node, place: Span) -> Arc<Node> {
    let value = match &node.value {
        Value::Scalar(scalar) => Value::Scalar(Scalar { verbatim: None, ..scalar.clone() }),
        Value::List(items) => Value::List(items.iter().map(|n| placed(n, place)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry { key: e.key.clone(), key_span: place, value: placed(&e.value, place) })
                .collect(),
        ),
    };
    Arc::new(Node { span: place, value, tag: node.tag.clone() })
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
