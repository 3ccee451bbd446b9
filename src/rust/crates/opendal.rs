//! opendal: operators with a `RetryLayer`.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::systems::{DefaultFigure, SystemMeta};

const LAYER: &str = "opendal-layer-retry 0.59.5 src/lib.rs, backon 1.6.0 src/backoff/exponential.rs";
const S3: &str = "opendal-service-s3 0.59.5 src/core.rs";

static META: SystemMeta = SystemMeta {
    id: "opendal",
    name: "opendal",
    reads: "Rust: operators and their `RetryLayer`, from the service's builder to the operation",
    marks: &["opendal", "opendal_layer_retry"],
    defaults: &[
        DefaultFigure { what: "no RetryLayer", value: "1 attempt", source: LAYER },
        DefaultFigure { what: "with_max_times not called", value: "4 attempts (3 retries)", source: LAYER },
        DefaultFigure {
            what: "with_min_delay, with_factor, with_max_delay",
            value: "1 s, doubling, up to 60 s",
            source: LAYER,
        },
        DefaultFigure { what: "with_jitter not called", value: "no jitter", source: LAYER },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, timeouts, 429, 499, 500, 502, 503, 504",
            source: S3,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "opendal `RetryLayer`",
    attempts: Attempts::Count(4),
    law: Law::Exponential,
    base: Duration::from_secs(1),
    factor: 2.0,
    cap: Some(Duration::from_secs(60)),
    jitter: Jitter::None,
    total: None,
    setters: &[
        ("with_max_times", Sets::Retries),
        ("with_min_delay", Sets::Base),
        ("with_max_delay", Sets::Cap),
        ("with_factor", Sets::Factor),
        ("with_jitter", Sets::Jitter),
    ],
    everything: false,
    source: LAYER,
};

static LIBRARY: Library = Library {
    system: "opendal",
    client: "opendal operator",
    retries,
    default: |_, _| None,
    configure,
    retry_after: (false, LAYER),
    picks: "`RetryLayer`: errors that are temporary",
    advice: || Advice {
        none: Some("leave the `RetryLayer` out".into()),
        fewer: Some("give `with_max_times(..)` a smaller number".into()),
        limit: Some("add `.with_max_times(3)`".into()),
        wait: Some("add `.with_min_delay(..)`".into()),
        grow: Some("set `.with_factor(2.0)`".into()),
        cap: Some("add `.with_max_delay(..)`".into()),
        jitter: Some("add `.with_jitter()`".into()),
        ..Advice::default()
    },
    is_local: |name| matches!(name, "info" | "blocking" | "executor" | "default_executor"),
    takes_messages: |_| false,
    sends: &[],
    makers: &["Operator"],
    default_if_made_elsewhere: false,
    is_client: |path| path.first() == Some(&"opendal") && path.last() == Some(&"Operator"),
};

fn retries(_: &Machine<'_, '_>, _: &str, mode: Mode) -> Option<bool> {
    Some(matches!(mode, Mode::Refused | Mode::Timeout | Mode::Status(429 | 499 | 500 | 502 | 503 | 504)))
}

/// The crate.
pub(crate) struct OpenDal;

impl RetryCrate for OpenDal {
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
        if !matches!(path.first(), Some(&"opendal" | &"opendal_layer_retry")) {
            return None;
        }
        let value = match (path, args) {
            ([.., "RetryLayer", "new" | "default"], []) => Tabled::new(&FIGURES, at.span).value(),
            ([.., "services", service, _], _) => {
                Client::settings(&LIBRARY, machine, at.span).calling(service.to_lowercase()).value()
            }
            ([.., "Operator", "new"], [builder]) => Value::wrap("Ok", operator(machine, builder, at)),
            ([.., "Operator", "via_iter" | "from_iter" | "from_map" | "from_config" | "from_uri"], _) => {
                let builder = args.first().cloned().unwrap_or_else(Value::unit);
                Value::wrap("Ok", operator(machine, &builder, at))
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).value())
    }
}

fn operator<'a>(machine: &mut Machine<'a, '_>, builder: &Value<'a>, at: At) -> Value<'a> {
    let settings = Client::of(&LIBRARY, builder).unwrap_or_else(|| Client::settings(&LIBRARY, machine, at.span));
    settings.finish(machine, at.span)
}

fn configure<'a>(
    client: &Client,
    machine: &mut Machine<'a, '_>,
    name: &str,
    args: &[Value<'a>],
    at: At,
) -> Option<Value<'a>> {
    match (name, args) {
        // Of two the inner one marks what it gives up as permanent, and the outer one lets that be.
        ("layer", [layer]) => Some(match Tabled::of(layer) {
            Some(_) if client.has_policy() => client.clone().value(),
            Some(policy) => {
                let opens = policy.made;
                client.clone().with_policy(layer, opens).finish(machine, at.span)
            }
            None => client.clone().value(),
        }),
        ("finish", []) => Some(client.clone().value()),
        _ => None,
    }
}
