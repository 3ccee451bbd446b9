//! Methods of texts, and of lists that are asked what they hold.

use std::rc::Rc;

use super::env::Env;
use super::machine::{Eval, Machine};
use super::pattern::plain_number;
use super::value::{Kind, Origin, Source, Text, TextPart, Value, Why};
use crate::rust::crates::At;
use crate::rust::ir::PatKind;
use crate::rust::reading::UrlPart;

impl<'a> Machine<'a, '_> {
    /// `None` if there is no such method here.
    pub(crate) fn text_method(
        &mut self,
        text: &Rc<Text>,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
    ) -> Option<Eval<'a>> {
        let known = text.known();
        let other = args.first().and_then(Value::known_text);
        let truth = |b: bool| Some(Ok(Value::bool(b).tainted(value.taint)));
        match (name, known, other) {
            ("parse", _, _) => Some(Ok(self.parsed(text, value, None))),
            ("to_lowercase" | "to_ascii_lowercase", Some(t), _) => {
                Some(Ok(Value::text(t.to_lowercase()).tainted(value.taint)))
            }
            ("to_uppercase" | "to_ascii_uppercase", Some(t), _) => {
                Some(Ok(Value::text(t.to_uppercase()).tainted(value.taint)))
            }
            ("contains", Some(t), Some(o)) => truth(t.contains(&o)),
            ("starts_with", Some(t), Some(o)) => truth(t.starts_with(&o)),
            ("ends_with", Some(t), Some(o)) => truth(t.ends_with(&o)),
            ("eq_ignore_ascii_case", Some(t), Some(o)) => truth(t.eq_ignore_ascii_case(&o)),
            ("is_empty", Some(t), _) => truth(t.is_empty()),
            ("len", Some(t), _) => Some(Ok(Value::int(t.len() as i128))),
            ("trim_end_matches" | "trim_start_matches" | "strip_suffix" | "trim_matches", _, _) => {
                let same = value.clone();
                Some(Ok(if name.starts_with("strip") { Value::wrap("Some", same) } else { same }))
            }
            // `base.join("path")` of a URL: the path stands behind the host.
            ("join", _, Some(o)) => {
                let mut joined = (**text).clone();
                if !o.starts_with('/') {
                    joined.push(TextPart::Url(UrlPart::Text("/".to_owned())));
                }
                joined.push(TextPart::Url(UrlPart::Text(o)));
                Some(Ok(Value::wrap("Ok", Value::new(Kind::Text(Rc::new(joined))).tainted(value.taint))))
            }
            ("push_str" | "push" | "reserve" | "set_path" | "set_query", _, _) => Some(Ok(Value::unit())),
            ("as_str" | "to_string" | "to_owned" | "into" | "as_ref" | "clone" | "into_owned" | "as_bytes", _, _) => {
                Some(Ok(value.clone()))
            }
            _ => None,
        }
    }

    /// A text or URL after a method that puts something into it: another one than before.
    pub(super) fn extended(
        &mut self,
        value: &Value<'a>,
        name: &str,
        args: &[Value<'a>],
        at: At,
        env: &Env<'a>,
    ) -> Option<Value<'a>> {
        let mut from = vec![value.clone()];
        match (name, args) {
            ("push_str", [more]) => {
                let Kind::Text(text) = &value.kind else { return None };
                let mut text = (**text).clone();
                super::macros::text_of(more).parts.into_iter().for_each(|part| text.push(part));
                return Some(Value::new(Kind::Text(Rc::new(text))).tainted(value.taint.with(more.taint)));
            }
            ("set_path" | "set_query", [_]) => from.extend(args.iter().cloned()),
            // What is pushed there comes from what the function is given, as far as it is not the same each time.
            ("path_segments_mut" | "query_pairs_mut", []) => {
                from.push(Value::int(i128::from(at.span.start)));
                let function = self.frames.last().map(|f| self.shared.index.function(f.function).function);
                from.extend(function.iter().flat_map(|f| &f.params).filter_map(|p| match &p.pat.kind {
                    PatKind::Bind { name, .. } => env.get(name),
                    _ => None,
                }));
            }
            _ => return None,
        }
        let from: Vec<&Value<'a>> = from.iter().collect();
        match &value.kind {
            Kind::Text(text) => {
                let mut text = (**text).clone();
                text.push(TextPart::Unknown(Value::digest_all(name, from)));
                Some(Value::new(Kind::Text(Rc::new(text))).tainted(value.taint))
            }
            Kind::Unknown(_) => Some(self.derived(name, Why::Other("is computed"), &from)),
            _ => None,
        }
    }

    /// `text.parse()`
    pub(crate) fn parsed(&mut self, text: &Rc<Text>, value: &Value<'a>, ty: Option<&str>) -> Value<'a> {
        let number = |t: &str| -> Option<Value<'a>> {
            match ty {
                Some("f64" | "f32") => t.parse().ok().map(|x| Value::new(Kind::Float(x))),
                _ => t
                    .parse::<i128>()
                    .ok()
                    .map(Value::int)
                    .or_else(|| t.parse().ok().map(|x| Value::new(Kind::Float(x)))),
            }
        };
        if let Some(known) = text.known() {
            return match number(known.trim()) {
                Some(n) => Value::wrap("Ok", n.tainted(value.taint).at(value.origin)),
                // A URL, an address, a name: the text itself.
                None => Value::wrap("Ok", value.clone()),
            };
        }
        if let [TextPart::Url(UrlPart::Env { name, default, span })] = text.parts.as_slice() {
            if let Some(n) = default.as_deref().and_then(|d| number(d.trim())) {
                let origin = Origin { span: *span, from: Source::Fallback, via: None };
                return Value::wrap("Ok", n.at(Some(origin)));
            }
            if ty.is_some() || default.is_none() && !name.to_ascii_uppercase().contains("URL") {
                let id = Value::digest_all("parse", [value]);
                return Value::unknown(id, Why::Env(Rc::from(name.as_str()))).tainted(value.taint);
            }
            return Value::wrap("Ok", value.clone());
        }
        self.derived("parse", Why::Other("is read from a text"), &[value])
    }

    /// What a list or a range is asked; `None` if it is no such question.
    pub(crate) fn list_method(&mut self, value: &Value<'a>, name: &'a str, args: &[Value<'a>]) -> Option<Eval<'a>> {
        let answer = |b: bool, m: &Value<'a>| Some(Ok(Value::bool(b).tainted(value.taint.with(m.taint))));
        match (name, &value.kind, args) {
            ("contains", Kind::List(items), [x]) => {
                let items = items.borrow();
                let mut open = false;
                for item in items.iter() {
                    match self.equal(item, x) {
                        Some(true) => return answer(true, x),
                        Some(false) => {}
                        None => open = true,
                    }
                }
                if open { None } else { answer(false, x) }
            }
            ("contains", Kind::Range(range), [x]) => {
                let n = plain_number(x)?;
                let low = match &range.start {
                    Some(start) => plain_number(start)?,
                    None => i128::MIN,
                };
                let inside = match &range.end {
                    Some(end) if range.inclusive => n <= plain_number(end)?,
                    Some(end) => n < plain_number(end)?,
                    None => true,
                };
                answer(n >= low && inside, x)
            }
            ("any" | "all", Kind::List(_) | Kind::Iter(_), [f]) => {
                let mut items = self.iterator(value);
                if items.is_endless() || items.len().is_none_or(|n| n > 64) {
                    return None;
                }
                loop {
                    let item = match self.advance(&mut items) {
                        Ok(Some(item)) => item,
                        Ok(None) => return answer(name == "all", f),
                        Err(exit) => return Some(Err(exit)),
                    };
                    match self.call_value(f, vec![item], super::methods::no_place()) {
                        Ok(Value { kind: Kind::Bool(b), .. }) if b == (name == "any") => return answer(b, f),
                        Ok(Value { kind: Kind::Bool(_), .. }) => {}
                        Ok(other) => return Some(Ok(other)),
                        Err(exit) => return Some(Err(exit)),
                    }
                }
            }
            ("get", Kind::List(items), [n]) => {
                let n = usize::try_from(n.as_int()?).ok();
                Some(Ok(Value::option(n.and_then(|n| items.borrow().get(n).cloned()))))
            }
            ("first", Kind::List(items), []) => Some(Ok(Value::option(items.borrow().first().cloned()))),
            ("last", Kind::List(items), []) => Some(Ok(Value::option(items.borrow().last().cloned()))),
            ("is_empty", Kind::List(items), []) => answer(items.borrow().is_empty(), value),
            ("push" | "push_back", Kind::List(items), [x]) => {
                let mut items = items.borrow_mut();
                if items.len() < 4096 {
                    items.push(x.clone());
                }
                Some(Ok(Value::unit()))
            }
            _ => None,
        }
    }
}
