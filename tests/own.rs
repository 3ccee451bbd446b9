//! `[[helper]]` and `[[system]]`: what a project says of its own code and settings, from the file to the finding.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{Folder, retrylint};

const HELPERS: &str = r#"
[[helper]]
name = "retry_call"
attempts-argument = 1
wait-argument = 2
jitter = false

[[helper]]
name = "Backend::patiently"
retries = 11
wait = "50ms"

[[helper]]
name = "again!"
retries-argument = 1
"#;

/// What the helpers do is in another repository.
const CODE: &str = r#"
use house_retry::{again, retry_call, Backend};
use std::time::Duration;

pub async fn stock(client: &reqwest::Client) -> Result<String, reqwest::Error> {
    retry_call(4, Duration::from_millis(300), || async { client.get("http://stock/items").send().await?.text().await }).await
}

pub async fn tax(client: &reqwest::Client, backend: &Backend) -> Result<String, reqwest::Error> {
    backend.patiently(|| async { client.get("http://tax/rates").send().await?.text().await }).await
}

pub async fn mail(client: &reqwest::Client) -> Result<String, reqwest::Error> {
    again!(2, client.get("http://mail/send").send().await)?.text().await
}
"#;

fn folder(config: &str) -> Folder {
    let folder = Folder::new();
    folder.write("retrylint.toml", config);
    folder.write("Cargo.toml", "[package]\nname = \"web\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    folder.write("src/lib.rs", CODE);
    folder
}

fn layers(folder: &Folder) -> Vec<Value> {
    let output = retrylint(&folder.root, &["check", "--format", "json", "--fail-on", "never"]);
    output.json()["layers"].as_array().unwrap().clone()
}

#[test]
fn helpers_are_layers_where_they_are_called() {
    let folder = folder(HELPERS);
    let all = layers(&folder);
    let of = |target: &str| all.iter().find(|l| l["target"] == target).unwrap_or_else(|| panic!("{target}: {all:#?}"));
    assert_eq!(of("stock")["attempts"], 4);
    assert_eq!(of("tax")["attempts"], 12);
    assert_eq!(of("mail")["attempts"], 3);
    assert_eq!(all.len(), 3);
}

#[test]
fn without_a_word_about_them_they_are_calls_like_others() {
    assert_eq!(layers(&folder("")).len(), 0);
}

const FORMAT: &str = r#"
[[system]]
name = "house-http"
files = ["conf/clients/*.toml"]
layers = "clients.*"
target = "url"
retries = "retry.max"
base = "retry.wait"
unit = "ms"
jitter = "retry.jitter"
statuses = "retry.on"
default-retries = 1
"#;

#[test]
fn a_format_of_its_own_is_read_as_any_other() {
    let folder = Folder::new();
    folder.write("retrylint.toml", FORMAT);
    let client = "[clients.stock]\nurl = \"http://stock:80\"\n\
                  [clients.stock.retry]\nmax = 14\nwait = 200\njitter = false\non = [404, 503]\n";
    folder.write("conf/clients/web.toml", client);
    folder.write("conf/other.toml", client);
    let output = retrylint(&folder.root, &["check", "--format", "json", "--fail-on", "never"]);
    let json = output.json();
    let layers = json["layers"].as_array().unwrap();
    let [layer] = layers.as_slice() else { panic!("{layers:#?}") };
    assert_eq!(
        (&layer["system"], &layer["attempts"], &layer["target"]),
        (&"house-http".into(), &15.into(), &"stock".into())
    );
    assert_eq!((&layer["location"]["file"], &layer["location"]["line"]), (&"conf/clients/web.toml".into(), &4.into()));
    let rules: Vec<&str> = json["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    for rule in ["retry-amplification", "missing-jitter", "retry-on-client-error"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
}

#[test]
fn mistakes_point_into_the_configuration() {
    let folder = folder("[[helper]]\nname = \"retry_call\"\nattempts-argument = 0\n");
    let output = retrylint(&folder.root, &["check"]);
    assert_eq!(output.code(), 2);
    assert!(output.stderr.contains("retrylint.toml:3:21"), "{}", output.stderr);
}
