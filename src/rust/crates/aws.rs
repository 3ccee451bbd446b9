//! AWS SDK for Rust: every operation of a client that aws-config made is tried three times.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode, Setting};
use crate::rust::cargo::Release;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const CONFIG: &str = "aws-smithy-types 1.9.3 src/retry.rs";
const CLASSIFIERS: &str = "aws-smithy-runtime 1.16.2 src/client/retries/classifiers.rs";
const PLUGINS: &str = "aws-smithy-runtime 1.16.2 src/client/defaults.rs";

static META: SystemMeta = SystemMeta {
    id: "aws-sdk",
    name: "AWS SDK for Rust",
    reads: "Rust: clients of aws-sdk-* crates with their `RetryConfig`, from aws-config to the operation",
    marks: &["aws_config", "aws_types", "aws_smithy_types"],
    defaults: &[
        DefaultFigure { what: "retry_config not called", value: "3 attempts", source: CONFIG },
        DefaultFigure { what: "with_initial_backoff not called", value: "1 s, doubling", source: CONFIG },
        DefaultFigure { what: "with_max_backoff not called", value: "20 s", source: CONFIG },
        DefaultFigure { what: "jitter", value: "full, always", source: CONFIG },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, timeouts, 500, 502, 503, 504; 400 and 429 by the error's code",
            source: CLASSIFIERS,
        },
        DefaultFigure {
            what: "client made without aws-config",
            value: "1 attempt before BehaviorVersion v2026_01_12, 3 from it on",
            source: PLUGINS,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "AWS SDK `RetryConfig`",
    attempts: Attempts::Count(3),
    law: Law::Exponential,
    base: Duration::from_secs(1),
    factor: 2.0,
    cap: Some(Duration::from_secs(20)),
    jitter: Jitter::Full,
    total: None,
    setters: &[
        ("with_max_attempts", Sets::Attempts),
        ("max_attempts", Sets::Attempts),
        ("with_initial_backoff", Sets::Base),
        ("initial_backoff", Sets::Base),
        ("with_max_backoff", Sets::Cap),
        ("max_backoff", Sets::Cap),
    ],
    everything: false,
    source: CONFIG,
};

static LIBRARY: Library = Library {
    system: "aws-sdk",
    client: "AWS SDK client",
    retries,
    default: |_, made| Some(Tabled::new(&FIGURES, made).finish()),
    configure,
    retry_after: (true, "aws-smithy-runtime 1.16.2 src/client/retries/classifiers.rs: x-amz-retry-after"),
    picks: "the SDK's default classifiers",
    advice: || Advice {
        none: Some("set `.retry_config(RetryConfig::disabled())`".into()),
        fewer: Some("give `with_max_attempts(..)` a smaller number".into()),
        limit: Some("set `with_max_attempts(3)`".into()),
        cap: Some("lower `with_max_backoff(..)`".into()),
        ..Advice::default()
    },
    is_local: |name| matches!(name, "presigned" | "config" | "wait" | "as_input"),
    takes_messages: |op| {
        op.starts_with("receive_message")
            || op.starts_with("delete_message")
            || op.starts_with("change_message_visibility")
            || matches!(op, "get_queue_url" | "get_queue_attributes" | "get_records" | "get_shard_iterator")
    },
    sends: &["send"],
    makers: &["load_defaults", "load_from_env", "from_env", "defaults", "from_conf"],
    default_if_made_elsewhere: true,
    is_client: |path| service(path).is_some() && path.last() == Some(&"Client"),
};

/// What a client of a service makes again, whatever the operation.
fn retries(_: &Machine<'_, '_>, _: &str, mode: Mode) -> Option<bool> {
    match mode {
        Mode::Refused | Mode::Timeout | Mode::Status(500 | 502 | 503 | 504) => Some(true),
        // Throttling is told by the error's code, which services send with either status.
        Mode::Status(400 | 429) => None,
        _ => Some(false),
    }
}

/// `aws_sdk_dynamodb::Client` → `dynamodb`
fn service<'p>(path: &[&'p str]) -> Option<&'p str> {
    path.first()?.strip_prefix("aws_sdk_").filter(|s| !s.is_empty())
}

