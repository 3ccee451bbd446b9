//! What remembers handled messages outside of a database, and forgets them by number: caches in the process, and keys
//! of Redis. A store of them is told by its name, or by what is kept under a key: nothing.

use std::time::Duration;

use super::capped;
use super::functions::{Code, Place};
use super::words::{called, chain, last_name, snake};
use crate::model::{Keeps, Purge, PurgeBound};
use crate::rust::ir::{BinOp, Expr, ExprKind, FormatPart, Lit, PatKind, Stmt};
use crate::rust::walk;
use crate::source::Span;

/// Every purge of such a store.
pub(super) fn find(code: &Code<'_>) -> Vec<Purge> {
    let mut found = Vec::new();
    for place in &code.functions {
        let body = &place.function.body;
        for (name, value) in named_values(body) {
            found.extend(cache(code, *place, name, value));
        }
        for e in walk::expressions(body) {
            found.extend(command(code, *place, e));
        }
        found.extend(memoised(*place));
        found.extend(capped::find(code, *place));
    }
    for (name, path, value) in code.constants() {
        found.extend(cache_of(code, path, name, value).filter(|_| names_handled(name)));
    }
    found.sort_by_key(|p: &Purge| p.place);
    found.dedup_by_key(|p| p.place);
    found
}

/// Words for what was handled before.
const HANDLED: [&str; 14] = [
    "seen",
    "dedup",
    "dedupe",
    "deduplication",
    "processed",
    "idempotency",
    "idempotent",
    "inbox",
    "nonce",
    "nonces",
    "already",
    "duplicates",
    "handled",
    "replay",
];

pub(super) fn names_handled(name: &str) -> bool {
    snake(name).split(|c: char| !c.is_alphanumeric()).any(|word| HANDLED.contains(&word))
}

