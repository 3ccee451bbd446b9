//! The wait between tries, in the order in which Resilience4j decides.
//!
//! Only a `wait-duration` in the block itself makes the library look at the flags; a block without one keeps the waits
//! of its base. The multiplier must be written for the cap to count, and for a random factor beside growth.

use std::time::Duration;

use super::super::spring;
use super::{INTERVAL, PROPERTIES, RETRY_CONFIG};
use crate::model::{Jitter, Setting, Wait};
use crate::source::Span;
use crate::syntax::Entry;
use crate::systems::duration;
use crate::systems::settings::shown;

/// What child blocks inherit of the settings for waits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Flags<'n> {
    pub exponential: Option<&'n Entry>,
    pub multiplier: Option<&'n Entry>,
    pub cap: Option<&'n Entry>,
    pub randomized: Option<&'n Entry>,
}

/// Where the waits of an instance are decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Interval<'n> {
    /// Nowhere.
    Default,
    /// In the block with this `wait-duration`.
    Block {
        wait: &'n Entry,
        flags: Flags<'n>,
        /// Not inherited.
        factor: Option<&'n Entry>,
    },
    /// In a class.
    Class(&'n Entry),
}

/// Waits in the terms of a layer.
pub(super) struct Timing {
    pub wait: Wait,
    pub place: Option<Span>,
    pub jitter: Setting<Jitter>,
}

impl<'n> Flags<'n> {
    /// These, and those of the base where they say nothing.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            exponential: self.exponential.or(base.exponential),
            multiplier: self.multiplier.or(base.multiplier),
            cap: self.cap.or(base.cap),
            randomized: self.randomized.or(base.randomized),
        }
    }

    /// Those that are written.
    pub(super) fn all(self) -> impl Iterator<Item = &'n Entry> {
        [self.exponential, self.multiplier, self.cap, self.randomized].into_iter().flatten()
    }
}

/// A flag that is set.
pub(super) fn on(flag: Option<&Entry>) -> Option<&Entry> {
    flag.filter(|e| e.value.as_bool() == Some(true))
}

impl Interval<'_> {
    /// `missing`: a base that is not in the files, which may have decided.
    pub(super) fn timing(&self, missing: Option<&Entry>) -> Timing {
        match *self {
            Self::Default if missing.is_some() => {
                unknown(missing, "the base config, which is not in these files, decides")
            }
            Self::Default => Timing {
                wait: Wait::Fixed(Setting::default(Duration::from_millis(500), RETRY_CONFIG)),
                place: None,
                jitter: Setting::default(Jitter::None, RETRY_CONFIG),
            },
            Self::Class(entry) => {
                let why = format!("the class {} decides", shown(entry.value.as_str().unwrap_or_default()));
                unknown(Some(entry), &why)
            }
            Self::Block { wait, flags, factor } => {
                let exponential = on(flags.exponential).is_some();
                let factor = factor.filter(|_| !exponential || flags.multiplier.is_some());
                let jitter = match on(flags.randomized) {
                    None => Setting::default(Jitter::None, RETRY_CONFIG),
                    Some(flag) => jitter(flag, factor),
                };
                let randomized = on(flags.randomized).is_some();
                let cap = flags.cap.filter(|_| flags.multiplier.is_some() && (!randomized || factor.is_some()));
                let base = spring::setting(wait, "a duration", duration::spring);
                let wait_of = match (exponential, base.value()) {
                    (_, Some(d)) if d.is_zero() => Wait::None,
                    (false, _) => Wait::Fixed(base),
                    (true, _) => exponential_wait(base, flags.multiplier, cap),
                };
                Timing { wait: wait_of, place: Some(wait.key_span), jitter }
            }
        }
    }
}

fn unknown(entry: Option<&Entry>, why: &str) -> Timing {
    Timing {
        wait: Wait::Unknown { why: why.to_string() },
        place: entry.map(|e| e.key_span),
        jitter: Setting::unknown(why, entry.map(|e| e.value.span)),
    }
}

fn exponential_wait(base: Setting<Duration>, multiplier: Option<&Entry>, cap: Option<&Entry>) -> Wait {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite());
    Wait::Exponential {
        base,
        factor: multiplier
            .map_or_else(|| Setting::default(1.5, PROPERTIES), |e| spring::setting(e, "a number", number)),
        cap: match cap {
            Some(e) => spring::setting(e, "a duration", duration::spring).map(Some),
            None => Setting::default(None, INTERVAL),
        },
    }
}

/// The wait times 1 ± factor.
fn jitter(flag: &Entry, factor: Option<&Entry>) -> Setting<Jitter> {
    let around = |f: f64| Jitter::Partial { low: 1.0 - f, high: 1.0 + f };
    let number = |text: &str| text.parse::<f64>().ok().filter(|f| (0.0..1.0).contains(f));
    match factor {
        Some(e) => spring::setting(e, "a factor below 1", number).map(around),
        None => Setting::written(around(0.5), flag.value.span),
    }
}
