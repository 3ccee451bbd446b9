use super::check;
use crate::model::{Advice, Attempts, Budget, Confidence, LayerKind, MAX_PRODUCT, Mode, Purpose, Setting};
use crate::rules::{Finding, Severity};
use crate::testing::Draft;

const SOURCE: &str = "example/proxy src/retry.c";

fn layers(counts: &[u64]) -> Draft {
    let mut draft = Draft::new();
    for (i, n) in counts.iter().enumerate() {
        let layer = draft.any_layer(&format!("layer {i}"));
        layer.attempts = Setting::written(Attempts::Count(*n), layer.place);
    }
    draft
}

fn only(draft: &Draft) -> Finding {
    let mut findings = check(&draft.model);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

#[test]
fn a_product_above_the_limit_is_an_amplification_with_a_label_for_each_layer() {
    let mut draft = layers(&[4, 4, 4]);
    draft.path("inventory", Mode::Status(503), &[0, 1, 2]);
    let finding = only(&draft);
    assert_eq!(finding.rule.id, "retry-amplification");
    assert_eq!(finding.severity, Severity::Error);
    assert_eq!(finding.message, "1 request can become 64 (4 × 4 × 4) when inventory answers 503");
    assert_eq!(finding.primary.span, draft.model.layers[0].place);
    assert_eq!(finding.primary.text, "4 attempts: `reading` of layer 0");
    let labels: Vec<_> = finding.labels.iter().map(|l| &*l.text).collect();
    assert_eq!(labels, ["4 attempts: `reading` of layer 1", "4 attempts: `reading` of layer 2"]);
    assert_eq!(
        finding.help.as_deref(),
        Some(
            "Let one layer retry: keep layer 2, nearest to inventory. At layer 0: set `none`; at layer 1: set `none`. \
             1 request then becomes at most 4."
        )
    );
}

#[test]
fn within_the_limit_two_layers_are_stacked() {
    let mut draft = layers(&[2, 5]);
    draft.path("tax", Mode::Timeout, &[0, 1]);
    let finding = only(&draft);
    assert_eq!(finding.rule.id, "stacked-retries");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(
        finding.message,
        "2 layers retry on one path: 1 request can become 10 (2 × 5) when tax does not answer in time"
    );
}

#[test]
fn one_layer_above_the_limit_is_an_amplification_and_one_within_it_is_nothing() {
    let mut draft = layers(&[11]);
    draft.path("tax", Mode::Refused, &[0]);
    assert_eq!(only(&draft).message, "1 request can become 11 in one layer when tax refuses the connection");
    let mut draft = layers(&[10]);
    draft.path("tax", Mode::Refused, &[0]);
    assert!(check(&draft.model).is_empty());
}

#[test]
fn an_unbounded_layer_is_an_amplification_only_with_another_one() {
    let mut draft = layers(&[3, 3]);
    draft.model.layers[1].attempts = Setting::default(Attempts::Unbounded, SOURCE);
    draft.path("tax", Mode::Status(500), &[1]);
    assert_eq!(only(&draft).rule.id, "unbounded-retries");
    draft.path("tax", Mode::Status(500), &[0, 1]);
    let findings = check(&draft.model);
    let amplification = findings.iter().find(|f| f.rule.id == "retry-amplification").expect("∞");
    assert_eq!(amplification.message, "1 request can become any number (3 × ∞) when tax answers 500");
    assert!(amplification.help.as_deref().unwrap().contains("keep layer 0"), "{amplification:?}");
}

#[test]
fn a_count_that_is_not_known_makes_the_product_a_lower_bound() {
    let mut draft = layers(&[4, 4, 9]);
    draft.model.layers[2].attempts = Setting::unknown("comes from the argument `tries`", None);
    draft.path("tax", Mode::Grpc(14), &[0, 1, 2]);
    let finding = only(&draft);
    assert_eq!(finding.message, "1 request can become at least 16 (4 × 4 × ?) when tax answers UNAVAILABLE (grpc:14)");
    assert_eq!(finding.labels[1].text, "attempts not known (comes from the argument `tries`): `reading` of layer 2");
}

#[test]
fn a_deadline_counts_about() {
    let mut draft = layers(&[4, 4]);
    let deadline = std::time::Duration::from_secs(30);
    draft.model.layers[1].attempts = Setting::default(Attempts::Within { deadline, about: 6 }, SOURCE);
    draft.path("tax", Mode::Status(503), &[0, 1]);
    let finding = only(&draft);
    assert_eq!(finding.message, "1 request can become about 24 (4 × 6) when tax answers 503");
    assert_eq!(
        finding.labels[0].text,
        "about 6 attempts within 30 s: `reading` of layer 1 (the default count; example/proxy src/retry.c)"
    );
}

#[test]
fn budgets_that_hold_the_sustained_load_make_it_one_level_lower() {
    let mut draft = layers(&[4, 4]);
    draft.path("tax", Mode::Status(503), &[0, 1]).sustained = 1.44;
    assert_eq!(only(&draft).severity, Severity::Error, "no layer has a budget");
    draft.model.layers[0].budget = Some(Budget { ratio: Setting::default(0.2, SOURCE) });
    let finding = only(&draft);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.message.contains("sustained load at 1.44 times"), "{}", finding.message);
    draft.model.paths[0].sustained = 10.5;
    assert_eq!(only(&draft).severity, Severity::Error);
}

