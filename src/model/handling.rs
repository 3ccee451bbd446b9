//! What code does about messages that come twice, that failed, or that a rerun repeats.

use super::Confidence;
use crate::source::Span;

/// A look into a store, and an insert if nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckThenInsert {
    /// The table.
    pub table: String,
    /// The function that does both.
    pub function: String,
    /// The SELECT.
    pub select: Span,
    /// The INSERT.
    pub insert: Span,
    /// Whether a constraint keeps the second record out: then only the work is done twice.
    pub constrained: bool,
    /// Whether a lock holds within one process.
    pub locked: bool,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// Dead letters that are sent back.
#[derive(Debug, Clone, PartialEq)]
pub struct Redrive {
    /// For people: "`requeue`", "the script".
    pub name: String,
    /// The loop that sends them back, else the call.
    pub place: Span,
    /// Whether something bounds how many go at once, or how fast.
    pub is_throttled: bool,
    /// Whether who sent how many back is written down.
    pub is_recorded: bool,
    /// What would bound it.
    pub advice: String,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// A batch that is run again from its start when it fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerun {
    /// The job: "Job payouts".
    pub job: String,
    /// What says that it is run again.
    pub place: Span,
    /// How often it is run in all, if known.
    pub attempts: Option<u64>,
    /// The loop over the items.
    pub items: Span,
    /// What is done with each of them, and cannot be done twice.
    pub effect: Span,
    /// What it is: "POSTs", "inserts".
    pub does: String,
    /// How sure the reading is.
    pub confidence: Confidence,
}
