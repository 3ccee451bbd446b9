//! What layers are called, and what to do about them.

use super::episode::Repeater;
use crate::model::Advice;
use crate::rust::index::{FnIx, Index};
use crate::rust::ir::{Expr, ExprKind, Lit, Pat, PatKind};
use crate::rust::walk;
use crate::source::Span;

/// The innermost function whose text holds a place.
pub(crate) fn function_at(index: &Index<'_>, span: Span) -> Option<FnIx> {
    index
        .functions()
        .filter(|f| index.function(*f).function.span.contains(span))
        .min_by_key(|f| index.function(*f).function.span.range().len())
}

/// What repeats.
pub(crate) fn word(repeater: &Repeater) -> &'static str {
    match repeater {
        Repeater::Loop { .. } => "hand-written loop",
        Repeater::Recursion { .. } => "recursion",
        Repeater::Sequence { .. } => "second call after a failure",
        Repeater::Library(_) => "retry",
    }
}

/// What to write to mend a finding about it.
pub(crate) fn advice(repeater: &Repeater) -> Advice {
    let phrase = |s: &str| Some(s.to_owned());
    Advice {
        none: match repeater {
            Repeater::Sequence { .. } => phrase("drop the second call"),
            _ => phrase("call once"),
        },
        fewer: match repeater {
            Repeater::Sequence { .. } => None,
            _ => phrase("lower the bound of the loop"),
        },
        limit: phrase("count the tries and give up after a few"),
        wait: phrase("sleep between the tries"),
        grow: phrase("double the wait after each try, up to a cap"),
        cap: phrase("cap the wait with `.min(..)`"),
        jitter: phrase("multiply the wait by a random factor before the sleep"),
        statuses: phrase("return such failures instead of trying again"),
        retry_after: phrase("read its `retry-after` header before the sleep"),
        pass_on: None,
    }
}

/// The head of a loop as it is written, as far as it is short: `for attempt in 1..=4`.
pub(crate) fn head(index: &Index<'_>, span: Span, repeater: &Repeater) -> String {
    let Repeater::Loop { word, .. } = repeater else { return "call".to_owned() };
    let body = function_at(index, span).map(|f| &index.function(f).function.body);
    let found = body.into_iter().flat_map(walk::expressions).find(|e| e.span.start == span.start && is_loop(e));
    match found.map(|e| &*e.kind) {
        Some(ExprKind::For { pat, iter, .. }) => format!("for {} in {}", pat_text(pat), text(iter, 4)),
        Some(ExprKind::While { cond, .. }) => format!("while {}", text(cond, 4)),
        _ => (*word).to_owned(),
    }
}

fn is_loop(expr: &Expr) -> bool {
    matches!(&*expr.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. })
}

fn pat_text(pat: &Pat) -> String {
    match &pat.kind {
        PatKind::Bind { name, .. } => name.to_string(),
        PatKind::Wild => "_".to_owned(),
        _ => "..".to_owned(),
    }
}

/// A short expression as it would be written.
fn text(expr: &Expr, depth: u8) -> String {
    if depth == 0 {
        return "..".to_owned();
    }
    let inner = |e: &Expr| text(e, depth - 1);
    match &*expr.kind {
        ExprKind::Lit(Lit::Int(n)) => n.to_string(),
        ExprKind::Lit(Lit::Bool(b)) => b.to_string(),
        ExprKind::Path(path) => path.segments.iter().map(|s| &**s).collect::<Vec<_>>().join("::"),
        ExprKind::Field { base, name } => format!("{}.{name}", inner(base)),
        ExprKind::Range { start, end, inclusive } => {
            let dots = if *inclusive { "..=" } else { ".." };
            let side = |e: &Option<Expr>| e.as_ref().map(inner).unwrap_or_default();
            format!("{}{dots}{}", side(start), side(end))
        }
        ExprKind::Method { receiver, name, args, .. } => {
            let receiver_text = inner(receiver);
            let receiver_text = match &*receiver.kind {
                ExprKind::Range { .. } => format!("({receiver_text})"),
                _ => receiver_text,
            };
            let args = args.iter().map(inner).collect::<Vec<_>>().join(", ");
            format!("{receiver_text}.{name}({args})")
        }
        ExprKind::Binary { op, left, right } => format!("{} {} {}", inner(left), op_text(*op), inner(right)),
        _ => "..".to_owned(),
    }
}

fn op_text(op: crate::rust::ir::BinOp) -> &'static str {
    use crate::rust::ir::BinOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Sub};
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        Eq => "==",
        Ne => "!=",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        And => "&&",
        Or => "||",
        _ => "..",
    }
}
