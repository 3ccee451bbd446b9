//! What a value is inside, and what it becomes where it is handed on.
use std::rc::Rc;

use super::machine::Machine;
use super::value::{Kind, Value, Why};

impl<'a> Machine<'a, '_> {
    /// What is inside of an option or a result of which nothing is known.
    pub(crate) fn inside(&mut self, value: &Value<'a>) -> Value<'a> {
        let Some(unknown) = value.as_unknown() else { return value.clone() };
        let ty = unknown.ty.and_then(|t| {
            let outer = self.shared.index.unwrapped(t.scope, t.ty, 8);
            let name = outer.path.segments.last().map(|n| &**n).unwrap_or_default();
            matches!(name, "Result" | "Option").then(|| self.element_type(t)).flatten().or(Some(t))
        });
        let (id, why, keys) = (Value::digest_all("inside", [value]), unknown.why.clone(), unknown.keys.clone());
        self.answer_holds(unknown.id, id);
        let plain = match ty {
            Some(ty) => self.value_of_type(id, why, ty),
            None => Value::unknown(id, why),
        };
        let plain = match (&plain.kind, keys) {
            (Kind::Unknown(u), Some(keys)) => {
                let with = super::value::Unknown {
                    id: u.id,
                    why: u.why.clone(),
                    ty: u.ty,
                    succeeded: false,
                    call: None,
                    keys: Some(keys),
                };
                Value::new(Kind::Unknown(Rc::new(with)))
            }
            _ => plain,
        };
        plain.tainted(value.taint)
    }

    /// What an extractor pattern (`Path(id)`, `ApiError::Http(e)`) takes out of something not known.
    pub(crate) fn extracted(&mut self, value: &Value<'a>, by: &str) -> Value<'a> {
        let ty = value.as_unknown().and_then(|u| u.ty).and_then(|t| {
            let outer = t.ty.path.segments.last().map(|n| &**n).unwrap_or_default();
            (outer == by).then(|| self.element_type(t)).flatten()
        });
        let word = Value::text(by);
        let id = Value::digest_all("extracted", [value, &word]);
        let why = value.as_unknown().map_or(Why::Other("is a part of something not known"), |u| u.why.clone());
        match ty {
            Some(ty) => self.value_of_type(id, why, ty),
            None => Value::unknown(id, why),
        }
        .tainted(value.taint)
    }

    /// An error as `?` gives it on: converted by the function's own `From`, where there is one for it.
    pub(crate) fn converted(&mut self, error: Value<'a>) -> Value<'a> {
        if !matches!(error.kind, Kind::HttpError(_)) {
            return error;
        }
        let function = self.context().function;
        let info = self.shared.index.function(function);
        let Some(ret) = &info.function.ret else { return error };
        let Some(err) = ret.args.get(1) else { return error };
        let name = self.shared.index.resolve_type(info.scope, info.of_type, err);
        let crate::rust::index::TypeName::Local(ty) = name else { return error };
        let from = self.shared.index.trait_methods("From", "from").to_vec();
        for ix in from {
            let candidate = self.shared.index.function(ix);
            let takes =
                candidate.function.params.first().and_then(|p| p.ty.as_ref()).and_then(|t| t.path.segments.first());
            if candidate.of_type == Some(ty) && takes.is_some_and(|n| n.starts_with("reqwest")) {
                let span = candidate.function.name_span;
                return self.call_fn(ix, vec![error.clone()], span).unwrap_or(error);
            }
        }
        error
    }

    /// What a closure made of the inside of something that may not be there.
    pub(crate) fn wrapped_open(&mut self, inner: &Value<'a>, outer: &Value<'a>) -> Value<'a> {
        match inner.as_unknown() {
            Some(_) => inner.clone().tainted(outer.taint),
            None if outer.as_unknown().is_some_and(|u| u.succeeded) => Value::wrap("Ok", inner.clone()),
            None => self.derived("map", Why::Other("may not be there"), &[outer, inner]),
        }
    }
}
