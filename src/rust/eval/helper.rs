//! Functions, methods and macros that `[[helper]]` in retrylint.toml says retry, where their code alone does not show it.

use std::sync::Arc;
use std::time::Duration;

use super::env::Env;
use super::machine::{Eval, Exit, Machine};
use super::value::{Kind, Value};
use crate::config::own::{HelperConfig, HelperCount, HelperWait};
use crate::model::{Advice, Attempts, Jitter, LayerKind, Setting, Wait};
use crate::rust::crates::{At, Described, policy};
use crate::rust::ir::Expr;
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// The helper that a call of this path calls.
    pub(crate) fn helper_called(&self, path: &[&str], is_macro: bool) -> Option<&'a HelperConfig> {
        let helpers = self.shared.index.helpers;
        helpers.iter().find(|h| h.is_macro == is_macro && h.is_called(path))
    }

    /// The helper that a method call calls. Where the configuration names its type, a client that is known is none.
    pub(crate) fn helper_method(&self, receiver: &Value<'a>, name: &str) -> Option<&'a HelperConfig> {
        let helpers = self.shared.index.helpers;
        let called = |h: &&HelperConfig| !h.is_macro && h.name() == name;
        let fits =
            |h: &&HelperConfig| h.path.len() == 1 || !matches!(receiver.kind, Kind::Client(_) | Kind::Request(_));
        helpers.iter().find(|h| called(h) && fits(h))
    }

    /// Runs a helper: what it is given to call is called again as it would. `None`: it is given nothing to call.
    pub(crate) fn run_helper(&mut self, helper: &HelperConfig, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let call = match helper.call {
            Some(n) => args.get(n).filter(|v| can_be_called(v)),
            None => args.iter().rev().find(|v| can_be_called(v)),
        }?
        .clone();
        let described = Arc::new(self.describe_helper(helper, args, at));
        let span = at.span;
        Some(self.repeat(
            described,
            &mut |m| {
                let value = if matches!(call.kind, Kind::Future(_)) {
                    call.clone()
                } else {
                    m.call_value(&call, Vec::new(), span)?
                };
                let value = m.await_value(value, span)?;
                m.settle(value, span)
            },
            &mut again,
        ))
    }

    /// As [`Self::run_helper`] for a macro: one of its arguments is run again and again.
    pub(crate) fn run_helper_macro(
        &mut self,
        helper: &HelperConfig,
        args: &'a [Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Option<Eval<'a>> {
        let call = helper.call.map_or_else(|| args.last(), |n| args.get(n))?;
        let mut values = Vec::new();
        for arg in args {
            // What is tried again is not run before it is tried.
            let value = if std::ptr::eq(arg, call) { Ok(Value::unit()) } else { self.eval(arg, env) };
            match value {
                Ok(value) => values.push(value),
                Err(exit) => return Some(Err(exit)),
            }
        }
        let described = Arc::new(self.describe_helper(helper, &values, At { span, name_span: span }));
        Some(self.repeat(
            described,
            &mut |m| {
                let value = m.eval(call, env)?;
                let value = if can_be_called(&value) && !matches!(value.kind, Kind::Future(_)) {
                    m.call_value(&value, Vec::new(), span)?
                } else {
                    value
                };
                let value = m.await_value(value, span)?;
                m.settle(value, span)
            },
            &mut again,
        ))
    }

    fn describe_helper(&self, helper: &HelperConfig, args: &[Value<'a>], at: At) -> Described {
        let name = helper.name();
        let shown = if helper.is_macro { format!("`{name}!`") } else { format!("`{name}`") };
        let count = match helper.count {
            HelperCount::Retries(n) => args.get(n).map(|value| policy::retries(self, value, at.span, name)),
            HelperCount::Attempts(n) => args.get(n).map(|value| policy::tries(self, value, at.span, name)),
            HelperCount::Fixed(..) | HelperCount::Unknown => None,
        };
        let (attempts, mut labels) = match (&count, helper.count) {
            (Some(count), _) => (count.attempts(), count.labels.clone()),
            (None, HelperCount::Fixed(n, span)) => {
                let label = (span, format!("retrylint.toml says that it tries {n} times"));
                (Setting::written(Attempts::Count(n.max(1)), at.span), vec![label])
            }
            (None, HelperCount::Unknown) => {
                (Setting::unknown("retrylint.toml does not say how often", Some(at.span)), Vec::new())
            }
            (None, _) => {
                (Setting::unknown("the argument that retrylint.toml names is not there", Some(at.span)), Vec::new())
            }
        };
        if labels.is_empty() {
            labels.push((helper.span, "retrylint.toml says that it retries".to_owned()));
        }
        Described {
            place: count.as_ref().map_or(at.span, |c| c.place),
            attempts,
            wait: wait_of(helper, args, at),
            wait_place: Some(at.span),
            jitter: match helper.jitter {
                Some(true) => Setting::written(Jitter::Full, helper.span),
                Some(false) => Setting::written(Jitter::None, helper.span),
                None => Setting::unknown("retrylint.toml does not say", None),
            },
            reading: count.as_ref().map_or(shown, policy::Count::told),
            labels,
            via: count.and_then(|c| c.via),
            advice: Advice { fewer: Some("hand it a smaller number".to_owned()), ..Advice::default() },
            picks: "the helper",
            undiscriminating: false,
            ..Described::new("rust", LayerKind::Code, "helper call", at.span)
        }
    }
}

fn wait_of(helper: &HelperConfig, args: &[Value<'_>], at: At) -> Wait {
    let base: Setting<Duration> = match helper.wait {
        Some(HelperWait::Fixed(wait, span)) => Setting::written(wait, span),
        Some(HelperWait::Argument(n)) => match args.get(n) {
            Some(value) => policy::duration(value, at.span),
            None => Setting::unknown("the argument that retrylint.toml names is not there", Some(at.span)),
        },
        None => return Wait::Unknown { why: "retrylint.toml does not say how long it waits".to_owned() },
    };
    match helper.factor {
        _ if base.value().is_some_and(Duration::is_zero) => Wait::None,
        Some(factor) if factor > 1.0 => Wait::Exponential {
            base,
            factor: Setting::written(factor, helper.span),
            cap: Setting::written(helper.cap, helper.span),
        },
        _ => Wait::Fixed(base),
    }
}

fn can_be_called(value: &Value<'_>) -> bool {
    matches!(value.kind, Kind::Closure(_) | Kind::Fn(_) | Kind::Future(_) | Kind::External(_))
}

/// A helper tries again whatever went wrong: what it looks at is not known.
fn again<'a>(machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
    machine.pick = None;
    Ok(matches!(result.variant(), Some(("Err", _))))
}
