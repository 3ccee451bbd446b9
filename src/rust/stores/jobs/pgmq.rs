//! pgmq: a message that is read and not archived comes back when its visibility timeout is over, for ever.

use super::super::functions::Code;
use super::{Job, expressions, imports, job};
use crate::model::{Advice, Attempts, Setting, Wait};
use crate::rust::ir::{Expr, ExprKind, Lit, Module};
use crate::rust::walk;
use crate::systems::{DefaultFigure, SystemMeta};

const SQL: &str = "pgmq/pgmq pgmq-extension/sql/pgmq.sql";

const ID: &str = "pgmq";

pub(super) static META: SystemMeta = SystemMeta {
    id: ID,
    name: "pgmq",
    reads: "Rust: consumers that read with `pgmq.read`, by SQL or by the crate, and never look at `read_ct`",
    marks: &["pgmq"],
    defaults: &[
        DefaultFigure {
            what: "a message that is read and not archived",
            value: "comes back without limit",
            source: SQL,
        },
        DefaultFigure { what: "dead letters", value: "there are none", source: SQL },
    ],
};

pub(super) fn find(modules: &[Module], code: &Code<'_>) -> Vec<Job> {
    if counts_reads(code) {
        return Vec::new();
    }
    let importing: Vec<&str> = modules.iter().filter(|m| imports(m, ID)).map(|m| &*m.path).collect();
    let mut jobs = Vec::new();
    for place in &code.functions {
        let by_crate = importing.contains(&place.path);
        let Some((queue, span)) = walk::expressions(&place.function.body).find_map(|e| reads(e, by_crate)) else {
            continue;
        };
        let name = match queue {
            Some(queue) => format!("pgmq queue {queue}"),
            None => format!("pgmq consumer `{}`", place.function.name),
        };
        let mut job = job(ID, &name, span, Setting::default(Attempts::Unbounded, SQL));
        // Whoever reads asks for it.
        job.layer.asked_for = true;
        job.layer.wait = Wait::Unknown { why: "the visibility timeout of the read".to_owned() };
        job.layer.jitter = Setting::unknown("the visibility timeout has none", None);
        job.layer.confidence = crate::model::Confidence::Medium;
        job.layer.advice = Advice {
            limit: Some(
                "compare `read_ct` with a limit, and archive the message or send it to another queue".to_owned(),
            ),
            ..Advice::default()
        };
        job.queue.otherwise = "comes back whenever its visibility timeout is over, for ever".to_owned();
        job.queue.advice =
            Some("where `read_ct` is above a limit, send it to another queue and archive it here".to_owned());
        jobs.push(job);
    }
    jobs
}

/// A read of a queue, with the queue's name if it is written.
fn reads(e: &Expr, by_crate: bool) -> Option<(Option<String>, crate::source::Span)> {
    match &*e.kind {
        ExprKind::Lit(Lit::Str { text, .. }) => {
            let after = ["pgmq.read(", "pgmq.read_with_poll("].iter().find_map(|call| text.split_once(call))?.1;
            let name = after.trim_start().strip_prefix('\'').and_then(|rest| rest.split('\'').next());
            Some((name.map(str::to_owned), e.span))
        }
        ExprKind::Method { name, name_span, args, types, .. } if by_crate => {
            let is_read =
                matches!((&**name, args.len()), ("read", 2) | ("read_batch", 3) | ("read_batch_with_poll", 5));
            // `queue.read::<Order>(..)`: files have a method of that name, too.
            let is_named = args.first().is_some_and(|a| !matches!(&*a.kind, ExprKind::Lit(Lit::Int(_))));
            let queue = match args.first().map(|a| &*a.kind) {
                Some(ExprKind::Lit(Lit::Str { text, .. })) => Some(text.to_string()),
                _ => None,
            };
            (is_read && is_named && (queue.is_some() || !types.is_empty())).then_some((queue, *name_span))
        }
        _ => None,
    }
}

/// Whether some code looks at how often a message was read.
fn counts_reads(code: &Code<'_>) -> bool {
    expressions(code).any(|(e, _)| match &*e.kind {
        ExprKind::Field { name, .. } => &**name == "read_ct",
        ExprKind::Lit(Lit::Str { text, .. }) => text.contains("read_ct"),
        _ => false,
    })
}
