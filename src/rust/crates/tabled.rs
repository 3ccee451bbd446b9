//! Policies of which a table says what each name sets, and what holds where nothing is set.

use std::rc::Rc;
use std::time::Duration;

use super::policy::{self, Count, Law, Plan};
use super::{At, Native, Policy};
use crate::model::{Attempts, Jitter, Setting, Wait};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::rust::ir::Name;
use crate::source::Span;

/// What a method or field sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sets {
    /// Tries after the first.
    Retries,
    /// Tries in all.
    Attempts,
    /// The first wait.
    Base,
    /// Half of the first wait.
    HalfBase,
    /// The longest wait.
    Cap,
    /// What the wait is multiplied by.
    Factor,
    /// That waits are random, without an argument.
    Jitter,
    /// Limit on all tries together.
    Total,
    /// What another policy says of the waits.
    Waits,
    /// Which failures are repeated: a test of the code's own, not looked into.
    Filter,
}

/// A policy as a crate has it where nothing is set.
#[derive(Debug)]
pub(crate) struct Figures {
    /// "AWS SDK `RetryConfig`"
    pub(crate) name: &'static str,
    /// Tries in all.
    pub(crate) attempts: Attempts,
    /// How waits grow.
    pub(crate) law: Law,
    /// The first wait.
    pub(crate) base: Duration,
    /// The factor.
    pub(crate) factor: f64,
    /// The longest wait.
    pub(crate) cap: Option<Duration>,
    /// Jitter.
    pub(crate) jitter: Jitter,
    /// Whether it leaves no failure out, whatever its client does otherwise.
    pub(crate) everything: bool,
    /// Limit on all tries together, checked before each wait.
    pub(crate) total: Option<Duration>,
    /// What its names set.
    pub(crate) setters: &'static [(&'static str, Sets)],
    /// Where all of this is documented.
    pub(crate) source: &'static str,
}

/// A policy while and after it is built.
#[derive(Debug, Clone)]
pub(crate) struct Tabled {
    figures: &'static Figures,
    plan: Plan,
    /// Whether the count is a field's: `max_retries: 3`.
    is_field: bool,
    filtered: bool,
}

impl Tabled {
    /// A policy with nothing set.
    pub(crate) fn new(figures: &'static Figures, made: Span) -> Self {
        let source = figures.source;
        let plan = Plan {
            made,
            name: figures.name,
            law: figures.law,
            base: Setting::default(figures.base, source),
            factor: Setting::default(figures.factor, source),
            cap: Setting::default(figures.cap, source),
            jitter: Setting::default(figures.jitter, source),
            count: None,
            total: figures.total.map(|total| Setting::default(total, source)),
            otherwise: (Setting::default(figures.attempts, source), "by default"),
        };
        Self { figures, plan, is_field: false, filtered: false }
    }

    /// The same with attempts that its constructor states.
    pub(crate) fn with_attempts(mut self, attempts: Setting<Attempts>) -> Self {
        self.plan.count = None;
        self.plan.otherwise = (attempts, "as it is made");
        self
    }

