//! Patterns: testing a value and binding its parts.
use std::rc::Rc;

use super::bind::merged;
use super::env::Env;
use super::machine::{Exit, Hint, Machine};
use super::value::{Kind, Value, Variant, Why};
use crate::rust::index::Resolved;
use crate::rust::ir::{Expr, ExprKind, Lit, Name, Pat, PatKind, Path};
use crate::source::Span;

/// Names of variants that hold the error of an HTTP client as it is, made by `?` through a derived `From`.
const WRAPPING: [&str; 16] = [
    "http",
    "reqwest",
    "request",
    "transport",
    "network",
    "connect",
    "io",
    "source",
    "other",
    "send",
    "fetch",
    "middleware",
    "unreachable",
    "client",
    "inner",
    "internal",
];

impl<'a> Machine<'a, '_> {
    /// Tests a value against a pattern and binds its names. `at` is the place of the whole test.
    pub(crate) fn test(
        &mut self,
        pat: &'a Pat,
        value: &Value<'a>,
        env: &Env<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        self.down()?;
        let result = self.test_kind(pat, value, env, at, hint);
        self.up();
        result
    }

    fn test_kind(
        &mut self,
        pat: &'a Pat,
        value: &Value<'a>,
        env: &Env<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        match &pat.kind {
            PatKind::Wild => return Ok(true),
            PatKind::Bind { name, sub } if !self.names_a_value(name) => {
                if let Some(sub) = sub
                    && !self.test(sub, value, env, at, hint)?
                {
                    return Ok(false);
                }
                env.bind(name.clone(), value.clone());
                return Ok(true);
            }
            PatKind::Or(_) if value.as_unknown().is_none() => {}
            PatKind::Tuple(parts) => return self.test_tuple(parts, value, env, at, hint),
            _ => {}
        }
        if let Kind::Lifted(all) = &value.kind
            && all.iter().any(|(_, v)| matches!(v.kind, Kind::Variant(_)))
        {
            let settled = self.settle(value.clone(), at)?;
            return self.test(pat, &settled, env, at, hint);
        }
        if let Kind::Unknown(unknown) = &value.kind {
            if let Some(variant) = self.variant_named(pat).filter(|_| hint.turns_after.is_none()) {
                let holds = self.decide_variant(variant, &unknown.clone(), value.taint, at, hint);
                if holds {
                    self.bind(pat, value.clone(), env);
                }
                return Ok(holds);
            }
            let holds = match self.succeeded_test(pat, unknown.succeeded) {
                Some(true) if hint.turns_after.is_none() => true,
                Some(false) => false,
                _ => match good_side(pat) {
                    Some(good) if hint.turns_after.is_none() && hint.forced.is_none() => {
                        let hint = if good { hint } else { Hint { prefer: !hint.prefer, ..hint } };
                        self.is_there(value, at, hint)? == good
                    }
                    _ => self.decide(value, at, hint)?,
                },
            };
            if holds {
                self.bind(pat, value.clone(), env);
            }
            return Ok(holds);
        }
        if let Some(answer) = self.test_purely(pat, value) {
            let holds = self.decide(&answer, at, hint)?;
            if holds {
                self.bind(pat, value.clone(), env);
            }
            return Ok(holds);
        }
        self.test_parts(pat, value, env, at, hint)
    }

    /// The variant of an enum of the repository that a pattern is about.
    fn variant_named(&self, pat: &'a Pat) -> Option<Name> {
        let path = match &pat.kind {
            PatKind::TupleStruct { path, .. } | PatKind::Struct { path, .. } | PatKind::Path(path) => path,
            _ => return None,
        };
        match self.resolve_once(path) {
            Resolved::Variant(_, name) => Some(name),
            _ => None,
        }
    }

    fn test_tuple(
        &mut self,
        parts: &'a [Pat],
        value: &Value<'a>,
        env: &Env<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        let Kind::Object(object) = &value.kind else {
            for part in parts {
                let inner = self.part_of(value, "part");
                self.bind(part, inner, env);
            }
            return Ok(true);
        };
        let fields: Vec<Value<'a>> = object.fields.borrow().iter().map(|(_, v)| v.clone()).collect();
        for (part, field) in parts.iter().zip(&fields) {
            if !self.test(part, field, env, at, hint)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Patterns with parts, against a value that has parts.
    fn test_parts(
        &mut self,
        pat: &'a Pat,
        value: &Value<'a>,
        env: &Env<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        match &pat.kind {
            PatKind::Or(alternatives) => {
                for alternative in alternatives {
                    if self.test(alternative, value, env, at, hint)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            PatKind::TupleStruct { path, parts } => {
                let Some(variant) = self.as_variant(path, value) else {
                    return self.test_struct(parts, value, env, at, hint);
                };
                let last = path.segments.last().cloned().unwrap_or_else(|| Name::from(""));
                if variant.name != last {
                    return Ok(false);
                }
                for (i, part) in parts.iter().enumerate() {
                    let field = variant.fields.get(i).map(|(_, v)| v.clone());
                    let field = match field {
                        Some(field) => field.tainted(value.taint),
                        None => self.part_of(value, "part"),
                    };
                    if !self.test(part, &field, env, at, hint)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PatKind::Struct { path, fields } => {
                let last = path.segments.last().cloned().unwrap_or_else(|| Name::from(""));
                if let Kind::Variant(variant) = &value.kind
                    && variant.name != last
                {
                    return Ok(false);
                }
                for (name, part) in fields {
                    let field = self.field_of(value, name);
                    if !self.test(part, &field, env, at, hint)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PatKind::List(_) => {
                let open = self.derived("slice", Why::Other("is a slice"), &[value]);
                let holds = self.decide(&open, at, hint)?;
                if holds {
                    self.bind(pat, value.clone(), env);
                }
                Ok(holds)
            }
            _ => {
                let open = self.derived("pattern", Why::Other("is compared"), &[value]);
                self.decide(&open, at, hint)
            }
        }
    }

    fn test_struct(
        &mut self,
        parts: &'a [Pat],
        value: &Value<'a>,
        env: &Env<'a>,
        at: Span,
        hint: Hint,
    ) -> Result<bool, Exit<'a>> {
        // A tuple struct, or an extractor like `State(x)` around a value that came without it.
        for (i, part) in parts.iter().enumerate() {
            let field = match &value.kind {
                Kind::Object(o) if o.fields.borrow().iter().any(|(n, _)| &**n == "0") => {
                    self.field_of(value, &i.to_string())
                }
                _ => value.clone(),
            };
            if !self.test(part, &field, env, at, hint)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The variant that a value is; an HTTP client's error counts as the variant that wraps such errors.
    fn as_variant(&mut self, path: &Path, value: &Value<'a>) -> Option<Rc<Variant<'a>>> {
        match &value.kind {
            Kind::Variant(v) => Some(v.clone()),
            Kind::HttpError(_) => {
                let last = path.segments.last()?;
                let Resolved::Variant(..) = self.resolve(path) else { return None };
                let lower = last.to_lowercase();
                let name = if WRAPPING.iter().any(|w| lower.contains(w)) { last.clone() } else { Name::from("?") };
                Some(Rc::new(Variant { ty: None, name, fields: vec![(Name::from("0"), value.clone())] }))
            }
            _ => None,
        }
    }

    /// What is known of `Ok(..)`, `Some(..)`, `Err(..)`, `None` against something not known that is a success.
    fn succeeded_test(&self, pat: &Pat, succeeded: bool) -> Option<bool> {
        if !succeeded {
            return None;
        }
        match &pat.kind {
            PatKind::TupleStruct { path, .. } => match path.segments.last().map(|n| &**n) {
                Some("Ok" | "Some") => Some(true),
                Some("Err") => Some(false),
                _ => None,
            },
            PatKind::Path(path) if path.segments.last().is_some_and(|n| &**n == "None") => Some(false),
            PatKind::Bind { name, .. } if &**name == "None" => Some(false),
            _ => None,
        }
    }

    /// Tests without binding or deciding: patterns of literals, ranges and constants against plain values.
    pub(crate) fn test_purely(&mut self, pat: &'a Pat, value: &Value<'a>) -> Option<Value<'a>> {
        if let Kind::Lifted(all) = &value.kind {
            let answers: Option<Vec<(u16, Value<'a>)>> =
                all.iter().map(|(s, v)| Some((*s, self.test_purely(pat, v)?))).collect();
            return Some(Value::new(Kind::Lifted(Rc::new(answers?))).tainted(value.taint));
        }
        let answer = self.test_plain(pat, value)?;
        Some(Value::bool(answer).tainted(value.taint))
    }

    fn test_plain(&mut self, pat: &'a Pat, value: &Value<'a>) -> Option<bool> {
        match &pat.kind {
            PatKind::Wild => Some(true),
            PatKind::Or(all) => {
                let mut open = false;
                for pat in all {
                    match self.test_plain(pat, value) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => open = true,
                    }
                }
                if open { None } else { Some(false) }
            }
            PatKind::Lit(lit) => same_literal(lit, value),
            PatKind::Range { start, end, inclusive } => {
                let n = plain_number(value)?;
                let low = self.bound(start.as_ref())?.unwrap_or(i128::MIN);
                let high = self.bound(end.as_ref())?.unwrap_or(i128::MAX);
                Some(n >= low && (n < high || (n == high && (*inclusive || end.is_none()))))
            }
            PatKind::Path(path) => match &value.kind {
                Kind::Variant(v) => Some(v.name == *path.segments.last()?),
                _ => {
                    let constant = self.named_value(path)?;
                    self.test_constant(&constant, value)
                }
            },
            PatKind::Bind { name, sub: None } => match &value.kind {
                Kind::Variant(v) => Some(v.name == *name),
                // Mostly a new variable, and asked for once for each status.
                _ if !name.starts_with(char::is_uppercase) => None,
                _ => {
                    let path = Path { segments: vec![name.clone()] };
                    let constant = self.value_named(self.resolve(&path), &path)?;
                    self.test_constant(&constant, value)
                }
            },
            _ => None,
        }
    }

    fn test_constant(&self, constant: &Value<'a>, value: &Value<'a>) -> Option<bool> {
        if matches!(constant.kind, Kind::Unknown(_) | Kind::External(_)) {
            return None;
        }
        match (&constant.kind, &value.kind) {
            (Kind::Variant(_), _) => None,
            _ => self.equal(constant, value),
        }
    }

    fn bound(&mut self, expr: Option<&'a Expr>) -> Option<Option<i128>> {
        let Some(expr) = expr else { return Some(None) };
        match &*expr.kind {
            ExprKind::Lit(Lit::Int(n)) => Some(Some(*n)),
            ExprKind::Lit(Lit::Char(c)) => Some(Some(i128::from(u32::from(*c)))),
            ExprKind::Path(path) => {
                let value = self.named_value(path)?;
                Some(Some(plain_number(&value)?))
            }
            _ => None,
        }
    }

    /// Whether a name in a pattern is a constant or a variant and not a new variable.
    pub(super) fn names_a_value(&self, name: &Name) -> bool {
        if !name.starts_with(|c: char| c.is_uppercase()) {
            return false;
        }
        if &**name == "None" {
            return true;
        }
        let path = Path { segments: vec![name.clone()] };
        matches!(self.resolve(&path), Resolved::Const(_) | Resolved::Variant(..) | Resolved::Type(_))
            || name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
            || name.len() > 1
    }

    /// Makes a value per status one variant: the statuses are split until they agree on which.
    pub(crate) fn settle(&mut self, value: Value<'a>, at: Span) -> Result<Value<'a>, Exit<'a>> {
        let Kind::Lifted(all) = &value.kind else { return self.blocking(value) };
        let here: Vec<(u16, Value<'a>)> = all.iter().filter(|(s, _)| self.world.has(*s)).cloned().collect();
        let Some((_, first)) = here.first() else { return Ok(value) };
        let Some((name, _)) = first.variant() else {
            let alike = here.iter().all(|(_, v)| v.digest() == first.digest());
            return Ok(if alike { first.clone().tainted(value.taint) } else { value });
        };
        let name = Name::from(name);
        let same = |v: &Value<'a>| v.variant().is_some_and(|(n, _)| *n == *name);
        let answers = here.iter().map(|(s, v)| (*s, Value::bool(same(v)))).collect();
        let test = Value::new(Kind::Lifted(Rc::new(answers))).tainted(value.taint);
        let holds = self.decide(&test, at, Hint::plain())?;
        let rest: Vec<(u16, Value<'a>)> = here.into_iter().filter(|(_, v)| same(v) == holds).collect();
        if !holds {
            return self.settle(Value::new(Kind::Lifted(Rc::new(rest))).tainted(value.taint), at);
        }
        Ok(merged(&rest).tainted(value.taint))
    }

    /// Whether two values are surely equal or surely not.
    pub(crate) fn equal(&self, a: &Value<'a>, b: &Value<'a>) -> Option<bool> {
        match (&a.kind, &b.kind) {
            (Kind::Unknown(_), _) | (_, Kind::Unknown(_)) => None,
            (Kind::Text(x), Kind::Text(y)) => match (x.known(), y.known()) {
                (Some(x), Some(y)) => Some(x == y),
                _ if x == y => Some(true),
                _ => None,
            },
            (Kind::Variant(x), Kind::Variant(y)) => {
                if x.name != y.name {
                    return Some(false);
                }
                x.fields.iter().zip(&y.fields).try_fold(true, |all, ((_, a), (_, b))| Some(all && self.equal(a, b)?))
            }
            (Kind::Bool(x), Kind::Bool(y)) => Some(x == y),
            (Kind::Char(x), Kind::Char(y)) => Some(x == y),
            (Kind::Unit, Kind::Unit) => Some(true),
            _ => match (plain_number(a), plain_number(b)) {
                (Some(x), Some(y)) => Some(x == y),
                _ => match (a.number().or(a.duration()), b.number().or(b.duration())) {
                    (Some(x), Some(y)) if x.is_exact() && y.is_exact() => Some(x.lo == y.lo),
                    _ => None,
                },
            },
        }
    }
}

/// Whether a pattern is one of something that is there (`Some(..)`, `Ok(..)`) or of what is left then.
fn good_side(pat: &Pat) -> Option<bool> {
    let name = match &pat.kind {
        PatKind::TupleStruct { path, .. } | PatKind::Path(path) => path.segments.last()?,
        PatKind::Bind { name, sub: None } => name,
        _ => return None,
    };
    match &**name {
        "Some" | "Ok" => Some(true),
        "None" | "Err" => Some(false),
        _ => None,
    }
}

/// An integer, a status or a character as a number.
pub(crate) fn plain_number(value: &Value<'_>) -> Option<i128> {
    match value.kind {
        Kind::Int(n) => Some(n),
        Kind::Status(s) => Some(i128::from(s)),
        Kind::Char(c) => Some(i128::from(u32::from(c))),
        _ => None,
    }
}

fn same_literal(lit: &Lit, value: &Value<'_>) -> Option<bool> {
    match (lit, &value.kind) {
        (Lit::Int(n), _) => plain_number(value).map(|m| m == *n),
        (Lit::Bool(b), Kind::Bool(c)) => Some(b == c),
        (Lit::Char(a), Kind::Char(b)) => Some(a == b),
        (Lit::Str { text, .. }, Kind::Text(t)) => t.known().map(|t| *t == **text),
        (Lit::Float(x), Kind::Float(y)) => Some(x == y),
        _ => None,
    }
}
