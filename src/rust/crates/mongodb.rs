//! mongodb: reads and single writes are made once more after a network error.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Tabled};
use super::{At, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::systems::{DefaultFigure, SystemMeta};

const RETRY: &str = "mongodb 3.9.1 src/client/executor/retry.rs";

static META: SystemMeta = SystemMeta {
    id: "mongodb",
    name: "MongoDB driver",
    reads: "Rust: clients with `retryReads` and `retryWrites`, from the options to the operation",
    marks: &["mongodb"],
    defaults: &[
        DefaultFigure { what: "retryReads and retryWrites not set", value: "2 attempts", source: RETRY },
        DefaultFigure { what: "wait", value: "none", source: RETRY },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors and timeouts; not updates and deletes of many",
            source: RETRY,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "MongoDB driver",
    attempts: Attempts::Count(2),
    law: Law::None,
    base: Duration::ZERO,
    factor: 1.0,
    cap: None,
    jitter: Jitter::None,
    everything: false,
    total: None,
    setters: &[],
    source: RETRY,
};

static LIBRARY: Library = Library {
    system: "mongodb",
    client: "MongoDB client",
    retries: |_, op, mode| {
        let many = matches!(op, "update_many" | "delete_many" | "run_command");
        Some(!many && matches!(mode, Mode::Refused | Mode::Timeout))
    },
    default: |_, made| Some(Tabled::new(&FIGURES, made).finish()),
    configure,
    retry_after: (false, RETRY),
    picks: "the driver's own test",
    advice: || Advice {
        none: Some("set `retryReads=false` and `retryWrites=false` in the connection string".into()),
        ..Advice::default()
    },
    is_local: |name| matches!(name, "name" | "namespace" | "selection_criteria" | "start_session"),
    takes_messages: |_| false,
    sends: &[],
    makers: &["with_uri_str", "with_options"],
    default_if_made_elsewhere: true,
    is_client,
};

fn is_client(path: &[&str]) -> bool {
    path.first() == Some(&"mongodb") && matches!(path.last(), Some(&"Client" | &"Database" | &"Collection"))
}

/// The crate.
pub(crate) struct MongoDb;

impl RetryCrate for MongoDb {
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
        if path.first() != Some(&"mongodb") {
            return None;
        }
        // Either of the two in the connection string switches some of it off: what is left hangs on the operation.
        let off = |uri: &Value<'a>| {
            let text = uri.known_text().unwrap_or_default().to_ascii_lowercase();
            text.contains("retrywrites=false") || text.contains("retryreads=false")
        };
        let settings = |machine: &mut Machine<'a, '_>, uri: Option<&Value<'a>>| {
            let client = Client::settings(&LIBRARY, machine, at.span).calling("mongodb");
            if uri.is_some_and(off) { client.without_retries() } else { client }
        };
        let value = match (path, args) {
            ([.., "Client", "with_uri_str"], [uri]) => {
                Value::wrap("Ok", settings(machine, Some(uri)).finish(machine, at.span))
            }
            ([.., "Client", "with_options"], [options]) => {
                let given = Client::of(&LIBRARY, options);
                let client = given.unwrap_or_else(|| settings(machine, None));
                Value::wrap("Ok", client.finish(machine, at.span))
            }
            ([.., "ClientOptions", "parse"], [uri]) => Value::wrap("Ok", settings(machine, Some(uri)).value()),
            ([.., "ClientOptions", "builder" | "default"], []) => settings(machine, None).value(),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        is_client(path).then(|| Client::open(&LIBRARY, id, false).calling("mongodb").value())
    }
}

fn configure<'a>(client: &Client, _: &mut Machine<'a, '_>, name: &str, args: &[Value<'a>], _: At) -> Option<Value<'a>> {
    match (name, args) {
        ("retry_reads" | "retry_writes", [on]) if client.is_settings() => {
            let on = match on.variant() {
                Some(("Some", Some(inner))) => inner,
                _ => on,
            };
            matches!(on.kind, Kind::Bool(false)).then(|| client.clone().without_retries().value())
        }
        ("database" | "default_database" | "collection" | "database_with_options" | "collection_with_options", _) => {
            Some(client.clone().part(name, args).value())
        }
        _ => None,
    }
}
