//! The demonstration: what is wrong with the shop, and that the shop put right is clean.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::BTreeSet;

use retrylint::report::Places;
use retrylint::rules::Finding;
use retrylint::run::Run;
use retrylint::source::Span;

/// `file:line` below the shop's folder.
fn place(run: &Run, span: Span) -> String {
    let place = Places::new(&run.sources).place(span);
    format!("{}:{}", place.path.trim_start_matches("fixtures/shop/"), place.start.line)
}

fn line_of(file: &str, text: &str) -> String {
    let path = support::repository().join("fixtures/shop").join(file);
    let lines = std::fs::read_to_string(path).expect("the fixture is there");
    let line = lines.lines().position(|line| line.contains(text)).expect("the text is there");
    format!("{file}:{}", line + 1)
}

fn gateway() -> String {
    line_of("gateway/envoy.yaml", "num_retries: 3")
}

fn client() -> String {
    line_of("services/orders/src/inventory.rs", "build_with_max_retries(3)")
}

fn looped() -> String {
    line_of("services/inventory/src/warehouse.rs", "loop {")
}

#[test]
fn one_request_at_the_gateway_becomes_64_at_the_warehouse() {
    let run = support::run("fixtures/shop");
    let largest = run.model.paths.first().expect("there is a path");
    assert_eq!((largest.product, largest.at_least, largest.unbounded), (64, false, false));
    assert_eq!((&*largest.entry, &*largest.leaf), ("gateway", "wms.warehouse.example"));
    let places: Vec<String> = largest.layers.iter().map(|&ix| place(&run, run.model.layer(ix).place)).collect();
    assert_eq!(places, [gateway(), client(), looped()]);

    let amplifications: Vec<&Finding> = run.findings.iter().filter(|f| f.rule.id == "retry-amplification").collect();
    let [finding] = amplifications.as_slice() else { panic!("one finding, not {}", amplifications.len()) };
    assert_eq!(place(&run, finding.primary.span), gateway());
    assert!(finding.message.contains("64"), "{}", finding.message);
    let shown: BTreeSet<String> = finding.labels.iter().map(|label| place(&run, label.span)).collect();
    assert!(shown.contains(&client()) && shown.contains(&looped()), "{shown:?}");
}

#[test]
fn everything_else_that_is_wrong_with_it_is_found() {
    let run = support::run("fixtures/shop");
    let found: BTreeSet<(&str, String)> =
        run.findings.iter().map(|f| (f.rule.id, place(&run, f.primary.span))).collect();
    let wait = line_of("services/inventory/src/warehouse.rs", "sleep(PAUSE)");
    let expected = [
        ("retry-amplification", gateway()),
        ("ignored-retry-after", line_of("gateway/envoy.yaml", "retry_on: 5xx")),
        ("non-idempotent-retry", line_of("gateway/envoy.yaml", "retry_policy:")),
        ("missing-jitter", line_of("services/orders/src/inventory.rs", "ExponentialBackoff::builder()")),
        ("ignored-retry-after", line_of("services/orders/src/inventory.rs", "RetryTransientMiddleware::new")),
        ("fixed-backoff", wait.clone()),
        ("missing-jitter", wait.clone()),
        ("retry-on-any-error", wait.clone()),
        ("ignored-retry-after", wait),
        ("non-time-based-purge", line_of("db/purge.sql", "DELETE FROM inbox")),
    ];
    assert_eq!(found, expected.into_iter().collect());
}

#[test]
fn the_shop_put_right_is_clean() {
    let run = support::run("fixtures/shop-fixed");
    let findings: Vec<String> = run.findings.iter().map(|f| format!("{}: {}", f.rule.id, f.message)).collect();
    assert_eq!(findings, Vec::<String>::new());
    assert_eq!((run.unread, run.model.unresolved), (Vec::new(), Vec::new()));
    // Clean is not the same as blind: the two places that still retry are seen.
    let mut attempts: Vec<_> = run.model.layers.iter().map(|layer| layer.attempts.value().copied()).collect();
    attempts.sort_by_key(|attempts| attempts.and_then(|a| a.count()));
    assert_eq!(attempts.iter().map(|a| a.and_then(|a| a.count())).collect::<Vec<_>>(), [Some(2), Some(4)]);
}

#[test]
fn the_exit_status_says_which_of_them_is_clean() {
    let status = |args: &[&str]| support::retrylint(support::repository(), args).code();
    assert_eq!(status(&["check", "fixtures/shop"]), 1);
    assert_eq!(status(&["check", "--fail-on", "note", "fixtures/shop-fixed"]), 0);
}
