//! `retries` of a route, the same message as the mesh's default, and what holds where neither is written.

use std::time::Duration;

use super::{ID, RETRY};
use crate::facts::MeshDefaultFact;
use crate::model::{Attempts, Conditions, Mode, ModeSet, Pick, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::retry_on::{self, Around, RETRY_STATE};
use crate::systems::{duration, settings};

/// What a policy says, in the terms of a layer.
pub(super) struct Policy {
    pub attempts: Setting<Attempts>,
    /// What says how many, for a label.
    pub reading: String,
    pub place: Span,
    pub wait: Wait,
    pub wait_place: Option<Span>,
    pub conditions: Conditions,
    pub per_try: Option<Setting<Duration>>,
}

/// Reads `retries`, for a route with this limit on all tries.
pub(super) fn read(key: &Entry, overall: Option<&Setting<Duration>>, before_1_24: bool) -> Policy {
    let node = &*key.value;
    let per_try = node.get("perTryTimeout").and_then(|n| settings::limit(n, duration::proto));
    let per_try = effective(per_try, overall);
    let has_limit = per_try.is_some();
    let (attempts, reading, place) = match node.entry("attempts").filter(|e| !e.value.is_null()) {
        Some(count) => (settings::retries(count), settings::quote(count), count.value.span),
        None => {
            let reading = format!("`{}` without `attempts`", key.key);
            (Setting::written(Attempts::Count(1), key.key_span), reading, key.key_span)
        }
    };
    let (wait, wait_place) = wait(node.entry("backoff"));
    let policy = |conditions| Policy { attempts, reading, place, wait, wait_place, conditions, per_try };
    match node.entry("retryOn").filter(|e| !e.value.as_str().unwrap_or_default().trim().is_empty()) {
        Some(words) => {
            let around = Around { timeouts: has_limit, headers: false, numbers: true };
            let on = retry_on::read(&settings::list(&words.value), &[], around);
            let policy = policy(on.conditions);
            if on.known { policy } else { without_conditions(policy, words) }
        }
        None => policy(default_conditions(key.key_span, before_1_24)),
    }
}

/// Words of which Envoy knows none: it then retries nothing.
fn without_conditions(policy: Policy, words: &Entry) -> Policy {
    let place = words.value.span;
    let reading = format!("{} without a condition that Envoy knows", settings::quote(words));
    Policy { attempts: Setting::written(Attempts::Count(1), place), reading, place, ..policy }
}

/// The policy of a route without `retries` in a mesh without a default of its own.
pub(super) fn absent(opens: Span, before_1_24: bool) -> Policy {
    let (wait, wait_place) = wait(None);
    Policy {
        attempts: Setting::default(Attempts::Count(3), RETRY),
        reading: String::new(),
        place: opens,
        wait,
        wait_place,
        conditions: default_conditions(opens, before_1_24),
        per_try: None,
    }
}

/// The default that a mesh's settings give to every route without `retries`.
pub(super) fn mesh_default(key: &Entry, before_1_24: bool) -> MeshDefaultFact {
    let policy = read(key, None, before_1_24);
    MeshDefaultFact {
        system: ID,
        attempts: policy.attempts,
        wait: policy.wait,
        wait_place: policy.wait_place,
        retries: policy.conditions,
        per_try: policy.per_try,
        reading: match key.value.entry("attempts") {
            Some(count) => format!("{} of the mesh's `{}`", settings::quote(count), key.key),
            None => format!("the mesh's `{}` without `attempts`", key.key),
        },
        span: policy.place,
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

/// `backoff` is the first wait; the cap is Envoy's, 10 times as long.
fn wait(backoff: Option<&Entry>) -> (Wait, Option<Span>) {
    let base = match backoff.filter(|e| !e.value.is_null()) {
        None => Setting::default(Duration::from_millis(25), RETRY_STATE),
        Some(e) => match duration::proto(&e.value) {
            Some(d) => Setting::written(d, e.value.span),
            None => Setting::unknown("not a duration", Some(e.value.span)),
        },
    };
    let cap = match base.value() {
        Some(d) => Setting::default(Some(d.saturating_mul(10)), RETRY_STATE),
        None => Setting::unknown("10 times a wait that is not known", None),
    };
    let factor = Setting::default(2.0, RETRY_STATE);
    (Wait::Exponential { base, factor, cap }, backoff.map(|e| e.key_span))
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
