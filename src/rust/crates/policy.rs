//! What policies of several crates have in common: a count, a law of waits, jitter.

use std::rc::Rc;
use std::time::Duration;

use crate::model::{Attempts, Jitter, Setting, Wait};
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::Machine;
use crate::rust::eval::value::{Source, Spread, Value};
use crate::source::Span;

/// A policy.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) attempts: Setting<Attempts>,
    pub(crate) wait: Wait,
    pub(crate) jitter: Setting<Jitter>,
    /// Where it is made.
    pub(crate) made: Span,
    /// Crate and type: "backon `ExponentialBuilder`".
    pub(crate) name: &'static str,
    /// Those, and the call that sets the count: "`ExponentialBackoff`, `build_with_max_retries(3)`".
    pub(crate) reading: String,
    /// Constants and settings that the count comes from.
    pub(crate) labels: Vec<(Span, String)>,
    /// The call that handed the count over as an argument.
    pub(crate) via: Option<Span>,
}

impl Policy {
    /// One that comes from elsewhere: `value` stands for it.
    pub(crate) fn unknown(value: &Value<'_>, made: Span, crate_name: &'static str) -> Self {
        let why = why_unknown(value, "is made outside of the code read");
        Self {
            attempts: Setting::unknown(why.clone(), Some(made)),
            wait: Wait::Unknown { why: why.clone() },
            jitter: Setting::unknown(why, None),
            made,
            name: crate_name,
            reading: format!("{crate_name} with a policy that is not known"),
            labels: Vec::new(),
            via: None,
        }
    }

    /// The wait before try `n + 2`, its randomness in it, or why it is not known; `None` where no try follows.
    pub(crate) fn wait_at(&self, n: u32) -> Option<Result<Spread, String>> {
        if let Some(attempts) = self.attempts.value().and_then(|a| a.count())
            && u64::from(n) + 1 >= attempts
        {
            return None;
        }
        let Some(wait) = self.wait.nominal(n) else { return Some(Err(self.why_no_wait())) };
        let seconds = wait.as_secs_f64();
        let (low, high) = range(&self.jitter);
        Some(Ok(Spread { lo: seconds * low, mid: seconds, hi: seconds * high }))
    }

    /// Why its waits are not known.
    fn why_no_wait(&self) -> String {
        let of = |setting: &Setting<Duration>| match setting {
            Setting::Unknown { why, .. } => Some(why.clone()),
            _ => None,
        };
        let why = match &self.wait {
            Wait::Fixed(wait) | Wait::Linear { step: wait, .. } => of(wait),
            Wait::Exponential { base, factor, .. } => of(base).or(match factor {
                Setting::Unknown { why, .. } => Some(why.clone()),
                _ => None,
            }),
            Wait::Unknown { why } => Some(why.clone()),
            Wait::None | Wait::Scheduled { .. } => None,
        };
        why.unwrap_or_else(|| "is set outside of the code read".to_owned())
    }

    /// Its waits, for code that asks for them one by one.
    pub(crate) fn waits<'a>(self: Rc<Self>) -> Iter<'a> {
        Iter::Waits { policy: self, at: 0 }
    }
}

/// How a series of waits grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// It does not wait.
    None,
    Fixed,
    Linear,
    Exponential,
    Fibonacci,
    /// Grows by this, from the first wait on.
    Steps(Duration),
}

/// What a builder of a policy has been told so far.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Where it is made.
    pub(crate) made: Span,
    /// Crate and type: "backon `ExponentialBuilder`".
    pub(crate) name: &'static str,
    pub(crate) law: Law,
    /// The first wait.
    pub(crate) base: Setting<Duration>,
    pub(crate) factor: Setting<f64>,
    pub(crate) cap: Setting<Option<Duration>>,
    pub(crate) jitter: Setting<Jitter>,
    /// How often, if it was told.
    pub(crate) count: Option<Count>,
    /// For how long, if it was told or has a default.
    pub(crate) total: Option<Setting<Duration>>,
    /// What holds where it was told neither, and the words for that: "3 retries by default".
    pub(crate) otherwise: (Setting<Attempts>, &'static str),
}

impl Plan {
    /// One with an exponential law and no jitter, as most crates have it: so long, doubling, without upper bound.
    pub(crate) fn doubling(made: Span, name: &'static str, first: Duration, source: &'static str) -> Self {
        Self {
            made,
            name,
            law: Law::Exponential,
            base: Setting::default(first, source),
            factor: Setting::default(2.0, source),
            cap: Setting::default(None, source),
            jitter: Setting::default(Jitter::None, source),
            count: None,
            total: None,
            otherwise: (Setting::written(Attempts::Unbounded, made), "without a limit"),
        }
    }

