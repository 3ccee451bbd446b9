//! Names in expressions, and what they say.

use crate::rust::ir::{Expr, ExprKind, Lit};
use crate::rust::walk;

/// The last name of an expression: of a path its last segment, of a field the field, of a text the text; of what is
/// only converted or unpacked (`x.clone()`, `x?`, `x.unwrap_or_default()`), that of the thing itself.
pub(super) fn last_name(expr: &Expr) -> Option<&str> {
    match &*expr.kind {
        ExprKind::Path(path) => path.segments.last().map(|s| &**s),
        ExprKind::Field { name, .. } => Some(name),
        ExprKind::Lit(Lit::Str { text, .. }) => Some(text),
        ExprKind::Method { receiver, .. } => last_name(receiver),
        ExprKind::Try(inner) | ExprKind::Await(inner) => last_name(inner),
        ExprKind::Call { args, .. } => args.first().and_then(last_name),
        ExprKind::List(items) => items.first().and_then(last_name),
        _ => None,
    }
}

/// The methods of a chain that ends with `expr`, from the last to the first, each with its arguments; and what it
/// begins with.
pub(super) fn chain(expr: &Expr) -> (Vec<(&str, &[Expr])>, &Expr) {
    let mut calls = Vec::new();
    let mut at = expr;
    loop {
        match &*at.kind {
            ExprKind::Method { receiver, name, args, .. } => {
                calls.push((&**name, args.as_slice()));
                at = receiver;
            }
            ExprKind::Try(inner) | ExprKind::Await(inner) => at = inner,
            _ => return (calls, at),
        }
    }
}

/// The name of what an expression calls: a method, or the last segment of a function's path.
pub(super) fn called(expr: &Expr) -> Option<&str> {
    match &*expr.kind {
        ExprKind::Method { name, .. } => Some(name),
        ExprKind::Call { callee, .. } => match &*callee.kind {
            ExprKind::Path(path) => path.segments.last().map(|s| &**s),
            _ => None,
        },
        _ => None,
    }
}

/// Whether something in `body` calls one of these.
pub(super) fn calls_any(body: &Expr, names: &[&str]) -> bool {
    walk::expressions(body).any(|e| called(e).is_some_and(|name| names.contains(&name)))
}

/// Whether something that goes into a log or on a screen tells more than a fixed text.
pub(super) fn logs(body: &Expr) -> bool {
    walk::expressions(body).any(|e| match &*e.kind {
        ExprKind::Format { name, args, .. } => {
            let is_log = matches!(&**name, "info" | "event" | "println" | "eprintln" | "log");
            is_log && !args.is_empty()
        }
        ExprKind::Macro { path, args } => {
            let is_log = path.segments.last().is_some_and(|s| matches!(&**s, "info" | "event" | "log"));
            is_log && !args.is_empty()
        }
        _ => false,
    })
}

/// Whether an expression repeats its body: `loop`, `while`, `for`.
pub(super) fn body_of_loop(expr: &Expr) -> Option<&Expr> {
    match &*expr.kind {
        ExprKind::Loop { body, .. } | ExprKind::While { body, .. } | ExprKind::For { body, .. } => Some(body),
        _ => None,
    }
}

/// `DeadLetterEntry` → `dead_letter_entry`, `DLQError` → `dlq_error`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut previous = '_';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_acronym = previous.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit() || ends_acronym) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        previous = c;
    }
    out
}
