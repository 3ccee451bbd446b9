//! Merge keys (`<<`) as YAML 1.1 defines them: own keys win, and of several sources the earlier one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::syntax::tree::{Entry, MAX_ERRORS, Node, SyntaxError, Value};

/// Puts in the place of the entries numbered `merges` (ascending) what they bring.
/// One that is neither a mapping nor a list of mappings stays an ordinary entry, and is an error.
pub(super) fn apply(entries: Vec<Entry>, merges: &[usize], errors: &mut Vec<SyntaxError>) -> Vec<Entry> {
    let is_merge = |i: &usize| merges.binary_search(i).is_ok();
    let mut seen: BTreeSet<Arc<str>> =
        entries.iter().enumerate().filter(|(i, _)| !is_merge(i)).map(|(_, e)| e.key.clone()).collect();
    let mut merged = Vec::with_capacity(entries.len());
    for (i, entry) in entries.into_iter().enumerate() {
        if !is_merge(&i) {
            merged.push(entry);
            continue;
        }
        let Some(sources) = sources(&entry.value) else {
            if errors.len() < MAX_ERRORS {
                let message = "the merge key << takes a mapping or a list of mappings".into();
                errors.push(SyntaxError { span: entry.span(), message });
            }
            merged.push(entry);
            continue;
        };
        for source in sources {
            let first = merged.len();
            // Backwards, because the last of equal keys counts.
            merged.extend(source.entries().iter().rev().filter(|e| seen.insert(e.key.clone())).cloned());
            if let Some(new) = merged.get_mut(first..) {
                new.reverse();
            }
        }
    }
    merged
}

fn sources(value: &Arc<Node>) -> Option<&[Arc<Node>]> {
    match &value.value {
        Value::Map(_) => Some(std::slice::from_ref(value)),
        Value::List(items) => items.iter().all(|n| matches!(n.value, Value::Map(_))).then_some(items),
        Value::Scalar(_) => None,
    }
}
