//! Series of waits as policies: strategies that are iterators, cut off by `take`, spread by `map(jitter)`; and lists.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::policy::{self, Plan, Policy};
use super::{At, Native};
use crate::model::{Attempts, Jitter, Setting, Wait};
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::{Eval, Exit, Machine};
use crate::rust::eval::methods::no_place;
use crate::rust::eval::value::{Kind, Spread, Taint, Value, Why};
use crate::rust::eval::wait::{self, Gap, Slept};
use crate::source::Span;

/// Waits of a series that are looked at.
const SEEN: usize = 32;

/// Changes a plan as a builder's method, or a field that is set, does. Whether there is such a method.
pub(crate) type Tune = fn(&mut Plan, &str, &[Value<'_>], Span) -> bool;

/// A strategy: a builder that yields its waits itself.
#[derive(Debug, Clone)]
pub(crate) struct Strategy {
    plan: RefCell<Plan>,
    /// The number of the next wait.
    at: Cell<u32>,
    tune: Tune,
    /// Whether its methods change it where it stands, as those that take `&mut self` do.
    in_place: bool,
}

impl Strategy {
    /// One whose methods give back another.
    pub(crate) fn value<'a>(plan: Plan, tune: Tune) -> Value<'a> {
        Self::of(plan, tune, false)
    }

    /// One whose methods change it.
    pub(crate) fn changing<'a>(plan: Plan, tune: Tune) -> Value<'a> {
        Self::of(plan, tune, true)
    }

    fn of<'a>(plan: Plan, tune: Tune, in_place: bool) -> Value<'a> {
        let strategy = Self { plan: RefCell::new(plan), at: Cell::new(0), tune, in_place };
        Value::new(Kind::Native(Rc::new(strategy)))
    }

    fn next<'a>(&self) -> Value<'a> {
        let at = self.at.replace(self.at.get().saturating_add(1));
        Value::option(self.plan.borrow().policy().wait_at(at).map(drawn))
    }
}

/// A policy's wait as a value.
pub(crate) fn drawn<'a>(wait: Result<Spread, String>) -> Value<'a> {
    let wait = match wait {
        Ok(wait) => wait,
        Err(why) => {
            let id = Value::digest_all("wait", [&Value::text(&*why)]);
            return Value::unknown(id, Why::Told(Rc::from(why)));
        }
    };
    let taint = if wait.is_exact() { Taint::NONE } else { Taint::RANDOM.with(Taint::FRESH) };
    Value::new(Kind::Duration(wait)).tainted(taint)
}

impl<'a> Native<'a> for Strategy {
    fn identity(&self) -> u64 {
        u64::from(self.plan.borrow().made.start)
    }

    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        match (name, args) {
            ("next" | "next_backoff", []) => return Some(Ok(self.next())),
            ("reset", []) => self.at.set(0),
            ("build", []) => return Some(Ok(Value::new(Kind::Native(Rc::new((*self).clone()))))),
            _ if self.in_place => {
                if !(self.tune)(&mut self.plan.borrow_mut(), name, args, at.named()) {
                    return None;
                }
            }
            _ => {
                let new = (*self).clone();
                if !(new.tune)(&mut new.plan.borrow_mut(), name, args, at.named()) {
                    return None;
                }
                return Some(Ok(Value::new(Kind::Native(Rc::new(new)))));
            }
        }
        Some(Ok(Value::new(Kind::Native(self))))
    }

    fn set(&self, field: &str, value: &Value<'a>, place: Span) {
        (self.tune)(&mut self.plan.borrow_mut(), field, std::slice::from_ref(value), place);
    }

    fn copied(&self) -> Option<Rc<dyn Native<'a> + 'a>> {
        Some(Rc::new(self.clone()))
    }

    fn iterate(self: Rc<Self>) -> Option<Iter<'a>> {
        let policy = self.plan.borrow().policy();
        Some(Iter::Waits { policy: Rc::new(policy), at: self.at.get() })
    }

    fn policy(&self) -> Option<Rc<Policy>> {
        Some(Rc::new(self.plan.borrow().policy()))
    }

    fn plan(&self) -> Option<Plan> {
        Some(self.plan.borrow().clone())
    }
}

/// A function that makes a wait random, like the one that `jitter_with_bounds(0.5, 1.5)` gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spreading {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl<'a> Native<'a> for Spreading {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, _: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        None
    }

    fn called(&self, args: &[Value<'a>]) -> Option<Value<'a>> {
        spread(args.first()?, self.low, self.high)
    }
}

/// A wait times a random factor between these.
pub(crate) fn spread<'a>(wait: &Value<'a>, low: f64, high: f64) -> Option<Value<'a>> {
    let seconds = wait.duration()?;
    let mid = if low < 1.0 && 1.0 < high { seconds.mid } else { seconds.mid * high };
    let kind = Kind::Duration(Spread { lo: seconds.lo * low, mid, hi: seconds.hi * high });
    let random = Taint::RANDOM.with(Taint::FRESH);
    Some(Value { kind, taint: wait.taint.with(random), origin: wait.origin })
}

