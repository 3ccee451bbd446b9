//! tryhard: `retry_fn(f).retries(n).exponential_backoff(d).await`.

use std::rc::Rc;
use std::time::Duration;

use super::policy::{self, Law, Plan};
use super::retried::{About, Reads, Retried};
use super::{At, Native, RetryCrate};
use crate::model::{LayerKind, Setting, Wait};
use crate::rust::eval::machine::{Eval, Exit, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "tryhard 0.5.2 src/lib.rs";

static META: SystemMeta = SystemMeta {
    id: "tryhard",
    name: "tryhard",
    reads: "Rust: `retry_fn` with its backoffs, and `RetryFutureConfig`",
    marks: &["tryhard"],
    defaults: &[
        DefaultFigure { what: "no backoff named", value: "no wait", source: SOURCE },
        DefaultFigure { what: "max_delay not called", value: "no upper bound", source: SOURCE },
        DefaultFigure { what: "what is retried", value: "every error", source: SOURCE },
    ],
};

static ABOUT: About = About {
    system: "tryhard",
    kind: LayerKind::Code,
    name: "tryhard call",
    picks: "tryhard without a strategy of its own",
    none: "call without `retry_fn`",
    fewer: "give `.retries(..)` a smaller number",
    limit: "give `.retries(..)` a small number",
    wait: "add `.exponential_backoff(..)`",
    grow: "use `.exponential_backoff(..)` instead of `.fixed_backoff(..)`",
    cap: "add `.max_delay(..)`",
    jitter: "use `.custom_backoff(..)` with a random factor in the wait",
    statuses: "return `RetryPolicy::Break` for such failures from `.custom_backoff(..)`",
    retry_after: "return the server's wait from `.custom_backoff(..)`",
};

/// The crate.
pub(crate) struct Tryhard;

impl RetryCrate for Tryhard {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["tryhard", path @ ..] = path else { return None };
        let value = match (path, args) {
            (["retry_fn"], [f]) => future(Some(f.clone()), Plan { law: Law::None, ..plan(at.span) }, at.span),
            ([.., "RetryFutureConfig", "new"], [n]) => {
                let count = policy::retries(m, n, at.span, "RetryFutureConfig::new");
                future(None, Plan { law: Law::None, count: Some(count), ..plan(at.span) }, at.span)
            }
            ([.., "RetryPolicy", "Delay"], [wait]) => wait.clone(),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        matches!(path, ["tryhard", .., "RetryPolicy", "Break"])
            .then(|| crate::rust::eval::call::variant(None, crate::rust::ir::Name::from(BREAK), Vec::new()))
    }
}

/// `RetryPolicy::Break`
const BREAK: &str = "Break";

fn plan(made: Span) -> Plan {
    Plan {
        otherwise: (Setting::unknown("is set outside of the code read", Some(made)), "a number that is not known"),
        ..Plan::doubling(made, "tryhard `retry_fn`", Duration::ZERO, SOURCE)
    }
}

fn future<'a>(call: Option<Value<'a>>, plan: Plan, opens: Span) -> Value<'a> {
    Value::new(Kind::Native(Rc::new(RetryFuture { call, plan, opens, custom: None })))
}

/// `RetryFn`, `RetryFuture`, and the configuration of one, which has no call yet.
#[derive(Debug, Clone)]
struct RetryFuture<'a> {
    call: Option<Value<'a>>,
    plan: Plan,
    opens: Span,
    custom: Option<Value<'a>>,
}

impl<'a> Native<'a> for RetryFuture<'a> {
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
        let place = at.named();
        let mut new = (*self).clone();
        let mut backoff = |law, wait: Option<&Value<'a>>| {
            new.plan.law = law;
            new.plan.made = place;
            if let Some(wait) = wait {
                new.plan.base = policy::duration(wait, place);
            }
        };
        match (name, args) {
            ("retries", [n]) => new.plan.count = Some(policy::retries(machine, n, place, name)),
            ("no_backoff", []) => backoff(Law::None, None),
            ("fixed_backoff", [d]) => backoff(Law::Fixed, Some(d)),
            ("linear_backoff", [d]) => backoff(Law::Linear, Some(d)),
            ("exponential_backoff", [d]) => backoff(Law::Exponential, Some(d)),
            ("custom_backoff", [f]) => {
                new.custom = Some(f.clone());
                new.plan.made = place;
            }
            ("max_delay", [d]) => new.plan.cap = policy::duration(d, place).map(Some),
            ("with_config", [Value { kind: Kind::Native(config), .. }]) => {
                new.plan = config.plan()?;
                new.custom = config.clone().field("custom_backoff");
            }
            _ => return None,
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(new)))))
    }

    fn field(self: Rc<Self>, name: &str) -> Option<Value<'a>> {
        self.custom.clone().filter(|_| name == "custom_backoff")
    }

    fn plan(&self) -> Option<Plan> {
        Some(self.plan.clone())
    }

    fn awaited(self: Rc<Self>, machine: &mut Machine<'a, '_>, _: Span) -> Option<Eval<'a>> {
        let call = self.call.clone()?;
        let mut policy = self.plan.policy();
        if self.custom.is_some() {
            policy.wait = Wait::Unknown { why: "is what a closure makes of it".to_owned() };
        }
        let retried = Retried {
            about: &ABOUT,
            call,
            policy: Rc::new(policy),
            opens: self.opens,
            when: None,
            reads: Reads::Every,
            numbered: false,
        };
        let Some(custom) = self.custom.clone() else { return Some(retried.run(machine)) };
        let mut number = 0;
        Some(retried.run_with(machine, &mut |m, error| {
            number += 1;
            self.planned(m, &custom, number, error)
        }))
    }
}

impl<'a> RetryFuture<'a> {
    /// What a strategy of the caller's says: so long a wait, or none at all any more.
    fn planned(
        &self,
        machine: &mut Machine<'a, '_>,
        custom: &Value<'a>,
        number: i128,
        error: &Value<'a>,
    ) -> Result<bool, Exit<'a>> {
        let number = Value::int(number);
        let said = match machine.own_method(custom, &["delay"]) {
            Some(f) => machine.call_fn(f, vec![custom.clone(), number, error.clone()], self.opens)?,
            None => machine.call_value(custom, vec![number, error.clone()], self.opens)?,
        };
        let said = machine.settle(said, self.opens)?;
        if said.variant().is_some_and(|(name, _)| name == BREAK) {
            return Ok(false);
        }
        machine.next_wait = Some(said);
        Ok(true)
    }
}
