//! Constants and functions of the standard library, and of the runtimes and small crates that go with it.

use std::cell::RefCell;
use std::rc::Rc;

use super::iter::Iter;
use super::machine::{Eval, Machine};
use super::number::smaller;
use super::value::{Future, Kind, Object, Taint, Text, TextPart, Value};
use crate::rust::ir::{Name, Path};
use crate::rust::reading::UrlPart;
use crate::source::Span;

/// The segments of a path as plain texts.
pub(crate) fn segments(path: &Path) -> Vec<&str> {
    path.segments.iter().map(|s| &**s).collect()
}

/// A constant of a crate outside.
pub(crate) fn constant<'a>(path: &Path) -> Option<Value<'a>> {
    let all = segments(path);
    let [.., owner, name] = all.as_slice() else { return None };
    Some(match (*owner, *name) {
        ("u8", "MAX") => Value::int(i128::from(u8::MAX)),
        ("u16", "MAX") => Value::int(i128::from(u16::MAX)),
        ("u32", "MAX") => Value::int(i128::from(u32::MAX)),
        ("i32", "MAX") => Value::int(i128::from(i32::MAX)),
        ("u64" | "usize", "MAX") => Value::int(i128::from(u64::MAX)),
        ("i64" | "isize", "MAX") => Value::int(i128::from(i64::MAX)),
        ("f64" | "f32", "MAX" | "INFINITY") => Value::new(Kind::Float(f64::MAX)),
        ("Duration" | "TimeDelta", "ZERO") => Value::seconds(0.0),
        ("Duration" | "TimeDelta", "MAX") => Value::seconds(1.8e19),
        ("Duration", "SECOND") => Value::seconds(1.0),
        ("StatusCode", name) => Value::new(Kind::Status(status_named(name)?)),
        ("Code", name) => Value::new(Kind::Status(super::grpc::code_named(name)?)),
        ("Method", name) if name.chars().all(|c| c.is_ascii_uppercase()) => Value::text(name),
        ("header" | "HeaderName", name) if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
            Value::text(name.to_ascii_lowercase().replace('_', "-"))
        }
        _ => return None,
    })
}

/// The number of `StatusCode::NAME`.
fn status_named(name: &str) -> Option<u16> {
    Some(match name {
        "OK" => 200,
        "CREATED" => 201,
        "ACCEPTED" => 202,
        "NO_CONTENT" => 204,
        "PARTIAL_CONTENT" => 206,
        "MOVED_PERMANENTLY" => 301,
        "FOUND" => 302,
        "SEE_OTHER" => 303,
        "NOT_MODIFIED" => 304,
        "TEMPORARY_REDIRECT" => 307,
        "PERMANENT_REDIRECT" => 308,
        name => return crate::model::status_named(name),
    })
}

