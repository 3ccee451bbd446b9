//! What can be told of code without running it.

use std::collections::BTreeSet;

use crate::rust::index::{FnIx, Index};
use crate::rust::ir::{Expr, ExprKind, Stmt};
use crate::rust::walk;

/// What is computed once for all runs.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    recursive: BTreeSet<FnIx>,
}

impl Statics {
    /// Of these functions.
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let calls_itself = |ix: &FnIx| {
            let function = index.function(*ix).function;
            walk::expressions(&function.body).any(|e| match &*e.kind {
                ExprKind::Call { callee, .. } => match &*callee.kind {
                    ExprKind::Path(path) => path.segments.last() == Some(&function.name),
                    _ => false,
                },
                ExprKind::Method { receiver, name, .. } => *name == function.name && is_self(receiver),
                _ => false,
            })
        };
        Self { recursive: index.functions().filter(calls_itself).collect() }
    }

    /// Whether a function calls something of its own name.
    pub(crate) fn may_recurse(&self, ix: FnIx) -> bool {
        self.recursive.contains(&ix)
    }
}

fn is_self(expr: &Expr) -> bool {
    matches!(&*expr.kind, ExprKind::Path(p) if matches!(p.segments.as_slice(), [one] if &**one == "self"))
}

/// Whether control surely leaves before the end of `expr`.
pub(crate) fn diverges(expr: &Expr) -> bool {
    match &*expr.kind {
        ExprKind::Return { .. } | ExprKind::Break { .. } | ExprKind::Continue { .. } => true,
        ExprKind::Format { name, .. } => {
            matches!(&**name, "bail" | "panic" | "unreachable" | "todo" | "unimplemented")
        }
        ExprKind::Block { stmts, tail, .. } => {
            stmts.iter().any(|s| match s {
                Stmt::Expr(e) => diverges(e),
                _ => false,
            }) || tail.as_ref().is_some_and(diverges)
        }
        ExprKind::If { then, otherwise: Some(otherwise), .. } => diverges(then) && diverges(otherwise),
        ExprKind::Match { arms, .. } => !arms.is_empty() && arms.iter().all(|a| diverges(&a.body)),
        _ => false,
    }
}

/// Whether a branch does more than compute: leaves, waits, writes, calls something that might.
pub(crate) fn matters(expr: &Expr) -> bool {
    walk::expressions(expr).any(|e| match &*e.kind {
        ExprKind::Return { .. }
        | ExprKind::Break { .. }
        | ExprKind::Continue { .. }
        | ExprKind::Try(_)
        | ExprKind::Await(_)
        | ExprKind::Assign { .. }
        | ExprKind::Call { .. }
        | ExprKind::Method { .. }
        | ExprKind::Lit(_)
        | ExprKind::Path(_) => true,
        ExprKind::Format { name, .. } => matches!(&**name, "bail" | "panic" | "unreachable" | "anyhow"),
        _ => false,
    })
}
