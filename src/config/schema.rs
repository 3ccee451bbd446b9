//! The JSON Schema of `retrylint.toml`, for editors: from the same table of keys as the reader.

use serde_json::{Map, Value, json};

use super::keys::{Key, Kind, keys_of};
use super::reader::Names;

/// Where an editor finds it: in the repository of this version, or where `retrylint config --schema` writes it.
pub fn address() -> String {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => "./retrylint.schema.json".to_owned(),
        repository => format!("{repository}/raw/v{}/schema/retrylint.schema.json", env!("CARGO_PKG_VERSION")),
    }
}

/// The schema.
pub fn schema() -> Value {
    let names = Names::all();
    let mut schema = table("", &names);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
        fields.insert("title".to_owned(), json!("retrylint.toml"));
        fields.insert("description".to_owned(), json!("The configuration of retrylint"));
    }
    schema
}

/// The schema as a file.
pub fn text() -> String {
    format!("{:#}", schema())
}

/// A table with its keys, and no others.
fn table(name: &str, names: &Names) -> Value {
    let properties: Map<String, Value> =
        keys_of(name).map(|key| (key.name.to_owned(), described(key, names))).collect();
    let required: Vec<&str> = keys_of(name).filter(|key| key.default.is_empty()).map(|key| key.name).collect();
    let mut out = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if let (false, Some(fields)) = (required.is_empty(), out.as_object_mut()) {
        fields.insert("required".to_owned(), json!(required));
    }
    out
}

/// What a key takes, what it does, and what holds without it.
fn described(key: &Key, names: &Names) -> Value {
    let mut out = taken(key, names);
    let Some(fields) = out.as_object_mut() else { return out };
    fields.insert("description".to_owned(), json!(key.doc));
    if let Some(default) = default(key) {
        fields.insert("default".to_owned(), default);
    }
    out
}

/// The default, where it is more than nothing.
fn default(key: &Key) -> Option<Value> {
    match key.default {
        "" | "[]" | "{}" => None,
        written => serde_json::from_str(written).ok(),
    }
}

fn taken(key: &Key, names: &Names) -> Value {
    let text = || json!({ "type": "string", "pattern": "\\S" });
    match key.kind {
        Kind::Count => json!({ "type": "integer", "minimum": 1 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::FailOn => json!({ "enum": ["error", "warning", "note", "never"] }),
        Kind::Text | Kind::File | Kind::Path => text(),
        Kind::Files => json!({ "anyOf": [text(), { "type": "array", "items": text() }] }),
        Kind::Texts | Kind::Globs => json!({ "type": "array", "items": text() }),
        Kind::Rules => json!({ "type": "array", "items": { "enum": names.rules } }),
        Kind::Day => json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
        Kind::Levels => levels(names),
        Kind::Versions => versions(names),
        Kind::Duration => json!({ "type": "string", "pattern": "^\\s*[0-9]*[1-9][0-9]*\\s*[smhdw]\\s*$" }),
        Kind::Wait => json!({ "type": "string", "pattern": "[0-9]" }),
        Kind::Number => json!({ "type": "number", "minimum": 0 }),
        Kind::Statuses => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 400, "maximum": 599 } })
        }
        Kind::Unit => json!({ "enum": ["us", "ms", "s", "m"] }),
        Kind::Table => table(key.name, names),
        Kind::Tables => json!({ "type": "array", "items": table(key.name, names) }),
    }
}

fn levels(names: &Names) -> Value {
    let of = |rule: &&'static str| {
        let summary = crate::rules::by_name(rule).map_or("", |meta| meta.summary);
        ((*rule).to_owned(), json!({ "enum": ["error", "warning", "note", "off"], "description": summary }))
    };
    let rules: Map<String, Value> = names.rules.iter().map(of).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": rules })
}

fn versions(names: &Names) -> Value {
    let version = || json!({ "type": "string", "pattern": "^v?[0-9]+\\.[0-9]+(\\.[^.]+)*$" });
    let systems: Map<String, Value> = names.systems.iter().map(|name| ((*name).to_owned(), version())).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": systems })
}
