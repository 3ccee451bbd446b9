#![doc = include_str!("../../rules/missing-stored-response.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{Model, Store, StoredResponse};

static META: RuleMeta = RuleMeta {
    id: "missing-stored-response",
    level: Severity::Note,
    summary: "a request-reply inbox keeps no first response to return",
    page: include_str!("../../rules/missing-stored-response.md"),
};

/// The rule.
pub(super) struct MissingStoredResponse;

impl Rule for MissingStoredResponse {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.stores.iter().filter(|s| s.response == StoredResponse::Missing).map(missing));
    }
}

fn missing(store: &Store) -> Finding {
    let message = format!(
        "{} remembers that a request came, but not what was answered: a caller that repeats it because the first answer \
         was lost gets no answer, or a different one",
        store.table
    );
    Finding::new(&META, store.place, "keeps no response", message)
        .help(
            "Keep the first response in the record, in the transaction of the work, and return it to every repetition.",
        )
        .confidence(store.confidence)
        .about(store.table.as_str())
}
