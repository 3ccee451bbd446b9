//! sqlxmq: a job runs again as often as its attribute or its spawning says; after the last attempt its row stays, and is
//! never looked at again.

use std::time::Duration;

use super::super::functions::Code;
use super::{Job, calls, doubling, each, imports, job, says};
use crate::model::{Advice, Attempts, DeadLetter, Setting, Wait};
use crate::rust::ir::{Function, Item, Module};
use crate::source::{Sources, Span};
use crate::systems::{DefaultFigure, SystemMeta};

const SPAWN: &str = "Diggsey/sqlxmq src/spawn.rs";
const POLL: &str = "Diggsey/sqlxmq migrations/*.sql (mq_poll)";

const ID: &str = "sqlxmq";

pub(super) static META: SystemMeta = SystemMeta {
    id: ID,
    name: "sqlxmq",
    reads: "Rust: functions with `#[job(..)]`: retries and backoff_secs",
    marks: &["sqlxmq"],
    defaults: &[
        DefaultFigure { what: "retries not written", value: "5 attempts (4 retries)", source: SPAWN },
        DefaultFigure { what: "backoff_secs not written", value: "1 s", source: SPAWN },
        DefaultFigure { what: "waits", value: "twice as long each time, without end or jitter", source: POLL },
        DefaultFigure {
            what: "after the last attempt",
            value: "the row stays, and is not looked at again",
            source: POLL,
        },
    ],
};

pub(super) fn find(modules: &[Module], code: &Code<'_>, sources: &Sources) -> Vec<Job> {
    let mut jobs = Vec::new();
    for module in modules {
        let is_sqlxmq = imports(module, ID);
        each(module, &mut |item| {
            if let Item::Fn(function) = item {
                jobs.extend(of_function(function, is_sqlxmq, sources));
            }
        });
    }
    if jobs.is_empty() {
        return jobs;
    }
    let looks = says(code, "attempt_at IS NULL") || says(code, "attempt_at is null");
    // Whoever spawns a job can give it another count or wait.
    let (counts, waits) = (calls(code, "set_retries"), calls(code, "set_retry_backoff"));
    for job in &mut jobs {
        if looks {
            job.queue.dead_letter = DeadLetter::Unknown;
        }
        if counts && job.layer.attempts.is_default() {
            job.layer.attempts = Setting::unknown("is set where the job is spawned", None);
        }
        if waits && matches!(&job.layer.wait, Wait::Exponential { base, .. } if base.is_default()) {
            job.layer.wait = Wait::Unknown { why: "is set where the job is spawned".to_owned() };
        }
    }
    jobs
}

fn of_function(function: &Function, is_sqlxmq: bool, sources: &Sources) -> Option<Job> {
    let (_, text) = function.attributes.iter().find(|(path, _)| match path.segments.as_slice() {
        [only] => &**only == "job" && is_sqlxmq,
        [first, .., last] => &**first == ID && &**last == "job",
        [] => false,
    })?;
    let setting = |key: &str| Attribute { function, text, sources }.setting(key);
    let by_function = text.contains("proto");
    let retries = setting("retries");
    let attempts = match &retries {
        Some((value, span)) => match value.parse::<u64>() {
            Ok(n) => Setting::written(Attempts::Count(n.saturating_add(1)), *span),
            Err(_) => Setting::unknown("not a number here", Some(*span)),
        },
        None if by_function => Setting::unknown("the job's `proto` may set it", None),
        None => Setting::default(Attempts::Count(5), SPAWN),
    };
    let place = retries.as_ref().map_or(function.name_span, |(_, span)| *span);
    let mut job = job(ID, &format!("job `{}` of sqlxmq", function.name), place, attempts);
    let layer = &mut job.layer;
    layer.opens = function.name_span;
    layer.reading = match &retries {
        Some((value, _)) => format!("`retries = {value}` of {}", layer.name),
        None => format!("{}, which sets no `retries`", layer.name),
    };
    let wait = setting("backoff_secs");
    layer.wait_place = wait.as_ref().map(|(_, span)| *span);
    let seconds = |text: &str| text.parse().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    layer.wait = match wait {
        Some((value, span)) => match seconds(&value) {
            Some(first) => doubling(Setting::written(first, span), POLL),
            None => Wait::Unknown { why: "not a number here".to_owned() },
        },
        None if by_function => Wait::Unknown { why: "the job's `proto` may set it".to_owned() },
        None => doubling(Setting::default(Duration::from_secs(1), SPAWN), POLL),
    };
    layer.advice = Advice {
        fewer: Some("a smaller `retries` in its attribute".to_owned()),
        cap: Some("fewer `retries`, so that the last wait stays below 5 minutes".to_owned()),
        jitter: Some("spawn it with a `.set_retry_backoff(..)` that has a random part".to_owned()),
        ..Advice::default()
    };
    job.queue.otherwise =
        "stays in `mq_msgs` without a next attempt after its last one, among those that wait".to_owned();
    job.queue.advice =
        Some("a look for rows whose `attempt_at IS NULL`, which moves them and tells somebody".to_owned());
    job.runs = Some(function.name_span);
    Some(job)
}

/// The arguments of a function's attribute.
struct Attribute<'a> {
    function: &'a Function,
    text: &'a str,
    sources: &'a Sources,
}

impl Attribute<'_> {
    /// `key = value`: the value, and the place of it.
    fn setting(&self, key: &str) -> Option<(String, Span)> {
        let mut at = 0;
        for part in self.text.split(',') {
            let start = at;
            at += part.len() + 1;
            let Some((name, value)) = part.split_once('=') else { continue };
            if name.trim() == key {
                let begins = start + name.len() + 1 + (value.len() - value.trim_start().len());
                return Some((value.trim().to_owned(), self.place(begins, value.trim().len())));
            }
        }
        None
    }

    /// A part of the text, where it stands in front of the function; else the function's name.
    fn place(&self, start: usize, len: usize) -> Span {
        let name = self.function.name_span;
        let file = self.sources.get(name.file);
        let before = file.and_then(|f| f.text.get(..name.start as usize));
        match before.and_then(|text| text.rfind(self.text)) {
            Some(at) => Span::new(name.file, at + start, at + start + len),
            None => name,
        }
    }
}
