//! reqwest-retry with retry-policies: a layer of a reqwest-middleware client.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::policy::{self, Count};
use super::{At, ClientRetry, Described, Native, Policy, RetryCrate};
use crate::model::{Advice, Attempts, Jitter, LayerKind, Setting, Wait};
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{ClientLayer, Kind, Response, Value};
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

fn ours(path: &[&str]) -> bool {
    match path {
        [_, _] => true,
        [first, ..] => matches!(*first, "reqwest_retry" | "retry_policies"),
        [] => false,
    }
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
        match (path, args) {
            ([.., "ExponentialBackoff", "builder"], []) | ([.., "ExponentialBackoffBuilder", "default"], [])
                if ours(path) && !path.contains(&"backoff") =>
            {
                Some(Ok(Value::new(Kind::Native(Rc::new(Backoff::new(at.span))))))
            }
            ([.., "RetryTransientMiddleware", "new_with_policy"], [policy]) => {
                Some(Ok(middleware(policy, Strategy::Default, at)))
            }
            ([.., "RetryTransientMiddleware", "new_with_policy_and_strategy"], [policy, strategy]) => {
                Some(Ok(middleware(policy, Strategy::of(strategy), at)))
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
            [.., "Jitter", name @ ("None" | "Full" | "Bounded")] => named(&format!("Jitter::{name}")),
            [.., "Retryable", name @ ("Transient" | "Fatal")] => named(name),
            _ => None,
        }
    }

    fn struct_literal<'a>(
        &self,
        path: &[&str],
        fields: &[(Name, Value<'a>)],
        _: Option<&Value<'a>>,
        span: Span,
    ) -> Option<Value<'a>> {
        let [.., "ExponentialBackoff"] = path else { return None };
        let (_, retries) = fields.iter().find(|(n, _)| &**n == "max_n_retries")?;
        let inner = match retries.variant() {
            Some(("Some", Some(n))) => n.clone(),
            _ => retries.clone(),
        };
        let number = inner.as_int().ok_or_else(|| "is computed".to_owned());
        let mut backoff = Backoff::new(span);
        backoff.times = Some((Count { number, place: span, labels: Vec::new(), via: None }, "max_n_retries"));
        Some(Value::new(Kind::Native(Rc::new(backoff))))
    }
}

fn variant<'a>(name: &str) -> Value<'a> {
    crate::rust::eval::call::variant(None, Name::from(name), Vec::new())
}

/// `ExponentialBackoff`, while and after it is built.
#[derive(Debug, Clone)]
struct Backoff {
    made: Span,
    min: Setting<Duration>,
    max: Setting<Option<Duration>>,
    base: Setting<f64>,
    jitter: Setting<Jitter>,
    times: Option<(Count, &'static str)>,
    total: Option<(f64, Span)>,
}

impl Backoff {
    fn new(made: Span) -> Self {
        Self {
            made,
            min: Setting::default(Duration::from_secs(1), POLICY),
            max: Setting::default(Some(Duration::from_secs(30 * 60)), POLICY),
            base: Setting::default(2.0, POLICY),
            jitter: Setting::default(Jitter::Full, POLICY),
            times: None,
            total: None,
        }
    }

    fn wait(&self) -> Wait {
        Wait::Exponential { base: self.min.clone(), factor: self.base.clone(), cap: self.max.clone() }
    }

