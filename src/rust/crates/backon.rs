//! backon: `call.retry(builder).when(..).await`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::policy::{self, Count};
use super::{At, Described, Native, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, LayerKind, Setting, Wait};
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{Kind, Spread, Value};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "backon 1.6.0 src/backoff/exponential.rs";

static META: SystemMeta = SystemMeta {
    id: "backon",
    name: "backon",
    reads: "Rust: `.retry(..)` on closures and functions, async and blocking, with its builders",
    marks: &["backon"],
    defaults: &[
        DefaultFigure { what: "with_max_times not called", value: "4 attempts (3 retries)", source: SOURCE },
        DefaultFigure { what: "ExponentialBuilder", value: "1 s, doubling, up to 60 s", source: SOURCE },
        DefaultFigure {
            what: "ConstantBuilder",
            value: "1 s each time",
            source: "backon 1.6.0 src/backoff/constant.rs",
        },
        DefaultFigure {
            what: "FibonacciBuilder",
            value: "1 s, 1 s, 2 s, 3 s, up to 60 s",
            source: "backon 1.6.0 src/backoff/fibonacci.rs",
        },
        DefaultFigure { what: "with_jitter not called", value: "no jitter", source: SOURCE },
        DefaultFigure { what: "when not called", value: "every error", source: "backon 1.6.0 src/retry.rs" },
    ],
};

/// The crate.
pub(crate) struct Backon;

impl RetryCrate for Backon {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, _: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ([.., ty, "default" | "new"], []) = (path, args) else { return None };
        // A glob brings the names in without the crate's.
        if path.len() > 2 && path.first() != Some(&"backon") {
            return None;
        }
        let law = match *ty {
            "ExponentialBuilder" => Law::Exponential,
            "ConstantBuilder" => Law::Constant,
            "FibonacciBuilder" => Law::Fibonacci,
            _ => return None,
        };
        let builder = Builder {
            law,
            made: at.span,
            times: None,
            endless: None,
            min: None,
            max: None,
            uncapped: false,
            factor: None,
            total: None,
            jitter: None,
        };
        Some(Ok(Value::new(Kind::Native(Rc::new(builder)))))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    Exponential,
    Constant,
    Fibonacci,
}

impl Law {
    fn name(self) -> &'static str {
        match self {
            Self::Exponential => "ExponentialBuilder",
            Self::Constant => "ConstantBuilder",
            Self::Fibonacci => "FibonacciBuilder",
        }
    }
}

/// A builder of waits.
#[derive(Debug, Clone)]
struct Builder {
    law: Law,
    made: Span,
    times: Option<Count>,
    /// `without_max_times()`
    endless: Option<Span>,
    min: Option<Setting<Duration>>,
    max: Option<Setting<Duration>>,
    uncapped: bool,
    factor: Option<Setting<f64>>,
    total: Option<(f64, Span)>,
    jitter: Option<Span>,
}

impl Builder {
    fn attempts(&self) -> Setting<Attempts> {
        match (&self.times, self.endless, self.total) {
            (_, Some(place), None) => Setting::written(Attempts::Unbounded, place),
            (_, Some(_), Some((limit, place))) => {
                let mean = if self.jitter.is_some() { 1.5 } else { 1.0 };
                policy::within(limit, &self.wait(), mean, place)
            }
            (Some(count), None, _) => policy::after_first(count),
            (None, None, _) => Setting::default(Attempts::Count(4), SOURCE),
        }
    }

    fn wait(&self) -> Wait {
        let second = || Setting::default(Duration::from_secs(1), SOURCE);
        let base = self.min.clone().unwrap_or_else(second);
        match self.law {
            Law::Constant => Wait::Fixed(base),
            Law::Exponential => Wait::Exponential {
                base,
                factor: self.factor.clone().unwrap_or_else(|| Setting::default(2.0, SOURCE)),
                cap: self.cap(),
            },
            Law::Fibonacci => {
                let cap = self.cap().value().copied().flatten();
                let base = base.value().copied().unwrap_or(Duration::from_secs(1));
                let (mut now, mut next) = (base, base);
                let mut waits = Vec::new();
                for _ in 0..40 {
                    waits.push(cap.map_or(now, |cap| now.min(cap)));
                    (now, next) = (next, now.saturating_add(next));
                }
                Wait::Scheduled { waits, capped: cap.is_some() }
            }
        }
    }

