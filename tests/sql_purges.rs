//! The SQL fixtures as a whole: which statements purge, and how.

#![allow(clippy::unwrap_used)] // A test that cannot go on should stop.

use retrylint::facts::Facts;
use retrylint::model::PurgeBound::{self, Age, Count, Other, Status};
use retrylint::source::{FileId, LineIndex, SourceFile};
use retrylint::systems::sql::purges;

/// Line, table and bound of each purge of a fixture.
fn purges_of(name: &str) -> Vec<(u32, String, PurgeBound)> {
    let path = format!("{}/fixtures/sql/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let file = SourceFile { id: FileId(0), path: name.into(), text: text.as_str().into() };
    let mut facts = Facts::default();
    purges::extract(&file, &mut facts);
    assert_eq!(facts.unread, []);
    let lines = LineIndex::new(&text);
    facts.purges.iter().map(|p| (lines.position(&text, p.place.start).line, p.table.clone(), p.bound)).collect()
}

#[test]
fn postgres() {
    assert_eq!(purges_of("postgres/schema.sql"), []);
    let expected = [
        (3, "processed_events", Age),
        (16, "idempotency_keys", Count),
        (23, "processed_events", Status),
        (33, "dead_letters", Count),
        (36, "idempotency_keys", Other),
        (39, "processed_events", Other),
    ];
    assert_eq!(purges_of("postgres/jobs.sql"), expected.map(|(line, table, bound)| (line, table.to_string(), bound)));
}

#[test]
fn mysql() {
    let expected = [(18, "inbox", Age), (27, "inbox", Count), (32, "`inbox`", Status)];
    assert_eq!(purges_of("mysql/inbox.sql"), expected.map(|(line, table, bound)| (line, table.to_string(), bound)));
}

#[test]
fn sql_server() {
    let expected = [(15, "[dbo].[InboxState]", Age), (28, "[dbo].[InboxState]", Count)];
    assert_eq!(purges_of("sqlserver/purge.sql"), expected.map(|(line, table, bound)| (line, table.to_string(), bound)));
}
