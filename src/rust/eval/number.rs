//! Methods of numbers, durations and points in time.

use super::machine::{Eval, Machine};
use super::ops::{ordered, plus};
use super::value::{Kind, Spread, Taint, Value};
use crate::rust::crates::At;
use crate::rust::ir::BinOp;

impl<'a> Machine<'a, '_> {
    /// `None` if there is no such method here.
    pub(crate) fn number_method(
        &mut self,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let first = args.first();
        let result = match (name, first) {
            ("saturating_add" | "wrapping_add", Some(b)) => self.operate(BinOp::Add, value, b, at.span),
            ("saturating_sub" | "wrapping_sub", Some(b)) => self.saturating_sub(value, b, at),
            ("saturating_mul" | "wrapping_mul", Some(b)) => self.operate(BinOp::Mul, value, b, at.span),
            ("checked_add" | "checked_mul" | "checked_div" | "checked_shl" | "checked_rem", Some(b)) => {
                let op = match name {
                    "checked_add" => BinOp::Add,
                    "checked_mul" => BinOp::Mul,
                    "checked_shl" => BinOp::Shl,
                    "checked_rem" => BinOp::Rem,
                    _ => BinOp::Div,
                };
                Value::wrap("Some", self.operate(op, value, b, at.span))
            }
            ("checked_sub" | "checked_duration_since", Some(b)) => {
                let falls_short = ordered(value, b)?.is_lt();
                self.note_compared(BinOp::Lt, at.span, value, b, falls_short);
                if falls_short {
                    Value::none()
                } else {
                    Value::wrap("Some", self.operate(BinOp::Sub, value, b, at.span))
                }
            }
            ("pow" | "saturating_pow" | "powi" | "powf" | "wrapping_pow", Some(b)) => power(value, b)?,
            ("checked_pow", Some(b)) => Value::wrap("Some", power(value, b)?),
            ("min", Some(b)) => smaller(value, b, true)?,
            ("max", Some(b)) => smaller(value, b, false)?,
            ("clamp", Some(low)) => smaller(&smaller(value, low, false)?, args.get(1)?, true)?,
            ("mul_f64" | "mul_f32", Some(b)) => self.operate(BinOp::Mul, value, b, at.span),
            ("div_f64" | "div_f32", Some(b)) => self.operate(BinOp::Div, value, b, at.span),
            ("abs_diff", Some(b)) => self.saturating_sub(value, b, at),
            ("as_secs_f64" | "as_secs_f32", None) => measured(value, 1.0, false)?,
            ("as_secs" | "num_seconds", None) => measured(value, 1.0, true)?,
            ("as_millis" | "num_milliseconds", None) => measured(value, 1e3, true)?,
            ("as_micros", None) => measured(value, 1e6, true)?,
            ("as_nanos", None) => measured(value, 1e9, true)?,
            ("subsec_nanos" | "subsec_micros" | "subsec_millis", None) => {
                if !value.taint.has(Taint::TIME) {
                    return None;
                }
                let top = match name {
                    "subsec_nanos" => 1e9,
                    "subsec_micros" => 1e6,
                    _ => 1e3,
                };
                // The clock's small digits serve as a random draw.
                Value::new(Kind::Drawn(Spread { lo: 0.0, mid: top, hi: top })).tainted(Taint::RANDOM)
            }
            ("abs" | "unsigned_abs", None) => match value.kind {
                Kind::Int(n) => Value::int(n.saturating_abs()),
                _ => value.clone(),
            },
            ("floor" | "ceil" | "round" | "trunc" | "get" | "as_u64" | "as_u32" | "as_usize" | "unwrap", None) => {
                value.clone()
            }
            // What takes an inner value out of what may not be there, of one that is known to be.
            ("expect" | "unwrap_or_default" | "unwrap_or" | "unwrap_or_else", _) => return Some(Ok(value.clone())),
            ("is_zero", None) => Value::bool(value.duration()?.hi == 0.0),
            ("is_positive", None) => Value::bool(value.number()?.mid > 0.0),
            ("sqrt" | "exp2" | "exp" | "ln" | "log2", None) => {
                let f = match name {
                    "sqrt" => f64::sqrt,
                    "exp2" => f64::exp2,
                    "exp" => f64::exp,
                    "ln" => f64::ln,
                    _ => f64::log2,
                };
                Value::new(Kind::Float(f(value.number()?.mid)))
            }
            ("elapsed", None) => match value.kind {
                Kind::Instant(t) => Value::seconds((self.clock - t).max(0.0)).tainted(Taint::TIME),
                _ => return None,
            },
            ("duration_since" | "saturating_duration_since", Some(b)) => {
                self.saturating_sub(value, b, at).tainted(Taint::TIME)
            }
            ("is_power_of_two", None) => return None,
            ("to_std" | "into", None) => value.clone(),
            ("not", None) => self.unary_value(crate::rust::ir::UnOp::Not, value),
            ("cmp" | "partial_cmp", Some(_)) => return None,
            ("eq", Some(b)) => self.operate(BinOp::Eq, value, b, at.span),
            ("ne", Some(b)) => self.operate(BinOp::Ne, value, b, at.span),
            _ => return None,
        };
        let taint = args.iter().fold(value.taint, |t, a| t.with(a.taint));
        let origin = result.origin.or(value.origin);
        Some(Ok(Value { origin, ..result }.tainted(taint)))
    }

    fn saturating_sub(&mut self, value: &Value<'a>, by: &Value<'a>, at: At) -> Value<'a> {
        let result = self.operate(BinOp::Sub, value, by, at.span);
        match result.kind {
            Kind::Int(n) if n < 0 => Value::int(0).tainted(result.taint),
            _ => result,
        }
    }
}

