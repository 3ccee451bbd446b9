//! The middlewares and services that send a request again, as layers.

use std::time::Duration;

use super::dynamic::{field, words};
use super::{BACKOFF, BUFFER, ID, RETRY, expression};
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Inert, Jitter, Layer, Methods, Mode, ModeSet, Pick, STATUSES,
    Setting, Wait,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::duration::go_or_seconds;
use crate::systems::gateways::base;
use crate::systems::settings;

/// The layers of a middleware; one kind of middleware is the rule, and nothing stops anybody from writing two.
pub(super) fn layers(name: &str, id: &str, middleware: &Node, is_old: bool) -> Vec<Layer> {
    let retry = field(middleware, "retry").map(|e| retry(name, id, e, is_old));
    let buffering = field(middleware, "buffering").and_then(|e| buffering(name, id, e));
    retry.into_iter().chain(buffering).collect()
}

/// What is written in a middleware and does nothing, or worse.
pub(super) fn inert(name: &str, middleware: &Node) -> Vec<Inert> {
    let Some(retry) = field(middleware, "retry") else { return Vec::new() };
    let owner = format!("Traefik retry {name}");
    let mut out = Vec::new();
    if let Some(switch) = without_anything(&retry.value) {
        let why =
            "without `status` nothing is left to retry, the middleware cannot be built, and its routers answer 404";
        let inert = Inert::new(switch.key_span, settings::quote(switch), why).of(&owner);
        out.push(inert.instead("List the statuses that can pass in `status`, or take it out"));
    } else if field(&retry.value, "attempts").is_none() {
        let why = "it sets no `attempts`, and without it Traefik refuses it";
        let inert = Inert::new(retry.key_span, format!("`{}`", retry.key), why).of(&owner);
        out.push(inert.instead("Set `attempts`, which counts the first try"));
    } else if let Some(attempts) = field(&retry.value, "attempts").filter(|e| e.value.as_int().is_some_and(|n| n < 1)) {
        let why = "the middleware cannot be built with it, and its routers answer 404";
        let inert = Inert::new(attempts.value.span, settings::quote(attempts), why).of(&owner);
        out.push(inert.instead("Count the first try: 1 is no retry, 3 are two retries"));
    } else if field(&retry.value, "attempts").is_some_and(|e| e.value.as_int() == Some(1)) {
        let others = ["initialInterval", "status", "timeout", "retryNonIdempotentMethod"];
        for entry in others.iter().filter_map(|key| field(&retry.value, key)) {
            let why = "`attempts: 1` is the first try, and there is no other";
            let setting = format!("`{}`", entry.key);
            out.push(Inert::new(entry.key_span, setting, why).of(&owner).instead("Set `attempts` to 2 or 3"));
        }
    }
    out
}

/// The switch that leaves a middleware nothing to retry: no faults of the network, and no statuses are listed.
fn without_anything(retry: &Node) -> Option<&Entry> {
    let has_status = field(retry, "status").is_some_and(|e| !words(&e.value).is_empty());
    field(retry, "disableRetryOnNetworkError").filter(|e| e.value.as_bool() == Some(true) && !has_status)
}

/// A layer with its hops.
pub(super) fn on_hops(layer: Layer, gateway: GatewayName, to: Vec<HostRef>) -> Layer {
    Layer { scope: base::hops(vec![gateway], to), ..layer }
}

fn retry(name: &str, id: &str, entry: &Entry, is_old: bool) -> Layer {
    let name = format!("Traefik retry {name}");
    let opens = entry.key_span;
    let get = |key: &str| field(&entry.value, key);
    let newer = |key: &str| get(key).filter(|_| !is_old);
    let count = get("attempts");
    let attempts = match count {
        _ if !is_old && without_anything(&entry.value).is_some() => Setting::written(Attempts::Count(1), opens),
        // Tries in all; the middleware of one that is less than 1 cannot be built.
        Some(e) => match e.value.as_int() {
            Some(n) => Setting::written(Attempts::Count(u64::try_from(n).unwrap_or(1).max(1)), e.value.span),
            None => Setting::unknown(
                format!("`{}` is not a whole number here", settings::shown(&e.key)),
                Some(e.value.span),
            ),
        },
        None => Setting::default(Attempts::Count(1), RETRY),
    };
    let reading = match count {
        Some(e) => format!("{} on {name}", settings::quote(e)),
        None => format!("{name}, which sets no `attempts`"),
    };
    let interval = get("initialInterval").filter(|e| go_or_seconds(&e.value) != Some(Duration::ZERO));
    let methods = match newer("retryNonIdempotentMethod").filter(|e| e.value.as_bool() == Some(true)) {
        Some(e) => base::all_methods(e.key_span),
        None if newer("status").is_some() => base::idempotent(),
        None => Methods::Any,
    };
    Layer {
        reading,
        place: count.map_or(opens, |e| e.value.span),
        asked_for: true,
        wait: interval.map_or(Wait::None, |e| wait(&e.value, &attempts)),
        wait_place: interval.map(|e| e.key_span),
        jitter: match interval {
            Some(_) => Setting::default(Jitter::Partial { low: 0.5, high: 1.5 }, BACKOFF),
            None => Setting::default(Jitter::None, RETRY),
        },
        attempts,
        retries: conditions(opens, newer("status"), newer("disableRetryOnNetworkError")),
        methods,
        overall: newer("timeout").and_then(|e| settings::limit(&e.value, go_or_seconds)),
        advice: advice(),
        ..base::layer(ID, id.into(), name, opens, RETRY)
    }
}

