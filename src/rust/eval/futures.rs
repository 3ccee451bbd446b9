//! Futures: what runs when one is awaited, under a limit or not.
use std::rc::Rc;

use super::call::{LOCAL, http_method, sounds_like_wait, url_like};
use super::episode::Stir;
use super::goal::Outgoing;
use super::machine::{Eval, Exit, Flow, Machine};
use super::value::{Future, Kind, Object, Pending, Taint, Unknown, Value, Why};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// `value.await`
    pub(crate) fn await_value(&mut self, value: Value<'a>, span: Span) -> Eval<'a> {
        self.down()?;
        self.awaits.push(span);
        let result = self.await_kind(value, span);
        self.awaits.pop();
        self.up();
        result
    }

    pub(super) fn await_kind(&mut self, value: Value<'a>, span: Span) -> Eval<'a> {
        match &value.kind {
            Kind::Future(future) => self.run_future(&future.clone(), span),
            Kind::Unknown(unknown) => match unknown.call.clone() {
                Some(call) => self.run_pending(&call, &value),
                None => {
                    self.stir(Stir::Something);
                    Ok(value)
                }
            },
            Kind::Request(request) => self.send(&request.clone(), span),
            Kind::Iter(_) => self.await_all(value, span),
            // The next item of a stream of futures that run side by side.
            Kind::Variant(next) => match (value.variant(), next.fields.first()) {
                (Some(("Some", _)), Some((_, future))) if matches!(future.kind, Kind::Future(_)) => {
                    Ok(Value::wrap("Some", self.await_value(future.clone(), span)?))
                }
                _ => Ok(value),
            },
            Kind::Native(native) => match native.clone().awaited(self, span) {
                Some(result) => result,
                None => Ok(value),
            },
            // A future of the repository's own around another one.
            Kind::Object(object) if object.ty.is_some() => match held_future(object) {
                Some(inner) => self.await_value(inner, span),
                None => Ok(value),
            },
            _ => Ok(value),
        }
    }

    pub(super) fn run_future(&mut self, future: &Future<'a>, span: Span) -> Eval<'a> {
        match future {
            Future::Block { body, env, context } => {
                self.contexts.push(*context);
                self.returned.push(None);
                let result = self.eval(body, env);
                self.contexts.pop();
                let returned = self.returned.pop().flatten();
                match result {
                    Err(exit) => match *exit {
                        Flow::Return(value) => Ok(value),
                        other => Err(Box::new(other)),
                    },
                    Ok(value) if value.as_unknown().is_some() => Ok(returned.unwrap_or(value)),
                    ok => ok,
                }
            }
            Future::Call { function, args, span } => self.enter(*function, args.clone(), *span),
            Future::Closure { closure, args, span } => self.run_closure(closure, args.clone(), *span),
            Future::Sleep { wait, span } => {
                self.sleep(wait, *span)?;
                Ok(Value::unit())
            }
            Future::Send { request, span } => self.send(request, *span),
            Future::Timeout { limit, inner } => self.run_timeout(limit, inner.clone(), span),
            Future::Ready(value) => Ok(value.clone()),
            Future::Library(run) => (run.0)(self),
        }
    }

    /// `timeout(limit, inner).await`
    pub(crate) fn run_timeout(&mut self, limit: &Value<'a>, inner: Value<'a>, span: Span) -> Eval<'a> {
        if !self.discovering() && self.only_listens(&inner) {
            // Something that is to end the wait early, and mostly does not come: then this is a sleep.
            self.sleep(limit, span)?;
            return Ok(Value::wrap("Err", self.opaque(Why::Other("is a timeout"))));
        }
        let Some(seconds) = limit.duration().map(|s| s.mid).filter(|_| !self.discovering()) else {
            let value = self.await_value(inner, span)?;
            return Ok(Value::wrap("Ok", value));
        };
        self.deadlines_made += 1;
        let number = self.deadlines_made;
        let written = limit.origin.map_or(span, |o| o.span);
        self.deadlines.push((number, self.clock + seconds, seconds, written));
        let result = self.await_value(inner, span);
        self.deadlines.retain(|(n, ..)| *n != number);
        match result {
            Ok(value) => Ok(Value::wrap("Ok", value)),
            Err(exit) => match *exit {
                Flow::Expired(n) if n == number => {
                    Ok(Value::wrap("Err", self.opaque(Why::Other("is a timeout")).tainted(Taint::FAILURE)))
                }
                other => Err(Box::new(other)),
            },
        }
    }

    /// Whether what is waited for is only a signal: to stop, or that something has changed. Of a channel, that is so
    /// between two tries; before the first of a turn, it brings what there is to do.
    fn only_listens(&self, inner: &Value<'a>) -> bool {
        let Some(call) = inner.as_unknown().and_then(|u| u.call.as_ref()) else { return false };
        SIGNALS.contains(&call.name) || call.name == "recv" && self.between_tries()
    }

    /// `receiver.recv_timeout(limit)` of a channel between two tries, `condvar.wait_timeout(guard, limit)`: waits that
    /// something may end early.
    pub(super) fn interruptible_wait(&mut self, name: &str, args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        if self.discovering() {
            return None;
        }
        let (wait, result) = match (name, args) {
            ("recv_timeout", [limit]) if self.between_tries() => {
                let timeout = super::call::variant(None, "Timeout".into(), Vec::new());
                (limit, Value::wrap("Err", timeout))
            }
            ("wait_timeout" | "wait_timeout_while" | "wait_timeout_ms", [guard, limit, ..]) => {
                let after = self.opaque(Why::Other("says whether it was woken"));
                (limit, Value::wrap("Ok", Value::tuple(vec![guard.clone(), after])))
            }
            ("wait_for" | "wait_while_for", [_, .., limit]) if limit.duration().is_some() => {
                (limit, self.opaque(Why::Other("says whether it was woken")))
            }
            _ => return None,
        };
        let wait = if name == "wait_timeout_ms" { super::std_names::milliseconds(wait) } else { wait.clone() };
        Some(self.sleep(&wait, span).map(|()| result))
    }

    /// Whether the call under test was made in this turn of something that repeats it.
    fn between_tries(&self) -> bool {
        self.episodes.iter().any(|e| e.repeats() && e.hit_now)
    }

    /// How long the deadline with this number is.
    pub(crate) fn limit_of(&self, number: usize) -> Option<f64> {
        self.deadlines.iter().find(|(n, ..)| *n == number).map(|(_, _, limit, _)| *limit)
    }

    /// How long a future that only sleeps does so.
    pub(crate) fn sleep_of(&self, value: &Value<'a>) -> Option<Value<'a>> {
        match &value.kind {
            Kind::Future(f) => match &**f {
                Future::Sleep { wait, .. } => Some(wait.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a future only sleeps.
    pub(crate) fn is_sleep(&self, value: &Value<'a>) -> bool {
        matches!(&value.kind, Kind::Future(f) if matches!(**f, Future::Sleep { .. }))
    }

    /// A call of something outside, which happens when it is awaited.
    pub(crate) fn pending(
        &mut self,
        name: &'a str,
        receiver: Option<&Value<'a>>,
        args: &[Value<'a>],
        span: Span,
    ) -> Value<'a> {
        self.stir(Stir::Something);
        let all: Vec<&Value<'a>> = receiver.into_iter().chain(args).collect();
        let identity = Value::digest_all(name, all.iter().copied());
        let from = receiver.and_then(|r| r.as_unknown()).and_then(|u| u.call.clone());
        let url = args.iter().find_map(|a| url_like(a, span)).or_else(|| from.as_ref()?.url.clone());
        let named = args.first().filter(|_| name == "method").and_then(|m| m.known_text());
        let method = http_method(name).map(Rc::from).or(named.map(Rc::from));
        let method = method.or_else(|| from.as_ref()?.method.clone());
        let taint = all.iter().fold(Taint::NONE, |t, v| t.with(v.taint));
        let why = receiver
            .and_then(|r| r.as_unknown())
            .filter(|u| u.call.is_none())
            .map_or(Why::Call(name), |u| u.why.clone());
        let told = |v: &Value<'a>| v.taint.has(Taint::FAILURE);
        let judges = !name.starts_with("contains") && receiver.is_some_and(|r| !told(r)) && args.iter().any(told);
        let wait = args.iter().find(|a| is_duration(a)).cloned();
        let call = Pending { span, name, identity, url, method, wait, judges };
        let unknown = Unknown { id: identity, why, ty: None, succeeded: false, call: Some(Rc::new(call)), keys: None };
        Value::new(Kind::Unknown(Rc::new(unknown))).tainted(taint)
    }

    pub(super) fn run_pending(&mut self, call: &Rc<Pending<'a>>, value: &Value<'a>) -> Eval<'a> {
        if sounds_like_wait(call.name) {
            return self.sleep_elsewhere(call);
        }
        if LOCAL.contains(&call.name) || value.taint.has(Taint::FAILURE) || value.taint.has(Taint::ANSWER) {
            return Ok(self.good_result(call.name, value));
        }
        self.leave_program(call)
    }

    /// A function that waits, and is handed over or lies outside: it waits for the duration that it is given.
    fn sleep_elsewhere(&mut self, call: &Rc<Pending<'a>>) -> Eval<'a> {
        let unknown = || Value::unknown(call.identity, Why::Call(call.name));
        let wait = call.wait.clone().unwrap_or_else(unknown);
        self.sleep(&wait, call.span)?;
        Ok(Value::unit())
    }

    /// A value that nobody takes: what gave it may have blocked, as `clock.sleep(wait);` does.
    pub(super) fn dropped(&mut self, value: &Value<'a>) -> Result<(), Exit<'a>> {
        let Some(call) = value.as_unknown().and_then(|u| u.call.clone()) else { return Ok(()) };
        let verb = call.name.split('_').next().unwrap_or_default();
        let waits = verb == "sleep" || call.wait.is_some() && sounds_like_wait(verb);
        if waits {
            self.sleep_elsewhere(&call)?;
        }
        Ok(())
    }

    /// The call of something outside whose result may be an error.
    pub(super) fn leave_program(&mut self, call: &Rc<Pending<'a>>) -> Eval<'a> {
        let outgoing = Outgoing {
            span: call.span,
            identity: call.identity,
            http: false,
            grpc: false,
            url: call.url.clone(),
            method: call.method.clone(),
            key: super::key::Carried::Perhaps,
            limit: None,
            layered: false,
            takes_messages: false,
            stream: None,
            what: format!("`{}`", call.name),
        };
        self.call_outside(&outgoing, call.name)
    }

    /// A result that is asked for without awaiting it: a blocking call, if its name says so.
    pub(crate) fn blocking(&mut self, value: Value<'a>) -> Eval<'a> {
        let Some(call) = value.as_unknown().and_then(|u| u.call.clone()) else { return Ok(value) };
        if sounds_like_wait(call.name) && !self.discovering() {
            return Ok(value);
        }
        if !BLOCKING.contains(&call.name) || value.taint.has(Taint::FAILURE) {
            return Ok(value);
        }
        self.leave_program(&call)
    }
}

/// What a signal is waited for with.
const SIGNALS: [&str; 6] = ["cancelled", "cancelled_owned", "notified", "changed", "closed", "ctrl_c"];

/// The future in a struct that holds one.
fn held_future<'a>(object: &Object<'a>) -> Option<Value<'a>> {
    let fields = object.fields.borrow();
    let mut held = fields.iter().map(|(_, v)| v).filter(|v| matches!(v.kind, Kind::Future(_)));
    let first = held.next()?;
    held.next().is_none().then(|| first.clone())
}

/// Methods and functions that block until the network answers, whoever has them.
pub(super) const BLOCKING: [&str; 8] = ["send", "call", "execute", "query", "fetch", "publish", "connect", "fetch_one"];

fn is_duration(value: &Value<'_>) -> bool {
    match &value.kind {
        Kind::Duration(_) => true,
        Kind::Lifted(all) => all.iter().all(|(_, v)| matches!(v.kind, Kind::Duration(_))),
        _ => false,
    }
}
