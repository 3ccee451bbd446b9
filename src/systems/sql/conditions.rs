//! What each condition of a WHERE says about which records go.

use sqlparser::ast::{BinaryOperator, Expr, InTarget, Query, Spanned, UnaryOperator, Value};
use sqlparser::tokenizer::Span as RawSpan;

use super::age::{self, End};
use super::names;
use super::victims::{Asked, Scope};

/// What a condition says, the strongest first: see [`verdict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// It fixes the records by their key.
    Key,
    /// It bounds their age.
    Age,
    /// It takes only duplicates.
    Duplicates,
    /// It picks by number or by order.
    Count,
    /// It is a limit on a number that is known only when it runs.
    Watermark,
    /// It takes the new ones.
    New,
    /// It asks how far they have come.
    Status(RawSpan),
    /// It narrows the records down, whatever their age and number.
    Narrow,
    /// It is always true.
    Nothing,
    /// It cannot be read.
    Unclear,
}

/// What conditions come to that must all hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Age,
    Count,
    Status(RawSpan),
    Everything,
    Other,
}

/// What conditions come to that must all hold. `is_ordered`: whether a limit goes with an order.
pub(super) fn verdict(says: &[Says], is_limited: bool, is_ordered: bool) -> Verdict {
    let has = |what: Says| says.contains(&what);
    let status = says.iter().find_map(|s| if let Says::Status(span) = s { Some(*span) } else { None });
    if has(Says::Key) {
        return Verdict::Other;
    }
    if has(Says::Age) {
        return Verdict::Age;
    }
    if has(Says::Duplicates) || has(Says::Unclear) {
        return Verdict::Other;
    }
    if has(Says::Count) || is_limited {
        // A limit without an order only cuts the work into batches.
        return match status {
            Some(span) if !has(Says::Count) && !is_ordered => Verdict::Status(span),
            _ => Verdict::Count,
        };
    }
    if has(Says::Watermark) {
        return Verdict::Other;
    }
    if has(Says::New) {
        return Verdict::Everything;
    }
    match status {
        Some(span) => Verdict::Status(span),
        None if has(Says::Narrow) => Verdict::Other,
        None => Verdict::Everything,
    }
}

/// What must all hold, as a list.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut out = Vec::new();
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => stack.extend([&**right, &**left]),
            Expr::Nested(inner) => stack.push(inner),
            other => out.push(other),
        }
    }
    out
}

/// Of what one suffices, as a list.
fn alternatives(expr: &Expr) -> Vec<&Expr> {
    let mut out = Vec::new();
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => stack.extend([&**right, &**left]),
            other => out.push(other),
        }
    }
    out
}

/// What a whole WHERE says.
pub(super) fn all(expr: &Expr, scope: &Scope<'_>) -> Vec<Says> {
    conjuncts(expr).into_iter().flat_map(|e| one(e, scope)).collect()
}

/// What one condition says; more than one thing if it asks another query.
fn one(expr: &Expr, scope: &Scope<'_>) -> Vec<Says> {
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => vec![either(expr, scope)],
        Expr::BinaryOp { left, op, right } => comparison(expr, left, op, right, scope),
        Expr::In { expr: left, target, negated, .. } => within(expr, left, target, *negated, scope),
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => match query(right) {
            Some(query) => asked(scope.ask(query)),
            None => vec![equality(expr, left, right)],
        },
        Expr::Exists { subquery, negated: false } => asked(scope.ask(subquery)),
        Expr::Between { expr: inner, low, high, negated: false } => vec![between(inner, low, high, scope)],
        Expr::Like { expr: left, pattern, negated: false, .. }
        | Expr::ILike { expr: left, pattern, negated: false, .. } => {
            vec![equality(expr, left, pattern)]
        }
        Expr::IsNotNull(inner) => vec![flag(expr, inner, Says::Narrow)],
        Expr::IsNull(_) => vec![Says::Narrow],
        Expr::IsTrue(inner) | Expr::IsFalse(inner) | Expr::IsNotFalse(inner) | Expr::IsNotTrue(inner) => {
            vec![flag(expr, inner, Says::Unclear)]
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => vec![flag(expr, expr, Says::Unclear)],
        Expr::Value(value) if matches!(value.value, Value::Boolean(true)) => vec![Says::Nothing],
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => vec![match one(inner, scope).as_slice() {
            [Says::Status(span)] => Says::Status(*span),
            [Says::Narrow | Says::Key] => Says::Narrow,
            _ => Says::Unclear,
        }],
        _ => vec![Says::Unclear],
    }
}