/// The policy of a retry that waits what `waits` yields, and ends with it.
pub(crate) fn policy<'a>(
    machine: &mut Machine<'a, '_>,
    waits: &Value<'a>,
    crate_name: &'static str,
    at: At,
) -> Result<Policy, Exit<'a>> {
    let iter = machine.iterator(waits);
    if matches!(iter, Iter::Unknown { .. }) {
        return Ok(Policy::unknown(waits, at.span, crate_name));
    }
    let gaps = sample(machine, iter.clone(), at.span)?;
    let fit = wait::fit(&gaps);
    let strategy = strategy(&iter);
    let (wait, jitter, made, name) = match strategy {
        Some(policy) => {
            let jitter = if fit.jitter.value() == Some(&Jitter::None) { policy.jitter.clone() } else { fit.jitter };
            let wait = if follows(&policy.wait, &gaps) { policy.wait.clone() } else { fit.wait };
            // A constant like `NoDelay` stands nowhere: then the call is its place.
            let made = if policy.made == no_place() { at.span } else { policy.made };
            (wait, jitter, made, policy.name)
        }
        None => (fit.wait, fit.jitter, at.span, crate_name),
    };
    let end = end(&iter);
    let (attempts, told) = match &end {
        End::Never => (Setting::written(Attempts::Unbounded, at.named()), "without a limit".to_owned()),
        End::Counted(count) => (count.attempts(), count.told()),
        End::Policy(attempts) => (attempts.clone(), "as long as it yields waits".to_owned()),
        End::Length(n) => {
            let attempts = u64::try_from(n.saturating_add(1)).unwrap_or(1);
            (Setting::written(Attempts::Count(attempts), at.named()), format!("{n} waits"))
        }
        // It is asked before each wait whether the time is over: the last one may outlast it.
        End::Time(limit) => {
            let attempts = policy::within(limit, &wait, &jitter).map(|a| match a {
                Attempts::Within { deadline, about } => Attempts::Within { deadline, about: about + 1 },
                other => other,
            });
            (attempts, "bounded by time".to_owned())
        }
        End::Unknown => (Setting::unknown("is the length of a series that is not known", Some(at.span)), String::new()),
    };
    let count = if let End::Counted(count) = end { Some(count) } else { None };
    Ok(Policy {
        attempts,
        wait,
        jitter,
        made,
        name,
        reading: if told.is_empty() { name.to_owned() } else { format!("{name}, {told}") },
        labels: count.as_ref().map(|c| c.labels.clone()).unwrap_or_default(),
        via: count.and_then(|c| c.via),
    })
}

/// What ends a series.
enum End {
    Never,
    Counted(Rc<policy::Count>),
    Policy(Setting<Attempts>),
    Length(i128),
    Time(Setting<std::time::Duration>),
    Unknown,
}

fn end(iter: &Iter<'_>) -> End {
    match iter {
        Iter::Take { inner, left, by } => match (end(inner), by) {
            (End::Length(n), _) if n <= *left => End::Length(n),
            (_, Some(count)) => End::Counted(count.clone()),
            (_, None) => End::Length(*left),
        },
        Iter::OpenTake { by: Some(count), .. } => End::Counted(count.clone()),
        Iter::Map { inner, .. } | Iter::Optional { inner, .. } => end(inner),
        Iter::Within { inner, limit, .. } => match end(inner) {
            End::Never => End::Time(limit.clone()),
            other => other,
        },
        Iter::Waits { policy, .. } if !iter.is_endless() => End::Policy(policy.attempts.clone()),
        _ if iter.is_endless() => End::Never,
        _ => iter.len().map_or(End::Unknown, End::Length),
    }
}

/// The strategy at the bottom of a series.
fn strategy<'i>(iter: &'i Iter<'_>) -> Option<&'i Policy> {
    match iter {
        Iter::Waits { policy, at: 0 } => Some(policy),
        Iter::Take { inner, .. }
        | Iter::OpenTake { inner, .. }
        | Iter::Map { inner, .. }
        | Iter::Within { inner, .. }
        | Iter::Optional { inner, .. } => strategy(inner),
        _ => None,
    }
}

/// Whether what is slept is what a law says: then no closure has changed more than its randomness.
fn follows(wait: &Wait, gaps: &[Gap<'_>]) -> bool {
    if wait.nominal(0).is_none() {
        return true;
    }
    gaps.iter().flatten().enumerate().all(|(n, slept)| {
        let planned = u32::try_from(n).ok().and_then(|n| wait.nominal(n)).map_or(0.0, |d| d.as_secs_f64());
        slept.wait.as_ref().is_ok_and(|s| (s.mid - planned).abs() <= 1e-6 * planned.max(1.0))
    })
}

/// The first waits.
fn sample<'a>(machine: &mut Machine<'a, '_>, mut iter: Iter<'a>, span: Span) -> Result<Vec<Gap<'a>>, Exit<'a>> {
    let mut gaps = Vec::new();
    while gaps.len() < SEEN {
        let Some(item) = machine.advance(&mut iter)? else { break };
        let wait = item
            .duration()
            .ok_or_else(|| item.as_unknown().map_or_else(|| "is computed".to_owned(), |u| u.why.to_string()));
        gaps.push(vec![Slept { wait, taint: item.taint, span, written: item.origin.map(|o| (o.span, o.from)) }]);
    }
    Ok(gaps)
}
