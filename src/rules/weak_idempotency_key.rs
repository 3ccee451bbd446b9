#![doc = include_str!("../../rules/weak-idempotency-key.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{KeyColumn, Model, Store, StoreKind, Unique};

static META: RuleMeta = RuleMeta {
    id: "weak-idempotency-key",
    level: Severity::Warning,
    summary: "the key is a business id alone (order_no) and not sender + message number (+ date where numbers cycle)",
    page: include_str!("../../rules/weak-idempotency-key.md"),
};

/// The rule.
pub(super) struct WeakIdempotencyKey;

impl Rule for WeakIdempotencyKey {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for store in model.stores.iter().filter(|s| s.kind != StoreKind::Business) {
            if let Unique::On { columns, business_only: true } = &store.unique {
                findings.extend(weak(store, columns));
            }
        }
    }
}

fn weak(store: &Store, columns: &[KeyColumn]) -> Option<Finding> {
    let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    let (first, rest) = columns.split_first()?;
    let message = format!(
        "{} knows a request by {} alone: a second, different message about the same one is taken for a repetition and dropped",
        store.table,
        phrase::list(&names)
    );
    let mut finding = Finding::new(&META, first.span, "a thing of the business, not a message", message).help(
        "Make the key what identifies the message: the sender and its message number (and the date, if numbers start \
         again), or an idempotency key that the caller makes once for each request.",
    );
    for column in rest {
        finding = finding.label(column.span, "belongs to the key");
    }
    Some(finding.label(store.place, "the table").confidence(store.confidence).about(store.table.as_str()))
}
