//! `for`, `while`, `loop`: each execution is an episode.

use super::env::Env;
use super::episode::Repeater;
use super::iter::Iter;
use super::machine::{Eval, Exit, Flow, Hint, Machine, Stop};
use super::value::{Kind, Value, Why};
use crate::rust::ir::{Expr, ExprKind, Name, Pat, PatKind};
use crate::source::Span;

/// Turns of a counted loop that are run; those between them and the last two are like them, and only counted.
const RUN_TURNS: u32 = 40;

/// How often an open `while` condition holds before it turns.
const OPEN_WHILE: u32 = 3;

/// What comes after a turn.
enum After<'a> {
    Next,
    Leave(Value<'a>),
}

impl<'a> Machine<'a, '_> {
    fn after(&mut self, result: Eval<'a>, label: Option<&'a Name>) -> Result<After<'a>, Exit<'a>> {
        let mine = |to: Option<&'a Name>| to.is_none() || to == label;
        let result = result.and_then(|value| self.dropped(&value));
        match result {
            Ok(()) => Ok(After::Next),
            Err(exit) => match *exit {
                Flow::Break { label: to, value } if mine(to) => Ok(After::Leave(value)),
                Flow::Continue { label: to } if mine(to) => Ok(After::Next),
                Flow::Expired(number) => {
                    if let Some(limit) = self.limit_of(number) {
                        self.expire(limit);
                    }
                    Err(Box::new(Flow::Expired(number)))
                }
                other => Err(Box::new(other)),
            },
        }
    }

    fn episode(&mut self, span: Span, word: &'static str, run: impl FnOnce(&mut Self) -> Eval<'a>) -> Eval<'a> {
        self.open_episode(Repeater::Loop { span, word });
        let result = run(self);
        self.close_episode();
        result
    }

    /// A loop that has no end ends the run, unless the call was never made in it: then it is one that is not understood.
    fn endless(&mut self) -> Eval<'a> {
        if self.turns().1 > 0 {
            return Err(Stop::Endless.into());
        }
        Ok(self.opaque(Why::Other("comes from a loop that could not be followed")))
    }

    pub(crate) fn run_loop(
        &mut self,
        expr: &'a Expr,
        label: Option<&'a Name>,
        body: &'a Expr,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let head = Span { end: body.span.start.max(expr.span.start), ..expr.span };
        self.episode(head, "loop", |m| {
            if m.discovering() {
                m.eval(body, env)?;
                return Ok(m.opaque(Why::Other("comes from a loop")));
            }
            loop {
                if !m.next_turn(false) {
                    return m.endless();
                }
                let result = m.eval(body, env);
                if let After::Leave(value) = m.after(result, label)? {
                    return Ok(value);
                }
            }
        })
    }

    pub(crate) fn run_while(
        &mut self,
        expr: &'a Expr,
        label: Option<&'a Name>,
        cond: &'a Expr,
        body: &'a Expr,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let head = expr.span.start..cond.span.end;
        let head = Span { start: head.start, end: head.end, file: expr.span.file };
        self.episode(head, "while", |m| {
            if m.discovering() {
                let scope = m.scope(Some(env));
                m.condition(cond, &scope, Hint::plain())?;
                m.eval(body, &scope)?;
                return Ok(Value::unit());
            }
            loop {
                if !m.next_turn(false) {
                    return m.endless();
                }
                let scope = m.scope(Some(env));
                let hint = Hint { turns_after: Some(OPEN_WHILE), ..Hint::plain() };
                let judged = m.condition(cond, &scope, hint)?;
                m.picked(judged.holds, judged.taint, cond.span);
                if !judged.holds {
                    return Ok(Value::unit());
                }
                let result = m.eval(body, &scope);
                if let After::Leave(value) = m.after(result, label)? {
                    return Ok(value);
                }
            }
        })
    }

    pub(crate) fn run_for(
        &mut self,
        expr: &'a Expr,
        label: Option<&'a Name>,
        pat: &'a Pat,
        iter: &'a Expr,
        body: &'a Expr,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let source = self.eval(iter, env)?;
        let head = Span { end: iter.span.end, ..expr.span };
        self.episode(head, "for", |m| {
            let mut items = m.iterator(&source);
            if let Kind::Range(range) = &source.kind
                && let Some(end) = &range.end
            {
                m.note_bound(&end.clone());
            }
            if let Some(open) = items.open_bound() {
                m.note_open_bound(&open);
            }
            if goes_through_data(pat, iter) {
                m.apart();
            }
            let turns = items.len().filter(|_| !items.is_endless());
            m.note_turns(turns.and_then(|n| u64::try_from(n).ok()));
            if m.discovering() {
                let first = m.advance(&mut items)?;
                let scope = m.scope(Some(env));
                let first = first.unwrap_or_else(|| m.opaque(Why::Other("is an element of data")));
                m.bind(pat, first, &scope);
                m.eval(body, &scope)?;
                return Ok(Value::unit());
            }
            loop {
                let has_end = !items.is_endless();
                if !m.next_turn(has_end) {
                    return m.endless();
                }
                m.skip_alike(&mut items);
                let Some(item) = m.advance(&mut items)? else { return Ok(Value::unit()) };
                let scope = m.scope(Some(env));
                m.bind(pat, item, &scope);
                let result = m.eval(body, &scope);
                if let After::Leave(value) = m.after(result, label)? {
                    return Ok(value);
                }
            }
        })
    }

    /// After many turns that all made the call, only the last two of a range are run.
    fn skip_alike(&mut self, items: &mut Iter<'a>) {
        let (turns, hits) = self.turns();
        if let Iter::Range { next, end } = items
            && turns > RUN_TURNS
            && u64::from(turns) == hits + 1
            && !items_endless(*end)
            && *end - *next > 2
        {
            let skipped = *end - *next - 2;
            *next = *end - 2;
            self.skip_turns(u64::try_from(skipped).unwrap_or(u64::MAX));
        }
    }
}

/// Whether a `for` takes something else in hand each turn, by how it is written: what it takes apart, or empties.
fn goes_through_data(pat: &Pat, iter: &Expr) -> bool {
    let taken_apart = matches!(pat.kind, PatKind::Struct { .. } | PatKind::TupleStruct { .. });
    let emptied = matches!(&*iter.kind, ExprKind::Method { name, .. } if DATA.contains(&&**name));
    taken_apart || emptied
}

/// Methods that give the items of a collection, and never a series of waits.
const DATA: [&str; 6] = ["drain", "iter_mut", "values", "values_mut", "into_values", "keys"];

fn items_endless(end: i128) -> bool {
    end >= i128::from(u32::MAX)
}
