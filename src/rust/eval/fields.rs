//! Fields: of objects, and of values that are known by their type only.
use std::rc::Rc;

use super::env::Env;
use super::expr::is_retry_after;
use super::machine::{Eval, Machine};
use super::value::{Kind, Object, Response, Taint, Typed, Value, Why};
use crate::rust::index::{TypeIx, TypeKind, TypeName};
use crate::rust::ir::{Expr, Name, Param};

impl<'a> Machine<'a, '_> {
    pub(crate) fn field(&mut self, base: &'a Expr, name: &'a Name, env: &Env<'a>) -> Eval<'a> {
        let base = self.eval(base, env)?;
        Ok(self.field_of(&base, name))
    }

    /// A field of a value.
    pub(crate) fn field_of(&mut self, base: &Value<'a>, name: &str) -> Value<'a> {
        match &base.kind {
            Kind::Object(object) => {
                let found = object.fields.borrow().iter().find(|(n, _)| &**n == name).map(|(_, v)| v.clone());
                if let Some(found) = found {
                    return found;
                }
                let value = self.undeclared_field(base, object, name);
                object.fields.borrow_mut().push((Name::from(name), value.clone()));
                value
            }
            Kind::Variant(v) => match v.fields.iter().find(|(n, _)| &**n == name) {
                Some((_, value)) => value.clone().tainted(base.taint),
                None => self.part_of(base, "field"),
            },
            Kind::Unknown(_) => self.field_of_unknown(base, name),
            Kind::Native(native) => match native.clone().field(name) {
                Some(value) => value,
                None => self.part_of(base, "field"),
            },
            // The head of a response that was taken apart.
            Kind::Response(response) if name == "status" => match response {
                Response::Other => Value::new(Kind::Status(200)),
                Response::Good | Response::Failed => self.statuses(base.taint),
            },
            // `self.0` of something whose wrapper was not kept.
            Kind::Client(_) | Kind::Text(_) | Kind::Int(_) if name == "0" => base.clone(),
            _ => {
                let field = Value::text(name);
                self.derived("field", Why::Other("is a field that is not known"), &[base, &field])
            }
        }
    }

    pub(super) fn undeclared_field(&mut self, base: &Value<'a>, object: &Rc<Object<'a>>, name: &str) -> Value<'a> {
        if let Some(rest) = &object.rest {
            return match &rest.kind {
                Kind::Unknown(_) => self.field_of_unknown(rest, name),
                _ => self.field_of(rest, name),
            };
        }
        let whole = Value::unknown(base.digest(), Why::Other("is a field that is not known"));
        let field = Value::text(name);
        match object.ty.and_then(|ty| self.declared_field(ty, name)) {
            Some((name, typed)) => {
                let id = Value::digest_all("field", [&whole, &field]);
                self.value_of_type(id, Why::Field(name), typed)
            }
            None => self.derived("field", Why::Other("is a field that is not known"), &[&whole, &field]),
        }
    }

    /// The declared name and type of a field.
    pub(crate) fn declared_field(&self, ty: TypeIx, name: &str) -> Option<(&'a str, Typed<'a>)> {
        let info = self.shared.index.ty(ty);
        let TypeKind::Struct(item) = info.kind else { return None };
        let field = item.fields.iter().find(|f| &*f.name == name)?;
        Some((&field.name, Typed { ty: &field.ty, scope: info.scope, self_ty: Some(ty) }))
    }

    pub(super) fn field_of_unknown(&mut self, base: &Value<'a>, name: &str) -> Value<'a> {
        let id = Value::digest_all("field", [base, &Value::text(name)]);
        let mut taint = base.taint;
        if taint.has(Taint::FAILURE) && is_retry_after(name) {
            taint = taint.with(Taint::SERVER_WAIT);
        }
        let Some((ty, (field, typed))) =
            self.local_type(base).and_then(|ty| Some((ty, self.declared_field(ty, name)?)))
        else {
            let why = base.as_unknown().map_or(Why::Other("is a field that is not known"), |u| u.why.clone());
            return Value::unknown(id, why).tainted(taint);
        };
        if let Some(value) = self.setting(base, ty, field, typed, id) {
            return value.tainted(taint);
        }
        self.value_of_type(id, Why::Field(field), typed).tainted(taint)
    }

    /// A value of which only the type is known: a client without layers known here, a struct made as its only
    /// constructor makes it, or nothing.
    pub(crate) fn value_of_type(&mut self, id: u64, why: Why<'a>, typed: Typed<'a>) -> Value<'a> {
        match self.type_name(typed) {
            TypeName::External(path) => super::http::client_of_type(&path, id)
                .or_else(|| crate::rust::crates::of_type(self, &path, id))
                .or_else(|| self.grpc_of_type(&path, id, typed))
                .unwrap_or_else(|| Value::unknown_of(id, why, Some(typed))),
            TypeName::Local(ty) => self.instance(ty, id, why, typed),
            // What a build script makes stands in no file.
            TypeName::Unknown => {
                let path = &self.shared.index.unwrapped(typed.scope, typed.ty, 8).path;
                self.grpc_of_type(path, id, typed).unwrap_or_else(|| Value::unknown_of(id, why, Some(typed)))
            }
        }
    }

    /// An argument of the function at the start of a chain.
    pub(crate) fn root_argument(&mut self, function: crate::rust::index::FnIx, param: &'a Param) -> Value<'a> {
        let info = self.shared.index.function(function);
        let (scope, of_type) = (info.scope, info.of_type);
        let name: &'a str = match &param.pat.kind {
            crate::rust::ir::PatKind::Bind { name, .. } => name,
            _ => "argument",
        };
        let id = Value::digest_all("argument", [&Value::text(name), &Value::int(i128::from(param.pat.span.start))]);
        match (&param.ty, of_type) {
            (Some(ty), _) => self.value_of_type(id, Why::Param(name), Typed { ty, scope, self_ty: of_type }),
            (None, Some(ty)) => self.instance_of(ty),
            (None, None) => Value::unknown(id, Why::Param(name)),
        }
    }
}
