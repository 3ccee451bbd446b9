//! apalis: a worker with `.retry(policy)` runs its handler again.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::policy::Law;
use super::tabled::{Figures, Sets, Tabled};
use super::{At, Described, Native, Policy, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, LayerKind};
use crate::rust::eval::machine::{Eval, Hint, Machine};
use crate::rust::eval::value::{Kind, Taint, Value, Why};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const POLICY: &str = "apalis 1.0.0 src/layers/retry/mod.rs";

static META: SystemMeta = SystemMeta {
    id: "apalis",
    name: "apalis",
    reads: "Rust: workers with `.retry(RetryPolicy)`, around what their handler calls",
    marks: &["apalis"],
    defaults: &[
        DefaultFigure { what: "retry not called", value: "1 attempt", source: POLICY },
        DefaultFigure { what: "RetryPolicy::default()", value: "6 attempts (5 retries)", source: POLICY },
        DefaultFigure { what: "with_backoff not called", value: "no wait", source: POLICY },
        DefaultFigure { what: "what is retried", value: "every error but `AbortError`", source: POLICY },
    ],
};

static FIGURES: Figures = Figures {
    name: "apalis `RetryPolicy`",
    attempts: Attempts::Count(6),
    law: Law::None,
    base: Duration::ZERO,
    factor: 1.0,
    cap: None,
    jitter: Jitter::None,
    everything: true,
    total: None,
    setters: &[("RetryPolicy::retries", Sets::Retries), ("with_backoff", Sets::Waits), ("retry_if", Sets::Filter)],
    source: POLICY,
};

/// The crate.
pub(crate) struct Apalis;

impl RetryCrate for Apalis {
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
        let ["apalis" | "apalis_core", ..] = path else { return None };
        let value = match (path, args) {
            ([.., "RetryPolicy", "retries"], [n]) => {
                Tabled::new(&FIGURES, at.span).counting(machine, "RetryPolicy::retries", n, at.span).value()
            }
            ([.., "RetryPolicy", "default"], []) => Tabled::new(&FIGURES, at.span).value(),
            ([.., "WorkerBuilder", "new"], [_]) => Worker { retry: None, filtered: false }.value(),
            _ => return None,
        };
        Some(Ok(value))
    }
}

/// `WorkerBuilder`
#[derive(Debug, Clone)]
struct Worker {
    retry: Option<(Rc<Policy>, Span)>,
    /// Whether its policy leaves failures out.
    filtered: bool,
}

impl Worker {
    fn value<'a>(self) -> Value<'a> {
        Value::new(Kind::Native(Rc::new(self)))
    }

    /// Hands a job to the handler, and again where it fails.
    fn run<'a>(&self, machine: &mut Machine<'a, '_>, handler: &Value<'a>, at: Span) -> Eval<'a> {
        let params = match &handler.kind {
            Kind::Fn(ix) => machine.shared.index.function(*ix).function.params.len(),
            Kind::Closure(closure) => closure.params.len(),
            _ => 0,
        };
        // Each try is about the same job.
        let args: Vec<Value<'a>> = (0..params).map(|_| machine.opaque(Why::Other("is a part of a job"))).collect();
        let job = |m: &mut Machine<'a, '_>| {
            let value = m.call_value(handler, args.clone(), at)?;
            let value = m.await_value(value, at)?;
            m.settle(value, at)
        };
        let Some((policy, opens)) = &self.retry else { return job(machine) };
        let described = Described {
            picks: "the retry policy, whatever went wrong",
            undiscriminating: !self.filtered,
            advice: Advice {
                fewer: Some("give `RetryPolicy::retries(..)` a smaller number".into()),
                wait: Some("add `.with_backoff(..)` to the policy".into()),
                statuses: Some("return `AbortError` for failures that no other try can mend".into()),
                ..Advice::default()
            },
            ..Described::new("apalis", LayerKind::Job, "apalis worker", *opens).with(policy)
        };
        machine.repeat(Arc::new(described), &mut |m| job(m), &mut |m, result| {
            m.pick = None;
            let failed = matches!(result.variant(), Some(("Err", _))) && result.taint.has(Taint::FAILURE);
            if !failed || m.discovering() || !self.filtered {
                return Ok(failed && !m.discovering());
            }
            let test = m.derived("retry_if", Why::Other("hangs on the policy's own test"), &[result]);
            m.decide(&test, at, Hint::plain())
        })
    }
}

impl<'a> Native<'a> for Worker {
    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        match (name, args) {
            ("retry", [policy]) => {
                let filtered = matches!(&policy.kind, Kind::Native(native) if !native.retries_everything());
                let policy = Tabled::of(policy).unwrap_or_else(|| Rc::new(Tabled::new(&FIGURES, at.named()).finish()));
                Some(Ok(Self { retry: Some((policy, at.named())), filtered }.value()))
            }
            ("build" | "build_fn", [handler]) => Some(match self.run(machine, handler, at.span) {
                Ok(_) => Ok(Self { retry: None, filtered: false }.value()),
                stopped => stopped,
            }),
            _ => None,
        }
    }
}
