//! Tables that remember requests or messages: what the statements of all scripts, in their order, come to.

use super::names::{self, Named};
use super::{keys, tables};
use crate::facts::{Facts, SchemaChange, SchemaFact, TableFact, UniqueFact};
use crate::model::{Confidence, KeyColumn, NoHelp, Store, StoreKind, StoredResponse, Unique};

/// Applies the changes of all scripts in the order of their names, and keeps the tables that are stores.
pub(super) fn join(facts: &mut Facts) {
    let mut scripts: Vec<SchemaFact> = std::mem::take(&mut facts.schemas);
    scripts.retain(|script| !super::purges::is_trial(&script.path));
    scripts.sort_by_cached_key(|script| natural(&script.path));
    let mut schema = Schema::default();
    for script in scripts {
        for change in script.changes {
            schema.apply(&script.path, change);
        }
    }
    let kept: Vec<TableFact> = schema.tables.into_iter().filter(|t| !t.is_dropped).map(|t| t.fact).collect();
    for expiry in std::mem::take(&mut facts.expiries) {
        let of_table = kept.iter().filter(|t| t.name == expiry.table).flat_map(|t| &t.columns);
        let lives = of_table.filter(|c| c.name == expiry.column).find_map(|c| c.lives);
        facts.purges.iter_mut().filter(|p| p.place == expiry.purge && p.age.is_none()).for_each(|p| p.age = lives);
    }
    let mut stores: Vec<Store> = kept.iter().filter_map(store).collect();
    // Where a table of its own keeps each key once, others that carry the key only refer to it.
    let keeps_keys = |s: &Store| {
        s.kind == StoreKind::Requests && s.confidence == Confidence::High && matches!(s.unique, Unique::On { .. })
    };
    if stores.iter().any(keeps_keys) {
        stores.retain(|s| s.confidence == Confidence::High || !matches!(s.unique, Unique::Missing { .. }));
    }
    facts.stores.extend(stores);
    let is_of_dead_letters = |t: &TableFact| names::table(&t.name) == Named::DeadLetters && !t.is_partly_unknown;
    facts.dead_letter_tables.extend(kept.into_iter().filter(is_of_dead_letters));
}

/// A path so that `V10__` comes after `V2__`.
fn natural(path: &str) -> Vec<(u128, String)> {
    let mut parts = vec![(0u128, String::new())];
    for c in path.chars() {
        let is_text = parts.last().is_some_and(|(_, text)| !text.is_empty());
        match (c.to_digit(10), parts.last_mut()) {
            (Some(_), _) if is_text => parts.push((u128::from(c.to_digit(10).unwrap_or(0)), String::new())),
            (Some(digit), Some((number, _))) => *number = number.saturating_mul(10).saturating_add(u128::from(digit)),
            (None, Some((_, text))) => text.push(c),
            (_, None) => {}
        }
    }
    // Text before numbers, as in plain order.
    parts.into_iter().collect()
}

#[derive(Debug, Default)]
struct Schema {
    tables: Vec<Table>,
    /// Keys whose table has not been made yet: files that no number orders.
    early: Vec<(String, UniqueFact)>,
}

#[derive(Debug)]
struct Table {
    path: String,
    fact: TableFact,
    is_dropped: bool,
}

