//! reqwest-retry with retry-policies: a layer of a reqwest-middleware client.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::policy::{self, Count, Plan};
use super::retried::About;
use super::{At, ClientRetry, Described, Native, Policy, RetryCrate};
use crate::model::{Jitter, LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{ClientLayer, Kind, Response, Taint, Value, Variant, Why};
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const POLICY: &str = "retry-policies 0.5.2 src/policies/exponential_backoff.rs";
const STRATEGY: &str = "reqwest-retry 0.9.1 src/retryable_strategy.rs";

static META: SystemMeta = SystemMeta {
    id: "reqwest-retry",
    name: "reqwest-retry",
    reads: "Rust: `RetryTransientMiddleware` on a reqwest-middleware client, with policies of retry-policies",
    marks: &["reqwest_retry", "retry_policies"],
    defaults: &[
        DefaultFigure { what: "retry_bounds not called", value: "1 s, doubling, up to 30 min", source: POLICY },
        DefaultFigure { what: "jitter not called", value: "full jitter", source: POLICY },
        DefaultFigure {
            what: "no strategy given",
            value: "408, 429, 5xx, timeouts and connection errors, whatever the method",
            source: STRATEGY,
        },
    ],
};

/// The crate.
pub(crate) struct ReqwestRetry;

/// Whether a path leads into one of the two crates.
fn ours(path: &[&str]) -> bool {
    matches!(path, ["reqwest_retry" | "retry_policies", ..])
}

impl RetryCrate for ReqwestRetry {
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
        if let (["reqwest_conditional_middleware", .., "ConditionalMiddleware", "new"], [inner, when]) = (path, args) {
            return super::middleware::conditional(inner, when, at.span).map(Ok);
        }
        if !ours(path) {
            return None;
        }
        match (path, args) {
            ([.., "ExponentialBackoff", "builder"], []) | ([.., "ExponentialBackoffBuilder", "default"], []) => {
                Some(Ok(Value::new(Kind::Native(Rc::new(Backoff(plan(at.span)))))))
            }
            ([.., "RetryTransientMiddleware", "new_with_policy"], [policy]) => {
                Some(Ok(middleware(machine, policy, Strategy::Default, at)))
            }
            ([.., "RetryTransientMiddleware", "new_with_policy_and_strategy"], [policy, strategy]) => {
                Some(Ok(middleware(machine, policy, Strategy::of(strategy), at)))
            }
            ([.., "default_on_request_success"], [response]) => {
                let judged = default_of_response(machine, response);
                Some(Ok(judged))
            }
            ([.., "default_on_request_failure"], [error]) => Some(Ok(default_of_error(machine, error))),
            ([.., "DefaultRetryableStrategy", "handle"], [_, result]) => Some(default_of(machine, result, at.span)),
            _ => None,
        }
    }

    fn constant<'a>(&self, path: &[&str]) -> Option<Value<'a>> {
        let named = |name: &str| Some(variant(name));
        match path {
            _ if !ours(path) => None,
            [.., "Jitter", name @ ("None" | "Full" | "Bounded")] => named(&format!("Jitter::{name}")),
            [.., "Retryable", name @ ("Transient" | "Fatal")] => named(name),
            _ => None,
        }
    }

    fn struct_literal<'a>(
        &self,
        _: &Machine<'a, '_>,
        path: &[&str],
        fields: &[(Name, Value<'a>)],
        _: Option<&Value<'a>>,
        span: Span,
    ) -> Option<Value<'a>> {
        let [.., "ExponentialBackoff"] = path else { return None };
        if !ours(path) {
            return None;
        }
        let (_, retries) = fields.iter().find(|(n, _)| &**n == "max_n_retries")?;
        let inner = match retries.variant() {
            Some(("Some", Some(n))) => n.clone(),
            _ => retries.clone(),
        };
        let number = inner.as_int().ok_or_else(|| "is computed".to_owned());
        let call = "max_n_retries".to_owned();
        let count = Count { number, call, with_first: false, place: span, labels: Vec::new(), via: None };
        Some(Value::new(Kind::Native(Rc::new(Backoff(Plan { count: Some(count), ..plan(span) })))))
    }
}

