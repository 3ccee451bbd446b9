//! Default figures of crates: for each row of their lists the least code that leaves the figure to the crate.

use super::support::layers;
use crate::rust::crates;

/// The system, the figure as its list has it, code, and how the layer must read.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("again", "with_max_retries not called", AGAIN, "6 attempts by default"),
    ("again", "RetryPolicy::default()", AGAIN, "1s x2 @"),
    ("again", "with_jitter not called", AGAIN, "no jitter"),
    ("again", "retry instead of retry_if", AGAIN, "any error"),
    ("backoff", "max_elapsed_time not set", BACKOFF, "about 25 within 900s"),
    ("backoff", "ExponentialBackoff", BACKOFF, "500ms x1.5 to 60s"),
    ("backoff", "randomization_factor not set", BACKOFF, "jitter 0.50-1.50"),
    ("backoff", "an error through `?`", BACKOFF, "any error"),
    (
        "backoff",
        "Constant, Zero",
        "backoff::retry(backoff::backoff::Constant::new(Duration::from_secs(1)), || Ok(http.get(U).send()?)).ok();",
        "unbounded",
    ),
    ("backon", "with_max_times not called", BACKON, "4 attempts by default"),
    ("backon", "ExponentialBuilder", BACKON, "1s x2 to 60s"),
    ("backon", "ConstantBuilder", "load.retry(backon::ConstantBuilder::default()).call().ok();", "fixed 1s"),
    (
        "backon",
        "FibonacciBuilder",
        "load.retry(backon::FibonacciBuilder::default()).call().ok();",
        "[1s 1s 2s 3s 5s]",
    ),
    ("backon", "with_jitter not called", BACKON, "no jitter"),
    ("backon", "when not called", BACKON, "any error"),
    ("exponential-backoff", "Backoff::default()", EXPONENTIAL, "3 attempts"),
    ("exponential-backoff", "set_jitter not called", EXPONENTIAL, "jitter 0.70-1.30"),
    (
        "exponential-backoff",
        "a maximum of None",
        "for wait in &exponential_backoff::Backoff::new(9, Duration::from_secs(1), None) {
             match http.get(U).send() { Ok(_) => return, Err(_) => if let Some(wait) = wait { std::thread::sleep(wait) } }
         }",
        "1s x2 @",
    ),
    ("reqwest-retry", "retry_bounds not called", REQWEST_RETRY, "1s x2 to 1800s"),
    ("reqwest-retry", "jitter not called", REQWEST_RETRY, "full jitter"),
    ("reqwest-retry", "no strategy given", REQWEST_RETRY, "on refused timeout 408 429 5xx"),
    ("retry", "delays without take", "retry::retry(retry::delay::Fixed::from_millis(5), load).ok();", "unbounded"),
    ("retry", "Exponential::from_millis(b)", RETRY, "20ms x2"),
    ("retry", "no map(jitter)", RETRY, "no jitter"),
    ("retry", "an `Err`", RETRY, "any error"),
    ("tokio-retry", "a strategy without take", "T::Retry::start(T::strategy::FixedInterval::from_millis(5), load).await.ok();", "unbounded"),
    ("tokio-retry", "ExponentialBackoff::from_millis(b)", TOKIO_RETRY, "10ms x10"),
    ("tokio-retry", "max_delay not called", TOKIO_RETRY, "10ms x10 @"),
    ("tokio-retry", "no map(jitter)", TOKIO_RETRY, "no jitter"),
    ("tokio-retry", "Retry instead of RetryIf", TOKIO_RETRY, "any error"),
    ("tokio-retry2", "a strategy without take", "T2::Retry::spawn(T2::strategy::FixedInterval::from_millis(5), load).await.ok();", "unbounded"),
    ("tokio-retry2", "ExponentialBackoff::from_millis(b)", TOKIO_RETRY2, "10ms x10"),
    (
        "tokio-retry2",
        "ExponentialFactorBackoff::from_factor(f)",
        "T2::Retry::spawn(T2::strategy::ExponentialFactorBackoff::from_factor(3.0).take(3), load).await.ok();",
        "500ms x3",
    ),
    ("tokio-retry2", "max_delay not called", TOKIO_RETRY2, "10ms x10 @"),
    ("tokio-retry2", "no map(jitter)", TOKIO_RETRY2, "no jitter"),
    ("tokio-retry2", "an error through `?`", TOKIO_RETRY2, "any error"),
    ("tower", "ExponentialBackoffMaker::default()", TOWER, "50ms x2 @"),
    ("tower", "the jitter of ExponentialBackoffMaker::default()", TOWER, "jitter 1.00-1.99"),
    ("tower", "TpsBudget::default()", BUDGET, "101 attempts"),
    ("tryhard", "no backoff named", TRYHARD, "no wait"),
    (
        "tryhard",
        "max_delay not called",
        "tryhard::retry_fn(load).retries(3).exponential_backoff(Duration::from_secs(1)).await.ok();",
        "1s x2 @",
    ),
    ("tryhard", "what is retried", TRYHARD, "any error"),
];

