//! The rules over hand-made models.

mod backoff;
mod paths;
mod posts;
mod purge;
mod statuses;
mod stores;
mod timeouts;

use crate::model::{Layer, Model};
use crate::rules::{self, Finding, Permissions};
use crate::testing::Draft;

/// The findings about a model on which nobody has commented.
fn check(model: &Model) -> Vec<Finding> {
    rules::check(model, &Permissions::NONE)
}

/// The findings about a model with this one layer.
fn findings_of(change: impl FnOnce(&mut Layer)) -> Vec<Finding> {
    let mut draft = Draft::new();
    change(draft.any_layer("a"));
    check(&draft.model)
}

/// The rules that fire on a model with this one layer.
fn rules_of(change: impl FnOnce(&mut Layer)) -> Vec<&'static str> {
    findings_of(change).iter().map(|f| f.rule.id).collect()
}

#[test]
fn nothing_fires_about_a_layer_that_is_right() {
    assert!(findings_of(|_| {}).is_empty());
}

#[test]
fn names_are_unique_and_listed_with_a_summary_and_a_page() {
    let metas: Vec<_> = crate::rules::all().iter().map(|r| r.meta()).collect();
    for meta in &metas {
        assert_eq!(metas.iter().filter(|m| m.id == meta.id).count(), 1, "{}", meta.id);
        assert!(meta.page.starts_with(&format!("# {}\n", meta.id)), "{}", meta.id);
        assert!(!meta.summary.is_empty());
        assert!(crate::rules::by_name(meta.id).is_some());
    }
    assert!(crate::rules::by_name("no-such-rule").is_none());
}

#[test]
fn findings_come_in_a_fixed_order_and_once() {
    let mut draft = Draft::new();
    for name in ["b", "a"] {
        let layer = draft.any_layer(name);
        layer.attempts = crate::model::Setting::written(crate::model::Attempts::Unbounded, layer.place);
        layer.wait = crate::model::Wait::None;
    }
    draft.model.layers.push(draft.model.layers[0].clone());
    let findings = check(&draft.model);
    let order: Vec<_> = findings.iter().map(|f| (f.primary.span.file.0, f.rule.id)).collect();
    assert_eq!(
        order,
        [(0, "missing-backoff"), (0, "unbounded-retries"), (1, "missing-backoff"), (1, "unbounded-retries")]
    );
}

#[test]
fn each_rules_link_leads_to_a_page_of_the_public_documentation() {
    let modules = include_str!("../mod.rs");
    for rule in crate::rules::all() {
        let url = rule.meta().url();
        let module = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        assert!(modules.contains(&format!("\npub mod {module};\n")), "{url}");
    }
}
