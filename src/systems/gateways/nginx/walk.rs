//! Where requests are handed on, with the directives that hold there.

use std::collections::{BTreeMap, BTreeSet};

use super::ID;
use super::include::{ConfFile, Files};
use super::policy::{self, Pass, Uses};
use super::upstream::{self, Upstream, Upstreams};
use crate::facts::{Facts, RouteFact};
use crate::model::GatewayName;
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};

/// The families of directives, by what hands a request on.
pub(super) const FAMILIES: [&str; 6] = ["proxy", "fastcgi", "uwsgi", "scgi", "grpc", "memcached"];

/// The directives that hold at a place, by name: the innermost of each.
#[derive(Clone, Default)]
pub(super) struct Scope<'n> {
    own: BTreeMap<&'n str, &'n Entry>,
    /// The values that `set` gives to variables.
    variables: BTreeMap<&'n str, &'n Node>,
    /// The blocks around: `location /shop`.
    pub location: Option<&'n Entry>,
    server: Option<&'n Node>,
    is_stream: bool,
}

impl<'n> Scope<'n> {
    /// The directive `{family}{suffix}` that holds here.
    pub(super) fn get(&self, family: &str, suffix: &str) -> Option<&'n Entry> {
        self.own.get(format!("{family}{suffix}").as_str()).copied()
    }

    /// A directive by its whole name.
    pub(super) fn directive(&self, name: &str) -> Option<&'n Entry> {
        self.own.get(name).copied()
    }

    fn add(&mut self, block: &'n Node) {
        for entry in block.entries() {
            if entry.value.block().is_none() && is_kept(&entry.key) {
                self.own.insert(&entry.key, entry);
            }
            if &*entry.key == "set"
                && let (Some(name), Some(value)) = (entry.value.arg(0), entry.value.args().nth(1))
            {
                self.variables.insert(name, value);
            }
        }
    }
}

/// The directives that concern retries.
fn is_kept(name: &str) -> bool {
    let ends = ["_next_upstream", "_next_upstream_tries", "_next_upstream_timeout", "_read_timeout"];
    ends.iter().any(|end| name.ends_with(end)) || name == "proxy_connect_timeout"
}

pub(super) struct Walk<'w, 'n> {
    files: &'w Files<'n>,
    upstreams: &'w Upstreams,
    uses: Uses<'n>,
    ids: Ids,
    /// The file in which the walk began: the gateway's.
    root: Option<&'n SourceFile>,
    /// Where requests were handed on so far, so that a file that is included often is told once.
    seen: BTreeSet<Span>,
}

/// Blocks and includes below one another.
const MAX_DEPTH: usize = 32;

impl<'w, 'n> Walk<'w, 'n> {
    pub(super) fn new(files: &'w Files<'n>, upstreams: &'w Upstreams) -> Self {
        let (uses, ids, seen) = (Uses::default(), Ids::default(), BTreeSet::new());
        Self { files, upstreams, uses, ids, root: None, seen }
    }

    pub(super) fn run(mut self, facts: &mut Facts) {
        for file in self.files.roots() {
            self.root = Some(file.file);
            self.block(file.root, &file, &Scope::default(), 0, facts);
        }
        self.uses.tell(facts);
    }

    /// A block, or a file that stands in place of its `include`.
    fn block(&mut self, block: &'n Node, file: &ConfFile<'n>, outer: &Scope<'n>, depth: usize, facts: &mut Facts) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut scope = outer.clone();
        // What an include brings holds as if it stood here.
        let included: Vec<ConfFile<'n>> =
            block.directives("include").flat_map(|include| self.files.included(include)).collect();
        included.iter().for_each(|f| scope.add(f.root));
        scope.add(block);
        self.entries(block, file, &scope, depth, facts);
        for f in included {
            self.entries(f.root, &f, &scope, depth + 1, facts);
        }
    }