    /// The attempts that it comes to.
    pub(crate) fn attempts(&self) -> Setting<Attempts> {
        let counted = matches!(self.otherwise.0.value(), Some(Attempts::Count(_)));
        match (&self.count, &self.total) {
            (Some(count), _) => count.attempts(),
            (None, Some(total)) if !counted => within(total, &self.wait(), &self.jitter),
            (None, _) => self.otherwise.0.clone(),
        }
    }

    /// The waits that it comes to.
    pub(crate) fn wait(&self) -> Wait {
        match self.law {
            Law::None => Wait::None,
            Law::Fixed => Wait::Fixed(self.base.clone()),
            Law::Linear => Wait::Linear { step: self.base.clone(), cap: self.cap.clone() },
            Law::Exponential => {
                Wait::Exponential { base: self.base.clone(), factor: self.factor.clone(), cap: self.cap.clone() }
            }
            Law::Fibonacci => self.listed(|before, last| before.saturating_add(last)),
            Law::Steps(step) => self.listed(|_, last| last.saturating_add(step)),
        }
    }

    /// A series in which each wait follows from the two before; there is none before the first.
    fn listed(&self, next: impl Fn(Duration, Duration) -> Duration) -> Wait {
        let base = match &self.base {
            Setting::Unknown { why, .. } => return Wait::Unknown { why: why.clone() },
            known => known.value().copied().unwrap_or_default(),
        };
        let cap = self.cap.value().copied().flatten();
        let (mut before, mut now) = (Duration::ZERO, base);
        let mut waits = Vec::new();
        for _ in 0..40 {
            waits.push(cap.map_or(now, |cap| now.min(cap)));
            (before, now) = (now, next(before, now));
        }
        Wait::Scheduled { waits, capped: cap.is_some() }
    }

    fn reading(&self) -> String {
        let name = self.name;
        match (&self.count, &self.total) {
            (Some(count), _) => format!("{name}, {}", count.told()),
            (None, Some(_)) => format!("{name}, bounded by time"),
            (None, None) => format!("{name}, {}", self.otherwise.1),
        }
    }

    /// As a policy.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            attempts: self.attempts(),
            wait: self.wait(),
            jitter: self.jitter.clone(),
            made: self.made,
            name: self.name,
            reading: self.reading(),
            labels: self.count.as_ref().map(|c| c.labels.clone()).unwrap_or_default(),
            via: self.count.as_ref().and_then(|c| c.via),
        }
    }
}

/// A number that a builder call sets, and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Count {
    /// The number; why not, if it is not known.
    pub(crate) number: Result<i128, String>,
    /// The call that sets it: "with_max_times".
    pub(crate) call: String,
    /// Whether the first try is among it.
    pub(crate) with_first: bool,
    /// The place to edit: the settings value, else the call.
    pub(crate) place: Span,
    /// Other places that it comes from.
    pub(crate) labels: Vec<(Span, String)>,
    /// The call that handed it over as an argument.
    pub(crate) via: Option<Span>,
}

impl Count {
    /// The call as it is written: "`take(3)`".
    pub(crate) fn told(&self) -> String {
        match &self.number {
            Ok(n) => format!("`{}({n})`", self.call),
            Err(_) => format!("`{}(..)`", self.call),
        }
    }

    /// Attempts of which so many, the first or none included, are the limit.
    pub(crate) fn attempts(&self) -> Setting<Attempts> {
        match &self.number {
            Ok(n) if *n >= i128::from(u32::MAX) => Setting::written(Attempts::Unbounded, self.place),
            Ok(n) => {
                let attempts = n.saturating_add(i128::from(!self.with_first)).max(1);
                Setting::written(Attempts::Count(u64::try_from(attempts).unwrap_or(1)), self.place)
            }
            Err(why) => Setting::unknown(why.clone(), Some(self.place)),
        }
    }
}

/// The number of retries that `value`, given to the call of `what` at `call`, is.
pub(crate) fn retries<'a>(machine: &Machine<'a, '_>, value: &Value<'a>, call: Span, what: &str) -> Count {
    count(machine, value, call, what, false)
}

/// The same for a number of tries, the first among them.
pub(crate) fn tries<'a>(machine: &Machine<'a, '_>, value: &Value<'a>, call: Span, what: &str) -> Count {
    count(machine, value, call, what, true)
}

