//! Operators on values.
use std::rc::Rc;

use super::episode::Repeater;
use super::machine::Machine;
use super::pattern::plain_number;
use super::value::{Kind, Spread, Taint, Text, TextPart, Unknown, Value, Why};
use crate::rust::ir::BinOp;
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// `left op right`
    pub(crate) fn operate(&mut self, op: BinOp, left: &Value<'a>, right: &Value<'a>, at: Span) -> Value<'a> {
        let taint = left.taint.with(right.taint);
        if let Some(lifted) = self.operate_lifted(op, left, right, at) {
            return lifted.tainted(taint);
        }
        if matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge) {
            return self.compare(op, left, right, at).tainted(taint);
        }
        let kind = match (&left.kind, &right.kind) {
            (Kind::Bool(a), Kind::Bool(b)) => logic(op, *a, *b),
            (Kind::Int(a), Kind::Int(b)) => integers(op, *a, *b),
            (Kind::Duration(a), Kind::Duration(b)) => durations(op, *a, *b, taint),
            (Kind::Duration(a), _) => right.number().and_then(|n| scaled(op, *a, n)),
            (_, Kind::Duration(b)) if op == BinOp::Mul => left.number().and_then(|n| scaled(op, *b, n)),
            (Kind::Instant(a), Kind::Duration(b)) => match op {
                BinOp::Add => Some(Kind::Instant(a + b.mean())),
                BinOp::Sub => Some(Kind::Instant(a - b.mean())),
                _ => None,
            },
            (Kind::Instant(a), Kind::Instant(b)) if op == BinOp::Sub => {
                Some(Kind::Duration(Spread::exact((a - b).max(0.0))))
            }
            (Kind::Text(a), _) if op == BinOp::Add => Some(Kind::Text(Rc::new(joined(a, right)))),
            _ => match (left.number(), right.number()) {
                (Some(a), Some(b)) => numbers(op, a, b, left, right),
                _ => None,
            },
        };
        match kind {
            // The place of a number stays with it through `+ 1` and the like.
            Some(kind) => Value { kind, taint, origin: left.origin.or(right.origin) },
            None => self.derived(name_of(op), Why::Other("is computed"), &[left, right]),
        }
    }

    fn operate_lifted(&mut self, op: BinOp, left: &Value<'a>, right: &Value<'a>, at: Span) -> Option<Value<'a>> {
        let pairs: Vec<(u16, Value<'a>)> = match (&left.kind, &right.kind) {
            (Kind::Lifted(a), Kind::Lifted(b)) => a
                .iter()
                .filter_map(|(s, x)| {
                    let (_, y) = b.get(b.binary_search_by_key(s, |(t, _)| *t).ok()?)?;
                    Some((*s, self.operate(op, x, y, at)))
                })
                .collect(),
            (Kind::Lifted(a), _) => a.iter().map(|(s, x)| (*s, self.operate(op, x, right, at))).collect(),
            (_, Kind::Lifted(b)) => b.iter().map(|(s, y)| (*s, self.operate(op, left, y, at))).collect(),
            _ => return None,
        };
        Some(Value::new(Kind::Lifted(Rc::new(pairs))))
    }

    fn compare(&mut self, op: BinOp, left: &Value<'a>, right: &Value<'a>, at: Span) -> Value<'a> {
        let answer = match op {
            BinOp::Eq => self.equal(left, right),
            BinOp::Ne => self.equal(left, right).map(|e| !e),
            _ => ordered(left, right).map(|ordering| match op {
                BinOp::Lt => ordering.is_lt(),
                BinOp::Le => ordering.is_le(),
                BinOp::Gt => ordering.is_gt(),
                _ => ordering.is_ge(),
            }),
        };
        match answer {
            Some(answer) => {
                self.note_compared(op, at, left, right, answer);
                Value::bool(answer)
            }
            None => self.open_comparison(op, left, right, at),
        }
    }

    /// Whether what repeats, if anything, is a function that calls itself.
    fn recurs(&self) -> bool {
        self.episodes.last().is_some_and(|e| matches!(e.repeater, Repeater::Recursion { .. }))
    }

    /// A comparison with something not known: a loop that is bounded by it ends some time.
    fn open_comparison(&mut self, op: BinOp, left: &Value<'a>, right: &Value<'a>, at: Span) -> Value<'a> {
        let measured =
            |v: &Value<'a>| v.number().is_some() || v.duration().is_some() || matches!(v.kind, Kind::Instant(_));
        let with = match (left.as_unknown(), right.as_unknown()) {
            (Some(open), None) if measured(right) => Some((open.clone(), left.taint)),
            (None, Some(open)) if measured(left) => Some((open.clone(), right.taint)),
            // A function that calls itself counts in an argument, which nobody may be seen to hand over first.
            (Some(open), Some(_)) if !matches!(op, BinOp::Eq | BinOp::Ne) && self.recurs() => {
                let place = [Value::int(i128::from(at.start)), Value::int(i128::from(at.file.0))];
                let id = Value::digest_all("place", &place);
                let plain = Unknown { id, why: open.why.clone(), ty: None, succeeded: false, call: None, keys: None };
                Some((Rc::new(plain), left.taint.with(right.taint)))
            }
            _ => None,
        };
        let value = self.derived(name_of(op), Why::Other("is a comparison"), &[left, right]);
        match with {
            Some((open, taint)) if !taint.has(Taint::FAILURE) && !taint.has(Taint::ANSWER) => {
                // One identity for all turns: the counter in it moves.
                let id = Value::digest_all(name_of(op), [&Value::new(Kind::Unknown(open.clone()))]);
                let unknown =
                    Unknown { id, why: Why::Compared(open), ty: None, succeeded: false, call: None, keys: None };
                Value { kind: Kind::Unknown(Rc::new(unknown)), taint: value.taint, origin: None }
            }
            _ => value,
        }
    }
}

