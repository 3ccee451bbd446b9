//! How long a call can take at worst: tries, the waits between them, and the limits that end them.

use std::time::Duration;

use super::{Attempts, HopIx, Jitter, Layer, LayerIx, Setting};

/// How long something takes at worst, as far as waits and limits tell. What a service does itself besides its calls
/// is not in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorstTime {
    /// The waits, and the tries whose length something limits.
    pub known: Duration,
    /// Whether that is all of it: no try is without a known limit.
    pub complete: bool,
    /// Whether nothing ends it.
    pub unbounded: bool,
}

/// A limit that ends before the tries and waits that it holds can.
#[derive(Debug, Clone, PartialEq)]
pub struct Overrun {
    /// On what it is a limit.
    pub kind: LimitKind,
    /// Whose it is; `None` for a route's that nothing repeats.
    pub layer: Option<LayerIx>,
    /// The hop on which it is.
    pub hop: HopIx,
    /// The limit.
    pub limit: Setting<Duration>,
    /// What it holds: the layers that try again, outermost first; the limit's own layer first where it is on all tries.
    pub inside: Vec<LayerIx>,
    /// How long that takes at worst.
    pub time: WorstTime,
    /// Whether something tries again when the limit has ended it.
    pub tried_again: bool,
}

/// What a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// One try of a layer.
    PerTry,
    /// All tries of a layer together.
    Overall,
    /// A call that nothing on its hop repeats, or whose repetitions the limit does not hold.
    Call,
}

/// Waits are added up one by one so far; a longer series goes on as it was then.
const HORIZON: u32 = 10_000;

impl WorstTime {
    /// Of a call of which nothing is known.
    pub const UNKNOWN: Self = Self { known: Duration::ZERO, complete: false, unbounded: false };

    /// Under a limit: at worst all of it passes, unless less is known to.
    pub fn limited(self, limit: Option<&Setting<Duration>>) -> Self {
        match limit.map(Setting::value) {
            None => self,
            // Some limit ends it, at a time that is not known.
            Some(None) => Self::UNKNOWN,
            Some(Some(limit)) => {
                let all = self.complete && !self.unbounded;
                let known = if all { self.known.min(*limit) } else { *limit };
                Self { known, complete: true, unbounded: false }
            }
        }
    }

    /// As [`Self::limited`], as far as somebody asked for it: a default ends what is known to take longer, and says
    /// nothing of what may take any time.
    pub fn asked_for(self, limit: Option<&Setting<Duration>>) -> Self {
        match limit {
            Some(Setting::Default { value, .. }) => Self { known: self.known.min(*value), ..self },
            limit => self.limited(limit),
        }
    }

    /// Whether it is more than `limit`, for sure: a try of unknown length takes some time.
    pub fn exceeds(self, limit: Duration) -> bool {
        self.unbounded || self.known > limit || (self.known == limit && !self.complete)
    }
}

impl Layer {
    /// How long all tries of this layer take at worst, where `one` of them takes that long; its own limits left out.
    /// `repeats`: whether it tries again at all, in the failure in question.
    pub fn tries_time(&self, one: WorstTime, repeats: bool) -> WorstTime {
        if !repeats {
            return one;
        }
        match self.attempts.value() {
            None => WorstTime { complete: false, ..one },
            Some(Attempts::Unbounded) => WorstTime { unbounded: true, ..one },
            Some(Attempts::Within { deadline, .. }) => WorstTime { known: one.known.max(*deadline), ..one },
            Some(Attempts::Count(n)) => {
                let waits = self.waits(*n);
                let tries = if self.copies { one.known } else { times(one.known, *n) };
                WorstTime {
                    known: tries.saturating_add(waits.unwrap_or_default()),
                    complete: one.complete && waits.is_some(),
                    unbounded: one.unbounded,
                }
            }
        }
    }

    /// How long this layer takes at worst around a call that takes `inside`.
    pub fn worst_time(&self, inside: WorstTime, repeats: bool) -> WorstTime {
        self.tries_time(inside.limited(self.per_try.as_ref()), repeats).limited(self.overall.as_ref())
    }

