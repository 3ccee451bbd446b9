//! retry: `retry(delays, operation)`, blocking.

use std::rc::Rc;
use std::time::Duration;

use super::delays::{self, Strategy};
use super::policy::{self, Law, Plan};
use super::retried::{About, FINAL, RETRY, Reads, Retried};
use super::{At, RetryCrate};
use crate::model::{Jitter, LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::Value;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const LOOP: &str = "retry 2.2.0 src/lib.rs";
const SOURCE: &str = "retry 2.2.0 src/delay/mod.rs";
const SOURCE_1: &str = "retry 1.3.1 src/delay/mod.rs";

static META: SystemMeta = SystemMeta {
    id: "retry",
    name: "retry",
    reads: "Rust: `retry` and `retry_with_index` with series of delays",
    marks: &["retry::"],
    defaults: &[
        DefaultFigure { what: "delays without take", value: "no limit", source: LOOP },
        DefaultFigure { what: "Exponential::from_millis(b)", value: "b milliseconds, doubling", source: SOURCE },
        DefaultFigure {
            what: "Exponential::from_millis(b), version 1",
            value: "b, b², b³ ... milliseconds",
            source: SOURCE_1,
        },
        DefaultFigure { what: "no map(jitter)", value: "no jitter", source: SOURCE },
        DefaultFigure { what: "an `Err`", value: "retried, unless it is `OperationResult::Err`", source: LOOP },
    ],
};

static ABOUT: About = About {
    system: "retry",
    kind: LayerKind::Code,
    name: "retry call",
    picks: "every `Err`",
    none: "call without `retry`",
    fewer: "give `.take(..)` a smaller number",
    limit: "end the delays with `.take(3)`",
    wait: "use `Exponential` instead of `NoDelay`",
    grow: "use `Exponential` instead of `Fixed`",
    cap: "cap the delays: `.map(|delay| delay.min(..))`",
    jitter: "add `.map(jitter)` to the delays",
    statuses: "return such failures as `OperationResult::Err(..)`",
    retry_after: "sleep for what the header says before the error is returned",
};

/// The crate.
pub(crate) struct Retry;

impl RetryCrate for Retry {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["retry", path @ ..] = path else { return None };
        match (path, args) {
            ([name @ ("retry" | "retry_with_index")], [delays, operation]) => {
                let policy = match delays::policy(m, delays, "retry", at) {
                    Ok(policy) => Rc::new(policy),
                    Err(exit) => return Some(Err(exit)),
                };
                let retried = Retried {
                    about: &ABOUT,
                    call: operation.clone(),
                    policy,
                    opens: at.span,
                    when: None,
                    reads: Reads::Operation,
                    numbered: *name == "retry_with_index",
                };
                Some(retried.run(m))
            }
            ([.., "OperationResult", "Ok"], [value]) => Some(Ok(Value::wrap("Ok", value.clone()))),
            ([.., "OperationResult", "Retry"], [error]) => Some(Ok(Value::wrap(RETRY, error.clone()))),
            ([.., "OperationResult", "Err"], [error]) => Some(Ok(Value::wrap(FINAL, error.clone()))),
            ([.., "jitter"], [wait]) => delays::spread(wait, 0.0, 1.0).map(Ok),
            _ => strategy(m, path, args, at).map(Ok),
        }
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        let ["retry", .., "NoDelay"] = path else { return None };
        let made = crate::rust::eval::methods::no_place();
        Some(Strategy::value(Plan { law: Law::None, ..plan(made, "retry `NoDelay`") }, untuned))
    }
}

fn plan(made: Span, name: &'static str) -> Plan {
    Plan::doubling(made, name, Duration::ZERO, SOURCE)
}

fn untuned(_: &mut Plan, _: &str, _: &[Value<'_>], _: Span) -> bool {
    false
}

fn strategy<'a>(machine: &Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Value<'a>> {
    let ([.., ty, how], [first, rest @ ..]) = (path, args) else { return None };
    let base = if *how == "from" { policy::duration(first, at.span) } else { policy::millis(first, at.span) };
    let plan = match (*ty, *how, rest) {
        ("Exponential", "from_millis" | "from", []) => {
            let exponential = Plan { base, ..plan(at.span, "retry `Exponential`") };
            // Until version 2 the number was the factor, too.
            let factor = if machine.major("retry") == Some(1) { Some(policy::number(first, at.span)) } else { None };
            match factor {
                Some(factor) => Plan { factor, ..exponential },
                None => exponential,
            }
        }
        ("Exponential", "from_millis_with_base_factor", []) => {
            Plan { base, factor: policy::number(first, at.span), ..plan(at.span, "retry `Exponential`") }
        }
        ("Exponential", "from_millis_with_factor", [factor]) => {
            Plan { base, factor: policy::number(factor, at.span), ..plan(at.span, "retry `Exponential`") }
        }
        ("Fixed", "from_millis" | "from", []) => Plan { law: Law::Fixed, base, ..plan(at.span, "retry `Fixed`") },
        ("Fibonacci", "from_millis" | "from", []) => {
            Plan { law: Law::Fibonacci, base, ..plan(at.span, "retry `Fibonacci`") }
        }
        ("Range", "from_millis_exclusive" | "from_millis_inclusive", [high]) => {
            let (low, high) = (first.number()?.lo, high.number()?.hi);
            let jitter = if high > 0.0 { Jitter::Partial { low: low / high, high: 1.0 } } else { Jitter::None };
            let jitter = Setting::written(if low > 0.0 { jitter } else { Jitter::Full }, at.span);
            let base = Setting::written(crate::rust::eval::wait::duration(high / 1000.0), at.span);
            Plan { law: Law::Fixed, base, jitter, ..plan(at.span, "retry `Range`") }
        }
        _ => return None,
    };
    Some(Strategy::value(plan, untuned))
}
