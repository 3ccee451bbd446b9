use super::check;
use crate::model::{Keeps, Purge, PurgeBound};
use crate::source::{FileId, Span};
use crate::testing::Draft;

fn fires(bound: PurgeBound) -> bool {
    let mut draft = Draft::new();
    let place = Span::new(FileId(0), 0, 6);
    let bound_span = Some(Span::new(FileId(0), 20, 30));
    let keeps = Keeps::Handled;
    let table = "inbox".to_string();
    draft.model.purges.push(Purge { table, keeps, place, bound, bound_span, age: None, advice: None, minor: false });
    let findings = check(&draft.model);
    assert!(findings.iter().all(|f| f.rule.id == "non-time-based-purge" && f.primary.span == place));
    assert!(findings.iter().all(|f| f.labels.len() == 1 && f.message.starts_with("Purges inbox ")));
    !findings.is_empty()
}

#[test]
fn purges_by_anything_but_age_fire() {
    assert!(fires(PurgeBound::Count));
    assert!(fires(PurgeBound::Size));
    assert!(fires(PurgeBound::Status));
    assert!(fires(PurgeBound::Everything));
    assert!(!fires(PurgeBound::Age));
    assert!(!fires(PurgeBound::Other));
}

#[test]
fn of_dead_letters_it_says_that_nobody_has_looked() {
    let mut draft = Draft::new();
    let place = Span::new(FileId(0), 0, 6);
    let (table, keeps, bound) = ("dead_letters".to_string(), Keeps::DeadLetters, PurgeBound::Count);
    let purge = Purge { table, keeps, place, bound, bound_span: None, age: None, advice: None, minor: false };
    draft.model.purges.push(purge);
    let findings = check(&draft.model);
    assert!(findings[0].message.ends_with("before anybody has looked at them"), "{}", findings[0].message);
}
