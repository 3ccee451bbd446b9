//! What policies of several crates have in common: a count, a law of waits, jitter.

use std::time::Duration;

use crate::model::{Attempts, Jitter, Setting, Wait};
use crate::rust::eval::machine::Machine;
use crate::rust::eval::value::{Source, Value};
use crate::source::Span;

/// A policy.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) attempts: Setting<Attempts>,
    pub(crate) wait: Wait,
    pub(crate) jitter: Setting<Jitter>,
    /// Where it is made.
    pub(crate) made: Span,
    /// The type and the call that sets the count: "`ExponentialBackoff`, `build_with_max_retries(3)`".
    pub(crate) reading: String,
    /// Constants and settings that the count comes from.
    pub(crate) labels: Vec<(Span, String)>,
    /// The call that handed the count over as an argument.
    pub(crate) via: Option<Span>,
}

/// A number that a builder call sets, and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Count {
    /// The number; why not, if it is not known.
    pub(crate) number: Result<i128, String>,
    /// The place to edit: the settings value, else the call.
    pub(crate) place: Span,
    /// Other places that it comes from.
    pub(crate) labels: Vec<(Span, String)>,
    /// The call that handed it over as an argument.
    pub(crate) via: Option<Span>,
}

/// The number that `value`, given to the call at `call`, is.
pub(crate) fn count<'a>(machine: &Machine<'a, '_>, value: &Value<'a>, call: Span, what: &str) -> Count {
    let number = match value.as_int() {
        Some(n) => Ok(n),
        None => Err(value.as_unknown().map_or_else(|| "is computed".to_owned(), |u| u.why.to_string())),
    };
    let mut count = Count { number, place: call, labels: Vec::new(), via: None };
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

/// Attempts where so many retries may follow the first try.
pub(crate) fn after_first(count: &Count) -> Setting<Attempts> {
    match &count.number {
        Ok(n) if *n >= i128::from(u32::MAX) => Setting::written(Attempts::Unbounded, count.place),
        Ok(n) => Setting::written(Attempts::Count(u64::try_from(*n + 1).unwrap_or(1)), count.place),
        Err(why) => Setting::unknown(why.clone(), Some(count.place)),
    }
}

/// Attempts within a time: as often as the waits, at `mean_factor` of their length, fit into it.
pub(crate) fn within(limit: f64, wait: &Wait, mean_factor: f64, place: Span) -> Setting<Attempts> {
    let mut spent = 0.0;
    let mut about = 1u64;
    while about < 10_000 {
        let Some(wait) = wait.nominal(about as u32 - 1) else { break };
        let wait = wait.as_secs_f64() * mean_factor;
        if wait <= 0.0 {
            return Setting::unknown("is bounded by time alone, and it does not wait", Some(place));
        }
        spent += wait;
        if spent > limit {
            break;
        }
        about += 1;
    }
    let deadline = Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX);
    Setting::written(Attempts::Within { deadline, about }, place)
}

/// A duration that a builder call sets.
pub(crate) fn duration(value: &Value<'_>, place: Span) -> Setting<Duration> {
    match value.duration() {
        Some(spread) => {
            let at = value.origin.filter(|o| matches!(o.from, Source::Setting(_))).map_or(place, |o| o.span);
            Setting::written(crate::rust::eval::wait::duration(spread.mid), at)
        }
        None => {
            let why = value.as_unknown().map_or_else(|| "is computed".to_owned(), |u| u.why.to_string());
            Setting::unknown(why, Some(place))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn tries_within_a_time_are_counted_with_the_mean_wait() {
        let place = Span::new(FileId(0), 0, 1);
        let second = Setting::written(Duration::from_secs(1), place);
        let about = |factor| match within(10.0, &Wait::Fixed(second.clone()), factor, place).value() {
            Some(Attempts::Within { about, .. }) => *about,
            _ => 0,
        };
        assert_eq!(about(1.0), 11);
        assert_eq!(about(0.5), 21);
        assert_eq!(within(10.0, &Wait::None, 1.0, place).value(), None);
    }
}
