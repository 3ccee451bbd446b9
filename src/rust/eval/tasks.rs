//! Tasks and threads: what is spawned runs beside the code that spawns it.

use super::machine::{Eval, Flow, Machine, Stop};
use super::value::{Kind, Value, Why};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// Runs what `spawn` is given. Unless its result is waited for on the spot, nobody waits while it sleeps, and the
    /// deadlines around its start do not end it.
    pub(super) fn run_spawned(&mut self, work: &Value<'a>, joined: bool, span: Span) -> Eval<'a> {
        if joined || self.discovering() {
            return self.run_work(work, span);
        }
        let (hits, clock, slept) = (self.hits, self.clock, self.slept());
        let deadlines = std::mem::take(&mut self.deadlines);
        let result = self.run_work(work, span);
        self.deadlines = deadlines;
        if self.hits == hits {
            self.clock = clock;
            self.forget_sleeps(slept);
        }
        match result {
            // It ends itself, or all some other time.
            Err(exit) if matches!(*exit, Flow::Stop(Stop::Panic)) => Ok(self.opaque(Why::Other("comes from a task"))),
            result => result,
        }
    }

    fn run_work(&mut self, work: &Value<'a>, span: Span) -> Eval<'a> {
        let value = match &work.kind {
            Kind::Closure(_) | Kind::Fn(_) => self.call_value(work, Vec::new(), span)?,
            _ => work.clone(),
        };
        self.await_value(value, span)
    }

    /// How many sleeps were noted since the last call: in this turn, and in all of them.
    fn slept(&self) -> (usize, usize) {
        match self.episodes.last() {
            Some(episode) => (episode.turn.gap.len(), episode.gap.len()),
            None => (self.outermost.gap.len(), 0),
        }
    }

    fn forget_sleeps(&mut self, (of_turn, of_all): (usize, usize)) {
        match self.episodes.last_mut() {
            Some(episode) => {
                episode.turn.gap.truncate(of_turn);
                episode.gap.truncate(of_all);
            }
            None => self.outermost.gap.truncate(of_turn),
        }
    }
}
