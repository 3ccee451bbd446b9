//! Events that are given up where nobody wrote anything about it: nearly every template has some.
//!
//! A function that a service invokes without waiting for it drops an event after three tries unless it is told
//! otherwise, and a target of EventBridge after a day. A template that says nothing at all of failures gets one
//! remark on that, and not one for each of its functions. One that sends something else to a dead-letter queue, or
//! sets how often is tried, shows that its author cares: there the ones left out are named each.

use crate::facts::Facts;
use crate::model::{DeadLetter, Queue};

/// What a service hands over and gives up in the end.
#[derive(Debug)]
pub(super) struct HandedOver {
    /// As a queue.
    pub(super) queue: Queue,
    /// Whether the template says how often it is tried.
    pub(super) is_written: bool,
    /// What is given up.
    pub(super) what: What,
}

/// What a service gives up in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Running a function.
    Run,
    /// The handing over of an event, which hardly ever fails for a day.
    Delivery,
    /// The delivery of a topic's messages.
    Subscription,
}

impl HandedOver {
    fn lacks(&self) -> bool {
        self.queue.dead_letter == DeadLetter::None
    }
}

/// Adds what a template hands over; `first` is the number of its first queue among the facts.
pub(super) fn add(whole: &str, all: Vec<HandedOver>, first: usize, facts: &mut Facts) {
    let keeps = |q: &Queue| matches!(q.dead_letter, DeadLetter::To { .. } | DeadLetter::BuiltIn);
    let queues = facts.queues.get(first..).unwrap_or_default();
    let has_dead_letters = queues.iter().any(|q| keeps(q) || q.is_for_dead_letters());
    let of = |what: What| all.iter().any(|h| h.what == what && keeps(&h.queue));
    let cares = [
        (What::Run, has_dead_letters || of(What::Run)),
        (What::Delivery, of(What::Delivery)),
        (What::Subscription, of(What::Subscription)),
    ];
    let mut rest = all;
    for (what, cares) in cares {
        let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|h| h.what == what);
        add_kind(whole, own, cares, facts);
        rest = others;
    }
}

fn add_kind(whole: &str, all: Vec<HandedOver>, cares: bool, facts: &mut Facts) {
    let is_said_once = |h: &HandedOver| h.lacks() && !cares && !h.is_written;
    let (mut once, each): (Vec<_>, Vec<_>) = all.into_iter().partition(is_said_once);
    // The one that loses most stands for all.
    once.sort_by_key(|h| h.queue.minor);
    let others = once.len().saturating_sub(1);
    facts.queues.extend(each.into_iter().map(|h| h.queue));
    facts.queues.extend(once.into_iter().next().map(|h| {
        let mut queue = h.queue;
        queue.minor |= h.what != What::Subscription;
        if others > 0 {
            let kind = if others == 1 { "other" } else { "others" };
            queue.name = format!("{}, like {others} {kind} of this {whole},", queue.name);
        }
        queue
    }));
}
