//! Episodes: one execution of something that may repeat, and in how many of its turns the call under test was made.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::machine::{Machine, Reason};
use super::value::{Limit, Origin, Value};
use super::wait::Gap;
use crate::model::Attempts;
use crate::rust::crates::Described;
use crate::rust::ir::Name;
use crate::source::Span;

/// Turns of a loop that are run before it is taken to have no end.
pub(crate) const MAX_TURNS: u32 = 72;

/// Turns without any test that could end the loop, after which it has none.
const IDLE_TURNS: u32 = 10;

/// A count of so many is none: the largest numbers of their types stand for "no limit".
const NO_LIMIT: u64 = i32::MAX as u64;

/// The same where its waits still grow: a cap may come.
const GROWING_TURNS: u32 = 48;

/// What repeats.
#[derive(Debug, Clone)]
pub(crate) enum Repeater {
    /// `for`, `while` or `loop`, with its place and the word.
    Loop { span: Span, word: &'static str },
    /// A function that calls itself.
    Recursion { span: Span },
    /// A second call after the first has failed, with the place of the first.
    Sequence { span: Span },
    /// A crate's retry.
    Library(Arc<Described>),
}

impl Repeater {
    /// Its place.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Loop { span, .. } | Self::Recursion { span } | Self::Sequence { span } => *span,
            Self::Library(described) => described.opens,
        }
    }
}

/// What sent control back to the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    /// The condition or arm.
    pub(crate) span: Span,
    /// Whether it is only the other side of a test: it says what is not sent back.
    pub(crate) weak: bool,
    /// Whether it told statuses apart.
    pub(crate) apart: bool,
}

/// Two numbers that were compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    pub(super) turn: u32,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) before: Option<(f64, f64)>,
    pub(super) first: bool,
    /// Whether one of them is a time that passes: how often is then a matter of the waits.
    pub(super) time: bool,
    /// What the test says of two equal numbers.
    pub(super) of_equal: bool,
    /// Whether the call had been made in that turn.
    pub(super) after_call: bool,
}

/// The counters by which a loop ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    /// Those that moved, each with the chain of calls down to the comparison.
    pub(super) moved: BTreeSet<(u64, Name)>,
    /// The one that came to its bound last.
    pub(super) ended_by: Option<(u64, Name)>,
}

/// What happens in a loop beside the call under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stir {
    /// Nothing that takes time.
    Nothing,
    /// Something of which that is not known.
    Something,
    /// It waits, or makes another call.
    Work,
}

/// A call made in a turn itself, not in an episode inside of it.
#[derive(Debug, Clone)]
pub(super) struct Single<'a> {
    /// The calls down to it.
    pub(super) way: Vec<Span>,
    /// Where what runs is awaited.
    pub(super) awaits: Vec<Span>,
    pub(super) pick: Option<Pick>,
    pub(super) gap: Gap<'a>,
    /// What is called, with its arguments.
    pub(super) identity: u64,
    /// Whether a loop or the like ran before it in the same turn.
    pub(super) after_inner: bool,
}

/// One turn, or a whole run around all episodes.
#[derive(Debug, Default)]
pub(super) struct Turn<'a> {
    pub(super) singles: Vec<Single<'a>>,
    pub(super) inner: Vec<usize>,
    pub(super) gap: Gap<'a>,
}

/// One execution of a loop.
#[derive(Debug)]
pub(crate) struct Episode<'a> {
    pub(crate) repeater: Repeater,
    pub(crate) chain: u64,
    /// The place in the chain of functions of the one that holds it.
    pub(super) frame: usize,
    /// Whether it only asks if something is up.
    pub(super) upkeep: bool,
    pub(super) started: f64,
    /// The number of the last deadline that was set before it.
    pub(super) deadlines_before: usize,
    /// How long one try may take.
    pub(super) per_try: Option<Limit>,
    /// How long all of them together may take.
    pub(super) overall: Option<Limit>,
    /// How many turns it has, if nothing ends it before.
    pub(super) meant: Option<u64>,
    /// How long it ran before it was cut short.
    pub(super) spent: f64,
    pub(super) turns: u32,
    pub(super) hits: u64,
    pub(super) hit_now: bool,
    pub(super) gap: Gap<'a>,
    /// What was slept before the first call.
    pub(super) before: Gap<'a>,
    pub(super) gaps: Vec<Gap<'a>>,
    pub(super) picks: Vec<Option<Pick>>,
    pub(super) identity: Option<u64>,
    pub(super) changed: bool,
    pub(super) turn: Turn<'a>,
    /// What else happened in its turns.
    pub(super) stir: Stir,
    pub(super) compared: BTreeMap<(Span, u64), Compared>,
    pub(super) counters: Counters,
    pub(super) progressed: u32,
    pub(super) time_first: BTreeMap<(Span, u64), bool>,
    pub(super) time_limit: Option<f64>,
    pub(super) time_ended: Option<f64>,
    pub(super) expired: Option<f64>,
    pub(super) open_tests: Vec<Reason<'a>>,
    pub(super) open_bound: Option<Value<'a>>,
    /// What may end it some time, though it was not seen to.
    pub(super) perhaps_ended: Option<String>,
    pub(super) bound: Option<Origin<'a>>,
    pub(super) via: Option<Span>,
    pub(super) unbounded: bool,
    pub(super) predicted: Option<u64>,
    pub(super) skipped: u64,
    /// Whether a crate's own limit ended it.
    pub(super) exhausted: bool,
}

