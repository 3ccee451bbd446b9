//! Compose files: services, their names on the network, what they are built from and given.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{ComponentFact, ComponentFactKind, EnvFact, EnvFileUseFact, Facts};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::deploy::commands;
use crate::systems::{System, SystemMeta, Unit, Versions};
use crate::systems::{env_files, settings};

/// Compose.
pub struct Compose;

static META: SystemMeta = SystemMeta {
    id: "compose",
    name: "Compose",
    reads: "services of compose files: names, networks' aliases, build folders, images, environment and its files, addresses in commands, mounted files",
    marks: &["services"],
    defaults: &[],
};

impl System for Compose {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn join(&self, facts: &mut Facts) {
        env_files::join(facts);
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(_, root)| is_compose(root)) {
            let project = root.get("name").and_then(Node::as_str).filter(|n| !n.contains('$'));
            let reader = Reader::new(file, root);
            for entry in root.get("services").map_or(&[][..], Node::entries) {
                facts.components.push(reader.component(entry, project));
                facts.env_file_uses.extend(reader.env_files(entry));
            }
        }
    }
}

/// Other formats have `services` as well: of Compose's, one at least runs an image or is built.
fn is_compose(root: &Node) -> bool {
    let runs = |e: &Entry| e.value.get_any(&["image", "build", "extends"]).is_some();
    root.get("apiVersion").is_none() && root.get("services").is_some_and(|s| s.entries().iter().any(runs))
}

struct Reader<'a> {
    file: &'a SourceFile,
    services: BTreeMap<&'a str, &'a Node>,
    configs: BTreeMap<&'a str, &'a Node>,
    /// How many settings services may still take from others.
    inheritable: Cell<usize>,
}

/// One service with many settings can be extended very often.
const MAX_INHERITED: usize = 100_000;

impl<'a> Reader<'a> {
    fn new(file: &'a SourceFile, root: &'a Node) -> Self {
        let by_name = |key: &str| {
            let entries = root.get(key).map_or(&[][..], Node::entries);
            entries.iter().map(|e| (&*e.key, &*e.value)).collect()
        };
        let (services, configs) = (by_name("services"), by_name("configs"));
        Self { file, services, configs, inheritable: Cell::new(MAX_INHERITED) }
    }

    /// The files in `env_file`, and the variables whose values name others: those stand in `.env` beside the Compose file.
    fn env_files(&self, entry: &Entry) -> Vec<EnvFileUseFact> {
        let chain = self.chain(&entry.key, &entry.value);
        let beside = |path: &str| settings::beside(&self.file.path, path);
        let mut out = Vec::new();
        for service in &chain {
            let Some(files) = service.get("env_file") else { continue };
            let listed = files.items().iter().map(|n| &**n).chain(files.scalar().map(|_| files));
            let paths = listed.filter_map(|n| beside(n.get("path").unwrap_or(n).as_str()?));
            out.extend(paths.map(|path| EnvFileUseFact { component: entry.key_span, path, value: None }));
        }
        // The last file wins.
        out.reverse();
        let open = chain.iter().flat_map(|s| environment(s)).filter(|(_, value, _)| interpolate(value).is_none());
        let open: Vec<EnvFact> = open.map(|(name, value, span)| EnvFact { name, value, span }).collect();
        if let Some(path) = beside(".env").filter(|_| !open.is_empty()) {
            let value = |fact| EnvFileUseFact { component: entry.key_span, path: path.clone(), value: Some(fact) };
            out.extend(open.into_iter().map(value));
        }
        out
    }

    fn component(&self, entry: &Entry, project: Option<&str>) -> ComponentFact {
        // What it extends in this file comes first, so that its own settings come last and win.
        let chain = self.chain(&entry.key, &entry.value);
        let own = |key: &str| chain.iter().rev().find_map(|service| service.get(key));
        let mut env: Vec<(String, String, Span)> = chain.iter().flat_map(|s| environment(s)).collect();
        // The last of each name wins.
        let mut seen = BTreeSet::new();
        env.reverse();
        env.retain(|(name, _, _)| seen.insert(name.clone()));
        env.reverse();
        let env =
            env.into_iter().filter_map(|(name, value, span)| Some(EnvFact { name, value: interpolate(&value)?, span }));
        let commands = ["entrypoint", "command"].into_iter().flat_map(|key| commands::addresses(key, own(key)));
        let mut hosts = vec![entry.key.to_string()];
        hosts.extend(names(&entry.value).into_iter().filter(|n| **n != *entry.key).map(str::to_string));
        hosts.dedup();
        ComponentFact {
            name: entry.key.to_string(),
            namespace: project.map(str::to_string),
            kind: ComponentFactKind::Service,
            hosts,
            labels: Vec::new(),
            images: own("image").and_then(Node::as_str).map(image).into_iter().collect(),
            build: own("build").and_then(|b| self.build(b)),
            env: env.chain(commands).collect(),
            mounts: chain.iter().flat_map(|s| self.mounts(s)).collect(),
            span: entry.key_span,
        }
    }

