//! Tables that remember which requests or messages were already processed.

use super::Confidence;
use crate::source::Span;

/// A table in which a repeated request or a redelivered message is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// The table, as written.
    pub table: String,
    /// What it remembers.
    pub kind: StoreKind,
    /// Its `CREATE TABLE`.
    pub place: Span,
    /// What stops a second record of one message.
    pub unique: Unique,
    /// Whether it keeps the first response.
    pub response: StoredResponse,
    /// How sure it is that the table is one of these.
    pub confidence: Confidence,
}

/// What a store remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// Requests, whose callers wait for an answer.
    Requests,
    /// Messages and events, which nobody waits for.
    Messages,
    /// Things of its own business, each with the key of the request that made it.
    Business,
}

/// What stops a second record of one message.
#[derive(Debug, Clone, PartialEq)]
pub enum Unique {
    /// A PRIMARY KEY or UNIQUE on its key.
    On {
        /// The columns.
        columns: Vec<KeyColumn>,
        /// Whether they only name a thing of the business, to which several messages can refer.
        business_only: bool,
    },
    /// Nothing.
    Missing {
        /// The columns that would be the key.
        key: Vec<KeyColumn>,
        /// A unique key that does not help, and why.
        other: Option<(String, NoHelp)>,
    },
    /// Not to be told.
    Unknown,
}

/// Why a unique key stops no second record of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoHelp {
    /// Its value is made anew for each record.
    MadeAnew,
    /// A time of arrival belongs to it.
    HasTime,
    /// It holds for some records only.
    Partial,
    /// It says nothing of the message.
    Elsewhere,
}

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name, as written.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
}

/// Whether a store keeps the first response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredResponse {
    /// It does.
    Kept,
    /// It does not.
    Missing,
    /// Nobody waits for one, or it cannot be told.
    NotNeeded,
}
