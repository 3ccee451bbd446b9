//! Method calls: whose method it is, and what those of the standard library do.
use std::rc::Rc;

use super::env::Env;
use super::machine::{Eval, Hint, Machine};
use super::macros::text_of;
use super::value::{Future, Kind, Taint, Value, Why};
use crate::rust::crates::At;
use crate::rust::crates::retried::later;
use crate::rust::ir::{Expr, ExprKind, Name, Ty};
use crate::source::Span;

/// Methods that give back their receiver, as far as retries are concerned.
const SAME: [&str; 43] = [
    "as_ref",
    "as_mut",
    "borrow",
    "borrow_mut",
    "deref",
    "deref_mut",
    "into",
    "try_into",
    "as_deref",
    "as_deref_mut",
    "boxed",
    "boxed_local",
    "instrument",
    "in_current_span",
    "into_future",
    "fuse",
    "by_ref",
    "as_str",
    "as_bytes",
    "to_owned",
    "into_boxed_str",
    "into_string",
    "with_current_subscriber",
    "unwrap_infallible",
    "into_inner",
    "get_ref",
    "get_mut",
    "lock",
    "read",
    "write",
    "load_full",
    "as_slice",
    "to_vec",
    "into_owned",
    "trim",
    "trim_end",
    "trim_start",
    "as_path",
    "compat",
    "as_static",
    "blocking_lock",
    "upgrade",
    "to_bytes",
];

/// Methods that fill a buffer that they are given.
const FILLS: [&str; 5] = ["read_line", "read_until", "read_to_string", "read_to_end", "read_buf"];

