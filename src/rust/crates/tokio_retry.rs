//! tokio-retry and tokio-retry2: `Retry::spawn(strategy, action)`, where a strategy is any series of waits.

use std::rc::Rc;
use std::time::Duration;

use super::delays::{self, Spreading, Strategy};
use super::policy::{self, Law, Plan};
use super::retried::{About, PERMANENT, Reads, Retried, transient};
use super::{At, RetryCrate};
use crate::model::{LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "tokio-retry 0.3.2 src/strategy.rs";
const LOOP: &str = "tokio-retry 0.3.2 src/lib.rs";
const SOURCE2: &str = "tokio-retry2 0.9.1 src/strategy";
const LOOP2: &str = "tokio-retry2 0.9.1 src/future.rs";

const TAKE: &str = "a strategy without take";
const EXPONENTIAL: &str = "ExponentialBackoff::from_millis(b)";
const CAP: &str = "max_delay not called";
const JITTER: &str = "no map(jitter)";

static META: SystemMeta = SystemMeta {
    id: "tokio-retry",
    name: "tokio-retry",
    reads: "Rust: `Retry::spawn` and `RetryIf::spawn` with strategies and lists of waits",
    marks: &["tokio_retry"],
    defaults: &[
        DefaultFigure { what: TAKE, value: "no limit", source: LOOP },
        DefaultFigure { what: EXPONENTIAL, value: "b, b², b³ ... milliseconds", source: SOURCE },
        DefaultFigure { what: CAP, value: "no upper bound", source: SOURCE },
        DefaultFigure { what: JITTER, value: "no jitter", source: SOURCE },
        DefaultFigure { what: "Retry instead of RetryIf", value: "every error", source: LOOP },
    ],
};

static META2: SystemMeta = SystemMeta {
    id: "tokio-retry2",
    name: "tokio-retry2",
    reads: "Rust: `Retry::spawn` and `RetryIf::spawn` with strategies, `RetryError` and `MapErr`",
    marks: &["tokio_retry2"],
    defaults: &[
        DefaultFigure { what: TAKE, value: "no limit", source: LOOP2 },
        DefaultFigure { what: EXPONENTIAL, value: "b, b², b³ ... milliseconds", source: SOURCE2 },
        DefaultFigure { what: "ExponentialFactorBackoff::from_factor(f)", value: "from 500 ms on", source: SOURCE2 },
        DefaultFigure { what: CAP, value: "no upper bound", source: SOURCE2 },
        DefaultFigure { what: JITTER, value: "no jitter", source: SOURCE2 },
        DefaultFigure {
            what: "an error through `?`",
            value: "transient: it is retried",
            source: "tokio-retry2 0.9.1 src/error.rs",
        },
    ],
};

const TEXTS: About = About {
    system: "tokio-retry",
    kind: LayerKind::Code,
    name: "tokio-retry call",
    picks: "`Retry` without a condition",
    none: "call without `Retry`",
    fewer: "give `.take(..)` a smaller number",
    limit: "end the strategy with `.take(3)`",
    wait: "give the strategy a first wait",
    grow: "use `ExponentialBackoff` instead of `FixedInterval`",
    cap: "add `.max_delay(..)` to the strategy",
    jitter: "add `.map(jitter)` to the strategy",
    statuses: "use `RetryIf` with a condition that leaves such failures out",
    retry_after: "a strategy does not see the response: wait for what the header says before the error is returned",
};

static ABOUT: About = TEXTS;

static ABOUT2: About = About {
    system: "tokio-retry2",
    name: "tokio-retry2 call",
    picks: "every transient error",
    statuses: "return such failures as `RetryError::permanent(..)`",
    retry_after: "tokio-retry2 hands the wait of `RetryError::retry_after` to the notify hook only: sleep for it in the action",
    ..TEXTS
};

/// tokio-retry.
pub(crate) struct TokioRetry;

impl RetryCrate for TokioRetry {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["tokio_retry", path @ ..] = path else { return None };
        let names =
            ["tokio-retry `ExponentialBackoff`", "tokio-retry `FibonacciBackoff`", "tokio-retry `FixedInterval`"];
        match (path, args) {
            ([.., "jitter"], [wait]) => delays::spread(wait, 0.0, 1.0).map(Ok),
            ([.., "Retry" | "RetryIf", "spawn" | "start"], [strategy, action, when @ ..]) => {
                Some(spawn(m, &ABOUT, Reads::Every, [strategy, action], when.first(), at))
            }
            _ => strategy(path, args, at, names, SOURCE),
        }
    }
}

/// tokio-retry2.
pub(crate) struct TokioRetry2;

