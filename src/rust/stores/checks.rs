//! A SELECT on a store, a branch on what it found, an INSERT into the same store.

use std::collections::BTreeSet;

use super::calls;
use super::functions::{Code, Place};
use super::words::{called, last_name, snake};
use crate::model::{CheckThenInsert, Confidence, Store, StoreKind, Unique};
use crate::rust::ir::{Expr, ExprKind, Stmt};
use crate::rust::walk;
use crate::source::{Sources, Span};
use crate::systems::sql::glance::{Glance, Verb, glance};

/// A statement that a function runs, itself or in a function that it calls.
struct Statement {
    glance: Glance,
    /// Where the function runs it: the text, the constant's name or the call.
    at: Span,
    /// The statement itself.
    place: Span,
    /// Where it asks whether the record is there.
    asks: Option<Span>,
}

/// What makes a look before an insert right, or another thing: locks, isolation, an error that is looked at.
const GUARDS: [&str; 24] = [
    "pg_advisory",
    "pg_try_advisory",
    "get_lock(",
    "sp_getapplock",
    "lock table",
    "serializable",
    "immediate",
    "exclusive",
    "unique_violation",
    "uniqueviolation",
    "23505",
    "constraintviolation",
    "uniqueconstraint",
    "is_unique",
    "duplicate",
    "1062",
    "sqlite_constraint",
    "on_conflict",
    "already_exists",
    "or_ignore",
    "replace_into",
    "set_nx",
    "existencecheck",
    "\"nx\"",
];

/// Every look before an insert.
pub(super) fn find(code: &Code<'_>, stores: &[Store], sources: &Sources) -> Vec<CheckThenInsert> {
    let mut found: Vec<CheckThenInsert> = Vec::new();
    for place in &code.functions {
        for check in in_function(code, *place, stores, sources) {
            // A caller of a function that does both has the same two statements.
            if !found.iter().any(|f| f.select == check.select && f.insert == check.insert) {
                found.push(check);
            }
        }
    }
    found
}

fn in_function(code: &Code<'_>, place: Place<'_>, stores: &[Store], sources: &Sources) -> Vec<CheckThenInsert> {
    let body = &place.function.body;
    let mut texts = sources.text(place.function.span).to_ascii_lowercase();
    let statements = statements(code, place, sources, &mut texts);
    if GUARDS.iter().any(|guard| texts.contains(guard)) {
        return Vec::new();
    }
    let mut found: Vec<CheckThenInsert> = statements.iter().filter_map(|s| in_one(s, place, stores)).collect();
    for select in statements.iter().filter(|s| s.glance.verb == Verb::Select) {
        let table = &select.glance.table;
        let Some(store) = known(&select.glance, stores) else { continue };
        let of_table =
            |verb: Verb| statements.iter().filter(move |s| s.glance.verb == verb && s.glance.table == *table);
        if of_table(Verb::Insert).any(|s| s.glance.has_conflict_clause)
            || select.glance.skips_locked
            || select.glance.conditions.is_empty()
        {
            continue;
        }
        let insert = of_table(Verb::Insert).find(|s| s.at.start > select.at.start && decides(body, select.at, s.at));
        let Some(insert) = insert else { continue };
        let is_between = |s: &Statement| s.at.start > select.at.start && s.at.start < insert.at.start;
        if of_table(Verb::Update).any(is_between) {
            continue;
        }
        found.push(CheckThenInsert {
            table: table.clone(),
            function: place.function.name.to_string(),
            select: select.place,
            insert: insert.place,
            constrained: store.is_some_and(|s| matches!(s.unique, Unique::On { .. })),
            locked: texts.contains(".lock()"),
            confidence: store.map_or(Confidence::High, |s| s.confidence),
        });
    }
    found
}

/// `INSERT .. WHERE NOT EXISTS (..)`: two at the same time both find nothing.
fn in_one(statement: &Statement, place: Place<'_>, stores: &[Store]) -> Option<CheckThenInsert> {
    let asks_at = statement.asks?;
    let store = known(&statement.glance, stores).filter(|_| !statement.glance.has_conflict_clause)?;
    Some(CheckThenInsert {
        table: statement.glance.table.clone(),
        function: place.function.name.to_string(),
        select: asks_at,
        insert: statement.place,
        constrained: store.is_some_and(|s| matches!(s.unique, Unique::On { .. })),
        locked: false,
        confidence: store.map_or(Confidence::High, |s| s.confidence),
    })
}

