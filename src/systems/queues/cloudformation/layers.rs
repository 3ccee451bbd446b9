//! What the layers of AWS have in common.

use std::time::Duration;

use super::template::number;
use crate::model::{
    Advice, Attempts, Conditions, Confidence, Layer, LayerKind, Methods, ModeSet, Purpose, Scope, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::Entry;

/// A redelivery whose schedule the platform fixes: nothing about its waits can be set, so no rule about waits speaks.
pub(super) fn redelivery(
    system: &'static str,
    (id, name): (String, String),
    opens: Span,
    attempts: Setting<Attempts>,
    scope: Scope,
) -> Layer {
    Layer {
        id: id.into(),
        system,
        kind: LayerKind::Queue,
        reading: name.clone(),
        name,
        place: opens,
        opens,
        component: None,
        scope,
        asked_for: !attempts.is_default(),
        attempts,
        wait: Wait::Unknown { why: "the platform sets it".to_owned() },
        wait_place: None,
        jitter: Setting::unknown("the platform sets it", None),
        retries: Conditions { yes: ModeSet::all(), ..Conditions::default() },
        retry_after: Setting::unknown("a message has no response", None),
        methods: Methods::Unknown,
        per_try: None,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
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
    number(&entry.value).map(|n| Duration::try_from_secs_f64(n).unwrap_or_default())
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
