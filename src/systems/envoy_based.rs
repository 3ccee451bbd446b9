//! What all systems share that leave retrying to Envoy: waits, limits and conditions end up as Envoy's, whatever their
//! own names for them.

use std::time::Duration;

use super::retry_on::{RETRY_STATE, RetryOn};
use super::settings;
use crate::model::{
    Advice, Attempts, Callers, Conditions, Confidence, GatewayName, HostRef, Inert, Jitter, Layer, LayerKind, Methods,
    Mode, ModeSet, Purpose, Scope, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};

/// Where Envoy's own figures stand.
pub(super) const ROUTE_PROTO: &str = "envoyproxy/data-plane-api envoy/config/route/v3/route_components.proto";
/// Where it is written how Envoy draws its waits.
pub(super) const BACKOFF: &str = "envoyproxy/envoy source/common/common/backoff_strategy.cc";

/// How often a policy tries, and what says so.
#[derive(Debug, Clone)]
pub(super) struct Count {
    /// Tries in all.
    pub attempts: Setting<Attempts>,
    /// What says so, for a label; the layer's name follows.
    pub reading: String,
    /// The count's place, else that of what opens the policy.
    pub place: Span,
}

impl Count {
    /// A written number of retries, or the default.
    pub(super) fn of(count: Option<&Entry>, opens: &Entry, default: Setting<Attempts>) -> Self {
        match count.filter(|e| !e.value.is_null()) {
            Some(entry) => {
                Self { attempts: settings::retries(entry), reading: settings::quote(entry), place: entry.value.span }
            }
            None => {
                Self { attempts: default, reading: format!("`{}` without a count", opens.key), place: opens.key_span }
            }
        }
    }

    /// One try only, because of what stands there.
    pub(super) fn off(place: Span, reading: impl Into<String>) -> Self {
        Self { attempts: Setting::written(Attempts::Count(1), place), reading: reading.into(), place }
    }
}

/// Envoy's default: one retry.
pub(super) fn one_retry() -> Setting<Attempts> {
    Setting::default(Attempts::Count(2), ROUTE_PROTO)
}

/// What a policy says, in the terms of a layer.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    /// The count.
    pub count: Count,
    /// The wait between tries, and where it is set.
    pub wait: (Wait, Option<Span>),
    /// What is retried.
    pub conditions: Conditions,
    /// Limit on one try, where it has an effect.
    pub per_try: Option<Setting<Duration>>,
}

impl Policy {
    /// A policy with these conditions. Without a condition that Envoy knows it retries nothing: `words` then is what
    /// the list stands in, if there is one.
    pub(super) fn new(count: Count, opens: &Entry, words: Option<&Entry>, on: RetryOn, inert: &mut Vec<Inert>) -> Self {
        let count = if on.known { count } else { without_conditions(count, opens, words, inert) };
        inert.extend(on.inert);
        Self { count, wait: default_wait(), conditions: on.conditions, per_try: None }
    }
}

/// A policy of which Envoy knows no condition.
fn without_conditions(count: Count, opens: &Entry, words: Option<&Entry>, inert: &mut Vec<Inert>) -> Count {
    let words = words.filter(|e| !e.value.is_null() && !matches!(e.value.as_str().map(str::trim), Some("")));
    if words.is_none() && !matches!(count.attempts, Setting::Written { value: Attempts::Count(1), .. }) {
        let written = matches!(count.attempts, Setting::Written { .. });
        let setting = if written { count.reading.clone() } else { format!("`{}`", opens.key) };
        let why = "nothing says what to retry, and without a condition Envoy does not retry at all";
        inert.push(
            Inert::new(count.place, setting, why)
                .instead("Name the conditions, such as connect-failure and refused-stream, or take the policy out"),
        );
    }
    let place = words.map_or(opens.key_span, |e| e.value.span);
    Count::off(place, format!("`{}` without a condition that Envoy knows", opens.key))
}

