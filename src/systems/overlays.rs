//! Kustomize: objects as an overlay's patches leave them, each one more alternative beside what its base says.
//!
//! Applied is what is plain: merges by kind and name, and the operations add, replace and remove. Workloads are left out:
//! what an overlay says of them is read as one more manifest of the same name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::embedded;
use super::settings::beside;
use crate::source::SourceFile;
use crate::syntax::{self, Entry, Node, Parsed, Syntax, Value};

/// How many kustomizations may lead to one another in a row.
const MAX_CHAIN: usize = 16;

/// Kinds whose lists are merged by the names of their items, which is not done here.
const WORKLOADS: [&str; 7] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"];

/// The files of bases as overlays change them: the file, and its documents that are changed.
pub fn patched(files: &[SourceFile]) -> Vec<(usize, Parsed)> {
    let by_path: BTreeMap<&str, usize> = files.iter().enumerate().map(|(i, file)| (&*file.path, i)).collect();
    let is_kustomization = |path: &str| {
        matches!(path.rsplit('/').next(), Some("kustomization.yaml" | "kustomization.yml" | "Kustomization"))
    };
    let kustomizations = files.iter().filter(|f| is_kustomization(&f.path) && f.text.contains("patch"));
    let repository = Repository { files, by_path };
    kustomizations.flat_map(|file| repository.overlay(file)).collect()
}

struct Repository<'a> {
    files: &'a [SourceFile],
    by_path: BTreeMap<&'a str, usize>,
}

/// A change to the objects of a kind and name.
struct Patch {
    kind: Option<String>,
    name: Option<String>,
    what: Arc<Node>,
}

impl Repository<'_> {
    fn file(&self, path: &str) -> Option<(usize, &SourceFile)> {
        let at = *self.by_path.get(path)?;
        Some((at, self.files.get(at)?))
    }

    fn parsed(&self, file: &SourceFile) -> Option<Parsed> {
        Some(syntax::parse(Syntax::of_path(&file.path)?, file))
    }

    fn overlay(&self, file: &SourceFile) -> Vec<(usize, Parsed)> {
        let Some(root) = self.parsed(file).and_then(|p| p.documents.first().cloned()) else { return Vec::new() };
        let patches = self.patches(file, &root);
        if patches.is_empty() {
            return Vec::new();
        }
        let mut bases = Vec::new();
        self.resources(file, &root, MAX_CHAIN, &mut bases);
        let mut out = Vec::new();
        for at in bases {
            let Some(parsed) = self.files.get(at).and_then(|base| self.parsed(base)) else { continue };
            let changed = parsed.documents.iter().filter_map(|d| apply(d, &patches));
            let documents: Vec<Arc<Node>> = changed.collect();
            if !documents.is_empty() {
                out.push((at, Parsed { documents, ..Parsed::default() }));
            }
        }
        out
    }

    /// The files that a kustomization builds on, through others.
    fn resources(&self, file: &SourceFile, root: &Node, depth: usize, out: &mut Vec<usize>) {
        let lists = ["resources", "bases"].iter().filter_map(|key| root.get(key));
        for path in lists.flat_map(Node::items).filter_map(|n| beside(&file.path, n.as_str()?)) {
            if let Some((at, _)) = self.file(&path) {
                if !out.contains(&at) {
                    out.push(at);
                }
                continue;
            }
            let names = ["kustomization.yaml", "kustomization.yml"];
            let inner =
                |name: &&str| self.file(&if path.is_empty() { name.to_string() } else { format!("{path}/{name}") });
            let Some((_, inner)) = names.iter().find_map(inner).filter(|_| depth > 0) else { continue };
            if let Some(root) = self.parsed(inner).and_then(|p| p.documents.first().cloned()) {
                self.resources(inner, &root, depth - 1, out);
            }
        }
    }

    fn patches(&self, file: &SourceFile, root: &Node) -> Vec<Patch> {
        let mut out = Vec::new();
        for key in ["patches", "patchesJson6902", "patchesStrategicMerge"] {
            for item in root.get(key).map_or(&[][..], Node::items) {
                let target = |field: &str| item.at(&["target", field]).and_then(Node::as_str).map(str::to_string);
                let written = if key == "patchesStrategicMerge" { Some(&**item) } else { item.get("patch") };
                let path = item.get("path").or(written).and_then(Node::as_str).filter(|p| !p.contains('\n'));
                let of_file = path.and_then(|p| self.file(&beside(&file.path, p)?)).and_then(|(_, f)| self.parsed(f));
                let inline = || embedded::of_scalar(file, written?, Syntax::Yaml);
                let Some(parsed) = of_file.or_else(inline) else { continue };
                for document in parsed.documents {
                    let own = |path: &[&str]| document.at(path).and_then(Node::as_str).map(str::to_string);
                    let kind = target("kind").or_else(|| own(&["kind"]));
                    let name = target("name").or_else(|| own(&["metadata", "name"]));
                    if kind.is_some() || name.is_some() {
                        out.push(Patch { kind, name, what: document });
                    }
                }
            }
        }
        out
    }
}

