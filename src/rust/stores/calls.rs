//! Statements that code makes without SQL: by diesel, SeaORM and Redis.

use super::caches::{key_text, names_handled};
use super::functions::{Code, Place};
use super::words::{called, last_name, snake};
use crate::rust::ir::{Expr, ExprKind, PatKind, Path, Stmt};
use crate::rust::walk;
use crate::source::Span;
use crate::systems::sql::glance::{Glance, Verb, is_store};

/// The statements that a body makes by calls, each with its place.
pub(super) fn statements(code: &Code<'_>, place: Place<'_>) -> Vec<(Glance, Span)> {
    let body = &place.function.body;
    // What is found to be changed or removed is no look.
    let changed: Vec<Span> = walk::expressions(body)
        .filter_map(|e| match &*e.kind {
            ExprKind::Call { args, .. } if matches!(called(e), Some("update" | "delete")) => {
                args.first().map(|a| a.span)
            }
            _ => None,
        })
        .collect();
    walk::expressions(body)
        .filter_map(|e| {
            let (verb, table) = of_orm(body, e).or_else(|| of_redis(code, place, e))?;
            let is_changed = verb == Verb::Select && changed.iter().any(|c| c.contains(e.span));
            (!is_changed).then(|| (glance(verb, table), e.span))
        })
        .collect()
}

fn glance(verb: Verb, table: String) -> Glance {
    Glance {
        verb,
        at: 0,
        table,
        is_store: true,
        conditions: vec!["key".to_owned()],
        columns: Vec::new(),
        has_conflict_clause: false,
        skips_locked: false,
        is_limited: false,
        fixes_key: true,
        asks_at: None,
    }
}

fn of_orm(body: &Expr, e: &Expr) -> Option<(Verb, String)> {
    let (verb, table) = match &*e.kind {
        ExprKind::Call { callee, args } => {
            let ExprKind::Path(path) = &*callee.kind else { return None };
            match (last(path)?, args.first()) {
                ("insert_into", Some(table)) => (Verb::Insert, diesel_table(table)?),
                ("find_by_id", Some(_)) | ("find", None) => (Verb::Select, entity(path)?),
                ("insert", Some(_)) => (Verb::Insert, entity(path)?),
                _ => return None,
            }
        }
        ExprKind::Method { receiver, name, .. } => match &**name {
            "filter" | "find" => (Verb::Select, diesel_table(receiver)?),
            "insert" => (Verb::Insert, active_model(body, receiver)?),
            _ => return None,
        },
        _ => return None,
    };
    is_store(&table).then_some((verb, table))
}

fn last(path: &Path) -> Option<&str> {
    path.segments.last().map(|s| &**s)
}

/// `inbox::table`, or `inbox` where its names are imported.
fn diesel_table(e: &Expr) -> Option<String> {
    let ExprKind::Path(path) = &*e.kind else { return None };
    let name = match path.segments.as_slice() {
        [.., name, table] if &**table == "table" => name,
        [.., name] => name,
        [] => return None,
    };
    Some(snake(name))
}

/// `inbox::Entity::find_by_id`, or `Inbox::find_by_id`.
fn entity(path: &Path) -> Option<String> {
    match path.segments.as_slice() {
        [.., module, entity, _] if &**entity == "Entity" => Some(snake(module)),
        [.., entity, _] => Some(snake(entity)),
        _ => None,
    }
}

/// `inbox::ActiveModel { .. }`, there or where the variable gets its value.
fn active_model(body: &Expr, e: &Expr) -> Option<String> {
    match &*e.kind {
        ExprKind::Struct { path, .. } => match path.segments.as_slice() {
            [.., module, model] if &**model == "ActiveModel" => Some(snake(module)),
            _ => None,
        },
        ExprKind::Path(path) => {
            let [name] = path.segments.as_slice() else { return None };
            walk::expressions(body).find_map(|b| {
                let ExprKind::Block { stmts, .. } = &*b.kind else { return None };
                stmts.iter().find_map(|stmt| match stmt {
                    Stmt::Let { pat, value: Some(value), .. }
                        if matches!(&pat.kind, PatKind::Bind { name: bound, .. } if bound == name)
                            && matches!(&*value.kind, ExprKind::Struct { .. }) =>
                    {
                        active_model(body, value)
                    }
                    _ => None,
                })
            })
        }
        _ => None,
    }
}

/// A look at a key of Redis, or what sets it.
fn of_redis(code: &Code<'_>, place: Place<'_>, e: &Expr) -> Option<(Verb, String)> {
    let ExprKind::Method { receiver, name, args, .. } = &*e.kind else { return None };
    let verb = match (&**name, args.len()) {
        // `cmd("EXISTS").arg(key)`: the call before names the command.
        ("arg", 1) => match &*receiver.kind {
            ExprKind::Call { args, .. } if called(receiver) == Some("cmd") => match last_name(args.first()?)? {
                "EXISTS" | "GET" | "SISMEMBER" => Verb::Select,
                "SET" | "SETEX" | "SADD" => Verb::Insert,
                _ => return None,
            },
            _ => return None,
        },
        // Many things have a method of that name: the key must look like one.
        ("get", 1) => {
            let key = key_text(code, place, args.first()?)?;
            return (key.contains(':') && names_handled(&key)).then_some((Verb::Select, key));
        }
        ("exists", 1) | ("sismember", 2) => Verb::Select,
        ("set", 2) | ("set_ex" | "pset_ex", 3) | ("sadd", 2) => Verb::Insert,
        _ => return None,
    };
    let key = key_text(code, place, args.first()?)?;
    names_handled(&key).then_some((verb, key))
}
