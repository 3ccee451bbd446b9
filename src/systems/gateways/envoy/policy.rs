//! A retry policy, as it works on the routes that have it.

use super::headers::Headers;
use super::{ROUTE_PROTO, entry, get, items};
use crate::model::{Inert, Methods, Mode, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Policy};
use crate::systems::retry_on::{self, Around};
use crate::systems::{duration, settings};

/// A policy as a layer has it, with what only Envoy itself has settings for.
pub(in crate::systems) struct Read {
    pub policy: Policy,
    pub retry_after: Setting<bool>,
    pub methods: Methods,
    pub inert: Vec<Inert>,
}

/// Reads the policy under `key` for routes with this limit on all tries. `hedge`: the setting that sends another try
/// while the first still runs. `headers`: what the routes add to the requests themselves.
pub(in crate::systems) fn read(
    key: &Entry,
    overall: Option<&Setting<std::time::Duration>>,
    hedge: Option<&Entry>,
    headers: &Headers<'_>,
) -> Read {
    let node = &*key.value;
    let mut inert = Vec::new();
    let limit = ["per_try_timeout", "per_try_idle_timeout"].iter().find_map(|key| entry(node, key));
    let per_try = envoy_based::per_try(limit, overall, duration::proto, &mut inert);
    let written = || Count::of(entry(node, "num_retries"), key, envoy_based::one_retry());
    let count = headers.count().unwrap_or_else(written);
    let on = conditions(node, headers, per_try.is_some(), &mut inert);
    let words = entry(node, "retry_on").or(headers.words_entry());
    let mut policy = Policy::new(count, key, words, on, &mut inert);
    match hedge {
        Some(_) if per_try.is_some() => policy.conditions.yes.insert(Mode::Timeout),
        Some(hedge) if limit.is_none() => {
            let why = "another try starts when a limit on one try is reached, and there is no `per_try_timeout`";
            inert.push(
                Inert::new(hedge.key_span, settings::quote(hedge), why)
                    .instead("Set `per_try_timeout` in the retry policy"),
            );
        }
        _ => {}
    }
    if let Some(block) = entry(node, "retry_back_off") {
        let interval = |field| get(&block.value, field);
        policy.wait = envoy_based::wait(block, interval("base_interval"), interval("max_interval"), duration::proto);
        inert.extend(super::without_base(block));
    }
    policy.per_try = per_try;
    Read { policy, retry_after: retry_after(node), methods: methods(node), inert }
}

fn conditions(policy: &Node, added: &Headers<'_>, timeouts: bool, inert: &mut Vec<Inert>) -> retry_on::RetryOn {
    let mut words = get(policy, "retry_on").map(settings::list).unwrap_or_default();
    words.extend(added.words());
    let mut statuses: Vec<(u16, Span)> = items(policy, "retriable_status_codes")
        .take(settings::MAX_LIST)
        .filter_map(|n| Some((u16::try_from(n.as_int()?).ok()?, n.span)))
        .collect();
    statuses.extend(added.statuses());
    let headers = items(policy, "retriable_headers").next().is_some();
    let on = retry_on::read(&words, &statuses, Around { timeouts, headers, numbers: false });
    let names = |word: &str| words.iter().any(|(w, _)| *w == word);
    if on.known && !statuses.is_empty() && !names("retriable-status-codes") {
        inert.extend(entry(policy, "retriable_status_codes").map(envoy_based::unused_statuses));
    }
    if on.known && headers && !names("retriable-headers") {
        inert.extend(entry(policy, "retriable_headers").map(|e| {
            let why = "without the condition `retriable-headers` Envoy does not look at it";
            Inert::new(e.key_span, format!("`{}`", e.key), why).instead("Add `retriable-headers` to `retry_on`")
        }));
    }
    on
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

/// What Envoy takes and does nothing with, around the policy of a route or a virtual host.
pub(super) fn not_implemented(level: &Node) -> impl Iterator<Item = Inert> {
    let hedge = get(level, "hedge_policy");
    let fields = ["initial_requests", "additional_request_chance"];
    let of_hedge = hedge.into_iter().flat_map(move |h| fields.into_iter().filter_map(|field| entry(h, field)));
    entry(level, "retry_policy_typed_config").into_iter().chain(of_hedge).map(|e| {
        let why = "Envoy has the field and does not implement it";
        Inert::new(e.key_span, format!("`{}`", e.key), why)
    })
}

/// Another try while the first still runs is a retry, and there is no policy for any.
pub(super) fn hedge_without_policy(hedge: &Entry) -> Inert {
    let why = "another try starts as a retry does, and neither the route nor its virtual host has a `retry_policy`";
    Inert::new(hedge.key_span, settings::quote(hedge), why)
        .instead("Add a `retry_policy` with `per_try_timeout`, or take it out")
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
