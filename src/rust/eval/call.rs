//! Calls: functions of the repository are run, closures too; what is outside is asked of the crates that are known.
use std::rc::Rc;

use super::env::Env;
use super::episode::Repeater;
use super::machine::{Eval, Exit, Flow, Frame, Machine};
use super::value::{Closure, Context, Future, Kind, Object, Origin, Taint, Text, Typed, Unknown, Value, Variant, Why};
use crate::rust::crates::At;
use crate::rust::index::{FnIx, Resolved};
use crate::rust::ir::{Expr, ExprKind, Name, Param, PatKind, Path, Ty};
use crate::source::Span;

/// How often one function is run in one discovery.
const RUNS_IN_DISCOVERY: u32 = 12;

/// Awaited methods that do not leave the program.
pub(super) const LOCAL: [&str; 49] = [
    "recv",
    "next",
    "tick",
    "accept",
    "lock",
    "join",
    "read",
    "write",
    "acquire",
    "acquire_owned",
    "changed",
    "notified",
    "cancelled",
    "cancel",
    "wait",
    "ready",
    "poll_ready",
    "yield_now",
    "flush",
    "shutdown",
    "read_line",
    "read_to_end",
    "read_to_string",
    "read_exact",
    "write_all",
    "try_next",
    "select_next_some",
    "recv_many",
    "send_async",
    "is_shutdown",
    "closed",
    "reserve",
    "peek",
    "until_ready",
    "join_next",
    "abort",
    "text",
    "json",
    "bytes",
    "chunk",
    "body",
    "collect",
    "ctrl_c",
    "into_inner",
    "readable",
    "writable",
    "read_buf",
    "sleep",
    "get_or_init",
];

