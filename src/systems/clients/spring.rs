//! Spring Boot's settings files: documents, profiles, dotted keys and relaxed binding.

use crate::model::Setting;
use crate::source::Span;
use crate::syntax::{Entry, Node, Value, relaxed};
use crate::systems::settings::shown;

/// One document, for one profile or for all.
pub(super) struct Document<'n> {
    /// The profile under which it counts; `None` = always.
    pub profile: Option<String>,
    /// Its tree.
    pub root: &'n Node,
}

/// A setting: the parts of its key, each with its place, and the entry that ends the key.
pub(super) struct Leaf<'n> {
    /// The parts of the key.
    pub path: Vec<(String, Span)>,
    /// The entry with the value.
    pub entry: &'n Entry,
}

impl<'n> Document<'n> {
    /// The document in a file of this path.
    pub(super) fn new(path: &str, root: &'n Node) -> Self {
        let own = ["spring.config.activate.on-profile", "spring.profiles"];
        let own = own.iter().find_map(|key| text(root, key));
        Self { profile: own.or_else(|| profile_of(path)), root }
    }
}

/// `application-prod.yml` counts under the profile `prod`.
fn profile_of(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.strip_prefix("application-").filter(|p| !p.is_empty()).map(str::to_string)
}

/// The text of one setting.
pub(super) fn text(root: &Node, key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('.').collect();
    let leaves = leaves(root, &parts);
    leaves.iter().rev().find(|l| l.path.len() == parts.len())?.entry.value.as_str().map(str::to_string)
}

/// Every setting below a key, in the order of the file. Keys can be written nested or dotted.
pub(super) fn leaves<'n>(root: &'n Node, below: &[&str]) -> Vec<Leaf<'n>> {
    let mut out = Vec::new();
    descend(root, below, &mut Vec::new(), &mut out);
    out
}

fn descend<'n>(node: &'n Node, below: &[&str], path: &mut Vec<(String, Span)>, out: &mut Vec<Leaf<'n>>) {
    for entry in node.entries() {
        let depth = path.len();
        path.extend(parts(&entry.key).map(|part| (part.to_string(), entry.key_span)));
        let fits = path.iter().zip(below).all(|((part, _), wanted)| relaxed(part) == relaxed(wanted));
        if fits {
            match &entry.value.value {
                Value::Map(entries) if !entries.is_empty() => descend(&entry.value, below, path, out),
                _ if path.len() >= below.len() => out.push(Leaf { path: path.clone(), entry }),
                _ => {}
            }
        }
        path.truncate(depth);
    }
}

/// `a.b` is two parts; `[a.b]` is one.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    let whole = key.strip_prefix('[').and_then(|k| k.strip_suffix(']'));
    let dots = if whole.is_some() { '\0' } else { '.' };
    whole.unwrap_or(key).split(dots)
}

/// A value that may come from a placeholder: `${NAME}`, `${NAME:default}`.
pub(super) enum Text<'t> {
    /// What is written, or the default of the placeholder with its name.
    Known(&'t str, Option<&'t str>),
    /// The name of a placeholder without a default.
    Placeholder(&'t str),
}

/// Reads the value of an entry.
pub(super) fn value(entry: &Entry) -> Text<'_> {
    let text = entry.value.as_str().unwrap_or_default().trim();
    let Some(inner) = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')) else { return Text::Known(text, None) };
    match inner.split_once(':') {
        Some((name, default)) => Text::Known(default, Some(name)),
        None => Text::Placeholder(inner),
    }
}

/// A setting read with `parse`.
pub(super) fn setting<T>(entry: &Entry, kind: &str, parse: impl Fn(&str) -> Option<T>) -> Setting<T> {
    let span = Some(entry.value.span);
    match value(entry) {
        Text::Known(text, _) => match parse(text) {
            Some(value) => Setting::written(value, entry.value.span),
            None => Setting::unknown(format!("`{}` is not {kind} here", shown(&entry.key)), span),
        },
        Text::Placeholder(name) => {
            Setting::unknown(format!("comes from {}, which has no default here", shown(name)), span)
        }
    }
}
