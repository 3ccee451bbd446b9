//! Values compared by what they hold, and copied without sharing.
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::*;
use crate::rust::ir::Name;
use crate::rust::reading::UrlPart;

impl<'a> Value<'a> {
    /// A number for what it is: equal values have equal ones. A random draw and the clock count as always the same,
    /// for a fresh request id or time stamp does not make another call of it.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.feed(&mut hasher, 6);
        hasher.finish()
    }

    pub(super) fn feed(&self, to: &mut DefaultHasher, depth: u8) {
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

    pub(super) fn copied(&self, done: &mut HashMap<*const (), Kind<'a>>, depth: u32) -> Value<'a> {
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
pub(super) const MAX_COPIED_DEPTH: u32 = 64;

/// How many parts of a value tell it from others: fewer the deeper they lie, so that nested lists stay cheap.
pub(super) fn width(depth: u8) -> usize {
    if depth > 4 { 32 } else { 4 }
}
