//! tower: `Retry` with a policy of the caller's own. The policy is run: what it gives back for a failure says whether
//! the request is sent again, and what its future waits is the wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::policy::{self, Plan, Policy};
use super::retried::{About, later};
use super::{At, ClientRetry, Described, Native, RetryCrate};
use crate::model::{Jitter, LayerKind, Setting, Wait};
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{ClientLayer, Future, Kind, Value, Why};
use crate::rust::ir::BinOp;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const BACKOFF: &str = "tower 0.5.3 src/retry/backoff.rs";
const BUDGET: &str = "tower 0.5.3 src/retry/budget/tps_budget.rs";

static META: SystemMeta = SystemMeta {
    id: "tower",
    name: "tower retry",
    reads: "Rust: `RetryLayer`, `Retry` and `ServiceBuilder::retry` with policies of the repository, backoffs, budgets",
    marks: &["tower"],
    defaults: &[
        DefaultFigure {
            what: "ExponentialBackoffMaker::default()",
            value: "50 ms, doubling, without upper bound",
            source: BACKOFF,
        },
        DefaultFigure {
            what: "the jitter of ExponentialBackoffMaker::default()",
            value: "up to 0.99 of the wait on top",
            source: BACKOFF,
        },
        DefaultFigure {
            what: "TpsBudget::default()",
            value: "10 retries a second over 10 s: 100 for one request",
            source: BUDGET,
        },
    ],
};

static ABOUT: About = About {
    system: "tower",
    kind: LayerKind::Client,
    name: "tower retry",
    picks: "the policy",
    none: "leave the retry layer out",
    fewer: "give the policy a smaller number",
    limit: "count the tries in the policy, and return `None` after a few",
    wait: "return a future from `retry` that sleeps",
    grow: "take the waits from an `ExponentialBackoffMaker`",
    cap: "give `ExponentialBackoffMaker::new` a maximum",
    jitter: "give `ExponentialBackoffMaker::new` a jitter above zero",
    statuses: "return `None` for such answers",
    retry_after: "the policy sees the response: sleep for what its header says",
};

/// The crate.
pub(crate) struct Tower;

impl RetryCrate for Tower {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, m: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["tower", path @ ..] = path else { return None };
        let value = match (path, args) {
            ([.., "RetryLayer", "new"], [policy]) => Value::new(Kind::Native(layer(m, policy, at.span))),
            ([.., "Retry", "new"], [policy, inner]) => {
                let layer: ClientLayer<'a> = layer(m, policy, at.span);
                service(vec![layer], inner)
            }
            ([.., "ServiceBuilder", "new"], []) => native(Builder { layers: Vec::new() }),
            ([.., "service_fn"], [inner]) => service(Vec::new(), inner),
            ([.., "ExponentialBackoffMaker", "default"], []) => native(Waits { plan: plan(at.span), at: Cell::new(0) }),
            ([.., "ExponentialBackoffMaker", "new"], [min, max, jitter, _]) => {
                let jitter = policy::number(jitter, at.span);
                let plan = Plan {
                    base: policy::duration(min, at.span),
                    cap: policy::duration(max, at.span).map(Some),
                    jitter: jitter.map(|j| if j > 0.0 { added(j) } else { Jitter::None }),
                    ..plan(at.span)
                };
                Value::wrap("Ok", native(Waits { plan, at: Cell::new(0) }))
            }
            ([.., "TpsBudget", "default"], []) => native(Budget { left: Cell::new(100) }),
            ([.., "TpsBudget", "new"], [ttl, least, _]) => {
                let left = (ttl.duration()?.mid * least.number()?.mid) as i128;
                native(Budget { left: Cell::new(left) })
            }
            _ => return None,
        };
        Some(Ok(value))
    }
}

fn native<'a>(value: impl Native<'a> + 'a) -> Value<'a> {
    Value::new(Kind::Native(Rc::new(value)))
}

/// Random up to so much of the wait on top.
fn added(jitter: f64) -> Jitter {
    Jitter::Partial { low: 1.0, high: 1.0 + jitter }
}

fn plan(made: Span) -> Plan {
    Plan {
        jitter: Setting::default(added(0.99), BACKOFF),
        ..Plan::doubling(made, "tower `ExponentialBackoffMaker`", Duration::from_millis(50), BACKOFF)
    }
}

/// `ExponentialBackoffMaker`, and the backoffs that it makes.
#[derive(Debug, Clone)]
struct Waits {
    plan: Plan,
    at: Cell<u32>,
}

impl<'a> Native<'a> for Waits {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, _: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        match name {
            "make_backoff" => Some(Ok(native(Self { plan: self.plan.clone(), at: Cell::new(0) }))),
            "next_backoff" => {
                let n = self.at.replace(self.at.get().saturating_add(1));
                let wait = match self.plan.policy().wait_at(n) {
                    Some(wait) => super::delays::drawn(wait),
                    None => Value::unknown(7, Why::Other("is set outside of the code read")),
                };
                Some(Ok(Value::new(Kind::Future(Rc::new(Future::Sleep { wait, span: at.span })))))
            }
            _ => None,
        }
    }

    fn copied(&self) -> Option<Rc<dyn Native<'a> + 'a>> {
        Some(Rc::new(self.clone()))
    }
}

/// `TpsBudget`: the retries that one request alone may have.
#[derive(Debug, Clone)]
struct Budget {
    left: Cell<i128>,
}

