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
    /// For people, at the beginning of a sentence: "`requeue`", "Container sqs of CronJob redrive".
    pub name: String,
    /// The loop that sends them back, else the call.
    pub place: Span,
    /// What is missing, each once, in the order of the variants.
    pub lacks: Vec<RedriveLack>,
    /// What would mend it.
    pub advice: Option<String>,
    /// What the consumer that gets them is seen to send on without a key by which a repetition is told; linking fills
    /// it in.
    pub sent_on: Option<Span>,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// What sending dead letters back lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedriveLack {
    /// Nothing bounds how many go at once, or how fast.
    Bound,
    /// Whatever the cause of the failure, all go.
    Choice,
    /// Nothing tells afterwards who sent how many back.
    Record,
    /// It runs by a schedule, with no person who looks first.
    Person,
}

/// Something that is run again from its start when it fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerun {
    /// For people, at the beginning of a sentence: "Job payouts".
    pub job: String,
    /// What says that it is run again.
    pub place: Span,
    /// How often it is run in all, if known.
    pub attempts: Option<u64>,
    /// What is done again.
    pub what: Redone,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// What a rerun does a second time.
#[derive(Debug, Clone, PartialEq)]
pub enum Redone {
    /// The items of a batch that were done before the failure.
    Items {
        /// The loop over them.
        items: Span,
        /// What is done with each of them, and cannot be done twice.
        effect: Span,
        /// What it is: "a POST for each", "an INSERT for each".
        does: String,
    },
    /// Steps that had succeeded.
    Steps {
        /// Where they are listed.
        span: Span,
        /// What they are: "every task of the DAG".
        what: String,
    },
    /// All, because an argument says so.
    FromStart {
        /// The argument.
        span: Span,
    },
}
