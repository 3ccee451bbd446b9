//! Values as the evaluation knows them: exact where the text says so, intervals where a random draw is in them,
//! unknown (with a reason and an identity) where only the run of the real program could tell.

mod digest;
mod http;
mod spread;
mod text;

use std::cell::RefCell;
use std::rc::Rc;

use crate::rust::eval::env::Env;
use crate::rust::eval::iter::Iter;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::index::{ConstIx, FnIx, ScopeIx, TypeIx};
use crate::rust::ir::{Expr, Name, Param, Path, Ty};
use crate::rust::reading::UrlPart;
use crate::source::Span;

pub(crate) use http::{Brand, Client, ClientLayer, HttpError, Keys, Limit, Pending, Request, Response};
pub(crate) use spread::Spread;
pub(crate) use text::{Text, TextPart};

/// Where a value has been: what flowed into it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taint(u8);

impl Taint {
    /// Nothing of note.
    pub(crate) const NONE: Self = Self(0);
    /// The failure of the call under test.
    pub(crate) const FAILURE: Self = Self(1);
    /// The success of the call under test.
    pub(crate) const ANSWER: Self = Self(2);
    /// A random draw.
    pub(crate) const RANDOM: Self = Self(4);
    /// What the server asked the client to wait.
    pub(crate) const SERVER_WAIT: Self = Self(8);
    /// The clock.
    pub(crate) const TIME: Self = Self(16);
    /// Drawn after the call under test had failed once: another draw for each try.
    pub(crate) const FRESH: Self = Self(32);

    /// Both together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in it.
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Where a value is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Origin<'a> {
    /// The place.
    pub(crate) span: Span,
    /// What stands there.
    pub(crate) from: Source<'a>,
    /// The call that handed it over as an argument.
    pub(crate) via: Option<Span>,
}

/// What stands at an [`Origin`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source<'a> {
    /// A literal.
    Literal,
    /// A constant.
    Const(ConstIx),
    /// A value of a settings file, with its key.
    Setting(&'a str),
    /// The default that the code gives for something that may be set at run time.
    Fallback,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) struct Value<'a> {
    /// What it is.
    pub(crate) kind: Kind<'a>,
    /// What flowed into it.
    pub(crate) taint: Taint,
    /// Where it is written, for numbers and durations.
    pub(crate) origin: Option<Origin<'a>>,
}