fn variant<'a>(name: &str) -> Value<'a> {
    crate::rust::eval::call::variant(None, Name::from(name), Vec::new())
}

/// `ExponentialBackoff`, while and after it is built.
#[derive(Debug, Clone)]
struct Backoff(Plan);

fn plan(made: Span) -> Plan {
    Plan {
        cap: Setting::default(Some(Duration::from_secs(30 * 60)), POLICY),
        jitter: Setting::default(Jitter::Full, POLICY),
        otherwise: (Setting::unknown("is set outside of the code read", Some(made)), "a limit that is not known"),
        ..Plan::doubling(made, "reqwest-retry `ExponentialBackoff`", Duration::from_secs(1), POLICY)
    }
}

impl<'a> Native<'a> for Backoff {
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
        if let ("should_retry", [_, made]) = (name, args) {
            return Some(Ok(decision(machine, &self.0.policy(), made)));
        }
        let mut plan = self.0.clone();
        match (name, args) {
            ("retry_bounds", [low, high]) => {
                plan.base = policy::duration(low, place);
                plan.cap = policy::duration(high, place).map(Some);
            }
            ("base", [base]) => plan.factor = policy::number(base, place),
            ("jitter", [jitter]) => {
                plan.jitter = match jitter.variant().map(|(name, _)| name) {
                    Some("Jitter::None") => Setting::written(Jitter::None, place),
                    Some("Jitter::Bounded") => Setting::written(Jitter::Partial { low: 0.5, high: 1.0 }, place),
                    Some("Jitter::Full") => Setting::written(Jitter::Full, place),
                    _ => Setting::unknown("is computed", Some(place)),
                };
            }
            ("build_with_max_retries", [n]) => plan.count = Some(policy::retries(machine, n, place, name)),
            ("build_with_total_retry_duration_and_max_retries", [d, n]) => {
                plan.total = Some(policy::duration(d, place));
                plan.count = Some(policy::retries(machine, n, place, name));
            }
            (
                "build_with_total_retry_duration"
                | "build_with_total_retry_duration_and_limit_retries"
                | "build_with_total_retry_duration_and_max_retries",
                [d],
            ) => plan.total = Some(policy::duration(d, place)),
            _ => {}
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(Self(plan))))))
    }

    fn policy(&self) -> Option<Rc<Policy>> {
        Some(Rc::new(self.0.policy()))
    }
}

/// `RetryDecision`, for whoever asks the policy in a loop of their own.
fn decision<'a>(machine: &mut Machine<'a, '_>, policy: &Policy, made: &Value<'a>) -> Value<'a> {
    let counted = policy.attempts.value().and_then(|a| a.count()).is_some();
    let made = made.as_int().and_then(|n| u32::try_from(n).ok());
    let wait = match made.map(|n| policy.wait_at(n)) {
        Some(None) => return variant("DoNotRetry"),
        Some(Some(wait)) => wait,
        None => Err("is computed".to_owned()),
    };
    if !counted || made.is_none() {
        machine.perhaps_ended("is what its policy decides");
    }
    let at = match wait {
        Ok(wait) => {
            let taint = if wait.is_exact() { Taint::NONE } else { Taint::RANDOM };
            Value::new(Kind::Instant(machine.clock + wait.mid)).tainted(taint)
        }
        Err(_) => machine.opaque(Why::Other("is what its policy decides")),
    };
    let fields = vec![(Name::from("execute_after"), at)];
    Value::new(Kind::Variant(Rc::new(Variant { ty: None, name: Name::from("Retry"), fields })))
}

/// What decides whether a result is transient.
#[derive(Debug, Clone)]
enum Strategy<'a> {
    Default,
    Own(Value<'a>),
}

impl<'a> Strategy<'a> {
    fn of(value: &Value<'a>) -> Self {
        match &value.kind {
            Kind::External(path) if path.segments.last().is_some_and(|s| &**s == "DefaultRetryableStrategy") => {
                Self::Default
            }
            _ => Self::Own(value.clone()),
        }
    }
}

/// `RetryTransientMiddleware`
#[derive(Debug)]
struct Middleware<'a> {
    described: Arc<Described>,
    strategy: Strategy<'a>,
    opens: Span,
}