const AGAIN: &str = "again::retry(load).await.ok();";
const BACKOFF: &str = "backoff::retry(backoff::ExponentialBackoff::default(), || Ok(load()?)).ok();";
const BACKON: &str = "load.retry(backon::ExponentialBuilder::default()).call().ok();";
const EXPONENTIAL: &str = "for wait in exponential_backoff::Backoff::default() {
    match http.get(U).send() { Ok(_) => return, Err(_) => if let Some(wait) = wait { std::thread::sleep(wait) } }
}";
const REQWEST_RETRY: &str = "let p = reqwest_retry::policies::ExponentialBackoff::builder().build_with_max_retries(9);
    let r = reqwest_retry::RetryTransientMiddleware::new_with_policy(p);
    reqwest_middleware::ClientBuilder::new(reqwest::Client::new()).with(r).build().get(U).send().await.ok();";
const RETRY: &str = "retry::retry(retry::delay::Exponential::from_millis(20).take(3), load).ok();";
const TOKIO_RETRY: &str = "T::Retry::start(T::strategy::ExponentialBackoff::from_millis(10).take(3), load).await.ok();";
const TOKIO_RETRY2: &str =
    "T2::Retry::spawn(T2::strategy::ExponentialBackoff::from_millis(10).take(3), load).await.ok();";
const TRYHARD: &str = "tryhard::retry_fn(load).retries(3).await.ok();";
const TOWER: &str = "tower::ServiceBuilder::new().retry(Waiting(8, Maker::default().make_backoff())).service(
    reqwest::Client::new()).call(reqwest::Request::new(M, U)).await.ok();";
const BUDGET: &str = "tower::ServiceBuilder::new().retry(Budgeted(tower::retry::budget::TpsBudget::default())).service(
    reqwest::Client::new()).call(reqwest::Request::new(M, U)).await.ok();";

/// What the code of the rows needs around it.
const AROUND: &str = r#"
use std::time::Duration;
use tokio_retry as T;
use tokio_retry2 as T2;
use tower::retry::backoff::ExponentialBackoffMaker as Maker;
const U: &str = "http://stock/levels";
const M: reqwest::Method = reqwest::Method::GET;
fn load() -> Result<reqwest::blocking::Response, reqwest::Error> {
    reqwest::blocking::Client::new().get(U).send()?.error_for_status()
}
struct Waiting(u32, tower::retry::backoff::ExponentialBackoff);
impl tower::retry::Policy<A, B, C> for Waiting {
    fn retry(&mut self, _: &mut A, result: &mut Result<B, C>) -> Option<Self::Future> {
        if result.is_ok() || self.0 == 0 { return None; }
        self.0 -= 1;
        Some(self.1.next_backoff())
    }
}
struct Budgeted(tower::retry::budget::TpsBudget);
impl tower::retry::Policy<A, B, C> for Budgeted {
    fn retry(&mut self, _: &mut A, result: &mut Result<B, C>) -> Option<Self::Future> {
        if result.is_ok() { return None; }
        self.0.withdraw().then(|| std::future::ready(()))
    }
}
"#;

#[test]
fn each_default_figure_is_read_where_nobody_wrote_one() {
    let mut wrong = Vec::new();
    for (system, what, code, expected) in ROWS {
        let http = "let http = reqwest::blocking::Client::new();";
        let found = layers(&format!("{AROUND}\nasync fn run() {{ {http} {code} }}\n"));
        let right = found.lines().any(|l| l.starts_with(&format!("{system}:")) || l.starts_with("rust:"));
        if !right || !found.contains(expected) {
            wrong.push(format!("{system}, {what}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_default_figure_of_these_crates_has_its_row() {
    // The numbers of version 1 take a manifest, and are tested with the crate's versions.
    const ELSEWHERE: &str = "Exponential::from_millis(b), version 1";
    for meta in crates::metas().filter(|m| ROWS.iter().any(|row| row.0 == m.id)) {
        for figure in meta.defaults.iter().filter(|f| f.what != ELSEWHERE) {
            let has = ROWS.iter().any(|(system, what, ..)| *system == meta.id && *what == figure.what);
            assert!(has, "{}: {}", meta.id, figure.what);
        }
    }
}

#[test]
fn what_a_number_means_hangs_on_the_version() {
    use crate::facts::{Dependency, PackageFact};
    use crate::source::{FileId, Span};
    let read = |version: &str, package: &str, code: &str| {
        let dependency = Dependency {
            alias: package.replace('-', "_"),
            package: package.to_owned(),
            version: Some(version.to_owned()),
            path: None,
        };
        let others = ["reqwest", "tokio_retry", "tokio_retry2", "tower"].map(|name| Dependency {
            alias: name.to_owned(),
            package: name.to_owned(),
            version: None,
            path: None,
        });
        let facts = PackageFact {
            name: "shop".to_owned(),
            folder: String::new(),
            binaries: Vec::new(),
            locked: std::collections::BTreeMap::new(),
            dependencies: others.into_iter().chain([dependency]).collect(),
            span: Span::start_of(FileId(0)),
        };
        let http = "let http = reqwest::blocking::Client::new();";
        let text = format!("{AROUND}\nasync fn run() {{ {http} {code} }}\n");
        super::support::read(&[("src/lib.rs", &text)], &[facts], &[]).layers()
    };
    assert!(read("1.3", "retry", RETRY).contains("20ms x20"), "{}", read("1.3", "retry", RETRY));
    assert!(read("2", "retry", RETRY).contains("20ms x2 "), "{}", read("2", "retry", RETRY));
    let old = "for wait in &exponential_backoff::Backoff::new(4, Duration::from_secs(1), None) {
        match http.get(U).send() { Ok(_) => return, Err(_) => std::thread::sleep(wait) }
    }";
    let found = read("1.2", "exponential-backoff", old);
    assert!(found.contains("5 attempts"), "{found}");
}
