//! Expressions that make values: literals, names, fields, structs, texts.
use std::cell::RefCell;
use std::rc::Rc;

use super::alternatives::subject;
use super::env::Env;
use super::machine::{Aim, Eval, Machine, Stop};
use super::value::{
    Closure, Future, Kind, Object, Origin, RangeValue, Source, Spread, Taint, Typed, Value, Variant, Why,
};
use crate::rust::index::{ConstIx, Resolved, TypeIx};
use crate::rust::ir::{BinOp, Expr, ExprKind, Lit, Name, Param, Path, Ty, UnOp};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    pub(crate) fn literal(&mut self, lit: &'a Lit, span: Span) -> Value<'a> {
        let here = Some(Origin { span, from: Source::Literal, via: None });
        match lit {
            Lit::Int(n) => Value::int(*n).at(here),
            Lit::Float(x) => Value::new(Kind::Float(*x)).at(here),
            Lit::Bool(b) => Value::bool(*b),
            Lit::Str { text, .. } => Value::text(&**text),
            Lit::Char(c) => Value::new(Kind::Char(*c)),
        }
    }

    /// What a path of the code means here, looked up once.
    pub(crate) fn resolve_once(&self, path: &'a Path) -> Resolved {
        let context = self.context();
        // The code outlives all runs: a path's address stands for it.
        let key = (std::ptr::from_ref(path) as usize, context.scope, context.self_ty);
        if let Some(found) = self.shared.resolved.borrow().get(&key) {
            return found.clone();
        }
        let found = self.resolve(path);
        self.shared.resolved.borrow_mut().insert(key, found.clone());
        found
    }

    /// What a path means here.
    pub(crate) fn resolve(&self, path: &Path) -> Resolved {
        let context = self.context();
        self.shared.index.resolve(context.scope, context.self_ty, path)
    }

    pub(crate) fn path(&mut self, path: &'a Path, env: &Env<'a>) -> Eval<'a> {
        if let [name] = path.segments.as_slice()
            && let Some(value) = env.get(name)
        {
            return Ok(value);
        }
        let resolved = self.resolve_once(path);
        let value = self.value_named(resolved, path);
        Ok(value.unwrap_or_else(|| Value::new(Kind::External(Rc::new(path.clone())))))
    }

    /// The value of a constant, function, variant or type name.
    pub(crate) fn named_value(&mut self, path: &'a Path) -> Option<Value<'a>> {
        let resolved = self.resolve_once(path);
        self.value_named(resolved, path)
    }

    pub(super) fn value_named(&mut self, resolved: Resolved, path: &Path) -> Option<Value<'a>> {
        match resolved {
            Resolved::Fn(ix) => Some(Value::new(Kind::Fn(ix))),
            Resolved::Const(ix) => Some(self.constant(ix)),
            Resolved::Variant(ty, name) => {
                let variant = Variant { ty: Some(ty), name, fields: Vec::new() };
                Some(Value::new(Kind::Variant(Rc::new(variant))))
            }
            Resolved::Type(ty) => {
                let object = Object { ty: Some(ty), fields: RefCell::default(), rest: None };
                Some(Value::new(Kind::Object(Rc::new(object))))
            }
            Resolved::External(full) => {
                Some(self.outside_name(&full).unwrap_or_else(|| Value::new(Kind::External(Rc::new(full)))))
            }
            Resolved::Unknown => self.outside_name(path),
        }
    }

    /// A constant or unit value of another crate.
    fn outside_name(&mut self, path: &Path) -> Option<Value<'a>> {
        if let [name] = path.segments.as_slice()
            && &**name == "None"
        {
            return Some(Value::none());
        }
        super::std_names::constant(path).or_else(|| crate::rust::crates::constant(self, path))
    }

    /// The value of a constant, evaluated where it stands, once a run.
    pub(crate) fn constant(&mut self, ix: ConstIx) -> Value<'a> {
        if let Some(value) = self.constants.get(&ix) {
            return value.clone();
        }
        let info = self.shared.index.constant(ix);
        let (constant, scope, of_type) = (info.constant, info.scope, info.of_type);
        let typed = Typed { ty: &constant.ty, scope, self_ty: of_type };
        let id = Value::digest_all(&constant.name, [&Value::int(i128::from(ix.0))]);
        let fallback = self.value_of_type(id, Why::Other("is a constant that is not followed"), typed);
        // A constant that needs itself is not followed.
        self.constants.insert(ix, fallback.clone());
        let value = match &constant.value {
            Some(expr) => {
                let function = self.context().function;
                self.contexts.push(super::value::Context { scope, self_ty: of_type, function });
                let env = self.scope(None);
                let episodes = std::mem::take(&mut self.episodes);
                let value = self.eval(expr, &env);
                self.episodes = episodes;
                self.contexts.pop();
                value.unwrap_or(fallback)
            }
            None => fallback,
        };
        let value = match value.kind {
            Kind::Int(_) | Kind::Float(_) | Kind::Duration(_) => {
                value.at(Some(Origin { span: constant.span, from: Source::Const(ix), via: None }))
            }
            _ => value,
        };
        self.constants.insert(ix, value.clone());
        value
    }

    /// Gives something not known the type that is written beside it.
    pub(crate) fn annotated(&mut self, value: Value<'a>, ty: &'a Ty) -> Value<'a> {
        let context = self.context();
        let typed = Typed { ty, scope: context.scope, self_ty: context.self_ty };
        match value.as_unknown() {
            Some(unknown) if unknown.ty.is_none() && unknown.call.is_none() => {
                let (id, why) = (unknown.id, unknown.why.clone());
                let keys = unknown.keys.clone();
                let taint = value.taint;
                let plain = self.value_of_type(id, why, typed);
                match (&plain.kind, keys) {
                    (Kind::Unknown(_), Some(_)) => value,
                    _ => plain.tainted(taint),
                }
            }
            _ => value,
        }
    }

    pub(crate) fn index(&mut self, base: &'a Expr, index: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        let base = self.eval(base, env)?;
        let index = self.eval(index, env)?;
        if let (Kind::List(items), Some(n)) = (&base.kind, index.as_int()) {
            let item = usize::try_from(n).ok().and_then(|n| items.borrow().get(n).cloned());
            if let Some(item) = item {
                return Ok(item);
            }
        }
        Ok(self.derived("index", Why::Other("is an element of data"), &[&base, &index]))
    }

    pub(crate) fn unary(&mut self, op: UnOp, value: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(value, env)?;
        Ok(self.unary_value(op, &value))
    }

    pub(crate) fn unary_value(&mut self, op: UnOp, value: &Value<'a>) -> Value<'a> {
        let kind = match (op, &value.kind) {
            (UnOp::Not, Kind::Bool(b)) => Kind::Bool(!b),
            (UnOp::Neg, Kind::Int(n)) => Kind::Int(n.saturating_neg()),
            (UnOp::Neg, Kind::Float(x)) => Kind::Float(-x),
            (UnOp::Neg, Kind::Drawn(s)) => Kind::Drawn(s.map(|x| -x)),
            (_, Kind::Lifted(all)) => {
                let all = all.iter().map(|(s, v)| (*s, self.unary_value(op, v))).collect();
                Kind::Lifted(Rc::new(all))
            }
            _ => return self.derived(if op == UnOp::Not { "not" } else { "neg" }, Why::Other("is computed"), &[value]),
        };
        Value { kind, taint: value.taint, origin: None }
    }

    pub(crate) fn binary(&mut self, op: BinOp, left: &'a Expr, right: &'a Expr, span: Span, env: &Env<'a>) -> Eval<'a> {
        let named = (counter_of(left), counter_of(right));
        let left = self.eval(left, env)?;
        let right = self.eval(right, env)?;
        self.comparing = named;
        let value = self.operate(op, &left, &right, span);
        self.comparing = (None, None);
        Ok(value)
    }

    pub(crate) fn assign(
        &mut self,
        op: Option<BinOp>,
        place: &'a Expr,
        value: &'a Expr,
        span: Span,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let value = self.eval(value, env)?;
        let value = match op {
            Some(op) => {
                let old = self.eval(place, env)?;
                self.operate(op, &old, &value, span)
            }
            None => value,
        };
        self.store(place, value, env)?;
        Ok(Value::unit())
    }

    /// Writes to a variable, a field or an element.
    pub(crate) fn store(
        &mut self,
        place: &'a Expr,
        value: Value<'a>,
        env: &Env<'a>,
    ) -> Result<(), super::machine::Exit<'a>> {
        match &*place.kind {
            ExprKind::Path(path) => {
                if let [name] = path.segments.as_slice() {
                    env.set(name, value);
                }
            }
            ExprKind::Field { base: holder, name } => {
                let base = self.eval(holder, env)?;
                if let Kind::Native(native) = &base.kind {
                    native.set(name, &value, place.span);
                }
                if let Kind::Native(native) = &base.kind
                    && let Some(new) = native.clone().with_field(self, name, &value, place.span)
                {
                    return self.store(holder, new, env);
                }
                if let Kind::Object(object) = &base.kind {
                    let mut fields = object.fields.borrow_mut();
                    match fields.iter_mut().find(|(n, _)| n == name) {
                        Some((_, old)) => *old = value,
                        None => fields.push((name.clone(), value)),
                    }
                }
            }
            ExprKind::Index { base, index } => {
                let base = self.eval(base, env)?;
                let index = self.eval(index, env)?;
                if let (Kind::List(items), Some(n)) = (&base.kind, index.as_int())
                    && let Ok(n) = usize::try_from(n)
                    && let Some(slot) = items.borrow_mut().get_mut(n)
                {
                    *slot = value;
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn closure(&mut self, params: &'a [Param], body: &'a Expr, is_async: bool, env: &Env<'a>) -> Value<'a> {
        let closure = Closure { params, body, is_async, env: env.now(), context: self.context() };
        Value::new(Kind::Closure(Rc::new(closure)))
    }

    pub(crate) fn async_block(&mut self, body: &'a Expr, env: &Env<'a>) -> Value<'a> {
        let future = Future::Block { body, env: env.now(), context: self.context() };
        Value::new(Kind::Future(Rc::new(future)))
    }

    pub(crate) fn struct_literal(
        &mut self,
        path: &'a Path,
        fields: &'a [(Name, Expr)],
        rest: Option<&'a Expr>,
        span: Span,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let mut values = Vec::new();
        for (name, expr) in fields {
            values.push((name.clone(), self.eval(expr, env)?));
        }
        let rest = match rest {
            Some(rest) => Some(self.eval(rest, env)?),
            None => None,
        };
        let taint = values.iter().fold(Taint::NONE, |t, (_, v)| t.with(v.taint));
        let resolved = self.resolve_once(path);
        if matches!(resolved, Resolved::External(_) | Resolved::Unknown) {
            let full = if let Resolved::External(full) = &resolved { full } else { path };
            if let Some(value) = crate::rust::crates::struct_literal(self, full, &values, rest.as_ref(), span) {
                return Ok(value);
            }
        }
        // A count kept in a field is the type's own, whoever handed it over.
        values.iter_mut().filter_map(|(_, v)| v.origin.as_mut()).for_each(|origin| origin.via = None);
        match resolved {
            Resolved::Variant(ty, name) => {
                let variant = Variant { ty: Some(ty), name, fields: values };
                Ok(Value::new(Kind::Variant(Rc::new(variant))).tainted(taint))
            }
            Resolved::Type(ty) => {
                let object = plain_object(Some(ty), values, rest, taint);
                if self.aim == Aim::Capture(ty) {
                    self.captured.push(object.deep_clone());
                    return Err(Stop::Done.into());
                }
                Ok(object)
            }
            _ => Ok(plain_object(None, values, rest, taint)),
        }
    }

    pub(crate) fn repeat_list(&mut self, value: &'a Expr, len: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(value, env)?;
        let len = self.eval(len, env)?;
        Ok(match len.as_int() {
            Some(n @ 0..=4096) => Value::list(vec![value; n as usize]),
            _ => super::iter::Iter::OpenTake {
                inner: Box::new(super::iter::Iter::Repeat(value)),
                left: super::iter::UNKNOWN_END,
                bound: len,
                by: None,
            }
            .value(),
        })
    }

    pub(crate) fn range(
        &mut self,
        start: Option<&'a Expr>,
        end: Option<&'a Expr>,
        inclusive: bool,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let start = start.map(|e| self.eval(e, env)).transpose()?;
        let end = end.map(|e| self.eval(e, env)).transpose()?;
        let taint = [&start, &end].into_iter().flatten().fold(Taint::NONE, |t, v| t.with(v.taint));
        Ok(Value::new(Kind::Range(Rc::new(RangeValue { start, end, inclusive }))).tainted(taint))
    }

    pub(crate) fn cast(&mut self, value: &'a Expr, ty: &'a Ty, env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(value, env)?;
        Ok(cast_to(value, ty.path.segments.last().map(|n| &**n).unwrap_or_default()))
    }
}

/// The variable or field that an expression counts with: `self.tries + 1`.
fn counter_of(expr: &Expr) -> Option<&Name> {
    match &*expr.kind {
        ExprKind::Binary { left, right, .. } => subject(left).or_else(|| subject(right)),
        _ => subject(expr),
    }
}

/// Whether a name speaks of the server's wait.
pub(crate) fn is_retry_after(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_ascii_lowercase();
    plain.contains("retryafter") || plain.contains("ratelimitreset")
}

fn plain_object<'a>(
    ty: Option<TypeIx>,
    fields: Vec<(Name, Value<'a>)>,
    rest: Option<Value<'a>>,
    taint: Taint,
) -> Value<'a> {
    Value::new(Kind::Object(Rc::new(Object { ty, fields: RefCell::new(fields), rest }))).tainted(taint)
}

/// `value as ty`
pub(crate) fn cast_to<'a>(value: Value<'a>, ty: &str) -> Value<'a> {
    let to_float = matches!(ty, "f32" | "f64");
    let kind = match (&value.kind, to_float) {
        (Kind::Int(n), true) => Kind::Float(*n as f64),
        (Kind::Float(x), false) => Kind::Int(x.trunc() as i128),
        (Kind::Status(s), false) => Kind::Int(i128::from(*s)),
        (Kind::Bool(b), false) => Kind::Int(i128::from(*b)),
        (Kind::Char(c), false) => Kind::Int(i128::from(u32::from(*c))),
        (Kind::Drawn(s), _) => Kind::Drawn(if to_float { *s } else { Spread { mid: s.mid.trunc(), ..*s } }),
        (Kind::Lifted(all), _) => {
            Kind::Lifted(Rc::new(all.iter().map(|(s, v)| (*s, cast_to(v.clone(), ty))).collect()))
        }
        _ => return value,
    };
    Value { kind, ..value }
}