    /// A service and those of this file that it extends, the farthest first.
    fn chain<'n>(&'n self, name: &'n str, service: &'n Node) -> Vec<&'n Node> {
        let mut seen = vec![name];
        let mut chain = vec![service];
        let mut current = service;
        while let Some(extends) = current.get("extends").filter(|e| e.get("file").is_none()) {
            let base = extends.get("service").unwrap_or(extends).as_str();
            let Some(base) = base.filter(|b| !seen.contains(b) && seen.len() < MAX_EXTENDS) else { break };
            let Some(&next) = self.services.get(base) else { break };
            let settings = |key: &str| next.get(key).map_or(0, |n| n.entries().len() + n.items().len());
            let size = 1 + settings("environment") + settings("volumes") + settings("configs");
            let Some(left) = self.inheritable.get().checked_sub(size) else { break };
            self.inheritable.set(left);
            seen.push(base);
            chain.push(next);
            current = next;
        }
        chain.reverse();
        chain
    }

    /// The folder with the sources: the context, or where that holds the Compose file itself, and so may hold every
    /// service, the folder with the Dockerfile.
    fn build(&self, build: &Node) -> Option<String> {
        let context = build.get("context").unwrap_or(build).as_str().unwrap_or(".");
        let folder = settings::beside(&self.file.path, context)?;
        let dockerfile = build.get("dockerfile").and_then(Node::as_str).and_then(|d| d.rsplit_once('/'));
        let holds_all = folder.is_empty() || self.file.path.starts_with(&format!("{folder}/"));
        match dockerfile.filter(|_| holds_all) {
            Some((below, _)) => settings::beside(&format!("{folder}/Dockerfile"), below),
            None => Some(folder),
        }
    }

    /// Files and folders of the repository that are mounted: volumes and configs with a path.
    fn mounts(&self, service: &Node) -> Vec<String> {
        let list = |key: &str| service.get(key).map_or(&[][..], Node::items).iter();
        let volumes = list("volumes").filter_map(|volume| match volume.get("source") {
            Some(source) => source.as_str(),
            None => volume.as_str()?.split_once(':').map(|(source, _)| source),
        });
        let volumes = volumes.filter(|source| source.starts_with('.'));
        let configs = list("configs").filter_map(|config| {
            let name = config.get("source").unwrap_or(config).as_str()?;
            self.configs.get(name)?.get("file")?.as_str()
        });
        volumes.chain(configs).filter_map(|path| settings::beside(&self.file.path, path)).collect()
    }
}

/// Longer chains are mistakes.
const MAX_EXTENDS: usize = 32;

/// Other names by which a service is called.
fn names(service: &Node) -> Vec<&str> {
    let plain = ["container_name", "hostname"].iter().filter_map(|key| service.get(key)?.as_str());
    let networks = service.get("networks").map_or(&[][..], Node::entries).iter();
    let aliases = networks.filter_map(|n| n.value.get("aliases")).flat_map(Node::items).filter_map(|n| n.as_str());
    plain.chain(aliases).filter(|name| !name.contains('$')).collect()
}

/// `environment` as a mapping or as a list of `NAME=value`.
fn environment(service: &Node) -> Vec<(String, String, Span)> {
    let Some(environment) = service.get("environment") else { return Vec::new() };
    let map = environment
        .entries()
        .iter()
        .filter_map(|e| Some((e.key.to_string(), e.value.as_str()?.to_string(), e.value.span)));
    let list = environment.items().iter().filter_map(|node| {
        let (name, value) = node.as_str()?.split_once('=')?;
        let at = name.len() + 1;
        Some((name.to_string(), value.to_string(), settings::within(node, at..at + value.len())))
    });
    map.chain(list).collect()
}

/// An image says which program runs even where its registry or tag is a variable.
fn image(text: &str) -> String {
    interpolate(text).unwrap_or_else(|| text.to_string())
}

/// The default of what stands between the braces: `NAME:-default`, `NAME-default`. `NAME:?message` and
/// `NAME:+instead` have none.
fn default_of(inner: &str) -> Option<&str> {
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let operator = inner.get(end..)?;
    operator.strip_prefix(":-").or_else(|| operator.strip_prefix('-'))
}

/// Puts the defaults of `${NAME:-default}` and `${NAME-default}` in. `None` where a variable without one decides the
/// scheme or the host; behind them it stays as it is written.
fn interpolate(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        // `$$` is a dollar sign.
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let inner = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        match (inner.and_then(|(inner, _)| default_of(inner)), inner) {
            (Some(default), Some((_, next))) => {
                out.push_str(default);
                rest = next;
            }
            _ => {
                let host_is_known = out.split_once("://").is_some_and(|(_, rest)| rest.contains([':', '/']));
                return host_is_known.then(|| format!("{out}${after}"));
            }
        }
    }
    Some(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation() {
        for (text, value) in [
            ("http://orders:8080", Some("http://orders:8080")),
            ("${URL:-http://orders:8080}/v1", Some("http://orders:8080/v1")),
            ("http://${HOST-orders}:${PORT:-80}", Some("http://orders:80")),
            ("http://${HOST:?set-host}:8080", None),
            ("http://${HOST?set-host}:8080", None),
            ("http://${HOST:+other-host}:8080", None),
            ("${TOKEN:?must-be-set}", None),
            ("http://${HOST:-my-orders}:8080", Some("http://my-orders:8080")),
            ("http://orders:${PORT}", Some("http://orders:${PORT}")),
            ("http://${HOST}:80", None),
            ("$TOKEN", None),
            ("a$$b", Some("a$b")),
            ("${open", None),
        ] {
            assert_eq!(interpolate(text).as_deref(), value, "{text}");
        }
    }
}
