//! Waits: what was slept between two tries, and the law that such a series follows.

use std::time::Duration;

use super::machine::{Exit, Flow, Machine};
use super::value::{Kind, Source, Spread, Taint, Value};
use crate::model::{Jitter, Setting, Wait};
use crate::source::Span;

/// How far two waits of a series may be from what a law says and still follow it.
const TOLERANCE: f64 = 0.01;

/// One sleep.
#[derive(Debug, Clone)]
pub(crate) struct Slept<'a> {
    /// How long, in seconds, or why that is not known.
    pub(crate) wait: Result<Spread, String>,
    /// What flowed into it.
    pub(crate) taint: Taint,
    /// The sleep.
    pub(crate) span: Span,
    /// Where its length is written, if in one place.
    pub(crate) written: Option<(Span, Source<'a>)>,
}

/// All sleeps between two tries.
pub(crate) type Gap<'a> = Vec<Slept<'a>>;

/// What a series of gaps comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fit {
    pub(crate) wait: Wait,
    pub(crate) jitter: Setting<Jitter>,
    pub(crate) place: Option<Span>,
}

impl<'a> Machine<'a, '_> {
    /// The run waits: its clock moves by the mean.
    pub(crate) fn sleep(&mut self, wait: &Value<'a>, span: Span) -> Result<(), Exit<'a>> {
        self.step()?;
        if self.discovering() {
            return Ok(());
        }
        let known = match &wait.kind {
            Kind::Duration(s) => Ok(*s),
            // `sleep_until(deadline)`
            Kind::Instant(at) => Ok(Spread::exact((at - self.clock).max(0.0))),
            Kind::Lifted(all) => match all.iter().find(|(s, _)| self.world.has(*s)).map(|(_, v)| &v.kind) {
                Some(Kind::Duration(s)) => Ok(*s),
                _ => Err("hangs on the status".to_owned()),
            },
            Kind::Unknown(u) => Err(u.why.to_string()),
            _ => Err("is computed in a way that is not followed".to_owned()),
        };
        let mean = known.as_ref().map_or(1.0, |s| s.mean()).max(0.0);
        let written = wait.origin.map(|o| (o.span, o.from));
        self.note_sleep(Slept { wait: known, taint: wait.taint, span, written });
        self.clock += mean;
        match self.deadlines.iter().find(|(_, end, ..)| self.clock > *end).copied() {
            Some((number, end, ..)) => {
                self.clock = end;
                Err(Box::new(Flow::Expired(number)))
            }
            None => Ok(()),
        }
    }
}

/// Whether a gap follows what the server asked for.
pub(crate) fn server_wait(gap: &Gap<'_>) -> Option<Span> {
    gap.iter().find(|s| s.taint.has(Taint::SERVER_WAIT)).map(|s| s.span)
}

/// The whole wait of a gap, with its randomness.
fn total(gap: &Gap<'_>) -> Result<Spread, String> {
    gap.iter().try_fold(Spread::exact(0.0), |sum, slept| Ok(sum.zip(slept.wait.clone()?, |a, b| a + b)))
}