    fn entries(&mut self, block: &'n Node, file: &ConfFile<'n>, scope: &Scope<'n>, depth: usize, facts: &mut Facts) {
        for entry in block.entries() {
            if let Some(inner) = entry.value.block() {
                let mut scope = scope.clone();
                match &*entry.key {
                    "location" => scope.location = Some(entry),
                    "server" => scope.server = Some(inner),
                    "stream" => scope.is_stream = true,
                    "upstream" => continue,
                    _ => {}
                }
                self.block(inner, file, &scope, depth + 1, facts);
            } else if let Some(family) = entry.key.strip_suffix("_pass").filter(|f| FAMILIES.contains(f)) {
                self.pass(family, entry, file, scope, facts);
            }
        }
    }

    fn pass(&mut self, family: &'n str, entry: &'n Entry, file: &ConfFile<'n>, scope: &Scope<'n>, facts: &mut Facts) {
        if !self.seen.insert(entry.key_span) {
            return;
        }
        let Some(root) = self.root else { return };
        let Some(upstream) = self.upstream(entry, file, scope) else { return };
        let from = GatewayName::OfFile { file: root.id, system: ID };
        let opens = scope.location.map_or_else(|| entry.head(), Entry::head);
        // In http, what a server hands on stands in a location.
        let is_stream = scope.is_stream || (family == "proxy" && scope.location.is_none() && scope.server.is_some());
        let what = match (scope.location, entry.value.arg(0)) {
            (Some(location), _) => location.value.args().filter_map(Node::as_str).collect::<Vec<_>>().join(" "),
            (None, Some(target)) => target.to_string(),
            (None, None) => String::new(),
        };
        let name = match (scope.location, self.server_name(scope)) {
            (Some(_), Some(server)) => format!("nginx location {} of {server}", settings::shown(&what)),
            (Some(_), None) => format!("nginx location {}", settings::shown(&what)),
            (None, _) => format!("nginx server for {}", settings::shown(&what)),
        };
        let pass = Pass { family, scope, upstream: &upstream, opens, is_stream, name };
        let id = self.ids.next(format!("{ID}:{}:{what}", self.server_name(scope).unwrap_or("_")));
        let layer = policy::layer(&pass, id, from.clone(), &mut self.uses);
        if !upstream.to.is_empty() {
            let limit = if layer.is_none() { Some(policy::per_try(&pass)) } else { None };
            let to = upstream.to.clone();
            facts.routes.push(RouteFact { from, to, grpc: family == "grpc", limit, span: opens });
        }
        facts.layers.extend(layer);
    }

    fn server_name(&self, scope: &Scope<'n>) -> Option<&'n str> {
        let name = scope.server?.directive("server_name")?.value.arg(0)?;
        (!matches!(name, "_" | "localhost") && !upstream::is_template(name)).then_some(name)
    }

    /// The servers that a request is handed to: those of an upstream, else the host itself. `None` where only the
    /// request tells.
    fn upstream(&self, entry: &Entry, file: &ConfFile<'n>, scope: &Scope<'n>) -> Option<Upstream> {
        let target = entry.value.args().next()?;
        let (text, span) = (target.as_str()?, target.span);
        let (text, span) = match self.variable(text, scope) {
            Some(value) => (value.as_str()?, value.span),
            None => (text, span),
        };
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let name = rest.split('/').next().unwrap_or(rest);
        if let Some(known) = self.upstreams.of(name, file.file.id) {
            return Some(known.clone());
        }
        if rest.starts_with("unix:") {
            return Some(Upstream { servers: Some(1), ..Upstream::default() });
        }
        let host = upstream::host(text, span)?;
        Some(Upstream { to: vec![host], servers: Some(1), place: None })
    }

    /// The value of a variable that is the whole host: `$backend`, `http://$backend/x`.
    fn variable(&self, text: &str, scope: &Scope<'n>) -> Option<&'n Node> {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let name = rest.split(['/', ':']).next().filter(|n| n.starts_with('$'))?;
        scope.variables.get(name).copied()
    }
}
