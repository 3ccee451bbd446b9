#![doc = include_str!("../../rules/incomplete-dead-letter.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{IncompleteRecord, Model, RecordPart};

static META: RuleMeta = RuleMeta {
    id: "incomplete-dead-letter",
    level: Severity::Warning,
    summary: "the dead-letter record lacks the original, reason, attempts, first or last failure time, or trace id",
    page: include_str!("../../rules/incomplete-dead-letter.md"),
};

/// The rule.
pub(super) struct IncompleteDeadLetter;

impl Rule for IncompleteDeadLetter {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.incomplete_records.iter().filter(|r| !r.missing.is_empty()).map(incomplete));
    }
}

fn incomplete(record: &IncompleteRecord) -> Finding {
    let names: Vec<String> = record.missing.iter().map(|part| part.name().to_owned()).collect();
    let why = if record.missing.contains(&RecordPart::Original) {
        "nothing can be sent again from them"
    } else if record.missing.contains(&RecordPart::Reason) {
        "nobody can tell what is worth sending again, and what would fail as before"
    } else if record.missing.contains(&RecordPart::FirstFailure) {
        "nobody can tell since when something has been wrong"
    } else {
        "nobody can follow what happened"
    };
    let message = format!("{} lack {}: {why}", record.name, phrase::list(&names));
    let help = phrase::help(
        "Keep the original message, the reason, the number of attempts, both failure times and a trace id",
        record.advice.as_ref(),
    );
    let level = if record.minor { META.level.lower() } else { META.level };
    Finding::new(&META, record.place, record.reading.clone(), message)
        .help(help)
        .severity(level)
        .confidence(record.confidence)
        .about(record.name.as_str())
}
