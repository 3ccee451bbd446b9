//! Decisions: which way a test goes, as far as that is known.
use super::machine::{Aim, Exit, Hint, Machine, Site};
use super::value::{Kind, Taint, Unknown, Value, Why};
use crate::rust::ir::Name;
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// Answers a condition. One that is not known is answered the same way each time it is asked in a run, for a
    /// failure that lasts answers the same way; other runs take the other answer.
    pub(crate) fn decide(&mut self, cond: &Value<'a>, at: Span, hint: Hint) -> Result<bool, Exit<'a>> {
        self.step()?;
        match &cond.kind {
            Kind::Bool(b) => Ok(*b),
            Kind::Lifted(all) => self.decide_lifted(&all.clone(), cond.taint, at, hint),
            Kind::Unknown(unknown) => Ok(self.decide_open(&unknown.clone(), cond.taint, at, hint)),
            _ => Ok(hint.forced.unwrap_or(hint.prefer)),
        }
    }

    pub(super) fn decide_lifted(
        &mut self,
        all: &[(u16, Value<'a>)],
        taint: Taint,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        let (mut yes, mut no, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for (status, value) in all.iter().filter(|(s, _)| self.world.has(*s)) {
            match value.kind {
                Kind::Bool(true) => yes.push(*status),
                Kind::Bool(false) => no.push(*status),
                _ => open.push((*status, value)),
            }
        }
        if let Some((_, Value { kind: Kind::Unknown(unknown), .. })) = open.first() {
            let answer = self.decide_open(&unknown.clone(), taint, at, hint);
            let side = if answer { &mut yes } else { &mut no };
            side.extend(open.iter().map(|(s, _)| *s));
        }
        Ok(match (yes.is_empty(), no.is_empty()) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => {
                let first = self.oracle.split() == 0;
                self.world.narrow(if first { yes } else { no });
                first
            }
        })
    }

    /// Whether something not known is this variant of its enum: one and the same in the whole run.
    pub(super) fn decide_variant(
        &mut self,
        variant: Name,
        of: &Unknown<'a>,
        taint: Taint,
        at: Span,
        hint: Hint,
    ) -> bool {
        if let (Some(known), None) = (self.variants.get(&of.id), hint.forced) {
            return *known == variant;
        }
        // What a loop does may hang on it, from the first turn on.
        let early = self.episodes.iter().any(|e| e.repeats());
        let holds = self.decided(of, taint, at, hint, early);
        if holds {
            self.variants.insert(of.id, variant);
        }
        holds
    }

    pub(super) fn decide_open(&mut self, unknown: &Unknown<'a>, taint: Taint, at: Span, hint: Hint) -> bool {
        self.decided(unknown, taint, at, hint, false)
    }

    /// The answer to a condition that is not known; whether it is tried both ways `early`: before the call is made,
    /// and where its branches only compute.
    fn decided(&mut self, unknown: &Unknown<'a>, taint: Taint, at: Span, hint: Hint, early: bool) -> bool {
        if let Some(forced) = hint.forced {
            return forced;
        }
        let failure = taint.has(Taint::FAILURE) || taint.has(Taint::ANSWER);
        if !failure && !matches!(unknown.why, Why::Compared(_)) {
            self.guessed = self.guessed.saturating_add(1);
        }
        let key = (at, self.chain());
        let turns = if matches!(unknown.why, Why::Compared(_)) { Some(OPEN_TEST_TURNS) } else { hint.turns_after };
        if let Why::Compared(with) = &unknown.why {
            let with = with.clone();
            self.note_open_test(&with, hint);
        }
        // What follows from something that moves with the turns may come out the other way in a later one.
        let moves = !failure && self.sites.get(&key).is_some_and(|site| site.of != unknown.id);
        if hint.leaves && (moves || unknown.call.as_ref().is_some_and(|call| call.judges)) {
            self.perhaps_ended(&unknown.why.to_string());
        }
        if let Some(site) = self.sites.get_mut(&key) {
            site.asked += 1;
            let turned = turns.is_some_and(|n| site.asked >= n);
            if turned {
                site.asked = 0;
                site.answer = !site.answer;
            }
            let answer = site.answer;
            if turned && hint.turns_after.is_some() {
                // It had to end some time: how often it holds is not known.
                let open = Value::unknown(unknown.id, unknown.why.clone());
                self.note_open_bound(&open);
            }
            return answer;
        }
        let other = if early { hint.matters } else { hint.leaves && self.hits > 0 };
        let fork = self.aim == Aim::Watch && if failure { hint.matters } else { other };
        let answer = if fork { (self.oracle.choose(key, failure, early) == 0) == hint.prefer } else { hint.prefer };
        self.sites.insert(key, Site { answer, asked: 0, of: unknown.id });
        answer
    }
}

/// How often an open numeric test gives the same answer before it turns: the loop behind it must end some time.
pub(super) const OPEN_TEST_TURNS: u32 = 8;
