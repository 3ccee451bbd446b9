//! exponential-backoff: a series of waits for a loop of the caller's own, `for wait in &backoff`.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::policy::{self, Plan};
use super::{At, Native, RetryCrate};
use crate::model::{Attempts, Jitter, Setting};
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "exponential-backoff 2.1.1 src/lib.rs";

static META: SystemMeta = SystemMeta {
    id: "exponential-backoff",
    name: "exponential-backoff",
    reads: "Rust: loops over its `Backoff`",
    marks: &["exponential_backoff"],
    defaults: &[
        DefaultFigure { what: "Backoff::default()", value: "3 attempts; 100 ms, doubling, up to 10 s", source: SOURCE },
        DefaultFigure { what: "set_jitter not called", value: "0.7 to 1.3 of the wait", source: SOURCE },
        DefaultFigure { what: "a maximum of None", value: "no upper bound", source: SOURCE },
    ],
};

/// The crate.
pub(crate) struct ExponentialBackoff;

impl RetryCrate for ExponentialBackoff {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["exponential_backoff", "Backoff", how] = path else { return None };
        // Until version 2 the number was that of the retries, and each item a wait.
        let first_version = m.major("exponential_backoff").is_some_and(|v| v < 2);
        let mut plan = plan(at.span);
        match (*how, args) {
            ("default", []) => {}
            ("new", [n, min, max]) => {
                let count = if first_version { policy::retries } else { policy::tries };
                let mut count = count(m, n, at.span, "Backoff::new");
                if first_version {
                    // A wait follows the last try, too.
                    count.number = count.number.map(|n| n.saturating_add(1));
                }
                plan.count = Some(count);
                plan.base = policy::duration(min, at.span);
                plan.cap = policy::optional_duration(max, at.span);
            }
            _ => return None,
        }
        let optional = !first_version;
        Some(Ok(Value::new(Kind::Native(Rc::new(Backoff { plan: RefCell::new(plan), optional })))))
    }
}

fn plan(made: Span) -> Plan {
    Plan {
        cap: Setting::default(Some(Duration::from_secs(10)), SOURCE),
        jitter: Setting::default(Jitter::Partial { low: 0.7, high: 1.3 }, SOURCE),
        otherwise: (Setting::default(Attempts::Count(3), SOURCE), "3 attempts by default"),
        ..Plan::doubling(made, "exponential-backoff `Backoff`", Duration::from_millis(100), SOURCE)
    }
}

/// `Backoff`
#[derive(Debug, Clone)]
struct Backoff {
    plan: RefCell<Plan>,
    /// Whether it yields `Option<Duration>`, the last one `None`.
    optional: bool,
}

impl<'a> Native<'a> for Backoff {
    fn identity(&self) -> u64 {
        u64::from(self.plan.borrow().made.start)
    }

    fn method(self: Rc<Self>, m: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let place = at.named();
        let mut plan = self.plan.borrow_mut();
        match (name, args) {
            ("set_min", [d]) => plan.base = policy::duration(d, place),
            ("set_max", [d]) => plan.cap = policy::optional_duration(d, place),
            ("set_factor", [f]) => plan.factor = policy::number(f, place),
            ("set_max_attempts", [n]) => plan.count = Some(policy::tries(m, n, place, name)),
            ("set_jitter", [f]) => {
                plan.jitter = policy::number(f, place).map(|f| match f {
                    f if f > 0.0 => Jitter::Partial { low: 1.0 - f, high: 1.0 + f },
                    _ => Jitter::None,
                });
            }
            _ => return None,
        }
        Some(Ok(Value::unit()))
    }

    fn copied(&self) -> Option<Rc<dyn Native<'a> + 'a>> {
        Some(Rc::new(self.clone()))
    }

    fn iterate(self: Rc<Self>) -> Option<Iter<'a>> {
        let waits = Rc::new(self.plan.borrow().policy()).waits();
        Some(if self.optional { Iter::Optional { inner: Box::new(waits), over: false } } else { waits })
    }
}