/// Kinds of values.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    Unit,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// A number that holds a random draw.
    Drawn(Spread),
    Char(char),
    Text(Rc<Text>),
    /// Seconds.
    Duration(Spread),
    /// Seconds since the run began, by its own clock, which only waits move.
    Instant(f64),
    Status(u16),
    /// A struct or a tuple.
    Object(Rc<Object<'a>>),
    List(Rc<RefCell<Vec<Value<'a>>>>),
    Range(Rc<RangeValue<'a>>),
    Iter(Rc<RefCell<Iter<'a>>>),
    Variant(Rc<Variant<'a>>),
    Closure(Rc<Closure<'a>>),
    Fn(FnIx),
    /// A function or type from outside, by its path.
    External(Rc<Path>),
    Future(Rc<Future<'a>>),
    /// One value for each status that the call under test may have answered.
    Lifted(Rc<Vec<(u16, Value<'a>)>>),
    Client(Rc<Client<'a>>),
    Request(Rc<Request<'a>>),
    Response(Response),
    HttpError(Rc<HttpError>),
    /// A value of a known crate's type.
    Native(Rc<dyn super::super::crates::Native<'a> + 'a>),
    Unknown(Rc<Unknown<'a>>),
}

/// A struct or a tuple (fields `0`, `1`, ..).
#[derive(Debug)]
pub(crate) struct Object<'a> {
    /// The struct, if it is one of the repository.
    pub(crate) ty: Option<TypeIx>,
    /// The fields.
    pub(crate) fields: RefCell<Vec<(Name, Value<'a>)>>,
    /// What stands behind fields that nobody set here.
    pub(crate) rest: Option<Value<'a>>,
}

/// `a..b` as a value.
#[derive(Debug)]
pub(crate) struct RangeValue<'a> {
    pub(crate) start: Option<Value<'a>>,
    pub(crate) end: Option<Value<'a>>,
    pub(crate) inclusive: bool,
}

/// A variant of an enum: `Ok`, `Some`, or one of the repository.
#[derive(Debug)]
pub(crate) struct Variant<'a> {
    /// The enum, if it is one of the repository.
    pub(crate) ty: Option<TypeIx>,
    /// The variant.
    pub(crate) name: Name,
    /// Its fields (`0`, `1`, .. for tuple variants).
    pub(crate) fields: Vec<(Name, Value<'a>)>,
}

/// A closure with what it sees.
#[derive(Debug)]
pub(crate) struct Closure<'a> {
    pub(crate) params: &'a [Param],
    pub(crate) body: &'a Expr,
    pub(crate) is_async: bool,
    pub(crate) env: Env<'a>,
    pub(crate) context: Context,
}

/// Where names resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) scope: ScopeIx,
    pub(crate) self_ty: Option<TypeIx>,
    /// The function whose text it is.
    pub(crate) function: FnIx,
}

/// Something that runs when it is awaited.
#[derive(Debug)]
pub(crate) enum Future<'a> {
    /// `async { }`
    Block { body: &'a Expr, env: Env<'a>, context: Context },
    /// A call of an async function.
    Call { function: FnIx, args: Vec<Value<'a>>, span: Span },
    /// A call of an async closure.
    Closure { closure: Rc<Closure<'a>>, args: Vec<Value<'a>>, span: Span },
    /// A sleep.
    Sleep { wait: Value<'a>, span: Span },
    /// `.send()` of a request.
    Send { request: Rc<Request<'a>>, span: Span },
    /// Another future under a deadline; `tokio::time::timeout` wraps the result in `Ok`.
    Timeout { limit: Value<'a>, inner: Value<'a> },
    /// A result that is there.
    Ready(Value<'a>),
    /// What a crate runs.
    Library(Run<'a>),
}

/// Something that a crate runs when it is awaited.
#[derive(Clone)]
pub(crate) struct Run<'a>(pub(crate) Rc<dyn for<'c> Fn(&mut Machine<'a, 'c>) -> Eval<'a> + 'a>);

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Run")
    }
}

/// A type with what is needed to resolve its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed<'a> {
    pub(crate) ty: &'a Ty,
    pub(crate) scope: ScopeIx,
    pub(crate) self_ty: Option<TypeIx>,
}

/// Something that the text does not tell.
#[derive(Debug)]
pub(crate) struct Unknown<'a> {
    /// Equal ids, equal values.
    pub(crate) id: u64,
    /// Why it is not known.
    pub(crate) why: Why<'a>,
    /// Its type, if declared.
    pub(crate) ty: Option<Typed<'a>>,
    /// As a result or option: it is a success.
    pub(crate) succeeded: bool,
    /// The call that it comes from, if awaiting it makes the call.
    pub(crate) call: Option<Rc<Pending<'a>>>,
    /// The settings that it is read from: the struct of the first field, and the fields down to here.
    pub(crate) keys: Option<Rc<Keys<'a>>>,
}

/// Why something is not known.
#[derive(Debug, Clone)]
pub(crate) enum Why<'a> {
    /// A parameter of the function at the start of the chain.
    Param(&'a str),
    /// A field of something not known.
    Field(&'a str),
    /// What a function outside returns.
    Call(&'a str),
    /// An environment variable.
    Env(Rc<str>),
    /// Several values are possible.
    Several(&'static str),
    /// A comparison with something not known.
    Compared(Rc<Unknown<'a>>),
    /// Something not looked into.
    Other(&'static str),
    /// What was found out elsewhere.
    Told(Rc<str>),
}

impl std::fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Param(name) => write!(f, "comes from the argument `{name}`"),
            Why::Field(name) => write!(f, "comes from the field `{name}`, which nothing read here sets"),
            Why::Call(name) => write!(f, "comes from `{name}(..)`, which is outside of the code read"),
            Why::Env(name) => write!(f, "comes from the environment variable {name}"),
            Why::Compared(with) => write!(f, "{}", with.why),
            Why::Several(what) | Why::Other(what) => f.write_str(what),
            Why::Told(what) => f.write_str(what),
        }
    }
}

impl<'a> Value<'a> {
    /// A value of this kind, with nothing of note in it.
    pub(crate) fn new(kind: Kind<'a>) -> Self {
        Self { kind, taint: Taint::NONE, origin: None }
    }

    /// `()`
    pub(crate) fn unit() -> Self {
        Self::new(Kind::Unit)
    }

    /// A truth value.
    pub(crate) fn bool(b: bool) -> Self {
        Self::new(Kind::Bool(b))
    }

    /// An integer.
    pub(crate) fn int(n: i128) -> Self {
        Self::new(Kind::Int(n))
    }

    /// An exact duration, in seconds.
    pub(crate) fn seconds(s: f64) -> Self {
        Self::new(Kind::Duration(Spread::exact(s)))
    }

    /// A known text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let parts = vec![TextPart::Url(UrlPart::Text(text.into()))];
        Self::new(Kind::Text(Rc::new(Text { parts })))
    }

    /// `Some(x)`, `Ok(x)`, `Err(x)`; the taint of `x` stays with the whole.
    pub(crate) fn wrap(name: &str, inner: Value<'a>) -> Self {
        let taint = inner.taint;
        let fields = vec![(Name::from("0"), inner)];
        Self { kind: Kind::Variant(Rc::new(Variant { ty: None, name: Name::from(name), fields })), taint, origin: None }
    }

    /// `None`
    pub(crate) fn none() -> Self {
        Self::new(Kind::Variant(Rc::new(Variant { ty: None, name: Name::from("None"), fields: Vec::new() })))
    }

    /// An `Option`.
    pub(crate) fn option(inner: Option<Value<'a>>) -> Self {
        inner.map_or_else(Self::none, |v| Self::wrap("Some", v))
    }

    /// Something not known.
    pub(crate) fn unknown(id: u64, why: Why<'a>) -> Self {
        Self::new(Kind::Unknown(Rc::new(Unknown { id, why, ty: None, succeeded: false, call: None, keys: None })))
    }

    /// Something not known of a known type.
    pub(crate) fn unknown_of(id: u64, why: Why<'a>, ty: Option<Typed<'a>>) -> Self {
        Self::new(Kind::Unknown(Rc::new(Unknown { id, why, ty, succeeded: false, call: None, keys: None })))
    }

    /// A tuple.
    pub(crate) fn tuple(items: Vec<Value<'a>>) -> Self {
        let taint = items.iter().fold(Taint::NONE, |t, v| t.with(v.taint));
        let fields = items.into_iter().enumerate().map(|(i, v)| (Name::from(i.to_string()), v)).collect();
        let object = Object { ty: None, fields: RefCell::new(fields), rest: None };
        Self { kind: Kind::Object(Rc::new(object)), taint, origin: None }
    }

    /// A list.
    pub(crate) fn list(items: Vec<Value<'a>>) -> Self {
        let taint = items.iter().fold(Taint::NONE, |t, v| t.with(v.taint));
        Self { kind: Kind::List(Rc::new(RefCell::new(items))), taint, origin: None }
    }

    /// The same with this taint added.
    pub(crate) fn tainted(mut self, taint: Taint) -> Self {
        self.taint = self.taint.with(taint);
        self
    }

    /// The same, written here.
    pub(crate) fn at(mut self, origin: Option<Origin<'a>>) -> Self {
        self.origin = origin.or(self.origin);
        self
    }

    /// The integer that it is.
    pub(crate) fn as_int(&self) -> Option<i128> {
        match self.kind {
            Kind::Int(n) => Some(n),
            _ => None,
        }
    }

    /// A number with its randomness.
    pub(crate) fn number(&self) -> Option<Spread> {
        match self.kind {
            Kind::Int(n) => Some(Spread::exact(n as f64)),
            Kind::Float(x) => Some(Spread::exact(x)),
            Kind::Drawn(s) => Some(s),
            _ => None,
        }
    }

    /// A duration in seconds with its randomness.
    pub(crate) fn duration(&self) -> Option<Spread> {
        match self.kind {
            Kind::Duration(s) => Some(s),
            _ => None,
        }
    }

    /// The variant that it is: its name and its first field.
    pub(crate) fn variant(&self) -> Option<(&str, Option<&Value<'a>>)> {
        match &self.kind {
            Kind::Variant(v) => Some((&v.name, v.fields.first().map(|(_, x)| x))),
            _ => None,
        }
    }

    /// Whether it is something not known.
    pub(crate) fn as_unknown(&self) -> Option<&Rc<Unknown<'a>>> {
        match &self.kind {
            Kind::Unknown(u) => Some(u),
            _ => None,
        }
    }

    /// The known text that it is.
    pub(crate) fn known_text(&self) -> Option<String> {
        match &self.kind {
            Kind::Text(t) => t.known(),
            _ => None,
        }
    }
}
