//! What a run notes while something repeats: calls that leave, sleeps, comparisons, bounds.
use super::episode::{Compared, Single, Stir};
use super::goal::Outgoing;
use super::machine::{Hint, Machine, Reason};
use super::value::{Taint, Value};
use super::wait::Slept;
use crate::rust::ir::BinOp;
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// The call under test is made.
    pub(crate) fn hit(&mut self, call: &Outgoing) {
        self.hits += 1;
        self.note_upkeep(call);
        let pick = self.pick.take();
        let way = self.frames.iter().map(|f| f.span).chain([call.span]).collect();
        let awaits = self.awaits.clone();
        for episode in &mut self.episodes {
            if episode.hit_now {
                continue;
            }
            let set = self.deadlines.iter().map(|(number, _, length, span)| (*number, (*length, *span)));
            for (number, limit) in set.chain(call.limit.map(|limit| (usize::MAX, limit))) {
                let inside = number > episode.deadlines_before;
                let known = if inside { &mut episode.per_try } else { &mut episode.overall };
                if known.is_none_or(|known| limit.0 < known.0) {
                    *known = Some(limit);
                }
            }
            episode.hit_now = true;
            episode.hits += 1;
            let gap = std::mem::take(&mut episode.gap);
            if episode.hits > 1 {
                episode.gaps.push(gap);
                episode.picks.push(pick);
            } else {
                episode.before = gap;
            }
            match episode.identity {
                Some(identity) => episode.changed |= identity != call.identity,
                None => episode.identity = Some(call.identity),
            }
        }
        let turn = match self.episodes.last_mut() {
            Some(episode) => &mut episode.turn,
            None => &mut self.outermost,
        };
        let gap = std::mem::take(&mut turn.gap);
        let after_inner = !turn.inner.is_empty();
        turn.singles.push(Single { way, awaits, pick, gap, identity: call.identity, after_inner });
    }

    /// Something happens beside the call under test.
    pub(super) fn stir(&mut self, by: Stir) {
        self.episodes.iter_mut().for_each(|episode| episode.stir = episode.stir.max(by));
    }

    /// A sleep belongs to the innermost episode.
    pub(crate) fn note_sleep(&mut self, slept: Slept<'a>) {
        self.stir(Stir::Work);
        match self.episodes.last_mut() {
            Some(episode) => {
                episode.turn.gap.push(slept.clone());
                episode.gap.push(slept);
            }
            None => self.outermost.gap.push(slept),
        }
    }

    /// Two numbers are compared, and this is how it came out.
    pub(crate) fn note_compared(&mut self, op: BinOp, at: Span, left: &Value<'a>, right: &Value<'a>, outcome: bool) {
        let numbers = |v: &Value<'a>| {
            v.number().or(v.duration()).map(|s| s.mid).or(match v.kind {
                super::value::Kind::Instant(t) => Some(t),
                _ => None,
            })
        };
        let (Some(l), Some(r)) = (numbers(left), numbers(right)) else { return };
        let key = (at, self.chain());
        let time = left.taint.has(Taint::TIME) || right.taint.has(Taint::TIME);
        if time {
            self.note_time_test(key, left, right, outcome);
        }
        let of_equal = matches!(op, BinOp::Eq | BinOp::Le | BinOp::Ge);
        for episode in &mut self.episodes {
            let (turn, after_call) = (episode.turns, episode.hit_now);
            let Some(last) = episode.compared.get_mut(&key) else {
                let (left, right) = (l, r);
                let new = Compared { turn, left, right, before: None, first: outcome, of_equal, after_call, time };
                episode.compared.insert(key, new);
                continue;
            };
            if last.turn == turn {
                continue;
            }
            if (last.left, last.right) != (l, r) {
                episode.progressed = turn;
            }
            let counter = if last.left == l { self.comparing.1 } else { self.comparing.0 };
            let counter = counter.filter(|_| (last.left, last.right) != (l, r)).map(|name| (key.1, name.clone()));
            episode.counters.moved.extend(counter.clone());
            if last.first != outcome && !time {
                episode.counters.ended_by = counter;
                let fixed = if last.right == r { right } else { left };
                if let Some(origin) = fixed.origin {
                    episode.bound = Some(origin);
                    episode.via = origin.via;
                }
            }
            let before = Some((last.left, last.right));
            *last = Compared { turn, left: l, right: r, before, after_call, time, ..*last };
        }
    }

    pub(super) fn note_time_test(&mut self, key: (Span, u64), left: &Value<'a>, right: &Value<'a>, outcome: bool) {
        let Some(episode) = self.episodes.last_mut() else { return };
        let limit = match (left.duration(), right.duration()) {
            (Some(a), Some(b)) => Some(if left.taint.has(Taint::TIME) { b.mid } else { a.mid }),
            _ => None,
        };
        let limit = limit.or(match (&left.kind, &right.kind) {
            (super::value::Kind::Instant(a), super::value::Kind::Instant(b)) => Some(a.max(*b) - episode.started),
            _ => None,
        });
        let first = *episode.time_first.entry(key).or_insert(outcome);
        let known = *episode.time_limit.get_or_insert(limit.unwrap_or(0.0));
        if first != outcome {
            episode.time_ended = Some(known);
        }
    }

    /// A test against something not known stands in a loop.
    pub(crate) fn note_open_test(&mut self, with: &Reason<'a>, hint: Hint) {
        let hits = self.hits;
        if let Some(episode) = self.episodes.last_mut()
            && hint.matters
            && hits > 0
            && !episode.open_tests.iter().any(|r| r.id == with.id)
        {
            episode.open_tests.push(with.clone());
        }
    }

    /// The innermost loop runs over something of unknown length.
    pub(crate) fn note_open_bound(&mut self, bound: &Value<'a>) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.open_bound.get_or_insert_with(|| bound.clone());
        }
    }

    /// Something that is not followed may end what repeats: that it is not seen to says nothing.
    pub(crate) fn perhaps_ended(&mut self, why: &str) {
        if let Some(episode) = self.episodes.iter_mut().rfind(|e| e.repeats()) {
            episode.perhaps_ended.get_or_insert_with(|| why.to_owned());
        }
    }

    /// What runs hands out an item of a stream, which may be an error: whoever takes it decides whether there is a next.
    pub(crate) fn hand_out(&mut self) {
        for episode in &mut self.episodes {
            episode.changed = true;
        }
    }

    /// The innermost loop has so many turns, if nothing ends it before.
    pub(crate) fn note_turns(&mut self, turns: Option<u64>) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.meant = turns;
        }
    }

    /// The turns of the innermost loop are about different things, even where they look the same.
    pub(crate) fn apart(&mut self) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.changed = true;
        }
    }

    /// Bounds the innermost loop by a value.
    pub(crate) fn note_bound(&mut self, value: &Value<'a>) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.bounded_by(value);
        }
    }
}