    fn attempts(&self) -> Setting<Attempts> {
        match (&self.times, self.total) {
            (Some((count, _)), _) => policy::after_first(count),
            (None, Some((limit, place))) => {
                let mean = match self.jitter.value() {
                    Some(Jitter::Full) => 0.5,
                    Some(Jitter::Partial { low, high }) => (low + high) / 2.0,
                    _ => 1.0,
                };
                policy::within(limit, &self.wait(), mean, place)
            }
            (None, None) => Setting::unknown("is set outside of the code read", Some(self.made)),
        }
    }
}

impl<'a> Native<'a> for Backoff {
    fn identity(&self) -> u64 {
        u64::from(self.made.start)
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
        match (name, args) {
            ("retry_bounds", [low, high]) => {
                new.min = policy::duration(low, place);
                new.max = policy::duration(high, place).map(Some);
            }
            ("base", [base]) => {
                new.base = match base.number() {
                    Some(base) => Setting::written(base.mid, place),
                    None => Setting::unknown("is computed", Some(place)),
                };
            }
            ("jitter", [jitter]) => {
                new.jitter = match jitter.variant().map(|(name, _)| name) {
                    Some("Jitter::None") => Setting::written(Jitter::None, place),
                    Some("Jitter::Bounded") => Setting::written(Jitter::Partial { low: 0.5, high: 1.0 }, place),
                    Some("Jitter::Full") => Setting::written(Jitter::Full, place),
                    _ => Setting::unknown("is computed", Some(place)),
                };
            }
            ("build_with_max_retries", [n]) => {
                new.times =
                    Some((policy::count(machine, n, place, "build_with_max_retries"), "build_with_max_retries"));
            }
            ("build_with_total_retry_duration_and_max_retries", [d, n]) => {
                new.total = d.duration().map(|s| (s.mid, place));
                let count = policy::count(machine, n, place, name);
                new.times = Some((count, "build_with_total_retry_duration_and_max_retries"));
            }
            (
                "build_with_total_retry_duration"
                | "build_with_total_retry_duration_and_limit_retries"
                | "build_with_total_retry_duration_and_max_retries",
                [d],
            ) => new.total = d.duration().map(|s| (s.mid, place)),
            _ => {}
        }
        Some(Ok(Value::new(Kind::Native(Rc::new(new)))))
    }

    fn policy(&self) -> Option<Rc<Policy>> {
        let reading = match &self.times {
            Some((Count { number: Ok(n), .. }, call)) => format!("reqwest-retry `ExponentialBackoff`, `{call}({n})`"),
            Some((_, call)) => format!("reqwest-retry `ExponentialBackoff`, `{call}(..)`"),
            None => "reqwest-retry `ExponentialBackoff`, bounded by time".to_owned(),
        };
        let labels = self.times.as_ref().map(|(c, _)| c.labels.clone()).unwrap_or_default();
        Some(Rc::new(Policy {
            attempts: self.attempts(),
            wait: self.wait(),
            jitter: self.jitter.clone(),
            made: self.made,
            reading,
            labels,
            via: self.times.as_ref().and_then(|(c, _)| c.via),
        }))
    }
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

fn middleware<'a>(policy: &Value<'a>, strategy: Strategy<'a>, at: At) -> Value<'a> {
    let known = match &policy.kind {
        Kind::Native(native) => native.policy(),
        _ => None,
    };
    let policy = known.unwrap_or_else(|| {
        let why =
            policy.as_unknown().map_or_else(|| "is made outside of the code read".to_owned(), |u| u.why.to_string());
        Rc::new(Policy {
            attempts: Setting::unknown(why.clone(), Some(at.span)),
            wait: Wait::Unknown { why: why.clone() },
            jitter: Setting::unknown(why, None),
            made: at.span,
            reading: "reqwest-retry with a policy that is not known".to_owned(),
            labels: Vec::new(),
            via: None,
        })
    });
    let described = Described {
        system: "reqwest-retry",
        kind: LayerKind::Client,
        opens: at.span,
        place: policy.attempts.span().unwrap_or(at.span),
        attempts: policy.attempts.clone(),
        wait: policy.wait.clone(),
        wait_place: Some(policy.made),
        jitter: policy.jitter.clone(),
        name: "reqwest-retry client",
        reading: policy.reading.clone(),
        labels: policy.labels.clone(),
        via: policy.via,
        advice: Advice {
            fewer: Some("give `build_with_max_retries` a smaller number, or leave the retry middleware out".to_owned()),
            limit: Some("build the policy with `build_with_max_retries(3)`".to_owned()),
            wait: Some("raise the lower bound in `retry_bounds(..)`".to_owned()),
            grow: None,
            cap: Some("lower the upper bound in `retry_bounds(..)`".to_owned()),
            jitter: Some("drop `.jitter(Jitter::None)`: full jitter is the default".to_owned()),
            statuses: Some("leave such statuses out in a `RetryableStrategy` of your own".to_owned()),
            retry_after: Some("add reqwest-retry-after's `RetryAfterMiddleware` after the retry middleware".to_owned()),
        },
        picks: "the default strategy",
        undiscriminating: false,
    };
    Value::new(Kind::Native(Rc::new(Middleware { described: Arc::new(described), strategy, opens: at.span })))
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
