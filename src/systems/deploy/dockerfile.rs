//! Dockerfiles: the environment that an image brings, and the program that it runs.

use std::collections::BTreeSet;

use crate::facts::{DockerfileFact, EnvFact, Facts};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::{System, SystemMeta, Unit, Versions, settings};

/// Dockerfiles.
pub struct Dockerfile;

static META: SystemMeta = SystemMeta {
    id: "dockerfile",
    name: "Dockerfile",
    reads: "`ENV`, `ENTRYPOINT`, `CMD` and `cargo build --bin` of the last stage: what a component built from it is given and runs",
    marks: &["\nENV ", "\nENTRYPOINT", "\nCMD", "\nenv "],
    defaults: &[],
};

impl System for Dockerfile {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            if Syntax::of_path(&file.path) == Some(Syntax::Dockerfile) {
                facts.dockerfiles.push(read(file, root));
            }
        }
    }

    /// What is built from a Dockerfile has its environment, unless its own settings say otherwise.
    fn join(&self, facts: &mut Facts) {
        for component in &mut facts.components {
            let Some(build) = component.build.as_deref() else { continue };
            let mut of_folder = facts.dockerfiles.iter().filter(|d| d.folder == build);
            let (Some(only), None) = (of_folder.next(), of_folder.next()) else { continue };
            let own: BTreeSet<String> = component.env.iter().map(|e| e.name.clone()).collect();
            component.env.extend(only.env.iter().filter(|e| !own.contains(&e.name)).cloned());
        }
    }
}

fn read(file: &SourceFile, root: &Node) -> DockerfileFact {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let all = root.entries();
    let last = all.iter().rposition(|e| &*e.key == "from").map_or(0, |at| at + 1);
    let stage = || all.iter().skip(last);
    let env = stage().filter(|e| &*e.key == "env").flat_map(environment);
    let runs = ["entrypoint", "cmd"].iter().filter_map(|key| stage().rfind(|e| &*e.key == *key));
    let built = all.iter().filter(|e| &*e.key == "run").flat_map(built);
    DockerfileFact {
        folder: folder.to_owned(),
        name: of_name(name).map(str::to_owned),
        env: env.collect(),
        programs: runs.filter_map(program).chain(built).collect(),
        span: root.span,
    }
}

/// `orders.Dockerfile`, `Dockerfile.orders` → `orders`.
fn of_name(name: &str) -> Option<&str> {
    let lower = name.to_ascii_lowercase();
    let rest = match lower.strip_prefix("dockerfile.") {
        Some(rest) => name.get(name.len() - rest.len()..),
        None => lower.strip_suffix(".dockerfile").and_then(|rest| name.get(..rest.len())),
    };
    rest.filter(|rest| !rest.is_empty())
}

/// `NAME=value NAME=value`, or `NAME value with blanks`.
fn environment(entry: &Entry) -> Vec<EnvFact> {
    let words: Vec<(&str, &Node)> = entry.value.items().iter().filter_map(|n| Some((n.as_str()?, &**n))).collect();
    match words.as_slice() {
        [(name, _), rest @ ..] if !name.contains('=') => {
            let value: Vec<&str> = rest.iter().map(|(text, _)| *text).collect();
            let span = rest.first().zip(rest.last()).map(|((_, first), (_, last))| first.span.to(last.span));
            let fact = |span| EnvFact { name: (*name).to_owned(), value: value.join(" "), span };
            span.map(fact).into_iter().collect()
        }
        words => {
            let pair = |(text, node): &(&str, &Node)| {
                let (name, value) = text.split_once('=')?;
                let at = name.len() + 1;
                let span = settings::within(node, at..text.len());
                Some(EnvFact { name: name.to_owned(), value: value.to_owned(), span })
            };
            words.iter().filter_map(pair).collect()
        }
    }
}

/// Programs that only start another one.
const STARTERS: [&str; 10] = ["sh", "bash", "ash", "exec", "tini", "dumb-init", "env", "-c", "--", "-g"];

/// The program that an instruction in either form runs.
fn program(entry: &Entry) -> Option<String> {
    let words = entry.value.items().iter().filter_map(|n| n.as_str());
    let words = words.map(|w| w.trim_matches(['[', ']', ',']).rsplit('/').next().unwrap_or_default());
    words.filter(|w| !w.is_empty()).find(|w| !STARTERS.contains(w)).map(str::to_owned)
}

/// What `cargo build --bin NAME` and `-p NAME` build.
fn built(entry: &Entry) -> Vec<String> {
    let words: Vec<&str> = entry.value.items().iter().filter_map(|n| n.as_str()).collect();
    if !words.contains(&"cargo") {
        return Vec::new();
    }
    let after = |pair: &[&str]| match pair {
        ["--bin" | "-p" | "--package", name] => Some((*name).to_owned()),
        _ => None,
    };
    let joined = words.iter().filter_map(|w| w.strip_prefix("--bin=").or_else(|| w.strip_prefix("--package=")));
    words.windows(2).filter_map(after).chain(joined.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::of_name;

    #[test]
    fn names_of_dockerfiles() {
        assert_eq!(of_name("Dockerfile"), None);
        assert_eq!(of_name("Dockerfile.orders"), Some("orders"));
        assert_eq!(of_name("orders.Dockerfile"), Some("orders"));
        assert_eq!(of_name("orders.dockerfile"), Some("orders"));
    }
}
