//! octocrab: the feature `retry`, on by default, repeats each request to GitHub three times at once.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const RETRY: &str = "octocrab 0.54.9 src/service/middleware/retry.rs";

static META: SystemMeta = SystemMeta {
    id: "octocrab",
    name: "octocrab",
    reads: "Rust: GitHub clients with their `RetryConfig`",
    marks: &["octocrab", "Octocrab"],
    defaults: &[
        DefaultFigure {
            what: "add_retry_config not called",
            value: "4 attempts (3 retries)",
            source: "octocrab 0.54.9 src/lib.rs",
        },
        DefaultFigure { what: "wait", value: "none", source: RETRY },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, timeouts, 429, 5xx, whatever the method",
            source: RETRY,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "octocrab `RetryConfig`",
    attempts: Attempts::Count(4),
    law: Law::None,
    base: Duration::ZERO,
    factor: 1.0,
    cap: None,
    jitter: Jitter::None,
    everything: false,
    total: None,
    setters: &[("RetryConfig::Simple", Sets::Retries), ("max_retries", Sets::Retries)],
    source: RETRY,
};

static LIBRARY: Library = Library {
    system: "octocrab",
    client: "octocrab client",
    retries: |_, _, mode| Some(matches!(mode, Mode::Refused | Mode::Timeout | Mode::Status(429 | 500..=599))),
    default: |_, made| Some(Tabled::new(&FIGURES, made).finish()),
    configure,
    retry_after: (false, RETRY),
    picks: "octocrab's own test",
    advice: || Advice {
        none: Some("call `.add_retry_config(RetryConfig::None)` on the builder".into()),
        limit: Some("use `RetryConfig::Simple(3)`".into()),
        retry_after: Some("use `RetryConfig::HandleRateLimits { .. }`".into()),
        ..Advice::default()
    },
    is_local: |name| matches!(name, "current" | "set_base_url"),
    takes_messages: |_| false,
    sends: &[],
    makers: &["Octocrab", "OctocrabBuilder", "initialise"],
    default_if_made_elsewhere: true,
    is_client: |path| path.first() == Some(&"octocrab") && path.last() == Some(&"Octocrab"),
};

/// The crate.
pub(crate) struct Octocrab;

impl RetryCrate for Octocrab {
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
        if path.first() != Some(&"octocrab") {
            return None;
        }
        let settings =
            |machine: &mut Machine<'a, '_>| Client::settings(&LIBRARY, machine, at.span).calling("api.github.com");
        let value = match (path, args) {
            ([.., "Octocrab", "builder"] | [.., "OctocrabBuilder", "new" | "default"], []) => settings(machine).value(),
            (["octocrab", "instance"] | [.., "Octocrab", "default"], []) => settings(machine).finish(machine, at.span),
            ([.., "RetryConfig", "Simple"], [n]) => {
                Tabled::new(&FIGURES, at.span).counting(machine, "RetryConfig::Simple", n, at.span).value()
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        match path {
            ["octocrab", .., "RetryConfig", "None"] => {
                Some(crate::rust::eval::call::variant(None, Name::from("RetryConfig::None"), Vec::new()))
            }
            _ => None,
        }
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
            ["octocrab", .., "HandleRateLimits"] => {
                Some(Tabled::new(&FIGURES, span).literal(machine, fields, rest, span).value())
            }
            _ => None,
        }
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).calling("api.github.com").value())
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
        ("add_retry_config", [config]) if config.variant().is_some_and(|(name, _)| name == "RetryConfig::None") => {
            let place = at.named();
            let off = Tabled::new(&FIGURES, place).with_attempts(Setting::written(Attempts::Count(1), place));
            Some(client.clone().with_policy(&off.value(), place).value())
        }
        ("add_retry_config", [config]) => Some(client.clone().with_policy(config, at.named()).value()),
        ("build", []) if client.is_settings() => Some(Value::wrap("Ok", client.clone().finish(machine, at.span))),
        _ => None,
    }
}
