//! Queues, what becomes of messages that nobody can process, and who hears of it.

use std::sync::Arc;
use std::time::Duration;

use super::{Confidence, Setting};
use crate::source::{FileId, Span};

/// An index into [`super::Model::queues`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueIx(pub u32);

/// An index into [`super::Model::alarms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlarmIx(pub u32);

/// How settings, alarms and code refer to a queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueRef {
    /// By the name it has where it runs, or by the last part of its URL or ARN.
    Name(String),
    /// By an id that holds within one file: a template's logical id.
    Object {
        /// The file.
        file: FileId,
        /// The id.
        id: String,
    },
}

/// Where messages wait, or a subscription or consumer that hands them over again when they fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue {
    /// System, kind, object; no file, no line.
    pub id: Arc<str>,
    /// What runs it: references and metrics find queues of the same service only. "sqs", "rabbitmq", "kafka".
    pub service: &'static str,
    /// For people: "SQS queue orders".
    pub name: String,
    /// What it is called, everywhere.
    pub names: Vec<QueueRef>,
    /// Where findings point: the queue, or the delivery limit of a consumer.
    pub place: Span,
    /// What becomes of a message that keeps failing where no dead-letter destination is set; completes "a message
    /// that keeps failing ...": "comes back every 30 s until it is 4 days old, and is then deleted".
    pub otherwise: String,
    /// Where messages go that keep failing.
    pub dead_letter: DeadLetter,
    /// Whether its settings themselves say that it holds dead letters.
    pub holds_dead_letters: bool,
    /// Whether losing a message matters little, or the platform tries for weeks: findings are one level lower.
    pub minor: bool,
    /// How long a message is kept.
    pub retention: Option<Setting<Duration>>,
    /// How long after its first delivery a message can be handed over again, where it is not how long it is kept.
    pub redelivers: Option<Setting<Duration>>,
    /// Whether the age that ends a message counts from when it was first sent, also after it has been moved here.
    pub ages_from_first_send: bool,
    /// How to name a dead-letter destination here.
    pub advice: Option<String>,
    /// How sure the reading is.
    pub confidence: Confidence,
    /// The queues whose dead letters come here; linking fills it in.
    pub dead_letters_of: Vec<QueueIx>,
    /// The alarms that watch it; linking fills it in.
    pub alarms: Vec<AlarmIx>,
}

impl Queue {
    /// Whether it holds dead letters: another one sends them here, its settings say so, or its name does.
    pub fn is_for_dead_letters(&self) -> bool {
        let named = |name: &QueueRef| match name {
            QueueRef::Name(name) | QueueRef::Object { id: name, .. } => names_dead_letters(name),
        };
        !self.dead_letters_of.is_empty() || self.holds_dead_letters || self.names.iter().any(named)
    }
}

/// Where messages go that keep failing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadLetter {
    /// Nowhere.
    None,
    /// To another queue.
    To {
        /// Which.
        target: QueueRef,
        /// Where that is set.
        place: Span,
    },
    /// To a store that the service always has.
    BuiltIn,
    /// Nothing can be said: the value is not known, or nothing is given up here.
    Unknown,
}

/// What must be known of a message that was given up, so that it can be judged and sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordPart {
    /// The whole message as it came.
    Original,
    /// What went wrong.
    Reason,
    /// How often it was tried.
    Attempts,
    /// When it failed first.
    FirstFailure,
    /// When it failed last.
    LastFailure,
    /// What ties it to the rest of its request.
    Trace,
}

impl RecordPart {
    /// For a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "the original message",
            Self::Reason => "the reason",
            Self::Attempts => "the number of attempts",
            Self::FirstFailure => "the time of the first failure",
            Self::LastFailure => "the time of the last failure",
            Self::Trace => "a trace id",
        }
    }
}