/// Whether the statement looks into a store; and which, if its table is in the scripts.
fn known<'s>(glance: &Glance, stores: &'s [Store]) -> Option<Option<&'s Store>> {
    let store = stores.iter().find(|s| s.table.eq_ignore_ascii_case(&glance.table));
    match store {
        Some(store) if store.kind == StoreKind::Business => {
            glance.conditions.iter().any(|c| c.contains("idempoten")).then_some(Some(store))
        }
        Some(store) => Some(Some(store)),
        None => glance.is_store.then_some(None),
    }
}

/// The statements that a function runs, in their order; adds the texts of the functions it calls.
fn statements(code: &Code<'_>, place: Place<'_>, sources: &Sources, texts: &mut String) -> Vec<Statement> {
    let mut found = own(code, place);
    for expr in walk::expressions(&place.function.body) {
        let Some(called) = helper(code, expr).filter(|c| c.function.span != place.function.span) else { continue };
        let inner = own(code, called);
        // One that does both is found by itself.
        let both = [Verb::Select, Verb::Insert].iter().all(|v| inner.iter().any(|s| s.glance.verb == *v));
        if inner.is_empty() || both {
            continue;
        }
        texts.push_str(&sources.text(called.function.span).to_ascii_lowercase());
        found.extend(inner.into_iter().map(|s| Statement { at: expr.span, ..s }));
    }
    found.sort_by_key(|s| s.at);
    found
}

/// The function that an expression calls: the only one of its name, or of several the one of the type that the receiver
/// is called after (`self.inbox.insert(..)`, `impl InboxRepository`).
fn helper<'m>(code: &Code<'m>, expr: &Expr) -> Option<Place<'m>> {
    let name = called(expr)?;
    let only = code.function(name);
    let ExprKind::Method { receiver, .. } = &*expr.kind else { return only };
    only.or_else(|| {
        let receiver = snake(last_name(receiver)?);
        let is_of = |owner: &str| snake(owner).split('_').any(|w| w.len() > 3 && receiver.split('_').any(|r| r == w));
        let mut of_type = code.functions_called(name).filter(|f| f.owner.is_some_and(is_of));
        let first = of_type.next()?;
        of_type.next().is_none().then_some(first)
    })
}

fn own(code: &Code<'_>, place: Place<'_>) -> Vec<Statement> {
    let texts = walk::expressions(&place.function.body).filter_map(|e| Some((e.span, code.text(e, place.path)?)));
    let read = texts.filter_map(|(at, text)| {
        let glance = glance(&text.text)?;
        let place = text.place(glance.at);
        let asks = glance.asks_at.map(|at| text.place(at));
        Some(Statement { glance, at, place, asks })
    });
    let by_calls =
        calls::statements(code, place).into_iter().map(|(glance, at)| Statement { glance, at, place: at, asks: None });
    read.chain(by_calls).collect()
}

/// Whether what one place found decides whether the code comes to the other.
fn decides(body: &Expr, select: Span, insert: Span) -> bool {
    let names = bound(body, select);
    let tells = |e: &Expr| {
        e.span.contains(select)
            || e.span.start >= select.end
                && walk::expressions(e).any(|e| matches!(&*e.kind, ExprKind::Path(p) if p.segments.len() == 1 && p.segments.iter().all(|s| names.contains(&**s))))
    };
    let before = |e: &Expr| e.span.start < insert.start;
    walk::expressions(body).any(|e| match &*e.kind {
        ExprKind::If { cond, .. } => before(cond) && tells(cond),
        ExprKind::Match { value, .. } => before(value) && !value.span.contains(insert) && tells(value),
        ExprKind::Block { stmts, .. } => stmts.iter().any(|s| match s {
            Stmt::Let { value: Some(value), otherwise: Some(_), .. } => before(value) && tells(value),
            _ => false,
        }),
        _ => false,
    })
}

/// The names that what a place found is bound to, directly or by way of others.
fn bound(body: &Expr, select: Span) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for e in walk::expressions(body) {
        let ExprKind::Block { stmts, .. } = &*e.kind else { continue };
        for stmt in stmts {
            let Stmt::Let { pat, value: Some(value), .. } = stmt else { continue };
            let uses = |e: &Expr| matches!(&*e.kind, ExprKind::Path(p) if p.segments.len() == 1 && p.segments.iter().all(|s| names.contains(&**s)));
            if value.span.contains(select) || value.span.start >= select.end && walk::expressions(value).any(uses) {
                names.extend(walk::bindings(pat).into_iter().map(|n| n.to_string()));
            }
        }
    }
    names
}