impl Schema {
    fn apply(&mut self, path: &str, change: SchemaChange) {
        match change {
            SchemaChange::Create(mut fact) => {
                let early = self.early.iter().filter(|(table, _)| *table == fact.name).map(|(_, set)| set.clone());
                fact.unique.extend(early);
                self.tables.push(Table { path: path.to_string(), fact, is_dropped: false });
            }
            SchemaChange::AddUnique { table, set } => {
                let mut is_known = false;
                for found in self.named(path, &table) {
                    found.unique.push(set.clone());
                    is_known = true;
                }
                if !is_known {
                    self.early.push((table, set));
                }
            }
            SchemaChange::AddColumn { table, column } => {
                self.named(path, &table).into_iter().for_each(|found| found.columns.push(column.clone()));
            }
            SchemaChange::DropUnique { table: Some(table), name } => {
                self.named(path, &table)
                    .into_iter()
                    .for_each(|found| found.unique.retain(|set| !is_called(&table, set, name.as_deref())));
            }
            SchemaChange::DropUnique { table: None, name } => {
                for table in &mut self.tables {
                    let own = table.fact.name.clone();
                    table.fact.unique.retain(|set| !is_called(&own, set, name.as_deref()));
                }
            }
            SchemaChange::DropColumn { table, column } => {
                for found in self.named(path, &table) {
                    found.columns.retain(|c| c.name != column);
                    found.unique.retain(|set| !set.columns.contains(&column));
                }
            }
            SchemaChange::DropTable(name) => {
                self.tables.iter_mut().filter(|t| t.fact.name == name).for_each(|t| t.is_dropped = true);
            }
            SchemaChange::RenameTable { from, to } => {
                self.named(path, &from).into_iter().for_each(|found| found.name.clone_from(&to));
            }
            SchemaChange::RenameColumn { table, from, to } => {
                for found in self.named(path, &table) {
                    for column in found.columns.iter_mut().filter(|c| c.name == from) {
                        column.name.clone_from(&to);
                        column.written.clone_from(&to);
                    }
                    let keys = found.unique.iter_mut().flat_map(|set| &mut set.columns);
                    keys.filter(|name| **name == from).for_each(|name| name.clone_from(&to));
                }
            }
            SchemaChange::RenameUnique { table, from, to } => {
                let wanted = |fact: &TableFact| table.as_ref().is_none_or(|name| *name == fact.name);
                for found in self.tables.iter_mut().map(|t| &mut t.fact).filter(|fact| wanted(fact)) {
                    let own = found.name.clone();
                    let sets = found.unique.iter_mut().filter(|set| is_called(&own, set, Some(&from)));
                    sets.for_each(|set| set.name = Some(to.clone()));
                }
            }
            SchemaChange::Unclear(table) => {
                self.named(path, &table).into_iter().for_each(|found| found.is_partly_unknown = true)
            }
        }
    }

    /// The tables of that name which lie nearest to a script.
    fn named(&mut self, path: &str, name: &str) -> Vec<&mut TableFact> {
        let near = |table: &Table| table.path.split('/').zip(path.split('/')).take_while(|(a, b)| a == b).count();
        let wanted = |table: &Table| table.fact.name == name && !table.is_dropped;
        let nearest = self.tables.iter().filter(|t| wanted(t)).map(near).max();
        self.tables.iter_mut().filter(move |t| wanted(t) && Some(near(t)) == nearest).map(|t| &mut t.fact).collect()
    }
}

/// Whether a constraint or index has the name, by itself or as the database names it; `None`: whether it is the primary key.
fn is_called(table: &str, set: &UniqueFact, name: Option<&str>) -> bool {
    let Some(name) = name else { return set.is_primary };
    match &set.name {
        Some(own) => own == name,
        None if set.is_primary => name == "primary" || name == format!("{table}_pkey"),
        None => {
            name == format!("{table}_{}_key", set.columns.join("_")) || set.columns.first().is_some_and(|c| c == name)
        }
    }
}

/// The table as a store, if it is one.
fn store(table: &TableFact) -> Option<Store> {
    let has = |wanted: fn(&str) -> bool| table.columns.iter().any(|c| wanted(&c.name));
    // What came in, with nothing that tells one message from another, is kept for its own sake.
    if names::is_inbox_of_something(&table.name)
        && !table.is_partly_unknown
        && keys::of(table, StoreKind::Messages).columns.is_empty()
    {
        return None;
    }
    let kind = match names::table(&table.name) {
        Named::Store => kind(table),
        Named::Perhaps if has(names::is_message_key) => StoreKind::Messages,
        Named::Unknown
            if !is_of_another_kind(&table.name)
                && has(names::is_idempotency_key)
                && tables::score(table.columns.iter().map(|c| &*c.name)) >= 3 =>
        {
            kind(table)
        }
        Named::Unknown | Named::Other if is_business(table) => StoreKind::Business,
        _ => return None,
    };
    let unique = if table.is_partly_unknown { Unique::Unknown } else { unique(table, kind) };
    let confidence = match (names::table(&table.name), kind) {
        (Named::Store, _) => Confidence::High,
        _ => Confidence::Medium,
    };
    Some(Store {
        table: table.written.clone(),
        kind,
        place: table.place,
        unique,
        response: response(table, kind),
        confidence,
    })
}

/// A thing of the business that carries the key of the request that made it.
fn is_business(table: &TableFact) -> bool {
    !is_of_another_kind(&table.name)
        && table.columns.iter().any(|c| matches!(&*c.name, "idempotency_key" | "idempotence_key"))
}

