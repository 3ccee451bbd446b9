//! Batches: loops that do something for each of many items which cannot be done twice, and do not note how far they
//! have come.

use std::collections::{BTreeMap, BTreeSet};

use super::functions::{Code, Place};
use super::words::{body_of_loop, called, calls_any, chain, last_name};
use crate::model::Confidence;
use crate::rust::ir::{Expr, ExprKind, PatKind, Stmt};
use crate::rust::walk;
use crate::source::{Sources, Span};
use crate::systems::sql::glance::{Glance, Verb, glance, is_status};

/// A loop over many items.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The function it stands in.
    pub function: String,
    /// The file.
    pub path: String,
    /// The function's place.
    pub span: Span,
    /// Whether the function is `main`.
    pub is_main: bool,
    /// The functions from which it is reached, by file and name.
    pub callers: BTreeSet<(String, String)>,
    /// Loops in other functions that call it.
    pub looped_by: Vec<Span>,
    /// The loop: its keyword.
    pub items: Span,
    /// The whole loop.
    pub whole: Span,
    /// What is done with each item.
    pub effect: Span,
    /// What it is.
    pub does: String,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// Every batch.
pub(super) fn find(code: &Code<'_>, sources: &Sources) -> Vec<Batch> {
    let mut found: Vec<Batch> = code.functions.iter().filter_map(|place| in_function(code, *place, sources)).collect();
    if !found.is_empty() {
        let uses = uses(code);
        for batch in &mut found {
            batch.callers = callers(code, &uses, batch);
            batch.looped_by = looped_by(code, &uses, batch);
        }
    }
    found
}

/// Words for what is kept so that a later run can go on: with one of them in a function nothing is said.
const PROGRESS: [&str; 13] = [
    "checkpoint",
    "cursor",
    "watermark",
    "last_id",
    "last_processed",
    "last_offset",
    "last_seen",
    "resume",
    "progress",
    "bookmark",
    "processed_at",
    "already",
    "skip",
];

fn in_function(code: &Code<'_>, place: Place<'_>, sources: &Sources) -> Option<Batch> {
    let body = &place.function.body;
    let (whole, iter) = walk::expressions(body).find_map(|e| items(body, e).map(|iter| (e, iter)))?;
    let (ExprKind::For { body: each, .. } | ExprKind::While { body: each, .. }) = &*whole.kind else { return None };
    let text = sources.text(place.function.span).to_ascii_lowercase();
    if PROGRESS.iter().any(|word| text.contains(word)) {
        return None;
    }
    let each_statements: Vec<Glance> = statements(code, each, place.path);
    // A claim, an update of the item or its removal: the next run passes over it.
    let notes = |s: &Glance| s.has_conflict_clause || matches!(s.verb, Verb::Update | Verb::Delete);
    if each_statements.iter().any(notes) || is_chosen_by_status(code, place, iter) {
        return None;
    }
    // What is emptied first is filled with the same again.
    let empties = |s: &Glance| s.verb == Verb::Delete && each_statements.iter().any(|i| i.table == s.table);
    if text.contains("truncate") || statements(code, body, place.path).iter().any(empties) {
        return None;
    }
    let (effect, does) = effect(code, place, each, sources)?;
    let keyword = if matches!(&*whole.kind, ExprKind::For { .. }) { 3 } else { 5 };
    Some(Batch {
        function: place.function.name.to_string(),
        path: place.path.to_owned(),
        span: place.function.span,
        is_main: &*place.function.name == "main",
        callers: BTreeSet::new(),
        looped_by: Vec::new(),
        items: Span { end: whole.span.start + keyword, ..whole.span },
        whole: whole.span,
        effect,
        does,
        confidence: Confidence::Medium,
    })
}

/// Calls that give many items.
const SOURCES: [&str; 13] = [
    "fetch_all",
    "fetch",
    "query",
    "query_map",
    "query_raw",
    "load",
    "get_results",
    "load_iter",
    "lines",
    "records",
    "deserialize",
    "read_dir",
    "into_deserialize",
];

/// Where the items of a loop come from, if it goes over the rows of a query or a file.
fn items<'e>(body: &'e Expr, e: &'e Expr) -> Option<&'e Expr> {
    let iter = match &*e.kind {
        ExprKind::For { iter, .. } => iter,
        ExprKind::While { cond, .. } => match &*cond.kind {
            ExprKind::Let { value, .. } => value,
            _ => return None,
        },
        _ => return None,
    };
    let given = origin(body, iter, e.span);
    calls_any(given, &SOURCES).then_some(given)
}

/// The value behind an iterated variable, or what is iterated itself.
fn origin<'e>(body: &'e Expr, iter: &'e Expr, before: Span) -> &'e Expr {
    let (_, first) = chain(iter);
    let ExprKind::Path(path) = &*first.kind else { return iter };
    let [name] = path.segments.as_slice() else { return iter };
    let mut found = iter;
    for e in walk::expressions(body) {
        let ExprKind::Block { stmts, .. } = &*e.kind else { continue };
        for stmt in stmts {
            let Stmt::Let { pat, value: Some(value), .. } = stmt else { continue };
            let binds = matches!(&pat.kind, PatKind::Bind { name: bound, .. } if bound == name);
            if binds && value.span.start < before.start {
                found = value;
            }
        }
    }
    found
}