/// A place that makes dead-letter records which lack something.
#[derive(Debug, Clone, PartialEq)]
pub struct IncompleteRecord {
    /// For people: "dead letters of Kafka connector search-sink".
    pub name: String,
    /// Where the record is made.
    pub place: Span,
    /// What stands there, in a few words.
    pub reading: String,
    /// What is missing.
    pub missing: Vec<RecordPart>,
    /// What to write.
    pub advice: Option<String>,
    /// Whether little is lost: the finding is one level lower.
    pub minor: bool,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// A rule that tells somebody when a number passes a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    /// For people: "alarm OrdersDlqDeep".
    pub name: String,
    /// The alarm.
    pub place: Span,
    /// Its threshold or expression.
    pub threshold_place: Span,
    /// The queues it looks at; empty where it looks at something else.
    pub watches: Vec<Watch>,
    /// From which number on.
    pub fires: Fires,
    /// Whether somebody hears of it. `Some(false)`: nobody; `None`: not to be told from here.
    pub notifies: Option<bool>,
}

/// The service of dead letters of which only a metric is known: it is called as the metric.
pub const OF_METRIC: &str = "metric";

/// Which queues an alarm looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Of which service.
    pub service: &'static str,
    /// Which of them.
    pub which: Which,
}

/// A choice of queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// This one.
    One(QueueRef),
    /// Those whose name passes every test.
    Matching(Vec<NameTest>),
    /// Every one.
    All,
    /// Not known.
    Unknown,
}

/// A test of a name: a regular expression that must match the whole of it, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTest {
    /// The expression.
    pub pattern: String,
    /// Whether it must match.
    pub matches: bool,
}

/// From which number of messages an alarm fires.
#[derive(Debug, Clone, PartialEq)]
pub enum Fires {
    /// From the first.
    AtOne,
    /// Only above this number, which is greater than zero.
    Above(f64),
    /// At what is sent to the queue, which what a redrive policy moves there is not.
    OnSend,
    /// Never, or at all times; why.
    Never(String),
    /// It cannot be told: taken for right.
    Unknown,
}

/// Whether a name says that dead letters are kept under it: `orders-dlq`, `OrdersDeadLetters`, `mail.errors`.
pub fn names_dead_letters(name: &str) -> bool {
    names_dead_letter(name) || words(name).last().is_some_and(|w| matches!(w.as_str(), "error" | "errors"))
}

/// Whether a name says that something is a dead letter, or holds them, and nothing else. A type that ends with "error"
/// is what a call gives up with, and no message.
pub fn names_dead_letter(name: &str) -> bool {
    let words = words(name);
    let surely = |w: &str| {
        let w = w.trim_end_matches(|c: char| c.is_ascii_digit());
        matches!(
            w,
            "dlq"
                | "dlqs"
                | "dlx"
                | "dlt"
                | "deadletter"
                | "deadletters"
                | "deadletterqueue"
                | "poison"
                | "morgue"
                | "undeliverable"
        ) || w.strip_suffix('s').unwrap_or(w) == "parkinglot"
    };
    let pair = |pair: &[String]| match pair {
        [a, b] => (a == "dead" && matches!(b.as_str(), "letter" | "letters")) || (a == "parking" && b == "lot"),
        _ => false,
    };
    words.iter().any(|w| surely(w)) || words.windows(2).any(pair) || words.last().is_some_and(|w| w == "dead")
}

/// The words of a name, lower case: split at signs and where capitals begin a new word.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).and_then(|i| chars.get(i)).copied().unwrap_or(' ');
        let next_is_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        if c.is_uppercase()
            && (before.is_lowercase() || before.is_numeric() || (before.is_uppercase() && next_is_lower))
        {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    // The ending of a FIFO queue is no word of its name.
    if words.len() > 1 && words.last().is_some_and(|w| w == "fifo") {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dead_letters() {
        for name in [
            "orders-dlq",
            "OrdersDlq",
            "OrdersDLQ",
            "MyDLQQueue",
            "orders.dlq.fifo",
            "BuildDeadLetters",
            "dead_letter_queue",
            "deadletters",
            "mail.errors",
            "orders-error",
            "parking-lot",
            "poison_messages",
            "DeadLetterQueue9F481546",
            "dlq2",
            "products.search-sink.dead",
        ] {
            assert!(names_dead_letters(name), "{name}");
        }
        for name in
            ["orders", "error-reports", "errors-to-mail", "deadline", "SettlementQueue", "dead-cats", "letters", ""]
        {
            assert!(!names_dead_letters(name), "{name}");
        }
    }
}