impl<'a> Machine<'a, '_> {
    pub(crate) fn call(&mut self, callee: &'a Expr, args: &'a [Expr], span: Span, env: &Env<'a>) -> Eval<'a> {
        let ExprKind::Path(path) = &*callee.kind else {
            let function = self.eval(callee, env)?;
            let values = self.eval_all(args, env)?;
            return self.call_value(&function, values, span);
        };
        let values = self.eval_all(args, env)?;
        if let [name] = path.segments.as_slice()
            && let Some(function) = env.get(name)
        {
            return self.call_named(&function, values, span, name);
        }
        let segments: Vec<&str> = path.segments.iter().map(|s| &**s).collect();
        if let Some(helper) = self.helper_called(&segments, false)
            && let Some(result) = self.run_helper(helper, &values, At { span, name_span: callee.span })
        {
            return result;
        }
        match self.resolve_once(path) {
            Resolved::Fn(ix) => {
                if self.shared.index.function(ix).function.is_async {
                    return self.call_fn(ix, values, span);
                }
                let result = self.enter(ix, values, span);
                self.copy_back(args, env);
                result
            }
            Resolved::External(full) => self.call_outside_path(path, Rc::new(full), values, span),
            Resolved::Unknown if let Some(ix) = self.only_function_of_a_trait(path, values.len()) => {
                self.call_fn(ix, values, span)
            }
            Resolved::Unknown => self.call_outside_path(path, Rc::new(path.clone()), values, span),
            Resolved::Variant(ty, name) => Ok(variant(Some(ty), name, values)),
            Resolved::Type(ty) => {
                let fields = values.into_iter().enumerate().map(|(i, v)| (Name::from(i.to_string()), v)).collect();
                let object = Object { ty: Some(ty), fields: std::cell::RefCell::new(fields), rest: None };
                let value = Value::new(Kind::Object(Rc::new(object)));
                if self.aim == super::machine::Aim::Capture(ty) {
                    self.captured.push(value.deep_clone());
                    return Err(super::machine::Stop::Done.into());
                }
                Ok(value)
            }
            Resolved::Const(ix) => {
                let function = self.constant(ix);
                self.call_value(&function, values, span)
            }
        }
    }

    fn call_named(&mut self, function: &Value<'a>, args: Vec<Value<'a>>, span: Span, name: &'a str) -> Eval<'a> {
        if function.as_unknown().is_some() {
            return Ok(self.pending(name, Some(function), &args, span));
        }
        self.call_value(function, args, span)
    }

    /// Calls something that may be called.
    pub(crate) fn call_value(&mut self, function: &Value<'a>, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        match &function.kind {
            Kind::Closure(closure) => {
                if closure.is_async {
                    let future = Future::Closure { closure: closure.clone(), args, span };
                    return Ok(Value::new(Kind::Future(Rc::new(future))));
                }
                self.run_closure(&closure.clone(), args, span)
            }
            Kind::Fn(ix) => self.call_fn(*ix, args, span),
            Kind::External(path) => {
                let path = path.clone();
                self.call_by_path(&path, HANDED_OVER, args, span)
            }
            Kind::Variant(v) if v.fields.is_empty() => Ok(variant(v.ty, v.name.clone(), args)),
            Kind::Unknown(_) => Ok(self.pending("call", Some(function), &args, span)),
            Kind::Native(native) if let Some(value) = native.called(&args) => Ok(value),
            _ => {
                let refs: Vec<&Value<'a>> = args.iter().collect();
                Ok(self.derived("call", Why::Call("call"), &refs))
            }
        }
    }

    /// Calls a function of the repository: an async one runs when it is awaited.
    pub(crate) fn call_fn(&mut self, ix: FnIx, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        if self.shared.index.function(ix).function.is_async {
            let future = Future::Call { function: ix, args, span };
            return Ok(Value::new(Kind::Future(Rc::new(future))));
        }
        self.enter(ix, args, span)
    }

    /// Runs a function of the repository.
    pub(crate) fn enter(&mut self, ix: FnIx, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        let info = self.shared.index.function(ix);
        let (function, scope, of_type) = (info.function, info.scope, info.of_type);
        self.last_params.clear();
        let runs = self.inlined.entry(ix).or_insert(0);
        *runs += 1;
        let too_often = self.discovering() && self.inlined.get(&ix).is_some_and(|n| *n > RUNS_IN_DISCOVERY);
        if !self.may_enter() || too_often {
            let refs: Vec<&Value<'a>> = args.iter().collect();
            return Ok(self.derived(&function.name, Why::Call(&function.name), &refs));
        }
        let typed = function.ret.as_ref().map(|ty| Typed { ty, scope, self_ty: of_type });
        let again = self.frames.iter().find(|f| f.function == ix && !f.closure).map(|f| f.chain);
        if again.is_some() && self.discovering() {
            return Ok(self.opaque(Why::Call(&function.name)));
        }
        // Entered again, what opened the first time says whether it repeats.
        let recursion =
            self.shared.statics.may_recurse(ix) || again.is_some() && self.repeats_by_itself(function.name_span);
        let recursion = recursion || again.is_none() && self.comes_back(ix);
        match again {
            Some(_) if recursion && !self.turn_of_recursion(function.name_span) => {
                return Err(super::machine::Stop::Endless.into());
            }
            Some(_) => {}
            _ if recursion => self.open_episode(Repeater::Recursion { span: function.name_span }),
            _ => {}
        }
        let chain = again.unwrap_or_else(|| {
            let call = Value::int(i128::from(span.start) << 32 | i128::from(span.file.0));
            let above = Value::int(i128::from(self.chain()));
            Value::digest_all("chain", [&above, &call, &Value::int(i128::from(ix.0))])
        });
        let outer = (recursion && again.is_none()).then_some(());
        self.frames.push(Frame { function: ix, span, chain, closure: false });
        self.contexts.push(Context { scope, self_ty: of_type, function: ix });
        self.returned.push(None);
        let env = self.scope(None);
        for (param, arg) in function.params.iter().zip(args) {
            let arg = handed(arg, span);
            let arg = match &param.ty {
                Some(ty) => self.annotated(arg, ty),
                None => arg,
            };
            self.bind(&param.pat, arg, &env);
        }
        let result = self.eval(&function.body, &env);
        let written = |p: &Param| match &p.pat.kind {
            PatKind::Bind { name, .. } => env.get(name),
            _ => None,
        };
        let last_params = function.params.iter().map(written).collect();
        let returned = self.returned.pop().flatten();
        self.contexts.pop();
        self.frames.pop();
        self.last_params = last_params;
        if outer.is_some() {
            self.close_recursion(function.name_span);
        }
        let value = match result {
            Err(exit) => match *exit {
                Flow::Return(value) => value,
                other => return Err(Box::new(other)),
            },
            Ok(value) => match returned {
                Some(returned) if value.as_unknown().is_some() || matches!(value.kind, Kind::Unit) => returned,
                _ => value,
            },
        };
        // Not the same twice.
        let value = match (&value.kind, value.variant()) {
            _ if self.discovering() || !super::methods::hands_out_items(&function.name) => value,
            (Kind::Unknown(_), _) => self.opaque(Why::Call(&function.name)).tainted(value.taint),
            (_, Some(("Some" | "Ok", Some(inner)))) if inner.as_unknown().is_some() => {
                let name = value.variant().map_or("Some", |(name, _)| name);
                Value::wrap(name, self.opaque(Why::Call(&function.name))).tainted(value.taint)
            }
            _ => value,
        };
        Ok(match typed {
            Some(typed) if value.as_unknown().is_some_and(|u| u.ty.is_none()) => self.retyped(value, typed),
            _ => value,
        })
    }

    fn turn_of_recursion(&mut self, span: Span) -> bool {
        let depth =
            self.episodes.iter().rposition(|e| matches!(&e.repeater, Repeater::Recursion { span: s } if *s == span));
        // What was opened since is over: its function calls the one that repeats, and does not come back before.
        match depth {
            Some(at) if at + 1 == self.episodes.len() => self.next_turn(false) && self.turns().0 < 36,
            _ => true,
        }
    }

    /// Whether a function that runs was seen to be one that calls itself, through another.
    fn repeats_by_itself(&self, span: Span) -> bool {
        self.episodes.iter().any(|e| matches!(&e.repeater, Repeater::Recursion { span: s } if *s == span))
    }

    fn close_recursion(&mut self, span: Span) {
        if self.episodes.last().is_some_and(|e| matches!(&e.repeater, Repeater::Recursion { span: s } if *s == span)) {
            self.close_episode();
        }
    }

    /// A parameter that the function wrote to through `&mut`.
    fn copy_back(&mut self, args: &'a [Expr], env: &Env<'a>) {
        for (arg, last) in args.iter().zip(std::mem::take(&mut self.last_params)) {
            if let (ExprKind::Path(path), Some(last)) = (&*arg.kind, last)
                && let [name] = path.segments.as_slice()
                && matches!(last.kind, Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Duration(_))
                && env.get(name).is_some_and(|old| old.digest() != last.digest())
            {
                env.set(name, last);
            }
        }
    }

    pub(super) fn run_closure(&mut self, closure: &Rc<Closure<'a>>, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        if !self.may_enter() {
            return Ok(self.opaque(Why::Call("closure")));
        }
        let body = closure.body.span;
        let call = Value::int(i128::from(body.start) << 32 | i128::from(body.file.0));
        let above = Value::int(i128::from(self.chain()));
        let chain = Value::digest_all("closure", [&above, &call]);
        self.frames.push(Frame { function: closure.context.function, span, chain, closure: true });
        self.contexts.push(closure.context);
        self.returned.push(None);
        let env = self.scope(Some(&closure.env));
        for (param, arg) in closure.params.iter().zip(args) {
            let arg = match &param.ty {
                Some(ty) => self.annotated(arg, ty),
                None => arg,
            };
            self.bind(&param.pat, arg, &env);
        }
        let result = self.eval(closure.body, &env);
        let returned = self.returned.pop().flatten();
        self.contexts.pop();
        self.frames.pop();
        match result {
            Err(exit) => match *exit {
                Flow::Return(value) => Ok(value),
                other => Err(Box::new(other)),
            },
            Ok(value) if value.as_unknown().is_some() => Ok(returned.unwrap_or(value)),
            ok => ok,
        }
    }

    /// What something outside gives back when all goes well: not the same twice.
    pub(crate) fn good_result(&mut self, name: &'a str, from: &Value<'a>) -> Value<'a> {
        let id = self.fresh_id();
        let unknown = Unknown { id, why: Why::Call(name), ty: None, succeeded: true, call: None, keys: None };
        Value::new(Kind::Unknown(Rc::new(unknown))).tainted(from.taint)
    }

    fn call_outside_path(&mut self, written: &'a Path, full: Rc<Path>, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        let name: &'a str = written.segments.last().map(|n| &**n).unwrap_or_default();
        self.call_by_path(&full, name, args, span)
    }

    /// Calls a function outside of the repository.
    pub(crate) fn call_by_path(&mut self, path: &Path, name: &'a str, args: Vec<Value<'a>>, span: Span) -> Eval<'a> {
        if let [one] = path.segments.as_slice()
            && matches!(&**one, "Ok" | "Err" | "Some")
        {
            let inner = args.into_iter().next().unwrap_or_else(Value::unit);
            return Ok(Value::wrap(one, inner));
        }
        let at = At { span, name_span: span };
        if let Some(result) = crate::rust::crates::function(self, path, &args, at) {
            return result;
        }
        if let Some(result) = self.std_function(path, &args, span) {
            return result;
        }
        if let Some(result) = self.fan_function(path, &args, span) {
            return result;
        }
        if let Some(result) = self.http_function(path, &args, span) {
            return result;
        }
        if let Some(stub) = self.grpc_function(path, &args, span) {
            return Ok(stub);
        }
        if let ([.., _, method], [value, ..]) = (path.segments.as_slice(), args.as_slice())
            && let Some(result) = self.plain_http_method(value, method)
        {
            return result;
        }
        self.run_callables(&args, span)?;
        Ok(self.pending(name, None, &args, span))
    }

    /// Futures and closures that are handed to something outside are run by it, once.
    pub(crate) fn run_callables(&mut self, args: &[Value<'a>], span: Span) -> Result<(), Exit<'a>> {
        for arg in args {
            match &arg.kind {
                Kind::Future(_) => {
                    self.await_value(arg.clone(), span)?;
                }
                Kind::Native(native) if native.is_future() => {
                    self.await_value(arg.clone(), span)?;
                }
                Kind::Closure(closure) => {
                    let unknown: Vec<Value<'a>> =
                        closure.params.iter().map(|_| self.opaque(Why::Other("is handed to a closure"))).collect();
                    let value = self.call_value(arg, unknown, span)?;
                    self.await_value(value, span)?;
                }
                Kind::List(items) => {
                    let items = items.borrow().clone();
                    if items.iter().any(|v| matches!(v.kind, Kind::Future(_))) {
                        self.run_callables(&items, span)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Calls a blocking function of a client that is not known, or computes something from what it is given.
    pub(crate) fn unknown_method(
        &mut self,
        receiver: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        span: Span,
    ) -> Eval<'a> {
        self.run_callables(args, span)?;
        Ok(self.pending(name, Some(receiver), args, span))
    }

    fn retyped(&mut self, value: Value<'a>, typed: Typed<'a>) -> Value<'a> {
        let Kind::Unknown(u) = &value.kind else { return value };
        let unknown = Unknown {
            id: u.id,
            why: u.why.clone(),
            ty: Some(typed),
            succeeded: u.succeeded,
            call: u.call.clone(),
            keys: u.keys.clone(),
        };
        Value { kind: Kind::Unknown(Rc::new(unknown)), taint: value.taint, origin: value.origin }
    }

    /// Evaluates a method's turbofish: unused so far but for `parse::<T>()`.
    pub(crate) fn typed_by(&self, types: &'a [Ty]) -> Option<&'a str> {
        types.first().and_then(|t| t.path.segments.last()).map(|n| &**n)
    }
}

/// What a function outside is called that was handed over by its path.
pub(super) const HANDED_OVER: &str = "function";

/// A value with the mark of the call that hands it over.
fn handed<'a>(mut value: Value<'a>, span: Span) -> Value<'a> {
    if let Kind::Variant(v) = &value.kind
        && let [(name, inner)] = v.fields.as_slice()
        && inner.origin.is_some_and(|o| o.via.is_none())
    {
        let fields = vec![(name.clone(), handed(inner.clone(), span))];
        value.kind = Kind::Variant(Rc::new(Variant { ty: v.ty, name: v.name.clone(), fields }));
    }
    if let Some(Origin { via: via @ None, .. }) = &mut value.origin {
        *via = Some(span);
    }
    value
}

/// A variant of an enum with these fields.
pub(crate) fn variant<'a>(ty: Option<crate::rust::index::TypeIx>, name: Name, values: Vec<Value<'a>>) -> Value<'a> {
    let taint = values.iter().fold(Taint::NONE, |t, v| t.with(v.taint));
    let fields = values.into_iter().enumerate().map(|(i, v)| (Name::from(i.to_string()), v)).collect();
    Value::new(Kind::Variant(Rc::new(Variant { ty, name, fields }))).tainted(taint)
}

/// Whether a function's name says that it waits.
pub(crate) fn sounds_like_wait(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["sleep", "backoff", "back_off", "delay", "pause", "throttle"].iter().any(|w| name.contains(w))
        || name == "wait"
        || name.starts_with("wait_before")
        || name.starts_with("wait_for_retry")
}

/// The HTTP method that a client's method of this name sends.
pub(crate) fn http_method(name: &str) -> Option<&'static str> {
    Some(match name {
        "get" => "GET",
        "post" => "POST",
        "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        "head" => "HEAD",
        _ => return None,
    })
}

pub(super) fn url_like<'a>(value: &Value<'a>, span: Span) -> Option<(Rc<Text>, Span)> {
    let Kind::Text(text) = &value.kind else { return None };
    let starts = text.parts.first().is_some_and(|p| match p {
        super::value::TextPart::Url(crate::rust::reading::UrlPart::Text(t)) => {
            t.starts_with("http://") || t.starts_with("https://")
        }
        super::value::TextPart::Url(crate::rust::reading::UrlPart::Env { name, .. }) => {
            name.to_ascii_uppercase().contains("URL") || name.to_ascii_uppercase().contains("HOST")
        }
        _ => false,
    });
    starts.then(|| (text.clone(), span))
}
