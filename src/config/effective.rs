//! The effective settings, each with where it comes from: what `retrylint config` shows.

use serde_json::{Value as Json, json};

use super::keys::{Kind, keys_of};
use super::levels::Levels;
use super::{Config, Origin};
use crate::rules;
use crate::syntax::{Entry, Node, Value};

/// A setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The table it stands in; "" is the top of the file.
    pub table: &'static str,
    /// Its key; of a table in a list, what the list is called.
    pub key: String,
    /// Its value.
    pub value: Shown,
    /// Where it comes from.
    pub origin: Origin,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// One value, as TOML and for programs.
    One(String, Json),
    /// The items of a list, each from its own place.
    Items(Vec<(String, Json, Origin)>),
    /// A table in a list, by its keys.
    Table(Vec<(String, String, Json)>),
}

/// All settings, in the order in which the keys are documented.
pub fn settings(config: &Config) -> Vec<Effective> {
    all(config, None)
}

/// Those that hold for one file, by its shown path: the level of every rule there, and the permissions that are about
/// it.
pub fn settings_of(config: &Config, path: &str) -> Vec<Effective> {
    all(config, Some(path))
}

fn all(config: &Config, file: Option<&str>) -> Vec<Effective> {
    let mut out = Vec::new();
    for key in keys_of("").filter(|key| key.kind != Kind::Files) {
        let entry = config.tree.as_deref().and_then(|tree| tree.entry(key.name));
        match key.kind {
            Kind::Levels if file.is_some() => out.extend(levels_of(config, file.unwrap_or_default())),
            Kind::Levels | Kind::Versions | Kind::Table => {
                out.extend(entry.into_iter().flat_map(|e| pairs(key.name, e)))
            }
            Kind::Tables => out.extend(tables(config, key.name, entry, file)),
            Kind::Globs | Kind::Texts | Kind::Rules => out.push(items(key.name, entry)),
            _ => out.extend(single(config, key.name, key.default, entry)),
        }
    }
    // In TOML a key of the file itself stands before all tables.
    out.sort_by_key(|setting| !setting.table.is_empty());
    out
}

fn single(config: &Config, key: &'static str, default: &'static str, entry: Option<&Entry>) -> Option<Effective> {
    let flag = config.flags.iter().find(|(of, ..)| *of == key);
    let (text, json, origin) = match (flag, entry) {
        (Some((_, flag, value)), _) => (value.to_string(), value.clone(), Origin::Flag(flag)),
        (None, Some(entry)) => (toml(&entry.value), data(&entry.value), Origin::File(entry.key_span)),
        (None, None) => (default.to_owned(), serde_json::from_str(default).ok()?, Origin::Default),
    };
    // What has no default is not there.
    (text != "[]").then(|| Effective { table: "", key: key.to_owned(), value: Shown::One(text, json), origin })
}

fn items(key: &'static str, entry: Option<&Entry>) -> Effective {
    let items = entry.map_or(&[][..], |entry| entry.value.items());
    let shown = items.iter().map(|item| (toml(item), data(item), Origin::File(item.span))).collect();
    let origin = entry.map_or(Origin::Default, |entry| Origin::File(entry.key_span));
    Effective { table: "", key: key.to_owned(), value: Shown::Items(shown), origin }
}

/// The entries of a table.
fn pairs(table: &'static str, entry: &Entry) -> impl Iterator<Item = Effective> {
    entry.value.entries().iter().map(move |entry| Effective {
        table,
        key: entry.key.to_string(),
        value: Shown::One(toml(&entry.value), data(&entry.value)),
        origin: Origin::File(entry.key_span),
    })
}

/// The tables of a list; for a file, those that are about it and not said otherwise.
fn tables(config: &Config, key: &'static str, entry: Option<&Entry>, file: Option<&str>) -> Vec<Effective> {
    let items = entry.map_or(&[][..], |entry| entry.value.items());
    let concerns = |at: usize| match (file, key) {
        (None, _) => true,
        (Some(_), "override") => false,
        (Some(file), "allow") => config.allows.get(at).is_some_and(|allow| config.globs(&allow.paths).matches(file)),
        (Some(file), "service") => config.services.get(at).is_some_and(|s| config.globs(&s.paths).matches(file)),
        (Some(file), "system") => config.own_systems.get(at).is_some_and(|s| config.globs(&s.files).matches(file)),
        (Some(_), _) => true,
    };
    let table =
        |item: &Node| item.entries().iter().map(|e| (e.key.to_string(), toml(&e.value), data(&e.value))).collect();
    let place = |item: &Node| {
        item.entries()
            .first()
            .map_or(item.span, |first| if item.span.range().is_empty() { first.key_span } else { item.span })
    };
    items
        .iter()
        .enumerate()
        .filter(|(at, _)| concerns(*at))
        .map(|(_, item)| Effective {
            table: key,
            key: key.to_owned(),
            value: Shown::Table(table(item)),
            origin: Origin::File(place(item)),
        })
        .collect()
}

/// The level of every rule in a file.
fn levels_of(config: &Config, file: &str) -> Vec<Effective> {
    let levels = Levels::new(config);
    rules::all()
        .iter()
        .map(|rule| {
            let meta = rule.meta();
            let (level, place) = levels.of(meta, file);
            let name = level.map_or("off", |level| level.name());
            Effective {
                table: "rules",
                key: meta.id.to_owned(),
                value: Shown::One(format!("\"{name}\""), json!(name)),
                origin: place.map_or(Origin::Default, Origin::File),
            }
        })
        .collect()
}

/// A value as TOML.
fn toml(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) if scalar.plain => scalar.text.to_string(),
        Value::Scalar(scalar) => json!(&*scalar.text).to_string(),
        Value::List(items) => format!("[{}]", items.iter().map(|item| toml(item)).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let pairs = entries.iter().map(|e| format!("{} = {}", key(&e.key), toml(&e.value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A key as TOML.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_bare { name.to_owned() } else { json!(name).to_string() }
}

/// A value for programs.
fn data(node: &Node) -> Json {
    match &node.value {
        Value::Scalar(scalar) if scalar.plain => {
            let number = || node.as_int().map(Json::from).or_else(|| node.as_f64().map(Json::from));
            node.as_bool().map(Json::from).or_else(number).unwrap_or_else(|| json!(&*scalar.text))
        }
        Value::Scalar(scalar) => json!(&*scalar.text),
        Value::List(items) => items.iter().map(|item| data(item)).collect(),
        Value::Map(entries) => Json::Object(entries.iter().map(|e| (e.key.to_string(), data(&e.value))).collect()),
    }
}