    /// The same with the count that a constructor takes; `what` is among its setters.
    pub(crate) fn counting<'a>(
        mut self,
        machine: &Machine<'a, '_>,
        what: &str,
        count: &Value<'a>,
        place: Span,
    ) -> Self {
        self.tell(machine, what, std::slice::from_ref(count), place, false);
        self
    }

    /// A value of it.
    pub(crate) fn value<'a>(self) -> Value<'a> {
        Value::new(Kind::Native(Rc::new(self)))
    }

    /// The policy that a value is.
    pub(crate) fn of(value: &Value<'_>) -> Option<Rc<Policy>> {
        match &value.kind {
            Kind::Native(native) => native.policy(),
            _ => match value.variant() {
                Some((_, Some(inner))) => Self::of(inner),
                _ => None,
            },
        }
    }

    /// Sets what the field or the method `name` sets. Whether it sets anything.
    fn tell<'a>(
        &mut self,
        machine: &Machine<'a, '_>,
        name: &str,
        args: &[Value<'a>],
        place: Span,
        is_field: bool,
    ) -> bool {
        let Some((name, sets)) = self.figures.setters.iter().find(|(n, _)| *n == name) else { return false };
        let plan = &mut self.plan;
        let value = args.first().map(inner_of);
        match (sets, &value) {
            (Sets::Retries, Some(n)) => {
                plan.count = Some(policy::retries(machine, n, place, name));
                self.is_field = is_field;
            }
            (Sets::Attempts, Some(n)) => {
                plan.count = Some(policy::tries(machine, n, place, name));
                self.is_field = is_field;
            }
            (Sets::Base, Some(d)) => plan.base = policy::duration(d, place),
            (Sets::HalfBase, Some(d)) => plan.base = policy::duration(d, place).map(|d| d.saturating_mul(2)),
            (Sets::Cap, Some(d)) => plan.cap = policy::duration(d, place).map(Some),
            (Sets::Factor, Some(f)) => plan.factor = policy::number(f, place),
            (Sets::Jitter, Some(Value { kind: Kind::Bool(false), .. })) => {
                plan.jitter = Setting::written(Jitter::None, place);
            }
            (Sets::Jitter, _) => plan.jitter = Setting::written(Jitter::Full, place),
            (Sets::Total, Some(d)) => plan.total = Some(policy::duration(d, place)),
            (Sets::Waits, Some(other)) => {
                if let Some(other) = Self::of(other) {
                    self.take_waits(&other);
                }
            }
            (Sets::Filter, _) => self.filtered = true,
            (_, None) => {}
        }
        true
    }

    fn take_waits(&mut self, other: &Policy) {
        let plan = &mut self.plan;
        match &other.wait {
            Wait::Exponential { base, factor, cap } => {
                plan.law = Law::Exponential;
                (plan.base, plan.factor, plan.cap) = (base.clone(), factor.clone(), cap.clone());
            }
            Wait::Fixed(d) => {
                plan.law = Law::Fixed;
                plan.base = d.clone();
            }
            _ => {}
        }
    }

    /// A struct literal of it: fields set what their names say.
    pub(crate) fn literal<'a>(
        mut self,
        machine: &Machine<'a, '_>,
        fields: &[(Name, Value<'a>)],
        rest: Option<&Value<'a>>,
        place: Span,
    ) -> Self {
        if let Some(Kind::Native(native)) = rest.map(|r| &r.kind)
            && let Some(base) = native.policy()
        {
            self.take_waits(&base);
            if !base.attempts.is_default() {
                self = self.with_attempts(base.attempts.clone());
            }
        }
        for (name, value) in fields {
            // The field's own place is not kept: its value's is.
            let place = value.origin.map_or(place, |o| o.span);
            self.tell(machine, name, std::slice::from_ref(value), place, true);
        }
        self
    }

    fn attempts(&self) -> Setting<Attempts> {
        let counted = self.plan.attempts();
        let count = |a: &Setting<Attempts>| a.value().copied().and_then(Attempts::count);
        // Nobody's count within nobody's time: the count is the most that it can be.
        let own = matches!(&self.plan.total, Some(total) if self.plan.count.is_some() || !total.is_default());
        let Some(total) = self.plan.total.as_ref().filter(|_| own) else { return counted };
        let timed = policy::within(total, &self.plan.wait(), &self.plan.jitter);
        match (count(&timed), count(&counted)) {
            (Some(by_time), Some(by_count)) if by_time >= by_count => counted,
            (None, _) => counted,
            _ => timed,
        }
    }

    fn reading(&self, policy: &Policy) -> String {
        let name = self.figures.name;
        match &self.plan.count {
            Some(Count { number: Ok(n), call, .. }) if self.is_field => format!("{name}, `{call}: {n}`"),
            Some(_) => policy.reading.clone(),
            None if matches!(policy.attempts.value(), Some(Attempts::Within { .. })) => policy.reading.clone(),
            None => format!("{name}, {}", self.plan.otherwise.1),
        }
    }

    /// The policy that it comes to.
    pub(crate) fn finish(&self) -> Policy {
        let policy = Policy { attempts: self.attempts(), ..self.plan.policy() };
        Policy { reading: self.reading(&policy), ..policy }
    }
}

/// `Some(x)` sets what `x` sets.
fn inner_of<'a>(value: &Value<'a>) -> Value<'a> {
    match value.variant() {
        Some(("Some", Some(inner))) => inner.clone(),
        _ => value.clone(),
    }
}

impl<'a> Native<'a> for Tabled {
    fn identity(&self) -> u64 {
        u64::from(self.plan.made.start)
    }

    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let mut new = (*self).clone();
        new.tell(machine, name, args, at.named(), false).then(|| Ok(new.value()))
    }

    fn with_field(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &str,
        value: &Value<'a>,
        place: Span,
    ) -> Option<Value<'a>> {
        let mut new = (*self).clone();
        let place = value.origin.map_or(place, |o| o.span);
        new.tell(machine, name, std::slice::from_ref(value), place, true).then(|| new.value())
    }

    fn policy(&self) -> Option<Rc<Policy>> {
        Some(Rc::new(self.finish()))
    }

    fn retries_everything(&self) -> bool {
        self.figures.everything && !self.filtered
    }
}
