//! again: `RetryPolicy::..retry(task)` and `again::retry(task)`.

use std::rc::Rc;
use std::time::Duration;

use super::policy::{self, Law, Plan};
use super::retried::{About, Reads, Retried};
use super::{At, Native, RetryCrate};
use crate::model::{Attempts, Jitter, LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "again 0.1.2 src/lib.rs";

static META: SystemMeta = SystemMeta {
    id: "again",
    name: "again",
    reads: "Rust: `RetryPolicy`, `retry` and `retry_if`",
    marks: &["again::"],
    defaults: &[
        DefaultFigure { what: "with_max_retries not called", value: "6 attempts (5 retries)", source: SOURCE },
        DefaultFigure { what: "RetryPolicy::default()", value: "1 s, doubling, without upper bound", source: SOURCE },
        DefaultFigure { what: "with_jitter not called", value: "no jitter", source: SOURCE },
        DefaultFigure { what: "retry instead of retry_if", value: "every error", source: SOURCE },
    ],
};

static ABOUT: About = About {
    system: "again",
    kind: LayerKind::Code,
    name: "again call",
    picks: "`retry` without a condition",
    none: "call without `retry`",
    fewer: "give `.with_max_retries(..)` a smaller number",
    limit: "add `.with_max_retries(3)`",
    wait: "give the policy a first wait",
    grow: "use `RetryPolicy::exponential(..)` instead of `RetryPolicy::fixed(..)`",
    cap: "add `.with_max_delay(..)`",
    jitter: "add `.with_jitter(true)`",
    statuses: "use `retry_if` with a condition that leaves such failures out",
    retry_after: "sleep for what the header says before the error is returned",
};

/// The crate.
pub(crate) struct Again;

impl RetryCrate for Again {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, _: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["again", path @ ..] = path else { return None };
        let of = |plan: Plan| Some(Ok(Value::new(Kind::Native(Rc::new(RetryPolicy(plan))))));
        match (path, args) {
            (["RetryPolicy", "default"], []) => of(plan(at)),
            (["RetryPolicy", "exponential"], [d]) => of(Plan { base: policy::duration(d, at.span), ..plan(at) }),
            (["RetryPolicy", "fixed"], [d]) => {
                of(Plan { law: Law::Fixed, base: policy::duration(d, at.span), ..plan(at) })
            }
            (["retry"], [task]) => Some(Ok(retried(&plan(at), task, None, at).later())),
            (["retry_if"], [task, when]) => Some(Ok(retried(&plan(at), task, Some(when), at).later())),
            _ => None,
        }
    }
}

fn plan(at: At) -> Plan {
    Plan {
        otherwise: (Setting::default(Attempts::Count(6), SOURCE), "5 retries by default"),
        ..Plan::doubling(at.span, "again `RetryPolicy`", Duration::from_secs(1), SOURCE)
    }
}

fn retried<'a>(plan: &Plan, task: &Value<'a>, when: Option<&Value<'a>>, at: At) -> Retried<'a> {
    Retried {
        about: &ABOUT,
        call: task.clone(),
        policy: Rc::new(plan.policy()),
        opens: at.named(),
        when: when.map(|w| (w.clone(), at.named())),
        reads: Reads::Every,
        numbered: false,
    }
}

/// `RetryPolicy`
#[derive(Debug, Clone)]
struct RetryPolicy(Plan);

impl<'a> Native<'a> for RetryPolicy {
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
            ("retry", [task]) => return Some(Ok(retried(&plan, task, None, at).later())),
            ("retry_if", [task, when]) => return Some(Ok(retried(&plan, task, Some(when), at).later())),
            ("with_max_retries", [n]) => plan.count = Some(policy::retries(machine, n, place, name)),
            ("with_max_delay", [d]) => plan.cap = policy::duration(d, place).map(Some),
            ("with_jitter", [on]) => {
                plan.jitter = match on.kind {
                    Kind::Bool(true) => Setting::written(Jitter::Full, place),
                    Kind::Bool(false) => Setting::written(Jitter::None, place),
                    _ => Setting::unknown("is computed", Some(place)),
                };
            }
            _ => return None,
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(Self(plan))))))
    }
}
