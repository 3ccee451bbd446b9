//! `retries` of a route, the same message as the mesh's default, and what holds where neither is written.

use std::time::Duration;

use super::{ID, RETRY};
use crate::facts::MeshDefaultFact;
use crate::model::{Attempts, Conditions, Confidence, Inert, Mode, ModeSet, Pick, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Policy};
use crate::systems::retry_on::{self, Around, RetryOn};
use crate::systems::{duration, settings};

/// Reads `retries`, for a route with this limit on all tries.
pub(super) fn read(
    key: &Entry,
    overall: Option<&Setting<Duration>>,
    before_1_24: bool,
    inert: &mut Vec<Inert>,
) -> Policy {
    let node = &*key.value;
    let (attempts, words) = (written(node, "attempts"), written(node, "retryOn"));
    let words = words.filter(|e| !e.value.as_str().unwrap_or_default().trim().is_empty());
    let mut found = Vec::new();
    let per_try = envoy_based::per_try(written(node, "perTryTimeout"), overall, duration::proto, &mut found);
    let count = match attempts {
        Some(_) => Count::of(attempts, key, Setting::default(Attempts::Count(1), RETRY)),
        None => Count::off(key.key_span, format!("`{}` without `attempts`", key.key)),
    };
    let on = match words {
        Some(words) => {
            let around = Around { timeouts: per_try.is_some(), headers: false, numbers: true };
            let mut on = retry_on::read(&settings::list(&words.value), &[], around);
            on.inert.iter_mut().filter(|i| i.why.contains("knows no such condition")).for_each(|i| {
                i.why = "Istio knows no such condition: its admission refuses the resource, and Envoy passes over it"
                    .into();
            });
            on.inert.extend(blank(words));
            on
        }
        None => {
            let conditions = default_conditions(key.key_span, before_1_24);
            RetryOn { conditions, known: true, ..RetryOn::default() }
        }
    };
    let is_off = matches!(count.attempts, Setting::Written { value: Attempts::Count(1), .. });
    let mut policy = Policy::new(count, key, words, on, &mut found);
    policy.per_try = per_try;
    if let Some(backoff) = written(node, "backoff") {
        policy.wait = envoy_based::wait(backoff, Some(&backoff.value), None, duration::proto);
    }
    match attempts {
        // Settings of retries that somebody switched off mislead nobody.
        Some(_) if is_off => {}
        Some(_) => inert.append(&mut found),
        None => inert.extend(without_attempts(key)),
    }
    policy
}

/// A blank behind a comma, which Istio does not take.
fn blank(words: &Entry) -> Option<Inert> {
    let text = words.value.as_str()?;
    let has_blank = text.trim().split(',').skip(1).any(|part| part.starts_with(char::is_whitespace));
    let why = "a blank follows a comma, for which Istio's admission refuses the resource";
    let found = Inert::new(words.value.span, settings::quote(words), why).confidence(Confidence::Medium);
    has_blank.then(|| found.instead("Take the blanks out"))
}

/// Settings of retries without their number, which then is zero.
fn without_attempts(key: &Entry) -> Option<Inert> {
    key.value.entries().first()?;
    let why = "it sets no `attempts`, which then is 0: nothing is retried, not even by the mesh's default";
    let found = Inert::new(key.key_span, format!("`{}`", key.key), why);
    Some(found.instead("Set `attempts`, or take the block out to get the mesh's default"))
}

fn written<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entry(key).filter(|e| !e.value.is_null())
}

/// The policy of a route without `retries` in a mesh without a default of its own.
pub(super) fn absent(opens: Span, before_1_24: bool) -> Policy {
    let attempts = Setting::default(Attempts::Count(3), RETRY);
    Policy {
        count: Count { attempts, reading: String::new(), place: opens },
        wait: envoy_based::default_wait(),
        conditions: default_conditions(opens, before_1_24),
        per_try: None,
    }
}

/// The default that a mesh's settings give to every route without `retries`.
pub(super) fn mesh_default(key: &Entry, before_1_24: bool, inert: &mut Vec<Inert>) -> MeshDefaultFact {
    let mut found = Vec::new();
    let policy = read(key, None, before_1_24, &mut found);
    // Without settings it switches the retries of the mesh off, which is what it is for.
    inert.extend(found.into_iter().map(|i| i.of("the mesh's default policy")));
    MeshDefaultFact {
        system: ID,
        attempts: policy.count.attempts,
        wait: policy.wait.0,
        wait_place: policy.wait.1,
        retries: policy.conditions,
        per_try: policy.per_try,
        reading: match key.value.entry("attempts") {
            Some(count) => format!("{} of the mesh's `{}`", settings::quote(count), key.key),
            None => format!("the mesh's `{}` without `attempts`", key.key),
        },
        span: policy.count.place,
    }
}

/// The limit on one try, where it is shorter than that on all of them; else it has no effect.
pub(super) fn effective(
    per_try: Option<Setting<Duration>>,
    overall: Option<&Setting<Duration>>,
) -> Option<Setting<Duration>> {
    per_try.filter(|one| match (one.value(), overall.and_then(Setting::value)) {
        (Some(one), Some(all)) => one < all,
        _ => true,
    })
}

fn default_conditions(span: Span, before_1_24: bool) -> Conditions {
    let statuses = ModeSet::statuses(before_1_24.then_some(503));
    let modes = [Mode::Refused, Mode::Grpc(14), Mode::Grpc(1)].into_iter().collect::<ModeSet>().union(statuses);
    let pick = Pick { modes, span, text: "Istio's default conditions".to_string() };
    Conditions { yes: modes, picks: vec![pick], ..Conditions::default() }
}

/// The methods that every match of a route names.
pub(super) fn methods(route: &Node) -> Option<Vec<String>> {
    let matches = route.get("match")?.items();
    let one = |m: &Node| {
        let method = m.get("method")?;
        let text = method.get_any(&["exact", "regex"])?.as_str()?;
        let words: Vec<String> = text.trim_matches(['^', '$', '(', ')']).split('|').map(str::to_string).collect();
        words.iter().all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_uppercase())).then_some(words)
    };
    let named: Option<Vec<Vec<String>>> = matches.iter().map(|m| one(m)).collect();
    named.filter(|n| !n.is_empty()).map(|n| n.concat())
}
