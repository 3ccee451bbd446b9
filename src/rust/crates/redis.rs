//! redis: the cluster client repeats commands, up to sixteen times by default. Other connections only connect again.

use std::time::Duration;

use super::client::{Client, Library};
use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, Policy, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, Mode, Setting, Wait};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const CLUSTER: &str = "redis 1.8.1 src/cluster_handling/client.rs";

static META: SystemMeta = SystemMeta {
    id: "redis",
    name: "redis (cluster client)",
    reads: "Rust: `ClusterClient` and its builder, around the commands of its connections",
    marks: &["ClusterClient", "ClusterClientBuilder"],
    defaults: &[
        DefaultFigure { what: "retries not called", value: "17 attempts (16 retries)", source: CLUSTER },
        DefaultFigure { what: "wait", value: "1280 ms seven times, then random up to 655 s", source: CLUSTER },
        DefaultFigure {
            what: "what is retried",
            value: "connection errors, timeouts, redirects, TRYAGAIN, CLUSTERDOWN",
            source: CLUSTER,
        },
    ],
};

static FIGURES: Figures = Figures {
    name: "redis `ClusterClientBuilder`",
    attempts: Attempts::Count(17),
    law: Law::None,
    base: Duration::ZERO,
    factor: 1.0,
    cap: None,
    jitter: Jitter::None,
    everything: false,
    total: None,
    setters: &[("retries", Sets::Retries)],
    source: CLUSTER,
};

static LIBRARY: Library = Library {
    system: "redis",
    client: "redis cluster client",
    retries: |_, _, mode| Some(matches!(mode, Mode::Refused | Mode::Timeout)),
    default: |_, made| Some(policy(Tabled::new(&FIGURES, made))),
    configure,
    retry_after: (false, CLUSTER),
    picks: "the client's own test",
    advice: || Advice {
        fewer: Some("build the client with `ClusterClientBuilder` and a smaller `.retries(..)`".into()),
        ..Advice::default()
    },
    is_local: |_| false,
    takes_messages: |_| false,
    sends: &[],
    makers: &["ClusterClient", "ClusterClientBuilder"],
    default_if_made_elsewhere: true,
    is_client,
};

/// A plan with the waits of the cluster client: their law is none of the usual ones.
fn policy(plan: Tabled) -> Policy {
    let why = "is 1280 ms seven times, then random and growing".to_owned();
    Policy { wait: Wait::Unknown { why: why.clone() }, jitter: Setting::unknown(why, None), ..plan.finish() }
}

fn is_client(path: &[&str]) -> bool {
    path.first() == Some(&"redis") && matches!(path.last(), Some(&"ClusterClient" | &"ClusterConnection"))
}

/// The crate.
pub(crate) struct Redis;

impl RetryCrate for Redis {
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
        let ["redis", ..] = path else { return None };
        let settings = |machine: &mut Machine<'a, '_>| Client::settings(&LIBRARY, machine, at.span).calling("redis");
        let value = match (path, args) {
            ([.., "ClusterClient", "new"], [_]) => Value::wrap("Ok", settings(machine).finish(machine, at.span)),
            ([.., "ClusterClientBuilder", "new"] | [.., "ClusterClient", "builder"], [_]) => settings(machine).value(),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn of_type<'a>(&self, path: &[&str], id: u64) -> Option<Value<'a>> {
        is_client(path).then(|| Client::open(&LIBRARY, id, false).calling("redis").value())
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
        ("retries", [n]) if client.is_settings() => Some(counted(client, machine, n, at.named())),
        ("build", []) if client.is_settings() => Some(Value::wrap("Ok", client.clone().finish(machine, at.span))),
        ("get_connection" | "get_async_connection" | "get_connection_with_config", _) => {
            Some(Value::wrap("Ok", client.clone().part(name, args).value()))
        }
        _ => None,
    }
}

fn counted<'a>(client: &Client, machine: &Machine<'a, '_>, n: &Value<'a>, place: Span) -> Value<'a> {
    let plan = Tabled::new(&FIGURES, place).counting(machine, "retries", n, place);
    client.clone().having(policy(plan), place).value()
}
