//! Numbers of which only the range is known.

/// A number or a duration with the randomness in it: `mid` is the value with the draw left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lo: f64,
    pub(crate) mid: f64,
    pub(crate) hi: f64,
}

impl Spread {
    /// An exact value.
    pub(crate) fn exact(x: f64) -> Self {
        Self { lo: x, mid: x, hi: x }
    }

    /// Whether no draw is in it.
    pub(crate) fn is_exact(self) -> bool {
        self.lo == self.hi
    }

    /// The mean, if all values between the ends are equally likely.
    pub(crate) fn mean(self) -> f64 {
        (self.lo + self.hi) / 2.0
    }

    /// `f` of all three, ends kept in order.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        Self { lo: a.min(b), mid: f(self.mid), hi: a.max(b) }
    }

    /// `f` of both values.
    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ends = [f(self.lo, other.lo), f(self.lo, other.hi), f(self.hi, other.lo), f(self.hi, other.hi)];
        Self {
            lo: ends.iter().copied().fold(f64::INFINITY, f64::min),
            mid: f(self.mid, other.mid),
            hi: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}
