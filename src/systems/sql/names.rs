//! What names say: stores of handled messages, dead letters, and the columns of their records.

/// A name in snake case: `"Dispatched"At`, `dbo.InboxState` and `[dbo].[inbox_state]` end alike.
pub(super) fn snake(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let last = last.trim_matches(['"', '`', '[', ']', ' ', '@', ':', '#']);
    let mut out = String::with_capacity(last.len() + 4);
    let mut previous = '_';
    for c in last.chars() {
        if c.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit()) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        previous = c;
    }
    out
}

/// What a table holds, by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Messages or requests that were handled: a redelivery is looked up here.
    Store,
    /// A store if it also has a column that identifies a message.
    Perhaps,
    /// Messages that failed.
    DeadLetters,
    /// Something else for sure, whatever its columns: an outbox, a queue of jobs, a history, a business table.
    Other,
    /// The name does not tell.
    Unknown,
}

/// Reads a table's name (as [`snake`] gives it).
pub(super) fn table(name: &str) -> Named {
    let words: Vec<&str> = name.split('_').filter(|w| !w.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    let ends = |endings: &[&str]| words.last().is_some_and(|w| endings.contains(w));
    if is_dead_letters(name, &words) {
        return Named::DeadLetters;
    }
    if name.ends_with("outbox_data") || is_inbox(&words) || is_idempotency(&words) || is_handled(&words) {
        return Named::Store;
    }
    let is_dedupe = words.iter().any(|w| matches!(*w, "dedup" | "dedupe" | "deduplication" | "deduplications"));
    if (is_dedupe && words.len() <= 3) || name == "wolverine_incoming_envelopes" {
        return Named::Store;
    }
    if has("outbox") || ends(&["history", "audit", "migrations", "jobs", "job"]) || is_business(&words) {
        return Named::Other;
    }
    let logs = [
        "webhook_events",
        "webhook_event",
        "stripe_events",
        "stripe_webhook_events",
        "event_log",
        "message_log",
        "request_log",
    ];
    if logs.contains(&name) { Named::Perhaps } else { Named::Unknown }
}

fn is_dead_letters(name: &str, words: &[&str]) -> bool {
    name.contains("dead_letter")
        || name.contains("deadletter")
        || words.iter().any(|w| matches!(*w, "dlq" | "dlqs" | "dlt"))
        || matches!(name, "parked_messages" | "poison_messages" | "failed_messages" | "failed_events")
}

fn is_inbox(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|w| *w == "inbox") else { return false };
    let (before, after) = (words.get(..at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default());
    let records = [
        "log", "logs", "state", "states", "message", "messages", "event", "events", "entry", "entries", "record",
        "records",
    ];
    let is_mail = before
        .iter()
        .any(|w| matches!(*w, "user" | "users" | "mail" | "email" | "chat" | "notification" | "notifications"));
    !is_mail && before.len() <= 2 && after.len() <= 1 && after.iter().all(|w| records.contains(w))
}

/// Whether a table is called the inbox of something: `secrets_inbox`.
pub(super) fn is_inbox_of_something(name: &str) -> bool {
    name.split('_').filter(|w| !w.is_empty()).position(|w| w == "inbox").is_some_and(|at| at > 0)
}

fn is_idempotency(words: &[&str]) -> bool {
    let is_root = |w: &&str| matches!(*w, "idempotency" | "idempotent" | "idempotence");
    let Some(at) = words.iter().position(is_root) else { return false };
    let records = [
        "key",
        "keys",
        "record",
        "records",
        "request",
        "requests",
        "entry",
        "entries",
        "log",
        "logs",
        "store",
        "token",
        "tokens",
        "response",
        "responses",
    ];
    words.get(at + 1..).unwrap_or_default().iter().all(|w| records.contains(w))
}

fn is_handled(words: &[&str]) -> bool {
    let things = [
        "message", "messages", "event", "events", "webhook", "webhooks", "command", "commands", "request", "requests",
        "ids",
    ];
    match words {
        ["processed", .., last] => things.contains(last),
        ["received" | "consumed" | "handled" | "seen", last] => things.contains(last),
        _ => false,
    }
}

fn is_business(words: &[&str]) -> bool {
    let nouns = [
        "payment",
        "order",
        "invoice",
        "booking",
        "charge",
        "transaction",
        "customer",
        "user",
        "account",
        "reservation",
        "transfer",
        "refund",
        "shipment",
        "cart",
        "subscription",
        "product",
        "session",
        "payout",
        "ledger",
    ];
    words.last().is_some_and(|w| nouns.contains(&w.strip_suffix('s').unwrap_or(w)))
}

/// Whether a column (in snake case) holds a time.
pub(super) fn is_time(column: &str) -> bool {
    let last = column.rsplit('_').next().unwrap_or(column);
    let stamps = [
        "at",
        "on",
        "time",
        "date",
        "datetime",
        "ts",
        "timestamp",
        "until",
        "utc",
        "expires",
        "expiry",
        "expiration",
        "expired",
        "created",
        "inserted",
        "received",
        "delivered",
        "updated",
        "modified",
        "added",
    ];
    (column.contains('_') || !matches!(last, "at" | "on")) && stamps.contains(&last)
        || column.starts_with("expires")
        || column.ends_with("time")
        || column.ends_with("date")
        || column.ends_with("timestamp")
}

/// Whether a column tells how far a record has come.
pub(super) fn is_status(column: &str) -> bool {
    let states = [
        "status",
        "state",
        "phase",
        "outcome",
        "stage",
        "processed",
        "handled",
        "done",
        "completed",
        "complete",
        "finished",
        "dispatched",
        "acknowledged",
        "acked",
        "consumed",
        "sent",
        "published",
        "success",
        "succeeded",
        "successful",
        "failed",
        "resolved",
    ];
    let last = column.rsplit('_').next().unwrap_or(column);
    states.contains(&last) || column.starts_with("is_") || column.starts_with("has_been_") || column.ends_with("_flag")
}

/// Whether a column fixes one record, or the records of one message.
pub(super) fn is_key(column: &str) -> bool {
    let scopes = [
        "consumer",
        "handler",
        "tenant",
        "user",
        "account",
        "endpoint",
        "worker",
        "source",
        "customer",
        "partner",
        "client",
        "org",
        "organization",
        "organisation",
        "group",
        "subscriber",
        "queue",
        "topic",
        "service",
        "instance",
        "node",
        "type",
        "merchant",
    ];
    if matches!(column, "id" | "key" | "uuid" | "guid" | "ulid" | "hash" | "ctid" | "rowid") {
        return true;
    }
    let Some((stem, last)) = column.rsplit_once('_') else { return false };
    let is_scope = stem.rsplit('_').next().is_some_and(|w| scopes.contains(&w));
    let kinds =
        ["id", "ids", "key", "no", "num", "number", "nr", "hash", "uuid", "guid", "ref", "fingerprint", "nonce"];
    kinds.contains(&last) && !is_scope
}

/// Whether a column identifies a message: with it, a table that is named like a log is a store.
pub(super) fn is_message_key(column: &str) -> bool {
    matches!(column, "event_id" | "message_id" | "external_event_id") || is_idempotency_key(column)
}

/// Whether a column holds a key made for idempotency.
pub(super) fn is_idempotency_key(column: &str) -> bool {
    let (stem, last) = column.rsplit_once('_').unwrap_or((column, ""));
    let is_root = matches!(stem, "idempotency" | "idempotence" | "dedup" | "dedupe" | "deduplication")
        && matches!(last, "key" | "id");
    is_root || column == "request_key"
}