/// Names that get a value in a body: variables, and fields of structs that are put together.
pub(super) fn named_values(body: &Expr) -> Vec<(&str, &Expr)> {
    let mut found = Vec::new();
    for e in walk::expressions(body) {
        match &*e.kind {
            ExprKind::Struct { fields, .. } => found.extend(fields.iter().map(|(name, value)| (&**name, value))),
            ExprKind::Block { stmts, .. } => {
                for stmt in stmts {
                    if let Stmt::Let { pat, value: Some(value), .. } = stmt
                        && let PatKind::Bind { name, .. } = &pat.kind
                    {
                        found.push((&**name, value));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

fn cache(code: &Code<'_>, place: Place<'_>, name: &str, value: &Expr) -> Option<Purge> {
    cache_of(code, place.path, name, value).filter(|_| names_handled(name) || keeps_nothing(code, name))
}

/// A cache with a bound on its size.
fn cache_of(code: &Code<'_>, path: &str, name: &str, value: &Expr) -> Option<Purge> {
    let made = |e: &&Expr| match &*e.kind {
        ExprKind::Call { callee, args } => match &*callee.kind {
            ExprKind::Path(p) => match p.segments.as_slice() {
                [.., ty, new] => match (&**ty, &**new) {
                    ("LruCache" | "CLruCache" | "TtlCache" | "Cache", "new") => args.len() == 1,
                    ("LruCache", "with_hasher" | "with_capacity" | "with_expiry_duration_and_capacity")
                    | ("SizedCache" | "TimedSizedCache", "with_size" | "with_size_and_lifespan") => true,
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        },
        ExprKind::Method { name, .. } => &**name == "max_capacity",
        _ => false,
    };
    let time = walk::expressions(value).find_map(|e| match &*e.kind {
        ExprKind::Method { name, args, .. } if &**name == "time_to_live" => {
            let age = args.first().and_then(|a| duration(code, a, path))?;
            Some((age, args.first()?.span))
        }
        _ => None,
    });
    let bounded = walk::expressions(value).find(made);
    let (bound, place) = match (bounded, &time) {
        (Some(e), _) => (PurgeBound::Count, place_of(e)),
        (None, Some((_, span))) => (PurgeBound::Age, *span),
        (None, None) => return None,
    };
    Some(Purge { bound, ..forgets(format!("cache `{name}`"), place, time) })
}

/// A method by its name, a call as a whole.
fn place_of(e: &Expr) -> Span {
    match &*e.kind {
        ExprKind::Method { name_span, .. } => *name_span,
        _ => e.span,
    }
}

/// Whether a field is only ever told that a key was there: `cache.put(id, ())` after a look.
fn keeps_nothing(code: &Code<'_>, field: &str) -> bool {
    code.functions.iter().any(|place| {
        let body = &place.function.body;
        let of_field = |e: &Expr| {
            let (_, first) = chain(e);
            match &*first.kind {
                ExprKind::Field { name, .. } => &**name == field,
                ExprKind::Path(path) => match path.segments.as_slice() {
                    [variable] => named_values(body).iter().any(|(name, value)| {
                        let (_, first) = chain(value);
                        *name == &**variable && matches!(&*first.kind, ExprKind::Field { name, .. } if &**name == field)
                    }),
                    _ => false,
                },
                _ => false,
            }
        };
        let calls = |names: &[&str], e: &Expr| match &*e.kind {
            ExprKind::Method { receiver, name, .. } => names.contains(&&**name) && of_field(receiver),
            _ => false,
        };
        let stores = walk::expressions(body).any(|e| {
            let is_nothing = match &*e.kind {
                ExprKind::Method { args, .. } => {
                    matches!(args.as_slice(), [_, value] if matches!(&*value.kind, ExprKind::Tuple(items) if items.is_empty()))
                }
                _ => false,
            };
            is_nothing && calls(&["put", "push", "insert"], e)
        });
        stores
            && (speaks_of_messages(*place) || place.owner.is_some_and(names_handled))
            && walk::expressions(body).any(|e| calls(&["contains", "contains_key", "get"], e))
    })
}

/// `#[cached(size = 1000)]` on a function that says whether something was handled.
fn memoised(place: Place<'_>) -> Option<Purge> {
    let function = place.function;
    let is_bounded = |(path, args): &(_, String)| {
        let path: &crate::rust::ir::Path = path;
        let is_size = |arg: &str| arg.split_once('=').is_some_and(|(key, _)| matches!(key.trim(), "size" | "max_size"));
        path.segments.last().is_some_and(|s| &**s == "cached") && args.split(',').any(is_size)
    };
    let is_store = names_handled(&function.name) && function.attributes.iter().any(is_bounded);
    is_store.then(|| forgets(format!("the results of `{}`", function.name), function.name_span, None))
}

/// What forgets handled messages by their number, and within the process only.
pub(super) fn forgets(name: String, place: Span, age: Option<(Duration, Span)>) -> Purge {
    Purge {
        table: name,
        keeps: Keeps::Handled,
        place,
        bound: PurgeBound::Count,
        bound_span: None,
        age,
        advice: Some(
            "a time to live and no bound on the number; better a table with a UNIQUE key, which outlives the process"
                .to_owned(),
        ),
        // It is lost with the process anyway.
        minor: true,
    }
}

/// Whether a function is about something that is delivered: what is only remembered to save work is in no danger.
pub(super) fn speaks_of_messages(place: Place<'_>) -> bool {
    const WORDS: [&str; 13] = [
        "message",
        "messages",
        "msg",
        "delivery",
        "deliveries",
        "webhook",
        "request",
        "command",
        "envelope",
        "notification",
        "consume",
        "redelivery",
        "payload",
    ];
    let function = place.function;
    let params = function.params.iter().flat_map(|p| {
        let name = match &p.pat.kind {
            PatKind::Bind { name, .. } => Some(&**name),
            _ => None,
        };
        let ty = p.ty.as_ref().and_then(|ty| ty.path.segments.last());
        name.into_iter().chain(ty.map(|ty| &**ty))
    });
    let mut names = params.chain([&*function.name]);
    names.any(|name| snake(name).split('_').any(|word| WORDS.contains(&word)))
}

/// A command of Redis, by the method of its client or by its name.
fn command(code: &Code<'_>, place: Place<'_>, e: &Expr) -> Option<Purge> {
    let ExprKind::Method { receiver, name, name_span, args, .. } = &*e.kind else { return None };
    let key = |e: &Expr| key_text(code, place, e).filter(|key| names_handled(key));
    let (key, bound, age) = match (&**name, args.as_slice()) {
        ("ltrim" | "zremrangebyrank" | "zpopmin" | "spop" | "xadd_maxlen", [first, ..]) => {
            (key(first)?, PurgeBound::Count, None)
        }
        ("xtrim" | "xtrim_options", [first, rest @ ..]) if rest.iter().any(says_length) => {
            (key(first)?, PurgeBound::Count, None)
        }
        ("set_ex", [first, _, seconds]) | ("expire", [first, seconds]) => {
            let age = Duration::from_secs(number(code, seconds, place.path)?);
            (key(first)?, PurgeBound::Age, Some((age, seconds.span)))
        }
        ("set_options", [first, _, options]) => {
            let (age, span) = expiry(code, options, place.path)?;
            (key(first)?, PurgeBound::Age, Some((age, span)))
        }
        // `cmd("LTRIM").arg(key)`: the call before names the command.
        ("arg", [first]) if called(receiver) == Some("cmd") => {
            let trims = matches!(named_command(receiver)?.as_str(), "LTRIM" | "ZREMRANGEBYRANK" | "ZPOPMIN" | "SPOP");
            (key(first).filter(|_| trims)?, PurgeBound::Count, None)
        }
        // `cmd("XTRIM").arg(key).arg("MAXLEN")`
        ("arg", [word]) if last_name(word).is_some_and(|w| w.eq_ignore_ascii_case("MAXLEN")) => {
            let (calls, begins) = chain(receiver);
            let trims = matches!(named_command(begins)?.as_str(), "XTRIM" | "XADD");
            let (_, args) = calls.last().filter(|_| trims)?;
            (key(args.first()?)?, PurgeBound::Count, None)
        }
        _ => return None,
    };
    Some(Purge {
        table: format!("the Redis key `{key}`"),
        keeps: Keeps::Handled,
        place: *name_span,
        bound,
        bound_span: None,
        age,
        advice: Some(
            "a key for each message, `SET key 1 NX EX 2592000`; in a sorted set `ZREMRANGEBYSCORE key -inf <time>`"
                .to_owned(),
        ),
        minor: false,
    })
}

/// The command in `cmd("LTRIM")`.
fn named_command(e: &Expr) -> Option<String> {
    let ExprKind::Call { args, .. } = &*e.kind else { return None };
    Some(args.first().and_then(last_name).filter(|_| called(e) == Some("cmd"))?.to_ascii_uppercase())
}

/// Whether an argument of `XTRIM` bounds the length, and not the oldest id.
fn says_length(e: &Expr) -> bool {
    walk::expressions(e).any(|e| match &*e.kind {
        ExprKind::Path(p) => p.segments.iter().any(|s| s.to_ascii_lowercase().contains("maxlen")),
        ExprKind::Method { name, .. } => name.to_ascii_lowercase().contains("maxlen"),
        _ => false,
    })
}

/// `SetExpiry::EX(60)`
fn expiry(code: &Code<'_>, options: &Expr, path: &str) -> Option<(Duration, Span)> {
    walk::expressions(options).find_map(|e| {
        let ExprKind::Call { args, .. } = &*e.kind else { return None };
        let value = args.first()?;
        let age = match called(e)? {
            "EX" => Duration::from_secs(number(code, value, path)?),
            "PX" => Duration::from_millis(number(code, value, path)?),
            _ => return None,
        };
        Some((age, value.span))
    })
}

/// The text of a key of Redis, as far as it is written: of a format string its texts.
pub(super) fn key_text(code: &Code<'_>, place: Place<'_>, e: &Expr) -> Option<String> {
    match &*e.kind {
        ExprKind::Lit(Lit::Str { text, .. }) => Some(text.to_string()),
        ExprKind::Format { parts, .. } => {
            let texts = parts.iter().map(|p| if let FormatPart::Text(t) = p { t.to_string() } else { "*".to_owned() });
            Some(texts.collect())
        }
        ExprKind::Path(path) => match path.segments.as_slice() {
            [name] => {
                let bound = named_values(&place.function.body)
                    .into_iter()
                    .find(|(n, v)| *n == &**name && v.span.start < e.span.start);
                match bound {
                    Some((_, value)) if !matches!(&*value.kind, ExprKind::Path(_)) => key_text(code, place, value),
                    _ => code.text(e, place.path).map(|t| t.text).or_else(|| Some(name.to_string())),
                }
            }
            _ => code.text(e, place.path).map(|t| t.text),
        },
        ExprKind::Field { name, .. } => Some(name.to_string()),
        ExprKind::Method { receiver, .. } => key_text(code, place, receiver),
        _ => None,
    }
}

/// `Duration::from_secs(3600)` and the like.
pub(super) fn duration(code: &Code<'_>, e: &Expr, path: &str) -> Option<Duration> {
    if let ExprKind::Path(_) = &*e.kind {
        return duration(code, code.constant(e, path)?, path);
    }
    let ExprKind::Call { args, .. } = &*e.kind else { return None };
    let n = number(code, args.first()?, path)?;
    Some(match called(e)? {
        "from_secs" | "seconds" => Duration::from_secs(n),
        "from_millis" | "milliseconds" => Duration::from_millis(n),
        "from_mins" | "minutes" => Duration::from_secs(n.checked_mul(60)?),
        "from_hours" | "hours" => Duration::from_secs(n.checked_mul(3600)?),
        "from_days" | "days" => Duration::from_secs(n.checked_mul(86_400)?),
        _ => return None,
    })
}

/// A whole number that is written, or put together from such. Constants stand for their values once.
pub(super) fn number(code: &Code<'_>, e: &Expr, path: &str) -> Option<u64> {
    match &*e.kind {
        ExprKind::Lit(Lit::Int(n)) => u64::try_from(*n).ok(),
        ExprKind::Binary { op: BinOp::Mul, left, right } => {
            number(code, left, path)?.checked_mul(number(code, right, path)?)
        }
        ExprKind::Cast { value, .. } => number(code, value, path),
        ExprKind::Path(_) => match &*code.constant(e, path)?.kind {
            ExprKind::Path(_) => None,
            _ => number(code, code.constant(e, path)?, path),
        },
        _ => None,
    }
}