fn count<'a>(machine: &Machine<'a, '_>, value: &Value<'a>, call: Span, what: &str, with_first: bool) -> Count {
    let number = match value.as_int() {
        Some(n) => Ok(n),
        None => Err(why_unknown(value, "is computed")),
    };
    let mut count = Count { number, call: what.to_owned(), with_first, place: call, labels: Vec::new(), via: None };
    let Some(origin) = value.origin else { return count };
    if let Some(via) = origin.via {
        count.labels.push((call, format!("`{what}` takes the number")));
        count.place = via;
        count.via = Some(via);
    }
    match origin.from {
        Source::Setting(key) => {
            count.place = origin.span;
            count.labels.push((call, format!("`{what}` takes the value of `{key}`")));
        }
        Source::Const(ix) => {
            let name = &machine.shared.index.constant(ix).constant.name;
            count.labels.push((origin.span, format!("`{name}` sets the count")));
        }
        Source::Fallback => count.labels.push((origin.span, "the default; it may be set at run time".to_owned())),
        Source::Literal => {}
    }
    count
}

fn why_unknown(value: &Value<'_>, otherwise: &str) -> String {
    value.as_unknown().map_or_else(|| otherwise.to_owned(), |u| u.why.to_string())
}

/// The random factors of a wait: the smallest and the largest. Jitter that is not known changes nothing.
fn range(jitter: &Setting<Jitter>) -> (f64, f64) {
    match jitter.value() {
        Some(Jitter::Full) => (0.0, 1.0),
        Some(Jitter::Partial { low, high }) => (*low, *high),
        Some(Jitter::None | Jitter::Decorrelated) | None => (1.0, 1.0),
    }
}

/// Attempts within a time: as often as the waits, at their mean length, fit into it.
pub(crate) fn within(limit: &Setting<Duration>, wait: &Wait, jitter: &Setting<Jitter>) -> Setting<Attempts> {
    let (low, high) = range(jitter);
    Attempts::within(limit, wait, (low + high) / 2.0)
}

/// A duration that a builder call sets.
pub(crate) fn duration(value: &Value<'_>, place: Span) -> Setting<Duration> {
    match value.duration() {
        Some(spread) => {
            let at = value.origin.filter(|o| matches!(o.from, Source::Setting(_))).map_or(place, |o| o.span);
            Setting::written(crate::rust::eval::wait::duration(spread.mid), at)
        }
        None => Setting::unknown(why_unknown(value, "is computed"), Some(place)),
    }
}

/// A duration that a builder call sets as a number of milliseconds.
pub(crate) fn millis(value: &Value<'_>, place: Span) -> Setting<Duration> {
    number(value, place).map(|ms| crate::rust::eval::wait::duration(ms / 1000.0))
}

/// A number that a builder call sets.
pub(crate) fn number(value: &Value<'_>, place: Span) -> Setting<f64> {
    match value.number() {
        Some(n) => Setting::written(n.mid, place),
        None => Setting::unknown(why_unknown(value, "is computed"), Some(place)),
    }
}

/// An optional duration that a builder call sets: `Some(d)`, `None`, or `d` itself.
pub(crate) fn optional_duration(value: &Value<'_>, place: Span) -> Setting<Option<Duration>> {
    match value.variant() {
        Some(("Some", Some(inner))) => duration(inner, place).map(Some),
        Some(_) => Setting::written(None, place),
        None => duration(value, place).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    const PLACE: Span = Span { file: FileId(0), start: 0, end: 1 };

    #[test]
    fn tries_within_a_time_are_counted_with_the_mean_wait() {
        let limit = Setting::written(Duration::from_secs(10), PLACE);
        let second = || Wait::Fixed(Setting::written(Duration::from_secs(1), PLACE));
        let about = |jitter| match within(&limit, &second(), &Setting::written(jitter, PLACE)).value() {
            Some(Attempts::Within { about, .. }) => *about,
            _ => 0,
        };
        assert_eq!(about(Jitter::None), 11);
        assert_eq!(about(Jitter::Full), 21);
        assert_eq!(within(&limit, &Wait::None, &Setting::written(Jitter::None, PLACE)).value(), None);
    }

    #[test]
    fn a_number_of_retries_is_one_less_than_that_of_tries() {
        let of = |number: i128, with_first| {
            let call = "take".to_owned();
            let count = Count { number: Ok(number), call, with_first, place: PLACE, labels: Vec::new(), via: None };
            count.attempts().value().and_then(|a| a.count())
        };
        assert_eq!((of(3, false), of(3, true), of(0, true)), (Some(4), Some(3), Some(1)));
        assert_eq!(of(i128::from(u64::MAX), false), None);
    }
}
