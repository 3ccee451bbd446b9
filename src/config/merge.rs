//! Settings of one file put over those of the files that it extends.

use std::sync::Arc;

use super::keys::{Kind, keys_of};
use crate::syntax::{Entry, Node, Value};

/// What both say. Of a single value the nearer one counts; tables are merged key by key; lists are joined, the nearer
/// entries last, so that they can take back. Of two tables in a list that bear one name the nearer one counts.
pub(super) fn over(base: &Node, own: &Node) -> Node {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in base.entries() {
        match own.entry(&entry.key) {
            None => entries.push(entry.clone()),
            Some(nearer) => entries.push(Entry { value: merged(entry, nearer), ..nearer.clone() }),
        }
    }
    entries.extend(own.entries().iter().filter(|entry| base.entry(&entry.key).is_none()).cloned());
    Node::new(own.span, Value::Map(entries))
}

fn merged(base: &Entry, own: &Entry) -> Arc<Node> {
    let kind = keys_of("").find(|key| key.name == &*own.key).map(|key| key.kind);
    match kind {
        Some(Kind::Levels | Kind::Versions | Kind::Table) => {
            let kept = base.value.entries().iter().filter(|entry| own.value.entry(&entry.key).is_none());
            let all = kept.chain(own.value.entries()).cloned().collect();
            Arc::new(Node::new(own.value.span, Value::Map(all)))
        }
        Some(Kind::Globs | Kind::Texts | Kind::Rules | Kind::Tables) => {
            let named = |item: &Node| item.get("name").and_then(Node::as_str).map(str::to_owned);
            let names: Vec<String> = own.value.items().iter().filter_map(|item| named(item)).collect();
            let kept = base.value.items().iter().filter(|item| named(item).is_none_or(|name| !names.contains(&name)));
            let all = kept.chain(own.value.items()).cloned().collect();
            Arc::new(Node::new(own.value.span, Value::List(all)))
        }
        _ => Arc::clone(&own.value),
    }
}
