//! Values as the evaluation knows them: exact where the text says so, intervals where a random draw is in them,
//! unknown (with a reason and an identity) where only the run of the real program could tell.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::env::Env;
use super::iter::Iter;
use super::machine::{Eval, Machine};
use crate::model::Mode;
use crate::rust::index::{ConstIx, FnIx, ScopeIx, TypeIx};
use crate::rust::ir::{Expr, Name, Param, Path, Ty};
use crate::rust::reading::UrlPart;
use crate::source::Span;

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

/// A number or a duration with the randomness in it: `mid` is the value with the draw left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lo: f64,
    pub(crate) mid: f64,
    pub(crate) hi: f64,
}

impl Spread {
    /// An exact value.
    pub(crate) fn exact(x: f64) -> Self {
        Self { lo: x, mid: x, hi: x }
    }

    /// Whether no draw is in it.
    pub(crate) fn is_exact(self) -> bool {
        self.lo == self.hi
    }

    /// The mean, if all values between the ends are equally likely.
    pub(crate) fn mean(self) -> f64 {
        (self.lo + self.hi) / 2.0
    }

    /// `f` of all three, ends kept in order.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        Self { lo: a.min(b), mid: f(self.mid), hi: a.max(b) }
    }

    /// `f` of both values.
    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ends = [f(self.lo, other.lo), f(self.lo, other.hi), f(self.hi, other.lo), f(self.hi, other.hi)];
        Self {
            lo: ends.iter().copied().fold(f64::INFINITY, f64::min),
            mid: f(self.mid, other.mid),
            hi: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
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

/// A text, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Text {
    /// The parts in order.
    pub(crate) parts: Vec<TextPart>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextPart {
    /// Known text, an environment variable, or something not known.
    Url(UrlPart),
    /// Not known, with its identity.
    Unknown(u64),
}

/// In bytes of known text and parts that are not known: no URL is longer.
const MAX_TEXT: usize = 4096;

/// What stands for the rest of a text that is too long.
const CUT: TextPart = TextPart::Unknown(u64::MAX);

impl Text {
    /// The whole text, if all of it is known.
    pub(crate) fn known(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|p| match p {
                TextPart::Url(UrlPart::Text(t)) => Some(t.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Adds a part; neighbouring known texts become one. Of a text that code doubles again and again the rest is unknown.
    pub(crate) fn push(&mut self, part: TextPart) {
        if self.is_full() {
            if self.parts.last() != Some(&CUT) {
                self.parts.push(CUT);
            }
            return;
        }
        if let (TextPart::Url(UrlPart::Text(new)), Some(TextPart::Url(UrlPart::Text(last)))) =
            (&part, self.parts.last_mut())
        {
            last.push_str(new);
            return;
        }
        self.parts.push(part);
    }

    fn is_full(&self) -> bool {
        let known = |p: &TextPart| if let TextPart::Url(UrlPart::Text(t)) = p { t.len() } else { 1 };
        self.parts.last() == Some(&CUT) || self.parts.iter().map(known).sum::<usize>() > MAX_TEXT
    }

    /// The parts as a URL has them.
    pub(crate) fn url_parts(&self) -> Vec<UrlPart> {
        self.parts
            .iter()
            .map(|p| match p {
                TextPart::Url(part) => part.clone(),
                TextPart::Unknown(_) => UrlPart::Unknown,
            })
            .collect()
    }
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

/// A layer that a client puts around each of its requests: told by its own crate.
pub(crate) type ClientLayer<'a> = Rc<dyn super::super::crates::ClientRetry<'a> + 'a>;

/// An HTTP client.
#[derive(Debug, Clone)]
pub(crate) struct Client<'a> {
    /// What each request goes through, outermost first.
    pub(crate) layers: Vec<ClientLayer<'a>>,
    /// Which one it is, for the comparison of calls.
    pub(crate) id: u64,
    /// Whether it may have layers that are not known here.
    pub(crate) open: bool,
    /// Whether its calls block.
    pub(crate) blocking: bool,
    /// How long one request may take, and where that is written.
    pub(crate) timeout: Option<Limit>,
}

/// Seconds that something may take, and where that is written.
pub(crate) type Limit = (f64, Span);

/// A request that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) client: Rc<Client<'a>>,
    pub(crate) method: Option<Rc<str>>,
    pub(crate) url: Option<Rc<Text>>,
    pub(crate) url_span: Span,
    /// The identity of body, query and form, headers left out.
    pub(crate) content: u64,
    /// Its idempotency key.
    pub(crate) key: super::key::Carried,
    /// How long it may take, where that is not its client's.
    pub(crate) timeout: Option<Limit>,
}

/// A response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Response {
    /// The failing answer of the call under test.
    Failed,
    /// The good answer of the call under test.
    Good,
    /// The good answer of another call.
    Other,
}

/// The error of an HTTP client for the call under test.
#[derive(Debug)]
pub(crate) struct HttpError {
    /// Refused or timeout; `None` where a status was made into an error.
    pub(crate) transport: Option<Mode>,
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

/// A call of something outside that runs when it is awaited.
#[derive(Debug)]
pub(crate) struct Pending<'a> {
    /// The whole call.
    pub(crate) span: Span,
    /// The function or method.
    pub(crate) name: &'a str,
    /// The identity of receiver and arguments.
    pub(crate) identity: u64,
    /// A URL among what it is called with.
    pub(crate) url: Option<(Rc<Text>, Span)>,
    /// The HTTP method that a method of that name stands for.
    pub(crate) method: Option<Rc<str>>,
}

/// A chain of fields from a settings struct.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    /// The struct whose field comes first.
    pub(crate) root: TypeIx,
    /// The fields.
    pub(crate) fields: Vec<&'a str>,
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

    /// A number for what it is: equal values have equal ones. A random draw and the clock count as always the same,
    /// for a fresh request id or time stamp does not make another call of it.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.feed(&mut hasher, 6);
        hasher.finish()
    }

    fn feed(&self, to: &mut DefaultHasher, depth: u8) {
        if self.taint.has(Taint::RANDOM) || self.taint.has(Taint::TIME) || depth == 0 {
            return 0xAAu8.hash(to);
        }
        std::mem::discriminant(&self.kind).hash(to);
        let fields = |all: &[(Name, Value<'a>)], to: &mut DefaultHasher| {
            for (name, value) in all.iter().take(width(depth)) {
                name.hash(to);
                value.feed(to, depth - 1);
            }
        };
        match &self.kind {
            Kind::Unit | Kind::Iter(_) | Kind::Future(_) | Kind::Closure(_) => {}
            Kind::Bool(b) => b.hash(to),
            Kind::Int(n) => n.hash(to),
            Kind::Float(x) | Kind::Instant(x) => x.to_bits().hash(to),
            Kind::Drawn(s) | Kind::Duration(s) => (s.lo.to_bits(), s.hi.to_bits()).hash(to),
            Kind::Char(c) => c.hash(to),
            Kind::Text(t) => {
                for part in &t.parts {
                    match part {
                        TextPart::Url(UrlPart::Text(t)) => t.hash(to),
                        TextPart::Url(UrlPart::Env { name, .. }) => name.hash(to),
                        TextPart::Url(UrlPart::Unknown) => 1u8.hash(to),
                        TextPart::Unknown(id) => id.hash(to),
                    }
                }
            }
            Kind::Status(s) => s.hash(to),
            Kind::Object(o) => fields(&o.fields.borrow(), to),
            Kind::List(items) => items.borrow().iter().take(width(depth)).for_each(|v| v.feed(to, depth - 1)),
            Kind::Range(r) => {
                [&r.start, &r.end].into_iter().flatten().for_each(|v| v.feed(to, depth - 1));
            }
            Kind::Variant(v) => {
                v.name.hash(to);
                fields(&v.fields, to);
            }
            Kind::Fn(ix) => ix.hash(to),
            Kind::External(path) => path.hash(to),
            Kind::Lifted(all) => all.iter().for_each(|(s, v)| {
                s.hash(to);
                v.feed(to, depth - 1);
            }),
            Kind::Client(c) => c.id.hash(to),
            Kind::Request(r) => {
                r.client.id.hash(to);
                r.method.hash(to);
                if let Some(url) = &r.url {
                    Value::new(Kind::Text(url.clone())).feed(to, depth - 1);
                }
                r.content.hash(to);
            }
            Kind::Response(r) => r.hash(to),
            Kind::HttpError(e) => e.transport.hash(to),
            Kind::Native(n) => n.identity().hash(to),
            Kind::Unknown(u) => u.id.hash(to),
        }
    }

    /// A copy that shares nothing that can be written to with this one. What is shared inside stays shared inside:
    /// a list that holds another twice does not grow.
    pub(crate) fn deep_clone(&self) -> Value<'a> {
        self.copied(&mut HashMap::new(), MAX_COPIED_DEPTH)
    }

    fn copied(&self, done: &mut HashMap<*const (), Kind<'a>>, depth: u32) -> Value<'a> {
        let key = match &self.kind {
            Kind::Object(o) => Rc::as_ptr(o).cast::<()>(),
            Kind::List(items) => Rc::as_ptr(items).cast::<()>(),
            Kind::Iter(iter) => Rc::as_ptr(iter).cast::<()>(),
            Kind::Native(native) => {
                let copy = native.copied().map_or_else(|| self.kind.clone(), Kind::Native);
                return Value { kind: copy, ..self.clone() };
            }
            _ => return self.clone(),
        };
        let Some(depth) = depth.checked_sub(1) else { return self.clone() };
        if let Some(kind) = done.get(&key) {
            return Value { kind: kind.clone(), ..self.clone() };
        }
        let kind = match &self.kind {
            Kind::Object(o) => {
                let fields = o.fields.borrow().iter().map(|(n, v)| (n.clone(), v.copied(done, depth))).collect();
                Kind::Object(Rc::new(Object { ty: o.ty, fields: RefCell::new(fields), rest: o.rest.clone() }))
            }
            Kind::List(items) => {
                let items = items.borrow().iter().map(|v| v.copied(done, depth)).collect();
                Kind::List(Rc::new(RefCell::new(items)))
            }
            Kind::Iter(iter) => Kind::Iter(Rc::new(RefCell::new(iter.borrow().clone()))),
            other => other.clone(),
        };
        done.insert(key, kind.clone());
        Value { kind, ..self.clone() }
    }

    /// The digest of several values in order, with a word for what is done with them.
    pub(crate) fn digest_all<'v>(what: &str, values: impl IntoIterator<Item = &'v Value<'a>>) -> u64
    where
        'a: 'v,
    {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        for value in values {
            value.digest().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Values within values are copied so deep; what lies deeper is shared.
const MAX_COPIED_DEPTH: u32 = 64;

/// How many parts of a value tell it from others: fewer the deeper they lie, so that nested lists stay cheap.
fn width(depth: u8) -> usize {
    if depth > 4 { 32 } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_doubled_again_and_again_stay_short() {
        for part in [TextPart::Url(UrlPart::Text("/orders".into())), TextPart::Unknown(7)] {
            let mut text = Text { parts: vec![part] };
            for _ in 0..60 {
                for part in text.clone().parts {
                    text.push(part);
                }
            }
            let length: usize = text.url_parts().iter().map(|p| format!("{p:?}").len()).sum();
            assert!(length < 100 * MAX_TEXT && text.known().is_none(), "{length}");
        }
    }
}
