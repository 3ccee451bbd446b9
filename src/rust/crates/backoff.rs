//! backoff: `retry(policy, operation)`, blocking and async; what its errors are marked with decides.

use std::rc::Rc;
use std::time::Duration;

use super::delays::Strategy;
use super::policy::{self, Law, Plan, Policy};
use super::retried::{About, PERMANENT, Reads, Retried, transient};
use super::{At, RetryCrate};
use crate::model::{Attempts, Jitter, LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{Kind, Value};
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "backoff 0.4.0 src/default.rs";
const LOOP: &str = "backoff 0.4.0 src/retry.rs";

static META: SystemMeta = SystemMeta {
    id: "backoff",
    name: "backoff",
    reads: "Rust: `retry` and `retry_notify`, blocking and async, with its policies and error marks",
    marks: &["backoff"],
    defaults: &[
        DefaultFigure {
            what: "max_elapsed_time not set",
            value: "15 min, about 25 attempts at the mean wait",
            source: SOURCE,
        },
        DefaultFigure { what: "ExponentialBackoff", value: "500 ms, times 1.5, up to 60 s", source: SOURCE },
        DefaultFigure {
            what: "randomization_factor not set",
            value: "half the wait to one and a half",
            source: SOURCE,
        },
        DefaultFigure {
            what: "an error through `?`",
            value: "transient: it is retried",
            source: "backoff 0.4.0 src/error.rs",
        },
        DefaultFigure { what: "Constant, Zero", value: "no limit", source: "backoff 0.4.0 src/backoff.rs" },
    ],
};

static ABOUT: About = About {
    system: "backoff",
    kind: LayerKind::Code,
    name: "backoff call",
    picks: "every error that is not permanent",
    none: "",
    fewer: "shorten `max_elapsed_time`, or count the tries and return `Error::permanent(..)` after a few",
    limit: "set `max_elapsed_time` to `Some(..)`",
    wait: "use `ExponentialBackoff` instead of `Zero`",
    grow: "use `ExponentialBackoff` instead of `Constant`",
    cap: "set `max_interval`",
    jitter: "leave `randomization_factor` at its default of 0.5",
    statuses: "return such failures as `Error::permanent(..)`",
    retry_after: "return `Error::retry_after(error, wait)` with the wait that the header gives",
};

/// The crate.
pub(crate) struct Backoff;

impl RetryCrate for Backoff {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["backoff", path @ ..] = path else { return None };
        let value = match (path, args) {
            ([.., "ExponentialBackoff" | "ExponentialBackoffBuilder", "default" | "new"], []) => {
                Strategy::changing(exponential(at.span), tune)
            }
            ([.., "SystemClock", _], _) => return None,
            ([.., "Constant", "new"], [wait]) => {
                let base = policy::duration(wait, at.span);
                let plan = Plan { law: Law::Fixed, base, ..without_limit(at.span, "backoff `Constant`") };
                Strategy::value(plan, |_, _, _, _| false)
            }
            ([.., "Error", "permanent" | "Permanent"], [error]) => Value::wrap(PERMANENT, error.clone()),
            ([.., "Error", "transient" | "Transient"], [error]) => transient(error.clone(), None),
            ([.., "Error", "retry_after"], [error, wait]) => transient(error.clone(), Some(wait.clone())),
            ([place @ .., "retry" | "retry_notify"], [policy, operation, ..]) => {
                let retried = retried(policy, operation, at);
                let is_async = place.contains(&"future") || place.contains(&"tokio") || place.contains(&"async_std");
                if !is_async {
                    return Some(retried.run(m));
                }
                retried.later()
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn struct_literal<'a>(
        &self,
        _: &Machine<'a, '_>,
        path: &[&str],
        fields: &[(Name, Value<'a>)],
        rest: Option<&Value<'a>>,
        span: Span,
    ) -> Option<Value<'a>> {
        let ["backoff", .., name] = path else { return None };
        let field = |wanted: &str| fields.iter().find(|(n, _)| &**n == wanted).map(|(_, v)| v.clone());
        let mut plan = match *name {
            "ExponentialBackoff" => match rest.map(|r| &r.kind) {
                Some(Kind::Native(rest)) => Plan { made: span, ..rest.plan()? },
                _ => exponential(span),
            },
            "Transient" => return Some(transient(field("err")?, wait_in(field("retry_after")))),
            "Zero" => Plan { law: Law::None, ..without_limit(span, "backoff `Zero`") },
            "Stop" => {
                let otherwise = (Setting::written(Attempts::Count(1), span), "which never retries");
                Plan { law: Law::None, otherwise, ..without_limit(span, "backoff `Stop`") }
            }
            _ => return None,
        };
        for (name, value) in fields {
            tune(&mut plan, name, std::slice::from_ref(value), value.origin.map_or(span, |o| o.span));
        }
        Some(Strategy::changing(plan, tune))
    }
}

/// The wait in a field that is an option.
fn wait_in(field: Option<Value<'_>>) -> Option<Value<'_>> {
    let field = field?;
    match field.variant() {
        Some(("Some", Some(wait))) => Some(wait.clone().tainted(field.taint)),
        Some(_) => None,
        None => Some(field),
    }
}

fn exponential(made: Span) -> Plan {
    Plan {
        factor: Setting::default(1.5, SOURCE),
        cap: Setting::default(Some(Duration::from_secs(60)), SOURCE),
        jitter: Setting::default(Jitter::Partial { low: 0.5, high: 1.5 }, SOURCE),
        total: Some(Setting::default(Duration::from_secs(900), SOURCE)),
        ..Plan::doubling(made, "backoff `ExponentialBackoff`", Duration::from_millis(500), SOURCE)
    }
}

fn without_limit(made: Span, name: &'static str) -> Plan {
    Plan::doubling(made, name, Duration::ZERO, LOOP)
}

fn tune(plan: &mut Plan, name: &str, args: &[Value<'_>], place: Span) -> bool {
    let [value] = args else { return false };
    match name.trim_start_matches("with_") {
        // The wait of the moment: what it starts from is the other one.
        "current_interval" | "start_time" | "clock" => {}
        "initial_interval" => plan.base = policy::duration(value, place),
        "multiplier" => plan.factor = policy::number(value, place),
        "max_interval" => plan.cap = policy::duration(value, place).map(Some),
        "randomization_factor" => {
            plan.jitter = policy::number(value, place).map(|f| match f {
                f if f > 0.0 => Jitter::Partial { low: 1.0 - f, high: 1.0 + f },
                _ => Jitter::None,
            });
        }
        "max_elapsed_time" => match policy::optional_duration(value, place) {
            Setting::Written { value: None, span } => {
                plan.total = None;
                plan.otherwise = (Setting::written(Attempts::Unbounded, span), "`max_elapsed_time: None`");
            }
            limit => plan.total = Some(limit.map(Option::unwrap_or_default)),
        },
        _ => return false,
    }
    true
}

fn retried<'a>(policy: &Value<'a>, operation: &Value<'a>, at: At) -> Retried<'a> {
    let known = match &policy.kind {
        Kind::Native(native) => native.policy(),
        _ => None,
    };
    Retried {
        about: &ABOUT,
        call: operation.clone(),
        policy: known.unwrap_or_else(|| Rc::new(Policy::unknown(policy, at.span, "backoff"))),
        opens: at.span,
        when: None,
        reads: Reads::Marked { waits: true },
        numbered: false,
    }
}
