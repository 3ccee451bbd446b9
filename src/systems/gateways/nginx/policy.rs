//! What the directives at a place make of a request that fails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::upstream::Upstream;
use super::walk::Scope;
use super::{ID, PEERS, PROXY, STREAM, UPSTREAM};
use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Conditions, Confidence, GatewayName, Inert, Layer, Methods, Mode, ModeSet, Pick, STATUSES,
    Setting,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::duration::go_or_seconds;
use crate::systems::gateways::base;
use crate::systems::next_upstream::{self, NextUpstream};
use crate::systems::settings;

/// A place where requests are handed on.
pub(super) struct Pass<'p, 'n> {
    /// "proxy", "grpc".
    pub family: &'n str,
    pub scope: &'p Scope<'n>,
    pub upstream: &'p Upstream,
    /// Where it opens: its location.
    pub opens: Span,
    pub is_stream: bool,
    pub name: String,
}

impl<'n> Pass<'_, 'n> {
    fn get(&self, suffix: &str) -> Option<&'n Entry> {
        self.scope.get(self.family, suffix)
    }
}

/// The layer of a place. One server about which nothing is written is asked once: there is nothing to say.
pub(super) fn layer<'n>(pass: &Pass<'_, 'n>, id: Arc<str>, from: GatewayName, uses: &mut Uses<'n>) -> Option<Layer> {
    let (words, tries) = (pass.get("_next_upstream"), pass.get("_next_upstream_tries"));
    let asked = [words, tries, pass.get("_next_upstream_timeout")];
    let asked_for = asked.iter().any(Option::is_some);
    let servers = pass.upstream.servers;
    for entry in asked.into_iter().flatten() {
        uses.add(entry, pass, servers != Some(1));
    }
    if servers == Some(1) && !asked_for {
        return None;
    }
    let opens = pass.opens;
    let next = conditions(pass, words);
    if let Some(words) = words.filter(|_| !pass.is_stream) {
        uses.refused(words, pass);
    }
    let Count { attempts, place, reading } = count(pass, words, tries, &next);
    Some(Layer {
        reading,
        place,
        asked_for,
        attempts,
        methods: if pass.is_stream { Methods::Any } else { next_upstream::methods(next.non_idempotent) },
        retries: next.conditions,
        per_try: Some(per_try(pass)),
        overall: pass
            .get("_next_upstream_timeout")
            .and_then(|e| settings::limit(e.value.args().next()?, go_or_seconds)),
        labels: servers_label(pass),
        advice: advice(pass.family),
        scope: base::hops(vec![from], pass.upstream.to.clone()),
        ..base::layer(ID, id, pass.name.clone(), opens, UPSTREAM)
    })
}

struct Count {
    attempts: Setting<Attempts>,
    place: Span,
    reading: String,
}

/// Tries in all; never more than there are servers, and zero is as many as there are.
fn count(pass: &Pass<'_, '_>, words: Option<&Entry>, tries: Option<&Entry>, next: &NextUpstream) -> Count {
    let name = &pass.name;
    if let (Some(off), Some(words)) = (next.off, words) {
        let reading = format!("{} on {name}", quote(words));
        return Count { attempts: Setting::written(Attempts::Count(1), off), place: off, reading };
    }
    if let Some(words) = words.filter(|w| !pass.is_stream && names_no_failure(w)) {
        let (place, reading) = (words.key_span, format!("{} on {name}", quote(words)));
        return Count { attempts: Setting::written(Attempts::Count(1), place), place, reading };
    }
    let written = tries.and_then(|e| Some((e, e.value.args().next()?)));
    let servers = pass.upstream.servers;
    let has = match servers {
        Some(1) => "one server".to_string(),
        Some(n) => format!("{n} servers"),
        None => "as many servers as a template makes".to_string(),
    };
    let Some((entry, value)) = written else {
        let place = words.map_or(pass.opens, |w| w.key_span);
        let reading = match words {
            Some(words) => format!("{} on {name}, whose upstream has {has}", quote(words)),
            None => format!("{name}, whose upstream has {has}"),
        };
        let attempts = match servers {
            Some(n) => Setting::default(Attempts::Count(n.max(1)), PEERS),
            None => Setting::unknown("depends on how many servers a template makes", pass.upstream.place),
        };
        return Count { attempts, place, reading };
    };
    let span = value.span;
    let attempts = match (value.as_int(), servers) {
        (Some(0), Some(n)) => Setting::default(Attempts::Count(n.max(1)), PEERS),
        (Some(n), Some(servers)) if n > 0 => {
            Setting::written(Attempts::Count(n.unsigned_abs().min(servers.max(1))), span)
        }
        // A template makes at least one server, most likely more than the limit.
        (Some(n), None) if n > 0 => Setting::written(Attempts::Count(n.unsigned_abs()), span),
        (Some(0), None) => Setting::unknown("depends on how many servers a template makes", pass.upstream.place),
        _ => Setting::unknown(format!("`{}` is not a whole number here", entry.key), Some(span)),
    };
    Count { attempts, place: span, reading: format!("{} on {name}, whose upstream has {has}", quote(entry)) }
}

/// Words that say how to retry, and none that says what.
fn names_no_failure(words: &Entry) -> bool {
    let mut all = words.value.args().filter_map(Node::as_str).peekable();
    all.peek().is_some() && all.all(|word| matches!(word, "updating" | "non_idempotent"))
}

/// A directive as it is read in a label.
fn quote(entry: &Entry) -> String {
    let args: Vec<&str> = entry.value.args().filter_map(Node::as_str).collect();
    let text = format!("{} {}", entry.key, args.join(" "));
    format!("`{}`", settings::shown(text.trim_end()))
}

