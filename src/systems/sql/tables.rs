//! Which tables are stores of handled messages or dead letters: by their names, and by the columns that the file creates.

use std::collections::BTreeMap;

use super::lex::{Kind, Token};
use super::names::{self, Named};
use crate::model::Keeps;

/// The tables that a text creates: snake-case name, then its columns with their types.
#[derive(Debug, Default)]
pub(super) struct Tables {
    columns: BTreeMap<String, Vec<(String, String)>>,
}

impl Tables {
    /// What the table keeps, if a purge of it matters; `used` are the columns that the statement itself names.
    pub(super) fn store(&self, table: &str, used: &[String]) -> Option<Keeps> {
        let name = names::snake(table);
        let created = self.columns.get(&name).map(Vec::as_slice).unwrap_or_default();
        let has = |wanted: fn(&str) -> bool| created.iter().map(|(c, _)| c).chain(used).any(|c| wanted(c));
        match names::table(&name) {
            Named::Store => Some(Keeps::Handled),
            Named::DeadLetters => Some(Keeps::DeadLetters),
            Named::Perhaps => has(names::is_message_key).then_some(Keeps::Handled),
            Named::Unknown => (score(created.iter().map(|(c, _)| &**c)) >= 3).then_some(Keeps::Handled),
            Named::Other => None,
        }
    }

    /// Whether a column holds a time: by the type that the file gives it, else by its name.
    pub(super) fn is_time(&self, table: &str, column: &str) -> bool {
        let created = self.columns.get(&names::snake(table));
        let of_type = created.and_then(|all| all.iter().find(|(c, _)| c == column)).map(|(_, kind)| kind.as_str());
        names::is_time(column) || of_type.is_some_and(|t| t.starts_with("timestamp") || t.starts_with("date"))
    }

    /// The column that tells how old a record is, where the file says which columns there are.
    pub(super) fn time(&self, table: &str) -> Option<&str> {
        let created = self.columns.get(&names::snake(table))?;
        let times = || created.iter().map(|(c, _)| c.as_str()).filter(|c| self.is_time(table, c));
        times()
            .find(|c| ["created", "received", "processed", "inserted"].iter().any(|w| c.starts_with(w)))
            .or(times().next())
    }

    /// Adds the table of a `CREATE TABLE name (..)`.
    pub(super) fn add(&mut self, text: &str, tokens: &[Token]) {
        let word = |t: &Token| text.get(t.inner.clone()).unwrap_or("");
        let is = |t: &Token, wanted: &str| t.kind == Kind::Word && word(t).eq_ignore_ascii_case(wanted);
        let Some(at) = tokens.iter().take(6).position(|t| is(t, "TABLE")) else { return };
        if !tokens.first().is_some_and(|t| is(t, "CREATE")) {
            return;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let Some(open) = rest.iter().position(|t| t.kind == Kind::Mark(b'(')) else { return };
        let Some(name) = rest.get(..open).and_then(|head| head.iter().rev().find(|t| is_name(t))) else { return };
        let mut columns = Vec::new();
        let mut depth = 0usize;
        let mut is_first = true;
        for (i, token) in rest.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') if depth <= 1 => break,
                Kind::Mark(b')') => depth -= 1,
                Kind::Mark(b',') if depth == 1 => is_first = true,
                Kind::Word | Kind::Name if is_first => {
                    is_first = false;
                    let kind = rest.get(i + 1).map(|t| word(t).to_ascii_lowercase()).unwrap_or_default();
                    let is_constraint = token.kind == Kind::Word && CONSTRAINTS.iter().any(|c| is(token, c));
                    if !is_constraint {
                        columns.push((names::snake(word(token)), kind));
                    }
                }
                _ => {}
            }
        }
        self.columns.insert(names::snake(word(name)), columns);
    }
}

const CONSTRAINTS: &[&str] = &[
    "CONSTRAINT",
    "PRIMARY",
    "UNIQUE",
    "KEY",
    "INDEX",
    "CHECK",
    "FOREIGN",
    "EXCLUDE",
    "LIKE",
    "FULLTEXT",
    "SPATIAL",
    "PERIOD",
];

fn is_name(token: &Token) -> bool {
    matches!(token.kind, Kind::Word | Kind::Name)
}

/// How much the columns look like those of a store.
pub(super) fn score<'c>(columns: impl Iterator<Item = &'c str> + Clone) -> u32 {
    let any = |wanted: fn(&str) -> bool| u32::from(columns.clone().any(wanted));
    let is_job = any(|c| matches!(c, "attempts" | "run_at" | "locked_by" | "locked_at")) > 0;
    let is_outbox =
        any(|c| matches!(c, "aggregatetype" | "aggregate_type" | "aggregate_id")) > 0 && any(|c| c == "payload") > 0;
    if is_job || is_outbox {
        return 0;
    }
    let key = |c: &str| {
        matches!(c, "message_id" | "msg_id" | "event_id" | "request_id" | "external_id" | "message_hash" | "uniq_hash")
    };
    let consumer = |c: &str| matches!(c, "consumer" | "handler" | "consumer_id" | "consumer_group" | "subscriber");
    let time = |c: &str| matches!(c, "processed_at" | "received_at" | "handled_at" | "consumed_at" | "dispatched_at");
    let response = |c: &str| {
        c.starts_with("response") || matches!(c, "result" | "result_json" | "outcome" | "reply" | "status_code")
    };
    2 * any(names::is_idempotency_key) + any(key) + any(consumer) + any(time) + any(response)
}