/// A duration counted in a unit.
fn measured<'a>(value: &Value<'a>, per_second: f64, whole: bool) -> Option<Value<'a>> {
    let s = value.duration()?;
    let kind = match (s.is_exact(), whole) {
        (true, true) => Kind::Int((s.lo * per_second).round() as i128),
        (true, false) => Kind::Float(s.lo * per_second),
        (false, _) => Kind::Drawn(s.map(|x| x * per_second)),
    };
    Some(Value::new(kind))
}

fn power<'a>(base: &Value<'a>, exponent: &Value<'a>) -> Option<Value<'a>> {
    if let (Kind::Int(a), Kind::Int(b)) = (&base.kind, &exponent.kind) {
        let b = u32::try_from(*b).unwrap_or(0);
        return Some(Value::int(a.saturating_pow(b)));
    }
    let (a, b) = (base.number()?, exponent.number()?);
    let spread = a.zip(b, |x, y| x.powf(y));
    Some(Value::new(if spread.is_exact() { Kind::Float(spread.lo) } else { Kind::Drawn(spread) }))
}

/// The smaller or the larger of two; of two with randomness in them, each end for itself.
pub(crate) fn smaller<'a>(a: &Value<'a>, b: &Value<'a>, smaller: bool) -> Option<Value<'a>> {
    let pick = |x: f64, y: f64| if smaller { x.min(y) } else { x.max(y) };
    let both = |x: Spread, y: Spread| Spread { lo: pick(x.lo, y.lo), mid: pick(x.mid, y.mid), hi: pick(x.hi, y.hi) };
    let kind = match (&a.kind, &b.kind) {
        (Kind::Int(x), Kind::Int(y)) => Kind::Int(if smaller { *x.min(y) } else { *x.max(y) }),
        (Kind::Duration(x), Kind::Duration(y)) => Kind::Duration(both(*x, *y)),
        (Kind::Instant(x), Kind::Instant(y)) => Kind::Instant(pick(*x, *y)),
        _ => {
            let s = both(a.number()?, b.number()?);
            if s.is_exact() { Kind::Float(s.lo) } else { Kind::Drawn(s) }
        }
    };
    // A wait that the server asked for stays one under a cap, and so does its randomness unless the cap takes all.
    let taint = a.taint.with(b.taint);
    Some(Value { kind, taint, origin: a.origin.or(b.origin) })
}

/// The sum of two durations with their randomness.
pub(crate) fn sum(a: Spread, b: Spread) -> Spread {
    plus(a, b)
}
