//! From what was watched to layers: which episodes are retries, of what, how often, and with which waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::episode::{Counted, Pick, Repeater, Stir, Trace};
use super::goal::GOOD_STATUSES;
use super::oracle::Choice;
use super::value::{Limit, Origin, Source};
use super::wait::{self, Fit, Gap};
use super::watch::{Fork, Watched};
use crate::model::{Jitter, Mode, ModeSet, Wait};
use crate::rust::crates::Described;
use crate::rust::ir::Name;
use crate::source::Span;

/// Which repeater: its place, and the call that hands its count over, if one does.
pub(crate) type Key = (Span, Option<Span>);

/// A retry around one call.
#[derive(Debug, Clone)]
pub(crate) struct Retry<'a> {
    pub(crate) key: Key,
    pub(crate) repeater: Repeater,
    pub(crate) depth: usize,
    pub(crate) yes: ModeSet,
    pub(crate) unknown: ModeSet,
    pub(crate) counted: Counted,
    pub(crate) fit: Fit,
    pub(crate) retry_after: Option<Span>,
    pub(crate) picks: Vec<(ModeSet, Option<Pick>)>,
    pub(crate) bound: Option<Origin<'a>>,
    pub(crate) method: Option<String>,
    /// Whether it is a request whose statuses can be told.
    pub(crate) http: bool,
    /// How long one try may take.
    pub(crate) per_try: Option<Limit>,
    /// How long all of them together may take.
    pub(crate) overall: Option<Limit>,
    /// How many tries a deadline around it cuts short.
    pub(crate) cut_from: Option<u64>,
    /// Whether a choice was cut: there were too many open conditions.
    pub(crate) unsure: bool,
    /// Whether it only asks if something is up.
    pub(crate) upkeep: bool,
}

/// The retries around a watched call, outermost first.
pub(crate) fn retries<'a>(watched: &Watched<'a>) -> Vec<Retry<'a>> {
    if let Some(stream) = watched.target.as_ref().and_then(|t| t.stream.clone()) {
        return began_again(watched, stream).into_iter().collect();
    }
    let keys: BTreeSet<(Span, u64)> = watched
        .failing
        .iter()
        .flat_map(|f| &f.traces)
        .filter(|t| t.hits > 1 && !t.changed)
        .map(|t| (t.repeater.span(), t.chain))
        .collect();
    let mut out: Vec<Retry<'a>> = keys.into_iter().filter_map(|key| retry(watched, key)).collect();
    out.sort_by_key(|r| (r.depth, r.key));
    // Loops one after the other do not multiply: of two at one depth the larger counts.
    let mut kept: Vec<Retry<'a>> = Vec::new();
    for retry in out {
        match kept.last_mut() {
            Some(last) if last.depth == retry.depth => {
                if weight(&retry.counted) > weight(&last.counted) {
                    *last = retry;
                }
            }
            _ => kept.push(retry),
        }
    }
    kept
}

/// A stream that is asked for its next item after an error, and begins again by that.
fn began_again<'a>(watched: &Watched<'a>, stream: Arc<Described>) -> Option<Retry<'a>> {
    let again = |f: &&Fork<'_>| f.traces.iter().any(|t| t.hits > 1);
    let modes: Vec<ModeSet> = watched.failing.iter().filter(again).map(|f| f.modes).collect();
    let yes = modes.iter().copied().reduce(ModeSet::union)?;
    Some(Retry { yes, counted: stream.counted(1), ..switched_off(stream) })
}

/// The places that were seen to make the call again, whether or not they are retries.
pub(crate) fn repeating<'w>(watched: &'w Watched<'_>) -> impl Iterator<Item = Span> + 'w {
    watched.failing.iter().flat_map(|f| &f.traces).filter(|t| t.hits > 1).map(|t| t.repeater.span())
}

/// A crate's retry that never repeats: zero retries, or a strategy that takes nothing for transient.
pub(crate) fn switched_off<'a>(described: Arc<Described>) -> Retry<'a> {
    let counted = described.counted(1);
    Retry {
        key: (described.opens, described.via),
        depth: 0,
        yes: ModeSet::EMPTY,
        unknown: ModeSet::EMPTY,
        counted,
        fit: wait::fit(&[]),
        retry_after: None,
        picks: Vec::new(),
        bound: None,
        method: None,
        http: true,
        per_try: None,
        overall: None,
        cut_from: None,
        unsure: false,
        upkeep: false,
        repeater: Repeater::Library(described),
    }
}

fn of_key<'f, 'a>(fork: &'f Fork<'a>, key: (Span, u64)) -> Option<&'f Trace<'a>> {
    fork.traces.iter().filter(|t| (t.repeater.span(), t.chain) == key).max_by_key(|t| (t.hits, usize::MAX - t.depth))
}

/// Whether a good answer leads to the next call of its kind, about something else: a loop over items.
pub(crate) fn per_item(watched: &Watched<'_>) -> bool {
    watched.succeeding.iter().flat_map(|f| &f.traces).any(|t| t.hits > 1 && t.changed)
}

