//! Dead letters that code sends back: a task of the queue's service, or a loop that takes them out and sends them.

use super::functions::{Code, Place};
use super::words::{body_of_loop, called, calls_any, chain, last_name, logs};
use crate::model::{Confidence, Redrive, RedriveLack, names_dead_letters};
use crate::rust::ir::{BinOp, Expr, ExprKind};
use crate::rust::walk;
use crate::source::Span;
use crate::systems::sql::glance::{Glance, Verb, glance, is_dead_letters};

/// Every redrive.
pub(super) fn find(code: &Code<'_>) -> Vec<Redrive> {
    let mut found = Vec::new();
    for place in &code.functions {
        found.extend(task(code, *place));
        found.extend(back_and_forth(code, *place));
    }
    found.sort_by_key(|r: &Redrive| r.place);
    found
}

/// `start_message_move_task`: the service moves all that is there; only its rate can be set.
fn task(code: &Code<'_>, place: Place<'_>) -> Option<Redrive> {
    let body = &place.function.body;
    let call = walk::expressions(body).find(|e| called(e) == Some("start_message_move_task"))?;
    let rates = ["max_number_of_messages_per_second", "set_max_number_of_messages_per_second"];
    let is_bounded = calls_any(body, &rates);
    let mut lacks = Vec::new();
    if !is_bounded {
        lacks.extend([RedriveLack::Bound, RedriveLack::Choice]);
    }
    if !is_recorded(code, place) {
        lacks.push(RedriveLack::Record);
    }
    Some(Redrive {
        name: format!("`{}`", place.function.name),
        place: call.span,
        lacks,
        advice: (!is_bounded).then(|| "`.max_number_of_messages_per_second(5)`".to_owned()),
        sent_on: None,
        confidence: Confidence::High,
    })
}

/// A loop that takes dead letters and sends them where they came from.
fn back_and_forth(code: &Code<'_>, place: Place<'_>) -> Option<Redrive> {
    if !says_so(&place) {
        return None;
    }
    let body = &place.function.body;
    let outer = outermost_loops(body).into_iter().find(|e| sends_back(code, place, e))?;
    let source = source(code, place)?;
    let mut lacks = Vec::new();
    if !(source.is_limited || is_bounded(outer)) {
        lacks.push(RedriveLack::Bound);
    }
    if !(source.is_chosen || chooses(outer)) {
        lacks.push(RedriveLack::Choice);
    }
    if !is_recorded(code, place) {
        lacks.push(RedriveLack::Record);
    }
    Some(Redrive {
        name: format!("`{}`", place.function.name),
        place: Span { end: (outer.span.start + keyword(outer)).min(outer.span.end), ..outer.span },
        lacks,
        advice: None,
        sent_on: None,
        confidence: Confidence::Medium,
    })
}

fn keyword(expr: &Expr) -> u32 {
    match &*expr.kind {
        ExprKind::For { .. } => 3,
        ExprKind::While { .. } => 5,
        _ => 4,
    }
}

/// Whether a function, or the file it stands in, is named for sending back.
fn says_so(place: &Place<'_>) -> bool {
    let stem = place.path.rsplit('/').next().unwrap_or(place.path).trim_end_matches(".rs");
    let words = ["redrive", "replay", "requeue", "reprocess", "resend", "redeliver", "republish", "move_back", "drain"];
    let says = |name: &str| {
        let name = name.to_ascii_lowercase();
        words.iter().any(|w| name.contains(w)) || name.contains("retry") && names_dead_letters(&name)
    };
    says(&place.function.name) || says(stem)
}

/// The loops of a body that stand in no other.
fn outermost_loops(body: &Expr) -> Vec<&Expr> {
    let mut found: Vec<&Expr> = Vec::new();
    for e in walk::expressions(body) {
        if body_of_loop(e).is_some() && !found.iter().any(|outer| outer.span.contains(e.span)) {
            found.push(e);
        }
    }
    found
}

/// Calls that put a message into a queue.
const SENDS: [&str; 9] = [
    "send_message",
    "send_message_batch",
    "publish",
    "basic_publish",
    "produce",
    "send_result",
    "enqueue",
    "republish",
    "publish_with_headers",
];

/// Whether a loop sends messages to something that is not itself for dead letters.
fn sends_back(code: &Code<'_>, place: Place<'_>, outer: &Expr) -> bool {
    walk::expressions(outer).any(|e| {
        if let Some(found) = statement(code, e, place.path) {
            return found.verb == Verb::Insert && !is_dead_letters(&found.table);
        }
        let Some(name) = called(e) else { return false };
        let ExprKind::Method { args, .. } = &*e.kind else { return false };
        let is_record = |a: &Expr| {
            walk::expressions(a).any(|e| matches!(&*e.kind, ExprKind::Call { callee, .. } if matches!(&*callee.kind, ExprKind::Path(p) if p.segments.iter().any(|s| matches!(&**s, "FutureRecord" | "BaseRecord")))))
        };
        let sends = SENDS.contains(&name) || name == "send" && args.iter().any(is_record);
        sends && !goes_to_dead_letters(outer, e)
    })
}