/// How often an episode made the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Counted {
    /// So often.
    Times(u64),
    /// As often as fits into these seconds: so often with the mean waits.
    Within { limit: f64, about: u64 },
    /// Without end.
    Unbounded,
    /// It cannot be told.
    Unknown { why: String, span: Option<Span> },
}

/// What is left of an episode.
#[derive(Debug, Clone)]
pub(crate) struct Trace<'a> {
    pub(crate) repeater: Repeater,
    pub(crate) chain: u64,
    /// How many episodes stood around it.
    pub(crate) depth: usize,
    pub(crate) hits: u64,
    pub(crate) counted: Counted,
    /// What was slept before the first call.
    pub(super) before: Gap<'a>,
    /// What was slept after the last call.
    pub(super) after: Gap<'a>,
    pub(crate) gaps: Vec<Gap<'a>>,
    pub(crate) picks: Vec<Option<Pick>>,
    /// Whether the call was another one in each turn.
    pub(crate) changed: bool,
    /// What else happened in its turns.
    pub(super) stir: Stir,
    pub(super) counters: Counters,
    pub(crate) bound: Option<Origin<'a>>,
    /// The call that handed the bound over to the function with the loop.
    pub(crate) via: Option<Span>,
    /// Whether it only asks if something is up.
    pub(crate) upkeep: bool,
    /// How long one try may take.
    pub(crate) per_try: Option<Limit>,
    /// How long all of them together may take.
    pub(crate) overall: Option<Limit>,
    /// How often it was meant to make the call, where a deadline around it ended it before.
    pub(crate) cut_from: Option<u64>,
}

impl<'a> Episode<'a> {
    /// Whether it may repeat at all.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self.repeater, Repeater::Sequence { .. })
    }

    /// Bounds it by this value, as `for` does.
    pub(crate) fn bounded_by(&mut self, value: &Value<'a>) {
        if let Some(origin) = value.origin {
            self.bound = Some(origin);
            self.via = origin.via;
        }
    }

    fn counted(&self) -> Counted {
        let about = self.hits.saturating_add(self.skipped);
        if let Repeater::Library(described) = &self.repeater
            && self.exhausted
        {
            return described.counted(about);
        }
        if let Some(limit) = self.expired {
            return Counted::Within { limit, about };
        }
        if let Some(test) = self.open_tests.first().filter(|_| self.hits > 1) {
            return Counted::Unknown { why: test.why.to_string(), span: None };
        }
        if let Some(bound) = self.open_bound.as_ref().filter(|_| self.hits > 1) {
            let why = bound.as_unknown().map_or_else(|| "is not known".to_owned(), |u| u.why.to_string());
            return Counted::Unknown { why, span: None };
        }
        if self.unbounded {
            if let Some(times) = self.predicted.filter(|times| *times < NO_LIMIT) {
                return Counted::Times(times);
            }
            return match self.time_limit {
                Some(limit) if self.spent > 0.0 && limit > 0.0 => {
                    let about = (self.hits as f64 * limit / self.spent).min(9e15) as u64;
                    Counted::Within { limit, about: about.max(self.hits) }
                }
                Some(_) => {
                    Counted::Unknown { why: "is bounded by time alone, and it does not wait".into(), span: None }
                }
                None => match &self.perhaps_ended {
                    Some(why) => Counted::Unknown { why: why.clone(), span: None },
                    None => Counted::Unbounded,
                },
            };
        }
        match self.time_ended {
            Some(limit) if limit > 0.0 => Counted::Within { limit, about },
            _ => Counted::Times(about),
        }
    }

    /// How many tries it was meant to make, where a deadline around it came before the last of them.
    fn cut_from(&self) -> Option<u64> {
        let meant = match &self.repeater {
            Repeater::Library(described) => match described.attempts.value() {
                Some(Attempts::Count(n)) => Some(*n),
                _ => None,
            },
            _ => self.meant.or_else(|| self.predict()),
        };
        meant.filter(|meant| self.expired.is_some() && *meant > self.hits.saturating_add(self.skipped))
    }

    fn waits_settled(&self) -> bool {
        match self.gaps.as_slice() {
            [.., a, b] => {
                let sum = |gap: &Gap<'_>| gap.iter().map(|s| s.wait.as_ref().map_or(0.0, |w| w.hi)).sum::<f64>();
                (sum(a) - sum(b)).abs() < 1e-9
            }
            _ => true,
        }
    }

    /// How many tries a test of a counter that moves by a fixed step leaves.
    fn predict(&self) -> Option<u64> {
        let left = self
            .compared
            .values()
            .filter(|c| !c.time)
            .filter_map(|c| {
                let (left, right) = c.before?;
                let closing = (c.left - c.right) - (left - right);
                let turns = (c.right - c.left) / closing;
                if closing == 0.0 || turns <= 0.0 || !turns.is_finite() {
                    return None;
                }
                // Equal numbers turn it, or the step beyond them does. No call follows in the turn in which it turns.
                let turns = if c.of_equal == c.first { turns.floor() + 1.0 } else { turns.ceil() };
                Some(if c.after_call { turns } else { turns - 1.0 })
            })
            .fold(f64::INFINITY, f64::min);
        left.is_finite().then(|| self.hits.saturating_add(left as u64))
    }
}

