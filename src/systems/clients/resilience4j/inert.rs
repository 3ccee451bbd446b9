//! Settings that Resilience4j reads and then does not use.

use super::blocks::Resolved;
use super::interval::{Interval, on};
use crate::model::{Confidence, Inert};
use crate::syntax::Entry;
use crate::systems::settings::{last_part, shown};

/// The settings without effect of one instance.
pub(super) fn of(r: &Resolved<'_>, owner: &str) -> Vec<Inert> {
    let removed = r.old_count.map(|e| {
        let why = "Resilience4j 2 does not know this name any more";
        found(e, why).instead("Write `max-attempts`").confidence(Confidence::Medium)
    });
    let idle = r.idle.iter().map(|e| {
        let why = "Resilience4j looks at it only where `wait-duration` stands in the same block";
        found(e, why).instead("Set `wait-duration` beside it")
    });
    removed.into_iter().chain(idle).chain(of_wait(r.interval)).map(|i| i.of(owner)).collect()
}

/// Those beside a `wait-duration`.
fn of_wait(interval: Interval<'_>) -> Vec<Inert> {
    let Interval::Block { flags, factor, .. } = interval else { return Vec::new() };
    let randomized = on(flags.randomized);
    let mut out = Vec::new();
    if on(flags.exponential).is_none() {
        let why = "the wait does not grow: `enable-exponential-backoff` is not `true`";
        let growth = [flags.multiplier, flags.cap].into_iter().flatten();
        out.extend(growth.map(|e| found(e, why).instead("Set `enable-exponential-backoff: true` beside it")));
    } else if let Some(cap) = flags.cap {
        if flags.multiplier.is_none() {
            let why =
                "a cap counts only where `exponential-backoff-multiplier` is written, so the wait grows without end";
            out.push(found(cap, why).instead("Set `exponential-backoff-multiplier` beside it"));
        } else if randomized.is_some() && factor.is_none() {
            let why = "where waits are randomized a cap counts only if `randomized-wait-factor` is written, so the wait \
                       grows without end";
            out.push(found(cap, why).instead("Set `randomized-wait-factor` beside `wait-duration`"));
        }
    }
    if let (Some(factor), None) = (factor, randomized) {
        let why = "waits are not randomized: `enable-randomized-wait` is not `true`";
        out.push(found(factor, why).instead("Set `enable-randomized-wait: true` beside it"));
    }
    out
}

fn found(entry: &Entry, why: &str) -> Inert {
    let value = shown(entry.value.as_str().unwrap_or_default());
    Inert::new(entry.key_span, format!("`{}: {value}`", shown(last_part(&entry.key))), why)
}
