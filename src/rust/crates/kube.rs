//! kube: a client that repeats requests by default from version 4 on, and watchers that begin again after each error.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Tabled};
use super::{At, Described, Native, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, LayerKind, Mode, Purpose, Setting, Wait};
use crate::rust::cargo::Release;
use crate::rust::eval::goal::Outgoing;
use crate::rust::eval::key::Carried;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Taint, Value};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const CLIENT: &str = "kube-client 5.0.0 src/client/retry.rs, src/config/mod.rs";
const WATCHER: &str = "kube-runtime 5.0.0 src/watcher.rs";

static META: SystemMeta = SystemMeta {
    id: "kube",
    name: "kube",
    reads: "Rust: clients and `Api`s with the client's own retries, and watchers with or without a backoff",
    marks: &["kube", "kube_client", "kube_runtime"],
    defaults: &[
        DefaultFigure {
            what: "client, default_retry not set",
            value: "16 attempts (15 retries) from 4.0 on",
            source: CLIENT,
        },
        DefaultFigure {
            what: "client before 4.0",
            value: "1 attempt",
            source: "kube-client 3.1.0 src/client/builder.rs",
        },
        DefaultFigure {
            what: "wait of the client",
            value: "5 ms, doubling, up to 1000 s, times 1 to 3",
            source: CLIENT,
        },
        DefaultFigure {
            what: "what the client retries",
            value: "429, 503, 504; Retry-After is heeded",
            source: CLIENT,
        },
        DefaultFigure {
            what: "watcher without default_backoff",
            value: "begins again at once, without limit",
            source: WATCHER,
        },
        DefaultFigure { what: "default_backoff", value: "800 ms, doubling, up to 30 s, with jitter", source: WATCHER },
    ],
};

static FIGURES: Figures = Figures {
    name: "kube client",
    attempts: Attempts::Count(16),
    law: Law::Exponential,
    base: Duration::from_millis(5),
    factor: 2.0,
    cap: Some(Duration::from_secs(1000)),
    jitter: Jitter::Partial { low: 1.0, high: 3.0 },
    total: None,
    setters: &[],
    everything: false,
    source: CLIENT,
};

static LIBRARY: Library = Library {
    system: "kube",
    client: "kube client",
    retries: |_, _, mode| Some(matches!(mode, Mode::Status(429 | 503 | 504))),
    default: |machine, made| {
        let release = machine.release_of("kube-client").or_else(|| machine.release_of("kube"));
        release.is_none_or(|r| r >= Release(4, 0, 0)).then(|| Tabled::new(&FIGURES, made).finish())
    },
    configure,
    retry_after: (true, CLIENT),
    picks: "the client's own test",
    advice: || Advice { none: Some("set `default_retry: false` in kube's `Config`".into()), ..Advice::default() },
    is_local: |name| matches!(name, "resource_url" | "into_client" | "default_namespace"),
    takes_messages: |_| false,
    sends: &[],
    makers: &["try_default", "infer", "incluster", "from_kubeconfig", "from_custom_kubeconfig"],
    default_if_made_elsewhere: true,
    is_client: |path| is_kube(path) && matches!(path.last(), Some(&"Client" | &"Api")),
};

fn is_kube(path: &[&str]) -> bool {
    matches!(path.first(), Some(&"kube" | &"kube_client" | &"kube_runtime"))
}

/// The crate.
pub(crate) struct Kube;

