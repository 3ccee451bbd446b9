//! reqwest's own retries: `ClientBuilder::retry(policy)`, at once and without looking at Retry-After.

use std::rc::Rc;
use std::sync::Arc;

use super::policy::{self, Count};
use super::{At, ClientRetry, Described, Native, RetryCrate};
use crate::model::{Advice, Attempts, Budget, LayerKind, Mode, Setting};
use crate::rust::eval::call::variant;
use crate::rust::eval::goal::World;
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{ClientLayer, Kind, Request, Taint, Value, Why};
use crate::rust::ir::Name;
use crate::source::Span;
use crate::systems::{DefaultFigure, SystemMeta};

const SOURCE: &str = "reqwest 0.13.5 src/retry.rs";

static META: SystemMeta = SystemMeta {
    id: "reqwest",
    name: "reqwest",
    reads: "Rust: `ClientBuilder::retry` with policies of `reqwest::retry` (0.12.23 and later)",
    marks: &["for_host", "max_retries_per_request"],
    defaults: &[
        DefaultFigure { what: "no classify, no classify_fn", value: "1 attempt", source: SOURCE },
        DefaultFigure { what: "max_retries_per_request not called", value: "3 attempts (2 retries)", source: SOURCE },
        DefaultFigure { what: "for_host(\"*\")", value: "2 attempts at most: no host is called `*`", source: SOURCE },
        DefaultFigure {
            what: "max_extra_load, no_budget not called",
            value: "a budget of 20 % of the requests",
            source: SOURCE,
        },
        DefaultFigure { what: "wait", value: "none", source: SOURCE },
        DefaultFigure { what: "timeouts", value: "never repeated, whatever the classifier says", source: SOURCE },
    ],
};

/// The crate.
pub(crate) struct ReqwestOwn;

impl RetryCrate for ReqwestOwn {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn function<'a>(&self, _: &mut Machine<'a, '_>, path: &[&str], args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let ["reqwest", "retry", rest @ ..] = path else { return None };
        let policy = |nobody: bool| Policy {
            made: at.span,
            times: None,
            nobody,
            budget: Some(Budget { ratio: Setting::default(0.2, SOURCE) }),
            classify: None,
            never: false,
        };
        let policy = match (rest, args) {
            (["for_host"], [host]) => policy(host.known_text().is_some_and(|h| h == "*")),
            (["Builder", "scoped"], [_]) => policy(false),
            (["never"], []) => Policy { never: true, ..policy(false) },
            _ => return None,
        };
        Some(Ok(policy.value()))
    }
}

/// `reqwest::retry::Builder`
#[derive(Debug, Clone)]
struct Policy<'a> {
    made: Span,
    times: Option<Count>,
    /// Whether no request is in its scope: the first retry is made all the same.
    nobody: bool,
    budget: Option<Budget>,
    classify: Option<(Value<'a>, Span)>,
    never: bool,
}

impl<'a> Policy<'a> {
    fn value(self) -> Value<'a> {
        Value::new(Kind::Native(Rc::new(self)))
    }

    fn attempts(&self) -> Setting<Attempts> {
        if self.never {
            return Setting::written(Attempts::Count(1), self.made);
        }
        if self.classify.is_none() {
            return Setting::default(Attempts::Count(1), SOURCE);
        }
        let counted = match &self.times {
            Some(count) => count.attempts(),
            None => Setting::default(Attempts::Count(3), SOURCE),
        };
        match counted.value().and_then(|a| a.count()) {
            Some(0..=2) => counted,
            _ if self.nobody => Setting::written(Attempts::Count(2), self.made),
            _ => counted,
        }
    }

    fn reading(&self) -> String {
        match &self.times {
            _ if self.never => "reqwest's own retries, `never()`".to_owned(),
            _ if self.classify.is_none() => "reqwest's own retries, without a classifier".to_owned(),
            _ if self.nobody => "reqwest's own retries, `for_host(\"*\")`, which no host is called".to_owned(),
            Some(Count { number: Ok(n), .. }) => format!("reqwest's own retries, `max_retries_per_request({n})`"),
            Some(_) => "reqwest's own retries, `max_retries_per_request(..)`".to_owned(),
            None => "reqwest's own retries, 2 by default".to_owned(),
        }
    }

    fn describe(&self) -> Described {
        let attempts = self.attempts();
        Described {
            place: attempts.span().unwrap_or(self.made),
            attempts,
            reading: self.reading(),
            labels: self.times.as_ref().map(|c| c.labels.clone()).unwrap_or_default(),
            via: self.times.as_ref().and_then(|c| c.via),
            budget: self.budget.clone(),
            retry_after: Some(Setting::default(false, SOURCE)),
            picks: "the classifier",
            advice: Advice {
                none: Some("use `retry::never()`".into()),
                fewer: Some("give `max_retries_per_request(..)` a smaller number".into()),
                limit: Some("call `max_retries_per_request(2)`".into()),
                wait: Some(
                    "let reqwest-retry's middleware repeat the request: reqwest's own retries cannot wait".into(),
                ),
                statuses: Some("let the classifier call such an answer a `success()`".into()),
                pass_on: Some("let the classifier call a 429 or a 503 a `success()`".into()),
                ..Advice::default()
            },
            ..Described::new("reqwest", LayerKind::Client, "reqwest client", self.made)
        }
    }
}

