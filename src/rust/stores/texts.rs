//! Texts of one file that are whole statements.

use super::functions::{Found, each_item};
use crate::facts::Facts;
use crate::rust::ir::{BinOp, Expr, ExprKind, Lit, Module};
use crate::rust::walk;
use crate::source::SourceFile;
use crate::systems::sql::in_code::{self, Text};

/// Adds the purges in the texts of a file.
pub fn extract(file: &SourceFile, module: &Module, facts: &mut Facts) {
    each_item(&module.items, &mut |found| {
        let (body, inside) = match found {
            Found::Function(function) => (&function.body, &*function.name),
            Found::Const(constant) => match &constant.value {
                Some(value) => (value, &*constant.name),
                None => return,
            },
            Found::Struct(_) => return,
        };
        of_body(file, body, inside, facts);
    });
}

fn of_body(file: &SourceFile, body: &Expr, inside: &str, facts: &mut Facts) {
    let mut pieces = std::collections::BTreeSet::new();
    for expr in walk::expressions(body) {
        if puts_together(expr) {
            pieces.extend(walk::expressions(expr).map(|e| e.span));
        }
        if let ExprKind::Lit(Lit::Str { text, verbatim }) = &*expr.kind
            && !pieces.contains(&expr.span)
        {
            in_code::extract(file, &Text { text, verbatim: *verbatim, span: expr.span, inside }, facts);
        }
    }
}

/// Whether the texts in an expression are pieces of a longer one.
fn puts_together(expr: &Expr) -> bool {
    match &*expr.kind {
        ExprKind::Macro { path, .. } => {
            path.segments.last().is_some_and(|s| matches!(&**s, "concat" | "concatcp" | "formatcp"))
        }
        ExprKind::Binary { op: BinOp::Add, .. } => true,
        ExprKind::Assign { op: Some(BinOp::Add), .. } => true,
        ExprKind::Method { name, .. } => {
            matches!(&**name, "push" | "push_str" | "write_str" | "push_sql" | "sql" | "join")
        }
        ExprKind::Call { callee, .. } => {
            matches!(&*callee.kind, ExprKind::Path(path) if path.segments.iter().any(|s| matches!(&**s, "QueryBuilder" | "String")))
        }
        _ => false,
    }
}
