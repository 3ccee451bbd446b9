use crate::model::{Purge, PurgeBound};
use crate::rules::check;
use crate::source::{FileId, Span};
use crate::testing::Draft;

fn fires(bound: PurgeBound) -> bool {
    let mut draft = Draft::new();
    let place = Span::new(FileId(0), 0, 6);
    let bound_span = Some(Span::new(FileId(0), 20, 30));
    draft.model.purges.push(Purge { table: "inbox".to_string(), place, bound, bound_span });
    let findings = check(&draft.model);
    assert!(findings.iter().all(|f| f.rule.id == "non-time-based-purge" && f.primary.span == place));
    assert!(findings.iter().all(|f| f.labels.len() == 1 && f.message.starts_with("Purges inbox ")));
    !findings.is_empty()
}

#[test]
fn purges_by_anything_but_age_fire() {
    assert!(fires(PurgeBound::Count));
    assert!(fires(PurgeBound::Status));
    assert!(fires(PurgeBound::Everything));
    assert!(!fires(PurgeBound::Age));
    assert!(!fires(PurgeBound::Other));
}