impl<'a> Machine<'a, '_> {
    /// `None` if the function is none of these.
    pub(crate) fn std_function(&mut self, path: &Path, args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        let all = segments(path);
        if let Some(draw) = super::random::function(&all, args) {
            return Some(Ok(self.drawn_now(draw)));
        }
        if let Some(duration) = duration_made(&all, args) {
            return Some(Ok(duration));
        }
        if let Some(result) = self.time_function(&all, args, span) {
            return Some(result);
        }
        if let Some(result) = self.running_function(&all, args, span) {
            return Some(result);
        }
        self.plain_function(&all, args, span)
    }

    fn time_function(&mut self, path: &[&str], args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        let now = Value::new(Kind::Instant(self.clock)).tainted(Taint::TIME);
        let future = |f: Future<'a>| Some(Ok(Value::new(Kind::Future(Rc::new(f)))));
        match (path, args) {
            ([.., "Instant" | "SystemTime" | "Utc" | "Local" | "OffsetDateTime", "now" | "now_utc"], []) => {
                Some(Ok(now))
            }
            ([.., "thread", "sleep" | "sleep_ms" | "park_timeout"], [wait]) => {
                let wait = if path.last() == Some(&"sleep_ms") { milliseconds(wait) } else { wait.clone() };
                Some(self.sleep(&wait, span).map(|()| Value::unit()))
            }
            ([.., "sleep" | "sleep_until" | "delay_for" | "delay_until" | "sleep_ms"], [wait])
            | (
                [
                    ..,
                    "Delay" | "Timer" | "TimeoutFuture" | "Sleep",
                    "new" | "after" | "at" | "after_millis" | "after_secs",
                ],
                [wait],
            ) => {
                let wait = match path.last() {
                    Some(&("sleep_ms" | "after_millis")) => milliseconds(wait),
                    Some(&"new") if path.contains(&"TimeoutFuture") => milliseconds(wait),
                    _ => wait.clone(),
                };
                future(Future::Sleep { wait, span })
            }
            ([.., "timeout"], [limit, inner]) if limit.duration().is_some() || limit.as_unknown().is_some() => {
                future(Future::Timeout { limit: limit.clone(), inner: inner.clone() })
            }
            ([.., "timeout_at"], [until, inner]) => {
                let limit = match until.kind {
                    Kind::Instant(t) => Value::seconds((t - self.clock).max(0.0)),
                    _ => until.clone(),
                };
                future(Future::Timeout { limit, inner: inner.clone() })
            }
            // The first tick of tokio's comes at once.
            ([.., "tokio" | "time", "interval"], [period]) | (["tokio", .., "interval"], [period]) => {
                let fields = vec![(Name::from("period"), period.clone()), (Name::from("fresh"), Value::bool(true))];
                let object = Object { ty: None, fields: RefCell::new(fields), rest: None };
                Some(Ok(Value::new(Kind::Object(Rc::new(object)))))
            }
            ([.., "interval"], [period]) | ([.., "interval_at"], [_, period]) => {
                Some(Ok(cell("period", period.clone())))
            }
            _ => None,
        }
    }

    /// Functions that run what they are given.
    fn running_function(&mut self, path: &[&str], args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        match (path, args) {
            ([.., "LazyLock" | "Lazy" | "LazyCell" | "AsyncLazy", "new"], [f]) => {
                let value = self.call_value(f, Vec::new(), span);
                Some(value.and_then(|v| self.await_value(v, span)))
            }
            ([.., name @ ("spawn" | "spawn_local" | "spawn_blocking" | "spawn_on")], [work, ..]) => {
                let joined = *name == "spawn_blocking" || self.joined == Some(span);
                let done = self.run_spawned(work, joined, span);
                Some(done.map(|v| Value::new(Kind::Future(Rc::new(Future::Ready(Value::wrap("Ok", v)))))))
            }
            ([.., "block_on" | "block_in_place" | "scope" | "unconstrained"], [work]) => {
                let value = match &work.kind {
                    Kind::Closure(_) | Kind::Fn(_) => self.call_value(work, Vec::new(), span),
                    _ => Ok(work.clone()),
                };
                Some(value.and_then(|v| self.await_value(v, span)))
            }
            ([.., "future" | "future_utils", "ready"] | ["ready"], [value]) => {
                Some(Ok(Value::new(Kind::Future(Rc::new(Future::Ready(value.clone()))))))
            }
            ([.., "repeat_with"], [_]) => None,
            _ => None,
        }
    }

    fn plain_function(&mut self, path: &[&str], args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        let value = match (path, args) {
            ([.., "env" | "dotenv" | "dotenvy", "var"], [name]) => {
                let name = name.known_text()?;
                let part = UrlPart::Env { name, default: None, span };
                Value::wrap("Ok", Value::new(Kind::Text(Rc::new(Text { parts: vec![TextPart::Url(part)] }))))
            }
            ([.., "cmp", "min"] | ["min"], [a, b]) => smaller(a, b, true)?,
            ([.., "cmp", "max"] | ["max"], [a, b]) => smaller(a, b, false)?,
            ([.., "mem", "take" | "replace"], [a, ..]) => a.clone(),
            (
                [
                    ..,
                    "Arc" | "Rc" | "Box" | "Mutex" | "RwLock" | "RefCell" | "Cell" | "Pin" | "Some" | "Cow"
                    | "Wrapping" | "AssertUnwindSafe" | "Reverse" | "Saturating" | "Json" | "Extension" | "State"
                    | "Data",
                    "new" | "pin" | "clone" | "from" | "as_ref" | "Borrowed" | "Owned" | "new_unchecked",
                ],
                [x],
            ) => x.clone(),
            ([.., "Json" | "State" | "Extension" | "Html" | "Data"], [x]) | ([.., "IntervalStream", "new"], [x]) => {
                x.clone()
            }
            ([.., "seed_from_u64" | "from_seed"], [seed]) if seed.taint == Taint::NONE => cell("seeded", seed.clone()),
            ([.., "OnceCell" | "OnceLock", "new"], []) => cell("once", Value::unit()),
            ([.., atomic, "new"], [n]) if atomic.starts_with("Atomic") => cell("atomic", n.clone()),
            (
                [
                    ..,
                    "String" | "Bytes" | "Uri" | "Url" | "PathBuf" | "OsString" | "HeaderName" | "HeaderValue" | "Cow",
                    "from" | "from_static" | "parse" | "from_str" | "try_from" | "from_maybe_shared",
                ],
                [x],
            ) if matches!(x.kind, Kind::Text(_)) => {
                if path.last() == Some(&"from") || path.last() == Some(&"from_static") {
                    x.clone()
                } else {
                    Value::wrap("Ok", x.clone())
                }
            }
            ([.., "Into" | "From", "into" | "from"], [x]) => x.clone(),
            ([.., "String", "new"], []) => Value::text(""),
            ([.., "Vec" | "VecDeque", "new"], []) | ([.., "Vec" | "VecDeque", "with_capacity"], [_]) => {
                Value::list(Vec::new())
            }
            ([.., "StatusCode", "from_u16"], [n]) => match n.kind {
                Kind::Int(n) => Value::wrap("Ok", Value::new(Kind::Status(u16::try_from(n).ok()?))),
                Kind::Lifted(ref all) => {
                    let all = all
                        .iter()
                        .filter_map(|(s, v)| Some((*s, Value::new(Kind::Status(u16::try_from(v.as_int()?).ok()?)))))
                        .collect();
                    Value::wrap("Ok", Value::new(Kind::Lifted(Rc::new(all))).tainted(n.taint))
                }
                _ => return None,
            },
            ([.., ty, "from"], [x]) if is_number(ty) => super::expr::cast_to(x.clone(), ty),
            ([.., ty, "try_from"], [x]) if is_number(ty) => Value::wrap("Ok", super::expr::cast_to(x.clone(), ty)),
            ([.., ty, "new"], [x]) if ty.starts_with("NonZero") => Value::wrap("Some", x.clone()),
            (
                [
                    ..,
                    ty,
                    op @ ("pow" | "saturating_pow" | "powi" | "powf" | "min" | "max" | "saturating_mul"
                    | "saturating_sub"),
                ],
                [a, b],
            ) if is_number(ty) => {
                let name: &'static str = match *op {
                    "powi" | "powf" => "powf",
                    "min" => "min",
                    "max" => "max",
                    "saturating_mul" => "saturating_mul",
                    "saturating_sub" => "saturating_sub",
                    _ => "pow",
                };
                let at = crate::rust::crates::At { span, name_span: span };
                return self.number_method(a, name, std::slice::from_ref(b), at);
            }
            ([.., "iter", "repeat"] | ["repeat"], [x]) => Iter::Repeat(x.clone()).value(),
            ([.., "repeat_n"], [x, n]) => {
                let inner = Box::new(Iter::Repeat(x.clone()));
                match n.as_int() {
                    Some(left) => Iter::Take { inner, left, by: None }.value(),
                    None => {
                        Iter::OpenTake { inner, left: super::iter::UNKNOWN_END, bound: n.clone(), by: None }.value()
                    }
                }
            }
            ([.., "iter", "once"] | ["once"], [x]) => Iter::Items { items: Rc::new(vec![x.clone()]), at: 0 }.value(),
            ([.., "successors"], [first, f]) => {
                let next = match first.variant() {
                    Some(("Some", Some(x))) => Some(x.clone()),
                    Some(_) => None,
                    None => Some(first.clone()),
                };
                Iter::Successors { next, f: f.clone() }.value()
            }
            ([.., "process", "exit" | "abort"], _) => return Some(self.panic()),
            _ => return None,
        };
        Some(Ok(value))
    }
}