/// Whether the chain that a call stands in names a destination for dead letters.
fn goes_to_dead_letters(outer: &Expr, call: &Expr) -> bool {
    let whole = walk::expressions(outer).filter(|e| called(e).is_some() && e.span.contains(call.span));
    whole.flat_map(|e| chain(e).0).any(|(name, args)| {
        let is_destination = matches!(name, "queue_url" | "topic" | "topic_arn" | "to") || SENDS.contains(&name);
        is_destination && args.iter().filter_map(last_name).any(|n| n != "dead_letter" && names_dead_letters(n))
    })
}

/// Where the dead letters are taken from.
struct Source {
    is_limited: bool,
    is_chosen: bool,
}

/// Calls that take a message out of a queue.
const RECEIVES: [&str; 12] = [
    "receive_message",
    "basic_get",
    "basic_consume",
    "recv",
    "try_recv",
    "next",
    "try_next",
    "fetch",
    "pull",
    "subscribe",
    "consume",
    "pop",
];

fn source(code: &Code<'_>, place: Place<'_>) -> Option<Source> {
    walk::expressions(&place.function.body).find_map(|e| {
        if let Some(found) = statement(code, e, place.path) {
            let is_source = found.verb == Verb::Select && is_dead_letters(&found.table);
            return is_source.then(|| Source {
                is_limited: found.is_limited || found.fixes_key,
                is_chosen: found.conditions.iter().any(|c| names_cause(c)) || found.fixes_key,
            });
        }
        let (calls, first) = chain(e);
        let receives = calls.iter().any(|(name, _)| RECEIVES.contains(name));
        let named = || {
            let args = calls.iter().flat_map(|(_, args)| args.iter()).filter_map(last_name);
            args.chain(last_name(first)).any(names_dead_letters)
        };
        (receives && named()).then_some(Source { is_limited: false, is_chosen: false })
    })
}

fn statement(code: &Code<'_>, expr: &Expr, path: &str) -> Option<Glance> {
    glance(&code.text(expr, path)?.text)
}

/// Whether a name is that of why something failed.
fn names_cause(name: &str) -> bool {
    let causes = ["reason", "error", "cause", "exception", "failure", "kind", "code", "category", "class"];
    name.split('_').any(|word| causes.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether something in a loop makes it slow, or ends it after a number.
fn is_bounded(outer: &Expr) -> bool {
    let slows = [
        "sleep",
        "sleep_ms",
        "sleep_until",
        "tick",
        "until_ready",
        "until_n_ready",
        "acquire",
        "acquire_one",
        "throttle",
        "take",
        "delay_seconds",
        "wait_for_capacity",
    ];
    if calls_any(outer, &slows) {
        return true;
    }
    let counts = |e: &Expr| {
        last_name(e).is_some_and(|n| {
            ["limit", "max", "budget", "remaining", "count"].iter().any(|w| n.to_ascii_lowercase().contains(w))
        })
    };
    walk::expressions(outer).any(|e| match &*e.kind {
        ExprKind::For { iter, .. } => matches!(&*iter.kind, ExprKind::Range { end: Some(_), .. }),
        ExprKind::Binary { op: BinOp::Ge | BinOp::Gt | BinOp::Lt | BinOp::Le | BinOp::Eq, left, right } => {
            counts(left) || counts(right)
        }
        _ => false,
    })
}

/// Whether a test in a loop looks at why a message failed.
fn chooses(outer: &Expr) -> bool {
    let tells = |e: &Expr| {
        walk::expressions(e).any(|e| match &*e.kind {
            ExprKind::Path(_) | ExprKind::Field { .. } | ExprKind::Lit(_) => {
                last_name(e).is_some_and(|n| n != "Err" && names_cause(n))
            }
            _ => false,
        })
    };
    walk::expressions(outer).any(|e| match &*e.kind {
        ExprKind::If { cond, .. } => tells(cond),
        ExprKind::Match { value, .. } => tells(value),
        ExprKind::Method { name, args, .. } => &**name == "filter" && args.iter().any(tells),
        _ => false,
    })
}

/// Whether a function, or one that it calls, writes down what it did.
fn is_recorded(code: &Code<'_>, place: Place<'_>) -> bool {
    let records = |place: Place<'_>| {
        let body = &place.function.body;
        logs(body)
            || walk::expressions(body).any(|e| {
                let statement = statement(code, e, place.path).filter(|s| s.verb == Verb::Insert);
                statement.is_some_and(|s| keeps_record(&s.table)) || called(e).is_some_and(records_by_name)
            })
    };
    let inner = walk::expressions(&place.function.body).filter_map(called).filter_map(|name| code.function(name));
    records(place) || inner.into_iter().any(records)
}

/// Whether a table is for the record.
fn keeps_record(table: &str) -> bool {
    ["redriv", "replay", "audit", "requeue", "reprocess"].iter().any(|w| table.contains(w))
}

/// Whether a function is, by its name.
fn records_by_name(name: &str) -> bool {
    name.contains("audit") || name.starts_with("record_") || name.starts_with("log_")
}
