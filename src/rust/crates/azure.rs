//! Azure SDK for Rust: every request of a client is tried nine times, whatever the method.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const OPTIONS: &str = "typespec_client_core 1.1.0 src/http/options/retry.rs";
const POLICY: &str = "typespec_client_core 1.1.0 src/http/policies/retry";

static META: SystemMeta = SystemMeta {
    id: "azure-sdk",
    name: "Azure SDK for Rust",
    reads: "Rust: clients of azure_* crates with the `RetryOptions` in their `ClientOptions`",
    marks: &["azure_core"],
    defaults: &[
        DefaultFigure { what: "retry not set", value: "9 attempts (8 retries)", source: OPTIONS },
        DefaultFigure {
            what: "initial_delay not set",
            value: "first wait 400 ms (twice 200 ms), doubling, up to 30 s",
            source: OPTIONS,
        },
        DefaultFigure { what: "FixedRetryOptions", value: "9 attempts, 200 ms apart", source: OPTIONS },
        DefaultFigure { what: "jitter", value: "0 to 255 ms are added, always", source: POLICY },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, 408, 429, 500, 502, 503, 504, whatever the method; Retry-After is heeded",
            source: POLICY,
        },
    ],
};

static EXPONENTIAL: Figures = Figures {
    name: "Azure `ExponentialRetryOptions`",
    attempts: Attempts::Count(9),
    law: Law::Exponential,
    base: Duration::from_millis(400),
    factor: 2.0,
    cap: Some(Duration::from_secs(30)),
    // 255 ms on top of 400 ms; less of longer waits.
    jitter: Jitter::Partial { low: 1.0, high: 1.6 },
    everything: false,
    total: None,
    setters: &[("max_retries", Sets::Retries), ("initial_delay", Sets::HalfBase), ("max_delay", Sets::Cap)],
    source: OPTIONS,
};

static FIXED: Figures = Figures {
    name: "Azure `FixedRetryOptions`",
    attempts: Attempts::Count(9),
    law: Law::Fixed,
    base: Duration::from_millis(200),
    factor: 1.0,
    cap: None,
    jitter: Jitter::Partial { low: 1.0, high: 2.3 },
    everything: false,
    total: None,
    setters: &[("max_retries", Sets::Retries), ("delay", Sets::Base)],
    source: OPTIONS,
};

static LIBRARY: Library = Library {
    system: "azure-sdk",
    client: "Azure SDK client",
    retries: |_, _, mode| {
        let retried = matches!(mode, Mode::Refused | Mode::Timeout | Mode::Status(408 | 429 | 500 | 502 | 503 | 504));
        Some(retried)
    },
    default: |_, made| Some(Tabled::new(&EXPONENTIAL, made).finish()),
    configure,
    retry_after: (true, POLICY),
    picks: "the SDK's own list",
    advice: || Advice {
        none: Some("set `retry: RetryOptions::none()` in `ClientOptions`".into()),
        fewer: Some("set a smaller `max_retries` in `ClientOptions`".into()),
        limit: Some("set `max_retries: 3`".into()),
        wait: Some("set `initial_delay`".into()),
        grow: Some("use `RetryOptions::exponential(..)`".into()),
        cap: Some("lower `max_delay`".into()),
        ..Advice::default()
    },
    is_local: |name| matches!(name, "url" | "endpoint"),
    takes_messages: |op| matches!(op, "receive_messages" | "delete_message" | "update_message" | "peek_messages"),
    sends: &[],
    makers: &["ClientOptions", "RetryOptions", "ClientBuilder", "DataLakeClientBuilder"],
    default_if_made_elsewhere: true,
    is_client: |path| is_azure(path) && path.last().is_some_and(|ty| is_client(ty)),
};

fn is_azure(path: &[&str]) -> bool {
    path.len() > 1 && path.first().is_some_and(|p| p.starts_with("azure_") && *p != "azure_identity")
}

fn is_client(ty: &str) -> bool {
    ty.ends_with("Client") && !matches!(ty, "HttpClient" | "Client")
}

fn is_options(ty: &str) -> bool {
    ty.ends_with("ClientOptions")
}

/// `azure_storage_blob` → `storage-blob`
fn leaf(path: &[&str]) -> String {
    path.first().map_or("", |p| p.trim_start_matches("azure_")).replace('_', "-")
}

/// The crate.
pub(crate) struct Azure;

impl RetryCrate for Azure {
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
        if !is_azure(path) {
            return None;
        }
        let value = match (path, args) {
            ([.., "RetryOptions", "none"], []) => {
                Tabled::new(&EXPONENTIAL, at.span).with_attempts(Setting::written(Attempts::Count(1), at.span)).value()
            }
            ([.., "RetryOptions", "exponential" | "fixed"], [options]) => options.clone(),
            ([.., "ExponentialRetryOptions" | "RetryOptions", "default"], []) => {
                Tabled::new(&EXPONENTIAL, at.span).value()
            }
            ([.., "FixedRetryOptions", "default"], []) => Tabled::new(&FIXED, at.span).value(),
            ([.., ty, "new" | "with_location" | "emulator"], _) if ty.ends_with("ClientBuilder") => {
                Client::settings(&LIBRARY, machine, at.span).calling(leaf(path)).value()
            }
            ([.., ty, "default"], []) if is_options(ty) => Client::settings(&LIBRARY, machine, at.span).value(),
            ([.., ty, name], _) if is_client(ty) && (*name == "new" || name.starts_with("from_")) => {
                let given = args.iter().find_map(|a| Client::of(&LIBRARY, a));
                let settings = given.unwrap_or_else(|| Client::settings(&LIBRARY, machine, at.span));
                settings.calling(leaf(path)).finish(machine, at.span)
            }
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
        if !is_azure(path) {
            return None;
        }
        match path {
            [.., "ExponentialRetryOptions"] => {
                Some(Tabled::new(&EXPONENTIAL, span).literal(machine, fields, rest, span).value())
            }
            [.., "FixedRetryOptions"] => Some(Tabled::new(&FIXED, span).literal(machine, fields, rest, span).value()),
            [.., ty] if is_options(ty) => {
                let options = Client::settings(&LIBRARY, machine, span);
                let field = |name: &str| fields.iter().find(|(n, _)| &**n == name).map(|(_, v)| v);
                Some(match (field("retry"), field("client_options").and_then(|c| Client::of(&LIBRARY, c))) {
                    (Some(retry), _) => options.with_policy(retry, place_of(retry, span)).value(),
                    (None, Some(inner)) => inner.value(),
                    (None, None) => options.value(),
                })
            }
            _ => None,
        }
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).calling(leaf(path)).value())
    }
}

/// Where a policy is made.
fn place_of(policy: &Value<'_>, fallback: Span) -> Span {
    match &policy.kind {
        Kind::Native(native) => native.policy().map_or(fallback, |p| p.made),
        _ => fallback,
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
        (name, _) if client.is_settings() && (name == "build" || name.ends_with("_client")) => {
            Some(client.clone().finish(machine, at.span))
        }
        ("retry" | "set_retry", [policy]) if client.is_settings() => {
            Some(client.clone().with_policy(policy, at.named()).value())
        }
        ("client_options", [options]) if client.is_settings() => Client::of(&LIBRARY, options).map(Client::value),
        _ => None,
    }
}
