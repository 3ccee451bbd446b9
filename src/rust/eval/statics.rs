//! What can be told of code without running it.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust::crates;
use crate::rust::index::{FnIx, Index, Resolved, TypeIx};
use crate::rust::ir::{Expr, ExprKind, PatKind, Stmt};
use crate::rust::walk;

/// What is computed once for all runs.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    recursive: BTreeSet<FnIx>,
    makers: BTreeMap<TypeIx, Vec<FnIx>>,
    callers: BTreeMap<FnIx, Vec<FnIx>>,
    client_makers: Vec<(FnIx, &'static str)>,
}

impl Statics {
    /// Of all functions.
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let mut statics = Self::default();
        for ix in index.functions() {
            statics.look_at(index, ix);
        }
        statics
    }

    fn look_at(&mut self, index: &Index<'_>, ix: FnIx) {
        let info = index.function(ix);
        let name = &info.function.name;
        for expr in walk::expressions(&info.function.body) {
            match &*expr.kind {
                ExprKind::Method { receiver, name: method, .. } if method == name && is_self(receiver) => {
                    self.recursive.insert(ix);
                }
                ExprKind::Call { callee, .. } => {
                    let ExprKind::Path(path) = &*callee.kind else { continue };
                    if path.segments.last() == Some(name) {
                        self.recursive.insert(ix);
                    }
                    for system in crates::makes_clients(path) {
                        // One function after the other: what it has made before stands at the end.
                        if !self.client_makers.iter().rev().take_while(|(of, _)| *of == ix).any(|(_, s)| *s == system) {
                            self.client_makers.push((ix, system));
                        }
                    }
                    match index.resolve(info.scope, info.of_type, path) {
                        Resolved::Fn(called) if called != ix => add(&mut self.callers, called, ix),
                        Resolved::Type(ty) => add(&mut self.makers, ty, ix),
                        _ => {}
                    }
                }
                ExprKind::Struct { path, .. } => {
                    if let Resolved::Type(ty) = index.resolve(info.scope, info.of_type, path) {
                        add(&mut self.makers, ty, ix);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a function calls something of its own name.
    pub(crate) fn may_recurse(&self, ix: FnIx) -> bool {
        self.recursive.contains(&ix)
    }

    /// The functions in which a literal of a struct stands.
    pub(crate) fn makers(&self, ty: TypeIx) -> &[FnIx] {
        self.makers.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The functions that call a function by its path.
    pub(crate) fn callers(&self, ix: FnIx) -> &[FnIx] {
        self.callers.get(&ix).map_or(&[], Vec::as_slice)
    }

    /// The functions that make a client of a library that repeats its own calls, or settings of one.
    pub(crate) fn client_makers(&self, system: &'static str) -> impl Iterator<Item = FnIx> {
        self.client_makers.iter().filter(move |(_, of)| *of == system).map(|(ix, _)| *ix)
    }

    /// The functions that nothing calls, as far as names tell.
    pub(crate) fn roots(&self, index: &Index<'_>) -> Vec<FnIx> {
        let mut by_name = BTreeSet::new();
        for ix in index.functions() {
            for expr in walk::expressions(&index.function(ix).function.body) {
                if let ExprKind::Method { name, .. } = &*expr.kind {
                    by_name.insert((name, ix));
                }
            }
        }
        let called = |f: &FnIx| {
            let info = index.function(*f);
            let named = (&info.function.name, FnIx(0))..=(&info.function.name, FnIx(u32::MAX));
            !self.callers(*f).is_empty() || takes_self(index, *f) && by_name.range(named).any(|(_, by)| by != f)
        };
        index.functions().filter(|f| !called(f)).collect()
    }
}

fn takes_self(index: &Index<'_>, ix: FnIx) -> bool {
    let first = index.function(ix).function.params.first();
    first.is_some_and(|p| matches!(&p.pat.kind, PatKind::Bind { name, .. } if &**name == "self"))
}

fn add<K: Ord>(to: &mut BTreeMap<K, Vec<FnIx>>, key: K, ix: FnIx) {
    let all = to.entry(key).or_default();
    if all.last() != Some(&ix) {
        all.push(ix);
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

/// Whether a branch may leave a loop or a function, go on with the next turn, or wait.
pub(crate) fn leaves(expr: &Expr) -> bool {
    walk::expressions(expr).any(|e| match &*e.kind {
        ExprKind::Return { .. } | ExprKind::Break { .. } | ExprKind::Continue { .. } => true,
        ExprKind::Format { name, .. } => matches!(&**name, "bail" | "panic" | "unreachable"),
        _ => false,
    })
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
