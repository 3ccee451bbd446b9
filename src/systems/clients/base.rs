//! What the layers of clients start from, and what many of them read alike.

use std::sync::Arc;
use std::time::Duration;

use super::spring;
use crate::model::{
    Attempts, Conditions, HostRef, Jitter, Layer, LayerKind, Methods, ModeSet, Pick, Purpose, Scope, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::Entry;
use crate::systems::{duration, repeats, settings};

/// The setting of a client whose requests others wait for.
pub(super) fn client(
    system: &'static str,
    id: Arc<str>,
    name: String,
    opens: Span,
    to: Option<HostRef>,
    attempts: Setting<Attempts>,
) -> Layer {
    Layer {
        scope: Scope::Client { to, grpc: false },
        retries: Conditions::default(),
        retry_after: Setting::unknown("nothing tells whether it is heeded", None),
        methods: Methods::Any,
        wait: Wait::Unknown { why: "the client sets it".to_owned() },
        jitter: Setting::unknown("the client sets it", None),
        ..repeats::layer(system, LayerKind::Client, id, name, opens, attempts)
    }
}

/// As [`client`], for what no request waits for: telemetry on its way, downloads of a build.
pub(super) fn apart(
    system: &'static str,
    id: Arc<str>,
    name: String,
    opens: Span,
    to: Option<HostRef>,
    attempts: Setting<Attempts>,
) -> Layer {
    Layer { purpose: Purpose::Background, methods: Methods::Unknown, ..client(system, id, name, opens, to, attempts) }
}

/// A count that stands in the settings: findings about it point there.
pub(in crate::systems) fn counted(layer: &mut Layer, entry: &Entry, attempts: Setting<Attempts>) {
    // Of a name such as `delivery.timeout.ms` the last part says nothing.
    let last = settings::last_part(&entry.key);
    let key = if last.len() > 3 { last } else { &entry.key };
    let value = settings::shown(entry.value.as_str().unwrap_or_default());
    layer.reading = format!("`{}: {value}` for {}", settings::shown(key), layer.name);
    layer.place = entry.value.span;
    layer.attempts = attempts;
    layer.asked_for = true;
}

/// A count of all tries, the first included.
pub(super) fn tries(entry: &Entry) -> Setting<Attempts> {
    whole(entry).map(|n| Attempts::Count(n.max(1)))
}

/// A count of retries. Where negative numbers stand for no limit, `negative` says so.
pub(super) fn retries(entry: &Entry, negative: Option<Attempts>) -> Setting<Attempts> {
    spring::setting(entry, "a number", |text| match text.parse::<i64>().ok()? {
        n if n < 0 => negative,
        n => Some(Attempts::Count(n.unsigned_abs().saturating_add(1))),
    })
}

/// A whole number that is not negative.
pub(super) fn whole(entry: &Entry) -> Setting<u64> {
    spring::setting(entry, "a number", |text| text.parse().ok())
}

/// A number.
pub(super) fn number(entry: &Entry) -> Setting<f64> {
    spring::setting(entry, "a number", |text| text.parse::<f64>().ok().filter(|n| n.is_finite()))
}

/// A duration in Go's form.
pub(super) fn go(entry: &Entry) -> Setting<Duration> {
    spring::setting(entry, "a duration", duration::go)
}

/// A number of seconds.
pub(in crate::systems) fn seconds(entry: &Entry) -> Setting<Duration> {
    number_of(entry, 1e3)
}

/// A number of milliseconds.
pub(super) fn millis(entry: &Entry) -> Setting<Duration> {
    number_of(entry, 1.0)
}

fn number_of(entry: &Entry, millis: f64) -> Setting<Duration> {
    spring::setting(entry, "a number", |text| duration::millis(text.parse::<f64>().ok()? * millis))
}

/// `entry` read with `parse`, or a documented default.
pub(in crate::systems) fn or_default<T>(
    entry: Option<&Entry>,
    parse: impl Fn(&Entry) -> Setting<T>,
    default: T,
    source: &'static str,
) -> Setting<T> {
    entry.map_or_else(|| Setting::default(default, source), parse)
}

/// A wait that doubles, or grows otherwise, up to a cap.
pub(super) fn exponential(base: Setting<Duration>, factor: Setting<f64>, cap: Setting<Option<Duration>>) -> Wait {
    match base.value() {
        Some(base) if base.is_zero() => Wait::None,
        _ => Wait::Exponential { base, factor, cap },
    }
}

/// The wait times 1 ± `factor`.
pub(super) fn around(factor: f64) -> Jitter {
    if factor <= 0.0 { Jitter::None } else { Jitter::Partial { low: (1.0 - factor).max(0.0), high: 1.0 + factor } }
}

/// How often a schedule fits into a time; no time is no limit.
pub(super) fn within_or_unbounded(limit: &Setting<Duration>, wait: &Wait) -> Setting<Attempts> {
    match limit.value() {
        Some(d) if d.is_zero() => limit.clone().map(|_| Attempts::Unbounded),
        _ => Attempts::within(limit, wait, 1.0),
    }
}

/// What a default retries: findings about it point at what opens the layer.
pub(super) fn by_default(modes: ModeSet, opens: Span) -> Conditions {
    let text = "the default predicate".to_owned();
    Conditions { yes: modes, picks: vec![Pick { modes, span: opens, text }], ..Conditions::default() }
}

/// Statuses that a list names, each with its place. Others than whole numbers are not read.
pub(super) fn statuses(list: &Entry) -> Conditions {
    let mut out = Conditions::default();
    let items: Vec<(&str, Span)> = match list.value.items() {
        [] => settings::list(&list.value),
        items => items.iter().take(settings::MAX_LIST).filter_map(|n| Some((n.as_str()?, n.span))).collect(),
    };
    for (text, span) in items {
        let modes = ModeSet::statuses(text.trim().parse::<u16>().ok());
        if !modes.difference(out.yes).is_empty() {
            out.picks.push(Pick { modes, span, text: format!("`{}`", settings::shown(text)) });
            out.yes = out.yes.union(modes);
        }
    }
    out
}

/// Nothing tells what is retried.
pub(super) fn unknown_conditions() -> Conditions {
    Conditions { unknown: ModeSet::all(), ..Conditions::default() }
}

/// Statuses, and requests that got no answer.
pub(super) fn and_transport(codes: impl IntoIterator<Item = u16>) -> ModeSet {
    ModeSet::statuses(codes).union(ModeSet::transport())
}

/// A host in a URL or address, if the settings name one.
pub(super) fn host(entry: Option<&Entry>) -> Option<HostRef> {
    let entry = entry?;
    settings::host(entry.value.as_str()?, entry.value.span, None)
}

/// The first host of a list, or of a comma list in one text.
pub(super) fn first_host(entry: Option<&Entry>) -> Option<HostRef> {
    let node = &entry?.value;
    match node.items().first() {
        Some(item) => settings::host(item.as_str()?, item.span, None),
        None => settings::list(node).first().and_then(|(text, span)| settings::host(text, *span, None)),
    }
}

/// The host that a client's name stands for, where the name is that of a service: `priceService` is `price-service`.
pub(super) fn named(name: &str, span: Span) -> Option<HostRef> {
    let mut host = String::new();
    let mut before = '-';
    for c in name.chars() {
        if c.is_uppercase() && !before.is_uppercase() && before != '-' {
            host.push('-');
        }
        host.extend(c.to_lowercase());
        before = if matches!(c, '_' | '.' | ' ') { '-' } else { c };
    }
    (!host.is_empty()).then_some(HostRef { name: host, port: None, namespace: None, span })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn schedules_within_a_time() {
        let s = Duration::from_secs;
        let of = |limit, base| {
            let wait = exponential(base, Setting::default(1.5, ""), Setting::default(Some(s(30)), ""));
            within_or_unbounded(&Setting::default(s(limit), ""), &wait).value().copied()
        };
        let known = |limit, base| of(limit, Setting::default(s(base), ""));
        assert_eq!(known(300, 5), Some(Attempts::Within { deadline: s(300), about: 13 }));
        assert_eq!(known(3, 5), Some(Attempts::Within { deadline: s(3), about: 1 }));
        assert_eq!(known(0, 5), Some(Attempts::Unbounded));
        assert_eq!(known(1, 0), None, "how long a try takes decides");
        assert_eq!(of(300, Setting::unknown("a placeholder", None)), None);
    }

    #[test]
    fn names_of_clients_that_are_names_of_services() {
        let span = Span::start_of(FileId(0));
        for (name, host) in [("priceService", "price-service"), ("stock", "stock"), ("PaymentAPI", "payment-api")] {
            assert_eq!(named(name, span).map(|h| h.name).as_deref(), Some(host));
        }
        assert_eq!(named("", span), None);
    }
}
