//! Dead-letter records that code makes: structs by their fields, INSERTs by their columns.

use std::collections::BTreeMap;

use super::functions::Code;
use crate::facts::TableFact;
use crate::model::{Confidence, IncompleteRecord, names_dead_letter};
use crate::rust::ir::{ExprKind, Field, Struct, Ty, TyShape};
use crate::rust::walk;
use crate::source::Span;
use crate::systems::record::{Part, Record};
use crate::systems::sql::glance::{Verb, glance, is_dead_letters};

/// Every record that lacks something, at the place where it is made.
pub(super) fn find(code: &Code<'_>, tables: &[TableFact]) -> Vec<IncompleteRecord> {
    let inserts = inserts(code, tables);
    let mut found: Vec<IncompleteRecord> = Vec::new();
    let in_tables: Vec<&str> = inserts.values().map(|i| i.path).collect();
    for (path, record) in code.structs.iter().filter(|(_, s)| is_record(s)) {
        // What goes into a table is judged there.
        if in_tables.contains(path) {
            continue;
        }
        let made = made(code, &record.name);
        let is_written = record.derives.iter().any(|d| matches!(&**d, "Serialize" | "Insertable"));
        if made.is_none() && !is_written {
            continue;
        }
        let fields = fields(code, record);
        found.extend(fields.incomplete(
            format!("Dead letters as `{}`", record.name),
            made.unwrap_or(record.span),
            "a dead letter is made here",
        ));
    }
    for insert in inserts.values() {
        let record = Record { parts: insert.columns.iter().map(|c| Part::named(c)).collect() };
        found.extend(record.incomplete(
            format!("Dead letters in {}", insert.table),
            insert.place,
            "a dead letter is made here",
        ));
    }
    // What other programs write is judged where the table is made.
    for table in tables.iter().filter(|t| !inserts.contains_key(&t.name)) {
        let record = Record { parts: table.columns.iter().map(|c| Part::named(&c.name)).collect() };
        if record.is_record() {
            let name = format!("Dead letters in {}", table.written);
            found.extend(record.incomplete(name, table.place, "dead letters are kept here"));
        }
    }
    found.sort_by_key(|r| r.place);
    for record in &mut found {
        record.confidence = Confidence::Medium;
    }
    found
}

/// An INSERT into a table of dead letters.
struct Insert<'m> {
    path: &'m str,
    table: String,
    place: Span,
    columns: Vec<String>,
}

/// The first INSERT into each table.
fn inserts<'m>(code: &Code<'m>, tables: &[TableFact]) -> BTreeMap<String, Insert<'m>> {
    let mut found: BTreeMap<String, Insert<'m>> = BTreeMap::new();
    for place in &code.functions {
        for e in walk::expressions(&place.function.body) {
            let Some(text) = code.text(e, place.path) else { continue };
            let Some(statement) = glance(&text.text) else { continue };
            if statement.verb != Verb::Insert || !is_dead_letters(&statement.table) {
                continue;
            }
            let known = tables.iter().find(|t| t.name == statement.table);
            let mut columns = statement.columns.clone();
            match known {
                // The database fills these in.
                Some(table) => columns.extend(
                    table
                        .columns
                        .iter()
                        .filter(|c| columns.is_empty() || c.is_now || c.is_made_anew)
                        .map(|c| c.name.clone())
                        .collect::<Vec<_>>(),
                ),
                None if columns.is_empty() => continue,
                None => {}
            }
            found.entry(statement.table.clone()).or_insert_with(|| Insert {
                path: place.path,
                table: statement.table.clone(),
                place: text.place(statement.at),
                columns,
            });
        }
    }
    found
}

/// Whether a struct is a dead letter, by its name and its fields: no settings, client or summary of them.
fn is_record(record: &Struct) -> bool {
    let others = [
        // What a call gives up with, not what becomes of a message.
        "error",
        "errors",
        "config",
        "settings",
        "options",
        "client",
        "queue",
        "policy",
        "handler",
        "consumer",
        "producer",
        "publisher",
        "service",
        "repository",
        "repo",
        "store",
        "metrics",
        "stats",
        "writer",
        "reader",
        "manager",
        "router",
        "sink",
        "builder",
        "filter",
        "query",
        "response",
        "summary",
        "count",
        "args",
        "id",
        "params",
        "topic",
        "exchange",
        "processor",
        "worker",
        "state",
        "layer",
        "middleware",
        "command",
        "request",
        "list",
        "page",
    ];
    let name = super::words::snake(&record.name);
    let is_other = name.rsplit('_').next().is_some_and(|last| others.contains(&last));
    let parts: Vec<Part> = record.fields.iter().map(part).collect();
    let slots = Record { parts };
    names_dead_letter(&record.name) && !is_other && record.fields.len() > 1 && slots.is_record()
}

/// The fields, those of structs in them too.
fn fields(code: &Code<'_>, record: &Struct) -> Record {
    let mut parts = Vec::new();
    for field in &record.fields {
        let inner = code.only_struct(last(&field.ty)).filter(|inner| inner.name != record.name);
        match inner {
            // The message itself is one thing, whatever it holds.
            Some(inner) if !part(field).is_original() => parts.extend(inner.fields.iter().map(part)),
            _ => parts.push(part(field)),
        }
    }
    Record { parts }
}

fn part(field: &Field) -> Part {
    let ty = innermost(&field.ty);
    let name = last(ty);
    let plain = [
        "String",
        "str",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "bool",
        "f32",
        "f64",
        "Uuid",
        "Ulid",
        "DateTime",
        "NaiveDateTime",
        "OffsetDateTime",
        "SystemTime",
        "Instant",
        "Timestamp",
        "Duration",
        "Bytes",
        "Cow",
        "char",
        "PrimitiveDateTime",
        "Zoned",
    ];
    let is_map =
        matches!(name, "HashMap" | "BTreeMap" | "IndexMap" | "Value" | "HeaderMap" | "Map" | "Json" | "JsonValue");
    Part {
        name: field.name.to_string(),
        is_map,
        is_opaque: !is_map && ty.shape == TyShape::Path && !plain.contains(&name),
    }
}

/// The type inside of options, boxes and lists.
fn innermost(ty: &Ty) -> &Ty {
    let mut ty = ty;
    while let [only] = ty.args.as_slice() {
        if !(matches!(last(ty), "Option" | "Box" | "Arc" | "Rc" | "Vec" | "Cow") || ty.shape == TyShape::List) {
            break;
        }
        ty = only;
    }
    ty
}

fn last(ty: &Ty) -> &str {
    ty.path.segments.last().map_or("", |s| s)
}

/// The first place where a struct is put together.
fn made(code: &Code<'_>, name: &str) -> Option<Span> {
    let places = code.functions.iter().flat_map(|place| {
        // In its own blocks it is called `Self`.
        walk::expressions(&place.function.body).filter_map(|e| match &*e.kind {
            ExprKind::Struct { path, .. } => path.segments.last().filter(|s| &***s == name).map(|_| e.span),
            _ => None,
        })
    });
    places.min()
}
