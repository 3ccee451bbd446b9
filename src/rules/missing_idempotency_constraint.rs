#![doc = include_str!("../../rules/missing-idempotency-constraint.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{KeyColumn, Model, NoHelp, Store, StoreKind, Unique};

static META: RuleMeta = RuleMeta {
    id: "missing-idempotency-constraint",
    level: Severity::Error,
    summary: "an inbox or idempotency table without PRIMARY KEY or UNIQUE on its key",
    page: include_str!("../../rules/missing-idempotency-constraint.md"),
};

/// The rule.
pub(super) struct MissingIdempotencyConstraint;

impl Rule for MissingIdempotencyConstraint {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for store in &model.stores {
            if let Unique::Missing { key, other } = &store.unique {
                findings.push(missing(store, key, other.as_ref()));
            }
        }
    }
}

fn missing(store: &Store, key: &[KeyColumn], other: Option<&(String, NoHelp)>) -> Finding {
    let table = &store.table;
    let names: Vec<String> = key.iter().map(|c| c.name.clone()).collect();
    let columns = names.join(", ");
    let but = other.map_or_else(String::new, |(unique, why)| {
        let why = match why {
            NoHelp::MadeAnew => "whose value is new for each record",
            NoHelp::HasTime => "and its time differs from delivery to delivery",
            NoHelp::Partial => "and for some records only",
            NoHelp::Elsewhere => "which does not identify the request",
        };
        format!(": what is unique is {unique}, {why}")
    });
    let twice = match store.kind {
        StoreKind::Messages => "two deliveries of one message that arrive together are both processed",
        StoreKind::Requests | StoreKind::Business => {
            "two copies of one request that arrive together are both carried out"
        }
    };
    let message =
        format!("Nothing keeps a second record of the same {} out of {table}{but}; {twice}", phrase::list(&names));
    let help = format!(
        "Let the database decide: `UNIQUE ({columns})`, and `INSERT ... ON CONFLICT DO NOTHING` before the work; \
         no row inserted means that it was here before."
    );
    let mut finding = Finding::new(&META, store.place, "no PRIMARY KEY or UNIQUE on its key", message).help(help);
    for column in key {
        finding = finding.label(column.span, "identifies the message");
    }
    finding.confidence(store.confidence).about(store.table.as_str())
}
