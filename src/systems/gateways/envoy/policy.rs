//! A retry policy, as it works on the routes that have it.

use std::time::Duration;

use super::{ROUTE_PROTO, entry, get, items};
use crate::model::{Attempts, Conditions, Jitter, Methods, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::retry_on::{self, Around, RETRY_STATE, RetryOn};
use crate::systems::{duration, settings};

/// What a policy says, in the terms of a layer.
pub(super) struct Policy {
    pub attempts: Setting<Attempts>,
    /// What says how many, for a label; the layer's name follows.
    pub reading: String,
    pub place: Span,
    pub wait: Wait,
    pub wait_place: Option<Span>,
    pub jitter: Setting<Jitter>,
    pub conditions: Conditions,
    pub retry_after: Setting<bool>,
    pub methods: Methods,
    pub per_try: Option<Setting<Duration>>,
}

/// Reads the policy under `key` for routes with this limit on all tries.
pub(super) fn read(key: &Entry, overall: Option<&Setting<Duration>>, hedges: bool) -> Policy {
    let node = &*key.value;
    let per_try = per_try(node, overall);
    let mut on = conditions(node, per_try.is_some());
    if hedges && per_try.is_some() {
        on.conditions.yes.insert(crate::model::Mode::Timeout);
    }
    let count = entry(node, "num_retries");
    let opens = key.key_span;
    let (attempts, reading, place) = match count {
        _ if !on.known => {
            let place = entry(node, "retry_on").map_or(opens, |e| e.value.span);
            let reading = format!("`{}` without a condition that Envoy knows", key.key);
            (Setting::written(Attempts::Count(1), place), reading, place)
        }
        Some(count) => (settings::retries(count), settings::quote(count), count.value.span),
        None => (Setting::default(Attempts::Count(2), ROUTE_PROTO), format!("`{}` without a count", key.key), opens),
    };
    let (wait, wait_place) = wait(node);
    Policy {
        attempts,
        reading,
        place,
        wait,
        wait_place,
        jitter: Setting::default(Jitter::Full, RETRY_STATE),
        conditions: on.conditions,
        retry_after: retry_after(node),
        methods: methods(node),
        per_try,
    }
}

/// The limit on one try, where it has an effect: one that is not shorter than the limit on all tries has none.
fn per_try(policy: &Node, overall: Option<&Setting<Duration>>) -> Option<Setting<Duration>> {
    let written = ["per_try_timeout", "per_try_idle_timeout"].iter().find_map(|key| get(policy, key))?;
    let limit = settings::limit(written, duration::proto)?;
    match (limit.value(), overall.and_then(Setting::value)) {
        (Some(one), Some(all)) if one >= all => None,
        _ => Some(limit),
    }
}

fn conditions(policy: &Node, timeouts: bool) -> RetryOn {
    let words = get(policy, "retry_on").map(settings::list).unwrap_or_default();
    let statuses: Vec<(u16, Span)> = items(policy, "retriable_status_codes")
        .take(settings::MAX_LIST)
        .filter_map(|n| Some((u16::try_from(n.as_int()?).ok()?, n.span)))
        .collect();
    let headers = items(policy, "retriable_headers").next().is_some();
    retry_on::read(&words, &statuses, Around { timeouts, headers, numbers: false })
}

fn wait(policy: &Node) -> (Wait, Option<Span>) {
    let factor = Setting::default(2.0, RETRY_STATE);
    let Some(block) = entry(policy, "retry_back_off") else {
        let base = Setting::default(Duration::from_millis(25), RETRY_STATE);
        let cap = Setting::default(Some(Duration::from_millis(250)), RETRY_STATE);
        return (Wait::Exponential { base, factor, cap }, None);
    };
    let written = |key| {
        get(&block.value, key).map(|node| match duration::proto(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        })
    };
    let base = written("base_interval").unwrap_or_else(|| Setting::unknown("no base interval", Some(block.key_span)));
    let cap = match (written("max_interval"), base.value()) {
        (Some(cap), _) => cap.map(Some),
        (None, Some(base)) => Setting::default(Some(base.saturating_mul(10)), ROUTE_PROTO),
        (None, None) => Setting::unknown("10 times a base interval that is not known", None),
    };
    (Wait::Exponential { base, factor, cap }, Some(block.key_span))
}

/// The wait follows a header of the response where headers are named for it.
fn retry_after(policy: &Node) -> Setting<bool> {
    match entry(policy, "rate_limited_retry_back_off") {
        Some(block) if items(&block.value, "reset_headers").next().is_some() => Setting::written(true, block.key_span),
        _ => Setting::default(false, ROUTE_PROTO),
    }
}

/// Matchers on the request restrict a policy to some methods only if every one of them is on the method.
fn methods(policy: &Node) -> Methods {
    let matchers: Vec<&Node> = items(policy, "retriable_request_headers").collect();
    let named: Option<Vec<Vec<String>>> = matchers.iter().map(|m| header_methods(m)).collect();
    match named {
        _ if matchers.is_empty() => Methods::Any,
        Some(named) => Methods::Only(named.concat()),
        None => Methods::Unknown,
    }
}

/// The methods that a matcher on the header `:method` lets through.
pub(super) fn header_methods(matcher: &Node) -> Option<Vec<String>> {
    if get(matcher, "name")?.as_str()? != ":method"
        || get(matcher, "invert_match").and_then(Node::as_bool) == Some(true)
    {
        return None;
    }
    let text = get(matcher, "string_match").unwrap_or(matcher);
    let exact = get(text, "exact").or_else(|| get(text, "exact_match")).and_then(Node::as_str);
    let regex = ["safe_regex", "safe_regex_match"].iter().find_map(|k| get(text, k)?.get("regex")?.as_str());
    let pattern = exact.or(regex)?.trim_matches(['^', '$', '(', ')']);
    let words: Vec<String> = pattern.split('|').map(str::to_string).collect();
    words.iter().all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_uppercase())).then_some(words)
}
