//! Functions that call each other: `send` calls `again` after a failure, which calls `send`.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::machine::Machine;
use crate::rust::index::{FnIx, Index, Resolved};
use crate::rust::ir::{Expr, ExprKind};
use crate::rust::walk;

impl Machine<'_, '_> {
    /// Whether a function calls another one that calls it again. Of two such functions it is the one that comes first.
    pub(super) fn comes_back(&self, ix: FnIx) -> bool {
        let calls = self.calls_of(ix);
        let partner = |of: FnIx| of != ix && self.calls_of(of).contains(&ix) && calls.contains(&of);
        calls.iter().any(|of| partner(*of)) && !self.frames.iter().any(|f| partner(f.function))
    }

    /// The functions of the repository that a function calls by path, or as methods of its own type.
    fn calls_of(&self, ix: FnIx) -> Rc<BTreeSet<FnIx>> {
        if let Some(known) = self.shared.calls.borrow().get(&ix) {
            return known.clone();
        }
        let calls = Rc::new(calls_of(self.shared.index, ix));
        self.shared.calls.borrow_mut().insert(ix, calls.clone());
        calls
    }
}

fn calls_of(index: &Index<'_>, ix: FnIx) -> BTreeSet<FnIx> {
    let info = index.function(ix);
    let called = |expr: &Expr| match &*expr.kind {
        ExprKind::Method { receiver, name, .. } if is_self(receiver) => index.method(info.of_type?, name),
        ExprKind::Call { callee, .. } => {
            let ExprKind::Path(path) = &*callee.kind else { return None };
            match index.resolve(info.scope, info.of_type, path) {
                Resolved::Fn(called) => Some(called),
                _ => None,
            }
        }
        _ => None,
    };
    walk::expressions(&info.function.body).filter_map(called).collect()
}

fn is_self(expr: &Expr) -> bool {
    matches!(&*expr.kind, ExprKind::Path(p) if matches!(p.segments.as_slice(), [one] if &**one == "self"))
}
