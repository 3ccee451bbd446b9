#![doc = include_str!("../../rules/short-idempotency-retention.md")]

use std::time::Duration;

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{Confidence, Keeps, Model, Purge, Queue, Setting, StoreKind};
use crate::source::Span;

static META: RuleMeta = RuleMeta {
    id: "short-idempotency-retention",
    level: Severity::Error,
    summary: "records go sooner than a redelivery can still come (queue and dead-letter retention, or `[redelivery] window`)",
    page: include_str!("../../rules/short-idempotency-retention.md"),
};

/// The rule.
pub(super) struct ShortIdempotencyRetention;

impl Rule for ShortIdempotencyRetention {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        for purge in model.purges.iter().filter(|p| p.keeps == Keeps::Handled) {
            if let Some((age, place)) = purge.age {
                let window = window(model, purge, age);
                findings.extend(window.filter(|w| age < w.length).map(|w| short(purge, age, place, w)));
            }
        }
    }
}

/// How long after the first time a message can still come again.
struct Window {
    length: Duration,
    /// Completes "..., and ": "SQS queue orders can deliver a message again for 14 days".
    says: String,
    place: Option<(Span, String)>,
    severity: Severity,
    confidence: Confidence,
}

fn window(model: &Model, purge: &Purge, age: Duration) -> Option<Window> {
    if let Some((length, span)) = model.redelivery_window {
        let says = format!("the configuration says that one can come again for {}", phrase::duration(length));
        let place = Some((span, "the window".to_owned()));
        return Some(Window { length, says, place, severity: META.level, confidence: Confidence::High });
    }
    of_queues(model, age).or_else(|| by_kind(model, purge))
}

/// The queue that delivers longest. Which of several feeds the table is not known: they count in full where all of them
/// deliver longer than records are kept.
fn of_queues(model: &Model, age: Duration) -> Option<Window> {
    let sources = model.queues.iter().filter(|q| !q.is_for_dead_letters());
    let lengths: Vec<(Duration, &Queue)> = sources.filter_map(|q| Some((length(model, q)?, q))).collect();
    let (longest, queue) = *lengths.iter().max_by_key(|(length, _)| *length)?;
    // What only hands messages over says less of a table than what keeps them.
    let keeps = lengths.iter().any(|(_, q)| q.redelivers.is_none());
    let mut judged = lengths.iter().filter(|(_, q)| !keeps || q.redelivers.is_none());
    let is_sure = judged.all(|(length, _)| age < *length);
    let says = format!("{} can deliver a message again for {}", queue.name, phrase::duration(longest));
    let (severity, confidence) =
        if is_sure { (META.level, Confidence::Medium) } else { (Severity::Warning, Confidence::Low) };
    let confidence = if lengths.len() == 1 { Confidence::High } else { confidence };
    let own = queue.redelivers.as_ref().or(queue.retention.as_ref());
    let span = own.and_then(Setting::span).unwrap_or(queue.place);
    let place = Some((span, format!("{} keeps messages", queue.name)));
    Some(Window { length: longest, says, place, severity, confidence: confidence.min(queue.confidence) })
}

/// How long the queue, and then the one for its dead letters, can hold a message; and then the queue again, where dead
/// letters are sent back, which makes new messages of them.
fn length(model: &Model, queue: &Queue) -> Option<Duration> {
    let known = |setting: &Option<Setting<Duration>>| setting.as_ref().and_then(Setting::value).copied();
    let ix = model.queues.iter().position(|q| std::ptr::eq(q, queue))?;
    let is_of = |q: &&Queue| q.dead_letters_of.iter().any(|source| source.0 as usize == ix);
    let own = known(&queue.redelivers).or_else(|| known(&queue.retention));
    let again = own.filter(|_| !model.redrives.is_empty()).unwrap_or_default();
    let dead = model.queues.iter().filter(is_of).filter_map(|q| Some((q, known(&q.retention)?)));
    let with = dead.map(|(q, dead)| {
        // What another service gives up is a new message in the queue for its dead letters.
        let is_one_age = q.ages_from_first_send && q.service == queue.service;
        let both =
            if is_one_age { own.unwrap_or_default().max(dead) } else { own.unwrap_or_default().saturating_add(dead) };
        both.saturating_add(again)
    });
    with.max().or(own)
}

/// What is usual where nothing in the files tells.
fn by_kind(model: &Model, purge: &Purge) -> Option<Window> {
    let name = purge.table.to_ascii_lowercase();
    let kind = model.stores.iter().find(|s| s.table.eq_ignore_ascii_case(&purge.table)).map(|s| s.kind);
    let is_request = kind.map_or(name.contains("idempoten"), |kind| kind == StoreKind::Requests);
    let (days, what) = if is_request {
        (1, "callers repeat requests for up to a day")
    } else {
        (7, "messages are often sent again for up to 7 days")
    };
    Some(Window {
        length: Duration::from_secs(days * 86_400),
        says: what.to_owned(),
        place: None,
        severity: Severity::Note,
        confidence: Confidence::Low,
    })
}

fn short(purge: &Purge, age: Duration, place: Span, window: Window) -> Finding {
    let message = format!(
        "Records of {} go after {}, and {}: what comes in between is processed a second time",
        purge.table,
        phrase::duration(age),
        window.says
    );
    let finding = Finding::new(&META, place, format!("kept for {}", phrase::duration(age)), message)
        .label(purge.place, "the purge")
        .help(
            "Keep the records longer than a message can come again: the retention of its queue, of its dead letters, \
             and the time in which somebody may send them back; 30 days is usual.",
        )
        .severity(window.severity)
        .confidence(window.confidence)
        .about(purge.table.as_str());
    match window.place {
        Some((span, text)) => finding.label(span, text),
        None => finding,
    }
}
