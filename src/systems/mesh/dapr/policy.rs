//! Retry policies by name.

use std::time::Duration;

use super::{BACKOFF, KIT, TYPES};
use crate::model::{Attempts, Conditions, Confidence, Inert, Jitter, Mode, ModeSet, Pick, STATUSES, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Policy};
use crate::systems::{duration, settings};

/// How long an exponential policy without a count goes on.
const MAX_ELAPSED: Duration = Duration::from_secs(15 * 60);

/// A policy, with its jitter.
pub(super) struct Read {
    pub policy: Policy,
    pub jitter: Setting<Jitter>,
    pub inert: Vec<Inert>,
}

/// Reads the policy under `key`.
pub(super) fn read(key: &Entry) -> Read {
    let node = &*key.value;
    let field = |name: &str| node.entry(name).filter(|e| !e.value.is_null());
    let exponential =
        field("policy").and_then(|e| e.value.as_str()).is_some_and(|p| p.eq_ignore_ascii_case("exponential"));
    let mut inert = Vec::new();
    let unused = match exponential {
        true => field("duration").map(|e| (e, "an exponential policy starts with 500 ms, whatever this says")),
        false => field("maxInterval").map(|e| (e, "the waits of a constant policy do not grow")),
    };
    inert.extend(unused.map(|(e, why)| Inert::new(e.key_span, settings::quote(e), why)));
    let wait = wait(key, exponential);
    let place = ["duration", "maxInterval", "policy"].iter().find_map(|name| field(name)).map(|e| e.key_span);
    let jitter = match exponential {
        true => Setting::default(Jitter::Partial { low: 0.5, high: 1.5 }, BACKOFF),
        false => Setting::default(Jitter::None, KIT),
    };
    let count = count(key, exponential, &wait, &mut inert);
    inert.extend(blanks(key));
    let policy = Policy { count, wait: (wait, place), conditions: conditions(key), per_try: None };
    Read { policy, jitter, inert }
}

fn read_duration(entry: &Entry) -> Setting<Duration> {
    match envoy_based::go(&entry.value).or_else(|| duration::millis(entry.value.as_f64()?)) {
        Some(d) => Setting::written(d, entry.value.span),
        None => Setting::unknown("not a duration", Some(entry.value.span)),
    }
}

fn wait(key: &Entry, exponential: bool) -> Wait {
    let written = |name: &str| key.value.entry(name).filter(|e| !e.value.is_null()).map(read_duration);
    if exponential {
        return Wait::Exponential {
            base: Setting::default(Duration::from_millis(500), KIT),
            factor: Setting::default(1.5, KIT),
            cap: written("maxInterval").unwrap_or_else(|| Setting::default(Duration::from_secs(60), KIT)).map(Some),
        };
    }
    match written("duration").unwrap_or_else(|| Setting::default(Duration::from_secs(5), KIT)) {
        Setting::Written { value, .. } if value.is_zero() => Wait::None,
        wait => Wait::Fixed(wait),
    }
}

/// Without a count, or with a negative one, there is no limit; an exponential policy then ends after 15 minutes.
fn count(key: &Entry, exponential: bool, wait: &Wait, inert: &mut Vec<Inert>) -> Count {
    let entry = key.value.entry("maxRetries").filter(|e| !e.value.is_null());
    let endless = |limit: Setting<Duration>| match exponential {
        true => Attempts::within(&limit, wait, 1.0),
        false => limit.map(|_| Attempts::Unbounded),
    };
    let built_in = key.key.starts_with("DaprBuiltIn");
    match entry.map(|e| (e, e.value.as_int())) {
        Some((e, Some(n))) if built_in && n < 3 => {
            let why = "Dapr sets what is less than 3 here, -1 too, back to 3";
            inert.push(Inert::new(e.key_span, settings::quote(e), why));
            Count {
                attempts: Setting::default(Attempts::Count(4), KIT),
                reading: settings::quote(e),
                place: e.value.span,
            }
        }
        Some((e, Some(n))) if n < 0 => Count {
            attempts: endless(Setting::written(MAX_ELAPSED, e.value.span)),
            reading: settings::quote(e),
            place: e.value.span,
        },
        Some((e, _)) => Count::of(Some(e), key, Setting::default(Attempts::Unbounded, TYPES)),
        None => Count {
            attempts: endless(Setting::default(MAX_ELAPSED, TYPES)),
            reading: format!("`{}` without `maxRetries`", key.key),
            place: key.key_span,
        },
    }
}

/// Every error, unless the policy lists codes: of a kind for which it lists none, every code counts.
fn conditions(key: &Entry) -> Conditions {
    let Some(matching) = key.value.entry("matching").filter(|e| !e.value.entries().is_empty()) else {
        let modes = ModeSet::all();
        let pick =
            Pick { modes, span: key.key_span, text: format!("`{}` without `matching`", settings::shown(&key.key)) };
        return Conditions { yes: modes, picks: vec![pick], any_error: Some(key.key_span), ..Conditions::default() };
    };
    let mut out = Conditions::default();
    let mut add = |modes: ModeSet, span: Span, text: String| {
        out.yes = out.yes.union(modes);
        out.picks.push(Pick { modes, span, text });
    };
    add(ModeSet::transport(), matching.key_span, "what has no code".to_string());
    let list = |name: &str| matching.value.entry(name).filter(|e| !e.value.is_null());
    match list("httpStatusCodes") {
        Some(codes) => {
            for (word, span, range) in ranges(&codes.value) {
                add(ModeSet::statuses(range), span, format!("`{}`", settings::shown(word)));
            }
        }
        None => add(ModeSet::statuses(STATUSES), matching.key_span, "every status".to_string()),
    }
    match list("gRPCStatusCodes") {
        Some(codes) => {
            for (word, span, range) in ranges(&codes.value) {
                let modes = Mode::grpc().filter(|m| matches!(m, Mode::Grpc(n) if range.contains(&u16::from(*n))));
                add(modes.collect(), span, format!("`{}`", settings::shown(word)));
            }
        }
        // Nobody picked them, and the target may not speak gRPC at all.
        None => out.yes = out.yes.union(Mode::grpc().collect()),
    }
    out
}

/// Lists with a blank in them, which Dapr does not take.
fn blanks(key: &Entry) -> Vec<Inert> {
    let matching = key.value.get("matching");
    let lists = ["httpStatusCodes", "gRPCStatusCodes"].into_iter().filter_map(|name| matching?.entry(name));
    let blank = lists.filter(|e| e.value.as_str().is_some_and(|t| t.trim().contains(char::is_whitespace)));
    blank
        .map(|e| {
            let why = "Dapr takes numbers and ranges with commas between them, and no blanks";
            let found = Inert::new(e.value.span, settings::quote(e), why).confidence(Confidence::Medium);
            found.instead("Take the blanks out")
        })
        .collect()
}

/// "429,500-504"
fn ranges(node: &Node) -> Vec<(&str, Span, std::ops::RangeInclusive<u16>)> {
    let parts = settings::list(node).into_iter().filter_map(|(word, span)| {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        Some((word, span, from.parse().ok()?..=to.parse().ok()?))
    });
    parts.collect()
}
