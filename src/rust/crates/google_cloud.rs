//! Google Cloud client libraries for Rust: ten tries within a minute, of calls that may be repeated.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, Policy, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::methods::no_place;
use crate::rust::eval::value::Value;
use crate::systems::{DefaultFigure, SystemMeta};

const GAX: &str = "google-cloud-gax 1.15.0 src/retry_policy.rs, src/exponential_backoff.rs";
const DEFAULTS: &str = "google-cloud-gax-internal 0.7.21 src/grpc/transport_policies.rs, src/http.rs";
const STORAGE: &str = "google-cloud-storage 1.21.0 src/retry_policy.rs";

static META: SystemMeta = SystemMeta {
    id: "google-cloud",
    name: "Google Cloud for Rust",
    reads: "Rust: clients of google-cloud-* crates with their retry and backoff policies",
    marks: &["google_cloud_gax"],
    defaults: &[
        DefaultFigure { what: "with_retry_policy not called", value: "10 attempts within 60 s", source: DEFAULTS },
        DefaultFigure {
            what: "the same in google-cloud-storage",
            value: "within 300 s, no count; 408, 429, 5xx of reads",
            source: STORAGE,
        },
        DefaultFigure {
            what: "with_backoff_policy not called",
            value: "1 s, doubling, up to 60 s, full jitter",
            source: GAX,
        },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors and 503 (gRPC UNAVAILABLE), of calls that only read",
            source: GAX,
        },
        DefaultFigure { what: "AlwaysRetry or Aip194Strict without a limit", value: "no limit", source: GAX },
    ],
};

const SETTERS: &[(&str, Sets)] = &[
    ("with_attempt_limit", Sets::Attempts),
    ("with_time_limit", Sets::Total),
    ("with_initial_delay", Sets::Base),
    ("with_maximum_delay", Sets::Cap),
    ("with_scaling", Sets::Factor),
];

static CLIENT: Figures = CLIENT_AS_IT_IS;

static STORE: Figures = Figures {
    name: "Google Cloud Storage client",
    attempts: Attempts::Unbounded,
    total: Some(Duration::from_secs(300)),
    source: STORAGE,
    ..CLIENT_AS_IT_IS
};

/// A policy without a limit of its own.
static STRICT: Figures = Figures {
    name: "google-cloud `Aip194Strict`",
    attempts: Attempts::Unbounded,
    total: None,
    source: GAX,
    ..CLIENT_AS_IT_IS
};

static ALWAYS: Figures = Figures {
    name: "google-cloud `AlwaysRetry`",
    attempts: Attempts::Unbounded,
    everything: true,
    total: None,
    source: GAX,
    ..CLIENT_AS_IT_IS
};

const CLIENT_AS_IT_IS: Figures = Figures {
    name: "Google Cloud client",
    attempts: Attempts::Count(10),
    law: Law::Exponential,
    base: Duration::from_secs(1),
    factor: 2.0,
    cap: Some(Duration::from_secs(60)),
    jitter: Jitter::Full,
    everything: false,
    total: Some(Duration::from_secs(60)),
    setters: SETTERS,
    source: DEFAULTS,
};

static LIBRARY: Library = Library {
    system: "google-cloud",
    client: "Google Cloud client",
    retries,
    default: |_, made| Some(Tabled::new(&CLIENT, made).finish()),
    configure,
    retry_after: (false, GAX),
    picks: "the client's retry policy",
    advice: || Advice {
        none: Some("build the client with `.with_retry_policy(NeverRetry)`".into()),
        fewer: Some("build the client with a smaller limit".into()),
        limit: Some("add `.with_attempt_limit(3)` to the policy".into()),
        wait: Some("set `.with_initial_delay(..)` in the backoff policy".into()),
        cap: Some("set `.with_maximum_delay(..)` in the backoff policy".into()),
        statuses: Some("use `Aip194Strict` instead of `AlwaysRetry`".into()),
        ..Advice::default()
    },
    is_local: |_| false,
    takes_messages: |op| matches!(op, "pull" | "acknowledge" | "modify_ack_deadline" | "subscribe"),
    sends: &["send", "poller", "by_item", "by_page"],
    makers: &["builder", "with_retry_policy"],
    default_if_made_elsewhere: true,
    is_client: |path| is_google(path) && path.contains(&"client"),
};