#[test]
fn one_finding_for_each_outermost_layer_and_leaf_the_worst() {
    let mut draft = layers(&[4, 4, 2, 4]);
    draft.path("tax", Mode::Status(503), &[0, 2]);
    draft.path("tax", Mode::Status(503), &[0, 1]);
    draft.path("stock", Mode::Status(503), &[0, 2]);
    draft.path("tax", Mode::Status(503), &[3, 2]);
    let found: Vec<_> = check(&draft.model).into_iter().map(|f| (f.rule.id, f.path.unwrap().0)).collect();
    assert_eq!(found, [("retry-amplification", 1), ("stacked-retries", 2), ("stacked-retries", 3)]);
}

#[test]
fn the_least_sure_layer_says_how_sure_the_finding_is() {
    let mut draft = layers(&[4, 4]);
    draft.model.layers[1].confidence = Confidence::Low;
    draft.path("tax", Mode::Status(503), &[0, 1]);
    assert_eq!(only(&draft).confidence, Confidence::Low);
}

#[test]
fn queues_repeat_messages_and_saturated_products_say_so() {
    let mut draft = layers(&[4, 4]);
    draft.model.layers[0].kind = LayerKind::Queue;
    draft.path("tax", Mode::Status(503), &[0, 1]).product = MAX_PRODUCT;
    assert_eq!(
        only(&draft).message,
        "1 message can become at least 9007199254740991 requests (4 × 4) when tax answers 503; counting ends there"
    );
}

#[test]
fn a_layer_that_cannot_be_told_to_stop_is_the_one_to_keep() {
    let mut draft = layers(&[4, 4]);
    draft.model.layers[0].advice = Advice::default();
    draft.path("tax", Mode::Status(503), &[0, 1]);
    assert_eq!(
        only(&draft).help.as_deref(),
        Some("Let one layer retry: keep layer 0. At layer 1: set `none`. 1 request then becomes at most 4.")
    );
}

#[test]
fn where_a_layer_can_only_try_less_often_the_rest_is_not_promised() {
    let mut draft = layers(&[4, 4]);
    draft.model.layers[0].advice.none = None;
    draft.path("tax", Mode::Status(503), &[0, 1]);
    let help = only(&draft).help.unwrap_or_default();
    assert_eq!(help, "Let one layer retry: keep layer 1, nearest to tax. At layer 0: set `fewer`.");
    let alone = |change: fn(&mut Advice)| {
        let mut draft = layers(&[11]);
        change(&mut draft.model.layers[0].advice);
        draft.path("tax", Mode::Status(503), &[0]);
        only(&draft).help.unwrap_or_default()
    };
    let enough = "2 or 3 attempts ride out a blip, more only add load";
    assert_eq!(alone(|_| ()), format!("{enough}: set `fewer`. For none: set `none`."));
    assert_eq!(alone(|a| a.none = None), format!("{enough}: set `fewer`."));
    assert_eq!(alone(|a| a.fewer = None), format!("{enough}. For none: set `none`."));
}

#[test]
fn a_stream_is_no_request_path() {
    let mut draft = layers(&[4, 4]);
    draft.model.layers[1].purpose = Purpose::Upkeep;
    draft.path("tax", Mode::Status(503), &[0, 1]);
    assert!(check(&draft.model).is_empty());
}

#[test]
fn a_default_that_nobody_asked_for_is_implicit() {
    let mut draft = layers(&[1]);
    let layer = &mut draft.model.layers[0];
    layer.attempts = Setting::default(Attempts::Count(3), SOURCE);
    assert!(check(&draft.model).is_empty(), "code asks for it");
    draft.model.layers[0].asked_for = false;
    let finding = only(&draft);
    assert_eq!((finding.rule.id, finding.severity), ("implicit-retries", Severity::Note));
    assert_eq!(finding.message, "layer 0 sends a failing request 3 times, and nothing in the repository asks for it");
    assert_eq!(finding.primary.text, "3 attempts by default; example/proxy src/retry.c");
    draft.model.layers[0].attempts = Setting::default(Attempts::Count(1), SOURCE);
    assert!(check(&draft.model).is_empty(), "one attempt is none too many");
}
