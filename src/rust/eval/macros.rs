//! Macros, and the texts that some of them make.
use std::collections::BTreeMap;
use std::rc::Rc;

use super::env::Env;
use super::machine::{Eval, Hint, Machine};
use super::value::{Kind, Taint, Text, TextPart, Value, Why};
use crate::rust::ir::{Expr, FormatPart, Name, Path};
use crate::rust::reading::UrlPart;
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    pub(crate) fn format(
        &mut self,
        name: &'a Name,
        parts: &'a [FormatPart],
        args: &'a [Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Eval<'a> {
        match &**name {
            "format" | "format_args" | "anyhow" | "eyre" | "concat" => self.format_text(parts, args, env),
            "bail" => {
                let error = self.format_text(parts, args, env)?;
                self.return_value(Value::wrap("Err", error))
            }
            "ensure" => self.ensure(args.first(), span, env),
            "panic" | "unreachable" | "todo" | "unimplemented" => self.panic(),
            _ => Ok(Value::unit()),
        }
    }

    pub(super) fn format_text(&mut self, parts: &'a [FormatPart], args: &'a [Expr], env: &Env<'a>) -> Eval<'a> {
        let mut values: BTreeMap<usize, Value<'a>> = BTreeMap::new();
        let mut text = Text::default();
        let mut taint = Taint::NONE;
        for part in parts {
            match part {
                FormatPart::Text(t) => text.push(TextPart::Url(UrlPart::Text(t.to_string()))),
                FormatPart::Arg(i) => {
                    // An argument is evaluated once, however often it is shown.
                    let value = match (values.get(i), args.get(*i)) {
                        (Some(value), _) => value.clone(),
                        (None, Some(expr)) => self.eval(expr, env)?,
                        (None, None) => continue,
                    };
                    values.insert(*i, value.clone());
                    taint = taint.with(value.taint);
                    for part in text_of(&value).parts {
                        text.push(part);
                    }
                }
            }
        }
        Ok(Value::new(Kind::Text(Rc::new(text))).tainted(taint))
    }

    /// `ensure!(cond, ..)`
    pub(super) fn ensure(&mut self, cond: Option<&'a Expr>, span: Span, env: &Env<'a>) -> Eval<'a> {
        let Some(cond) = cond else { return Ok(Value::unit()) };
        let judged = self.condition(cond, env, Hint::plain())?;
        self.picked(!judged.holds, judged.taint, span);
        if judged.holds {
            return Ok(Value::unit());
        }
        let error = self.opaque(Why::Other("is an error")).tainted(judged.taint);
        self.return_value(Value::wrap("Err", error))
    }

    pub(crate) fn macro_call(&mut self, path: &'a Path, args: &'a [Expr], span: Span, env: &Env<'a>) -> Eval<'a> {
        let name: &'a str = path.segments.last().map(|n| &**n).unwrap_or_default();
        let segments: Vec<&str> = path.segments.iter().map(|s| &**s).collect();
        if let Some(helper) = self.helper_called(&segments, true)
            && let Some(result) = self.run_helper_macro(helper, args, span, env)
        {
            return result;
        }
        match (name, args) {
            ("yield", _) => {
                self.hand_out();
                Ok(self.eval_all(args, env)?.pop().unwrap_or_else(Value::unit))
            }
            ("ensure", _) => self.ensure(args.first(), span, env),
            ("pin" | "dbg" | "black_box", [one]) => self.eval(one, env),
            ("panic" | "unreachable" | "todo" | "unimplemented", _) => self.panic(),
            ("bail", _) => {
                let error = self.opaque(Why::Other("is an error"));
                self.return_value(Value::wrap("Err", error))
            }
            ("assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq", _) => Ok(Value::unit()),
            ("env" | "option_env" | "include_str", _) => Ok(self.opaque(Why::Other("is set when it is built"))),
            _ => {
                let values = self.eval_all(args, env)?;
                let refs: Vec<&Value<'a>> = values.iter().collect();
                Ok(self.derived(name, Why::Call(name), &refs))
            }
        }
    }
}

/// A value written out.
pub(crate) fn text_of(value: &Value<'_>) -> Text {
    let known = |text: String| Text { parts: vec![TextPart::Url(UrlPart::Text(text))] };
    match &value.kind {
        Kind::Text(t) => (**t).clone(),
        Kind::Int(n) => known(n.to_string()),
        Kind::Float(x) => known(x.to_string()),
        Kind::Bool(b) => known(b.to_string()),
        Kind::Char(c) => known(c.to_string()),
        Kind::Status(s) => known(s.to_string()),
        _ => Text { parts: vec![TextPart::Unknown(value.digest())] },
    }
}