/// The wait of a policy that sets none: 25 ms, doubling, at most 250 ms.
pub(super) fn default_wait() -> (Wait, Option<Span>) {
    let base = Setting::default(Duration::from_millis(25), RETRY_STATE);
    (exponential(base, Setting::default(Some(Duration::from_millis(250)), RETRY_STATE)), None)
}

/// A wait that doubles from `base` up to `cap`; without one, up to ten times the base.
pub(super) fn wait(
    block: &Entry,
    base: Option<&Node>,
    cap: Option<&Node>,
    parse: fn(&Node) -> Option<Duration>,
) -> (Wait, Option<Span>) {
    let read = |node: &Node| match parse(node) {
        // Envoy counts in whole milliseconds, one at least.
        Some(d) if !d.is_zero() => Setting::written(d.max(Duration::from_millis(1)), node.span),
        Some(d) => Setting::written(d, node.span),
        None => Setting::unknown("not a duration", Some(node.span)),
    };
    let base = base.map_or_else(|| Setting::unknown("no base interval", Some(block.key_span)), read);
    let cap = match (cap.map(read), base.value()) {
        (Some(cap), _) => cap.map(Some),
        (None, Some(base)) => Setting::default(Some(base.saturating_mul(10)), ROUTE_PROTO),
        (None, None) => Setting::unknown("10 times a base interval that is not known", None),
    };
    (exponential(base, cap), Some(block.key_span))
}

fn exponential(base: Setting<Duration>, cap: Setting<Option<Duration>>) -> Wait {
    Wait::Exponential { base, factor: Setting::default(2.0, RETRY_STATE), cap }
}

/// The limit on all tries of a route that sets none.
pub(super) fn default_overall() -> Setting<Duration> {
    Setting::default(Duration::from_secs(15), ROUTE_PROTO)
}

/// The limit on one try, where it has an effect: Envoy passes over one that is not shorter than the limit on all tries.
pub(super) fn per_try(
    entry: Option<&Entry>,
    overall: Option<&Setting<Duration>>,
    parse: fn(&Node) -> Option<Duration>,
    inert: &mut Vec<Inert>,
) -> Option<Setting<Duration>> {
    let entry = entry.filter(|e| !e.value.is_null())?;
    let limit = settings::limit(&entry.value, parse)?;
    match (limit.value(), overall.and_then(|all| Some((all.value()?, all.span())))) {
        (Some(one), Some((all, place))) if one >= all => {
            let which = if place.is_some() { "" } else { ", the default," };
            let why = format!(
                "the limit of {} on all tries together{which} ends the request first, so no try is cut off and repeated",
                shown(*all)
            );
            let setting = match entry.value.scalar() {
                Some(_) => settings::quote(entry),
                None => format!("`{}`", entry.key),
            };
            let found = Inert::new(entry.key_span, setting, why)
                .instead("Make it so short that all tries and waits fit into the limit on the whole");
            inert.push(match place {
                Some(place) => found.because(place, format!("{} for all tries together", shown(*all))),
                None => found,
            });
            None
        }
        _ => Some(limit),
    }
}

/// Gives a layer the limit on all its tries, once joining knows it: a limit on one try, under `key`, that is not shorter has
/// no effect then, and tries that take too long are not repeated.
pub(super) fn bound(layer: &mut Layer, overall: Option<Setting<Duration>>, key: &str, inert: &mut Vec<Inert>) {
    let one = layer.per_try.as_ref().and_then(Setting::value).copied();
    let all = overall.as_ref().and_then(|all| Some((*all.value()?, all.span())));
    layer.overall = overall;
    let (Some(one), Some((all, place))) = (one, all) else { return };
    if one < all {
        return;
    }
    if let Some(written) = layer.per_try.as_ref().and_then(Setting::span).filter(|_| layer.is_active()) {
        let which = if place.is_some() { "" } else { ", the default," };
        let why = format!(
            "the limit of {} on all tries together{which} ends the request first, so no try is cut off and repeated",
            shown(all)
        );
        let found = Inert::new(written, format!("`{key}` of {}", shown(one)), why)
            .of(&layer.name)
            .instead("Make it so short that all tries and waits fit into the limit on the whole");
        inert.push(match place {
            Some(place) => found.because(place, format!("{} for all tries together", shown(all))),
            None => found,
        });
    }
    layer.per_try = None;
    let timeout: ModeSet = [Mode::Timeout].into_iter().collect();
    layer.retries.yes = layer.retries.yes.difference(timeout);
    layer.retries.picks.iter_mut().for_each(|pick| pick.modes = pick.modes.difference(timeout));
}