    /// All waits of `tries` tries together, each as long as its jitter lets it be; `None` where one is not known.
    pub fn waits(&self, tries: u64) -> Option<Duration> {
        let waits = tries.saturating_sub(1);
        let one_by_one = u32::try_from(waits).unwrap_or(u32::MAX).min(HORIZON);
        let (mut sum, mut last) = (Duration::ZERO, Duration::ZERO);
        for n in 0..one_by_one {
            last = self.wait.nominal(n)?;
            sum = sum.saturating_add(last);
        }
        let sum = sum.saturating_add(times(last, waits - u64::from(one_by_one)));
        let factor = match self.jitter.value() {
            Some(Jitter::Partial { high, .. }) => high.max(1.0),
            _ => 1.0,
        };
        Some(Duration::try_from_secs_f64(sum.as_secs_f64() * factor).unwrap_or(Duration::MAX))
    }
}

fn times(one: Duration, n: u64) -> Duration {
    Duration::try_from_secs_f64(one.as_secs_f64() * n as f64).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Wait;
    use crate::testing::Draft;

    fn layer(change: impl FnOnce(&mut Layer)) -> Layer {
        let mut draft = Draft::new();
        let layer = draft.any_layer("a");
        layer.wait = Wait::Fixed(Setting::default(secs(1), "test"));
        change(layer);
        layer.clone()
    }

    fn secs(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn of(layer: &Layer) -> (Duration, bool) {
        let time = layer.worst_time(WorstTime::UNKNOWN, true);
        (time.known, time.complete)
    }

    #[test]
    fn tries_and_waits_add_up() {
        let three = layer(|l| l.per_try = Some(Setting::default(secs(4), "test")));
        assert_eq!(of(&three), (secs(3 * 4 + 2), true));
        assert_eq!(of(&layer(|_| ())), (secs(2), false), "nothing limits a try");
        assert_eq!(three.worst_time(WorstTime::UNKNOWN, false).known, secs(4), "it does not retry this");
    }

    #[test]
    fn a_limit_on_all_tries_cuts_them_and_an_unknown_one_hides_them() {
        let mut three = layer(|l| l.per_try = Some(Setting::default(secs(4), "test")));
        three.overall = Some(Setting::default(secs(5), "test"));
        assert_eq!(of(&three), (secs(5), true));
        three.overall = Some(Setting::default(secs(50), "test"));
        assert_eq!(of(&three), (secs(14), true));
        three.overall = Some(Setting::unknown("an argument", None));
        assert_eq!(of(&three), (secs(0), false));
        three.attempts = Setting::default(Attempts::Unbounded, "test");
        three.overall = None;
        assert!(three.worst_time(WorstTime::UNKNOWN, true).unbounded);
        three.overall = Some(Setting::default(secs(5), "test"));
        assert_eq!(of(&three), (secs(5), true));
    }

    #[test]
    fn jitter_that_adds_to_a_wait_counts_and_jitter_that_shortens_it_does_not() {
        let with = |jitter| layer(|l| l.jitter = Setting::default(jitter, "test")).waits(3);
        assert_eq!(with(Jitter::Full), Some(secs(2)));
        assert_eq!(with(Jitter::Partial { low: 0.5, high: 1.5 }), Some(secs(3)));
    }

    #[test]
    fn a_million_waits_are_no_trouble() {
        assert_eq!(layer(|_| ()).waits(1_000_001), Some(secs(1_000_000)));
        assert_eq!(layer(|_| ()).waits(u64::MAX).map(|d| d > secs(u64::MAX / 2)), Some(true));
        assert_eq!(layer(|l| l.wait = Wait::Unknown { why: "test".into() }).waits(2), None);
    }

    #[test]
    fn copies_run_side_by_side() {
        let copies = layer(|l| {
            l.copies = true;
            l.wait = Wait::None;
            l.per_try = Some(Setting::default(secs(4), "test"));
        });
        assert_eq!(of(&copies), (secs(4), true));
    }

    #[test]
    fn a_try_of_unknown_length_takes_some_time() {
        let time = WorstTime { known: secs(3), complete: false, unbounded: false };
        assert!(time.exceeds(secs(3)) && !time.exceeds(secs(4)));
        assert!(!WorstTime { complete: true, ..time }.exceeds(secs(3)));
    }
}
