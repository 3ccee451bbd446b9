//! Clients of SDKs: whom their calls reach through which layers, and what holds where nothing is set.

use std::collections::BTreeSet;

use super::fixtures::fixture_files;
use super::support::{Read, read};
use crate::facts::{Dependency, PackageFact};
use crate::rust::crates;
use crate::source::{FileId, Span};

fn calls(file: &str) -> String {
    let files = fixture_files("rust-sdk");
    let refs: Vec<(&str, &str)> =
        files.iter().filter(|(p, _)| p.ends_with(file)).map(|(p, t)| (p.as_str(), t.as_str())).collect();
    read(&refs, &[], &[]).calls()
}

#[test]
fn operations_reach_their_services_through_the_layers_of_their_clients() {
    for file in ["aws.rs", "aws_shared.rs", "stores.rs", "operators.rs", "kubernetes.rs"] {
        let name = format!("calls_of_{}", file.trim_end_matches(".rs"));
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, calls(file));
        });
    }
}

/// A row: the system, the figures as its list has them, code in which nothing is set, and the layers read from it.
type Row = (&'static str, &'static [&'static str], &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "apalis",
        &["RetryPolicy::default()", "with_backoff not called", "what is retried"],
        "pub fn f(h: Http) { apalis::prelude::WorkerBuilder::new(\"w\").retry(apalis::layers::retry::RetryPolicy::default())
         .build(|| async { reqwest::get(\"http://stock/\").await?.error_for_status() }); }",
        "apalis:1: 6 attempts by default, no wait, no jitter, on refused timeout 4xx 5xx, any error: 1",
    ),
    (
        "apalis",
        &["retry not called"],
        "pub fn f(h: Http) { apalis::prelude::WorkerBuilder::new(\"w\")
         .build(|| async { reqwest::get(\"http://stock/\").await?.error_for_status() }); }",
        "",
    ),
    (
        "aws-sdk",
        &["retry_config not called", "with_initial_backoff not called", "with_max_backoff not called", "jitter", "what is retried"],
        "pub async fn f() { let c = aws_config::load_from_env().await; aws_sdk_sqs::Client::new(&c); }",
        "aws-sdk:1: 3 attempts by default, 1s x2 to 20s @1, full jitter, on refused timeout 500 502-504, perhaps 400 429, retry-after",
    ),
    (
        "aws-sdk",
        &["client made without aws-config"],
        "pub fn f() { aws_sdk_sqs::Client::from_conf(aws_sdk_sqs::Config::builder().build()); }",
        "",
    ),
    (
        "azure-sdk",
        &["retry not set", "initial_delay not set", "jitter", "what is retried"],
        "pub async fn f() { azure_storage_blob::BlobClient::new(\"u\", \"c\", None, None); }",
        "azure-sdk:1: 9 attempts by default, 400ms x2 to 30s @1, jitter 1.00-1.60, on refused timeout 408 429 500 502-504, retry-after",
    ),
    (
        "azure-sdk",
        &["FixedRetryOptions"],
        "pub async fn f() { let retry = azure_core::http::FixedRetryOptions::default();
         let o = azure_core::http::ClientOptions { retry, ..Default::default() };
         azure_storage_blob::BlobClient::new(\"u\", \"c\", None, Some(o)); }",
        "azure-sdk:1: 9 attempts by default, fixed 200ms @1, jitter 1.00-2.30, on refused timeout 408 429 500 502-504, retry-after",
    ),
    (
        "google-cloud",
        &["with_retry_policy not called", "with_backoff_policy not called", "what is retried"],
        "pub async fn f() { let c = google_cloud_secretmanager_v1::client::SecretManagerService::builder().build().await?;
         c.get_secret().send().await?; }",
        "google-cloud:1: 10 attempts by default, 1s x2 to 60s @1, full jitter, on refused 503, perhaps timeout",
    ),
    (
        "google-cloud",
        &["the same in google-cloud-storage"],
        "pub async fn f() { let c = google_cloud_storage::client::Storage::builder().build().await?; c.read_object().send().await?; }",
        "google-cloud:1: about 15 within 300s, 1s x2 to 60s @1, full jitter, on refused timeout 408 429 5xx",
    ),
    (
        "google-cloud",
        &["AlwaysRetry or Aip194Strict without a limit"],
        "use google_cloud_gax::retry_policy::AlwaysRetry;
         pub async fn f() { let c = google_cloud_secretmanager_v1::client::SecretManagerService::builder()
         .with_retry_policy(AlwaysRetry).build().await?; c.get_secret().send().await?; }",
        "google-cloud:3: unbounded, 1s x2 to 60s @3, full jitter, on refused timeout 4xx 5xx, any error: 3",
    ),
    (
        "kube",
        &["client, default_retry not set", "wait of the client", "what the client retries"],
        "pub async fn f() { kube::Client::try_default().await?; }",
        "kube:1: 16 attempts by default, 5ms x2 to 1000s @1, jitter 1.00-3.00, on 429 503 504, retry-after",
    ),
    (
        "kube",
        &["watcher without default_backoff"],
        "pub async fn f(a: kube::Api<Pod>) { kube::runtime::watcher(a, c()).for_each(|e| async {}).await; }",
        "kube:1: unbounded, no wait, no jitter, on refused timeout 4xx 5xx, any error: 1",
    ),
    (
        "kube",
        &["default_backoff"],
        "pub async fn f(a: kube::Api<Pod>) { kube::runtime::watcher(a, c()).default_backoff().for_each(|e| async {}).await; }",
        "kube:1: unbounded, 800ms x2 to 30s @1, jitter 1.00-2.00, on refused timeout 4xx 5xx, any error: 1",
    ),
    (
        "mongodb",
        &["retryReads and retryWrites not set", "wait", "what is retried"],
        "pub async fn f() { mongodb::Client::with_uri_str(\"mongodb://db\").await?; }",
        "mongodb:1: 2 attempts by default, no wait, no jitter, on refused timeout",
    ),
    (
        "object_store",
        &["max_retries not set", "retry_timeout not set", "backoff not set", "jitter", "what is retried"],
        "pub fn f() { let s = object_store::aws::AmazonS3Builder::from_env().build(); }",
        "object_store:1: 11 attempts by default, 100ms x2 to 15s @1, decorrelated jitter, on refused timeout 408 429 5xx",
    ),
    (
        "octocrab",
        &["add_retry_config not called", "wait", "what is retried"],
        "pub fn f() { octocrab::Octocrab::builder().build()?; }",
        "octocrab:1: 4 attempts by default, no wait, no jitter, on refused timeout 429 5xx",
    ),
    (
        "opendal",
        &["with_max_times not called", "with_min_delay, with_factor, with_max_delay", "with_jitter not called", "what is retried"],
        "pub fn f() { opendal::Operator::new(opendal::services::S3::default())?.layer(opendal::layers::RetryLayer::new()); }",
        "opendal:1: 4 attempts by default, 1s x2 to 60s @1, no jitter, on refused timeout 429 499 500 502-504",
    ),
    (
        "opendal",
        &["no RetryLayer"],
        "pub async fn f() { opendal::Operator::new(opendal::services::S3::default())?.finish().read(\"x\").await?; }",
        "",
    ),
    (
        "redis",
        &["retries not called", "wait", "what is retried"],
        "pub fn f() { redis::cluster::ClusterClient::new(vec![\"redis://a\"])?; }",
        "redis:1: 17 attempts by default, wait unknown (is 1280 ms seven times, then random and growing) @1, jitter unknown, on refused timeout",
    ),
    (
        "reqwest",
        &["max_retries_per_request not called", "wait", "timeouts"],
        "pub fn f() { reqwest::Client::builder().retry(reqwest::retry::for_host(\"a\").classify_fn(|s| s.retryable())).build(); }",
        "reqwest:1: 3 attempts by default, no wait, no jitter, on refused 4xx 5xx",
    ),
    (
        "reqwest",
        &["no classify, no classify_fn"],
        "pub fn f() { reqwest::Client::builder().retry(reqwest::retry::for_host(\"a\")).build(); }",
        "reqwest:1: 1 attempts by default, no wait, no jitter, on -",
    ),
    (
        "reqwest",
        &["for_host(\"*\")"],
        "pub fn f() { reqwest::Client::builder().retry(reqwest::retry::for_host(\"*\").classify_fn(|s| s.retryable())).build(); }",
        "reqwest:1: 2 attempts, no wait, no jitter, on refused 4xx 5xx",
    ),
];

/// What a line of a layer does not show.
const ELSEWHERE: [(&str, &str); 2] =
    [("kube", "client before 4.0"), ("reqwest", "max_extra_load, no_budget not called")];

/// The systems that have rows here.
const SYSTEMS: [&str; 11] = [
    "apalis",
    "aws-sdk",
    "azure-sdk",
    "google-cloud",
    "kube",
    "mongodb",
    "object_store",
    "octocrab",
    "opendal",
    "redis",
    "reqwest",
];

#[test]
fn each_default_is_what_holds_where_nothing_is_set() {
    let mut wrong = Vec::new();
    for (system, what, code, layer) in ROWS {
        let result: Read = read(&[("src/lib.rs", code)], &[], &[]);
        if result.layers() != *layer {
            wrong.push(format!("{system}: {what:?}\n  {}", result.layers()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed: BTreeSet<(&str, &str)> = crates::metas()
        .filter(|m| SYSTEMS.contains(&m.id))
        .flat_map(|m| m.defaults.iter().map(move |d| (m.id, d.what)))
        .collect();
    let rows = ROWS.iter().flat_map(|(system, all, ..)| all.iter().map(|what| (*system, *what)));
    let tested: BTreeSet<(&str, &str)> = rows.chain(ELSEWHERE).collect();
    assert_eq!(listed, tested);
}

#[test]
fn reqwest_holds_its_retries_within_a_budget() {
    let code = "pub fn f() { reqwest::Client::builder().retry(reqwest::retry::for_host(\"a\")).build(); }";
    let ratio = |code: &str| {
        let layers = read(&[("src/lib.rs", code)], &[], &[]).reading.layers;
        layers.first().and_then(|l| l.budget.clone()).and_then(|b| b.ratio.value().copied())
    };
    assert_eq!(ratio(code), Some(0.2));
    assert_eq!(ratio(&code.replace("(\"a\")", "(\"a\").max_extra_load(0.5)")), Some(0.5));
    assert_eq!(ratio(&code.replace("(\"a\")", "(\"a\").no_budget()")), None);
}

/// A package with these dependencies.
fn package(dependencies: &[(&str, &str)], locked: &[(&str, &str)]) -> PackageFact {
    PackageFact {
        name: "a".to_owned(),
        folder: String::new(),
        binaries: Vec::new(),
        dependencies: dependencies
            .iter()
            .map(|(name, version)| Dependency {
                alias: name.replace('-', "_"),
                package: (*name).to_owned(),
                version: Some((*version).to_owned()),
                path: None,
            })
            .collect(),
        locked: locked.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        span: Span::start_of(FileId(9)),
    }
}

#[test]
fn what_holds_by_default_is_a_matter_of_the_version() {
    let of = |code: &str, dependencies: &[(&str, &str)], locked: &[(&str, &str)]| {
        read(&[("src/lib.rs", code)], &[package(dependencies, locked)], &[]).layers()
    };
    let kube = "pub async fn f() { kube::Client::try_default().await?; }";
    assert_eq!(of(kube, &[("kube", "0.93")], &[]), "");
    assert_eq!(of(kube, &[("kube", "3")], &[]), "");
    assert!(of(kube, &[("kube", "4.0")], &[]).contains("16 attempts by default"));
    assert!(of(kube, &[("kube", ">=3")], &[]).contains("16 attempts by default"));
    assert_eq!(of(kube, &[("kube", ">=3")], &[("kube-client", "3.1.0")]), "");
    let store = "pub fn f() { object_store::aws::AmazonS3Builder::from_env().build(); }";
    assert!(of(store, &[("object_store", "0.11")], &[]).ends_with("on refused timeout 5xx"));
    assert!(of(store, &[("object_store", "0.12")], &[("object_store", "0.12.2")]).ends_with("on refused timeout 5xx"));
    let since = of(store, &[("object_store", "0.12")], &[("object_store", "0.12.3")]);
    assert!(since.ends_with("on refused timeout 408 429 5xx"));
    assert!(of(store, &[("object_store", "0.14")], &[]).ends_with("on refused timeout 408 429 5xx"));
    let aws =
        "pub fn f() { let b = aws_sdk_sqs::Config::builder().behavior_version(aws_config::BehaviorVersion::latest());
               aws_sdk_sqs::Client::from_conf(b.build()); }";
    let used = [("aws-sdk-sqs", "1"), ("aws-config", "1")];
    assert!(of(aws, &used, &[]).contains("3 attempts by default"));
    assert_eq!(of(aws, &used, &[("aws-smithy-runtime-api", "1.9.3")]), "");
    assert!(of(aws, &used, &[("aws-smithy-runtime-api", "1.10.0")]).contains("3 attempts by default"));
}