/// The crate.
pub(crate) struct Aws;

impl RetryCrate for Aws {
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
        if let [.., "RetryConfig", name @ ("standard" | "adaptive" | "disabled" | "builder")]
        | [.., "RetryConfigBuilder", name @ "new"] = path
            && (path.len() == 2 || path.first()?.starts_with("aws_"))
        {
            let plan = Tabled::new(&FIGURES, at.span);
            let off = Setting::written(Attempts::Count(1), at.span);
            return Some(Ok(if *name == "disabled" { plan.with_attempts(off).value() } else { plan.value() }));
        }
        let settings = || args.first().and_then(|a| Client::of(&LIBRARY, a));
        let made = match (path, service(path)) {
            (["aws_config", "load_defaults" | "load_from_env" | "from_env" | "defaults"], _)
            | (["aws_config", "ConfigLoader", "default"], _) => Client::settings(&LIBRARY, machine, at.span),
            ([first, .., "SdkConfig", "builder"], _) if first.starts_with("aws_") => bare(machine, at.span),
            ([.., "Client", "new" | "from_conf"], Some(service)) => {
                // Of settings from elsewhere nothing is known here.
                let Some(settings) = settings().filter(|s| !s.is_open()) else {
                    let id = Value::digest_all("client", args);
                    return Some(Ok(Client::open(&LIBRARY, id, false).calling(service).value()));
                };
                return Some(Ok(settings.calling(service).finish(machine, at.span)));
            }
            ([.., "Config", "builder"] | [.., "Builder", "new"], Some(_)) => bare(machine, at.span),
            ([.., "Builder", "from"] | [.., "Config", "new"], Some(_)) => {
                settings().unwrap_or_else(|| Client::open(&LIBRARY, 0, true))
            }
            _ => return None,
        };
        Some(Ok(made.value()))
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        match (path, service(path)) {
            ([_, "Client"] | [_, "client", "Client"], Some(service)) => {
                Some(Client::open(&LIBRARY, id, false).calling(service).value())
            }
            ([first, .., "SdkConfig"], _) if first.starts_with("aws_") => {
                Some(Client::open(&LIBRARY, id, true).value())
            }
            _ => None,
        }
    }
}

/// Settings that aws-config has not made: they do not retry, unless their behaviour version is a new one.
fn bare(machine: &Machine<'_, '_>, at: Span) -> Client {
    Client::settings(&LIBRARY, machine, at).without_retries()
}

fn configure<'a>(
    client: &Client,
    machine: &mut Machine<'a, '_>,
    name: &str,
    args: &[Value<'a>],
    at: At,
) -> Option<Value<'a>> {
    let new = match (name, args) {
        ("retry_config" | "set_retry_config", [policy]) if client.is_settings() => {
            let new = client.clone().with_policy(policy, at.named());
            new.note(machine);
            new
        }
        // What it was told before.
        ("retry_config", []) if client.is_settings() => return client.told(),
        ("behavior_version" | "set_behavior_version", [version]) if client.is_off() && !client.has_policy() => {
            if !retries_by_itself(machine, version) {
                return None;
            }
            Client::settings(&LIBRARY, machine, at.named())
        }
        _ => return None,
    };
    Some(new.value())
}

/// Whether a behaviour version has retries for every client. `latest()` is v2026_01_12 since aws-smithy-runtime-api
/// 1.10.0, and v2025_08_07 in the release before it, 1.9.3 (src/client/behavior_version.rs of both).
fn retries_by_itself(machine: &Machine<'_, '_>, version: &Value<'_>) -> bool {
    let name = version.as_unknown().and_then(|u| u.call.as_ref().map(|c| c.name)).unwrap_or_default();
    match name.strip_prefix('v') {
        Some(date) => date >= "2026_01_12",
        None if name == "latest" => machine.release_of("aws-smithy-runtime-api").is_none_or(|r| r >= Release(1, 10, 0)),
        None => false,
    }
}