    fn cap(&self) -> Setting<Option<Duration>> {
        match &self.max {
            _ if self.uncapped => Setting::written(None, self.made),
            Some(max) => max.clone().map(Some),
            None => Setting::default(Some(Duration::from_secs(60)), SOURCE),
        }
    }

    fn jitter(&self) -> Setting<Jitter> {
        match self.jitter {
            Some(span) => Setting::written(Jitter::Partial { low: 1.0, high: 2.0 }, span),
            None => Setting::default(Jitter::None, SOURCE),
        }
    }

    fn reading(&self) -> String {
        let name = self.law.name();
        match (&self.times, self.endless) {
            (_, Some(_)) => format!("backon `{name}`, `without_max_times()`"),
            (Some(Count { number: Ok(n), .. }), None) => format!("backon `{name}`, `with_max_times({n})`"),
            (Some(_), None) => format!("backon `{name}`, `with_max_times(..)`"),
            (None, None) => format!("backon `{name}`, 3 retries by default"),
        }
    }
}

impl<'a> Native<'a> for Builder {
    fn identity(&self) -> u64 {
        u64::from(self.made.start)
    }

    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let place = at.named();
        let mut new = (*self).clone();
        let first = args.first();
        match name {
            "with_max_times" => {
                new.times = first.map(|n| policy::count(machine, n, place, "with_max_times"));
                new.endless = None;
            }
            "without_max_times" => new.endless = Some(place),
            "with_min_delay" | "with_delay" => new.min = first.map(|d| policy::duration(d, place)),
            "with_max_delay" => {
                new.max = first.map(|d| policy::duration(d, place));
                new.uncapped = false;
            }
            "without_max_delay" => new.uncapped = true,
            "with_factor" => {
                new.factor = first.map(|f| match f.number() {
                    Some(f) => Setting::written(f.mid, place),
                    None => Setting::unknown("is computed", Some(place)),
                });
            }
            "with_total_delay" => {
                new.total = first.and_then(|d| match d.variant() {
                    Some(("Some", Some(d))) => d.duration().map(|s| (s.mid, place)),
                    Some(_) => None,
                    None => d.duration().map(|s| (s.mid, place)),
                });
            }
            "with_jitter" => new.jitter = Some(place),
            "build" => return self.iterate().map(|waits| Ok(waits.value())),
            _ => {}
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(new)))))
    }

    fn iterate(self: Rc<Self>) -> Option<Iter<'a>> {
        let wait = self.wait();
        let high = if self.jitter.is_some() { 2.0 } else { 1.0 };
        let most = match self.attempts().value() {
            Some(attempts) => attempts.count().map(|n| n - 1),
            None => Some(8),
        };
        let waits = move |n: u32| {
            if most.is_some_and(|most| u64::from(n) >= most) {
                return None;
            }
            let seconds = wait.nominal(n).map_or(1.0, |d| d.as_secs_f64());
            Some(Spread { lo: seconds, mid: seconds, hi: seconds * high })
        };
        Some(Iter::Waits { waits: crate::rust::eval::iter::Law(Rc::new(waits)), at: 0 })
    }

    fn retry(self: Rc<Self>, call: &Value<'a>, at: At) -> Option<Value<'a>> {
        let retry =
            Retry { call: call.clone(), builder: self, opens: at.named(), when: None, adjust: None, notify: None };
        Some(Value::new(Kind::Native(Rc::new(retry))))
    }
}

/// `call.retry(builder)` before it is awaited.
#[derive(Debug, Clone)]
struct Retry<'a> {
    call: Value<'a>,
    builder: Rc<Builder>,
    opens: Span,
    when: Option<(Value<'a>, Span)>,
    adjust: Option<Value<'a>>,
    notify: Option<Value<'a>>,
}

