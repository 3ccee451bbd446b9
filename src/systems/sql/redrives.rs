//! Statements that send dead letters back: an INSERT of them into a queue, an UPDATE that has them tried again.

use super::cursor::Cursor;
use super::lex::{Kind, Token};
use super::names::{self, Named};
use super::purges::is_trial;
use super::split;
use crate::facts::Facts;
use crate::model::{Confidence, Redrive, RedriveLack};
use crate::source::SourceFile;

/// Adds the redrives of an SQL script.
pub(super) fn extract(file: &SourceFile, facts: &mut Facts) {
    let text = &*file.text;
    if is_trial(&file.path) || !mentions(text) {
        return;
    }
    split::statements(text, 0..text.len(), |tokens, _| {
        facts.redrives.extend(redrive(file, text, tokens));
    });
}

/// Whether a text may name a table of dead letters at all.
fn mentions(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["dead", "dlq", "dlt", "parked", "poison", "failed_"].iter().any(|w| text.contains(w))
}

fn redrive(file: &SourceFile, text: &str, tokens: &[Token]) -> Option<Redrive> {
    let whole = Cursor::new(text, tokens);
    let verb = tokens.iter().position(|t| whole.is_word(t, &["INSERT", "UPDATE"]))?;
    // What a trigger or a grant speaks of is not done here.
    if !whole.is(&["INSERT", "UPDATE", "WITH"]) {
        return None;
    }
    let mut cursor = whole;
    cursor.skip(verb);
    let start = cursor.first()?.range.start;
    let (from, to) = match cursor.eat(&["INSERT"]) {
        true => {
            cursor.eat_all(&["IGNORE", "OR", "INTO"]);
            let target = cursor.name()?;
            if !is_queue(&names::snake(cursor.word(target))) || !cursor.has(&["SELECT"]) {
                return None;
            }
            (dead_letters(whole, &["FROM", "JOIN"])?, target)
        }
        false => {
            cursor.eat(&["UPDATE"]);
            cursor.eat(&["ONLY"]);
            let target = cursor.name()?;
            if !is_dead_letters(cursor.word(target)) || !has_tried_again(cursor) {
                return None;
            }
            (cursor.word(target).to_owned(), target)
        }
    };
    let conditions = conditions(whole);
    let is_bounded = whole.has(&["LIMIT", "TOP", "FETCH", "ROWNUM"]);
    if fixes_key(conditions) {
        return None;
    }
    let mut lacks = Vec::new();
    lacks.extend((!is_bounded).then_some(RedriveLack::Bound));
    lacks.extend(conditions.rest().is_empty().then_some(RedriveLack::Choice));
    Some(Redrive {
        name: format!("This statement on {from}"),
        place: file.span(start..to.range.end),
        lacks,
        advice: Some(format!(
            "`WHERE id IN (SELECT id FROM {from} WHERE reason LIKE '...' ORDER BY first_failed_at LIMIT 50)`"
        )),
        sent_on: None,
        confidence: Confidence::Medium,
    })
}

fn is_dead_letters(name: &str) -> bool {
    names::table(&names::snake(name)) == Named::DeadLetters
}

/// Whether a table is one that workers take their work from.
fn is_queue(table: &str) -> bool {
    let queues = [
        "queue", "queues", "job", "jobs", "inbox", "outbox", "task", "tasks", "message", "messages", "event", "events",
        "pending", "incoming", "work",
    ];
    let others = ["archive", "archived", "history", "backup", "old", "log", "processed"];
    let mut words = table.split('_');
    !is_dead_letters(table) && words.clone().any(|w| queues.contains(&w)) && !words.any(|w| others.contains(&w))
}

/// The table of dead letters that follows one of these words.
fn dead_letters(whole: Cursor<'_>, after: &[&str]) -> Option<String> {
    let tokens = whole.rest();
    tokens.iter().enumerate().filter(|(_, t)| whole.is_word(t, after)).find_map(|(at, _)| {
        let mut here = whole;
        here.skip(at + 1);
        let name = here.name()?;
        is_dead_letters(here.word(name)).then(|| here.word(name).to_owned())
    })
}

/// Whether an UPDATE sets what makes its records be tried again.
fn has_tried_again(cursor: Cursor<'_>) -> bool {
    let set = cursor.rest().iter().take_while(|t| !cursor.is_word(t, &["WHERE"]));
    let words: Vec<String> = set
        .filter(|t| matches!(t.kind, Kind::Word | Kind::Name | Kind::Text | Kind::Number))
        .map(|t| names::snake(cursor.word(t)))
        .collect();
    words.windows(2).any(|pair| match pair {
        [column, value] => match column.as_str() {
            "replayable" | "replay" | "requeue" | "retry" | "retryable" => matches!(value.as_str(), "true" | "1"),
            "status" | "state" => {
                matches!(value.as_str(), "pending" | "queued" | "ready" | "retry" | "retrying" | "new" | "replay")
            }
            _ => false,
        },
        _ => false,
    })
}

/// What follows the first WHERE.
fn conditions(whole: Cursor<'_>) -> Cursor<'_> {
    let mut conditions = whole;
    let at = whole.rest().iter().position(|t| whole.is_word(t, &["WHERE"]));
    conditions.skip(at.map_or(usize::MAX, |n| n + 1));
    conditions
}

/// Whether one record, or a list of them, is named.
fn fixes_key(conditions: Cursor<'_>) -> bool {
    let tokens = conditions.rest();
    tokens.windows(3).any(|three| match three {
        [name, next, after] => {
            let is_equal = next.kind == Kind::Mark(b'=');
            let is_listed = conditions.is_word(next, &["IN"]);
            let is_key =
                matches!(name.kind, Kind::Word | Kind::Name) && names::is_key(&names::snake(conditions.word(name)));
            let is_value = after.kind != Kind::Name
                && !(after.kind == Kind::Word && is_equal && is_column(conditions.word(after)));
            is_key && (is_equal && is_value || is_listed && !conditions.has(&["SELECT"]))
        }
        _ => false,
    })
}

/// Whether a word is a column and no parameter: `$1`, `:id`, `@id`.
fn is_column(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