/// The waits grow so that the last one stays below twice the first.
fn wait(node: &Node, attempts: &Setting<Attempts>) -> Wait {
    let base = match go_or_seconds(node) {
        Some(d) => Setting::written(d, node.span),
        None => Setting::unknown("`initialInterval` is not a duration here", Some(node.span)),
    };
    let count = attempts.value().and_then(|a| a.count());
    let factor = match count {
        Some(n) if n > 1 => Setting::default(2f64.powf(1.0 / (n - 1) as f64), RETRY),
        _ => Setting::unknown("depends on `attempts`", None),
    };
    Wait::Exponential { base, factor, cap: Setting::default(Some(Duration::from_secs(60)), BACKOFF) }
}

/// What was not sent is tried again unless that is switched off; statuses are as listed, those that Traefik answers
/// itself among them.
fn conditions(opens: Span, status: Option<&Entry>, switch: Option<&Entry>) -> Conditions {
    let mut out = status.map_or_else(Conditions::default, |e| statuses(&e.value));
    let is_off = switch.is_some_and(|e| e.value.as_bool() == Some(true));
    if !is_off && !out.yes.contains(Mode::Refused) {
        let modes = one(Mode::Refused);
        out.yes = out.yes.union(modes);
        out.picks.insert(0, Pick { modes, span: opens, text: "the default".to_string() });
    }
    out
}

/// A list of statuses and ranges. Traefik answers 502 for a refused connection and 504 for an answer that does not come.
fn statuses(list: &Node) -> Conditions {
    let mut out = Conditions::default();
    for (word, span) in words(list) {
        let Some(mut modes) = range(word) else {
            // A template, or a mistake for which Traefik refuses the router.
            out.unknown = out.unknown.union(ModeSet::statuses(STATUSES));
            continue;
        };
        for (status, fault) in [(502, Mode::Refused), (504, Mode::Timeout)] {
            if modes.contains(Mode::Status(status)) {
                modes.insert(fault);
            }
        }
        out.yes = out.yes.union(modes);
        out.picks.push(Pick { modes, span, text: format!("`{}`", settings::shown(word)) });
    }
    out
}

fn range(word: &str) -> Option<ModeSet> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    Some(ModeSet::statuses(first..=last.min(999)))
}

fn one(mode: Mode) -> ModeSet {
    [mode].into_iter().collect()
}

fn buffering(name: &str, id: &str, entry: &Entry) -> Option<Layer> {
    let expression = field(&entry.value, "retryExpression")?;
    let text = expression.value.as_str().filter(|t| !t.is_empty())?;
    let name = format!("Traefik buffering {name}");
    let span = expression.value.span;
    let conditions = |yes: ModeSet, unknown: ModeSet| Conditions {
        yes,
        unknown,
        picks: vec![Pick { modes: yes, span, text: "the expression".to_string() }],
        ..Conditions::default()
    };
    let (attempts, retries, methods) = match expression::read(text) {
        Some(reading) => {
            let count = Attempts::Count(reading.attempts);
            let attempts = if text.contains("Attempts()") {
                Setting::written(count, span)
            } else {
                Setting::default(count, BUFFER)
            };
            let methods = reading.methods.into_iter().map(String::from).collect();
            (attempts, conditions(reading.modes, ModeSet::EMPTY), Methods::Written { methods, span })
        }
        None => {
            let why = "the expression is not one that can be read";
            let all = ModeSet::statuses(STATUSES).union(ModeSet::transport());
            (Setting::unknown(why, Some(span)), conditions(ModeSet::EMPTY, all), Methods::Unknown)
        }
    };
    let is_known = attempts.value().is_some();
    Some(Layer {
        reading: format!("{} on {name}", settings::quote(expression)),
        place: span,
        asked_for: true,
        attempts,
        retries,
        methods,
        advice: Advice {
            fewer: Some("add `&& Attempts() < 2` to the expression".to_string()),
            limit: Some("add `&& Attempts() < 3` to the expression".to_string()),
            wait: is_known.then(|| "use the retry middleware with an `initialInterval` instead".to_string()),
            statuses: Some("test for 502, 503 and 504 only".to_string()),
            ..Advice::default()
        },
        ..base::layer(ID, id.into(), name, entry.key_span, BUFFER)
    })
}

/// One more try against another service when the first answers one of these statuses.
pub(super) fn failover(name: &str, id: String, failover: &Entry) -> Option<Layer> {
    let errors = field(&failover.value, "errors")?;
    let status = field(&errors.value, "status")?;
    let opens = failover.key_span;
    Some(Layer {
        reading: format!("`errors` on {name}"),
        place: errors.key_span,
        asked_for: true,
        attempts: Setting::written(Attempts::Count(2), errors.key_span),
        retries: statuses(&status.value),
        advice: Advice {
            none: Some("leave `errors` out, and fail over by health checks alone".to_string()),
            statuses: Some("list 502, 503 and 504 only".to_string()),
            ..Advice::default()
        },
        ..base::layer(ID, id.into(), name.to_string(), opens, RETRY)
    })
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `attempts` to 1, or take the middleware off the router"),
        limit: some("set `attempts` to 2 or 3"),
        wait: some("set `initialInterval`, such as `100ms`"),
        statuses: some("list 502, 503 and 504 in `status`"),
        ..Advice::default()
    }
}
