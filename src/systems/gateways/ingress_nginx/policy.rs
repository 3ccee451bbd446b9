//! The settings that an Ingress's annotations and the controller's ConfigMap share.

use std::time::Duration;

use super::CONFIG;
use crate::model::{Attempts, Conditions, Inert, Methods, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::next_upstream::{self, NextUpstream};
use crate::systems::settings;

/// What the settings say, in the terms of a layer.
pub(super) struct Policy {
    pub attempts: Setting<Attempts>,
    pub place: Span,
    pub reading: String,
    /// Whether any of the settings about retries is written.
    pub asked_for: bool,
    pub conditions: Conditions,
    pub methods: Methods,
    pub per_try: Setting<Duration>,
    pub overall: Option<Setting<Duration>>,
    /// Settings without effect.
    pub inert: Vec<Inert>,
}

impl Policy {
    /// Reads the settings. `everywhere`: they are the controller's, where `retry-non-idempotent` counts too.
    pub(super) fn read<'n>(name: &str, opens: Span, get: impl Fn(&str) -> Option<&'n Entry>, everywhere: bool) -> Self {
        let conditions = conditions(get("proxy-next-upstream"), opens);
        let tries = get("proxy-next-upstream-tries");
        let overall = get("proxy-next-upstream-timeout").and_then(|e| settings::limit(&e.value, seconds));
        let (attempts, place, reading) = count(name, opens, tries, overall.as_ref(), &conditions);
        let switch = get("retry-non-idempotent").filter(|e| everywhere && e.value.as_bool() == Some(true));
        let allowed = conditions.non_idempotent.or_else(|| switch.map(|e| e.key_span));
        Self {
            attempts,
            place,
            reading,
            asked_for: ["proxy-next-upstream", "proxy-next-upstream-tries", "proxy-next-upstream-timeout"]
                .iter()
                .any(|key| get(key).is_some())
                || switch.is_some(),
            conditions: conditions.conditions,
            methods: next_upstream::methods(allowed),
            per_try: per_try(get("proxy-read-timeout")),
            inert: inert(&get, everywhere),
            overall,
        }
    }
}

/// Settings that the controller passes over.
fn inert<'n>(get: &impl Fn(&str) -> Option<&'n Entry>, everywhere: bool) -> Vec<Inert> {
    let mut out = Vec::new();
    if let Some(list) = get("proxy-next-upstream") {
        let words = next_upstream::words(&list.value);
        let unknown = words.iter().find(|(word, _)| !is_known(word));
        if let (Some((word, span)), false) = (unknown, everywhere) {
            let why = "it is none of the controller's conditions, and one such word makes it drop the whole list";
            let known = "error, timeout, invalid_header, http_500, http_502, http_503, http_504, http_403, http_404, \
                         http_429, non_idempotent or off";
            let found = Inert::new(*span, format!("`{}`", settings::shown(word)), why);
            out.push(found.instead(format!("Write {known}, with a blank between two")));
        } else if !words.is_empty() && words.iter().all(|(word, _)| *word == "non_idempotent") {
            let why = "it widens the other conditions, and there is none, so nothing is retried";
            out.push(
                Inert::new(list.value.span, "`non_idempotent`", why)
                    .instead("Name conditions beside it, such as `error timeout`"),
            );
        }
    }
    if let (Some(entry), false) = (get("retry-non-idempotent"), everywhere) {
        let why = "there is no such annotation; the setting is one of the controller's ConfigMap, for all Ingresses";
        let found = Inert::new(entry.key_span, settings::quote(entry), why);
        out.push(found.instead("For one Ingress, name `non_idempotent` in `proxy-next-upstream`"));
    }
    out
}

/// Tries in all; the first counts. Zero lifts the limit.
fn count(
    name: &str,
    opens: Span,
    tries: Option<&Entry>,
    overall: Option<&Setting<Duration>>,
    words: &NextUpstream,
) -> (Setting<Attempts>, Span, String) {
    if let Some(off) = words.off {
        return (Setting::written(Attempts::Count(1), off), off, format!("`proxy-next-upstream: off` on {name}"));
    }
    let Some(entry) = tries else {
        let reading = format!("{name}, which sets no `proxy-next-upstream-tries`");
        return (Setting::default(Attempts::Count(3), CONFIG), opens, reading);
    };
    let span = entry.value.span;
    let attempts = match (entry.value.as_int(), overall) {
        (Some(0), None) => Setting::written(Attempts::Unbounded, span),
        (Some(0), Some(_)) => {
            Setting::unknown("has no count, and a time limit into which any number of quick tries fits", Some(span))
        }
        (Some(n), _) if n > 0 => Setting::written(Attempts::Count(n.unsigned_abs()), span),
        _ => Setting::unknown(format!("`{}` is not a whole number here", entry.key), Some(span)),
    };
    let text = entry.value.as_str().unwrap_or_default();
    (attempts, span, format!("`proxy-next-upstream-tries: {text}` on {name}"))
}

/// Seconds, without a unit.
fn seconds(node: &Node) -> Option<Duration> {
    let text = node.as_str()?.trim();
    let number: u32 = text.strip_suffix('s').unwrap_or(text).parse().ok()?;
    Some(Duration::from_secs(u64::from(number)))
}

fn per_try(read: Option<&Entry>) -> Setting<Duration> {
    match read.map(|e| (seconds(&e.value), e.value.span)) {
        None => Setting::default(Duration::from_secs(60), CONFIG),
        Some((Some(d), span)) => Setting::written(d, span),
        Some((None, span)) => Setting::unknown("not a number of seconds", Some(span)),
    }
}

/// A list with a word that is not one of nginx's is refused whole, and the default holds.
fn conditions(entry: Option<&Entry>, opens: Span) -> NextUpstream {
    let words = entry.map_or_else(Vec::new, |e| next_upstream::words(&e.value));
    let known = words.iter().all(|(word, _)| is_known(word)).then(|| NextUpstream::read(&words)).flatten();
    known.unwrap_or_else(|| NextUpstream::by_default(opens))
}

/// Not every word of nginx's is one that the controller takes.
fn is_known(word: &str) -> bool {
    let others = ["invalid_response", "not_found", "updating", "denied"];
    !others.contains(&word) && next_upstream::modes(word).is_some()
}