/// Whether a good answer leads back to the same call as well: then it polls, serves or works through a queue.
fn success_repeats(watched: &Watched<'_>, key: (Span, u64)) -> bool {
    let repeats = |fork: &Fork<'_>| {
        // Where the call did not succeed by way of these very calls, it is the loop's text that tells.
        let seen = watched.succeeding.iter().any(|f| of_key(f, key).is_some());
        let mut here = fork.traces.iter().filter(|t| t.repeater.span() == key.0 && (!seen || t.chain == key.1));
        here.any(|t| t.hits > 1 && !t.changed)
    };
    GOOD_STATUSES
        .iter()
        .all(|s| watched.succeeding.iter().any(|f| (f.good.is_empty() || f.good.contains(s)) && repeats(f)))
}

/// Whether a loop that does a piece of work with each good answer asks again after a failure without anything that takes
/// time: while nobody answers, it spins.
fn may_spin(watched: &Watched<'_>, key: (Span, u64)) -> bool {
    let mut refused = watched.failing.iter().filter(|f| f.modes.contains(Mode::Refused)).map(|f| of_key(f, key));
    let mut good = watched.succeeding.iter().filter_map(|f| of_key(f, key)).peekable();
    let works = good.peek().is_some() && good.all(|t| t.stir == Stir::Work);
    watched.goal.http && works && refused.all(|t| t.is_some_and(spins))
}

fn spins(trace: &Trace<'_>) -> bool {
    let is_loop = matches!(trace.repeater, Repeater::Loop { word: "loop", .. });
    let at_once = trace.stir == Stir::Nothing && trace.gaps.iter().all(|gap| gap.is_empty());
    is_loop && at_once && trace.counted == Counted::Unbounded
}

fn retry<'a>(watched: &Watched<'a>, key: (Span, u64)) -> Option<Retry<'a>> {
    let works = success_repeats(watched, key);
    if works && !may_spin(watched, key) {
        return None;
    }
    let seen: Vec<(&Fork<'a>, &Trace<'a>)> =
        watched.failing.iter().filter_map(|f| Some((f, of_key(f, key)?))).collect();
    let again = |t: &Trace<'a>| t.hits > 1 && !t.changed && (!works || spins(t));
    let retried: Vec<&(&Fork<'a>, &Trace<'a>)> = seen.iter().filter(|(_, t)| again(t)).collect();
    let (_, first) = retried.first()?;
    // Of a second call there is no trace where it was not made.
    let is_sequence = matches!(first.repeater, Repeater::Sequence { .. });
    let once: Vec<&Fork<'a>> = watched.failing.iter().filter(|f| is_sequence && of_key(f, key).is_none()).collect();
    let mut yes = ModeSet::EMPTY;
    let mut unknown = ModeSet::EMPTY;
    for mode in Mode::all() {
        let here: Vec<&(&Fork<'a>, &Trace<'a>)> = seen.iter().filter(|(f, _)| f.modes.contains(mode)).collect();
        let some = here.iter().any(|(_, t)| again(t));
        let stops = here.iter().filter(|(_, t)| !again(t)).map(|(f, _)| *f);
        let all = stops
            .chain(once.iter().copied().filter(|f| f.modes.contains(mode)))
            .all(|f| here.iter().any(|(g, t)| again(t) && differs_by_surroundings(&f.choices, &g.choices)));
        match (some, all && !here.iter().any(|(f, _)| f.partial)) {
            (true, true) => yes.insert(mode),
            (true, false) => unknown.insert(mode),
            (false, _) => {}
        }
    }
    let counted = retried.iter().map(|(_, t)| t.counted.clone()).max_by_key(weight)?;
    let counted = by_several_counters(&retried).map_or(counted, Counted::Times);
    let counted = if counted == Counted::Unbounded && all_bounded_otherwise(&retried) {
        Counted::Unknown { why: "hangs on a setting that nothing read here tells".to_owned(), span: None }
    } else {
        counted
    };
    let gaps = |t: &Trace<'a>| t.gaps.clone();
    let fit = retried
        .iter()
        .map(|(_, t)| (wait::fit(&t.gaps), t.gaps.len()))
        .max_by_key(|(fit, len)| (preference(fit), *len))
        .map(|(fit, _)| fit)?;
    let retry_after = retried.iter().flat_map(|(_, t)| gaps(t)).find_map(|gap: Gap<'a>| wait::server_wait(&gap));
    let picks = retried.iter().map(|(f, t)| (f.modes, last_pick(t))).collect();
    let with_bound = retried.iter().find(|(_, t)| t.bound.is_some()).map(|(_, t)| *t);
    let via = match &first.repeater {
        Repeater::Library(described) => described.via,
        _ => with_bound.and_then(|t| t.via),
    };
    Some(Retry {
        key: (first.repeater.span(), via),
        repeater: first.repeater.clone(),
        depth: first.depth,
        yes,
        unknown,
        counted,
        fit,
        retry_after,
        picks,
        bound: with_bound.and_then(|t| t.bound),
        method: watched.target.as_ref().and_then(|t| t.method.clone()),
        http: watched.goal.http,
        upkeep: works || retried.iter().all(|(_, t)| t.upkeep),
        per_try: retried.iter().find_map(|(_, t)| t.per_try),
        overall: retried.iter().find_map(|(_, t)| t.overall),
        cut_from: retried.iter().filter_map(|(_, t)| t.cut_from).max(),
        unsure: seen.iter().any(|(f, _)| f.choices.iter().any(|c| c.of == 1)),
    })
}

