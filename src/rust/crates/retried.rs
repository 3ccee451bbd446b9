//! What all crates share that call something again under a policy: the words for it, the layer that it is, and how a
//! caller's own test of the failure is asked.

use std::rc::Rc;
use std::sync::Arc;

use super::{Described, Policy};
use crate::model::{Advice, LayerKind};
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{Future, Kind, Run, Value, Variant};
use crate::rust::ir::Name;
use crate::source::Span;

/// The words of a crate. An empty text: there is nothing to advise.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) system: &'static str,
    pub(crate) kind: LayerKind,
    /// "backon call".
    pub(crate) name: &'static str,
    /// What picks failures where no code does: "backon without `.when(..)`".
    pub(crate) picks: &'static str,
    pub(crate) none: &'static str,
    pub(crate) fewer: &'static str,
    pub(crate) limit: &'static str,
    pub(crate) wait: &'static str,
    pub(crate) grow: &'static str,
    pub(crate) cap: &'static str,
    pub(crate) jitter: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) retry_after: &'static str,
}

impl About {
    fn advice(&self) -> Advice {
        let text = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
        Advice {
            none: text(self.none),
            fewer: text(self.fewer),
            limit: text(self.limit),
            wait: text(self.wait),
            grow: text(self.grow),
            cap: text(self.cap),
            jitter: text(self.jitter),
            statuses: text(self.statuses),
            retry_after: text(self.retry_after),
            pass_on: None,
        }
    }

    /// The layer that `policy` makes of what opens at `opens`.
    pub(crate) fn described(
        &self,
        machine: &Machine<'_, '_>,
        policy: &Policy,
        opens: Span,
        undiscriminating: bool,
    ) -> Described {
        let mut labels = policy.labels.clone();
        let place = match policy.attempts.span() {
            Some(span) if self.kind != LayerKind::Code || stands_here(machine, span) || !labels.is_empty() => span,
            // A policy made elsewhere and shared: the call is the layer, the policy's count a label.
            Some(span) => {
                labels.push((span, policy.reading.clone()));
                opens
            }
            None => opens,
        };
        Described {
            place,
            labels,
            advice: self.advice(),
            picks: self.picks,
            undiscriminating,
            ..Described::new(self.system, self.kind, self.name, opens).with(policy)
        }
    }
}

fn stands_here(machine: &Machine<'_, '_>, span: Span) -> bool {
    machine.shared.index.function(machine.context().function).function.span.contains(span)
}

/// A call that a crate makes again, and what it asks of a failure.
#[derive(Debug, Clone)]
pub(crate) struct Retried<'a> {
    pub(crate) about: &'static About,
    /// What is called.
    pub(crate) call: Value<'a>,
    pub(crate) policy: Rc<Policy>,
    pub(crate) opens: Span,
    /// The caller's test of the error, with its place.
    pub(crate) when: Option<(Value<'a>, Span)>,
    /// What is made of a result.
    pub(crate) reads: Reads,
    /// Whether what is called is told the number of the try, from 1 on.
    pub(crate) numbered: bool,
}

/// What a crate makes of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Every `Err` is a failure that may be tried again.
    Every,
    /// `Err(Permanent(..))` is final, and anything else goes by `Transient { err, retry_after }`, or as it is.
    Marked {
        /// Whether the wait in the mark is waited.
        waits: bool,
    },
    /// `OperationResult`: `Retry(..)` goes on, its `Err(..)` is final; a plain `Err(..)` goes on.
    Operation,
}

impl<'a> Retried<'a> {
    /// Makes the call, again and again as the crate would.
    pub(crate) fn run<'c>(&self, machine: &mut Machine<'a, 'c>) -> Eval<'a> {
        self.run_with(machine, &mut |_, _| Ok(true))
    }

