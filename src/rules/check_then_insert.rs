#![doc = include_str!("../../rules/check-then-insert.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{self, Model};

static META: RuleMeta = RuleMeta {
    id: "check-then-insert",
    level: Severity::Error,
    summary: "SELECT, then INSERT if absent, in application code, instead of a constraint and ON CONFLICT",
    page: include_str!("../../rules/check-then-insert.md"),
};

/// The rule.
pub(super) struct CheckThenInsert;

impl Rule for CheckThenInsert {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.checks.iter().map(check));
    }
}

fn check(check: &model::CheckThenInsert) -> Finding {
    let then = match (check.constrained, check.locked) {
        (true, _) => "the second gets an error from the database, and what was done in between is done twice",
        (false, true) => "the lock holds within one process only, and with two of them both go on",
        (false, false) => "both find nothing, and both go on",
    };
    let message = format!(
        "`{}` looks into {} and inserts if nothing is there: of two copies that arrive together {then}",
        check.function, check.table
    );
    let level = if check.constrained || check.locked { META.level.lower() } else { META.level };
    Finding::new(&META, check.select, "the look", message)
        .label(check.insert, "the insert")
        .help(
            "Insert first, with a unique constraint and `ON CONFLICT DO NOTHING`, and go on only where `rows_affected()` \
             is 1; otherwise return what was stored the first time.",
        )
        .severity(level)
        .confidence(check.confidence)
        .about(check.function.as_str())
        .about(check.table.as_str())
}
