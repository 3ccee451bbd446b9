//! Methods of `Option` and `Result`, of known ones and of those of which nothing is known.

use std::rc::Rc;

use super::call::HANDED_OVER;
use super::machine::{Eval, Exit, Flow, Machine, Stop};
use super::value::{Kind, Origin, Source, Taint, Text, TextPart, Value, Why};
use crate::rust::crates::At;
use crate::rust::crates::retried::later;
use crate::rust::reading::UrlPart;
use crate::source::Span;

/// The names of the methods.
pub(crate) const METHODS: [&str; 43] = [
    "is_ok",
    "is_err",
    "is_some",
    "is_none",
    "is_some_and",
    "is_none_or",
    "is_ok_and",
    "is_err_and",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "and_then",
    "or_else",
    "or",
    "and",
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
    "ok",
    "err",
    "ok_or",
    "ok_or_else",
    "filter",
    "flatten",
    "transpose",
    "copied",
    "cloned",
    "context",
    "with_context",
    "wrap_err",
    "inspect",
    "inspect_err",
    "unwrap_err",
    "expect_err",
    "get_or_insert_with",
    "then",
    "then_some",
    "into_diagnostic",
    "change_context",
    "wrap_err_with",
];

impl<'a> Machine<'a, '_> {
    /// One of [`METHODS`]; `None` if the receiver has no such method.
    pub(crate) fn option_method(
        &mut self,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        if let Kind::Bool(b) = value.kind {
            return self.then(b, name, args, at.span);
        }
        let (there, inner) = match value.variant() {
            Some(("Ok" | "Some", inner)) => (true, inner.cloned().unwrap_or_else(Value::unit)),
            Some(("Err", inner)) => (false, inner.cloned().unwrap_or_else(Value::unit)),
            Some(("None", _)) => (false, Value::none()),
            Some(_) => return None,
            None if value.as_unknown().is_some() => return self.open_option_method(value, name, args, at),
            None => return None,
        };
        let is_option = matches!(value.variant(), Some(("Some" | "None", _)));
        let inner = inner.tainted(value.taint);
        Some(self.known_option_method(value, there, inner, is_option, name, args, at))
    }

    fn then(&mut self, holds: bool, name: &str, args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        match (name, args) {
            ("then_some", [x]) => Some(Ok(Value::option(holds.then(|| x.clone())))),
            ("then", [f]) if holds => Some(self.call_value(f, Vec::new(), span).map(|v| Value::wrap("Some", v))),
            ("then", [_]) => Some(Ok(Value::none())),
            _ => None,
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a value taken apart, and a call")]
    fn known_option_method(
        &mut self,
        value: &Value<'a>,
        there: bool,
        inner: Value<'a>,
        is_option: bool,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Eval<'a> {
        let truth = |b: bool| Ok(Value::bool(b).tainted(value.taint));
        let good = if is_option { "Some" } else { "Ok" };
        let first = args.first();
        match (name, there) {
            ("is_ok" | "is_some", _) => truth(there),
            ("is_err" | "is_none", _) => truth(!there),
            ("is_some_and" | "is_ok_and", true) | ("is_none_or", true) | ("is_err_and", false) => {
                self.apply(first, vec![inner], at.span)
            }
            ("is_some_and" | "is_ok_and" | "is_err_and", _) => truth(false),
            ("is_none_or", false) => truth(true),
            ("map", true) => Ok(Value::wrap(good, self.apply(first, vec![inner], at.span)?)),
            ("map_err", false) if !is_option => Ok(Value::wrap("Err", self.apply(first, vec![inner], at.span)?)),
            ("map_or", true) => self.apply(args.get(1), vec![inner], at.span),
            ("map_or", false) => Ok(first.cloned().unwrap_or_else(Value::unit).tainted(value.taint)),
            ("map_or_else", true) => self.apply(args.get(1), vec![inner], at.span),
            ("map_or_else", false) => self.apply(first, if is_option { vec![] } else { vec![inner] }, at.span),
            ("and_then", true) => self.apply(first, vec![inner], at.span),
            ("or_else", false) => self.apply(first, if is_option { vec![] } else { vec![inner] }, at.span),
            ("or", false) | ("and", true) => Ok(first.cloned().unwrap_or_else(Value::unit).tainted(value.taint)),
            ("unwrap" | "expect", true) | ("unwrap_err" | "expect_err", false) => Ok(inner),
            ("unwrap" | "expect", false) => match self.discovering() {
                true => Ok(self.opaque(Why::Other("is not there"))),
                false => self.panic(),
            },
            ("unwrap_or" | "unwrap_or_else", true) if is_open_variable(&inner) => {
                self.variable_or(&inner, name, first, at.span)
            }
            ("unwrap_or" | "unwrap_or_else" | "unwrap_or_default", true) => Ok(inner),
            ("unwrap_or", false) => Ok(first.cloned().unwrap_or_else(Value::unit)),
            ("unwrap_or_else", false) => self.apply(first, if is_option { vec![] } else { vec![inner] }, at.span),
            ("unwrap_or_default", false) => Ok(self.opaque(Why::Other("is a default"))),
            ("ok", true) => Ok(Value::wrap("Some", inner)),
            ("ok", false) | ("err", true) => Ok(Value::none().tainted(value.taint)),
            ("err", false) => Ok(Value::wrap("Some", inner)),
            ("ok_or" | "ok_or_else", true) => Ok(Value::wrap("Ok", inner)),
            ("ok_or", false) => Ok(Value::wrap("Err", first.cloned().unwrap_or_else(Value::unit))),
            ("ok_or_else", false) => Ok(Value::wrap("Err", self.apply(first, Vec::new(), at.span)?)),
            ("filter", true) => {
                let keep = self.apply(first, vec![inner], at.span)?;
                let keep = self.decide(&keep, at.span, super::machine::Hint::plain())?;
                Ok(if keep { value.clone() } else { Value::none().tainted(value.taint) })
            }
            ("flatten", true) => Ok(inner),
            ("inspect", true) | ("inspect_err", false) => {
                self.apply(first, vec![inner], at.span)?;
                Ok(value.clone())
            }
            ("get_or_insert_with", true) => Ok(inner),
            ("get_or_insert_with", false) => self.apply(first, Vec::new(), at.span),
            ("context" | "with_context" | "wrap_err", _) if is_option => {
                Ok(if there { Value::wrap("Ok", inner) } else { Value::wrap("Err", Value::none()) })
            }
            _ => Ok(value.clone()),
        }
    }

    /// An environment variable with the default that the code gives it.
    fn variable_or(&mut self, variable: &Value<'a>, name: &str, default: Option<&Value<'a>>, span: Span) -> Eval<'a> {
        let default = match (name, default) {
            ("unwrap_or", Some(text)) => text.clone(),
            (_, Some(f)) => {
                let wants = if let Kind::Closure(c) = &f.kind { c.params.len() } else { 0 };
                let error = self.opaque(Why::Other("is an error"));
                self.apply(Some(f), vec![error; wants], span)?
            }
            _ => return Ok(variable.clone()),
        };
        let (Kind::Text(text), Some(default)) = (&variable.kind, default.known_text()) else {
            return Ok(variable.clone());
        };
        let parts = text.parts.iter().map(|part| match part {
            TextPart::Url(UrlPart::Env { name, default: None, span }) => {
                TextPart::Url(UrlPart::Env { name: name.clone(), default: Some(default.clone()), span: *span })
            }
            part => part.clone(),
        });
        let text = Text { parts: parts.collect() };
        Ok(Value { kind: Kind::Text(Rc::new(text)), ..variable.clone() })
    }

    /// Of something of which it is not known whether it is there.
    fn open_option_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let unknown = value.as_unknown()?.clone();
        let first = args.first();
        let refs: Vec<&Value<'a>> = [value].into_iter().chain(args).collect();
        Some(match name {
            "is_ok" | "is_some" if unknown.succeeded => Ok(Value::bool(true).tainted(value.taint)),
            "is_err" | "is_none" if unknown.succeeded => Ok(Value::bool(false).tainted(value.taint)),
            "is_ok" | "is_some" | "is_err" | "is_none" => Ok(self.derived(
                if name.ends_with("ok") || name.ends_with("some") { "there" } else { "not there" },
                Why::Other("may not be there"),
                &[value],
            )),
            "unwrap" | "expect" => Ok(self.inside(value)),
            "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" | "map_or" | "map_or_else" => {
                self.open_default(value, name, args, at)
            }
            "is_some_and" | "is_ok_and" | "is_none_or" => {
                let inner = self.inside(value);
                self.apply(first, vec![inner], at.span).map(|v| match v.kind {
                    Kind::Bool(_) => self.derived("and", Why::Other("may not be there"), &refs),
                    _ => v.tainted(value.taint),
                })
            }
            "and_then" | "map"
                if first.is_some_and(|f| matches!(f.kind, Kind::Closure(_) | Kind::Fn(_) | Kind::External(_))) =>
            {
                let inner = self.inside(value);
                self.apply(first, vec![inner], at.span).map(|made| {
                    if made.variant().is_some() && unknown.succeeded {
                        return made.tainted(value.taint);
                    }
                    let made = match made.variant() {
                        Some((_, Some(x))) => x.clone(),
                        _ => made,
                    };
                    self.wrapped_open(&made, value)
                })
            }
            // A future of a function that was handed over by its path.
            "map_err" if unknown.call.as_ref().is_some_and(|call| call.name == HANDED_OVER) => {
                let (value, args) = (value.clone(), args.to_vec());
                Ok(later(move |m| {
                    let result = m.await_value(value.clone(), at.span)?;
                    let result = m.settle(result, at.span)?;
                    m.option_method(&result, "map_err", &args, at).unwrap_or(Ok(result))
                }))
            }
            "filter" | "inspect" | "or_else" | "or" | "map_err" | "context" | "with_context" | "wrap_err" | "ok"
            | "err" | "ok_or" | "ok_or_else" | "copied" | "cloned" | "flatten" | "transpose" | "inspect_err"
            | "into_diagnostic" | "change_context" | "wrap_err_with" => Ok(value.clone()),
            _ => return None,
        })
    }

    /// `unwrap_or(default)` and its kin on something of which it is not known whether it is there: what the failing
    /// call said may be there or not; of anything else the default is what the text tells.
    fn open_default(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>], at: At) -> Eval<'a> {
        let unknown_succeeded = value.as_unknown().is_some_and(|u| u.succeeded);
        let tested = value.taint.has(Taint::FAILURE) || value.taint.has(Taint::ANSWER);
        let there = unknown_succeeded || (tested && self.is_there(value, at.span, super::machine::Hint::plain())?);
        if there {
            let inner = self.inside(value);
            return match name {
                "map_or" | "map_or_else" => self.apply(args.get(1), vec![inner], at.span),
                _ => Ok(inner),
            };
        }
        let default = match name {
            "unwrap_or" | "map_or" => args.first().cloned().unwrap_or_else(Value::unit),
            "unwrap_or_default" => self.opaque(Why::Other("is a default")),
            _ => {
                let error = self.opaque(Why::Other("is an error"));
                let wants = match args.first().map(|f| &f.kind) {
                    Some(Kind::Closure(c)) => c.params.len(),
                    _ => 0,
                };
                match self.apply(args.first(), vec![error; wants], at.span) {
                    // Whatever goes on has the value.
                    Err(exit) if matches!(*exit, Flow::Stop(Stop::Panic)) => return Ok(self.inside(value)),
                    default => default?,
                }
            }
        };
        Ok(match default.origin {
            Some(origin) if !tested => default.at(Some(Origin { from: Source::Fallback, ..origin })),
            _ => default,
        })
    }

    /// Calls a closure or function argument.
    pub(crate) fn apply(
        &mut self,
        f: Option<&Value<'a>>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Result<Value<'a>, Exit<'a>> {
        match f {
            Some(f) => self.call_value(&f.clone(), args, span),
            None => Ok(Value::unit()),
        }
    }
}

/// Whether a text is an environment variable for which the code has given no default so far.
fn is_open_variable(value: &Value<'_>) -> bool {
    let Kind::Text(text) = &value.kind else { return false };
    matches!(text.parts.as_slice(), [TextPart::Url(UrlPart::Env { default: None, .. })])
}
