//! futures-retry: a handler of the caller's own is asked after each failure what to do, with the number of the try. It
//! is run: what it gives back says whether the call is made again, and after which wait.

use std::sync::Arc;

use super::policy::Policy;
use super::retried::{About, later};
use super::{At, Described, RetryCrate};
use crate::model::{LayerKind, Setting, Wait};
use crate::rust::eval::call::variant;
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::SystemMeta;

static META: SystemMeta = SystemMeta {
    id: "futures-retry",
    name: "futures-retry",
    reads: "Rust: `FutureRetry::new`, with handlers of the repository",
    marks: &["futures_retry"],
    defaults: &[],
};

static ABOUT: About = About {
    system: "futures-retry",
    kind: LayerKind::Code,
    name: "futures-retry call",
    picks: "the handler",
    none: "call without `FutureRetry`",
    fewer: "let the handler give up sooner",
    limit: "count the tries in the handler, and give back `RetryPolicy::ForwardError` after a few",
    wait: "give back `RetryPolicy::WaitRetry` instead of `RetryPolicy::Repeat`",
    grow: "compute the wait in `RetryPolicy::WaitRetry` from the number of the try",
    cap: "take the smaller of the wait and a maximum in `RetryPolicy::WaitRetry`",
    jitter: "put something random into the wait of `RetryPolicy::WaitRetry`",
    statuses: "give back `RetryPolicy::ForwardError` for such answers",
    retry_after: "give back `RetryPolicy::WaitRetry` with what the header says",
};

/// The crate.
pub(crate) struct FuturesRetry;

impl RetryCrate for FuturesRetry {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(
        &self,
        machine: &mut Machine<'a, '_>,
        path: &[&str],
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let ["futures_retry", path @ ..] = path else { return None };
        match (path, args) {
            ([.., "FutureRetry", "new"], [call, handler]) => {
                let retry = FutureRetry { call: call.clone(), handler: handler.clone(), opens: at.span };
                let described = Arc::new(retry.described(machine));
                Some(Ok(later(move |m| retry.run(m, described.clone()))))
            }
            ([.., "RetryPolicy", decision], _) => Some(Ok(variant(None, Name::from(*decision), args.to_vec()))),
            _ => None,
        }
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        match path {
            ["futures_retry", .., "RetryPolicy", "Repeat"] => Some(variant(None, Name::from("Repeat"), Vec::new())),
            _ => None,
        }
    }
}

/// `FutureRetry`
#[derive(Debug, Clone)]
struct FutureRetry<'a> {
    call: Value<'a>,
    handler: Value<'a>,
    opens: Span,
}

impl<'a> FutureRetry<'a> {
    fn described(&self, machine: &Machine<'a, '_>) -> Described {
        let why = "is what its handler decides".to_owned();
        let policy = Policy {
            attempts: Setting::unknown(why.clone(), Some(self.opens)),
            wait: Wait::Unknown { why: why.clone() },
            jitter: Setting::unknown(why, None),
            made: self.opens,
            name: "futures-retry",
            reading: "`FutureRetry::new` with a handler".to_owned(),
            labels: Vec::new(),
            via: None,
        };
        // Without the handler nothing is known of it.
        let by_running = matches!(self.handler.kind, Kind::Closure(_) | Kind::Fn(_)) || self.handles(machine).is_some();
        Described { by_running, ..ABOUT.described(machine, &policy, self.opens, false) }
    }

    fn handles(&self, machine: &Machine<'a, '_>) -> Option<crate::rust::index::FnIx> {
        machine.own_method(&self.handler, &["handle"])
    }

    fn run(&self, machine: &mut Machine<'a, '_>, described: Arc<Described>) -> Eval<'a> {
        let span = self.opens;
        let mut number = 0;
        let result = machine.repeat(
            described,
            &mut |m| {
                let value = m.call_value(&self.call, Vec::new(), span)?;
                let value = m.await_value(value, span)?;
                m.settle(value, span)
            },
            &mut |m, result| {
                number += 1;
                self.again(m, number, result)
            },
        )?;
        // With the number of tries, whatever came of it.
        Ok(match result.variant() {
            Some((name, Some(inner))) => {
                Value::wrap(name, Value::tuple(vec![inner.clone(), Value::int(number)])).tainted(result.taint)
            }
            _ => result,
        })
    }

    /// Asks the handler.
    fn again(&self, machine: &mut Machine<'a, '_>, number: i128, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        let Some(("Err", Some(error))) = result.variant() else { return Ok(false) };
        let error = error.clone().tainted(result.taint);
        machine.pick = None;
        let answer = match self.handles(machine) {
            Some(handle) => {
                let args = vec![self.handler.clone(), Value::int(number), error];
                machine.call_fn(handle, args, self.opens)?
            }
            None => machine.call_value(&self.handler, vec![error], self.opens)?,
        };
        if machine.discovering() {
            return Ok(false);
        }
        let answer = machine.settle(answer, self.opens)?;
        match answer.variant() {
            Some(("Repeat", _)) => Ok(true),
            Some(("WaitRetry", Some(wait))) => {
                let wait = wait.clone();
                machine.sleep(&wait, wait.origin.map_or(self.opens, |origin| origin.span))?;
                Ok(true)
            }
            Some(_) => Ok(false),
            None => machine.decide(&answer, self.opens, Hint::plain()),
        }
    }
}