fn conditions(pass: &Pass<'_, '_>, words: Option<&Entry>) -> NextUpstream {
    if pass.is_stream {
        return stream_conditions(pass, words);
    }
    let Some(entry) = words else { return NextUpstream::by_default(pass.opens) };
    let words: Vec<(&str, Span)> =
        entry.value.args().take(settings::MAX_LIST).filter_map(|a| Some((a.as_str()?, a.span))).collect();
    let mut out = NextUpstream::of_known(&words);
    if words.iter().any(|(word, _)| next_upstream::modes(word).is_none()) {
        // A template; nginx itself refuses a word that it does not know.
        out.conditions.unknown = ModeSet::statuses(STATUSES);
    }
    out
}

/// In stream it is on or off, and concerns connections that cannot be made.
fn stream_conditions(pass: &Pass<'_, '_>, switch: Option<&Entry>) -> NextUpstream {
    let modes: ModeSet = [Mode::Refused].into_iter().collect();
    let span = switch.map_or(pass.opens, |e| e.key_span);
    let pick = Pick { modes, span, text: "`proxy_next_upstream on`".to_string() };
    let off = switch.and_then(|e| e.value.args().next()).filter(|a| a.as_str() == Some("off")).map(|a| a.span);
    let conditions = Conditions { yes: modes, picks: vec![pick], ..Conditions::default() };
    NextUpstream { conditions, off, non_idempotent: None }
}

/// How long one try may take: until the answer begins, or in stream until the connection stands.
pub(super) fn per_try(pass: &Pass<'_, '_>) -> Setting<Duration> {
    let (entry, otherwise) = if pass.is_stream {
        (pass.scope.directive("proxy_connect_timeout"), STREAM)
    } else {
        (pass.get("_read_timeout"), PROXY)
    };
    let value = entry.and_then(|e| e.value.args().next());
    match value.map(|node| (go_or_seconds(node), node.span)) {
        None => Setting::default(Duration::from_secs(60), otherwise),
        Some((Some(d), span)) => Setting::written(d, span),
        Some((None, span)) => Setting::unknown("not a duration", Some(span)),
    }
}

fn servers_label(pass: &Pass<'_, '_>) -> Vec<(Span, String)> {
    let servers = pass.upstream.servers.filter(|n| *n > 1);
    let label =
        pass.upstream.place.zip(servers).map(|(place, n)| (place, format!("{n} servers, each tried once at most")));
    label.into_iter().collect()
}

/// There is no setting for a wait or for Retry-After.
fn advice(family: &str) -> Advice {
    Advice {
        none: Some(format!("set `{family}_next_upstream off`, or `{family}_next_upstream_tries` to 1")),
        limit: Some(format!("set `{family}_next_upstream_tries` to 2 or 3")),
        statuses: Some(format!("keep `error timeout` in `{family}_next_upstream`, and of the statuses 502 and 503")),
        ..Advice::default()
    }
}

/// Which settings change nothing anywhere: those that hold for upstreams of one server only.
#[derive(Default)]
pub(super) struct Uses<'n> {
    by_place: BTreeMap<Span, Use<'n>>,
    /// What says nothing, or what nginx does not take; once for each place.
    others: BTreeMap<Span, Inert>,
}

struct Use<'n> {
    entry: &'n Entry,
    owner: String,
    upstream: Option<Span>,
    has_effect: bool,
    /// Whether the only server is a name, which may stand for several addresses.
    is_name: bool,
}

impl<'n> Uses<'n> {
    fn add(&mut self, entry: &'n Entry, pass: &Pass<'_, 'n>, has_effect: bool) {
        let is_off = entry.value.arg(0).is_some_and(|a| matches!(a, "off" | "0"));
        let is_name = pass.upstream.place.is_none() || !pass.upstream.to.is_empty();
        let used = self.by_place.entry(entry.key_span).or_insert_with(|| Use {
            entry,
            owner: pass.name.clone(),
            upstream: pass.upstream.place,
            has_effect: is_off,
            is_name,
        });
        used.has_effect |= has_effect;
    }

    /// Lists without a failure, and words that nginx has for other protocols only.
    fn refused(&mut self, words: &'n Entry, pass: &Pass<'_, 'n>) {
        if names_no_failure(words) {
            let why = "it names no failure, so no request goes to another server";
            let inert = Inert::new(words.key_span, quote(words), why).of(&pass.name);
            let inert = inert.instead("Name the failures as well: `error timeout`");
            self.others.entry(words.key_span).or_insert(inert);
        }
        if !matches!(pass.family, "fastcgi" | "uwsgi" | "scgi") {
            return;
        }
        for arg in words.value.args().take(settings::MAX_LIST) {
            if let Some(word @ ("http_502" | "http_504")) = arg.as_str() {
                let why = format!("`{}` has no such word, and nginx does not start with it", words.key);
                let inert = Inert::new(arg.span, format!("`{word}`"), why).of(&pass.name).instead("Take it out");
                self.others.entry(arg.span).or_insert(inert);
            }
        }
    }

    /// Reports them.
    pub(super) fn tell(self, facts: &mut Facts) {
        facts.inert.extend(self.others.into_values());
        for used in self.by_place.into_values().filter(|u| !u.has_effect) {
            let why = "the upstream has one server, and nginx asks each server once at most";
            let inert = Inert::new(used.entry.key_span, quote(used.entry), why).of(&used.owner);
            let inert = match used.upstream {
                Some(place) => inert.because(place, "one server"),
                None => inert,
            };
            let inert = if used.is_name { inert.confidence(Confidence::Medium) } else { inert };
            facts.inert.push(inert.instead("Add servers to the upstream, or take the setting out"));
        }
    }
}
