//! Caddy: `reverse_proxy` in Caddyfiles and in JSON.

mod file;
mod json;
mod matchers;

use std::sync::Arc;
use std::time::Duration;

use self::matchers::Matchers;
use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, GatewayName, HostRef, Inert, Layer, Setting, Wait};
use crate::source::{SourceFile, Span};
use crate::syntax::Syntax;
use crate::systems::gateways::base;
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Caddy.
pub struct Caddy;

const ID: &str = "caddy";
const PROXY: &str = "caddyserver/caddy v2.11 modules/caddyhttp/reverseproxy/reverseproxy.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Caddy",
    reads: "Caddyfiles and JSON: `reverse_proxy` with `lb_retries`, `lb_try_duration`, `lb_try_interval`, `lb_retry_match`",
    marks: &["reverse_proxy"],
    defaults: &[
        DefaultFigure { what: "neither lb_retries nor lb_try_duration", value: "1 attempt", source: PROXY },
        DefaultFigure { what: "lb_retries", value: "counts retries: one attempt more", source: PROXY },
        DefaultFigure {
            what: "lb_try_duration alone",
            value: "as often as its waits fit in, of tries that fail at once",
            source: PROXY,
        },
        DefaultFigure {
            what: "lb_try_interval absent, with lb_try_duration",
            value: "250 ms each time",
            source: PROXY,
        },
        DefaultFigure { what: "lb_try_interval absent, without lb_try_duration", value: "no wait", source: PROXY },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: PROXY },
        DefaultFigure {
            what: "lb_retry_match absent",
            value: "connections that fail; of what was sent, GET only; no HTTP status",
            source: PROXY,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: PROXY },
    ],
};

impl System for Caddy {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for part in &unit.parts {
            let mut ids = Ids::default();
            for root in &part.parsed.documents {
                let proxies = match Syntax::of_path(part.name) {
                    Some(Syntax::Caddyfile) => file::proxies(root),
                    _ => json::proxies(part.file, root),
                };
                proxies.into_iter().for_each(|proxy| proxy.add(part.file, &mut ids, facts));
            }
        }
    }
}

/// A written value.
struct Written<T> {
    /// `None` where it cannot be read.
    value: Option<T>,
    span: Span,
    key_span: Span,
    /// "`lb_retries 3`".
    text: String,
}

/// A reverse proxy, whichever way it is written.
struct Proxy {
    title: String,
    opens: Span,
    to: Vec<HostRef>,
    retries: Option<Written<u64>>,
    duration: Option<Written<Duration>>,
    interval: Option<Written<Duration>>,
    matchers: Option<Matchers>,
    /// How long it waits for the head of an answer.
    answer: Option<Setting<Duration>>,
    /// How long a failed upstream is left alone.
    fail_duration: Option<Written<Duration>>,
    /// After how many failures, if written.
    max_fails: Option<u64>,
    /// How many upstreams there are; none: not known.
    upstreams: u64,
    grpc: bool,
}

/// The wait where only a time is set.
const INTERVAL: Duration = Duration::from_millis(250);

impl Proxy {
    fn add(self, file: &SourceFile, ids: &mut Ids, facts: &mut Facts) {
        let from = GatewayName::OfFile { file: file.id, system: ID };
        let name = format!("Caddy reverse_proxy {}", self.title);
        facts.inert.extend(self.inert(&name));
        let id = ids.next(format!("{ID}:{}", self.title));
        let (to, grpc, span, answer) = (self.to.clone(), self.grpc, self.opens, self.answer.clone());
        let layer = self.layer(id, name, from.clone());
        if !to.is_empty() {
            let limit = answer.filter(|_| layer.is_none());
            facts.routes.push(RouteFact { from, to, grpc, limit, span });
        }
        facts.layers.extend(layer);
    }

    /// Retries and time; zero of either is as if it were not written.
    fn limits(&self) -> (Option<&Written<u64>>, Option<&Written<Duration>>) {
        let retries = self.retries.as_ref().filter(|w| w.value != Some(0));
        (retries, self.duration.as_ref().filter(|w| w.value != Some(Duration::ZERO)))
    }

    /// How many tries reach anybody: an upstream that failed `max_fails` times is out for `fail_duration`, and a proxy whose
    /// upstreams are all out sends nothing.
    fn reached(&self) -> Option<(&Written<Duration>, u64)> {
        let out = self.fail_duration.as_ref().filter(|w| w.value.is_some_and(|d| !d.is_zero()))?;
        let picks_statuses = matchers::read(self.matchers.as_ref(), self.opens).0.yes.iter().any(|m| {
            // What an upstream answers is no failure of it.
            matches!(m, crate::model::Mode::Status(_))
        });
        let fails = self.max_fails.unwrap_or(1).max(1);
        (self.upstreams > 0 && !picks_statuses).then(|| (out, self.upstreams.saturating_mul(fails)))
    }