/// Alternatives say what the worst of them says; they bound the age only if each does.
fn either(expr: &Expr, scope: &Scope<'_>) -> Says {
    let verdicts: Vec<Verdict> =
        alternatives(expr).into_iter().map(|e| verdict(&all(e, scope), false, false)).collect();
    if verdicts.iter().all(|v| *v == Verdict::Age) {
        return Says::Age;
    }
    let status = verdicts.iter().find_map(|v| if let Verdict::Status(span) = v { Some(*span) } else { None });
    match status {
        _ if verdicts.contains(&Verdict::Count) => Says::Count,
        _ if verdicts.contains(&Verdict::Everything) => Says::Nothing,
        Some(span) => Says::Status(span),
        None => Says::Unclear,
    }
}

fn comparison(whole: &Expr, left: &Expr, op: &BinaryOperator, right: &Expr, scope: &Scope<'_>) -> Vec<Says> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, Spaceship};
    if literal(left).is_some() && literal(left) == literal(right) && *op == Eq {
        return vec![Says::Nothing];
    }
    if let (Some(a), Some(b)) = (age::column(left), age::column(right)) {
        // Two tables are joined, or the record is compared with another one of its table.
        if is_qualified(left) && is_qualified(right) {
            let is_other = a == b && *op != Eq;
            return vec![if is_other { Says::Duplicates } else { Says::Narrow }];
        }
    }
    match op {
        Eq | Spaceship => match (query(left), query(right)) {
            (None, None) if age::column(left).is_none() => vec![equality(whole, right, left)],
            (None, None) => vec![equality(whole, left, right)],
            (Some(query), _) | (_, Some(query)) => {
                let said = scope.ask(query);
                if said.is_extreme && !said.is_grouped { vec![Says::Count] } else { asked(said) }
            }
        },
        NotEq => vec![flag(whole, left, Says::Narrow)],
        Lt | LtEq | Gt | GtEq => vec![order(left, op, right, scope)],
        _ => vec![Says::Unclear],
    }
}

/// `<` and its like.
fn order(left: &Expr, op: &BinaryOperator, right: &Expr, scope: &Scope<'_>) -> Says {
    if let Some(says) = numbered(left, op, right, scope).or_else(|| numbered(right, &mirrored(op), left, scope)) {
        return says;
    }
    if let Some(asked) = query(left).or(query(right)).map(|q| scope.ask(q)) {
        // The record at a given place in the order is a limit by number, whatever of it is compared.
        let is_counted = asked.is_limited && asked.is_ordered;
        let compared = age::column(left).or(age::column(right)).unwrap_or_default();
        if asked.says.contains(&Says::Age) {
            return Says::Age;
        }
        if is_counted || (asked.is_extreme && !scope.is_time(&compared)) {
            return Says::Count;
        }
    }
    match age::bound(left, op, right, &|c| scope.is_time(c)) {
        Some(End::Old) => return Says::Age,
        Some(End::New) => return Says::New,
        None => {}
    }
    let (key, limit) = if age::column(left).is_some_and(|c| names::is_key(&c)) { (left, right) } else { (right, left) };
    match age::column(key) {
        // A limit computed as a maximum less a number, and handed in.
        Some(c) if names::is_key(&c) && is_maximum_less(limit) => Says::Count,
        Some(c) if names::is_key(&c) => Says::Watermark,
        _ => Says::Unclear,
    }
}

/// `rownum <= n`, `rn > n`.
fn numbered(left: &Expr, op: &BinaryOperator, right: &Expr, scope: &Scope<'_>) -> Option<Says> {
    let column = age::column(left)?;
    if column == "rownum" {
        return Some(Says::Count);
    }
    let is_per_key = *scope.ranks.get(&column)?;
    let beyond_first =
        matches!((op, literal(right).as_deref()), (BinaryOperator::Gt, Some("1")) | (BinaryOperator::GtEq, Some("2")));
    Some(if is_per_key && beyond_first { Says::Duplicates } else { Says::Count })
}

