//! Job crates that run a failed job again: what a job's own code says of how often and after what wait, and what becomes
//! of one that fails for good.

mod fang;
mod pgmq;
mod sqlxmq;

use std::sync::Arc;
use std::time::Duration;

use super::functions::Code;
use crate::model::{Attempts, Confidence, DeadLetter, Jitter, Layer, LayerKind, Queue, Scope, Setting, Wait};
use crate::rust::ir::{Expr, ExprKind, Item, Lit, Module};
use crate::rust::walk;
use crate::source::{Sources, Span};
use crate::systems::{SystemMeta, repeats};

/// A job, or a loop that takes messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// How it is run again.
    pub layer: Layer,
    /// The jobs as messages that can fail for good.
    pub queue: Queue,
    /// The name of the function that is run again, if it is known.
    pub runs: Option<Span>,
}

/// Every job of the crates that are known.
pub(super) fn find(modules: &[Module], code: &Code<'_>, sources: &Sources) -> Vec<Job> {
    let mut jobs = fang::find(modules, code);
    jobs.extend(sqlxmq::find(modules, code, sources));
    jobs.extend(pgmq::find(modules, code));
    jobs
}

/// What each crate is, for the list of systems.
pub fn metas() -> impl Iterator<Item = &'static SystemMeta> {
    [&fang::META, &sqlxmq::META, &pgmq::META].into_iter()
}

/// A job of which only its name and place are known.
fn job(system: &'static str, name: &str, place: Span, attempts: Setting<Attempts>) -> Job {
    let id: Arc<str> = format!("{system}:{name}").into();
    let layer = Layer {
        scope: Scope::Code,
        wait: Wait::Unknown { why: "the job sets its own".to_owned() },
        jitter: Setting::default(Jitter::None, "the code"),
        ..repeats::layer(system, LayerKind::Job, id.clone(), name.to_owned(), place, attempts)
    };
    let queue = Queue {
        dead_letter: DeadLetter::None,
        confidence: Confidence::Medium,
        ..repeats::queue(system, id, name.to_owned(), place)
    };
    Job { layer, queue, runs: None }
}

/// Twice as long before each try, without end.
fn doubling(first: Setting<Duration>, source: &'static str) -> Wait {
    Wait::Exponential { base: first, factor: Setting::default(2.0, source), cap: Setting::default(None, source) }
}

/// Calls `with` on the items of a module, those of inline modules too.
fn each<'m>(module: &'m Module, with: &mut dyn FnMut(&'m Item)) {
    let mut open: Vec<&Item> = module.items.iter().rev().collect();
    while let Some(item) = open.pop() {
        with(item);
        if let Item::Mod { items, .. } = item {
            open.extend(items.iter().rev());
        }
    }
}

/// Whether a module takes something from a crate.
fn imports(module: &Module, name: &str) -> bool {
    let mut found = false;
    each(module, &mut |item| {
        found |= matches!(item, Item::Use(u) if u.path.segments.first().is_some_and(|s| **s == *name));
    });
    found
}

/// Every expression of the code, with its file.
fn expressions<'c, 'm>(code: &'c Code<'m>) -> impl Iterator<Item = (&'m Expr, &'m str)> + use<'c, 'm> {
    let bodies = code.functions.iter().map(|place| (&place.function.body, place.path));
    let constants = code.constants().map(|(_, path, value)| (value, path));
    bodies.chain(constants).flat_map(|(body, path)| walk::expressions(body).map(move |e| (e, path)))
}

/// Whether some code calls a method of this name.
fn calls(code: &Code<'_>, method: &str) -> bool {
    expressions(code).any(|(e, _)| matches!(&*e.kind, ExprKind::Method { name, .. } if &**name == method))
}

/// Whether a text of the code holds another one.
fn says(code: &Code<'_>, wanted: &str) -> bool {
    expressions(code).any(|(e, _)| match &*e.kind {
        ExprKind::Lit(Lit::Str { text, .. }) => text.contains(wanted),
        _ => false,
    })
}