impl RetryCrate for Kube {
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
        if !is_kube(path) {
            return None;
        }
        let settings = |machine: &mut Machine<'a, '_>| {
            let given = args.first().and_then(|a| Client::of(&LIBRARY, a));
            given.unwrap_or_else(|| Client::settings(&LIBRARY, machine, at.span)).calling("kubernetes")
        };
        let value = match (path, args) {
            (
                [.., "Config", "infer" | "incluster" | "incluster_env" | "from_kubeconfig" | "from_custom_kubeconfig"],
                _,
            ) => Value::wrap("Ok", Client::settings(&LIBRARY, machine, at.span).value()),
            ([.., "Config", "new"], _) => Client::settings(&LIBRARY, machine, at.span).value(),
            ([.., "Client", "try_default" | "try_from"], _) => {
                Value::wrap("Ok", settings(machine).finish(machine, at.span))
            }
            ([.., "ClientBuilder", "try_from"], _) => Value::wrap("Ok", settings(machine).value()),
            ([.., "Client" | "ClientBuilder", "new"], _) => {
                // A service stack of one's own has the layers that are put into it.
                Client::settings(&LIBRARY, machine, at.span)
                    .without_retries()
                    .calling("kubernetes")
                    .finish(machine, at.span)
            }
            ([.., "Api", name], [client, ..])
                if name.starts_with("all") || name.contains("namespaced") || *name == "cluster" =>
            {
                client.clone()
            }
            ([.., "watcher" | "metadata_watcher" | "watch_object" | "watch_metadata"], [_, ..]) => {
                Value::new(Kind::Native(Rc::new(Watch { opens: at.span, backoff: None })))
            }
            // A store that is filled as the watch goes by.
            ([.., "reflector"], [_, watch]) => watch.clone(),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        (LIBRARY.is_client)(path).then(|| Client::open(&LIBRARY, id, false).calling("kubernetes").value())
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
    match (name, args) {
        ("default_retry", [Value { kind: Kind::Bool(on), .. }]) => {
            let off = client.clone().without_retries();
            Some(if *on { client.clone().value() } else { off.value() })
        }
        ("build", []) => Some(client.clone().finish(machine, at.span)),
        _ => None,
    }
}

/// What `watcher(..)` gives: a stream that begins again, whatever went wrong.
#[derive(Debug, Clone)]
struct Watch {
    opens: Span,
    backoff: Option<Span>,
}

impl Watch {
    fn described(&self) -> Described {
        let plain = Described {
            purpose: Purpose::Upkeep,
            reading: "watcher".to_owned(),
            attempts: Setting::default(Attempts::Unbounded, WATCHER),
            picks: "a watcher, whatever went wrong",
            undiscriminating: true,
            advice: Advice { wait: Some("put `.default_backoff()` behind the watcher".into()), ..Advice::default() },
            ..Described::new("kube", LayerKind::Code, "watcher", self.opens)
        };
        let Some(place) = self.backoff else { return plain };
        let wait = Wait::Exponential {
            base: Setting::default(Duration::from_millis(800), WATCHER),
            factor: Setting::default(2.0, WATCHER),
            cap: Setting::default(Some(Duration::from_secs(30)), WATCHER),
        };
        let jitter = Setting::default(Jitter::Partial { low: 1.0, high: 2.0 }, WATCHER);
        Described { wait, wait_place: Some(place), jitter, reading: "watcher with a backoff".to_owned(), ..plain }
    }

    /// The next event: an error does not end the stream.
    fn poll<'a>(&self, machine: &mut Machine<'a, '_>, at: Span) -> Eval<'a> {
        let outgoing = Outgoing {
            span: at,
            identity: u64::from(self.opens.start),
            http: true,
            grpc: false,
            url: None,
            method: None,
            key: Carried::Nothing,
            limit: None,
            layered: true,
            takes_messages: false,
            stream: Some(Arc::new(self.described())),
            what: "the watch".to_owned(),
        };
        let end = machine.outgoing(&outgoing)?;
        Ok(machine.opaque_result(end, "watcher"))
    }
}

impl<'a> Native<'a> for Watch {
    fn identity(&self) -> u64 {
        u64::from(self.opens.start)
    }

    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let taken = |how: Taking<'a>| {
            Some(Ok(Value::new(Kind::Native(Rc::new(Taken { watch: self.clone(), how, at: at.span })))))
        };
        match (name, args) {
            ("default_backoff" | "backoff", _) => {
                Some(Ok(Value::new(Kind::Native(Rc::new(Self { backoff: Some(at.named()), ..(*self).clone() })))))
            }
            ("next" | "select_next_some", []) => taken(Taking::Next),
            ("try_next", []) => taken(Taking::TryNext),
            ("for_each", [f]) | ("for_each_concurrent", [_, f]) => taken(Taking::Each(f.clone())),
            ("try_for_each", [f]) | ("try_for_each_concurrent", [_, f]) => taken(Taking::TryEach(f.clone())),
            _ => None,
        }
    }
}

/// How a watch is waited for.
#[derive(Debug, Clone)]
enum Taking<'a> {
    /// One event or error.
    Next,
    /// One event; an error goes to `?`.
    TryNext,
    /// All, errors too.
    Each(Value<'a>),
    /// All up to the first error.
    TryEach(Value<'a>),
}

/// A watch that is waited for.
#[derive(Debug, Clone)]
struct Taken<'a> {
    watch: Rc<Watch>,
    how: Taking<'a>,
    at: Span,
}

impl<'a> Taken<'a> {
    fn one(&self, machine: &mut Machine<'a, '_>, f: &Value<'a>, of_result: bool) -> Eval<'a> {
        let result = self.watch.poll(machine, self.at)?;
        let given = match result.variant() {
            Some(("Err", _)) if !of_result => return Ok(result),
            _ => result.clone(),
        };
        let done = machine.call_value(f, vec![given], self.at)?;
        machine.await_value(done, self.at)?;
        Ok(result)
    }
}

impl<'a> Native<'a> for Taken<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, _: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        None
    }

    fn is_future(&self) -> bool {
        true
    }

    fn awaited(self: Rc<Self>, machine: &mut Machine<'a, '_>, _: Span) -> Option<Eval<'a>> {
        Some(match &self.how {
            Taking::Next => self.watch.poll(machine, self.at).map(|result| Value::wrap("Some", result)),
            Taking::TryNext => self.watch.poll(machine, self.at),
            Taking::TryEach(f) => self.one(machine, f, false),
            Taking::Each(f) => {
                let described = Arc::new(self.watch.described());
                machine.repeat(described, &mut |m| self.one(m, f, true), &mut |m, result| {
                    Ok(!m.discovering() && result.taint.has(Taint::FAILURE))
                })
            }
        })
    }
}