/// The order of two values, if it is sure.
pub(crate) fn ordered(left: &Value<'_>, right: &Value<'_>) -> Option<std::cmp::Ordering> {
    if let (Some(a), Some(b)) = (plain_number(left), plain_number(right)) {
        return Some(a.cmp(&b));
    }
    if let (Kind::Instant(a), Kind::Instant(b)) = (&left.kind, &right.kind) {
        return a.partial_cmp(b);
    }
    let (a, b) = match (left.number(), right.number()) {
        (Some(a), Some(b)) => (a, b),
        _ => (left.duration()?, right.duration()?),
    };
    // With randomness in them the means decide: a wait is compared with its cap.
    a.mid.partial_cmp(&b.mid)
}

fn logic<'a>(op: BinOp, a: bool, b: bool) -> Option<Kind<'a>> {
    match op {
        BinOp::BitAnd | BinOp::And => Some(Kind::Bool(a & b)),
        BinOp::BitOr | BinOp::Or => Some(Kind::Bool(a | b)),
        BinOp::BitXor => Some(Kind::Bool(a ^ b)),
        _ => None,
    }
}

fn integers<'a>(op: BinOp, a: i128, b: i128) -> Option<Kind<'a>> {
    let n = match op {
        BinOp::Add => a.saturating_add(b),
        BinOp::Sub => a.saturating_sub(b),
        BinOp::Mul => a.saturating_mul(b),
        BinOp::Div => a.checked_div(b)?,
        BinOp::Rem => a.checked_rem(b)?,
        BinOp::BitAnd => a & b,
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        BinOp::Shl => shifted(a, b),
        BinOp::Shr => a.checked_shr(u32::try_from(b).ok()?).unwrap_or(0),
        _ => return None,
    };
    Some(Kind::Int(n))
}

/// `a << b`, as large as can be where it does not fit.
pub(crate) fn shifted(a: i128, b: i128) -> i128 {
    match u32::try_from(b) {
        Ok(b) if b < 126 && a.unsigned_abs().leading_zeros() > b + 1 => a << b,
        _ if a == 0 => 0,
        _ => i128::MAX,
    }
}

fn durations<'a>(op: BinOp, a: Spread, b: Spread, taint: Taint) -> Option<Kind<'a>> {
    match op {
        BinOp::Add => Some(Kind::Duration(plus(a, b))),
        BinOp::Sub => {
            let minus = |x: f64, y: f64| (x - y).max(0.0);
            let _ = taint;
            Some(Kind::Duration(a.zip(b, minus)))
        }
        _ => None,
    }
}

/// A sum; a draw that may be zero is left out of the middle, for it is added as jitter.
pub(crate) fn plus(a: Spread, b: Spread) -> Spread {
    let sum = a.zip(b, |x, y| x + y);
    let mid = match (a.is_exact(), b.is_exact()) {
        (true, false) => a.mid + b.lo.max(0.0),
        (false, true) => a.lo.max(0.0) + b.mid,
        _ => sum.mid,
    };
    Spread { mid, ..sum }
}

fn scaled<'a>(op: BinOp, a: Spread, n: Spread) -> Option<Kind<'a>> {
    match op {
        BinOp::Mul => Some(Kind::Duration(a.zip(n, |x, y| (x * y).max(0.0)))),
        BinOp::Div if n.lo > 0.0 => Some(Kind::Duration(a.zip(n, |x, y| x / y))),
        _ => None,
    }
}

fn numbers<'a>(op: BinOp, a: Spread, b: Spread, left: &Value<'a>, right: &Value<'a>) -> Option<Kind<'a>> {
    let drawn = matches!(left.kind, Kind::Drawn(_)) || matches!(right.kind, Kind::Drawn(_));
    let spread = match op {
        BinOp::Add => plus(a, b),
        BinOp::Sub => a.zip(b, |x, y| x - y),
        BinOp::Mul => a.zip(b, |x, y| x * y),
        BinOp::Div if b.lo > 0.0 || b.hi < 0.0 => a.zip(b, |x, y| x / y),
        BinOp::Rem if b.is_exact() && b.lo > 0.0 && drawn => Spread { lo: 0.0, mid: b.lo, hi: b.lo },
        BinOp::Rem if b.is_exact() && b.lo != 0.0 => Spread::exact(a.lo % b.lo),
        _ => return None,
    };
    Some(if drawn { Kind::Drawn(spread) } else { Kind::Float(spread.lo) })
}

fn joined(a: &Text, right: &Value<'_>) -> Text {
    let mut text = a.clone();
    super::macros::text_of(right).parts.into_iter().for_each(|p: TextPart| text.push(p));
    text
}

fn name_of(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::And => "&&",
        BinOp::Or => "||",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_that_do_not_fit_are_as_large_as_can_be() {
        assert_eq!(shifted(1, 3), 8);
        assert_eq!(shifted(0, 300), 0);
        assert_eq!(shifted(1, 200), i128::MAX);
        assert_eq!(shifted(i128::MAX, 1), i128::MAX);
    }

    #[test]
    fn a_draw_that_may_be_zero_is_added_to_the_middle_as_nothing() {
        let draw = Spread { lo: 0.0, mid: 0.1, hi: 0.1 };
        assert_eq!(plus(Spread::exact(1.0), draw), Spread { lo: 1.0, mid: 1.0, hi: 1.1 });
    }
}
