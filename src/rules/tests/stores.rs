use super::check;
use crate::model::{Confidence, KeyColumn, NoHelp, Store, StoreKind, StoredResponse, Unique};
use crate::rules::{Finding, Severity};
use crate::source::Span;
use crate::testing::Draft;

/// A table whose `CREATE TABLE` stands at byte 0, and the columns of its key at 10, 11, ...
fn of(kind: StoreKind, unique: impl FnOnce(Vec<KeyColumn>) -> Unique, key: &[&str]) -> Vec<Finding> {
    let mut draft = Draft::new();
    let file = draft.file("schema.sql", "CREATE TABLE inbox (..)");
    let column =
        |(i, name): (usize, &&str)| KeyColumn { name: name.to_string(), span: Span::new(file, 10 + i, 11 + i) };
    let columns = key.iter().enumerate().map(column).collect();
    draft.model.stores.push(Store {
        table: "inbox".to_string(),
        kind,
        place: Span::new(file, 0, 4),
        unique: unique(columns),
        response: StoredResponse::NotNeeded,
        confidence: Confidence::High,
    });
    check(&draft.model)
}

fn on(business_only: bool) -> impl FnOnce(Vec<KeyColumn>) -> Unique {
    move |columns| Unique::On { columns, business_only }
}

#[test]
fn a_key_of_the_business_alone_is_weak() {
    let findings = of(StoreKind::Messages, on(true), &["tenant", "order_no"]);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].rule.id, findings[0].severity), ("weak-idempotency-key", Severity::Warning));
    assert_eq!(findings[0].primary.span.start, 10);
    assert_eq!(
        findings[0].message,
        "inbox knows a request by tenant and order_no alone: a second, different message about the same one is taken for a repetition and dropped"
    );
    let labels: Vec<_> = findings[0].labels.iter().map(|l| (l.span.start, l.text.as_str())).collect();
    assert_eq!(labels, [(11, "belongs to the key"), (0, "the table")]);
}

#[test]
fn a_key_that_names_the_message_is_silent() {
    assert!(of(StoreKind::Messages, on(false), &["sender", "message_no"]).is_empty());
    assert!(of(StoreKind::Business, on(true), &["order_no"]).is_empty(), "its own business");
    assert!(of(StoreKind::Messages, |_| Unique::Unknown, &["order_no"]).is_empty());
}

#[test]
fn a_store_without_a_constraint_lets_both_copies_through() {
    let missing = |other| move |key| Unique::Missing { key, other };
    let findings = of(StoreKind::Messages, missing(None), &["message_id"]);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].rule.id, findings[0].severity), ("missing-idempotency-constraint", Severity::Error));
    assert_eq!(findings[0].primary.span.start, 0);
    assert_eq!(
        findings[0].message,
        "Nothing keeps a second record of the same message_id out of inbox; two deliveries of one message that arrive together are both processed"
    );
    assert!(findings[0].help.as_deref().is_some_and(|h| h.contains("`UNIQUE (message_id)`")));
    for (why, told) in [
        (NoHelp::MadeAnew, "whose value is new for each record"),
        (NoHelp::HasTime, "its time differs"),
        (NoHelp::Partial, "for some records only"),
        (NoHelp::Elsewhere, "does not identify the request"),
    ] {
        let findings = of(StoreKind::Requests, missing(Some(("PRIMARY KEY (id)".to_string(), why))), &["request_id"]);
        assert!(findings[0].message.contains("what is unique is PRIMARY KEY (id)"), "{}", findings[0].message);
        assert!(findings[0].message.contains(told), "{}", findings[0].message);
        assert!(findings[0].message.ends_with("are both carried out"), "{}", findings[0].message);
    }
}