/// The law that the gaps follow, those left out in which the server says how long.
pub(crate) fn fit(gaps: &[Gap<'_>]) -> Fit {
    let own: Vec<&Gap<'_>> = gaps.iter().filter(|g| server_wait(g).is_none()).collect();
    let place = own.iter().flat_map(|g| g.iter()).chain(gaps.iter().flatten()).map(|s| s.span).next();
    let unknown =
        |why: String| Fit { wait: Wait::Unknown { why: why.clone() }, jitter: Setting::unknown(why, place), place };
    if own.is_empty() {
        return match place {
            Some(_) => unknown("is what the server asks for".to_owned()),
            None => Fit { wait: Wait::None, jitter: none(None), place: None },
        };
    }
    if own.iter().all(|g| g.is_empty()) {
        return Fit { wait: Wait::None, jitter: none(None), place: None };
    }
    let series: Result<Vec<Spread>, String> = own.iter().map(|g| total(g)).collect();
    let series = match series {
        Ok(series) => series,
        Err(why) => return unknown(why),
    };
    let random = own.iter().flat_map(|g| g.iter()).any(|s| s.taint.has(Taint::RANDOM));
    let jitter = match place {
        Some(place) if random => Setting::written(spread_of(&series), place),
        place => none(place),
    };
    let mids: Vec<f64> = series.iter().map(|s| s.mid).collect();
    let written = match own.first().map(|g| g.as_slice()) {
        Some([one]) => one.written.map(|(span, _)| span),
        _ => None,
    };
    Fit { wait: law(&mids, place, written), jitter, place }
}

fn none(place: Option<Span>) -> Setting<Jitter> {
    match place {
        Some(place) => Setting::written(Jitter::None, place),
        None => Setting::default(Jitter::None, "the code"),
    }
}

fn spread_of(series: &[Spread]) -> Jitter {
    match series.iter().rev().find(|s| !s.is_exact() && s.mid > 0.0) {
        Some(s) if s.lo <= 0.0 && close(s.hi, s.mid) => Jitter::Full,
        Some(s) => Jitter::Partial { low: s.lo / s.mid, high: s.hi / s.mid },
        None => Jitter::Full,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1e-9)
}

/// A wait as a duration; what is too long for one is the longest there is.
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

fn law(mids: &[f64], place: Option<Span>, written: Option<Span>) -> Wait {
    let at = |seconds: f64, span: Option<Span>| match span.or(place) {
        Some(span) => Setting::written(duration(seconds), span),
        None => Setting::default(duration(seconds), "the code"),
    };
    let cap = |seconds: Option<f64>| match place {
        Some(span) => Setting::written(seconds.map(duration), span),
        None => Setting::default(seconds.map(duration), "the code"),
    };
    let scheduled = |capped| Wait::Scheduled { waits: mids.iter().map(|m| duration(*m)).collect(), capped };
    let Some((&first, rest)) = mids.split_first() else { return Wait::None };
    if rest.is_empty() {
        // One wait is neither fixed nor growing, unless it is plainly one number.
        return if written.is_some() { Wait::Fixed(at(first, written)) } else { scheduled(true) };
    }
    if rest.iter().all(|m| close(*m, first)) {
        return Wait::Fixed(at(first, written));
    }
    if first > 0.0 {
        let factor = rest.first().map_or(1.0, |second| second / first);
        if factor > 1.0
            && let Some(end) = follows(mids, |n| first * factor.powi(n))
            && (mids.len() > 2 || !close(factor, 2.0) || end.is_none())
        {
            let three_or_more = mids.len() > 2;
            let linear = close(factor, 2.0) && three_or_more && follows(mids, |n| first * f64::from(n + 1)).is_some();
            if !linear {
                let factor = match place {
                    Some(span) => Setting::written(factor, span),
                    None => Setting::default(factor, "the code"),
                };
                return Wait::Exponential { base: at(first, None), factor, cap: cap(end) };
            }
        }
        if let Some(end) = follows(mids, |n| first * f64::from(n + 1)) {
            return Wait::Linear { step: at(first, None), cap: cap(end) };
        }
    }
    let last_two_equal = matches!(mids, [.., a, b] if close(*a, *b));
    scheduled(last_two_equal || mids.len() < 16)
}

/// Whether the waits follow `law` up to a cap, after which they stay; and that cap.
fn follows(mids: &[f64], law: impl Fn(i32) -> f64) -> Option<Option<f64>> {
    let mut capped = None;
    for (n, &mid) in mids.iter().enumerate() {
        match capped {
            Some(cap) if close(mid, cap) => {}
            Some(_) => return None,
            None if close(mid, law(n as i32)) => {}
            None if mid < law(n as i32) && n > 0 => capped = Some(mid),
            None => return None,
        }
    }
    Some(capped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn gaps(waits: &[f64]) -> Vec<Gap<'static>> {
        waits.iter().map(|w| vec![slept(Spread::exact(*w), Taint::NONE)]).collect()
    }

    fn slept(wait: Spread, taint: Taint) -> Slept<'static> {
        Slept { wait: Ok(wait), taint, span: Span::new(FileId(0), 1, 2), written: None }
    }

    fn kind(waits: &[f64]) -> String {
        let of = |d: &Setting<Duration>| d.value().map_or(0.0, Duration::as_secs_f64);
        let cap = |c: &Setting<Option<Duration>>| c.value().copied().flatten().map(|d| d.as_secs_f64());
        match fit(&gaps(waits)).wait {
            Wait::None => "none".into(),
            Wait::Fixed(d) => format!("fixed {}", of(&d)),
            Wait::Linear { step, cap: c } => format!("linear {} {:?}", of(&step), cap(&c)),
            Wait::Exponential { base, factor, cap: c } => {
                format!("exponential {} {:?} {:?}", of(&base), factor.value().copied(), cap(&c))
            }
            Wait::Scheduled { waits, capped } => format!("scheduled {} {capped}", waits.len()),
            Wait::Unknown { why } => why,
        }
    }

    #[test]
    fn laws_are_told_from_their_first_waits() {
        assert_eq!(kind(&[1.0, 1.0, 1.0]), "fixed 1");
        assert_eq!(kind(&[0.2, 0.4, 0.8]), "exponential 0.2 Some(2.0) None");
        assert_eq!(kind(&[0.2, 0.4, 0.8, 1.0, 1.0]), "exponential 0.2 Some(2.0) Some(1.0)");
        assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0]), "linear 1 None");
        assert_eq!(kind(&[1.0, 2.0, 3.0, 3.0]), "linear 1 Some(3.0)");
        assert_eq!(kind(&[1.0, 2.0, 5.0]), "scheduled 3 true");
        assert_eq!(kind(&[1.0, 1.5, 2.25]), "exponential 1 Some(1.5) None");
        assert_eq!(kind(&[]), "none");
    }

    #[test]
    fn a_random_part_is_jitter() {
        let full = Spread { lo: 0.0, mid: 1.0, hi: 1.0 };
        let half = Spread { lo: 0.5, mid: 1.0, hi: 1.5 };
        let of = |s: Spread| fit(&[vec![slept(s, Taint::RANDOM)], vec![slept(s, Taint::RANDOM)]]).jitter;
        assert_eq!(of(full).value(), Some(&Jitter::Full));
        assert_eq!(of(half).value(), Some(&Jitter::Partial { low: 0.5, high: 1.5 }));
    }
}