/// A block of waits with a longest wait and no first one.
pub(super) fn without_base(block: &Entry, base: &str, longest: &str) -> Option<Inert> {
    let written = |key: &str| block.value.entry(key).filter(|e| !e.value.is_null());
    let longest = written(longest).filter(|_| written(base).is_none())?;
    let why = format!("without `{base}` beside it Envoy refuses the policy");
    Some(Inert::new(longest.key_span, settings::quote(longest), why).instead(format!("Set `{base}` as well")))
}

/// "15 s", "250 ms".
pub(super) fn shown(d: Duration) -> String {
    if d.subsec_nanos() == 0 { format!("{} s", d.as_secs()) } else { format!("{} ms", d.as_secs_f64() * 1e3) }
}

/// The words of a list.
pub(super) fn words(list: Option<&Node>) -> Vec<(&str, Span)> {
    let items = list.map_or(&[][..], Node::items).iter().take(settings::MAX_LIST);
    items.filter_map(|n| Some((n.as_str()?, n.span))).collect()
}

/// The statuses of a list.
pub(super) fn codes(list: Option<&Node>) -> Vec<(u16, Span)> {
    let items = list.map_or(&[][..], Node::items).iter().take(settings::MAX_LIST);
    items.filter_map(|n| Some((u16::try_from(n.as_int()?).ok()?, n.span))).collect()
}

/// A duration in Go's form.
pub(super) fn go(node: &Node) -> Option<Duration> {
    super::duration::go(node.as_str()?)
}

/// A list of statuses that nothing switches on.
pub(super) fn unused_statuses(entry: &Entry) -> Inert {
    let why = "without the condition `retriable-status-codes` Envoy does not look at it";
    Inert::new(entry.key_span, format!("`{}`", entry.key), why)
        .instead("Add `retriable-status-codes` to the conditions")
}

/// Hops that one gateway makes.
pub(super) fn from_gateways(gateways: Vec<GatewayName>, to: Vec<HostRef>) -> Scope {
    Scope::Hops { from: Callers { gateways, mesh: false }, to, fallback: false }
}

/// Hops that sidecars make.
pub(super) fn from_sidecars(to: Vec<HostRef>) -> Scope {
    Scope::Hops { from: Callers { gateways: Vec::new(), mesh: true }, to, fallback: false }
}

/// Who a layer is.
#[derive(Debug)]
pub(super) struct Identity {
    /// The system.
    pub system: &'static str,
    /// The kind.
    pub kind: LayerKind,
    /// Its id.
    pub id: std::sync::Arc<str>,
    /// Its name.
    pub name: String,
    /// What opens it.
    pub opens: Span,
}

/// The layer of a policy. What Envoy cannot do otherwise is filled in: jitter, Retry-After, any method.
pub(super) fn layer(identity: Identity, scope: Scope, policy: Policy) -> Layer {
    let Identity { system, kind, id, name, opens } = identity;
    Layer {
        id,
        system,
        kind,
        reading: format!("{} on {name}", policy.count.reading),
        name,
        place: policy.count.place,
        opens,
        component: None,
        scope,
        asked_for: true,
        attempts: policy.count.attempts,
        wait: policy.wait.0,
        wait_place: policy.wait.1,
        jitter: Setting::default(Jitter::Full, BACKOFF),
        retries: policy.conditions,
        retry_after: Setting::default(false, ROUTE_PROTO),
        methods: Methods::Any,
        per_try: policy.per_try,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
    }
}
