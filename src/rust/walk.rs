//! Walking the form of [`super::ir`]: what stands directly below an expression.

use super::ir::{Expr, ExprKind, Item, Pat, PatKind, Stmt};

/// Calls `f` with every expression directly below `expr`, in the order of the text (patterns' range ends left out).
pub fn children<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    let mut all = |exprs: &'a [Expr]| exprs.iter().for_each(&mut *f);
    match &*expr.kind {
        ExprKind::Lit(_) | ExprKind::Path(_) | ExprKind::Continue { .. } | ExprKind::Opaque => {}
        ExprKind::Call { callee, args } => {
            f(callee);
            args.iter().for_each(f);
        }
        ExprKind::Method { receiver, args, .. } => {
            f(receiver);
            args.iter().for_each(f);
        }
        ExprKind::Field { base: e, .. }
        | ExprKind::Unary { value: e, .. }
        | ExprKind::Cast { value: e, .. }
        | ExprKind::Try(e)
        | ExprKind::Await(e)
        | ExprKind::Async(e)
        | ExprKind::Let { value: e, .. }
        | ExprKind::Loop { body: e, .. }
        | ExprKind::Closure { body: e, .. } => f(e),
        ExprKind::Index { base: a, index: b }
        | ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Assign { place: a, value: b, .. }
        | ExprKind::Repeat { value: a, len: b }
        | ExprKind::While { cond: a, body: b, .. }
        | ExprKind::For { iter: a, body: b, .. } => {
            f(a);
            f(b);
        }
        ExprKind::If { cond, then, otherwise } => {
            f(cond);
            f(then);
            otherwise.iter().for_each(f);
        }
        ExprKind::Match { value, arms } => {
            f(value);
            for arm in arms {
                arm.guard.iter().for_each(&mut *f);
                f(&arm.body);
            }
        }
        ExprKind::Block { stmts, tail, .. } => {
            for stmt in stmts {
                match stmt {
                    Stmt::Let { value, otherwise, .. } => {
                        value.iter().for_each(&mut *f);
                        otherwise.iter().for_each(&mut *f);
                    }
                    Stmt::Expr(e) => f(e),
                    Stmt::Item(_) => {}
                }
            }
            tail.iter().for_each(f);
        }
        ExprKind::Break { value, .. } | ExprKind::Return { value } => value.iter().for_each(f),
        ExprKind::Struct { fields, rest, .. } => {
            fields.iter().for_each(|(_, e)| f(e));
            rest.iter().for_each(f);
        }
        ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Macro { args: items, .. } => all(items),
        ExprKind::Join { futures, .. } => all(futures),
        ExprKind::Range { start, end, .. } => {
            start.iter().for_each(&mut *f);
            end.iter().for_each(f);
        }
        ExprKind::Format { args, .. } => all(args),
        ExprKind::Matches { value, guard, .. } => {
            f(value);
            guard.iter().for_each(f);
        }
        ExprKind::Select(arms) => {
            for arm in arms {
                arm.future.iter().for_each(&mut *f);
                f(&arm.body);
            }
        }
    }
}

/// `expr` and everything below it, parents first, without recursion.
pub fn expressions(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let mut stack = vec![expr];
    std::iter::from_fn(move || {
        let next = stack.pop()?;
        let from = stack.len();
        children(next, &mut |child| stack.push(child));
        if let Some(fresh) = stack.get_mut(from..) {
            fresh.reverse();
        }
        Some(next)
    })
}

/// The items that stand inside a body.
pub fn items_inside(body: &Expr) -> impl Iterator<Item = &Item> {
    expressions(body)
        .flat_map(|e| match &*e.kind {
            ExprKind::Block { stmts, .. } => stmts.as_slice(),
            _ => &[],
        })
        .filter_map(|stmt| match stmt {
            Stmt::Item(item) => Some(item),
            _ => None,
        })
}

/// The names that a pattern may bind, with their patterns' places left out.
pub fn bindings(pat: &Pat) -> Vec<&super::ir::Name> {
    let mut out = Vec::new();
    let mut stack = vec![pat];
    while let Some(pat) = stack.pop() {
        match &pat.kind {
            PatKind::Bind { name, sub } => {
                out.push(name);
                stack.extend(sub.as_deref());
            }
            PatKind::Tuple(parts) | PatKind::TupleStruct { parts, .. } | PatKind::Or(parts) | PatKind::List(parts) => {
                stack.extend(parts.iter().rev());
            }
            PatKind::Struct { fields, .. } => stack.extend(fields.iter().rev().map(|(_, p)| p)),
            PatKind::Wild | PatKind::Lit(_) | PatKind::Range { .. } | PatKind::Path(_) => {}
        }
    }
    out
}
