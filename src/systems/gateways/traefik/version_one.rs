//! Version 1: one `retry` for all frontends.

use std::collections::BTreeMap;

use super::ID;
use super::dynamic::field;
use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Mode, ModeSet, Pick, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Value};
use crate::systems::gateways::base;
use crate::systems::settings;

/// Where it is written how often it tries.
pub(super) const BALANCER: &str = "traefik/traefik v1.7.34 server/server_loadbalancer.go";

/// Reads a static configuration, with the frontends and backends of its file provider.
pub(super) fn read(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let from = GatewayName::OfFile { file: file.id, system: ID };
    let backends: BTreeMap<String, Vec<HostRef>> =
        section(root, "backends").iter().map(|e| (e.key.to_lowercase(), servers(e))).collect();
    let mut to = Vec::new();
    for frontend in section(root, "frontends") {
        let Some(named) = field(&frontend.value, "backend").and_then(|e| e.value.as_str()) else { continue };
        let hosts = backends.get(&named.to_lowercase()).cloned().unwrap_or_default();
        if !hosts.is_empty() {
            let route =
                RouteFact { from: from.clone(), to: hosts.clone(), grpc: false, limit: None, span: frontend.key_span };
            facts.routes.push(route);
        }
        to.extend(hosts);
    }
    let is_static = !to.is_empty() || root.get_any(&["entryPoints", "defaultEntryPoints"]).is_some();
    let is_block = |e: &&Entry| matches!(e.value.value, Value::Map(_));
    let Some(retry) = root.entry("retry").filter(|_| is_static).filter(is_block) else { return };
    // A balancer has as many tries as servers where nobody says how many.
    let most = backends.values().map(Vec::len).max().filter(|n| *n > 0);
    facts.layers.push(layer(file, retry, most, (from, settings::distinct(to))));
}

fn section<'n>(root: &'n Node, name: &str) -> &'n [Entry] {
    root.get(name).map_or(&[][..], Node::entries)
}

/// The servers of a backend; of addresses alone the backend's name stands for them.
fn servers(backend: &Entry) -> Vec<HostRef> {
    let servers = field(&backend.value, "servers").map_or(&[][..], |e| e.value.entries()).iter();
    let urls = servers.filter_map(|e| field(&e.value, "url"));
    let hosts: Vec<HostRef> = urls.filter_map(|e| settings::host(e.value.as_str()?, e.value.span, None)).collect();
    let named = hosts
        .iter()
        .filter(|h| settings::is_address(&h.name))
        .map(|h| HostRef { name: backend.key.to_lowercase(), ..h.clone() });
    let named: Vec<HostRef> = named.collect();
    hosts.into_iter().filter(|h| !settings::is_address(&h.name)).chain(named).collect()
}

fn layer(file: &SourceFile, retry: &Entry, servers: Option<usize>, (from, to): (GatewayName, Vec<HostRef>)) -> Layer {
    let name = "Traefik retry".to_string();
    let opens = retry.key_span;
    let count = field(&retry.value, "attempts").filter(|e| e.value.as_int() != Some(0));
    let refused: ModeSet = [Mode::Refused].into_iter().collect();
    let pick = Pick { modes: refused, span: opens, text: "Traefik's fixed conditions".to_string() };
    Layer {
        reading: match count {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, which sets no `attempts`"),
        },
        place: count.map_or(opens, |e| e.value.span),
        asked_for: true,
        attempts: match count {
            Some(e) => tries(e),
            None => match servers {
                Some(n) => Setting::default(Attempts::Count(n as u64), BALANCER),
                None => no_servers(opens),
            },
        },
        retries: Conditions {
            yes: refused,
            // Whether a request that was sent is sent again depends on the release.
            unknown: [Mode::Timeout].into_iter().collect(),
            picks: vec![pick],
            ..Conditions::default()
        },
        advice: Advice {
            none: Some("take `[retry]` out".to_string()),
            fewer: Some("set a smaller `attempts`".to_string()),
            ..Advice::default()
        },
        scope: base::hops(vec![from], to),
        ..base::layer(ID, format!("{ID}:retry:{}", file.path).into(), name, opens, BALANCER)
    }
}

fn tries(count: &Entry) -> Setting<Attempts> {
    match count.value.as_int().and_then(|n| u64::try_from(n).ok()) {
        Some(n) => Setting::written(Attempts::Count(n.max(1)), count.value.span),
        None => Setting::unknown("`attempts` is not a whole number here", Some(count.value.span)),
    }
}

fn no_servers(opens: Span) -> Setting<Attempts> {
    Setting::unknown("one try for each server, and how many there are does not stand here", Some(opens))
}
