//! Which columns of a store identify a message, and whether what is unique holds for them.

use super::{names, stores};
use crate::facts::{ColumnFact, TableFact, UniqueFact};
use crate::model::{KeyColumn, NoHelp, StoreKind};

/// The columns that identify a message.
#[derive(Debug)]
pub(super) struct Key {
    /// The best of them.
    pub(super) columns: Vec<KeyColumn>,
    /// All that could be meant.
    all: Vec<String>,
}

/// What identifies the messages of a store: a column made for that, else the message's own id or number, else ids of
/// the business.
pub(super) fn of(table: &TableFact, kind: StoreKind) -> Key {
    let pick = |wanted: &dyn Fn(&str) -> bool| -> Vec<&ColumnFact> {
        table.columns.iter().filter(|c| !c.is_made_anew && wanted(&c.name)).collect()
    };
    let made = pick(&|c| names::is_idempotency_key(c) || is_made_for_it(c));
    if kind == StoreKind::Business {
        return Key {
            columns: stores::key_columns(made.iter().copied()),
            all: made.iter().map(|c| c.name.clone()).collect(),
        };
    }
    let mut message = pick(&|c| is_message(c));
    if !message.is_empty() {
        // A number counts within its sender only.
        let with_sender = pick(&|c| is_sender(c) || is_message(c));
        message = if message.iter().all(|c| is_number(&c.name)) { with_sender } else { message };
    }
    let business = pick(&|c| {
        names::is_key(c) && !matches!(c, "id" | "uuid" | "guid") && !is_scope(c) && !is_other(c) && !is_digest(c)
    });
    let all = [&made, &message, &business].iter().flat_map(|columns| columns.iter().map(|c| c.name.clone())).collect();
    let best = [made, message, business].into_iter().find(|columns| !columns.is_empty()).unwrap_or_default();
    Key { columns: stores::key_columns(best.into_iter()), all }
}

/// Why a unique set stops no second record of one message; `None`: it does.
pub(super) fn helps(table: &TableFact, key: &Key, set: &UniqueFact) -> Option<NoHelp> {
    let column = |name: &str| table.columns.iter().find(|c| c.name == name);
    if set.is_partial {
        return Some(NoHelp::Partial);
    }
    if set.columns.iter().filter_map(|c| column(c)).any(|c| c.is_made_anew) {
        return Some(NoHelp::MadeAnew);
    }
    if set.columns.iter().filter_map(|c| column(c)).any(is_arrival) {
        return Some(NoHelp::HasTime);
    }
    if set.columns.iter().any(|c| key.all.contains(c)) { None } else { Some(NoHelp::Elsewhere) }
}

/// A time that each delivery has for itself; the date of the message is none.
fn is_arrival(column: &ColumnFact) -> bool {
    let arrivals = [
        "created_at",
        "received_at",
        "inserted_at",
        "processed_at",
        "handled_at",
        "consumed_at",
        "updated_at",
        "recorded_at",
        "creation_time",
        "processed_on",
    ];
    column.is_now || arrivals.contains(&&*column.name)
}

/// The columns of these names, as they are defined.
pub(super) fn columns(table: &TableFact, wanted: &[String]) -> Vec<KeyColumn> {
    stores::key_columns(table.columns.iter().filter(|c| wanted.contains(&c.name)))
}

/// Whether a key, without its scope, only names things of the business.
pub(super) fn is_business_only(columns: &[String]) -> bool {
    let mut rest = columns.iter().filter(|c| !is_scope(c)).peekable();
    rest.peek().is_some() && rest.all(|c| is_business(c))
}

fn is_business(column: &str) -> bool {
    let nouns = [
        "order",
        "invoice",
        "payment",
        "customer",
        "booking",
        "reservation",
        "contract",
        "product",
        "sku",
        "cart",
        "biz",
        "shipment",
        "policy",
        "claim",
        "transfer",
        "loan",
        "subscription",
        "ticket",
        "case",
    ];
    let Some((stem, last)) = column.rsplit_once('_') else { return false };
    let is_id = matches!(last, "no" | "num" | "number" | "nr" | "id" | "key" | "code" | "ref");
    is_id && stem.rsplit('_').next().is_some_and(|w| nouns.contains(&w))
}

fn is_made_for_it(column: &str) -> bool {
    matches!(
        column,
        "key"
            | "idem_key"
            | "idempotency"
            | "idempotency_token"
            | "request_token"
            | "client_token"
            | "dedup_hash"
            | "dedupe_hash"
            | "uniq_hash"
            | "message_hash"
            | "fingerprint"
    )
}

fn is_message(column: &str) -> bool {
    let things = [
        "msg",
        "message",
        "event",
        "request",
        "delivery",
        "webhook",
        "notification",
        "envelope",
        "command",
        "external",
        "telegram",
        "seq",
        "sequence",
    ];
    if is_digest(column) {
        return false;
    }
    let Some((stem, last)) = column.rsplit_once('_') else { return matches!(column, "serial" | "seq" | "sequence") };
    let is_id = matches!(last, "id" | "no" | "num" | "number" | "nr" | "key" | "hash" | "uuid" | "ref");
    is_id && stem.rsplit('_').next().is_some_and(|w| things.contains(&w))
}

/// What was asked is compared with its digest; which request it is, another column says.
fn is_digest(column: &str) -> bool {
    column == "request_hash"
}

fn is_number(column: &str) -> bool {
    !column.contains('_')
        || column.ends_with("_no")
        || column.ends_with("_number")
        || column.ends_with("_num")
        || column.ends_with("_nr")
}

fn is_sender(column: &str) -> bool {
    let stem = column.strip_suffix("_id").unwrap_or(column);
    matches!(
        stem,
        "sender"
            | "source"
            | "source_system"
            | "origin"
            | "producer"
            | "provider"
            | "channel"
            | "tenant"
            | "partner"
            | "client"
    )
}

/// Whether a column says for whom a key holds.
pub(super) fn is_scope(column: &str) -> bool {
    let stem = column.strip_suffix("_id").or(column.strip_suffix("_name")).unwrap_or(column);
    is_sender(column)
        || matches!(
            stem,
            "consumer"
                | "consumer_group"
                | "handler"
                | "user"
                | "account"
                | "endpoint"
                | "subscriber"
                | "org"
                | "organization"
                | "merchant"
                | "service"
                | "queue"
                | "topic"
                | "method"
                | "request_path"
                | "request_method"
                | "operation"
                | "scope"
                | "type"
        )
}

/// Whether a column ties the record to something else and identifies no message.
fn is_other(column: &str) -> bool {
    [
        "correlation",
        "trace",
        "span",
        "causation",
        "parent",
        "session",
        "worker",
        "lock",
        "batch",
        "aggregate",
        "response",
        "result",
        "status",
    ]
    .iter()
    .any(|w| column.split('_').any(|part| part == *w))
}
