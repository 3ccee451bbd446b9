//! reqwest-middleware: a middleware of the repository's own is run; the rest of the chain is what its `next` sends to.

use std::rc::Rc;
use std::sync::Arc;

use super::{At, ClientRetry, Described, Native};
use crate::model::{Attempts, LayerKind, Setting};
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::value::{ClientLayer, Kind, Request, Value, Why};
use crate::rust::index::FnIx;
use crate::source::Span;

/// A middleware of the repository.
#[derive(Debug)]
struct Own<'a> {
    value: Value<'a>,
    handle: FnIx,
}

/// The layer that a value of the repository is, if it is a middleware.
pub(crate) fn own<'a>(machine: &Machine<'a, '_>, value: &Value<'a>) -> Option<ClientLayer<'a>> {
    let handle = machine.own_method(value, &["handle"])?;
    let info = machine.shared.index.function(handle);
    let is_middleware = info.of_trait.as_deref() == Some("Middleware");
    is_middleware.then(|| Rc::new(Own { value: value.clone(), handle }) as ClientLayer<'a>)
}

impl<'a> ClientRetry<'a> for Own<'a> {
    /// It repeats nothing by itself: what it does is seen when it is run.
    fn described(&self) -> Arc<Described> {
        let nowhere = crate::rust::eval::methods::no_place();
        let once = Setting::default(Attempts::Count(1), "the code");
        Arc::new(Described { attempts: once, ..Described::new("rust", LayerKind::Client, "middleware", nowhere) })
    }

    fn again(&self, _: &mut Machine<'a, '_>, _: &Value<'a>) -> Result<bool, Exit<'a>> {
        Ok(false)
    }

    fn around(
        &self,
        machine: &mut Machine<'a, '_>,
        rest: &[ClientLayer<'a>],
        request: &Rc<Request<'a>>,
        span: Span,
    ) -> Option<Eval<'a>> {
        let next = Next { rest: rest.to_vec(), span };
        let sent = Value::new(Kind::Request(request.clone()));
        let extensions = machine.opaque(Why::Other("is what the request carries"));
        let args = vec![self.value.clone(), sent, extensions, Value::new(Kind::Native(Rc::new(next)))];
        let future = machine.call_fn(self.handle, args, span);
        Some(future.and_then(|future| machine.await_value(future, span)))
    }
}

/// `ConditionalMiddleware`: a middleware for those requests that a closure picks.
#[derive(Debug)]
struct Conditional<'a> {
    inner: ClientLayer<'a>,
    when: Value<'a>,
    at: Span,
}

/// A middleware of a known crate, for the requests that `when` picks.
pub(crate) fn conditional<'a>(inner: &Value<'a>, when: &Value<'a>, at: Span) -> Option<Value<'a>> {
    let Kind::Native(inner) = &inner.kind else { return None };
    let inner = inner.clone().client_layer()?;
    Some(Value::new(Kind::Native(Rc::new(Conditional { inner, when: when.clone(), at }))))
}

impl<'a> Native<'a> for Conditional<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, _: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        None
    }

    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        Some(self)
    }
}

impl<'a> ClientRetry<'a> for Conditional<'a> {
    fn described(&self) -> Arc<Described> {
        self.inner.described()
    }

    fn begin(&self) {
        self.inner.begin();
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        self.inner.again(machine, result)
    }

    fn again_of(
        &self,
        machine: &mut Machine<'a, '_>,
        request: Option<&Rc<Request<'a>>>,
        result: &Value<'a>,
    ) -> Result<bool, Exit<'a>> {
        if let Some(request) = request {
            let request = Value::new(Kind::Request(request.clone()));
            let picked = machine.call_value(&self.when, vec![request], self.at)?;
            if !machine.discovering() && !machine.decide(&picked, self.at, Hint::plain())? {
                return Ok(false);
            }
        }
        self.inner.again_of(machine, request, result)
    }
}

/// `Next`: the layers behind a middleware.
#[derive(Debug)]
struct Next<'a> {
    rest: Vec<ClientLayer<'a>>,
    span: Span,
}

impl<'a> Native<'a> for Next<'a> {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        let ("run", [request, ..]) = (name, args) else { return None };
        let request = request.clone();
        Some(Ok(super::retried::later(move |m| {
            let request = m.settle(request.clone(), self.span)?;
            match &request.kind {
                Kind::Request(request) => m.send_through(&self.rest, &request.clone(), self.span),
                _ => Ok(m.opaque(Why::Other("is a request that is not known"))),
            }
        })))
    }
}
