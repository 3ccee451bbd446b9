#![doc = include_str!("../../rules/non-time-based-purge.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{Keeps, Model, Purge, PurgeBound};

static META: RuleMeta = RuleMeta {
    id: "non-time-based-purge",
    level: Severity::Error,
    summary: "deletes the oldest N, or trims or evicts by count or size, instead of by age",
    page: include_str!("../../rules/non-time-based-purge.md"),
};

/// The rule.
pub(super) struct NonTimeBasedPurge;

impl Rule for NonTimeBasedPurge {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.purges.iter().filter_map(purge));
    }
}

fn purge(purge: &Purge) -> Option<Finding> {
    let table = &purge.table;
    let (text, how) = match purge.bound {
        PurgeBound::Age | PurgeBound::Other => return None,
        PurgeBound::Count => ("chosen by number, not by age", "by number and not by age"),
        PurgeBound::Size => ("chosen by size, not by age", "by size and not by age"),
        PurgeBound::Status => ("chosen by status, not by age", "by status and not by age"),
        PurgeBound::Everything => ("no age at all", "whatever their age"),
    };
    let (why, age) = match purge.keeps {
        Keeps::Handled => (forgotten(purge.bound), "older than any redelivery can still come"),
        Keeps::DeadLetters => (lost(purge.bound), "older than it takes somebody to look at them"),
    };
    let help = super::phrase::help(&format!("Delete by age, {age}, in batches if you like"), purge.advice.as_ref());
    let level = if purge.minor { META.level.lower() } else { META.level };
    let finding =
        Finding::new(&META, purge.place, text, format!("Purges {table} {how}: {why}")).help(help).severity(level);
    let finding = finding.about(table.as_str()).about(text);
    Some(match purge.bound_span {
        Some(span) => finding.label(span, "what chooses the records that go"),
        None => finding,
    })
}

/// What follows where the records of handled messages go too soon.
fn forgotten(bound: PurgeBound) -> &'static str {
    match bound {
        PurgeBound::Status => {
            "a record goes as soon as its message is done, and a redelivery a minute later is processed a second time"
        }
        PurgeBound::Everything => "each redelivery that comes after the purge is processed a second time",
        _ => {
            "the busier the day, the younger the records that go, and a redelivery of one of them is processed a second time"
        }
    }
}

/// What follows where dead letters go too soon.
fn lost(bound: PurgeBound) -> &'static str {
    match bound {
        PurgeBound::Everything => "messages that failed a minute ago are gone before anybody has looked at them",
        _ => "the more messages fail, the sooner the first of them are gone, before anybody has looked at them",
    }
}
