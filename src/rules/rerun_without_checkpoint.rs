#![doc = include_str!("../../rules/rerun-without-checkpoint.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{Model, Redone, Rerun};

static META: RuleMeta = RuleMeta {
    id: "rerun-without-checkpoint",
    level: Severity::Warning,
    summary: "a batch job with side effects is rerun from the start on failure",
    page: include_str!("../../rules/rerun-without-checkpoint.md"),
};

/// The rule.
pub(super) struct RerunWithoutCheckpoint;

impl Rule for RerunWithoutCheckpoint {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.reruns.iter().map(rerun));
    }
}

fn rerun(rerun: &Rerun) -> Finding {
    let again = match rerun.attempts {
        Some(n) if n > 1 => format!("up to {} more", phrase::count(n - 1, "time", "times")),
        _ => "again".to_owned(),
    };
    let (done, help) = match &rerun.what {
        Redone::Items { does, .. } => (
            format!("from its first item: what was done before the failure is done again, {does}"),
            "Note for each item that it is done, in one transaction with it, and begin after the last one; or give the \
             receiver a key of the item (its id and the day of the run), so that it takes a repetition for one.",
        ),
        Redone::Steps { what, .. } => (
            format!("from its first step: {what} runs again, those that had succeeded too"),
            "Repeat the step that failed: put the retry on each step, and let none do something that cannot be done twice.",
        ),
        Redone::FromStart { .. } => (
            "from the beginning, as its arguments say: what was done before the failure is done again".to_owned(),
            "Let it write down how far it has come, and go on from there when it is started again.",
        ),
    };
    let message = format!("When {} fails, it starts {again} {done}", rerun.job);
    let finding = Finding::new(&META, rerun.place, "runs it again", message).help(help).confidence(rerun.confidence);
    let finding = finding.about(rerun.job.as_str());
    match &rerun.what {
        Redone::Items { items, effect, .. } => {
            finding.label(*items, "the loop over the items").label(*effect, "done again for those that were done")
        }
        Redone::Steps { span, .. } => finding.label(*span, "all of these run again"),
        Redone::FromStart { span } => finding.label(*span, "starts from the beginning"),
    }
}
