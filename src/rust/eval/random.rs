//! Random draws.

use super::machine::Machine;
use super::value::{Kind, Spread, Taint, Value};

/// A draw between 0 and 1.
fn unit<'a>() -> Value<'a> {
    drawn(Spread { lo: 0.0, mid: 1.0, hi: 1.0 })
}

fn drawn<'a>(spread: Spread) -> Value<'a> {
    Value::new(Kind::Drawn(spread)).tainted(Taint::RANDOM)
}

impl<'a> Machine<'a, '_> {
    /// A draw, with whether the call under test had been made before it.
    pub(crate) fn drawn_now(&self, draw: Value<'a>) -> Value<'a> {
        if self.hits > 0 { draw.tainted(Taint::FRESH) } else { draw }
    }
}

/// A draw from a range of numbers or durations. A factor around one leaves a wait as it is; else the end counts.
pub(crate) fn from_range<'a>(range: &Value<'a>) -> Value<'a> {
    let Kind::Range(range) = &range.kind else { return unit() };
    let ends = |f: &dyn Fn(&Value<'a>) -> Option<Spread>| {
        let low = range.start.as_ref().map_or(Some(0.0), |v| f(v).map(|s| s.lo))?;
        let high = range.end.as_ref().map_or(Some(low), |v| f(v).map(|s| s.hi))?;
        let whole = range.start.iter().chain(&range.end).all(|v| v.as_int().is_some());
        let mid = if !whole && low < 1.0 && 1.0 < high { 1.0 } else { high };
        Some(Spread { lo: low.min(high), mid, hi: high.max(low) })
    };
    if let Some(seconds) = ends(&Value::duration) {
        let seconds = Spread { mid: seconds.hi, ..seconds };
        return Value::new(Kind::Duration(seconds)).tainted(Taint::RANDOM);
    }
    match ends(&Value::number) {
        Some(spread) => drawn(spread),
        None => {
            let why = range.start.iter().chain(&range.end).find_map(|v| v.as_unknown()).map(|u| u.why.clone());
            let why = why.unwrap_or(super::value::Why::Other("is drawn at random"));
            Value::unknown(0, why).tainted(Taint::RANDOM)
        }
    }
}

/// A method that draws, whoever has it.
pub(crate) fn method<'a>(value: &Value<'a>, name: &str, args: &[Value<'a>]) -> Option<Value<'a>> {
    match (name, args) {
        ("gen_range" | "random_range", [range]) => Some(from_range(range)),
        ("random_range" | "gen_range", [low, high]) => {
            let (low, high) = (low.number()?, high.number()?);
            Some(drawn(Spread { lo: low.lo, mid: high.hi, hi: high.hi }))
        }
        ("random" | "gen" | "r#gen" | "next_u32" | "next_u64" | "f64" | "f32", []) if value.as_unknown().is_some() => {
            Some(unit())
        }
        ("gen_bool" | "random_bool" | "gen_ratio", _) => {
            Some(Value::unknown(1, super::value::Why::Other("is drawn at random")).tainted(Taint::RANDOM))
        }
        ("subsec_nanos" | "subsec_micros" | "subsec_millis", []) if value.taint.has(Taint::TIME) => {
            Some(drawn(Spread { lo: 0.0, mid: 1e9, hi: 1e9 }))
        }
        _ => None,
    }
}

/// `rng.random::<f64>()`
pub(crate) fn typed_draw<'a>(name: &str, ty: &str) -> Option<Value<'a>> {
    if !matches!(name, "random" | "gen" | "r#gen" | "sample") {
        return None;
    }
    Some(match ty {
        "f32" | "f64" => unit(),
        "u8" => drawn(Spread { lo: 0.0, mid: 255.0, hi: 255.0 }),
        "u16" => drawn(Spread { lo: 0.0, mid: 65_535.0, hi: 65_535.0 }),
        _ => drawn(Spread { lo: 0.0, mid: 1.8e19, hi: 1.8e19 }),
    })
}

/// A function that draws: `rand::random()`, `rand::random_range(a..b)`, `fastrand::u64(a..b)`.
pub(crate) fn function<'a>(segments: &[&str], args: &[Value<'a>]) -> Option<Value<'a>> {
    match (segments, args) {
        ([.., "random_range" | "gen_range"], [range]) => Some(from_range(range)),
        ([.., "rand", "random"] | ["random"], []) => Some(unit()),
        ([.., "fastrand", "f64" | "f32"], []) => Some(unit()),
        (
            [.., "fastrand", "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "u128" | "isize" | "choice"],
            [range],
        ) => Some(from_range(range)),
        ([.., "Uuid", "new_v4" | "now_v7" | "now_v1"], _) | ([.., "Ulid", "new" | "generate"], []) => {
            Some(Value::unknown(2, super::value::Why::Other("is drawn at random")).tainted(Taint::RANDOM))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::eval::value::RangeValue;
    use std::rc::Rc;

    fn range(start: Value<'static>, end: Value<'static>) -> Value<'static> {
        Value::new(Kind::Range(Rc::new(RangeValue { start: Some(start), end: Some(end), inclusive: false })))
    }

    #[test]
    fn a_factor_around_one_leaves_the_wait_as_it_is() {
        let float = |x| Value::new(Kind::Float(x));
        let of = |a: f64, b: f64| from_range(&range(float(a), float(b))).number().map(|s| s.mid);
        assert_eq!(of(0.5, 1.5), Some(1.0));
        assert_eq!(of(0.0, 1.0), Some(1.0));
        assert_eq!(of(0.0, 0.3), Some(0.3));
        let whole = from_range(&range(Value::int(0), Value::int(250))).number();
        assert_eq!(whole.map(|s| (s.lo, s.mid)), Some((0.0, 250.0)));
    }
}
