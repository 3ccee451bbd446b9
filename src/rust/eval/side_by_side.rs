//! Futures that run side by side, one for each of several items: `join_all`, streams that are buffered or worked through
//! at once. Each item is asked for once: that is a fan-out, and no retry.

use std::rc::Rc;

use super::episode::Repeater;
use super::iter::Iter;
use super::machine::{Eval, Machine};
use super::value::{Future, Kind, Run, Value, Why};
use crate::rust::crates::At;
use crate::rust::ir::Path;
use crate::source::Span;

/// So many items are run: the others are like them.
const RUN_ITEMS: usize = 4;

/// What is done with each item.
#[derive(Debug, Clone)]
struct Each<'a> {
    /// The items: futures, where there is no `f` that makes one of each.
    items: Value<'a>,
    f: Option<Value<'a>>,
    /// Whether the first error ends it.
    is_try: bool,
    /// Whether somebody gets the results.
    kept: bool,
}

impl<'a> Machine<'a, '_> {
    /// `join_all(futures)` and its like; `stream::iter(items)`.
    pub(crate) fn fan_function(&mut self, path: &Path, args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        let of_streams = || path.segments.iter().any(|s| matches!(&**s, "stream" | "tokio_stream"));
        match (path.segments.last().map(|s| &**s)?, args) {
            (name @ ("join_all" | "try_join_all"), [items]) => {
                Some(Ok(each(Each { items: items.clone(), f: None, is_try: name == "try_join_all", kept: true }, span)))
            }
            ("iter", [items]) if of_streams() => Some(Ok(self.iterator(items).value().tainted(items.taint))),
            _ => None,
        }
    }

    /// Methods of streams, and of iterators, that run something for each item.
    pub(crate) fn fan_method(&mut self, value: &Value<'a>, name: &str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let is_known = matches!(value.kind, Kind::Iter(_) | Kind::List(_) | Kind::Range(_));
        if !is_known && value.as_unknown().is_none() {
            return None;
        }
        let of = |f: Option<&Value<'a>>, is_try, kept| Each { items: value.clone(), f: f.cloned(), is_try, kept };
        let each_of = match (name, args) {
            ("buffer_unordered" | "buffered", [_]) => return Some(self.now(&of(None, false, true), at.span)),
            ("try_buffer_unordered" | "try_buffered", [_]) => {
                return Some(self.now(&of(None, true, true), at.span));
            }
            ("then", [f]) if is_known => return Some(self.now(&of(Some(f), false, true), at.span)),
            ("for_each_concurrent", [_, f]) => of(Some(f), false, false),
            ("try_for_each_concurrent", [_, f]) => of(Some(f), true, false),
            // Of an iterator it happens at once, of a stream when it is awaited: the calls are the same.
            ("for_each", [f]) if is_known => return Some(self.now(&of(Some(f), false, false), at.span)),
            ("try_for_each", [f]) if is_known => return Some(self.now(&of(Some(f), true, false), at.span)),
            _ => return None,
        };
        Some(Ok(each(each_of, at.span)))
    }

    /// Awaits what an iterator or a stream holds: each item, if these are futures.
    pub(crate) fn await_all(&mut self, items: Value<'a>, span: Span) -> Eval<'a> {
        self.now(&Each { items, f: None, is_try: false, kept: true }, span)
    }

    fn now(&mut self, each: &Each<'a>, span: Span) -> Eval<'a> {
        self.open_episode(Repeater::Loop { span, word: "for" });
        let result = self.run_each(each, span);
        self.close_episode();
        result
    }

    fn run_each(&mut self, each: &Each<'a>, span: Span) -> Eval<'a> {
        let mut items = self.iterator(&each.items);
        let known = items.len().filter(|n| *n <= RUN_ITEMS as i128).is_some();
        let (start, mut end) = (self.clock, self.clock);
        let mut results = Vec::new();
        while results.len() < RUN_ITEMS && self.next_turn(true) {
            // What is asked of one item is not asked again of the next, even where it looks the same.
            self.apart();
            // They run at the same time.
            self.clock = start;
            let Some(item) = self.item(&mut items)? else { break };
            let made = match &each.f {
                Some(f) => self.call_value(f, vec![item], span)?,
                None => item,
            };
            let result = self.await_value(made, span)?;
            end = end.max(self.clock);
            let result = if each.is_try { self.settle(result, span)? } else { result };
            match result.variant() {
                Some(("Err", _)) if each.is_try => return Ok(result),
                Some(("Ok", Some(inner))) if each.is_try => results.push(inner.clone()),
                _ => results.push(result),
            }
            if self.discovering() {
                break;
            }
        }
        self.clock = end;
        let all = match (each.kept, known && !self.discovering()) {
            (false, _) => Value::unit(),
            (true, true) => Value::list(results),
            (true, false) => {
                let of: Vec<&Value<'a>> = results.iter().collect();
                self.derived("results", Why::Other("is what came of each item"), &of)
            }
        };
        Ok(if each.is_try { Value::wrap("Ok", all) } else { all })
    }

    fn item(&mut self, items: &mut Iter<'a>) -> Result<Option<Value<'a>>, super::machine::Exit<'a>> {
        let item = self.advance(items)?;
        Ok(item.or_else(|| self.discovering().then(|| self.opaque(Why::Other("is an element of data")))))
    }
}

fn each<'a>(each: Each<'a>, span: Span) -> Value<'a> {
    let run = move |m: &mut Machine<'a, '_>| m.now(&each, span);
    Value::new(Kind::Future(Rc::new(Future::Library(Run(Rc::new(run))))))
}
