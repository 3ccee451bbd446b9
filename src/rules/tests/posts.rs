use super::check;
use crate::model::{
    ComponentIx, Confidence, Hop, IdempotencyKey, LayerIx, LayerKind, LayerUse, Methods, Mode, ModeSet, Post,
};
use crate::rules::{Finding, Severity};
use crate::source::Span;
use crate::testing::Draft;

const RULE: &str = "non-idempotent-retry";

fn of(draft: &Draft) -> Vec<Finding> {
    check(&draft.model).into_iter().filter(|f| f.rule.id == RULE).collect()
}

fn settings(kind: LayerKind, methods: &[&str]) -> Draft {
    let mut draft = Draft::new();
    let layer = draft.any_layer("a");
    layer.kind = kind;
    let span = Span { start: 6, end: 8, ..layer.place };
    layer.methods = Methods::Written { methods: methods.iter().map(|m| m.to_string()).collect(), span };
    draft
}

/// A hop with this layer, and a POST on it, in another file.
fn post(draft: &mut Draft, key: IdempotencyKey) {
    let file = draft.file("code", "0123456789");
    let modes = draft.model.layers[0].retries.yes;
    draft.model.hops.push(Hop {
        layers: vec![LayerUse { layer: LayerIx(0), modes }],
        posts: vec![Post { method: "POST".to_string(), span: Span::new(file, 0, 4), key }],
        ..Hop::new(ComponentIx(0), ComponentIx(1), None)
    });
}

#[test]
fn a_setting_that_names_post_fires_where_it_names_it() {
    let findings = of(&settings(LayerKind::Gateway, &["GET", "POST"]));
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].primary.span.start, findings[0].severity), (6, Severity::Warning));
    assert_eq!(
        findings[0].message,
        "a sends POST up to 3 times although the upstream may have processed the first, such as after a timeout"
    );
    assert!(of(&settings(LayerKind::Gateway, &["GET", "PUT", "DELETE"])).is_empty());
}

#[test]
fn refused_connections_and_429_were_never_processed() {
    let mut draft = settings(LayerKind::Gateway, &["POST"]);
    let refused = [Mode::Refused].into_iter().collect::<ModeSet>();
    draft.model.layers[0].retries.yes = ModeSet::statuses([429]).union(refused);
    assert!(of(&draft).is_empty());
    draft.model.layers[0].retries.yes = ModeSet::statuses([429, 503]);
    assert_eq!(of(&draft).len(), 1);
}

#[test]
fn what_grpc_calls_a_failure_repeats_no_post() {
    let mut draft = settings(LayerKind::Mesh, &[]);
    draft.model.layers[0].methods = Methods::Any;
    let cancelled_or_unavailable = [Mode::Grpc(1), Mode::Grpc(14), Mode::Refused];
    draft.model.layers[0].retries.yes = cancelled_or_unavailable.into_iter().collect();
    post(&mut draft, IdempotencyKey::None);
    assert!(of(&draft).is_empty());
}

#[test]
fn a_route_without_methods_is_a_note_until_code_posts_there() {
    let mut draft = settings(LayerKind::Mesh, &[]);
    draft.model.layers[0].methods = Methods::Any;
    let findings = of(&draft);
    assert_eq!((findings[0].severity, findings[0].confidence), (Severity::Note, Confidence::Low));
    post(&mut draft, IdempotencyKey::None);
    let findings = of(&draft);
    assert_eq!((findings[0].severity, findings[0].confidence), (Severity::Warning, Confidence::High));
    assert_eq!((findings.len(), findings[0].primary.span.file.0, findings[0].labels[0].span.file.0), (1, 0, 1));
}

#[test]
fn a_post_in_code_fires_there_unless_it_carries_one_key() {
    for (key, fires) in [
        (IdempotencyKey::None, true),
        (IdempotencyKey::Changing, true),
        (IdempotencyKey::Same, false),
        (IdempotencyKey::Unknown, false),
    ] {
        let mut draft = Draft::new();
        draft.any_layer("a");
        post(&mut draft, key);
        let findings = of(&draft);
        assert_eq!(findings.len(), usize::from(fires), "{key:?}");
        assert!(findings.iter().all(|f| f.primary.span.file.0 == 1 && f.severity == Severity::Warning));
    }
}

#[test]
fn a_post_that_a_redelivery_reaches_is_a_note() {
    let mut draft = Draft::new();
    draft.any_layer("a").kind = LayerKind::Queue;
    post(&mut draft, IdempotencyKey::None);
    assert_eq!((of(&draft)[0].severity, of(&draft)[0].confidence), (Severity::Note, Confidence::Low));
}