impl RetryCrate for TokioRetry2 {
    fn meta(&self) -> &'static SystemMeta {
        &META2
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["tokio_retry2", path @ ..] = path else { return None };
        let names =
            ["tokio-retry2 `ExponentialBackoff`", "tokio-retry2 `FibonacciBackoff`", "tokio-retry2 `FixedInterval`"];
        let reads = Reads::Marked { waits: false };
        let made = match (path, args) {
            ([.., "jitter"], [wait]) => delays::spread(wait, 0.5, 1.5),
            ([.., "jitter_with_bounds"], [low, high]) => {
                let (low, high) = (low.number()?.lo, high.number()?.hi);
                Some(Value::new(Kind::Native(Rc::new(Spreading { low, high }))))
            }
            // One draw for all waits of a call: it spreads the callers.
            ([.., "jitter_range"], [range]) => {
                let factor = crate::rust::eval::random::from_range(range).number()?;
                Some(Value::new(Kind::Native(Rc::new(Spreading { low: factor.lo, high: factor.hi }))))
            }
            ([.., "Retry", "spawn" | "spawn_notify"], [strategy, action, ..]) => {
                return Some(spawn(m, &ABOUT2, reads, [strategy, action], None, at));
            }
            ([.., "RetryIf", "spawn"], [strategy, action, when, ..]) => {
                return Some(spawn(m, &ABOUT2, reads, [strategy, action], Some(when), at));
            }
            ([.., "RetryError", mark], [error, ..]) => marked(mark, error, args.get(1)),
            ([.., "ExponentialFactorBackoff", "from_millis"], [first, factor]) => {
                Some(factored(at, policy::millis(first, at.span), factor))
            }
            ([.., "ExponentialFactorBackoff", "from_factor"], [factor]) => {
                Some(factored(at, Setting::default(Duration::from_millis(500), SOURCE2), factor))
            }
            ([.., "LinearBackoff", unit @ ("from_millis" | "from_secs" | "new")], [first]) => {
                let first = match *unit {
                    "from_millis" => policy::millis(first, at.span),
                    "from_secs" => policy::millis(first, at.span).map(|d| d.saturating_mul(1000)),
                    _ => policy::duration(first, at.span),
                };
                let name = "tokio-retry2 `LinearBackoff`";
                let plan = Plan { law: Law::Linear, base: first, ..plan(at.span, name, SOURCE2) };
                Some(Strategy::value(plan, tune))
            }
            _ => return strategy(path, args, at, names, SOURCE2),
        };
        made.map(Ok)
    }

    fn extension<'a>(&self, value: &Value<'a>, name: &str, args: &[Value<'a>]) -> Option<Value<'a>> {
        let mark = match (name, args) {
            ("map_transient_err", []) => "transient",
            ("map_permanent_err", []) => "permanent",
            _ => return None,
        };
        match value.variant() {
            Some(("Err", Some(error))) => Some(Value::wrap("Err", marked(mark, error, None)?).tainted(value.taint)),
            _ => Some(value.clone()),
        }
    }
}

fn plan(made: Span, name: &'static str, source: &'static str) -> Plan {
    Plan::doubling(made, name, Duration::ZERO, source)
}

/// A strategy that both crates have.
fn strategy<'a>(
    path: &[&str],
    args: &[Value<'a>],
    at: At,
    names: [&'static str; 3],
    source: &'static str,
) -> Option<Eval<'a>> {
    let ([.., ty, unit @ ("from_millis" | "new")], [first]) = (path, args) else { return None };
    let base = if *unit == "new" { policy::duration(first, at.span) } else { policy::millis(first, at.span) };
    let [exponential, fibonacci, fixed] = names;
    let plan = match *ty {
        // The number is the first wait, and the factor from one wait to the next.
        "ExponentialBackoff" => {
            let factor = policy::number(first, at.span);
            Plan { base, factor, ..plan(at.span, exponential, source) }
        }
        "FibonacciBackoff" => Plan { law: Law::Fibonacci, base, ..plan(at.span, fibonacci, source) },
        "FixedInterval" => Plan { law: Law::Fixed, base, ..plan(at.span, fixed, source) },
        _ => return None,
    };
    Some(Ok(Strategy::value(plan, tune)))
}

fn factored<'a>(at: At, base: Setting<Duration>, factor: &Value<'a>) -> Value<'a> {
    let factor = policy::number(factor, at.span);
    let name = "tokio-retry2 `ExponentialFactorBackoff`";
    Strategy::value(Plan { base, factor, ..plan(at.span, name, SOURCE2) }, tune)
}

fn tune(plan: &mut Plan, name: &str, args: &[Value<'_>], place: Span) -> bool {
    let [value] = args else { return false };
    let step = |plan: &mut Plan, step: Setting<Duration>| match step.value() {
        Some(step) => plan.law = Law::Steps(*step),
        None => plan.base = step,
    };
    match name {
        "factor" => {
            let times = value.number().map_or(f64::NAN, |n| n.mid);
            plan.base = match plan.base.clone() {
                known if times.is_finite() => known.map(|d| crate::rust::eval::wait::duration(d.as_secs_f64() * times)),
                _ => policy::millis(value, place),
            };
        }
        "initial_delay" => plan.base = policy::millis(value, place),
        "increment" => step(plan, policy::duration(value, place)),
        "increment_millis" => step(plan, policy::millis(value, place)),
        "increment_secs" => step(plan, policy::millis(value, place).map(|d| d.saturating_mul(1000))),
        "max_delay" => plan.cap = policy::duration(value, place).map(Some),
        "max_delay_millis" => plan.cap = policy::millis(value, place).map(Some),
        _ => return false,
    }
    true
}

fn spawn<'a>(
    machine: &mut Machine<'a, '_>,
    about: &'static About,
    reads: Reads,
    [strategy, action]: [&Value<'a>; 2],
    when: Option<&Value<'a>>,
    at: At,
) -> Eval<'a> {
    let policy = Rc::new(delays::policy(machine, strategy, about.system, at)?);
    let when = when.map(|w| (w.clone(), at.span));
    let call = action.clone();
    Ok(Retried { about, call, policy, opens: at.span, when, reads, numbered: false }.later())
}

/// `RetryError::transient(error)` and its kin; those that begin with `to_` wrap it in `Err`.
fn marked<'a>(mark: &str, error: &Value<'a>, wait: Option<&Value<'a>>) -> Option<Value<'a>> {
    let plain = mark.trim_start_matches("to_");
    let marked = match plain {
        "transient" | "Transient" => transient(error.clone(), None),
        "retry_after" => transient(error.clone(), wait.cloned()),
        "permanent" | "Permanent" => Value::wrap(PERMANENT, error.clone()),
        _ => return None,
    };
    Some(if plain == mark { marked } else { Value::wrap("Err", marked) })
}
