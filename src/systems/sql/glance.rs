//! What a single statement is about, for code that runs it: its verb, its table, and what it does about a second record.

use super::cursor::Cursor;
use super::lex::Kind;
use super::names::{self, Named};
use super::split;

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// SELECT
    Select,
    /// INSERT, and what replaces or ignores.
    Insert,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
}

/// A statement at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// What it does.
    pub verb: Verb,
    /// Where the verb stands in the text.
    pub at: usize,
    /// The table, in snake case.
    pub table: String,
    /// Whether the table is named as one that remembers requests or messages.
    pub is_store: bool,
    /// The words of its conditions, in snake case.
    pub conditions: Vec<String>,
    /// The columns that an INSERT names.
    pub columns: Vec<String>,
    /// Whether a second record is let pass or replaced without an error.
    pub has_conflict_clause: bool,
    /// Whether it passes over rows that are locked, as workers do that share a table.
    pub skips_locked: bool,
    /// Whether it takes a number of records only.
    pub is_limited: bool,
    /// Whether a condition fixes the key of a record: `id = $1`.
    pub fixes_key: bool,
    /// Where an INSERT asks in the same statement whether its table has the record already: `WHERE NOT EXISTS (..)`.
    pub asks_at: Option<usize>,
}

/// Whether a column (in snake case) tells how far a record has come.
pub fn is_status(column: &str) -> bool {
    names::is_status(column)
}

/// Whether a table (in snake case) remembers requests or messages, by its name.
pub fn is_store(table: &str) -> bool {
    names::table(table) == Named::Store
}

/// Whether a table (in snake case) holds dead letters, by its name.
pub fn is_dead_letters(table: &str) -> bool {
    names::table(table) == Named::DeadLetters
}

/// Reads the first statement of a text, if it is one of these.
pub fn glance(text: &str) -> Option<Glance> {
    let start = text.trim_start();
    let is_sql = ["select", "insert", "with", "update", "delete", "replace", "merge"]
        .iter()
        .any(|verb| start.get(..verb.len()).is_some_and(|s| s.eq_ignore_ascii_case(verb)));
    if !is_sql {
        return None;
    }
    let mut found = None;
    split::statements(text, 0..text.len(), |tokens, _| {
        if found.is_none() {
            found = statement(Cursor::new(text, tokens));
        }
    });
    found
}

fn statement(whole: Cursor<'_>) -> Option<Glance> {
    let mut cursor = whole;
    // After common tables comes the verb.
    if cursor.is(&["WITH"]) {
        while cursor.first().is_some() && !cursor.is(&["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"]) {
            if cursor.group().is_none() {
                cursor.skip(1);
            }
        }
    }
    let at = cursor.first()?.range.start;
    let mut has_conflict_clause = cursor.is(&["REPLACE", "MERGE"]);
    let verb = match () {
        () if cursor.eat(&["SELECT"]) => Verb::Select,
        () if cursor.eat(&["INSERT", "REPLACE", "MERGE"]) => Verb::Insert,
        () if cursor.eat(&["UPDATE"]) => Verb::Update,
        () if cursor.eat(&["DELETE"]) => Verb::Delete,
        () => return None,
    };
    match verb {
        Verb::Select | Verb::Delete => {
            let from = cursor.rest().iter().position(|t| cursor.is_word(t, &["FROM"]))?;
            cursor.skip(from + 1);
            cursor.eat(&["ONLY"]);
        }
        Verb::Insert => {
            has_conflict_clause |= cursor.is(&["OR", "IGNORE"]);
            cursor.eat_all(&["OR", "IGNORE", "REPLACE", "ABORT", "FAIL", "ROLLBACK", "INTO"]);
        }
        Verb::Update => drop(cursor.eat(&["ONLY"])),
    }
    let table = cursor.name()?;
    let table = names::snake(cursor.word(table));
    let columns = match (verb, cursor.clone().group()) {
        (Verb::Insert, Some(group)) => words(Cursor::new(cursor.text, group)),
        _ => Vec::new(),
    };
    let mut conditions = cursor;
    let filter = cursor.rest().iter().position(|t| cursor.is_word(t, &["WHERE"]));
    conditions.skip(filter.map_or(usize::MAX, |n| n + 1));
    has_conflict_clause |= verb == Verb::Insert && cursor.has(&["CONFLICT", "DUPLICATE"]);
    let fixes_key = fixes_key(conditions);
    let conditions = words(conditions);
    let is_key = |c: &String| names::is_message_key(c);
    let is_store = match names::table(&table) {
        Named::Store => true,
        Named::Perhaps => conditions.iter().chain(&columns).any(is_key),
        _ => false,
    };
    let own = table.clone();
    Some(Glance {
        verb,
        at,
        is_store,
        table,
        conditions,
        columns,
        has_conflict_clause,
        skips_locked: cursor.has(&["SKIP"]),
        is_limited: whole.has(&["LIMIT", "TOP", "FETCH", "ROWNUM"]),
        fixes_key,
        asks_at: if verb == Verb::Insert { asks(cursor, &own) } else { None },
    })
}

/// Where `NOT EXISTS (SELECT .. FROM table ..)` stands.
fn asks(cursor: Cursor<'_>, table: &str) -> Option<usize> {
    let mut rest = cursor;
    while let Some(first) = rest.first() {
        rest.skip(1);
        if !rest.is_word(first, &["NOT"]) || !rest.eat(&["EXISTS"]) {
            continue;
        }
        let mut inner = Cursor::new(rest.text, rest.clone().group()?);
        let from = inner.rest().iter().position(|t| inner.is_word(t, &["FROM"]));
        inner.skip(from.map_or(usize::MAX, |n| n + 1));
        if inner.name().is_some_and(|name| names::snake(inner.word(name)) == table) {
            return Some(first.range.start);
        }
    }
    None
}

/// Whether a key equals a value, or one of several.
fn fixes_key(conditions: Cursor<'_>) -> bool {
    conditions.rest().windows(2).any(|pair| match pair {
        [name, next] => {
            let equals = next.kind == Kind::Mark(b'=') || conditions.is_word(next, &["IN"]);
            matches!(name.kind, Kind::Word | Kind::Name)
                && equals
                && names::is_key(&names::snake(conditions.word(name)))
        }
        _ => false,
    })
}

fn words(cursor: Cursor<'_>) -> Vec<String> {
    let words = cursor.rest().iter().filter(|t| matches!(t.kind, Kind::Word | Kind::Name));
    words.map(|t| names::snake(cursor.word(t))).collect()
}