impl<'a> Machine<'a, '_> {
    #[allow(clippy::too_many_arguments, reason = "the parts of a method call")]
    pub(crate) fn method(
        &mut self,
        receiver: &'a Expr,
        name: &'a Name,
        name_span: Span,
        types: &'a [Ty],
        args: &'a [Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let value = self.eval(receiver, env)?;
        let values = self.eval_all(args, env)?;
        let at = At { span, name_span };
        if let Some(result) = self.turbofish(&value, name, types) {
            return Ok(result);
        }
        let mutates = matches!(&value.kind, Kind::Native(native) if native.mutates(name));
        let fills = &**name == "get_or_insert_with" && matches!(value.variant(), Some(("None", _)));
        let extended = self.extended(&value, name, &values, at, env);
        let result = self.call_method(value, name, values, at)?;
        if fills {
            self.store(receiver, Value::wrap("Some", result.clone()), env)?;
        }
        if mutates && matches!(result.kind, Kind::Native(_)) {
            self.store(root_of(receiver), result.clone(), env)?;
        }
        if let Some(extended) = extended {
            self.store(receiver, extended, env)?;
        }
        if FILLS.contains(&&**name)
            && let [.., buffer] = args
            && matches!(*buffer.kind, ExprKind::Path(_))
            && matches!(self.eval(buffer, env)?.kind, Kind::Text(_) | Kind::List(_))
        {
            let filled = self.opaque(Why::Call(name));
            self.store(buffer, filled, env)?;
        }
        Ok(result)
    }

    /// `receiver.name(args)`
    pub(crate) fn call_method(&mut self, value: Value<'a>, name: &'a str, args: Vec<Value<'a>>, at: At) -> Eval<'a> {
        self.step()?;
        if let Some(helper) = self.helper_method(&value, name)
            && let Some(result) = self.run_helper(helper, &args, at)
        {
            return result;
        }
        if let Some(result) = crate::rust::crates::method(self, &value, name, &args, at) {
            return result;
        }
        if let Some(ty) = self.local_type(&value)
            && let Some(ix) = self.shared.index.method(ty, name)
        {
            let all = [value].into_iter().chain(args).collect();
            return self.call_fn(ix, all, at.span);
        }
        if let Some(result) = self.per_status(&value, name, &args, at) {
            return result;
        }
        if let Some(result) = self.fan_method(&value, name, &args, at) {
            return result;
        }
        let value = if super::option::METHODS.contains(&name) { self.settle(value, at.span)? } else { value };
        if let Some(result) = self.typed_method(&value, name, &args, at) {
            return result;
        }
        if SAME.contains(&name) {
            return Ok(value);
        }
        match name {
            "clone" | "cloned" => return Ok(value.deep_clone()),
            "to_string" => {
                let taint = value.taint;
                return Ok(Value::new(Kind::Text(Rc::new(text_of(&value)))).tainted(taint));
            }
            _ => {}
        }
        if value.as_unknown().is_some_and(|u| u.ty.is_none())
            && let Some(ix) = self.only_method_named(name, args.len())
        {
            let all = [value].into_iter().chain(args).collect();
            return self.call_fn(ix, all, at.span);
        }
        if let Some(result) = super::random::method(&value, name, &args) {
            return Ok(self.drawn_now(result));
        }
        self.untyped_method(value, name, args, at)
    }

    fn untyped_method(&mut self, value: Value<'a>, name: &'a str, args: Vec<Value<'a>>, at: At) -> Eval<'a> {
        let mut value = value;
        if value.taint.has(Taint::FAILURE) && super::expr::is_retry_after(name) {
            value = value.tainted(Taint::SERVER_WAIT);
        }
        if value.taint.has(Taint::FAILURE) && args.iter().any(super::http::names_retry_after) {
            value = value.tainted(Taint::SERVER_WAIT);
        }
        let supplies =
            matches!(name, "pop" | "pop_front" | "pop_back" | "try_recv" | "next" | "dequeue" | "poll" | "read_line");
        if supplies || hands_out_items(name) {
            // A supply that nothing is known of may run out: what takes from it is not without limit.
            self.note_open_bound(&value);
            return Ok(self.opaque(Why::Call(name)).tainted(value.taint));
        }
        // A cell that is filled when it is first asked.
        if let ("get_or_init" | "get_or_try_init" | "get_or_insert_with", [make]) = (name, args.as_slice())
            && matches!(make.kind, Kind::Closure(_) | Kind::Fn(_))
        {
            return self.call_value(make, Vec::new(), at.span);
        }
        if let Some(result) = self.interruptible_wait(name, &args, at.span) {
            return result;
        }
        // A service, once it has room for a call.
        if let ("ready" | "ready_oneshot", [], Some(unknown)) = (name, args.as_slice(), value.as_unknown())
            && unknown.call.is_none()
        {
            let ready = Value::wrap("Ok", value);
            return Ok(Value::new(Kind::Future(Rc::new(Future::Ready(ready)))));
        }
        // A runtime that waits for a future.
        if let ("block_on", [work]) = (name, args.as_slice()) {
            return self.await_value(work.clone(), at.span);
        }
        self.unknown_method(&value, name, &args, at.span)
    }

    fn typed_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let by_option = super::option::METHODS.contains(&name).then(|| self.option_method(value, name, args, at));
        if let Some(Some(result)) = by_option {
            return Some(result);
        }
        match &value.kind {
            Kind::Int(_) | Kind::Float(_) | Kind::Drawn(_) | Kind::Duration(_) | Kind::Instant(_) | Kind::Bool(_) => {
                self.number_method(value, name, args, at)
            }
            Kind::Text(text) => self.text_method(&text.clone(), value, name, args),
            Kind::List(_) | Kind::Iter(_) | Kind::Range(_) | Kind::Native(_) => {
                self.list_method(value, name, args).or_else(|| self.iter_method(value, name, args, at))
            }
            Kind::Client(_) | Kind::Request(_) | Kind::Response(_) | Kind::HttpError(_) | Kind::Status(_) => {
                self.http_method(value, name, args, at)
            }
            Kind::Future(_) => self.future_method(value, name, args),
            Kind::Unknown(_) => self.hinted_method(value, name, args, at),
            Kind::Object(_) => self.object_method(value, name, args, at),
            _ => None,
        }
    }

    /// Methods of something not known that its name gives away.
    fn hinted_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        if let Some(result) = self.http_like_method(value, name, args, at) {
            return Some(result);
        }
        match name {
            "elapsed" => Some(Ok(self.derived("elapsed", Why::Other("is a time"), &[value]).tainted(Taint::TIME))),
            "iter" | "into_iter" | "iter_mut" | "map" | "enumerate" | "zip" | "take" | "rev"
                if value.as_unknown().is_some_and(|u| u.call.is_none()) && args.len() <= 1 =>
            {
                match args.first() {
                    // On an option or a result of something not known the closure is run on what it may hold.
                    Some(f) if name == "map" => {
                        let f = f.clone();
                        let inner = self.inside(value);
                        match self.call_value(&f, vec![inner], at.span) {
                            // Of each item a future: it is a stream.
                            Ok(v) if matches!(v.kind, Kind::Future(_)) => self.iter_method(value, name, args, at),
                            result => Some(result.map(|v| self.wrapped_open(&v, value))),
                        }
                    }
                    _ => self.iter_method(value, name, args, at),
                }
            }
            _ => None,
        }
    }

    fn object_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let Kind::Object(object) = &value.kind else { return None };
        if object.ty.is_some() {
            return None;
        }
        let period = object.fields.borrow().iter().find(|(n, _)| &**n == "period").map(|(_, v)| v.clone());
        if let Some(wait) = period {
            let mut fields = object.fields.borrow_mut();
            let fresh = fields.iter_mut().find(|(n, _)| &**n == "fresh");
            let first = match (name, fresh) {
                ("tick" | "next", Some((_, fresh))) => {
                    matches!(std::mem::replace(fresh, Value::bool(false)).kind, Kind::Bool(true))
                }
                // What is set anew waits a whole period.
                ("reset" | "reset_after" | "reset_at", Some((_, fresh))) => {
                    *fresh = Value::bool(false);
                    false
                }
                ("reset_immediately", Some((_, fresh))) => {
                    *fresh = Value::bool(true);
                    false
                }
                _ => false,
            };
            let ticks = matches!(name, "tick" | "next");
            let wait = if first { Value::seconds(0.0) } else { wait };
            return Some(Ok(match name {
                // As a stream.
                "next" => later(move |m| m.sleep(&wait, at.span).map(|()| Value::wrap("Some", Value::unit()))),
                _ if ticks => Value::new(Kind::Future(Rc::new(Future::Sleep { wait, span: at.span }))),
                _ => value.clone(),
            }));
        }
        if object.fields.borrow().iter().any(|(n, _)| &**n == "seeded") {
            // The same seed gives the same draws in every process: nothing random is in them.
            let draw = super::random::method(value, name, args)?;
            return Some(Ok(Value { taint: Taint::NONE, ..draw }));
        }
        // An atomic: one number that closures share.
        let current = object.fields.borrow().iter().find(|(n, _)| &**n == "atomic").map(|(_, v)| v.clone())?;
        let set = |new: Value<'a>| {
            if let Some((_, slot)) = object.fields.borrow_mut().iter_mut().find(|(n, _)| &**n == "atomic") {
                *slot = new;
            }
        };
        let by = args.first().cloned().unwrap_or_else(|| Value::int(0));
        match name {
            "load" | "get" => {}
            "store" | "set" | "swap" | "replace" => set(by),
            "fetch_add" => set(self.operate(crate::rust::ir::BinOp::Add, &current, &by, no_place())),
            "fetch_sub" => set(self.operate(crate::rust::ir::BinOp::Sub, &current, &by, no_place())),
            _ => return None,
        }
        Some(Ok(current))
    }

    fn future_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>]) -> Option<Eval<'a>> {
        match (name, args) {
            ("timeout", [limit]) if limit.duration().is_some() => {
                let future = Future::Timeout { limit: limit.clone(), inner: value.clone() };
                Some(Ok(Value::new(Kind::Future(Rc::new(future)))))
            }
            ("or_else" | "and_then" | "map_err" | "map_ok" | "map" | "inspect_err", [_]) => {
                let awaited = self.await_value(value.clone(), no_place());
                let result = match awaited {
                    Ok(result) => result,
                    Err(exit) => return Some(Err(exit)),
                };
                let name = if name == "map_ok" { "map" } else { name };
                self.option_method(&result, name, args, At { span: no_place(), name_span: no_place() })
            }
            _ => None,
        }
    }

    /// A method of a value per status: applied to each, where that needs no decision.
    fn per_status(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let lifted_args = args.iter().any(|a| matches!(a.kind, Kind::Lifted(_)));
        let pure = |k: &Kind<'a>| {
            matches!(
                k,
                Kind::Status(_) | Kind::Int(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Float(_) | Kind::Duration(_)
            )
        };
        let statuses: Vec<u16> = match (&value.kind, lifted_args) {
            (Kind::Lifted(all), _) if all.iter().all(|(_, v)| pure(&v.kind)) => all.iter().map(|(s, _)| *s).collect(),
            (Kind::List(_) | Kind::Range(_) | Kind::Int(_) | Kind::Duration(_), true) => {
                args.iter().find_map(|a| match &a.kind {
                    Kind::Lifted(all) => Some(all.iter().map(|(s, _)| *s).collect()),
                    _ => None,
                })?
            }
            _ => return None,
        };
        let closure = args.iter().any(|a| matches!(a.kind, Kind::Closure(_) | Kind::Fn(_)));
        if closure && statuses.len() > 8 {
            return None;
        }
        let mut results = Vec::new();
        for status in statuses {
            if !self.world.has(status) {
                continue;
            }
            let receiver = at_status(value, status)?;
            let args: Option<Vec<Value<'a>>> = args.iter().map(|a| at_status(a, status)).collect();
            match self.call_method(receiver, name, args?, at) {
                Ok(result) => results.push((status, result)),
                Err(exit) => return Some(Err(exit)),
            }
        }
        let taint = args.iter().fold(value.taint, |t, a| t.with(a.taint));
        if let Some((_, first)) = results.first()
            && results.iter().all(|(_, r)| r.digest() == first.digest())
        {
            return Some(Ok(first.clone().tainted(taint)));
        }
        Some(Ok(Value::new(Kind::Lifted(Rc::new(results))).tainted(taint)))
    }

    fn turbofish(&mut self, value: &Value<'a>, name: &str, types: &'a [Ty]) -> Option<Value<'a>> {
        let ty = self.typed_by(types)?;
        match (name, &value.kind) {
            ("parse", Kind::Text(text)) => Some(self.parsed(&text.clone(), value, Some(ty))),
            _ => super::random::typed_draw(name, ty),
        }
    }

    /// Decides whether something that may not be there is there: once in a run.
    pub(crate) fn is_there(
        &mut self,
        value: &Value<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, super::machine::Exit<'a>> {
        let Some(unknown) = value.as_unknown() else { return self.decide(value, at, hint) };
        if unknown.succeeded {
            return Ok(true);
        }
        if let Some(known) = self.there.get(&unknown.id) {
            return Ok(*known);
        }
        let id = unknown.id;
        let there = self.decide(value, at, hint)?;
        self.there.insert(id, there);
        Ok(there)
    }
}

/// Whether a function gives another piece of work each time it is called: `next_task`, `find_next_job`.
pub(super) fn hands_out_items(name: &str) -> bool {
    const ITEMS: [&str; 12] =
        ["task", "job", "item", "message", "request", "event", "batch", "chunk", "page", "entry", "record", "work"];
    let mut words = name.split('_').skip_while(|word| *word != "next");
    words.next().is_some() && words.any(|word| ITEMS.contains(&word))
}

/// What a chain of method calls starts at.
fn root_of(mut expr: &Expr) -> &Expr {
    while let ExprKind::Method { receiver, .. } = &*expr.kind {
        expr = receiver;
    }
    expr
}

/// No place: for what libraries do inside.
pub(crate) fn no_place() -> Span {
    Span::start_of(crate::source::FileId(u32::MAX))
}

/// The value that holds at one status.
pub(crate) fn at_status<'a>(value: &Value<'a>, status: u16) -> Option<Value<'a>> {
    match &value.kind {
        Kind::Lifted(all) => {
            let at = all.binary_search_by_key(&status, |(s, _)| *s).ok()?;
            all.get(at).map(|(_, v)| v.clone().tainted(value.taint))
        }
        _ => Some(value.clone()),
    }
}