    fn inert(&self, name: &str) -> Vec<Inert> {
        if let (Some((out, 1)), (Some(retries), _)) = (self.reached(), self.limits()) {
            let why = "the only upstream is out after its first failure, and the other tries reach nobody";
            let found =
                Inert::new(retries.span, retries.text.clone(), why).of(name).because(out.span, out.text.clone());
            return vec![found.instead("Take `fail_duration` out, or add an upstream")];
        }
        if self.limits() != (None, None) || self.retries.is_some() || self.duration.is_some() {
            return Vec::new();
        }
        let why = "with neither `lb_retries` nor `lb_try_duration` there is one try";
        let interval = self.interval.as_ref().map(|w| (w.key_span, w.text.clone()));
        let matchers = self.matchers.as_ref().map(|m| (m.span, "`lb_retry_match`".to_string()));
        let all = interval.into_iter().chain(matchers);
        all.map(|(span, text)| Inert::new(span, text, why).of(name).instead("Set `lb_retries`, or take it out"))
            .collect()
    }

    fn layer(self, id: Arc<str>, name: String, from: GatewayName) -> Option<Layer> {
        let (retries, duration) = self.limits();
        let (first, place) = match (retries, duration, &self.retries, &self.duration) {
            (Some(w), _, _, _) => (w.text.clone(), w.span),
            (None, Some(w), _, _) => (w.text.clone(), w.span),
            // Switched off in so many words.
            (None, None, Some(w), _) => (w.text.clone(), w.span),
            (None, None, None, Some(w)) => (w.text.clone(), w.span),
            (None, None, None, None) => return None,
        };
        let wait = self.wait(duration.is_some());
        let attempts = attempts(retries, duration, &wait, place);
        let reached = self.reached();
        let attempts = match (attempts.value().and_then(|a| a.count()), &reached) {
            (Some(n), Some((out, most))) if *most < n => Setting::written(Attempts::Count(*most), out.span),
            _ => attempts,
        };
        // Where the time ends first, it is what decides.
        let (first, place) = match (attempts.value(), duration) {
            (Some(Attempts::Within { .. }), Some(w)) => (w.text.clone(), w.span),
            _ => (first, place),
        };
        let labels = reached.map(|(out, _)| (out.span, format!("{} leaves an upstream alone that failed", out.text)));
        let labels = labels.into_iter().collect();
        let (conditions, methods) = matchers::read(self.matchers.as_ref(), self.opens);
        Some(Layer {
            reading: format!("{first} on {name}"),
            place,
            asked_for: true,
            attempts,
            wait_place: self.interval.as_ref().map(|w| w.key_span),
            wait: wait.map_or(Wait::None, Wait::Fixed),
            retries: conditions,
            methods,
            per_try: self.answer.clone(),
            overall: duration.map(|w| match w.value {
                Some(d) => Setting::written(d, w.span),
                None => Setting::unknown("not a duration", Some(w.span)),
            }),
            advice: advice(),
            labels,
            scope: base::hops(vec![from], self.to.clone()),
            ..base::layer(ID, id, name, self.opens, PROXY)
        })
    }

    /// The wait between two tries; `None` for none.
    fn wait(&self, has_duration: bool) -> Option<Setting<Duration>> {
        match &self.interval {
            Some(Written { value: None, span, .. }) => Some(Setting::unknown("not a duration", Some(*span))),
            Some(Written { value: Some(d), span, .. }) if !d.is_zero() => Some(Setting::written(*d, *span)),
            _ if has_duration => Some(Setting::default(INTERVAL, PROXY)),
            _ => None,
        }
    }
}

impl<T: PartialEq> PartialEq for Written<T> {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span && self.value == other.value
    }
}

/// Whichever ends first: the count, or the time with its waits.
fn attempts(
    retries: Option<&Written<u64>>,
    duration: Option<&Written<Duration>>,
    wait: &Option<Setting<Duration>>,
    place: Span,
) -> Setting<Attempts> {
    let count = retries.map(|w| w.value.map(|n| n.saturating_add(1)));
    let time = duration.map(|w| {
        let interval = wait.as_ref().and_then(Setting::value).copied()?;
        let deadline = w.value?;
        let about = deadline.as_nanos().div_ceil(interval.as_nanos().max(1)).saturating_add(1);
        Some((deadline, u64::try_from(about).unwrap_or(u64::MAX)))
    });
    match (count, time) {
        (None, None) => Setting::written(Attempts::Count(1), place),
        (Some(None), _) => Setting::unknown("`lb_retries` is not a whole number here", Some(place)),
        (Some(Some(n)), Some(Some((deadline, about)))) if about < n => {
            Setting::written(Attempts::Within { deadline, about }, duration.map_or(place, |w| w.span))
        }
        (Some(Some(n)), _) => Setting::written(Attempts::Count(n), place),
        (None, Some(Some((deadline, about)))) => Setting::written(Attempts::Within { deadline, about }, place),
        (None, Some(None)) => Setting::unknown("the time or the wait is not a duration here", Some(place)),
    }
}

/// There is no setting for a wait that grows, for jitter or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `lb_retries 0`, and take `lb_try_duration` out"),
        limit: some("set `lb_retries 2` beside `lb_try_duration`"),
        wait: some("set `lb_try_interval`, such as `250ms`"),
        statuses: some("test for 502, 503 and 504 in the `expression` of `lb_retry_match`"),
        ..Advice::default()
    }
}
