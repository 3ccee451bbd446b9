//! Whether a comparison lets only old records through.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator};

use super::names;

/// How an expression moves as a record's time moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// It grows: the time itself, or the time plus a span.
    With,
    /// It shrinks: the record's age.
    Against,
    /// It has no time of the record in it.
    Not,
    /// It has another column in it, a variable of a routine, or two times.
    Unclear,
}

impl Moves {
    fn turned(self) -> Self {
        match self {
            Self::With => Self::Against,
            Self::Against => Self::With,
            other => other,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Not, x) | (x, Self::Not) => x,
            (x, y) if x == y => x,
            // A span that each record has for itself.
            (Self::Unclear, x) | (x, Self::Unclear) => x,
            _ => Self::Unclear,
        }
    }
}

/// Which end of the records a comparison takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The old ones.
    Old,
    /// The new ones.
    New,
}

/// The last part of a column's name, in snake case.
pub(super) fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(names::snake(&ident.value)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|i| names::snake(&i.value)),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => column(inner),
        _ => None,
    }
    .filter(|name| !name.is_empty())
}

/// Whether the expression is a variable of T-SQL or MySQL, which look like columns.
fn is_variable(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(i) if i.value.starts_with(['@', ':']))
}

/// Which end of the records `left op right` takes, if it bounds their age.
pub(super) fn bound(left: &Expr, op: &BinaryOperator, right: &Expr, is_time: &dyn Fn(&str) -> bool) -> Option<End> {
    let is_less = match op {
        BinaryOperator::Lt | BinaryOperator::LtEq => true,
        BinaryOperator::Gt | BinaryOperator::GtEq => false,
        _ => return None,
    };
    let old_when_less = match (moves(left, is_time), moves(right, is_time)) {
        // A time is compared with nothing but times: what looks like another column is a variable.
        (Moves::With, Moves::Not | Moves::Unclear) | (Moves::Not | Moves::Unclear, Moves::Against) => true,
        (Moves::Against, Moves::Not | Moves::Unclear) | (Moves::Not | Moves::Unclear, Moves::With) => false,
        _ => return None,
    };
    Some(if is_less == old_when_less { End::Old } else { End::New })
}

/// How the expression moves with the record's time.
pub(super) fn moves(expr: &Expr, is_time: &dyn Fn(&str) -> bool) -> Moves {
    let of = |inner: &Expr| moves(inner, is_time);
    match expr {
        _ if is_variable(expr) => Moves::Not,
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match column(expr) {
            Some(name) if is_time(&name) => Moves::With,
            // Functions without parentheses are read as columns by some dialects.
            Some(name) if is_clock(&name) => Moves::Not,
            _ => Moves::Unclear,
        },
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Plus => of(left).and(of(right)),
            BinaryOperator::Minus => of(left).and(of(right).turned()),
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::StringConcat => of(left).and(of(right)),
            _ => Moves::Unclear,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => of(expr).turned(),
        Expr::Nested(inner) => of(inner),
        Expr::Cast { expr, .. } | Expr::Convert { expr, .. } | Expr::Collate { expr, .. } => of(expr),
        Expr::Extract { expr, .. } | Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => of(expr),
        Expr::AtTimeZone { timestamp, .. } => of(timestamp),
        Expr::Function(function) => call(&function.name.to_string(), &function.args, is_time),
        Expr::Value(_) | Expr::TypedString(_) | Expr::Prefixed { .. } => Moves::Not,
        // The unit aside, a span of time that depends on nothing of the record.
        Expr::Interval(interval) => match of(&interval.value) {
            Moves::Unclear => Moves::Not,
            other => other,
        },
        // What is asked of another query is a limit like any other; counting ones are told apart before.
        Expr::Subquery(_) => Moves::Not,
        _ => Moves::Unclear,
    }
}

fn call(name: &str, args: &FunctionArguments, is_time: &dyn Fn(&str) -> bool) -> Moves {
    let args: Vec<&Expr> = match args {
        FunctionArguments::List(list) => list.args.iter().filter_map(argument).collect(),
        _ => Vec::new(),
    };
    let of = |i: usize| args.get(i).map_or(Moves::Not, |e| moves(e, is_time));
    // Units like `day` look like columns.
    let of_time = |i: usize| if of(i) == Moves::Unclear { Moves::Not } else { of(i) };
    match (names::snake(name).as_str(), args.len()) {
        ("age", 1) => of(0).turned(),
        // The first less the second.
        ("age", 2) | ("datediff", 2) | ("timediff", 2) | ("date_diff" | "timestamp_diff" | "datetime_diff", 3) => {
            of_time(0).and(of_time(1).turned())
        }
        ("months_between" | "days_between" | "seconds_between", 2) => of_time(0).and(of_time(1).turned()),
        // The second less the first, after the unit.
        ("datediff" | "datediff_big" | "timestampdiff", 3) => of_time(1).turned().and(of_time(2)),
        _ => (0..args.len()).map(of_time).fold(Moves::Not, Moves::and),
    }
}

fn argument(arg: &FunctionArg) -> Option<&Expr> {
    let (FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } | FunctionArg::Unnamed(arg)) = arg;
    match arg {
        FunctionArgExpr::Expr(expr) => Some(expr),
        _ => None,
    }
}

/// Whether the name is a clock and no column.
fn is_clock(name: &str) -> bool {
    matches!(
        name,
        "now"
            | "current_timestamp"
            | "current_date"
            | "current_time"
            | "localtimestamp"
            | "sysdate"
            | "systimestamp"
            | "getdate"
            | "sysutcdatetime"
    )
}
