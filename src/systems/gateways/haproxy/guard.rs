//! `http-request disable-l7-retry`: which methods are not sent again once sent.

use crate::model::Methods;
use crate::syntax::{Entry, Node};

/// What guards a section: the blocks that hold for it, the nearest first.
pub(super) fn methods(blocks: &[&Node]) -> Guarded {
    let mut guarded: Vec<&str> = Vec::new();
    let mut out = Guarded::Some(Methods::Any);
    for rule in blocks.iter().flat_map(|b| b.directives("http-request")) {
        let args: Vec<&str> = rule.value.args().filter_map(Node::as_str).collect();
        let Some((&"disable-l7-retry", condition)) = args.split_first() else { continue };
        match condition.split_first() {
            None => return Guarded::Always,
            Some((&"if", tests)) => match named(tests, blocks) {
                Some(methods) => guarded.extend(methods),
                None => out = Guarded::Some(Methods::Unknown),
            },
            Some((&"unless", tests)) => match named(tests, blocks) {
                // All but these are guarded.
                Some(methods) => return Guarded::Some(Methods::Only(methods.into_iter().map(String::from).collect())),
                None => out = Guarded::Some(Methods::Unknown),
            },
            Some(_) => out = Guarded::Some(Methods::Unknown),
        }
    }
    if guarded.is_empty() {
        return out;
    }
    let left = METHODS.into_iter().filter(|m| !guarded.contains(m)).map(String::from);
    Guarded::Some(Methods::Only(left.collect()))
}

/// How far sending again is guarded.
pub(super) enum Guarded {
    /// Nothing that was sent is sent again.
    Always,
    /// These may be.
    Some(Methods),
}

const METHODS: [&str; 9] = ["DELETE", "GET", "HEAD", "LOCK", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/// The methods for which a condition holds: `METH_POST`, `{ method POST PATCH }`, an acl of methods, or several of
/// these with `or`. `None` where it asks for more, or for something else.
fn named<'n>(tests: &[&'n str], blocks: &[&'n Node]) -> Option<Vec<&'n str>> {
    let mut out = Vec::new();
    let mut rest = tests;
    let mut has_or = true;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if matches!(first, "or" | "||") {
            has_or = true;
            continue;
        }
        // Two tests side by side must both hold.
        if !std::mem::take(&mut has_or) {
            return None;
        }
        match first {
            "{" => {
                let end = rest.iter().position(|t| *t == "}")?;
                let (inner, after) = rest.split_at_checked(end)?;
                out.extend(of_method(inner)?);
                rest = after.get(1..).unwrap_or_default();
            }
            _ => match first.strip_prefix("METH_") {
                Some(method) => out.push(method),
                None => out.extend(of_acl(first, blocks)?),
            },
        }
    }
    Some(out)
}

/// `acl is_write method POST PATCH`; several of one name are alternatives.
fn of_acl<'n>(name: &str, blocks: &[&'n Node]) -> Option<Vec<&'n str>> {
    let is_it = |e: &&Entry| e.value.arg(0) == Some(name);
    let acls = blocks.iter().flat_map(|b| b.directives("acl")).filter(is_it);
    let all: Option<Vec<Vec<&str>>> =
        acls.map(|acl| of_method(&acl.value.args().skip(1).filter_map(Node::as_str).collect::<Vec<_>>())).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.concat())
}

fn of_method<'n>(words: &[&'n str]) -> Option<Vec<&'n str>> {
    let (first, methods) = words.split_first()?;
    let known = *first == "method" && methods.iter().all(|m| METHODS.contains(m));
    known.then(|| methods.to_vec())
}