/// The statements in an expression and in the functions that it calls.
fn statements(code: &Code<'_>, each: &Expr, path: &str) -> Vec<Glance> {
    let own = |body: &Expr, path: &str| -> Vec<Glance> {
        walk::expressions(body).filter_map(|e| glance(&code.text(e, path)?.text)).collect()
    };
    let mut found = own(each, path);
    for name in walk::expressions(each).filter_map(called) {
        if let Some(inner) = code.function(name) {
            found.extend(own(&inner.function.body, inner.path));
        }
    }
    found
}

/// Whether the query that gives the items leaves out those that are done.
fn is_chosen_by_status(code: &Code<'_>, place: Place<'_>, given: &Expr) -> bool {
    let by_status = |s: &Glance| s.conditions.iter().any(|c| is_status(c));
    statements(code, given, place.path).iter().any(by_status)
}

/// What is done with each item and cannot be done twice: a POST, a message, a record without a key.
fn effect(code: &Code<'_>, place: Place<'_>, each: &Expr, sources: &Sources) -> Option<(Span, String)> {
    let inside = |body: &Expr, path: &str, within: Span| -> Option<(Span, String)> {
        let text = sources.text(within).to_ascii_lowercase();
        // A key of the item tells its receiver that it has had it; one that is made anew does not.
        let has_key = ["idempoten", "dedup"].iter().any(|w| text.contains(w));
        let is_new = ["new_v4", "now_v7", "uuid::now", "rand"].iter().any(|w| text.contains(w));
        if has_key && !is_new {
            return None;
        }
        walk::expressions(body).find_map(|e| {
            if let Some(what) = sends(e) {
                return Some((e.span, what.to_owned()));
            }
            let text = code.text(e, path)?;
            let statement = glance(&text.text).filter(|s| s.verb == Verb::Insert && !s.has_conflict_clause)?;
            // In one transaction around all, nothing of a run that failed is left.
            let is_whole = calls_any(&place.function.body, &["begin", "transaction", "unchecked_transaction"]);
            (!is_whole && is_record_of_effect(&statement))
                .then(|| (text.place(statement.at), "an INSERT for each".to_owned()))
        })
    };
    inside(each, place.path, each.span).or_else(|| {
        walk::expressions(each)
            .filter_map(called)
            .filter_map(|name| code.function(name))
            .find_map(|inner| inside(&inner.function.body, inner.path, inner.function.span))
    })
}

/// Whether the record is no mere trace of what was done: a log tells of two runs what two runs did.
fn is_record_of_effect(statement: &Glance) -> bool {
    !statement.table.split('_').any(|w| matches!(w, "log" | "logs" | "audit" | "history" | "stats" | "metrics"))
}

/// What a call does that its receiver takes for a new thing each time.
fn sends(e: &Expr) -> Option<&'static str> {
    let ExprKind::Method { receiver, name, args, .. } = &*e.kind else { return None };
    match &**name {
        // `client.post(url)`, and no map's or window's method of that name.
        "post" if args.len() == 1 && is_client(receiver) => Some("a POST for each"),
        "send_message" | "basic_publish" => Some("a message for each"),
        _ => None,
    }
}

fn is_client(receiver: &Expr) -> bool {
    let called = last_name(receiver).map(str::to_ascii_lowercase);
    called.is_some_and(|n| ["http", "client", "agent", "reqwest", "api", "session"].iter().any(|w| n.contains(w)))
        || matches!(&*receiver.kind, ExprKind::Call { .. } | ExprKind::Method { .. })
}

/// Which functions call something of a name.
type Uses<'m> = BTreeMap<&'m str, BTreeSet<usize>>;

fn uses<'m>(code: &Code<'m>) -> Uses<'m> {
    let mut uses: Uses<'m> = BTreeMap::new();
    for (at, place) in code.functions.iter().enumerate() {
        for name in walk::expressions(&place.function.body).filter_map(called) {
            uses.entry(name).or_default().insert(at);
        }
    }
    uses
}

/// The functions that call one of this name, if it has the name alone.
fn users<'c, 'm>(code: &'c Code<'m>, uses: &'c Uses<'m>, name: &str) -> impl Iterator<Item = Place<'m>> + use<'c, 'm> {
    let of = code.function(name).and_then(|_| uses.get(name));
    of.into_iter().flatten().filter_map(|at| code.functions.get(*at).copied())
}

/// The functions that lead to a batch; names that several have lead nowhere.
fn callers(code: &Code<'_>, uses: &Uses<'_>, batch: &Batch) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut open = vec![batch.function.clone()];
    while let Some(name) = open.pop() {
        for user in users(code, uses, &name) {
            if found.insert((user.path.to_owned(), user.function.name.to_string())) {
                open.push(user.function.name.to_string());
            }
        }
    }
    found
}

/// The loops in which a batch is called.
fn looped_by(code: &Code<'_>, uses: &Uses<'_>, batch: &Batch) -> Vec<Span> {
    let mut found = Vec::new();
    for user in users(code, uses, &batch.function).filter(|u| u.function.span != batch.span) {
        let loops = walk::expressions(&user.function.body).filter_map(|e| Some((e.span, body_of_loop(e)?)));
        found.extend(loops.filter(|(_, body)| calls_any(body, &[&batch.function])).map(|(span, _)| span));
    }
    found
}
