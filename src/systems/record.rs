//! What a dead-letter record keeps, by the names of its parts: fields of a struct, columns of a table.

use crate::model::{Confidence, IncompleteRecord, RecordPart};
use crate::source::Span;

/// A part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, in whatever case.
    pub name: String,
    /// Whether it holds any number of things by name.
    pub is_map: bool,
    /// Whether it holds things that cannot be seen from here.
    pub is_opaque: bool,
}

impl Part {
    /// One of which the name alone is known.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), is_map: false, is_opaque: false }
    }

    /// Without case and separators.
    fn spelled(&self) -> String {
        self.name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    }

    /// Whether it holds the message as it came.
    pub fn is_original(&self) -> bool {
        let name = self.spelled();
        let originals = [
            "original",
            "originalmessage",
            "payload",
            "body",
            "raw",
            "message",
            "data",
            "event",
            "record",
            "content",
            "envelope",
            "value",
            "input",
            "job",
            "args",
            "request",
            "command",
        ];
        let ends = ["payload", "body", "rawmessage", "originalmessage", "originalevent", "envelope"];
        originals.contains(&name.as_str()) || ends.iter().any(|e| name.ends_with(e))
    }

    /// Whether it tells which message it was, so that the original can be found elsewhere.
    fn is_identity(&self) -> bool {
        let name = self.spelled();
        ["messageid", "msgid", "eventid", "originalid", "offset", "streamseq", "sequence", "jobid", "taskid"]
            .iter()
            .any(|e| name.ends_with(e))
    }

    fn is_reason(&self) -> bool {
        let name = self.spelled();
        let words =
            ["reason", "error", "exception", "cause", "failure", "stacktrace", "backtrace", "errormessage", "diagnos"];
        words.iter().any(|w| name.contains(w)) && !self.is_count() && !self.is_time()
    }

    fn is_count(&self) -> bool {
        let name = self.spelled();
        [
            "attempt",
            "retries",
            "retrycount",
            "deliverycount",
            "receivecount",
            "tries",
            "numdelivered",
            "deliveries",
            "failurecount",
            "errorcount",
            "redeliver",
        ]
        .iter()
        .any(|w| name.contains(w))
            && !self.is_time()
    }

    fn is_time(&self) -> bool {
        let name = self.name.to_lowercase();
        let last = name.rsplit('_').next().unwrap_or(&name);
        matches!(last, "at" | "time" | "timestamp" | "ts" | "date" | "on" | "when" | "ms" | "utc")
            || self.name.ends_with("At")
            || ["firstfailure", "lastfailure", "firsterror", "firstseen", "lastseen", "firstattempt"]
                .contains(&self.spelled().as_str())
    }

    fn is_trace(&self) -> bool {
        let name = self.spelled();
        name.contains("trace") && !name.contains("stacktrace") && !name.contains("backtrace")
            || ["correlationid", "requestid", "spancontext", "spanid"].iter().any(|w| name.ends_with(w))
    }

    /// Whether other parts may stand in it under names of their own.
    fn is_bag(&self) -> bool {
        let bags = ["headers", "metadata", "attributes", "context", "properties", "extra", "details", "info", "meta"];
        bags.contains(&self.spelled().as_str()) && (self.is_map || self.is_opaque)
    }
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Record {
    fn any(&self, test: impl Fn(&Part) -> bool) -> bool {
        self.parts.iter().any(test)
    }

    /// Whether it looks like a record of something that failed: the original, or why and how often it failed.
    pub fn is_record(&self) -> bool {
        self.any(Part::is_original)
            || self.any(Part::is_reason) && (self.any(Part::is_count) || self.any(Part::is_time))
    }

    /// What it lacks.
    pub fn lacks(&self) -> Vec<RecordPart> {
        let mut lacks = Vec::new();
        let hidden = self.any(|p| p.is_bag() || p.is_opaque && !p.is_original() && !p.is_reason());
        if !(self.any(Part::is_original) || self.any(Part::is_identity)) {
            lacks.push(RecordPart::Original);
        }
        if !(hidden || self.any(Part::is_reason)) {
            lacks.push(RecordPart::Reason);
        }
        if !(hidden || self.any(Part::is_count)) {
            lacks.push(RecordPart::Attempts);
        }
        if !hidden {
            lacks.extend(self.times());
        }
        // A message of a type of its own may carry it.
        let in_message = self.any(|p| p.is_original() && p.is_opaque);
        if !(hidden || in_message || self.any(Part::is_trace) || self.any(|p| p.spelled() == "headers")) {
            lacks.push(RecordPart::Trace);
        }
        lacks
    }

    /// The times that are missing: of two times one is taken for the first, one for the last.
    fn times(&self) -> Vec<RecordPart> {
        let times: Vec<String> = self.parts.iter().filter(|p| p.is_time()).map(Part::spelled).collect();
        let is_first = |name: &String| name.starts_with("first");
        let is_last =
            |name: &String| name.starts_with("last") || name.starts_with("retried") || name.starts_with("updated");
        let has_first = times.iter().any(is_first);
        let has_last = times.iter().any(is_last);
        let others = times.iter().filter(|n| !is_first(n) && !is_last(n)).count();
        match (has_first, has_last, others) {
            (true, true, _) | (true, false, 1..) | (false, true, 1..) | (false, false, 2..) => Vec::new(),
            (true, false, 0) => vec![RecordPart::LastFailure],
            (false, true, 0) | (false, false, 1) => vec![RecordPart::FirstFailure],
            (false, false, 0) => vec![RecordPart::FirstFailure, RecordPart::LastFailure],
        }
    }

    /// The finding, if it lacks something.
    pub fn incomplete(&self, name: String, place: Span, reading: &str) -> Option<IncompleteRecord> {
        let missing = self.lacks();
        (!missing.is_empty()).then(|| IncompleteRecord {
            name,
            place,
            reading: reading.to_owned(),
            missing,
            advice: None,
            minor: false,
            confidence: Confidence::High,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RecordPart::{Attempts, FirstFailure, LastFailure, Original, Reason, Trace};

    fn lacks(names: &[&str]) -> Vec<RecordPart> {
        Record { parts: names.iter().map(|n| Part::named(n)).collect() }.lacks()
    }

    #[test]
    fn complete_records() {
        for names in [
            ["msg_id", "original", "reason", "attempts", "first_failed_at", "last_failed_at", "trace_id"],
            ["id", "payload", "last_error", "retry_count", "created_at", "failed_at", "correlation_id"],
            ["id", "Body", "ExceptionMessage", "DeliveryCount", "FirstFailedAt", "LastFailedAt", "Traceparent"],
            ["id", "event", "error_message", "tries", "first_seen_at", "updated_at", "request_id"],
            ["event_id", "offset", "cause", "num_delivered", "first_time", "last_time", "headers"],
        ] {
            assert_eq!(lacks(&names), [], "{names:?}");
        }
    }

    #[test]
    fn what_is_missing() {
        assert_eq!(lacks(&["payload", "error", "failed_at"]), [Attempts, FirstFailure, Trace]);
        assert_eq!(lacks(&["queue", "error", "failed_at"]), [Original, Attempts, FirstFailure, Trace]);
        assert_eq!(lacks(&["body", "attempts"]), [Reason, FirstFailure, LastFailure, Trace]);
        assert_eq!(lacks(&["raw", "stack_trace", "attempts", "first_failed_at"]), [LastFailure, Trace]);
    }

    #[test]
    fn what_cannot_be_seen_is_not_missing() {
        let bag = Part { name: "metadata".to_owned(), is_map: true, is_opaque: false };
        assert_eq!(Record { parts: vec![Part::named("payload"), bag.clone()] }.lacks(), []);
        assert_eq!(Record { parts: vec![Part::named("topic"), bag] }.lacks(), [Original]);
        let whole = Part { name: "message".to_owned(), is_map: false, is_opaque: true };
        let parts = vec![whole, Part::named("reason"), Part::named("attempts")];
        assert_eq!(Record { parts }.lacks(), [FirstFailure, LastFailure]);
    }
}
