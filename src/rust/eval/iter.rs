//! Iterators: what a `for` runs over, and the series of waits that libraries take.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::machine::{Eval, Machine};
use super::value::{Kind, Value, Why};
use crate::model::{Attempts, Setting};
use crate::rust::crates::At;
use crate::rust::crates::policy::{self, Count, Policy};
use crate::source::Span;

/// How many elements of something of unknown length are looked at.
const UNKNOWN_LENGTH: u32 = 3;

/// How many elements are folded into one value.
const MOST_FOLDED: i128 = 64;

/// How many turns a range takes whose end is not known.
pub(crate) const UNKNOWN_END: i128 = 8;

/// An iterator.
#[derive(Debug, Clone)]
pub(crate) enum Iter<'a> {
    /// Integers; `end` is exclusive.
    Range { next: i128, end: i128 },
    /// Integers up to something not known: ends after a few turns.
    OpenRange { next: i128, end: i128, bound: Value<'a> },
    /// These values.
    Items { items: Rc<Vec<Value<'a>>>, at: usize },
    /// The same for ever.
    Repeat(Value<'a>),
    /// `successors(first, f)`
    Successors { next: Option<Value<'a>>, f: Value<'a> },
    /// The waits of a crate's policy, from the one with this number on.
    Waits { policy: Rc<Policy>, at: u32 },
    /// `Some(x)` of each, and `None` after the last.
    Optional { inner: Box<Iter<'a>>, over: bool },
    /// `map`
    Map { inner: Box<Iter<'a>>, f: Value<'a>, span: Span },
    /// `take`, with the number as a crate counts it.
    Take { inner: Box<Iter<'a>>, left: i128, by: Option<Rc<Count>> },
    /// `take` of a number that is not known.
    OpenTake { inner: Box<Iter<'a>>, left: i128, bound: Value<'a>, by: Option<Rc<Count>> },
    /// Waits as long as those before come to no more than this.
    Within { inner: Box<Iter<'a>>, limit: Setting<Duration>, spent: f64 },
    /// `chain`
    Chain { first: Box<Iter<'a>>, second: Box<Iter<'a>> },
    /// `enumerate`
    Enumerate { inner: Box<Iter<'a>>, at: i128 },
    /// `zip`
    Zip { left: Box<Iter<'a>>, right: Box<Iter<'a>> },
    /// Elements of something not known.
    Unknown { source: Value<'a>, at: u32 },
}

impl<'a> Iter<'a> {
    /// As a value.
    pub(crate) fn value(self) -> Value<'a> {
        Value::new(Kind::Iter(Rc::new(RefCell::new(self))))
    }

    /// What bounds the number of elements, where that is not known.
    pub(crate) fn open_bound(&self) -> Option<Value<'a>> {
        match self {
            Self::OpenRange { bound, .. } | Self::OpenTake { bound, .. } => Some(bound.clone()),
            Self::Unknown { source, .. } => Some(source.clone()),
            Self::Waits { policy, .. } => match &policy.attempts {
                Setting::Unknown { why, .. } => Some(Value::unknown(0, Why::Told(Rc::from(why.as_str())))),
                _ => None,
            },
            Self::Map { inner, .. }
            | Self::Enumerate { inner, .. }
            | Self::Take { inner, .. }
            | Self::Optional { inner, .. }
            | Self::Within { inner, .. } => inner.open_bound(),
            Self::Chain { first, second } => first.open_bound().or_else(|| second.open_bound()),
            Self::Zip { left, right } => left.open_bound().or_else(|| right.open_bound()),
            _ => None,
        }
    }

    /// The number of elements that are left, where it can be told without running.
    pub(crate) fn len(&self) -> Option<i128> {
        match self {
            Self::Range { next, end } => Some((end - next).max(0)),
            Self::Items { items, at } => Some((items.len() - at.min(&items.len())) as i128),
            Self::Map { inner, .. } | Self::Enumerate { inner, .. } => inner.len(),
            Self::Take { inner, left, .. } => {
                if inner.is_endless() {
                    Some(*left)
                } else {
                    inner.len().map(|n| n.min(*left))
                }
            }
            Self::Waits { policy, at } => match policy.attempts.value()? {
                Attempts::Unbounded => None,
                known => Some(i128::from(known.count()?.saturating_sub(1).saturating_sub(u64::from(*at)))),
            },
            Self::Optional { inner, over } => Some(inner.len()?.saturating_add(i128::from(!over))),
            Self::Chain { first, second } => Some(first.len()?.saturating_add(second.len()?)),
            Self::Zip { left, right } => match (left.len(), right.len()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.filter(|_| right.is_endless()).or(b.filter(|_| left.is_endless())),
            },
            _ => None,
        }
    }

    /// Whether it never ends.
    pub(crate) fn is_endless(&self) -> bool {
        match self {
            Self::Repeat(_) => true,
            Self::Range { end, .. } => *end >= i128::from(u32::MAX),
            Self::Waits { policy, .. } => matches!(policy.attempts.value(), Some(Attempts::Unbounded)),
            Self::Map { inner, .. } | Self::Enumerate { inner, .. } | Self::Optional { inner, .. } => {
                inner.is_endless()
            }
            Self::Chain { first, second } => first.is_endless() || second.is_endless(),
            Self::Zip { left, right } => left.is_endless() && right.is_endless(),
            _ => false,
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// A value as an iterator.
    pub(crate) fn iterator(&mut self, value: &Value<'a>) -> Iter<'a> {
        match &value.kind {
            Kind::List(items) => Iter::Items { items: Rc::new(items.borrow().clone()), at: 0 },
            Kind::Range(range) => {
                let next = range.start.as_ref().map_or(Some(0), Value::as_int);
                let by = i128::from(range.inclusive);
                match (next, &range.end) {
                    (Some(next), None) => Iter::Range { next, end: i128::MAX },
                    (Some(next), Some(end)) => match end.as_int() {
                        Some(end) => Iter::Range { next, end: end.saturating_add(by) },
                        None => {
                            Iter::OpenRange { next, end: next.saturating_add(UNKNOWN_END + by), bound: end.clone() }
                        }
                    },
                    (None, _) => Iter::Unknown { source: value.clone(), at: 0 },
                }
            }
            Kind::Iter(iter) => iter.borrow().clone(),
            Kind::Variant(v) if &*v.name == "Some" => {
                Iter::Items { items: Rc::new(v.fields.iter().map(|(_, x)| x.clone()).collect()), at: 0 }
            }
            Kind::Variant(v) if &*v.name == "None" => Iter::Items { items: Rc::default(), at: 0 },
            Kind::Native(native) => {
                native.clone().iterate().unwrap_or_else(|| Iter::Unknown { source: value.clone(), at: 0 })
            }
            _ => Iter::Unknown { source: value.clone(), at: 0 },
        }
    }

    /// The next element.
    pub(crate) fn advance(&mut self, iter: &mut Iter<'a>) -> Result<Option<Value<'a>>, super::machine::Exit<'a>> {
        self.step()?;
        Ok(match iter {
            Iter::Range { next, end } | Iter::OpenRange { next, end, .. } => {
                if next >= end {
                    return Ok(None);
                }
                *next += 1;
                Some(Value::int(*next - 1))
            }
            Iter::Items { items, at } => {
                *at += 1;
                items.get(*at - 1).cloned()
            }
            Iter::Repeat(value) => Some(value.clone()),
            Iter::Successors { next, f } => {
                let Some(now) = next.take() else { return Ok(None) };
                let f = f.clone();
                let after = self.call_value(&f, vec![now.clone()], Span::start_of(crate::source::FileId(0)))?;
                *next = match after.variant() {
                    Some(("Some", Some(value))) => Some(value.clone()),
                    Some(_) => None,
                    None => Some(after),
                };
                Some(now)
            }
            Iter::Waits { policy, at } => {
                *at += 1;
                if policy.attempts.value().is_none() && i128::from(*at) > UNKNOWN_END {
                    return Ok(None);
                }
                policy.wait_at(*at - 1).map(crate::rust::crates::drawn)
            }
            Iter::Optional { inner, over } => {
                let next = self.advance(inner)?;
                if next.is_none() && std::mem::replace(over, true) {
                    return Ok(None);
                }
                Some(Value::option(next))
            }
            Iter::Within { inner, limit, spent } => {
                if limit.value().is_some_and(|limit| *spent > limit.as_secs_f64()) {
                    return Ok(None);
                }
                let Some(wait) = self.advance(inner)? else { return Ok(None) };
                *spent += wait.duration().map_or(0.0, |s| s.mean());
                Some(wait)
            }
            Iter::Map { inner, f, span } => {
                let Some(item) = self.advance(inner)? else { return Ok(None) };
                let (f, span) = (f.clone(), *span);
                Some(self.call_value(&f, vec![item], span)?)
            }
            Iter::Take { inner, left, .. } | Iter::OpenTake { inner, left, .. } => {
                if *left <= 0 {
                    return Ok(None);
                }
                *left -= 1;
                self.advance(inner)?
            }
            Iter::Chain { first, second } => match self.advance(first)? {
                Some(item) => Some(item),
                None => self.advance(second)?,
            },
            Iter::Enumerate { inner, at } => {
                let Some(item) = self.advance(inner)? else { return Ok(None) };
                *at += 1;
                Some(Value::tuple(vec![Value::int(*at - 1), item]))
            }
            Iter::Zip { left, right } => match (self.advance(left)?, self.advance(right)?) {
                (Some(a), Some(b)) => Some(Value::tuple(vec![a, b])),
                _ => None,
            },
            Iter::Unknown { source, at } => {
                if *at >= UNKNOWN_LENGTH {
                    return Ok(None);
                }
                *at += 1;
                let id = Value::digest_all("element", [&*source, &Value::int(i128::from(*at))]);
                let ty = source.as_unknown().and_then(|u| u.ty).and_then(|t| self.element_type(t));
                Some(Value::unknown_of(id, Why::Other("is an element of data"), ty).tainted(source.taint))
            }
        })
    }

    /// A method of iterators; `None` if it is none.
    pub(crate) fn iter_method(
        &mut self,
        receiver: &Value<'a>,
        name: &str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let lazily = |iter: Iter<'a>| Some(Ok(iter.value().tainted(receiver.taint)));
        let inner = |m: &mut Self| Box::new(m.iterator(receiver));
        match (name, args) {
            ("iter" | "into_iter" | "iter_mut" | "copied" | "cloned" | "by_ref" | "peekable" | "fuse", []) => {
                if matches!(receiver.kind, Kind::Iter(_)) {
                    return Some(Ok(receiver.clone()));
                }
                lazily(self.iterator(receiver))
            }
            ("map", [f]) => lazily(Iter::Map { inner: inner(self), f: f.clone(), span: at.span }),
            ("take", [n]) => {
                let by = Some(Rc::new(policy::retries(self, n, at.named(), "take")));
                lazily(match n.as_int() {
                    Some(left) => Iter::Take { inner: inner(self), left, by },
                    None => Iter::OpenTake { inner: inner(self), left: UNKNOWN_END, bound: n.clone(), by },
                })
            }
            // tokio-retry2 ends a series by the clock.
            ("max_duration" | "max_interval", [limit]) => {
                let of = if name == "max_duration" { policy::duration } else { policy::millis };
                lazily(Iter::Within { limit: of(limit, at.named()), inner: inner(self), spent: 0.0 })
            }
            ("chain", [other]) => {
                let first = inner(self);
                let second = Box::new(self.iterator(other));
                lazily(Iter::Chain { first, second })
            }
            ("zip", [other]) => {
                let left = inner(self);
                let right = Box::new(self.iterator(other));
                lazily(Iter::Zip { left, right })
            }
            ("enumerate", []) => lazily(Iter::Enumerate { inner: inner(self), at: 0 }),
            ("rev", []) => match self.iterator(receiver) {
                Iter::Range { next, end } if end - next <= 4096 => {
                    let items = (next..end).rev().map(Value::int).collect();
                    lazily(Iter::Items { items: Rc::new(items), at: 0 })
                }
                Iter::Items { items, at } => {
                    let items = items.iter().skip(at).rev().cloned().collect();
                    lazily(Iter::Items { items: Rc::new(items), at: 0 })
                }
                other => lazily(other),
            },
            ("skip", [n]) => {
                let mut iter = self.iterator(receiver);
                for _ in 0..n.as_int().unwrap_or(0).clamp(0, 4096) {
                    match self.advance(&mut iter) {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(exit) => return Some(Err(exit)),
                    }
                }
                lazily(iter)
            }
            ("next" | "pop_front", []) => {
                let Kind::Iter(cell) = &receiver.kind else { return None };
                let mut iter = cell.borrow().clone();
                let next = self.advance(&mut iter);
                if let Some(open) = iter.open_bound() {
                    self.note_open_bound(&open);
                }
                *cell.borrow_mut() = iter;
                Some(next.map(|n| Value::option(n).tainted(receiver.taint)))
            }
            ("collect", []) => {
                let mut iter = self.iterator(receiver);
                if iter.is_endless() || iter.open_bound().is_some() || iter.len().is_none_or(|n| n > 4096) {
                    return lazily(iter);
                }
                let mut items = Vec::new();
                loop {
                    match self.advance(&mut iter) {
                        Ok(Some(item)) => items.push(item),
                        Ok(None) => return Some(Ok(Value::list(items))),
                        Err(exit) => return Some(Err(exit)),
                    }
                }
            }
            ("len" | "count", []) => {
                let len = self.iterator(receiver).len()?;
                Some(Ok(Value::int(len)))
            }
            ("fold", [first, f]) => {
                let mut iter = self.iterator(receiver);
                iter.len().filter(|n| *n <= MOST_FOLDED)?;
                let mut folded = first.clone();
                loop {
                    let item = match self.advance(&mut iter) {
                        Ok(Some(item)) => item,
                        Ok(None) => return Some(Ok(folded)),
                        Err(exit) => return Some(Err(exit)),
                    };
                    match self.call_value(f, vec![folded, item], at.span) {
                        Ok(value) => folded = value,
                        exit => return Some(exit),
                    }
                }
            }
            _ => None,
        }
    }
}
