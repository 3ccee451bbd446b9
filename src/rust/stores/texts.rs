//! Texts of one file that are whole statements, or settings.

use std::time::Duration;

use super::caches::duration;
use super::functions::{Code, Found, each_item};
use crate::facts::Facts;
use crate::model::PurgeBound;
use crate::rust::ir::{BinOp, Expr, ExprKind, Lit, Module};
use crate::rust::walk;
use crate::source::{SourceFile, Span};
use crate::systems::clients::grpc;
use crate::systems::sql::in_code::{self, Text};

/// Adds the purges and the gRPC service configs in the texts of a file.
pub fn extract(file: &SourceFile, module: &Module, facts: &mut Facts) {
    each_item(&module.items, &mut |found| {
        let (body, inside) = match found {
            Found::Function(function, _) => (&function.body, &*function.name),
            Found::Const(constant) => match &constant.value {
                Some(value) => (value, &*constant.name),
                None => return,
            },
            Found::Struct(_) => return,
        };
        let known = facts.purges.len();
        of_body(file, body, inside, facts);
        // An age that the statement is given.
        let given = facts.purges.iter_mut().skip(known).filter(|p| p.bound == PurgeBound::Age && p.age.is_none());
        let mut given = given.peekable();
        if given.peek().is_some() {
            let age = subtracted(module, body, &file.path);
            given.for_each(|purge| purge.age = age);
        }
    });
}

/// The one span of time that a body takes off something: `Utc::now() - Duration::days(3)`.
fn subtracted(module: &Module, body: &Expr, path: &str) -> Option<(Duration, Span)> {
    let code = Code::new(std::slice::from_ref(module));
    let taken = walk::expressions(body).filter_map(|e| match &*e.kind {
        ExprKind::Binary { op: BinOp::Sub, right, .. } => Some(right),
        ExprKind::Method { name, args, .. } if matches!(&**name, "checked_sub_signed" | "checked_sub") => args.first(),
        _ => None,
    });
    let mut found = taken.filter_map(|e| Some((duration(&code, e, path)?, e.span)));
    let first = found.next()?;
    found.next().is_none().then_some(first)
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
            grpc::in_code(file, text, *verbatim, expr.span, facts);
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
