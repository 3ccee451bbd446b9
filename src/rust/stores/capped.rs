//! Sets, lists and maps of handled messages that are cut down when there are too many: `if seen.len() > MAX { seen.clear() }`.

use std::collections::BTreeSet;

use super::caches::{forgets, key_text, named_values, names_handled, speaks_of_messages};
use super::functions::{Code, Place};
use super::words::{last_name, snake};
use crate::model::Purge;
use crate::rust::ir::{BinOp, Expr, ExprKind};
use crate::rust::walk;

/// What tells how many there are, in the process and in Redis.
const SIZES: [&str; 6] = ["len", "llen", "scard", "zcard", "xlen", "hlen"];

/// What takes one out, whichever it is.
const TAKES: [&str; 11] = [
    "clear",
    "remove",
    "pop",
    "pop_front",
    "pop_first",
    "truncate",
    "split_off",
    "shift_remove_index",
    "lpop",
    "rpop",
    "spop",
];

/// Every such place of a function.
pub(super) fn find(code: &Code<'_>, place: Place<'_>) -> Vec<Purge> {
    let body = &place.function.body;
    let sizes = bound_sizes(body);
    let mut found = Vec::new();
    for e in walk::expressions(body) {
        let (cond, then) = match &*e.kind {
            ExprKind::If { cond, then, .. } => (cond, then),
            ExprKind::While { cond, body, .. } => (cond, body),
            _ => continue,
        };
        if is_too_many(cond, &sizes) {
            found.extend(walk::expressions(then).find_map(|taken| cut_down(code, place, taken)));
        }
    }
    found
}

/// Variables that hold a number of things.
fn bound_sizes(body: &Expr) -> BTreeSet<&str> {
    let counts = |value: &Expr| walk::expressions(value).any(is_size);
    named_values(body).into_iter().filter(|(_, value)| counts(value)).map(|(name, _)| name).collect()
}

fn is_size(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Method { name, .. } if SIZES.contains(&&**name))
}

/// Whether a number of things is compared with something other than nothing.
fn is_too_many(cond: &Expr, sizes: &BTreeSet<&str>) -> bool {
    let is_number = |e: &Expr| {
        walk::expressions(e).any(is_size)
            || matches!(&*e.kind, ExprKind::Path(p) if p.segments.len() == 1 && p.segments.iter().all(|s| sizes.contains(&**s)))
    };
    walk::expressions(cond).any(|e| match &*e.kind {
        ExprKind::Binary { op: BinOp::Gt | BinOp::Ge | BinOp::Eq, left, right } => {
            is_number(left) && !is_number(right) && !is_nothing(right)
        }
        ExprKind::Binary { op: BinOp::Lt | BinOp::Le, left, right } => {
            is_number(right) && !is_number(left) && !is_nothing(left)
        }
        _ => false,
    })
}

fn is_nothing(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Lit(crate::rust::ir::Lit::Int(0)))
}

/// A call that takes something out of a store of handled messages.
fn cut_down(code: &Code<'_>, place: Place<'_>, e: &Expr) -> Option<Purge> {
    let ExprKind::Method { receiver, name, name_span, args, .. } = &*e.kind else { return None };
    if !TAKES.contains(&&**name) {
        return None;
    }
    if matches!(&**name, "lpop" | "rpop" | "spop") {
        let key = key_text(code, place, args.first()?).filter(|key| names_handled(key))?;
        return Some(Purge { minor: false, ..forgets(format!("the Redis key `{key}`"), *name_span, None) });
    }
    let held = last_name(receiver)?;
    // Words like "seen" are in many a search, which forgets nothing that comes again: what is kept must be something that
    // is delivered.
    let is_dedup = |name: &str| snake(name).split('_').any(|w| matches!(w, "dedup" | "dedupe" | "deduplication"));
    let of_type = place.owner.is_some_and(is_dedup);
    let is_told = names_handled(held) || of_type;
    let is_delivered = of_type || speaks_of_messages(place) || is_dedup(held) || is_dedup(&place.function.name);
    (is_told && is_delivered && is_looked_into(place, held)).then(|| forgets(format!("`{held}`"), *name_span, None))
}

/// Whether the function asks a store if something is there, or is told so when it adds it.
fn is_looked_into(place: Place<'_>, held: &str) -> bool {
    walk::expressions(&place.function.body).any(|e| match &*e.kind {
        ExprKind::Method { receiver, name, .. } => {
            matches!(&**name, "contains" | "contains_key" | "get" | "insert") && last_name(receiver) == Some(held)
        }
        _ => false,
    })
}
