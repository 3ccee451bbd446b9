//! fang: a task runs again as often as its `max_retries` says, and is then removed unless failed tasks are kept.

use std::time::Duration;

use super::super::caches::number;
use super::super::functions::Code;
use super::{Job, doubling, each, expressions, imports, job};
use crate::model::{Advice, Attempts, DeadLetter, Setting, Wait};
use crate::rust::ir::{Expr, ExprKind, Function, Impl, Item, Module};
use crate::systems::{DefaultFigure, SystemMeta};

const RUNNABLE: &str = "ayrat555/fang fang/src/asynk/async_runnable.rs";
const LIB: &str = "ayrat555/fang fang/src/lib.rs";
const WORKER: &str = "ayrat555/fang fang/src/asynk/async_worker.rs";

const ID: &str = "fang";

pub(super) static META: SystemMeta = SystemMeta {
    id: ID,
    name: "fang",
    reads: "Rust: tasks (`AsyncRunnable`, `Runnable`) with `max_retries` and `backoff`; what becomes of failed ones",
    marks: &["fang"],
    defaults: &[
        DefaultFigure { what: "max_retries not written", value: "21 attempts (20 retries)", source: RUNNABLE },
        DefaultFigure {
            what: "backoff not written",
            value: "1 s, then twice as long, without end or jitter",
            source: RUNNABLE,
        },
        DefaultFigure { what: "retention_mode not set", value: "failed tasks are removed", source: LIB },
    ],
};

pub(super) fn find(modules: &[Module], code: &Code<'_>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for module in modules {
        let is_fang = imports(module, ID);
        each(module, &mut |item| {
            if let Item::Impl(block) = item
                && is_task(block, is_fang)
            {
                jobs.extend(task(block, &module.path, code));
            }
        });
    }
    if !jobs.is_empty() && keeps_failed(code) {
        jobs.iter_mut().for_each(|job| job.queue.dead_letter = DeadLetter::BuiltIn);
    }
    jobs
}

fn is_task(block: &Impl, is_fang: bool) -> bool {
    let Some(path) = block.of_trait.as_ref().filter(|_| !block.is_trait) else { return false };
    let [.., last] = path.segments.as_slice() else { return false };
    let is_named = matches!(&**last, "AsyncRunnable" | "Runnable");
    is_named && (is_fang || path.segments.first().is_some_and(|s| &**s == ID))
}

fn task(block: &Impl, path: &str, code: &Code<'_>) -> Option<Job> {
    let of = |name: &str| block.functions.iter().find(|f| &*f.name == name);
    let run = of("run")?;
    let task = block.ty.path.segments.last()?;
    let retries = of("max_retries");
    let attempts = match retries.map(|f| (value(f).and_then(|e| number(code, e, path)), f.name_span)) {
        None => Setting::default(Attempts::Count(21), RUNNABLE),
        Some((Some(n), span)) => Setting::written(Attempts::Count(n.saturating_add(1)), span),
        Some((None, span)) => Setting::unknown("`max_retries` works it out", Some(span)),
    };
    let place = retries.map_or(run.name_span, |f| f.name_span);
    let mut job = job(ID, &format!("task {task} of fang"), place, attempts);
    let layer = &mut job.layer;
    layer.opens = run.name_span;
    layer.reading = match retries {
        Some(_) => format!("`max_retries` of {}", layer.name),
        None => format!("{}, which has no `max_retries`", layer.name),
    };
    let waits = of("backoff");
    layer.wait_place = waits.map(|f| f.name_span);
    layer.wait = match waits.map(|f| (value(f).and_then(|e| number(code, e, path)), f.name_span)) {
        None => doubling(Setting::default(Duration::from_secs(1), WORKER), RUNNABLE),
        Some((Some(0), _)) => Wait::None,
        Some((Some(n), span)) => Wait::Fixed(Setting::written(Duration::from_secs(n), span)),
        Some((None, _)) => Wait::Unknown { why: "`backoff` works it out".to_owned() },
    };
    if matches!(layer.wait, Wait::Unknown { .. }) {
        layer.jitter = Setting::unknown("`backoff` works it out", None);
    }
    layer.advice = Advice {
        fewer: Some("let `max_retries` return a smaller number".to_owned()),
        wait: Some("write a `backoff` that grows".to_owned()),
        grow: Some("let `backoff` grow with the attempt".to_owned()),
        cap: Some("write a `backoff` that returns at most 300".to_owned()),
        jitter: Some("add a random part in `backoff`".to_owned()),
        ..Advice::default()
    };
    job.queue.otherwise = "is removed after its last attempt, as if it had succeeded".to_owned();
    job.queue.advice = Some("`.retention_mode(RetentionMode::RemoveFinished)` on the worker pool".to_owned());
    // The next one comes by the clock.
    job.queue.minor = of("cron").is_some();
    job.runs = Some(run.name_span);
    Some(job)
}

/// What a function comes to, where it is no more than a value.
fn value(function: &Function) -> Option<&Expr> {
    match &*function.body.kind {
        ExprKind::Block { stmts, tail, .. } if stmts.is_empty() => tail.as_ref(),
        ExprKind::Block { .. } => None,
        _ => Some(&function.body),
    }
}

/// Whether failed tasks stay in their table, or it cannot be told.
fn keeps_failed(code: &Code<'_>) -> bool {
    expressions(code).any(|(e, _)| match &*e.kind {
        ExprKind::Path(path) => match path.segments.as_slice() {
            [.., mode, kept] => &**mode == "RetentionMode" && matches!(&**kept, "KeepAll" | "RemoveFinished"),
            _ => false,
        },
        ExprKind::Method { name, args, .. } => {
            &**name == "retention_mode"
                && !args.iter().any(|a| matches!(&*a.kind, ExprKind::Path(p) if p.segments.len() > 1))
        }
        _ => false,
    })
}