/// What only reads is repeated; anything else only where it was surely not sent.
fn retries(_: &Machine<'_, '_>, op: &str, mode: Mode) -> Option<bool> {
    let reads = ["get", "list", "query", "search", "read", "open"].iter().any(|word| op.starts_with(word));
    // The data plane of Cloud Storage; what writes needs a precondition.
    if op.ends_with("_object") {
        return match mode {
            Mode::Refused | Mode::Timeout | Mode::Status(408 | 429 | 500..=599) => reads.then_some(true),
            _ => Some(false),
        };
    }
    match mode {
        Mode::Refused if !reads => None,
        Mode::Refused | Mode::Status(503) if reads => Some(true),
        Mode::Timeout if reads => None,
        _ => Some(false),
    }
}

fn is_google(path: &[&str]) -> bool {
    path.len() > 1 && path.first().is_some_and(|p| p.starts_with("google_cloud_"))
}

/// `google_cloud_secretmanager_v1` → `secretmanager`
fn leaf(path: &[&str]) -> String {
    let name = path.first().map_or("", |p| p.trim_start_matches("google_cloud_"));
    let name =
        name.rsplit_once("_v").filter(|(_, v)| v.starts_with(|c: char| c.is_ascii_digit())).map_or(name, |(n, _)| n);
    name.replace('_', "-")
}

/// The crate.
pub(crate) struct GoogleCloud;

impl RetryCrate for GoogleCloud {
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
        if !is_google(path) {
            return None;
        }
        let plan = |figures: &'static Figures| Tabled::new(figures, at.span);
        let value = match (path, args) {
            ([.., "LimitedAttemptCount", "new"], [n]) => {
                plan(&STRICT).counting(machine, "with_attempt_limit", n, at.span).value()
            }
            ([.., "ExponentialBackoffBuilder", "new" | "default"] | [.., "ExponentialBackoff", "default"], []) => {
                plan(&CLIENT).value()
            }
            ([first, .., "Storage", "builder"], []) if first.ends_with("_storage") => {
                let policy = plan(&STORE).value();
                let client = Client::settings(&LIBRARY, machine, at.span).with_policy(&policy, at.span);
                client.by_default().calling(leaf(path)).value()
            }
            ([.., _, "builder"], []) if path.contains(&"client") => {
                Client::settings(&LIBRARY, machine, at.span).calling(leaf(path)).value()
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        if !is_google(path) {
            return None;
        }
        // Where it is named is not told here; what it is given to says where it stands.
        let plan = |figures: &'static Figures| Tabled::new(figures, no_place());
        Some(match *path.last()? {
            "AlwaysRetry" => plan(&ALWAYS).value(),
            "Aip194Strict" => plan(&STRICT).value(),
            "NeverRetry" => plan(&STRICT).with_attempts(Setting::default(Attempts::Count(1), GAX)).value(),
            _ => return None,
        })
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).calling(leaf(path)).value())
    }
}

fn configure<'a>(
    client: &Client,
    machine: &mut Machine<'a, '_>,
    name: &str,
    args: &[Value<'a>],
    at: At,
) -> Option<Value<'a>> {
    if !client.is_settings() {
        return None;
    }
    let place = at.named();
    Some(match (name, args) {
        ("with_retry_policy", [policy]) => {
            // The waits that were set before stay.
            let waits = client.policy().map(|p: Policy| (p.wait, p.jitter));
            client.clone().with_policy(policy, place).keeping(waits).value()
        }
        ("with_backoff_policy", [waits]) => client.clone().with_waits(waits, place).value(),
        ("build", []) => Value::wrap("Ok", client.clone().finish(machine, at.span)),
        _ => return None,
    })
}