/// The call on the first way at which the two part; where they are one, as with a closure that is called twice, the
/// first of the two that is awaited elsewhere.
fn parting(first: &Single<'_>, second: &Single<'_>) -> Span {
    let parted = |a: &[Span], b: &[Span]| a.iter().zip(b).find(|(a, b)| a != b).map(|(a, _)| *a);
    let parted = parted(&first.way, &second.way).or_else(|| parted(&first.awaits, &second.awaits));
    parted.or(first.way.last().copied()).unwrap_or_else(|| Span::start_of(crate::source::FileId(0)))
}

impl<'a> Machine<'a, '_> {
    /// Something that may repeat begins.
    pub(crate) fn open_episode(&mut self, repeater: Repeater) {
        self.episodes.push(Episode {
            frame: match repeater {
                // Opened before its function is entered.
                Repeater::Recursion { .. } => self.frames.len(),
                _ => self.frames.len().saturating_sub(1),
            },
            repeater,
            chain: self.chain(),
            upkeep: false,
            started: self.clock,
            deadlines_before: self.deadlines_made,
            per_try: None,
            overall: None,
            meant: None,
            spent: 0.0,
            turns: 0,
            hits: 0,
            hit_now: false,
            gap: Vec::new(),
            before: Vec::new(),
            gaps: Vec::new(),
            picks: Vec::new(),
            identity: None,
            changed: false,
            turn: Turn::default(),
            stir: Stir::Nothing,
            compared: BTreeMap::new(),
            counters: Counters::default(),
            progressed: 0,
            time_first: BTreeMap::new(),
            time_limit: None,
            time_ended: None,
            expired: None,
            open_tests: Vec::new(),
            open_bound: None,
            perhaps_ended: None,
            bound: None,
            via: None,
            unbounded: false,
            predicted: None,
            skipped: 0,
            exhausted: false,
        });
    }

    /// The next turn begins. Whether it is to be run: a loop that is seen to have no end is not run for ever.
    pub(crate) fn next_turn(&mut self, has_end: bool) -> bool {
        self.end_turn();
        let Some(episode) = self.episodes.last_mut() else { return true };
        episode.turns += 1;
        episode.hit_now = false;
        // A deadline around it ends it, as long as it waits.
        let has_end = has_end || (!self.deadlines.is_empty() && self.clock > episode.started);
        let idle = episode.turns.saturating_sub(episode.progressed);
        let patience = if episode.waits_settled() { IDLE_TURNS } else { GROWING_TURNS };
        let seen_enough = self.brief && episode.hits > 1;
        if seen_enough || episode.turns > MAX_TURNS || (!has_end && idle > patience && episode.open_tests.is_empty()) {
            episode.unbounded = true;
            episode.spent = self.clock - episode.started;
            if episode.turns > MAX_TURNS {
                episode.predicted = episode.predict();
            }
            return false;
        }
        true
    }

    /// Counts turns that need not be run.
    pub(crate) fn skip_turns(&mut self, turns: u64) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.skipped = episode.skipped.saturating_add(turns);
        }
    }

    /// A crate's own limit ends the innermost episode, so many tries later.
    pub(crate) fn exhausted(&mut self, tries: u64) {
        self.skip_turns(tries);
        if let Some(episode) = self.episodes.last_mut() {
            episode.exhausted = true;
        }
    }

    /// The turns of the innermost episode so far, and in how many of them the call was made.
    pub(crate) fn turns(&self) -> (u32, u64) {
        self.episodes.last().map_or((0, 0), |e| (e.turns, e.hits))
    }

    /// It ends.
    pub(crate) fn close_episode(&mut self) {
        self.end_turn();
        let Some(episode) = self.episodes.pop() else { return };
        let counted = episode.counted();
        let cut_from = episode.cut_from();
        if episode.hits == 0 {
            // A loop that only waits, piece by piece.
            for slept in episode.gap {
                self.note_sleep(slept);
            }
            return;
        }
        self.traces.push(Trace {
            repeater: episode.repeater,
            chain: episode.chain,
            depth: self.episodes.len(),
            hits: episode.hits.saturating_add(episode.skipped),
            counted,
            before: episode.before,
            after: episode.gap,
            gaps: episode.gaps,
            picks: episode.picks,
            changed: episode.changed,
            stir: episode.stir,
            // A range that ends a loop ends it whatever is counted inside.
            counters: if episode.meant.is_none() { episode.counters } else { Counters::default() },
            bound: episode.bound,
            via: episode.via,
            upkeep: episode.upkeep,
            per_try: episode.per_try,
            overall: episode.overall,
            cut_from,
        });
        let index = self.traces.len() - 1;
        let turn = match self.episodes.last_mut() {
            Some(outer) => &mut outer.turn,
            None => &mut self.outermost,
        };
        turn.inner.push(index);
        turn.gap.clear();
    }

    /// Ends all episodes: the run is over.
    pub(crate) fn close_all(&mut self) {
        while !self.episodes.is_empty() {
            self.close_episode();
        }
        self.end_turn();
    }

    /// Marks the innermost loops as ended by a deadline of so many seconds around them.
    pub(crate) fn expire(&mut self, limit: f64) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.expired = Some(limit);
        }
    }

    /// A turn, or the run, is over: calls before or after a loop belong to it (a last try), and a call that follows
    /// the same call without any loop is a retry of its own.
    fn end_turn(&mut self) {
        let depth = self.episodes.len();
        let (turn, chain, upkeep) = match self.episodes.last_mut() {
            Some(episode) => (std::mem::take(&mut episode.turn), episode.chain, episode.upkeep),
            None => (std::mem::take(&mut self.outermost), 0, false),
        };
        let repeated: Vec<usize> =
            turn.inner.iter().copied().filter(|i| self.traces.get(*i).is_some_and(|t| t.hits > 1)).collect();
        if let ([one], false) = (repeated.as_slice(), turn.singles.is_empty()) {
            if let Some(trace) = self.traces.get_mut(*one) {
                let extra = turn.singles.len() as u64;
                trace.hits += extra;
                for single in &turn.singles {
                    if single.after_inner {
                        let slept = std::mem::take(&mut trace.after);
                        trace.gaps.push(slept.into_iter().chain(single.gap.iter().cloned()).collect());
                    } else {
                        trace.gaps.insert(0, std::mem::take(&mut trace.before));
                    }
                }
                match &mut trace.counted {
                    Counted::Times(n) | Counted::Within { about: n, .. } => *n += extra,
                    Counted::Unbounded | Counted::Unknown { .. } => {}
                }
            }
        } else if let ([first, second], []) = (turn.singles.as_slice(), turn.inner.as_slice())
            // One more try is a retry where it asks the same again. More calls in a row are steps of something.
            && first.identity == second.identity
        {
            self.traces.push(Trace {
                repeater: Repeater::Sequence { span: parting(first, second) },
                chain,
                depth,
                hits: 2,
                counted: Counted::Times(2),
                before: Vec::new(),
                after: Vec::new(),
                gaps: vec![second.gap.clone()],
                picks: vec![second.pick],
                changed: false,
                stir: Stir::Nothing,
                counters: Counters::default(),
                bound: None,
                via: None,
                upkeep,
                per_try: None,
                overall: None,
                cut_from: None,
            });
        }
    }
}
