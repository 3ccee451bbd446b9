//! Names that a pattern gives to the parts of a value.
use std::rc::Rc;

use super::env::Env;
use super::machine::Machine;
use super::value::{Kind, Taint, Value, Variant, Why};
use crate::rust::ir::{Pat, PatKind, Path};

impl<'a> Machine<'a, '_> {
    /// Binds what a pattern names, whether or not it matches.
    pub(crate) fn bind(&mut self, pat: &'a Pat, value: Value<'a>, env: &Env<'a>) {
        if self.down().is_err() {
            return;
        }
        match &pat.kind {
            PatKind::Bind { name, sub } => {
                if let Some(sub) = sub {
                    self.bind(sub, value.clone(), env);
                }
                if !self.names_a_value(name) {
                    env.bind(name.clone(), value);
                }
            }
            PatKind::Tuple(parts) => self.bind_parts(parts, &value, env),
            PatKind::TupleStruct { path, parts } => self.bind_variant(path, parts, &value, env),
            PatKind::Struct { fields, .. } => {
                for (name, part) in fields {
                    let field = self.field_of(&value, name);
                    self.bind(part, field, env);
                }
            }
            PatKind::Or(all) => {
                if let Some(first) = all.first() {
                    self.bind(first, value, env);
                }
            }
            PatKind::List(parts) => {
                for part in parts {
                    let inner = self.part_of(&value, "item");
                    self.bind(part, inner, env);
                }
            }
            PatKind::Wild | PatKind::Lit(_) | PatKind::Range { .. } | PatKind::Path(_) => {}
        }
        self.up();
    }

    pub(super) fn bind_parts(&mut self, parts: &'a [Pat], value: &Value<'a>, env: &Env<'a>) {
        for (i, part) in parts.iter().enumerate() {
            let inner = match &value.kind {
                Kind::Object(_) => self.field_of(value, &i.to_string()),
                _ => self.part_of(value, "part"),
            };
            self.bind(part, inner, env);
        }
    }

    pub(super) fn bind_variant(&mut self, path: &'a Path, parts: &'a [Pat], value: &Value<'a>, env: &Env<'a>) {
        let last = path.segments.last().map(|n| &**n).unwrap_or_default();
        for (i, part) in parts.iter().enumerate() {
            let inner = match &value.kind {
                Kind::Variant(v) if &*v.name == last => v.fields.get(i).map(|(_, x)| x.clone().tainted(value.taint)),
                Kind::Variant(_) => None,
                Kind::Object(o) if o.fields.borrow().iter().any(|(n, _)| &**n == "0") => {
                    Some(self.field_of(value, &i.to_string()))
                }
                // An extractor (`State(x)`, `Json(x)`), or an error that `?` wrapped.
                Kind::Client(_) | Kind::Object(_) | Kind::HttpError(_) | Kind::Text(_) => Some(value.clone()),
                Kind::Unknown(_) => {
                    Some(if matches!(last, "Ok" | "Some") { self.inside(value) } else { self.extracted(value, last) })
                }
                _ => None,
            };
            let inner = match inner {
                Some(inner) => inner,
                None => self.opaque(Why::Other("is not there")).tainted(value.taint),
            };
            self.bind(part, inner, env);
        }
    }

    /// A part of something not known.
    pub(crate) fn part_of(&mut self, value: &Value<'a>, what: &'static str) -> Value<'a> {
        self.derived(what, Why::Other("is a part of something not known"), &[value])
    }
}

/// One variant whose fields hold a value per status.
pub(super) fn merged<'a>(all: &[(u16, Value<'a>)]) -> Value<'a> {
    let Some((_, Value { kind: Kind::Variant(first), .. })) = all.first() else {
        return Value::new(Kind::Lifted(Rc::new(all.to_vec())));
    };
    let fields = first.fields.iter().enumerate().map(|(i, (name, _))| {
        let per_status: Vec<(u16, Value<'a>)> = all
            .iter()
            .filter_map(|(s, v)| match &v.kind {
                Kind::Variant(v) => v.fields.get(i).map(|(_, x)| (*s, x.clone())),
                _ => None,
            })
            .collect();
        let taint = per_status.iter().fold(Taint::NONE, |t, (_, v)| t.with(v.taint));
        (name.clone(), Value::new(Kind::Lifted(Rc::new(per_status))).tainted(taint))
    });
    let fields = fields.collect();
    Value::new(Kind::Variant(Rc::new(Variant { ty: first.ty, name: first.name.clone(), fields })))
}