/// An object with the patches that are for it; `None` if none is.
fn apply(object: &Arc<Node>, patches: &[Patch]) -> Option<Arc<Node>> {
    let kind = object.get("kind")?.as_str()?;
    let name = object.at(&["metadata", "name"])?.as_str()?;
    let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|w| w == own);
    let mut mine = patches.iter().filter(|p| is(&p.kind, kind) && is(&p.name, name)).peekable();
    if WORKLOADS.contains(&kind) || mine.peek().is_none() {
        return None;
    }
    let mut out = object.clone();
    for patch in mine {
        out = match &patch.what.value {
            Value::List(operations) => operations.iter().fold(out, |node, o| operate(&node, o).unwrap_or(node)),
            Value::Map(_) => merged(&out, &patch.what),
            Value::Scalar(_) => out,
        };
    }
    (out != *object).then_some(out)
}

/// Maps are merged, all else is replaced, and null takes away. Trees are at most 256 deep.
fn merged(base: &Arc<Node>, patch: &Arc<Node>) -> Arc<Node> {
    let (Value::Map(old), Value::Map(new)) = (&base.value, &patch.value) else { return patch.clone() };
    let mut entries = old.clone();
    for entry in new {
        match entries.iter().rposition(|e| e.key == entry.key) {
            Some(at) if entry.value.is_null() => _ = entries.remove(at),
            Some(at) => {
                if let Some(known) = entries.get_mut(at) {
                    let value = merged(&known.value, &entry.value);
                    *known = if matches!(value.value, Value::Map(_)) {
                        Entry { value, ..known.clone() }
                    } else {
                        entry.clone()
                    };
                }
            }
            None => entries.push(entry.clone()),
        }
    }
    Arc::new(Node { span: base.span, value: Value::Map(entries), tag: base.tag.clone() })
}

/// `{op: replace, path: /spec/http/0/retries/attempts, value: 5}`
fn operate(node: &Arc<Node>, operation: &Node) -> Option<Arc<Node>> {
    let kind = operation.get("op")?.as_str()?;
    let path: Vec<String> = operation.get("path")?.as_str()?.strip_prefix('/')?.split('/').map(unescaped).collect();
    let value = operation.entry("value").map(|e| e.value.clone());
    match kind {
        "add" | "replace" => set(node, &path, Some(value?)),
        "remove" => set(node, &path, None),
        _ => None,
    }
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// A copy of a tree with another value at a path, or with none there; `None` where the path leads nowhere.
fn set(node: &Arc<Node>, path: &[String], value: Option<Arc<Node>>) -> Option<Arc<Node>> {
    let (first, rest) = path.split_first()?;
    let new = match &node.value {
        Value::Map(entries) => {
            let mut entries = entries.clone();
            let at = entries.iter().rposition(|e| *e.key == **first);
            match (at, rest.is_empty(), value) {
                (Some(at), true, Some(value)) => entries.get_mut(at)?.value = value,
                (Some(at), true, None) => _ = entries.remove(at),
                (None, true, Some(value)) => {
                    entries.push(Entry { key: first.as_str().into(), key_span: value.span, value });
                }
                (Some(at), false, value) => {
                    let entry = entries.get_mut(at)?;
                    entry.value = set(&entry.value, rest, value)?;
                }
                (None, ..) => return None,
            }
            Value::Map(entries)
        }
        Value::List(items) => {
            let mut items = items.clone();
            let at = if first == "-" { items.len() } else { first.parse::<usize>().ok()? };
            match (rest.is_empty(), value) {
                (true, Some(value)) if at == items.len() => items.push(value),
                (true, Some(value)) => *items.get_mut(at)? = value,
                (true, None) if at < items.len() => _ = items.remove(at),
                (true, None) => return None,
                (false, value) => {
                    let item = items.get_mut(at)?;
                    *item = set(item, rest, value)?;
                }
            }
            Value::List(items)
        }
        Value::Scalar(_) => return None,
    };
    Some(Arc::new(Node { span: node.span, value: new, tag: node.tag.clone() }))
}
