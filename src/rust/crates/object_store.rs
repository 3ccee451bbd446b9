//! object_store: every request of a store in a cloud is repeated, by default ten times.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode};
use crate::rust::cargo::Release;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const RETRY: &str = "object_store 0.14.2 src/client/retry.rs";
const BACKOFF: &str = "object_store 0.14.2 src/client/backoff.rs";

static META: SystemMeta = SystemMeta {
    id: "object_store",
    name: "object_store",
    reads: "Rust: stores in a cloud with their `RetryConfig`, from the builder to the request",
    marks: &["object_store"],
    defaults: &[
        DefaultFigure { what: "max_retries not set", value: "11 attempts (10 retries)", source: RETRY },
        DefaultFigure { what: "retry_timeout not set", value: "180 s for all tries", source: RETRY },
        DefaultFigure { what: "backoff not set", value: "100 ms, doubling, up to 15 s", source: BACKOFF },
        DefaultFigure { what: "jitter", value: "decorrelated, always", source: BACKOFF },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, timeouts, 408, 429, 5xx (before 0.12.3 of the statuses only 5xx)",
            source: RETRY,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "object_store `RetryConfig`",
    attempts: Attempts::Count(11),
    law: Law::Exponential,
    base: Duration::from_millis(100),
    factor: 2.0,
    cap: Some(Duration::from_secs(15)),
    jitter: Jitter::Decorrelated,
    total: Some(Duration::from_secs(180)),
    setters: &[
        ("max_retries", Sets::Retries),
        ("retry_timeout", Sets::Total),
        ("backoff", Sets::Waits),
        ("init_backoff", Sets::Base),
        ("max_backoff", Sets::Cap),
        ("base", Sets::Factor),
    ],
    everything: false,
    source: RETRY,
};

static LIBRARY: Library = Library {
    system: "object_store",
    client: "object_store client",
    retries,
    default: |_, made| Some(Tabled::new(&FIGURES, made).finish()),
    configure,
    retry_after: (false, RETRY),
    picks: "the store's own test",
    advice: || Advice {
        fewer: Some("give the store's builder `.with_retry(..)` with a smaller `max_retries`".into()),
        limit: Some("set `max_retries: 3`".into()),
        wait: Some("set `init_backoff`".into()),
        grow: Some("set `base` above 1".into()),
        cap: Some("lower `max_backoff`".into()),
        ..Advice::default()
    },
    is_local: |_| false,
    takes_messages: |_| false,
    sends: &[],
    makers: &[
        "AmazonS3Builder",
        "GoogleCloudStorageBuilder",
        "MicrosoftAzureBuilder",
        "HttpBuilder",
        "parse_url",
        "parse_url_opts",
    ],
    default_if_made_elsewhere: false,
    is_client: |path| path.first() == Some(&"object_store") && path.last() == Some(&"ObjectStore"),
};

/// What a store makes again. Of a conditional put, hardly anything can be told without its condition.
fn retries(machine: &Machine<'_, '_>, op: &str, mode: Mode) -> Option<bool> {
    match mode {
        Mode::Refused | Mode::Status(500..=599) => Some(true),
        Mode::Timeout | Mode::Status(409) if op == "put_opts" => None,
        Mode::Timeout => Some(true),
        // src/client/retry.rs of 0.12.2 has neither, that of 0.12.3 both.
        Mode::Status(408 | 429) => {
            Some(machine.release_of("object_store").is_none_or(|release| release >= Release(0, 12, 3)))
        }
        _ => Some(false),
    }
}

/// `AmazonS3Builder` → `s3`
fn leaf(builder: &str) -> Option<&'static str> {
    Some(match builder {
        "AmazonS3Builder" => "s3",
        "GoogleCloudStorageBuilder" => "storage.googleapis.com",
        "MicrosoftAzureBuilder" => "blob.core.windows.net",
        "HttpBuilder" => "http-store",
        _ => return None,
    })
}

/// The crate.
pub(crate) struct ObjectStore;

impl RetryCrate for ObjectStore {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn library(&self) -> Option<&'static Library> {
        Some(&LIBRARY)
    }

    fn function<'a>(
        &self,
        machine: &mut Machine<'a, '_>,
        path: &[&str],
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        if path.first() != Some(&"object_store") {
            return None;
        }
        let value = match (path, args) {
            ([.., builder, "new" | "from_env" | "default"], []) if leaf(builder).is_some() => {
                Client::settings(&LIBRARY, machine, at.span).calling(leaf(builder)?).value()
            }
            ([.., "RetryConfig" | "BackoffConfig", "default"], []) => Tabled::new(&FIGURES, at.span).value(),
            ([.., "parse_url" | "parse_url_opts"], [_, ..]) => {
                let settings = Client::settings(&LIBRARY, machine, at.span);
                // Stores in memory and on the disk send no requests.
                let is_local = machine.stands_in_arm_of(&["memory", "file", "local", "mem", "fs"]);
                let settings = if is_local { settings.without_retries() } else { settings };
                let client = settings.finish(machine, at.span);
                let path = machine.opaque(crate::rust::eval::value::Why::Other("is the path in a URL"));
                Value::wrap("Ok", Value::tuple(vec![client, path]))
            }
            // Stores around stores.
            ([.., "PrefixStore" | "LimitStore", "new"], [inner, ..]) => inner.clone(),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn struct_literal<'a>(
        &self,
        machine: &Machine<'a, '_>,
        path: &[&str],
        fields: &[(Name, Value<'a>)],
        rest: Option<&Value<'a>>,
        span: Span,
    ) -> Option<Value<'a>> {
        match path {
            ["object_store", .., "RetryConfig" | "BackoffConfig"] => {
                Some(Tabled::new(&FIGURES, span).literal(machine, fields, rest, span).value())
            }
            _ => None,
        }
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).value())
    }
}

fn configure<'a>(
    client: &Client,
    machine: &mut Machine<'a, '_>,
    name: &str,
    args: &[Value<'a>],
    at: At,
) -> Option<Value<'a>> {
    match (name, args) {
        ("with_retry", [policy]) => Some(client.clone().with_policy(policy, at.named()).value()),
        ("build", []) if client.is_settings() => Some(Value::wrap("Ok", client.clone().finish(machine, at.span))),
        _ => None,
    }
}
