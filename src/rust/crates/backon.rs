//! backon: `call.retry(builder).when(..).await`.

use std::rc::Rc;
use std::time::Duration;

use super::policy::{self, Law, Plan};
use super::retried::{About, Reads, Retried};
use super::{At, Native, RetryCrate};
use crate::model::{Attempts, Jitter, LayerKind, Setting};
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::{Eval, Exit, Machine};
use crate::rust::eval::value::{Kind, Value, Why};
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

static ABOUT: About = About {
    system: "backon",
    kind: LayerKind::Code,
    name: "backon call",
    picks: "backon without `.when(..)`",
    none: "drop the `.retry(..)`",
    fewer: "give `.with_max_times(..)` a smaller number",
    limit: "add `.with_max_times(3)`",
    wait: "add `.with_min_delay(..)`",
    grow: "use `ExponentialBuilder` instead of `ConstantBuilder`",
    cap: "add `.with_max_delay(..)`",
    jitter: "add `.with_jitter()`",
    statuses: "add `.when(..)` with a test that leaves such failures out",
    retry_after: "return the server's wait from `.adjust(|error, planned| ..)`",
};

/// The crate.
pub(crate) struct Backon;

impl RetryCrate for Backon {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, _: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let (["backon", .., ty, "default" | "new"], []) = (path, args) else { return None };
        let (law, name) = match *ty {
            "ExponentialBuilder" => (Law::Exponential, "backon `ExponentialBuilder`"),
            "ConstantBuilder" => (Law::Fixed, "backon `ConstantBuilder`"),
            "FibonacciBuilder" => (Law::Fibonacci, "backon `FibonacciBuilder`"),
            _ => return None,
        };
        let plan = Plan {
            law,
            cap: Setting::default(Some(Duration::from_secs(60)), SOURCE),
            otherwise: (Setting::default(Attempts::Count(4), SOURCE), "3 retries by default"),
            ..Plan::doubling(at.span, name, Duration::from_secs(1), SOURCE)
        };
        Some(Ok(Value::new(Kind::Native(Rc::new(Builder(plan))))))
    }
}

/// A builder of waits.
#[derive(Debug, Clone)]
struct Builder(Plan);

impl<'a> Native<'a> for Builder {
    fn identity(&self) -> u64 {
        u64::from(self.0.made.start)
    }

    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let place = at.named();
        let mut plan = self.0.clone();
        match (name, args) {
            ("with_max_times", [n]) => plan.count = Some(policy::retries(machine, n, place, name)),
            ("without_max_times", []) => {
                plan.count = None;
                plan.otherwise = (Setting::written(Attempts::Unbounded, place), "`without_max_times()`");
            }
            ("with_min_delay" | "with_delay", [d]) => plan.base = policy::duration(d, place),
            ("with_max_delay", [d]) => plan.cap = policy::duration(d, place).map(Some),
            ("without_max_delay", []) => plan.cap = Setting::written(None, plan.made),
            ("with_factor", [f]) => plan.factor = policy::number(f, place),
            ("with_total_delay", [d]) => plan.total = limit(d, place),
            ("with_jitter", []) => {
                plan.jitter = Setting::written(Jitter::Partial { low: 1.0, high: 2.0 }, place);
            }
            ("build", []) => return self.iterate().map(|waits| Ok(waits.value())),
            _ => {}
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(Self(plan))))))
    }

    fn iterate(self: Rc<Self>) -> Option<Iter<'a>> {
        Some(Rc::new(self.0.policy()).waits())
    }

    fn retry(self: Rc<Self>, call: &Value<'a>, at: At) -> Option<Value<'a>> {
        let retried = Retried {
            about: &ABOUT,
            call: call.clone(),
            policy: Rc::new(self.0.policy()),
            opens: at.named(),
            when: None,
            reads: Reads::Every,
            numbered: false,
        };
        Some(Value::new(Kind::Native(Rc::new(Retry { retried, adjust: None }))))
    }
}

/// `Some(limit)`; `None` is no limit.
fn limit(value: &Value<'_>, place: Span) -> Option<Setting<Duration>> {
    match policy::optional_duration(value, place) {
        Setting::Written { value: None, .. } | Setting::Default { value: None, .. } => None,
        limit => Some(limit.map(Option::unwrap_or_default)),
    }
}

/// `call.retry(builder)` before it is awaited.
#[derive(Debug, Clone)]
struct Retry<'a> {
    retried: Retried<'a>,
    adjust: Option<Value<'a>>,
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
            ("when", [f]) => new.retried.when = Some((f.clone(), at.named())),
            ("adjust", [f]) => new.adjust = Some(f.clone()),
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
        self.retried.run_with(machine, &mut |m, error| self.adjusted(m, error))
    }

    /// The wait that the caller's own closure makes of the planned one.
    fn adjusted(&self, machine: &mut Machine<'a, '_>, error: &Value<'a>) -> Result<bool, Exit<'a>> {
        let Some(adjust) = &self.adjust else { return Ok(true) };
        let planned = Value::wrap("Some", Value::unknown(5, Why::Other("is the planned wait")));
        let wait = machine.call_value(adjust, vec![error.clone(), planned], self.retried.opens)?;
        if let Some(("Some", Some(wait))) = wait.variant() {
            machine.next_wait = Some(wait.clone());
        } else if wait.as_unknown().is_some() {
            machine.next_wait = Some(wait);
        }
        Ok(true)
    }
}
