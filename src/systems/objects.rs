//! Objects of Kubernetes, whichever system they belong to.

use super::settings;
use crate::source::Span;
use crate::syntax::Node;

/// An object with its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'n> {
    /// The whole of it.
    pub node: &'n Node,
    /// `apiVersion`.
    pub version: &'n str,
    /// `kind`.
    pub kind: &'n str,
    /// `metadata.name`.
    pub name: &'n str,
    /// The name's place.
    pub name_span: Span,
    /// `metadata.namespace`, unless it is known only when a template is filled in.
    pub namespace: Option<&'n str>,
}

impl<'n> Object<'n> {
    /// The value under a chain of keys that starts at `spec`.
    pub(super) fn spec(&self, path: &[&str]) -> Option<&'n Node> {
        path.iter().try_fold(self.node.get("spec")?, |node, key| node.get(key))
    }

    /// "pay/ledger", or "ledger" where no namespace is written.
    pub(super) fn qualified(&self) -> String {
        self.namespace.map_or_else(|| self.name.to_string(), |n| format!("{n}/{}", self.name))
    }
}

/// The object that a document is, or those of a list of them.
pub(super) fn of(root: &Node) -> Vec<Object<'_>> {
    let is_list = root.get("kind").and_then(Node::as_str).is_some_and(|k| k.ends_with("List"));
    match root.get("items") {
        Some(items) if is_list => items.items().iter().filter_map(|n| object(n)).collect(),
        _ => object(root).into_iter().collect(),
    }
}

/// As [`of`]; of what is made anew for each run, the beginning of its name (`generateName`) counts, too.
pub(super) fn of_any_name(root: &Node) -> Vec<Object<'_>> {
    let named = of(root);
    if named.is_empty() { of_name(root, "generateName").into_iter().collect() } else { named }
}

fn object(node: &Node) -> Option<Object<'_>> {
    of_name(node, "name")
}

fn of_name<'n>(node: &'n Node, key: &str) -> Option<Object<'n>> {
    let name = node.at(&["metadata", key])?;
    Some(Object {
        node,
        version: node.get("apiVersion")?.as_str()?,
        kind: node.get("kind")?.as_str()?,
        name: name.as_str()?.trim_end_matches('-'),
        name_span: name.span,
        namespace: node.at(&["metadata", "namespace"]).and_then(Node::as_str).filter(|n| !settings::is_template(n)),
    })
}