impl<'a> Native<'a> for Retry<'a> {
    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let mut new = (*self).clone();
        match (name, args) {
            ("when", [f]) => new.when = Some((f.clone(), at.named())),
            ("adjust", [f]) => new.adjust = Some(f.clone()),
            ("notify", [f]) => new.notify = Some(f.clone()),
            ("call", []) => return Some(self.run(machine)),
            _ => {}
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(new)))))
    }

    fn awaited(self: Rc<Self>, machine: &mut Machine<'a, '_>, _: Span) -> Option<Eval<'a>> {
        Some(self.run(machine))
    }
}

impl<'a> Retry<'a> {
    fn run(&self, machine: &mut Machine<'a, '_>) -> Eval<'a> {
        let described = Arc::new(self.describe(machine));
        let call = self.call.clone();
        let span = self.opens;
        machine.repeat(
            described,
            &mut |m| {
                let value = m.call_value(&call, Vec::new(), span)?;
                let value = m.await_value(value, span)?;
                m.settle(value, span)
            },
            &mut |m, result| self.again(m, result),
        )
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        let error = match result.variant() {
            Some(("Err", Some(error))) => error.clone().tainted(result.taint),
            _ => return Ok(false),
        };
        if let Some((when, span)) = &self.when {
            machine.pick = None;
            let answer = machine.call_value(when, vec![error.clone()], *span)?;
            if machine.discovering() {
                return Ok(false);
            }
            let holds = machine.decide(&answer, *span, Hint::plain())?;
            if !holds {
                return Ok(false);
            }
            let taint = answer.taint.with(error.taint);
            if machine.pick.is_none_or(|p| p.weak) {
                machine.picked(true, taint, *span);
            }
        } else {
            machine.pick = None;
        }
        if let Some(adjust) = &self.adjust {
            let planned =
                Value::wrap("Some", Value::unknown(5, crate::rust::eval::value::Why::Other("is the planned wait")));
            let wait = machine.call_value(adjust, vec![error, planned], self.opens)?;
            if let Some(("Some", Some(wait))) = wait.variant() {
                machine.next_wait = Some(wait.clone());
            } else if wait.as_unknown().is_some() {
                machine.next_wait = Some(wait);
            }
        }
        Ok(true)
    }

    fn describe(&self, machine: &Machine<'a, '_>) -> Described {
        let builder = &self.builder;
        let attempts = builder.attempts();
        let mut labels = builder.times.as_ref().map(|c| c.labels.clone()).unwrap_or_default();
        // A policy made elsewhere and shared: the call is the layer, the policy's count a label.
        let here = machine.shared.index.function(machine.context().function).function.span;
        let place = match attempts.span() {
            Some(span) if here.contains(span) || builder.times.as_ref().is_some_and(|c| !c.labels.is_empty()) => span,
            Some(span) => {
                labels.push((span, builder.reading()));
                self.opens
            }
            None => self.opens,
        };
        Described {
            system: "backon",
            kind: LayerKind::Code,
            opens: self.opens,
            place,
            attempts,
            wait: builder.wait(),
            wait_place: Some(builder.made),
            jitter: builder.jitter(),
            name: "backon call",
            reading: builder.reading(),
            labels,
            via: builder.times.as_ref().and_then(|c| c.via),
            advice: Advice {
                fewer: Some("give `.with_max_times(..)` a smaller number, or drop the `.retry(..)`".to_owned()),
                limit: Some("add `.with_max_times(3)`".to_owned()),
                wait: Some("add `.with_min_delay(..)`".to_owned()),
                grow: Some("use `ExponentialBuilder` instead of `ConstantBuilder`".to_owned()),
                cap: Some("add `.with_max_delay(..)`".to_owned()),
                jitter: Some("add `.with_jitter()`".to_owned()),
                statuses: Some("add `.when(..)` with a test that leaves such failures out".to_owned()),
                retry_after: Some("return the server's wait from `.adjust(|error, planned| ..)`".to_owned()),
            },
            picks: "backon without `.when(..)`",
            undiscriminating: self.when.is_none(),
        }
    }
}