impl<'a> Native<'a> for Policy<'a> {
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
            ("max_retries_per_request", [n]) => new.times = Some(policy::retries(machine, n, place, name)),
            ("max_extra_load", [ratio]) => {
                let ratio = match ratio.number() {
                    Some(ratio) => Setting::written(ratio.mid, place),
                    None => Setting::unknown("is computed", Some(place)),
                };
                new.budget = Some(Budget { ratio });
            }
            ("no_budget", []) => new.budget = None,
            ("classify_fn" | "classify", [classify]) => new.classify = Some((classify.clone(), place)),
            _ => return None,
        }
        Some(Ok(new.value()))
    }

    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        Some(Rc::new(Layer { described: Arc::new(self.describe()), classify: self.classify.clone() }))
    }
}

/// What it puts around each request.
#[derive(Debug)]
struct Layer<'a> {
    described: Arc<Described>,
    classify: Option<(Value<'a>, Span)>,
}

impl<'a> ClientRetry<'a> for Layer<'a> {
    fn described(&self) -> Arc<Described> {
        self.described.clone()
    }

    fn innermost(&self) -> bool {
        true
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        self.again_of(machine, None, result)
    }

    fn again_of(
        &self,
        machine: &mut Machine<'a, '_>,
        request: Option<&Rc<Request<'a>>>,
        result: &Value<'a>,
    ) -> Result<bool, Exit<'a>> {
        let Some((classify, span)) = &self.classify else { return Ok(false) };
        // The client's timeouts lie around all tries together.
        if machine.world == World::Transport(Mode::Timeout) {
            return Ok(false);
        }
        machine.pick = None;
        let seen = Seen { result: result.clone(), method: request.and_then(|r| r.method.clone()) };
        let seen = Value::new(Kind::Native(Rc::new(seen)));
        let judged = match &classify.kind {
            Kind::Closure(_) | Kind::Fn(_) => machine.call_value(classify, vec![seen], *span)?,
            _ => machine.call_method(classify.clone(), "classify", vec![seen], At { span: *span, name_span: *span })?,
        };
        if machine.discovering() {
            return Ok(false);
        }
        let judged = machine.settle(judged, *span)?;
        match judged.variant() {
            Some((name, _)) => Ok(name == "Action::Retryable" && result.taint.has(Taint::FAILURE)),
            None => machine.decide(&judged, *span, Hint::plain()),
        }
    }
}

/// `Some(status)` for each status that it may be.
fn each_there(statuses: Value<'_>) -> Value<'_> {
    match &statuses.kind {
        Kind::Lifted(all) => {
            let all = all.iter().map(|(s, v)| (*s, Value::wrap("Some", v.clone()))).collect();
            Value::new(Kind::Lifted(Rc::new(all))).tainted(statuses.taint)
        }
        _ => Value::wrap("Some", statuses),
    }
}

/// What a classifier is shown.
#[derive(Debug, Clone)]
struct Seen<'a> {
    result: Value<'a>,
    method: Option<Rc<str>>,
}

impl<'a> Native<'a> for Seen<'a> {
    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        _: &[Value<'a>],
        _: At,
    ) -> Option<Eval<'a>> {
        let answer = match self.result.variant() {
            Some(("Ok", Some(response))) => Some(response.clone()),
            _ => None,
        };
        let taint = self.result.taint;
        let action = |name: &str| variant(None, Name::from(name), Vec::new()).tainted(taint);
        Some(Ok(match name {
            "retryable" => action("Action::Retryable"),
            "success" => action("Action::Success"),
            "status" => match answer {
                Some(response) => each_there(machine.statuses(response.taint.with(taint))),
                None => Value::none().tainted(taint),
            },
            "error" => match self.result.variant() {
                Some(("Err", Some(error))) => Value::wrap("Some", error.clone()).tainted(taint),
                _ => Value::none().tainted(taint),
            },
            "method" => match &self.method {
                Some(method) => Value::text(&**method),
                None => machine.opaque(Why::Other("is the method of a request")),
            },
            _ => machine.opaque(Why::Other("is a part of a request")),
        }))
    }
}
