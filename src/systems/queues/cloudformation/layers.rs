//! What the layers of AWS have in common.

use std::time::Duration;

use super::template::whole;
use crate::model::{Attempts, Layer, LayerKind, Scope, Setting};
use crate::source::Span;
use crate::syntax::Entry;
use crate::systems::repeats;

/// A redelivery whose schedule the platform fixes: nothing about its waits can be set, so no rule about waits speaks.
pub(super) fn redelivery(
    system: &'static str,
    (id, name): (String, String),
    opens: Span,
    attempts: Setting<Attempts>,
    scope: Scope,
) -> Layer {
    Layer {
        scope,
        retry_after: Setting::unknown("a message has no response", None),
        ..repeats::layer(system, LayerKind::Queue, id.into(), name, opens, attempts)
    }
}

/// How long something can be handed over again: a number of seconds, or the platform's own. Not at all where it is not
/// repeated.
pub(super) fn until(
    age: Option<&Entry>,
    count: Option<&Entry>,
    default: (u64, &'static str),
) -> Option<Setting<Duration>> {
    if count.is_some_and(|e| e.value.as_int() == Some(0)) {
        return None;
    }
    Some(match age {
        Some(e) => seconds(e),
        None => Setting::default(Duration::from_secs(default.0), default.1),
    })
}

/// A number of seconds.
pub(super) fn seconds(entry: &Entry) -> Setting<Duration> {
    whole(&entry.value).map(Duration::from_secs)
}

/// As often as a wait fits into a time.
pub(super) fn within(deadline: Duration, wait: Duration) -> Attempts {
    let about = deadline.as_secs() / wait.as_secs().max(1);
    Attempts::Within { deadline, about: about.max(1) }
}

/// "30 s", "4 days".
pub(super) fn spoken(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        _ if s >= 86_400 && s.is_multiple_of(86_400) => plural(s / 86_400, "day"),
        _ if s >= 3600 && s.is_multiple_of(3600) => plural(s / 3600, "hour"),
        _ if s >= 120 && s.is_multiple_of(60) => format!("{} min", s / 60),
        _ => format!("{s} s"),
    }
}

fn plural(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