fn is_number(ty: &str) -> bool {
    matches!(
        ty,
        "u8" | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "f32"
            | "f64"
    )
}

/// Something shared that holds one value.
fn cell<'a>(name: &str, value: Value<'a>) -> Value<'a> {
    let fields = RefCell::new(vec![(Name::from(name), value)]);
    Value::new(Kind::Object(Rc::new(Object { ty: None, fields, rest: None })))
}

pub(super) fn milliseconds<'a>(n: &Value<'a>) -> Value<'a> {
    scaled(n, 1e-3)
}

fn scaled<'a>(n: &Value<'a>, by: f64) -> Value<'a> {
    match &n.kind {
        Kind::Lifted(all) => {
            let all = all.iter().map(|(s, v)| (*s, scaled(v, by))).collect();
            Value::new(Kind::Lifted(Rc::new(all))).tainted(n.taint)
        }
        Kind::Unknown(u) => Value::unknown(Value::digest_all("seconds", [n]), u.why.clone()).tainted(n.taint),
        _ => match n.number() {
            Some(spread) => {
                let kind = Kind::Duration(spread.map(|x| (x * by).max(0.0)));
                Value { kind, taint: n.taint, origin: n.origin }
            }
            None => Value::unknown(Value::digest_all("seconds", [n]), super::value::Why::Other("is computed"))
                .tainted(n.taint),
        },
    }
}

/// `Duration::from_secs(n)` and the like.
fn duration_made<'a>(path: &[&str], args: &[Value<'a>]) -> Option<Value<'a>> {
    let [.., "Duration" | "TimeDelta" | "StdDuration", name] = path else { return None };
    let [n, ..] = args else { return None };
    let by = match *name {
        "from_secs" | "from_secs_f64" | "from_secs_f32" | "seconds" | "seconds_f64" | "try_seconds" => 1.0,
        "from_millis" | "milliseconds" | "try_milliseconds" => 1e-3,
        "from_micros" | "microseconds" => 1e-6,
        "from_nanos" | "nanoseconds" => 1e-9,
        "from_mins" | "minutes" => 60.0,
        "from_hours" | "hours" => 3600.0,
        "from_days" | "days" => 86_400.0,
        "new" => 1.0,
        _ => return None,
    };
    let whole = scaled(n, by);
    match (*name, args.get(1).and_then(Value::number)) {
        ("new", Some(nanos)) if nanos.lo > 0.0 => {
            let spread = super::number::sum(whole.duration()?, nanos.map(|x| x * 1e-9));
            Some(Value { kind: Kind::Duration(spread), ..whole })
        }
        _ => Some(whole),
    }
}