fn mirrored(op: &BinaryOperator) -> BinaryOperator {
    match op {
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        other => other.clone(),
    }
}

fn between(expr: &Expr, low: &Expr, high: &Expr, scope: &Scope<'_>) -> Says {
    let old = age::bound(expr, &BinaryOperator::LtEq, high, &|c| scope.is_time(c));
    let young = age::bound(expr, &BinaryOperator::GtEq, low, &|c| scope.is_time(c));
    if old == Some(End::Old) || young == Some(End::Old) { Says::Age } else { Says::Unclear }
}

/// `left = right` and its like.
fn equality(whole: &Expr, left: &Expr, right: &Expr) -> Says {
    if let Expr::Tuple(parts) = left {
        let is_key = parts.iter().filter_map(age::column).any(|c| names::is_key(&c));
        return if is_key { Says::Key } else { Says::Narrow };
    }
    let Some(column) = age::column(left) else { return Says::Unclear };
    let is_flag = matches!(literal(right).as_deref(), Some("true" | "false"));
    if names::is_key(&column) {
        Says::Key
    } else if names::is_status(&column) || is_flag {
        Says::Status(whole.span())
    } else if column == "rownum" {
        Says::Count
    } else {
        Says::Narrow
    }
}

/// A column that is tested by itself.
fn flag(whole: &Expr, inner: &Expr, otherwise: Says) -> Says {
    match age::column(inner) {
        // `processed_at IS NOT NULL` asks how far a record has come, and so does `processed`.
        Some(c) if names::is_status(c.trim_end_matches("_at")) => Says::Status(whole.span()),
        _ => otherwise,
    }
}

fn within(whole: &Expr, left: &Expr, target: &InTarget, negated: bool, scope: &Scope<'_>) -> Vec<Says> {
    match target {
        InTarget::List(_) | InTarget::Unnest(_) if !negated => vec![equality(whole, left, left)],
        InTarget::List(_) => vec![flag(whole, left, Says::Narrow)],
        InTarget::Subquery(query) if !negated => asked(scope.ask(query)),
        InTarget::Subquery(query) => {
            let kept = scope.ask(query);
            // All but these: the newest ones, or one of each key.
            vec![match kept {
                _ if kept.is_extreme && kept.is_grouped => Says::Duplicates,
                _ if kept.is_limited || kept.says.contains(&Says::Count) => Says::Count,
                _ => Says::Unclear,
            }]
        }
        _ => vec![Says::Unclear],
    }
}

/// The conditions of the query that picks the records.
fn asked(asked: Asked) -> Vec<Says> {
    let mut says = asked.says;
    if asked.is_extreme && asked.is_grouped {
        says.push(Says::Duplicates);
    } else if asked.is_limited {
        match says.iter().any(|s| matches!(s, Says::Status(_))) {
            // A limit without an order only cuts the work into batches.
            true if !asked.is_ordered => {}
            _ => says.push(Says::Count),
        }
    } else if says.iter().all(|s| *s == Says::Nothing) {
        // Records named by another table.
        says.push(Says::Unclear);
    }
    says
}

/// The query in an expression that stands for its rows.
fn query(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::Subquery(query) => Some(query),
        Expr::Nested(inner) => query(inner),
        Expr::Function(function) => match &function.args {
            sqlparser::ast::FunctionArguments::Subquery(query) => Some(query),
            _ => None,
        },
        _ => None,
    }
}

/// A literal's text.
fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => Some(text.to_string()),
            Value::Boolean(flag) => Some(flag.to_string()),
            Value::SingleQuotedString(text) => Some(text.to_lowercase()),
            _ => None,
        },
        Expr::Nested(inner) => literal(inner),
        _ => None,
    }
}

/// Whether it is a column of a table that is named; the records of a trigger are values.
fn is_qualified(expr: &Expr) -> bool {
    let Expr::CompoundIdentifier(parts) = expr else { return false };
    parts.len() > 1 && !parts.first().is_some_and(|p| matches!(names::snake(&p.value).as_str(), "new" | "old"))
}

/// `@max_id - 100000`
fn is_maximum_less(expr: &Expr) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Minus, right } = expr else { return false };
    literal(right).is_some() && left.to_string().to_lowercase().contains("max")
}
