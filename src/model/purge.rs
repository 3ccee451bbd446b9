//! Statements that delete old records.

use std::time::Duration;

use crate::source::Span;

/// A statement that purges a table whose records must outlive every redelivery.
#[derive(Debug, Clone, PartialEq)]
pub struct Purge {
    /// The table, as written.
    pub table: String,
    /// What its records are.
    pub keeps: Keeps,
    /// Where findings point: the DELETE (trim, eviction setting).
    pub place: Span,
    /// What chooses the victims.
    pub bound: PurgeBound,
    /// The part of the statement that does, for a label.
    pub bound_span: Option<Span>,
    /// How old a record is at least when it goes, and where that is written.
    pub age: Option<(Duration, Span)>,
    /// What to write instead, as its language has it: "`DELETE FROM inbox WHERE ...`".
    pub advice: Option<String>,
    /// Whether an age bounds it as well, so that it matters under load only: findings are one level lower.
    pub minor: bool,
}

/// How a purge chooses what goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeBound {
    /// By age: right, however batched.
    Age,
    /// By number or by order: the oldest N, all but the newest N.
    Count,
    /// By the room that they take: all above so many bytes.
    Size,
    /// By a status alone: a record that is done goes at once.
    Status,
    /// Everything.
    Everything,
    /// By key, duplicates only, or in a way that cannot be read: no finding.
    Other,
}

/// What the records of a purged table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// Messages or requests that were handled: a redelivery is looked up here.
    Handled,
    /// Messages that failed, for somebody to look at.
    DeadLetters,
}