    /// The same; `before` comes before each further try, is told the error, may set the wait, and may forbid it.
    pub(crate) fn run_with<'c>(&self, machine: &mut Machine<'a, 'c>, before: Before<'_, 'a, 'c>) -> Eval<'a> {
        let described = Arc::new(self.about.described(machine, &self.policy, self.opens, self.when.is_none()));
        let span = self.opens;
        let mut number = 0;
        let result = machine.repeat(
            described,
            &mut |m| {
                number += 1;
                let args = if self.numbered { vec![Value::int(number)] } else { Vec::new() };
                let value = m.call_value(&self.call, args, span)?;
                let value = m.await_value(value, span)?;
                m.settle(value, span)
            },
            &mut |m, result| {
                let Some(error) = self.failure(m, result)? else { return Ok(false) };
                if self.when.is_none() && self.reads == Reads::Every {
                    m.pick = None;
                }
                if !asked(m, self.when.as_ref(), &error)? {
                    return Ok(false);
                }
                before(m, &error)
            },
        )?;
        Ok(self.given_back(result))
    }

    /// The error of a result after which the call may be made again.
    fn failure(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<Option<Value<'a>>, Exit<'a>> {
        let error = match result.variant() {
            Some(("Err" | RETRY, Some(error))) => error.clone().tainted(result.taint),
            _ => return Ok(None),
        };
        let Reads::Marked { waits } = self.reads else { return Ok(Some(error)) };
        let error = machine.settle(error, self.opens)?;
        let Kind::Variant(mark) = &error.kind else { return Ok(Some(error)) };
        let field = |wanted: &str| mark.fields.iter().find(|(n, _)| &**n == wanted).map(|(_, v)| v.clone());
        match &*mark.name {
            PERMANENT => Ok(None),
            TRANSIENT => {
                if let Some(wait) = field("retry_after").filter(|_| waits) {
                    machine.next_wait = asked_wait(&wait);
                }
                let inner = field("err").or(field("0")).unwrap_or_else(Value::unit);
                Ok(Some(inner.tainted(error.taint)))
            }
            _ => Ok(Some(error)),
        }
    }

    /// What is given back in the end: the error without its mark.
    fn given_back(&self, result: Value<'a>) -> Value<'a> {
        let Some((name, Some(error))) = result.variant() else { return result };
        let plain = match (self.reads, name) {
            (Reads::Marked { .. }, "Err") => match error.variant() {
                Some((PERMANENT | TRANSIENT, Some(inner))) => inner.clone().tainted(error.taint),
                _ => return result,
            },
            (Reads::Operation, "Err" | RETRY | FINAL) => error.clone(),
            _ => return result,
        };
        Value::wrap("Err", plain.tainted(result.taint))
    }

    /// As a future that runs when it is awaited.
    pub(crate) fn later(self) -> Value<'a> {
        later(move |m| self.run(m))
    }
}

/// The variants by which crates mark failures.
pub(crate) const PERMANENT: &str = "Permanent";
pub(crate) const TRANSIENT: &str = "Transient";
pub(crate) const RETRY: &str = "Retry";
/// `OperationResult::Err`, which a plain `Err` is not.
pub(crate) const FINAL: &str = "OperationResult::Err";

/// `Transient { err, retry_after }`
pub(crate) fn transient<'a>(error: Value<'a>, retry_after: Option<Value<'a>>) -> Value<'a> {
    let taint = retry_after.iter().fold(error.taint, |t, v| t.with(v.taint));
    let fields = vec![(Name::from("err"), error), (Name::from("retry_after"), Value::option(retry_after))];
    let variant = Variant { ty: None, name: Name::from(TRANSIENT), fields };
    Value::new(Kind::Variant(Rc::new(variant))).tainted(taint)
}

/// What is done before a further try.
pub(crate) type Before<'f, 'a, 'c> = &'f mut dyn FnMut(&mut Machine<'a, 'c>, &Value<'a>) -> Result<bool, Exit<'a>>;

/// The wait that a failure names, if it names one.
fn asked_wait<'a>(wait: &Value<'a>) -> Option<Value<'a>> {
    match wait.variant() {
        Some(("Some", Some(wait))) => Some(wait.clone()),
        Some(_) => None,
        None => (wait.duration().is_some() || wait.as_unknown().is_some()).then(|| wait.clone()),
    }
}

/// A future that runs `run` when it is awaited.
pub(crate) fn later<'a>(run: impl for<'c> Fn(&mut Machine<'a, 'c>) -> Eval<'a> + 'a) -> Value<'a> {
    Value::new(Kind::Future(Rc::new(Future::Library(Run(Rc::new(run))))))
}

/// The methods of the traits by which a type of the caller's own tests errors.
const CONDITIONS: [&str; 2] = ["should_retry", "is_retryable"];

/// Asks a caller's test of an error whether the call is to be made again; without one it is.
pub(crate) fn asked<'a>(
    machine: &mut Machine<'a, '_>,
    when: Option<&(Value<'a>, Span)>,
    error: &Value<'a>,
) -> Result<bool, Exit<'a>> {
    let Some((when, span)) = when else {
        return Ok(true);
    };
    machine.pick = None;
    let answer = match machine.own_method(when, &CONDITIONS) {
        Some(function) => machine.call_fn(function, vec![when.clone(), error.clone()], *span)?,
        None => machine.call_value(when, vec![error.clone()], *span)?,
    };
    let answer = machine.await_value(answer, *span)?;
    if machine.discovering() {
        return Ok(false);
    }
    if !machine.decide(&answer, *span, Hint::plain())? {
        return Ok(false);
    }
    let taint = answer.taint.with(error.taint);
    if machine.pick.is_none_or(|p| p.weak) {
        machine.picked(true, taint, *span);
    }
    Ok(true)
}