/// Tables in which a repetition is no harm, or has its own record on purpose.
fn is_of_another_kind(name: &str) -> bool {
    name.split('_').any(|w| {
        matches!(
            w,
            "outbox"
                | "job"
                | "jobs"
                | "history"
                | "audit"
                | "log"
                | "logs"
                | "migrations"
                | "queue"
                | "archive"
                | "staging"
                | "event"
                | "events"
        )
    })
}

fn kind(table: &TableFact) -> StoreKind {
    let has = |names: &[&str]| table.columns.iter().any(|c| names.contains(&&*c.name));
    let words: Vec<&str> = table.name.split('_').collect();
    let asks = has(&[
        "request_path",
        "request_method",
        "request_params",
        "request_hash",
        "request_body",
        "request_fingerprint",
        "endpoint",
        "http_method",
    ]);
    let is_of_messages = has(&[
        "consumer",
        "consumer_id",
        "consumer_group",
        "handler",
        "subscriber",
        "event_type",
        "message_type",
        "type",
        "payload",
        "content",
        "data",
        "event_id",
        "event_name",
        "topic",
        "partition",
        "offset",
        "aggregate_id",
    ]);
    let is_named = words.iter().any(|w| matches!(*w, "idempotency" | "idempotent" | "idempotence"))
        || words.contains(&"inbox")
            && !words.contains(&"state")
            && !words.contains(&"events")
            && !words.contains(&"event");
    let is_named = is_named && !words.iter().any(|w| matches!(*w, "consumer" | "consumers" | "message" | "messages"));
    if asks || is_named && !is_of_messages { StoreKind::Requests } else { StoreKind::Messages }
}

fn unique(table: &TableFact, kind: StoreKind) -> Unique {
    let key = keys::of(table, kind);
    if key.columns.is_empty() {
        return Unique::Unknown;
    }
    let mut other: Option<(&UniqueFact, NoHelp)> = None;
    let mut good: Vec<&UniqueFact> = Vec::new();
    for set in &table.unique {
        match keys::helps(table, &key, set) {
            None => good.push(set),
            Some(why) if other.is_none_or(|(_, before)| before == NoHelp::MadeAnew || before == NoHelp::Elsewhere) => {
                other = Some((set, why));
            }
            Some(_) => {}
        }
    }
    if good.is_empty() {
        let other = other.map(|(set, why)| (set.columns.join(", "), why));
        return Unique::Missing { key: key.columns, other };
    }
    let strong = good.iter().copied().find(|set| !keys::is_business_only(&set.columns));
    let set = strong.or(good.iter().copied().min_by_key(|set| set.columns.len()));
    let names = set.map(|set| set.columns.as_slice()).unwrap_or_default();
    Unique::On { columns: keys::columns(table, names), business_only: strong.is_none() }
}

fn response(table: &TableFact, kind: StoreKind) -> StoredResponse {
    if kind != StoreKind::Requests || table.is_partly_unknown {
        return StoredResponse::NotNeeded;
    }
    let keeps = |name: &str| {
        let words: Vec<&str> = name.split('_').collect();
        let is_said = words.iter().any(|w| {
            matches!(
                *w,
                "response"
                    | "responses"
                    | "result"
                    | "results"
                    | "outcome"
                    | "reply"
                    | "output"
                    | "answer"
                    | "operations"
                    | "recovery"
            )
        });
        let is_hash = words.iter().any(|w| matches!(*w, "hash" | "digest" | "checksum" | "at"));
        (is_said && !is_hash) || matches!(name, "status_code" | "http_status" | "body" | "value")
    };
    let key = keys::of(table, kind);
    let is_key = |name: &str| key.columns.iter().any(|c| names::snake(&c.name) == name) || keys::is_scope(name);
    let kept = table.columns.iter().any(|c| keeps(&c.name) || c.refers && !is_key(&c.name));
    if kept { StoredResponse::Kept } else { StoredResponse::Missing }
}

/// The columns of a key, for messages.
pub(super) fn key_columns<'t>(columns: impl Iterator<Item = &'t crate::facts::ColumnFact>) -> Vec<KeyColumn> {
    columns.map(|c| KeyColumn { name: c.written.clone(), span: c.span }).collect()
}
