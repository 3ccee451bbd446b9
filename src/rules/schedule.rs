//! The waits of a layer as the backoff rules look at them: by what they come to, not by how they are written.

use std::time::Duration;

use crate::model::{Attempts, Layer, Setting, Wait};

/// What the waits between the tries of a layer come to, jitter left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// No wait at all.
    AtOnce,
    /// The same wait each time; its length where it is known.
    Same(Option<Duration>),
    /// Growing, up to a bound or a list's last entry.
    Bounded,
    /// Growing without an upper bound.
    Unbounded,
    /// Growing, and whether there is a bound is not known.
    Growing,
    /// Not known.
    Unknown,
}

/// More waits than any real count: where a schedule has not passed a bound by then, it never does.
const HORIZON: u32 = 10_000;

/// The shape of a layer's waits.
pub(super) fn shape(layer: &Layer) -> Shape {
    let cap = match &layer.wait {
        Wait::None => return Shape::AtOnce,
        Wait::Unknown { .. } => return Shape::Unknown,
        Wait::Fixed(wait) => return same(wait.value().copied()),
        Wait::Scheduled { waits, capped } => return scheduled(waits, *capped),
        Wait::Linear { cap, .. } => cap,
        Wait::Exponential { factor, cap, .. } => {
            if factor.value().is_some_and(|f| *f <= 1.0) {
                return same(layer.wait.nominal(0));
            }
            cap
        }
    };
    if let (Some(first), Some(second)) = (layer.wait.nominal(0), layer.wait.nominal(1))
        && first == second
    {
        return same(Some(first));
    }
    match cap {
        Setting::Unknown { .. } => Shape::Growing,
        known if known.value().is_some_and(Option::is_some) => Shape::Bounded,
        _ => Shape::Unbounded,
    }
}

fn same(wait: Option<Duration>) -> Shape {
    if wait == Some(Duration::ZERO) { Shape::AtOnce } else { Shape::Same(wait) }
}

fn scheduled(waits: &[Duration], capped: bool) -> Shape {
    match waits {
        [] => Shape::Unknown,
        [first, rest @ ..] if rest.iter().all(|w| w == first) && capped => same(Some(*first)),
        // The first retry at once, and the others one wait apart: a timer whose first tick is already due.
        [Duration::ZERO, first, rest @ ..] if rest.iter().all(|w| w == first) && capped => same(Some(*first)),
        _ if capped => Shape::Bounded,
        _ => Shape::Unbounded,
    }
}

/// How many tries come before the first wait, where a list of waits begins without one.
pub(super) fn at_once(layer: &Layer) -> Option<u64> {
    let Wait::Scheduled { waits, .. } = &layer.wait else { return None };
    Some(waits.iter().take_while(|wait| wait.is_zero()).count() as u64 + 1)
}

/// The longest nominal wait that this layer comes to, if its count or its deadline bounds it.
/// `None` where that cannot be known, or where nothing bounds it.
pub(super) fn longest(layer: &Layer) -> Option<Duration> {
    let tries = match layer.attempts.value()? {
        Attempts::Count(n) => u32::try_from(*n).unwrap_or(u32::MAX),
        Attempts::Within { .. } => u32::MAX,
        Attempts::Unbounded => return None,
    };
    let deadline = match layer.attempts.value()? {
        Attempts::Within { deadline, .. } => Some(*deadline),
        _ => layer.overall.as_ref().and_then(Setting::value).copied(),
    };
    let mut total = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for n in 0..tries.saturating_sub(1).min(HORIZON) {
        let wait = layer.wait.nominal(n)?;
        total = total.saturating_add(wait);
        if deadline.is_some_and(|d| total > d) {
            break;
        }
        longest = longest.max(wait);
    }
    Some(longest)
}