impl<'a> Native<'a> for Budget {
    fn method(self: Rc<Self>, m: &mut Machine<'a, '_>, name: &'a str, _: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        match name {
            "withdraw" => {
                let left = self.left.get();
                m.note_compared(BinOp::Gt, at.span, &Value::int(left), &Value::int(0), left > 0);
                self.left.set(left.saturating_sub(1).max(0));
                Some(Ok(Value::bool(left > 0)))
            }
            "deposit" => Some(Ok(Value::unit())),
            _ => None,
        }
    }

    fn copied(&self) -> Option<Rc<dyn Native<'a> + 'a>> {
        Some(Rc::new(self.clone()))
    }
}

/// `RetryLayer`
#[derive(Debug)]
struct Layer<'a> {
    policy: Value<'a>,
    /// The policy of the request of the moment: each has a clone of its own.
    now: RefCell<Value<'a>>,
    described: Arc<Described>,
    opens: Span,
}

fn layer<'a>(machine: &mut Machine<'a, '_>, policy: &Value<'a>, opens: Span) -> Rc<Layer<'a>> {
    let ty = machine.local_type(policy).filter(|ty| machine.shared.index.method(*ty, "retry").is_some());
    let plain = match ty {
        Some(ty) => {
            let name = machine.shared.index.ty(ty).name;
            let why = "is what its policy decides".to_owned();
            Policy {
                attempts: Setting::unknown(why.clone(), Some(opens)),
                wait: Wait::Unknown { why: why.clone() },
                jitter: Setting::unknown(why, None),
                made: opens,
                name: "tower",
                reading: format!("tower retry by the policy `{name}`"),
                labels: Vec::new(),
                via: None,
            }
        }
        None => Policy::unknown(policy, opens, "tower retry"),
    };
    let described = Described { by_running: ty.is_some(), ..ABOUT.described(machine, &plain, opens, false) };
    let now = RefCell::new(policy.clone());
    let layer = Rc::new(Layer { policy: policy.clone(), now, described: Arc::new(described), opens });
    machine.layers_made.push(layer.clone());
    layer
}

impl<'a> Native<'a> for Layer<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        match (name, args) {
            ("layer", [inner]) => {
                let layer: ClientLayer<'a> = self;
                Some(Ok(service(vec![layer], inner)))
            }
            _ => None,
        }
    }

    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        Some(self)
    }
}

impl<'a> ClientRetry<'a> for Layer<'a> {
    fn described(&self) -> Arc<Described> {
        self.described.clone()
    }

    fn begin(&self) {
        *self.now.borrow_mut() = self.policy.deep_clone();
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        let policy = self.now.borrow().clone();
        let Some(function) = machine.own_method(&policy, &["retry"]) else { return Ok(false) };
        machine.pick = None;
        let request = machine.opaque(Why::Other("is the request"));
        let answer = machine.call_fn(function, vec![policy, request, result.clone()], self.opens)?;
        if machine.discovering() {
            return Ok(false);
        }
        let answer = machine.settle(answer, self.opens)?;
        let future = match answer.variant() {
            Some(("Some", Some(future))) => future.clone(),
            Some(_) => return Ok(false),
            None => return machine.decide(&answer, self.opens, Hint::plain()),
        };
        let next = machine.await_value(future, self.opens)?;
        // Until tower 0.5 the future gave the next policy.
        if machine.own_method(&next, &["retry"]) == Some(function) {
            *self.now.borrow_mut() = next;
        }
        Ok(true)
    }
}

/// `ServiceBuilder`
#[derive(Debug, Clone)]
struct Builder<'a> {
    layers: Vec<ClientLayer<'a>>,
}

impl<'a> Native<'a> for Builder<'a> {
    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let mut layers = self.layers.clone();
        match (name, args) {
            ("service" | "service_fn", [inner]) => return Some(Ok(service(layers, inner))),
            ("retry", [policy]) => layers.push(layer(machine, policy, at.named())),
            ("layer" | "option_layer", [layer]) => {
                let layer = match layer.variant() {
                    Some(("Some", Some(layer))) => layer,
                    _ => layer,
                };
                if let Kind::Native(native) = &layer.kind {
                    layers.extend(native.clone().client_layer());
                }
            }
            _ => return None,
        }
        Some(Ok(native(Self { layers })))
    }
}

/// A service behind layers, outermost first.
#[derive(Debug, Clone)]
struct Service<'a> {
    layers: Vec<ClientLayer<'a>>,
    inner: Value<'a>,
}

fn service<'a>(layers: Vec<ClientLayer<'a>>, inner: &Value<'a>) -> Value<'a> {
    native(Service { layers, inner: inner.clone() })
}

impl<'a> Native<'a> for Service<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        match (name, args) {
            ("call" | "oneshot", [request]) => {
                let request = request.clone();
                Some(Ok(later(move |m| self.called_with(m, &request, at))))
            }
            ("ready" | "ready_oneshot", []) => {
                let ready = Value::wrap("Ok", Value::new(Kind::Native(self)));
                Some(Ok(Value::new(Kind::Future(Rc::new(Future::Ready(ready))))))
            }
            _ => None,
        }
    }
}

impl<'a> Service<'a> {
    fn called_with(&self, machine: &mut Machine<'a, '_>, request: &Value<'a>, at: At) -> Eval<'a> {
        machine.through(&self.layers, &mut |m| {
            let future = match &self.inner.kind {
                Kind::Closure(_) | Kind::Fn(_) => m.call_value(&self.inner, vec![request.clone()], at.span)?,
                Kind::Client(_) => m.call_method(self.inner.clone(), "execute", vec![request.clone()], at)?,
                _ => m.call_method(self.inner.clone(), "call", vec![request.clone()], at)?,
            };
            let result = m.await_value(future, at.span)?;
            m.settle(result, at.span)
        })
    }
}
