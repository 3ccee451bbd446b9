//! Numbers that hang on something not known: a `match` over the text of an option, an `if` on a flag. They are one of
//! several, and no one of them is picked.
use std::rc::Rc;

use super::call::sounds_like_wait;
use super::env::Env;
use super::futures::BLOCKING;
use super::machine::Machine;
use super::statics::diverges;
use super::value::{Kind, Origin, Source, Value, Why};
use crate::rust::ir::{Arm, Expr, ExprKind, Name, Pat, PatKind, Stmt};

/// What a branch that was not taken would have come to.
struct Other<'a> {
    /// Its value; `None` where that is not looked at.
    value: Option<Value<'a>>,
    /// Whether it is taken where nothing is set.
    unset: bool,
}

impl<'a> Machine<'a, '_> {
    /// The value of a `match` that could have gone otherwise: `taken` came of the arm with the number `at`.
    pub(super) fn one_of_arms(
        &mut self,
        taken: Value<'a>,
        at: usize,
        (on, value): (&'a Expr, &Value<'a>),
        arms: &'a [Arm],
        env: &Env<'a>,
    ) -> Value<'a> {
        if !may_be_number(&taken) {
            return taken;
        }
        let mut others = Vec::new();
        for (_, arm) in arms.iter().enumerate().filter(|(i, _)| *i != at) {
            let excluded = matches!(self.test_purely(&arm.pat, value), Some(Value { kind: Kind::Bool(false), .. }));
            if excluded || diverges(&arm.body) {
                continue;
            }
            let scope = self.scope(Some(env));
            self.bind(&arm.pat, value.clone(), &scope);
            others.push(Other { value: self.plain(&arm.body, &scope), unset: takes_none(&arm.pat) });
        }
        let unset = arms.get(at).is_some_and(|arm| takes_none(&arm.pat));
        one_of(taken, unset, others, subject(on))
    }

    /// The value of a `match` of which every arm was taken: `found` is the one that tells most.
    pub(super) fn one_of_all(&self, found: Value<'a>, arms: Vec<(&'a Pat, Value<'a>)>, on: &'a Expr) -> Value<'a> {
        if !is_number(&found) {
            return found;
        }
        let others = arms.into_iter().map(|(pat, value)| Other { value: Some(value), unset: takes_none(pat) });
        one_of(found, false, others.collect(), subject(on))
    }

    /// The value of an `if` that could have gone otherwise: `taken` came of one side, `other` is the other.
    pub(super) fn one_of_two(
        &mut self,
        taken: Value<'a>,
        cond: &'a Expr,
        holds: bool,
        other: &'a Expr,
        env: &Env<'a>,
    ) -> Value<'a> {
        if !may_be_number(&taken) || diverges(other) {
            return taken;
        }
        // `if let Some(n) = option { n } else { 3 }`
        let is_set = matches!(&*cond.kind, ExprKind::Let { pat, .. } if names(pat, "Some") || names(pat, "Ok"));
        let others = vec![Other { value: self.plain(other, env), unset: is_set && holds }];
        let on = match &*cond.kind {
            ExprKind::Let { value, .. } => value,
            _ => cond,
        };
        one_of(taken, is_set && !holds, others, subject(on))
    }

    /// The value of something that only computes; `None` where it may do more.
    fn plain(&mut self, expr: &'a Expr, env: &Env<'a>) -> Option<Value<'a>> {
        if !only_computes(expr) {
            return None;
        }
        self.eval(expr, env).ok()
    }
}

/// What one of several values comes to, `taken` being one of them.
fn one_of<'a>(taken: Value<'a>, unset: bool, others: Vec<Other<'a>>, on: Option<&Name>) -> Value<'a> {
    let mut numbers: Vec<Value<'a>> = Vec::new();
    let mut default = None;
    let mut open = false;
    let all = [Other { value: Some(taken.clone()), unset }];
    for Other { value, unset } in all.into_iter().chain(others) {
        match value.filter(is_number) {
            Some(number) => {
                if unset {
                    default = Some(number.clone());
                }
                if !numbers.iter().any(|n| n.digest() == number.digest()) {
                    numbers.push(number);
                }
            }
            None => open = true,
        }
    }
    if let Some(default) = default {
        let origin = default.origin.map(|origin| Origin { from: Source::Fallback, ..origin });
        return default.at(origin);
    }
    match (numbers.as_slice(), open) {
        ([], _) | ([_], false) => return taken,
        // A switch: what is on counts, as with any other flag.
        ([a, b], false) => match (a.as_int(), b.as_int()) {
            (Some(0 | 1), Some(n)) if n > 1 => return b.clone(),
            (Some(n), Some(0 | 1)) if n > 1 => return a.clone(),
            _ => {}
        },
        _ => {}
    }
    if !is_number(&taken) {
        return taken;
    }
    let of = on.map_or_else(|| "a condition that cannot be told".to_owned(), |name| format!("`{name}`"));
    let ints: Option<Vec<String>> = numbers.iter().map(|n| Some(n.as_int()?.to_string())).collect();
    let which = match (ints, open) {
        (Some(mut ints), false) if ints.len() < 6 => {
            let last = ints.pop().unwrap_or_default();
            format!("{} or {last}", ints.join(", "))
        }
        (Some(ints), true) if ints.len() < 6 => format!("{} or another number", ints.join(", ")),
        _ => "one of several".to_owned(),
    };
    let taint = taken.taint;
    let refs: Vec<&Value<'a>> = numbers.iter().collect();
    let id = Value::digest_all("one of", refs);
    Value::unknown(id, Why::Told(Rc::from(format!("is {which}, which hangs on {of}")))).tainted(taint)
}

/// Whether it is a number or a duration.
fn is_number(value: &Value<'_>) -> bool {
    matches!(value.kind, Kind::Int(_) | Kind::Float(_) | Kind::Duration(_))
}

/// The same, or something of which that is not known.
fn may_be_number(value: &Value<'_>) -> bool {
    is_number(value) || value.as_unknown().is_some_and(|u| !u.succeeded)
}

/// Whether a pattern names this variant.
fn names(pat: &Pat, name: &str) -> bool {
    match &pat.kind {
        PatKind::TupleStruct { path, .. } | PatKind::Path(path) => path.segments.last().is_some_and(|n| &**n == name),
        PatKind::Bind { name: bound, sub: None } => &**bound == name,
        _ => false,
    }
}

/// Whether a pattern takes what is not there.
fn takes_none(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Or(all) => all.iter().any(takes_none),
        _ => names(pat, "None"),
    }
}

/// The variable or field that something is read from.
pub(super) fn subject(expr: &Expr) -> Option<&Name> {
    let mut expr = expr;
    loop {
        expr = match &*expr.kind {
            ExprKind::Path(path) => return path.segments.last(),
            ExprKind::Field { name, .. } => return Some(name),
            ExprKind::Method { receiver, .. } => receiver,
            ExprKind::Unary { value, .. } | ExprKind::Try(value) => value,
            _ => return None,
        };
    }
}

/// Whether evaluating it does nothing but give a value.
fn only_computes(expr: &Expr) -> bool {
    crate::rust::walk::expressions(expr).all(|e| match &*e.kind {
        ExprKind::Lit(_)
        | ExprKind::Path(_)
        | ExprKind::Call { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Closure { is_async: false, .. }
        | ExprKind::Cast { .. } => true,
        ExprKind::Method { name, .. } => !BLOCKING.contains(&&**name) && !sounds_like_wait(name),
        ExprKind::Block { stmts, .. } => stmts.iter().all(|s| matches!(s, Stmt::Let { .. })),
        _ => false,
    })
}