/// How often a loop makes the call that counts different failures apart, each up to a bound of its own: they may come
/// one after the other.
fn by_several_counters(retried: &[&(&Fork<'_>, &Trace<'_>)]) -> Option<u64> {
    type Counter = (u64, Name);
    let mut most: BTreeMap<&Counter, u64> = BTreeMap::new();
    let mut moved: BTreeMap<&Counter, BTreeSet<&Counter>> = BTreeMap::new();
    for (_, trace) in retried {
        let Counted::Times(times) = trace.counted else { return None };
        let by = trace.counters.ended_by.as_ref()?;
        let known = most.entry(by).or_default();
        *known = times.max(*known);
        moved.entry(by).or_default().extend(&trace.counters.moved);
    }
    // In another function one counter may have another name.
    let (chain, _) = most.keys().next()?;
    let beside = most.keys().all(|(other, _)| other == chain);
    // What counts every failure ends the loop whatever else is counted.
    let apart = moved.iter().all(|(by, with)| with.iter().all(|counter| counter == by || !moved.contains_key(counter)));
    (most.len() > 1 && beside && apart).then(|| most.values().map(|times| times - 1).sum::<u64>() + 1)
}

/// Whether each run without end has one beside it that ends, with the same failure and other surroundings: a limit
/// that may be set or not.
fn all_bounded_otherwise(retried: &[&(&Fork<'_>, &Trace<'_>)]) -> bool {
    let endless = |t: &Trace<'_>| t.counted == Counted::Unbounded;
    let bounded_beside = |f: &Fork<'_>| {
        let mut bounded = retried.iter().filter(|(_, t)| !endless(t));
        bounded.any(|(g, _)| differs_by_surroundings(&g.choices, &f.choices))
    };
    retried.iter().filter(|(_, t)| endless(t)).all(|(f, _)| bounded_beside(f))
}

/// Whether one run stops and another repeats because of something that has nothing to do with the failure: a flag,
/// a setting. Then it is the repeating one that counts.
fn differs_by_surroundings(stops: &[Choice], repeats: &[Choice]) -> bool {
    let of = |all: &[Choice], failure: bool| -> BTreeMap<(Span, u64), u32> {
        all.iter().filter(|c| c.failure == failure).filter_map(|c| Some((c.site?, c.taken))).collect()
    };
    let (failure_a, failure_b) = (of(stops, true), of(repeats, true));
    let same_failure = failure_a.iter().all(|(site, taken)| failure_b.get(site).is_none_or(|t| t == taken));
    let (around_a, around_b) = (of(stops, false), of(repeats, false));
    let other_surroundings = around_a.iter().any(|(site, taken)| around_b.get(site).is_some_and(|t| t != taken));
    same_failure && other_surroundings
}

fn weight(counted: &Counted) -> (u8, u64) {
    match counted {
        Counted::Times(n) | Counted::Within { about: n, .. } => (0, *n),
        Counted::Unknown { .. } => (1, 0),
        Counted::Unbounded => (2, 0),
    }
}

/// Of several ways to wait in one loop: the one that is known and waits.
fn preference(fit: &Fit) -> u8 {
    match fit.wait {
        Wait::None => 0,
        Wait::Unknown { .. } => 1,
        _ if fit.jitter.value() == Some(&Jitter::None) => 2,
        _ => 3,
    }
}

/// What sends control back: the strongest of what did so between the tries, the first of those.
fn last_pick(trace: &Trace<'_>) -> Option<Pick> {
    let all = || trace.picks.iter().copied().flatten();
    all().find(|p| !p.weak).or_else(|| all().find(|p| p.apart)).or_else(|| all().next())
}

/// What there is to say of the place that bounds a loop.
pub(crate) fn bound_label(
    bound: Option<Origin<'_>>,
    name_of: impl Fn(crate::rust::index::ConstIx) -> String,
) -> Option<(Span, String)> {
    let bound = bound?;
    match bound.from {
        Source::Const(ix) => Some((bound.span, format!("`{}` bounds the loop", name_of(ix)))),
        Source::Setting(key) => Some((bound.span, format!("`{key}` bounds the loop"))),
        Source::Fallback => Some((bound.span, "this default bounds the loop; it may be set at run time".to_owned())),
        Source::Literal => None,
    }
}