static ABOUT: About = About {
    system: "reqwest-retry",
    kind: LayerKind::Client,
    name: "reqwest-retry client",
    picks: "the default strategy",
    none: "leave the retry middleware out",
    fewer: "give `build_with_max_retries` a smaller number",
    limit: "build the policy with `build_with_max_retries(3)`",
    wait: "raise the lower bound in `retry_bounds(..)`",
    grow: "",
    cap: "lower the upper bound in `retry_bounds(..)`",
    jitter: "drop `.jitter(Jitter::None)`: full jitter is the default",
    statuses: "leave such statuses out in a `RetryableStrategy` of your own",
    retry_after: "add reqwest-retry-after's `RetryAfterMiddleware` after the retry middleware",
};

fn middleware<'a>(machine: &Machine<'a, '_>, policy: &Value<'a>, strategy: Strategy<'a>, at: At) -> Value<'a> {
    let known = match &policy.kind {
        Kind::Native(native) => native.policy(),
        _ => None,
    };
    let policy = known.unwrap_or_else(|| Rc::new(Policy::unknown(policy, at.span, "reqwest-retry")));
    let described = Arc::new(ABOUT.described(machine, &policy, at.span, false));
    Value::new(Kind::Native(Rc::new(Middleware { described, strategy, opens: at.span })))
}

impl<'a> Native<'a> for Middleware<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, _: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        None
    }

    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        Some(self)
    }
}

impl<'a> ClientRetry<'a> for Middleware<'a> {
    fn described(&self) -> Arc<Described> {
        self.described.clone()
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        machine.pick = None;
        let judged = match &self.strategy {
            Strategy::Default => default_of(machine, result, self.opens)?,
            Strategy::Own(strategy) => machine.call_method(
                strategy.clone(),
                "handle",
                vec![result.clone()],
                At { span: self.opens, name_span: self.opens },
            )?,
        };
        if machine.discovering() {
            return Ok(false);
        }
        let judged = machine.settle(judged, self.opens)?;
        let inner = match judged.variant() {
            Some(("Some", Some(inner))) => machine.settle(inner.clone(), self.opens)?,
            Some(_) => return Ok(false),
            None => return machine.decide(&judged, self.opens, Hint::plain()),
        };
        match inner.variant() {
            Some((name, _)) => Ok(name == "Transient"),
            None => machine.decide(&inner, self.opens, Hint::plain()),
        }
    }
}

/// The default strategy.
fn default_of<'a>(machine: &mut Machine<'a, '_>, result: &Value<'a>, at: Span) -> Eval<'a> {
    let result = machine.settle(result.clone(), at)?;
    Ok(match result.variant() {
        Some(("Ok", Some(response))) => default_of_response(machine, response),
        Some(("Err", Some(error))) => default_of_error(machine, error),
        _ => Value::none(),
    })
}

fn default_of_response<'a>(machine: &mut Machine<'a, '_>, response: &Value<'a>) -> Value<'a> {
    let judge = |status: u16| match status {
        408 | 429 | 500..=599 => Value::wrap("Some", variant("Transient")),
        200..=299 => Value::none(),
        _ => Value::wrap("Some", variant("Fatal")),
    };
    match &response.kind {
        Kind::Response(Response::Other) => Value::none(),
        Kind::Response(_) => {
            let taint = response.taint;
            let statuses = machine.statuses(taint);
            match &statuses.kind {
                Kind::Status(s) => judge(*s).tainted(taint),
                Kind::Lifted(all) => {
                    Value::new(Kind::Lifted(Rc::new(all.iter().map(|(s, _)| (*s, judge(*s))).collect()))).tainted(taint)
                }
                _ => Value::none(),
            }
        }
        _ => Value::none(),
    }
}

fn default_of_error<'a>(machine: &mut Machine<'a, '_>, error: &Value<'a>) -> Value<'a> {
    let _ = machine;
    match &error.kind {
        Kind::HttpError(e) => {
            let name = if e.transport.is_some() { "Transient" } else { "Fatal" };
            Value::wrap("Some", variant(name)).tainted(error.taint)
        }
        _ => Value::wrap("Some", variant("Fatal")).tainted(error.taint),
    }
}
