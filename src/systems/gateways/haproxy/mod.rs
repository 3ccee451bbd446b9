//! HAProxy: `haproxy.cfg`, its defaults, backends and listens.

mod guard;
pub(super) mod policy;
pub(super) mod retry_on;

use std::collections::BTreeMap;

use self::policy::Backend;
use crate::facts::{Facts, RouteFact};
use crate::model::{GatewayName, HostRef, Inert};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// HAProxy.
pub struct HaProxy;

const ID: &str = "haproxy";
const MANUAL: &str = "haproxy/haproxy doc/configuration.txt";
const STREAM: &str = "haproxy/haproxy src/stream.c, src/backend.c";
const RETRIES: &str = "haproxy/haproxy include/haproxy/defaults.h, CONN_RETRIES";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "HAProxy",
    reads: "`haproxy.cfg`: `retries`, `retry-on`, `option redispatch` and what guards them, in defaults, backends and \
            listens",
    // The words alone are in every other file.
    marks: &["\nbackend ", "\nlisten ", "\n  server ", "\n    server ", "\n\tserver ", "retry-on", "redispatch"],
    defaults: &[
        DefaultFigure { what: "retries absent", value: "4 attempts (3 retries)", source: RETRIES },
        DefaultFigure { what: "retries 0", value: "1 attempt", source: MANUAL },
        DefaultFigure { what: "retry-on absent", value: "`conn-failure`: refused connections", source: MANUAL },
        DefaultFigure {
            what: "the wait after a refused connection",
            value: "`timeout connect`, 1 s at most, before the same server is asked again; otherwise none",
            source: STREAM,
        },
        DefaultFigure {
            what: "option redispatch with several servers",
            value: "each retry goes to another server at once",
            source: STREAM,
        },
        DefaultFigure { what: "methods", value: "any: with a wider `retry-on` a POST is sent again", source: MANUAL },
        DefaultFigure { what: "timeout server absent", value: "no limit on a try", source: MANUAL },
        DefaultFigure { what: "limit on all tries together", value: "none; there is no such setting", source: MANUAL },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: MANUAL },
        DefaultFigure {
            what: "mode tcp",
            value: "what `retry-on` says of answers does nothing; without `conn-failure` in it nothing is retried",
            source: STREAM,
        },
    ],
};

impl System for HaProxy {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let parts = unit.parts.iter().filter(|p| Syntax::of_path(p.name) == Some(Syntax::HaProxy));
        let files: Vec<(&SourceFile, &Node)> =
            parts.flat_map(|p| p.parsed.documents.iter().map(move |root| (p.file, &**root))).collect();
        // A file without defaults of its own is one of several that are loaded together.
        let shared: Vec<&Node> = files.iter().map(|(_, root)| *root).filter(|root| has_defaults(root)).collect();
        for &(file, root) in &files {
            let outside = if has_defaults(root) { None } else { shared.first().copied() };
            read(file, root, outside, facts);
        }
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        (Syntax::of_path(path) == Some(Syntax::HaProxy)).then(|| format!("{ID}:{folder}"))
    }
}

fn has_defaults(root: &Node) -> bool {
    root.entry("defaults").is_some()
}

fn read(file: &SourceFile, root: &Node, outside: Option<&Node>, facts: &mut Facts) {
    let sections = outside.map_or(&[][..], Node::entries).iter().filter(|e| &*e.key == "defaults");
    let mut defaults = Defaults::default();
    sections.for_each(|e| defaults.add(e));
    let mut ids = Ids::default();
    for section in root.entries() {
        match &*section.key {
            "defaults" => defaults.add(section),
            "backend" | "listen" => {
                let (Some(name), Some(block)) = (section.value.arg(0), section.value.block()) else { continue };
                let backend = Backend { name, section, block, defaults: defaults.of(section) };
                let to = backend.hosts();
                let from = GatewayName::OfFile { file: file.id, system: ID };
                if !to.is_empty() {
                    facts.routes.push(RouteFact {
                        from: from.clone(),
                        to: to.clone(),
                        grpc: false,
                        limit: None,
                        span: section.head(),
                    });
                }
                facts.inert.extend(backend.inert());
                facts.layers.extend(backend.layer(ids.next(format!("{ID}:{}:{name}", section.key)), from, to));
            }
            "frontend" => facts.inert.extend(of_frontend(section)),
            _ => {}
        }
    }
}

/// A frontend sends nothing to a server: HAProxy passes these over with a warning.
fn of_frontend(section: &Entry) -> Option<Inert> {
    let block = section.value.block()?;
    let redispatch = block.directives("option").find(|e| e.value.arg(0) == Some("redispatch"));
    let entry = block.directive("retries").or(redispatch)?;
    let words: Vec<&str> = entry.value.args().filter_map(Node::as_str).collect();
    let setting = format!("`{} {}`", entry.key, settings::shown(&words.join(" ")));
    let name = format!("HAProxy frontend {}", section.value.arg(0).unwrap_or_default());
    let why = "a frontend retries nothing; its backends do";
    Some(Inert::new(entry.head(), setting, why).of(&name).instead("Write it in the backend, or in defaults"))
}

/// The sections of defaults so far.
#[derive(Default)]
struct Defaults<'n> {
    named: BTreeMap<&'n str, Vec<&'n Node>>,
    last: Vec<&'n Node>,
}

/// Sections that take theirs from one another.
const MAX_CHAIN: usize = 16;

impl<'n> Defaults<'n> {
    fn add(&mut self, section: &'n Entry) {
        let Some(block) = section.value.block() else { return };
        let mut chain = vec![block];
        if let Some(base) = from(section).and_then(|name| self.named.get(name)) {
            chain.extend(base.iter().take(MAX_CHAIN));
        }
        if let Some(name) = section.value.arg(0).filter(|n| *n != "from") {
            self.named.insert(name, chain.clone());
        }
        self.last = chain;
    }

    /// The defaults of a section, the nearest first: those that it names, else the last ones above it.
    fn of(&self, section: &'n Entry) -> Vec<&'n Node> {
        match from(section) {
            Some(name) => self.named.get(name).cloned().unwrap_or_default(),
            None => self.last.clone(),
        }
    }
}

/// `backend a from base`
fn from(section: &Entry) -> Option<&str> {
    let at = section.value.args().position(|a| a.as_str() == Some("from"))?;
    section.value.arg(at + 1)
}

/// The host of an address: `10.0.0.1:80`, `orders:8080`, `ipv4@orders:8080`.
fn host(node: &Node) -> Option<HostRef> {
    let text = node.as_str()?;
    let (family, rest) = text.split_once('@').unwrap_or(("", text));
    let is_socket = matches!(family, "unix" | "abns" | "sockpair" | "fd") || text.starts_with('/');
    // An address of version 6 has colons of its own; what follows the last one need not be there.
    let is_bare_six = rest.matches(':').count() > 1 && !rest.starts_with('[');
    (!is_socket && !is_bare_six).then(|| settings::host(rest.trim_end_matches(':'), node.span, None)).flatten()
}
