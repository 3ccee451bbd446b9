//! What a backend makes of a request that fails.

use std::sync::Arc;
use std::time::Duration;

use super::guard::{self, Guarded};
use super::retry_on::RetryOn;
use super::{ID, MANUAL, RETRIES, STREAM};
use crate::model::{Advice, Attempts, GatewayName, HostRef, Inert, Layer, Methods, Mode, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::{duration, settings};

/// A backend, or a listen.
pub(super) struct Backend<'n> {
    pub name: &'n str,
    pub section: &'n Entry,
    pub block: &'n Node,
    /// What it inherits, the nearest first.
    pub defaults: Vec<&'n Node>,
}

impl<'n> Backend<'n> {
    fn lines(&self) -> Lines<'n> {
        let blocks = std::iter::once(self.block).chain(self.defaults.iter().copied()).collect();
        Lines { blocks, has_several: self.has_several() }
    }

    fn servers(&self) -> impl Iterator<Item = &'n Entry> + '_ {
        let block = self.block;
        block.directives("server").filter(|s| !s.value.args().any(|a| a.as_str() == Some("disabled")))
    }

    fn has_servers(&self) -> bool {
        self.servers().next().is_some() || self.block.directive("server-template").is_some()
    }

    /// How many servers there may be: one of a template stands for any number.
    fn has_several(&self) -> bool {
        self.servers().count() > 1 || self.block.directive("server-template").is_some()
    }

    /// The hosts of its servers; of addresses alone its name stands for them.
    pub(super) fn hosts(&self) -> Vec<HostRef> {
        let plain = self.servers().filter_map(|s| super::host(s.value.args().nth(1)?));
        let template = self.block.directives("server-template").filter_map(|s| super::host(s.value.args().nth(2)?));
        let named: Vec<HostRef> = plain.chain(template).filter(|h| !settings::is_address(&h.name)).collect();
        if named.is_empty() && self.has_servers() {
            return settings::host(self.name, self.section.head(), None).into_iter().collect();
        }
        settings::distinct(named)
    }

    /// Its layer; a backend without servers sends nothing.
    pub(super) fn layer(&self, id: Arc<str>, from: GatewayName, to: Vec<HostRef>) -> Option<Layer> {
        let base = || base::layer(ID, id, self.title(), self.section.head(), MANUAL);
        self.has_servers().then(|| self.lines().fill(Layer { scope: base::hops(vec![from], to), ..base() }))
    }

    fn title(&self) -> String {
        format!("HAProxy {} {}", self.section.key, self.name)
    }

    /// What is written here and does nothing; what it inherits may do something elsewhere.
    pub(super) fn inert(&self) -> Vec<Inert> {
        let name = self.title();
        let mut out = Vec::new();
        if let Some(entry) = self.block.directive("retry-on").filter(|_| self.lines().is_tcp()) {
            let words = entry.value.args().filter(|a| !matches!(a.as_str(), Some("none" | "conn-failure")));
            for word in words.take(settings::MAX_LIST) {
                let why = "in mode tcp there is no answer to look at, only connections that fail";
                let shown = settings::shown(word.as_str().unwrap_or_default());
                let inert = Inert::new(word.span, format!("`retry-on {shown}`"), why).of(&name);
                out.push(inert.instead("Set `mode http`, or keep `conn-failure` alone"));
            }
        }
        let lists: Vec<&Entry> = self.block.directives("retry-on").collect();
        if let [replaced @ .., last] = lists.as_slice() {
            out.extend(replaced.iter().map(|entry| {
                let why = "a later `retry-on` of the section takes its place whole";
                let inert =
                    Inert::new(entry.head(), "`retry-on`", why).of(&name).because(last.head(), "the list that counts");
                inert.instead("Write all of it into one list")
            }));
        }
        let redispatch = self.block.directives("option").find(|e| e.value.arg(0) == Some("redispatch"));
        if let Some(entry) = redispatch.filter(|_| self.servers().count() == 1 && !self.has_several()) {
            let why = "there is no other server to move to";
            out.push(Inert::new(entry.head(), "`option redispatch`", why).of(&name));
        }
        out
    }
}

/// The directives that hold for the servers of a section.
pub(in crate::systems::gateways) struct Lines<'n> {
    /// The blocks in which they stand, the nearest first.
    pub blocks: Vec<&'n Node>,
    /// Whether a retry can find another server.
    pub has_several: bool,
}

impl<'n> Lines<'n> {
    fn directive(&self, name: &str) -> Option<&'n Entry> {
        self.blocks.iter().find_map(|block| block.directive(name))
    }

    /// A directive of two words: `timeout connect 5s`.
    fn second(&self, name: &str, word: &str) -> Option<&'n Entry> {
        let is_it = |e: &&'n Entry| e.value.arg(0) == Some(word);
        self.blocks.iter().find_map(|block| block.directives(name).filter(is_it).last())
    }

    fn is_tcp(&self) -> bool {
        self.directive("mode").is_some_and(|e| e.value.arg(0) == Some("tcp"))
    }

    /// Whether a retry may go to another server.
    fn moves_on(&self) -> bool {
        let switch = self.blocks.iter().find_map(|block| {
            block.entries().iter().rev().find_map(|e| match (&*e.key, e.value.arg(0), e.value.arg(1)) {
                ("option", Some("redispatch"), interval) => Some(interval != Some("0")),
                ("no", Some("option"), Some("redispatch")) => Some(false),
                _ => None,
            })
        });
        switch.unwrap_or(false) && self.has_several && !self.is_hashed()
    }

    /// Whether what a request says picks its server: a retry then finds the same one.
    fn is_hashed(&self) -> bool {
        let algorithm = self.directive("balance").and_then(|e| e.value.arg(0)).unwrap_or_default();
        let hashed = ["source", "uri", "url_param", "hdr", "hash", "rdp-cookie"];
        hashed.iter().any(|name| algorithm == *name || algorithm.starts_with(&format!("{name}(")))
    }

    /// What a rule of the section itself sets for every request: `http-request set-retries 9`.
    fn set_retries(&self) -> Option<&'n Entry> {
        let rules = self.blocks.first()?.directives("http-request");
        rules.filter(|e| e.value.arg(0) == Some("set-retries")).last()
    }

    /// A layer with what the directives say.
    pub(in crate::systems::gateways) fn fill(&self, layer: Layer) -> Layer {
        let (name, opens) = (layer.name.clone(), layer.opens);
        let retry_on = self.directive("retry-on");
        let mut retries = retry_on.map_or_else(|| RetryOn::by_default(opens), |e| RetryOn::read(e, self.is_tcp()));
        let methods = match (retries.after_sending, guard::methods(&self.blocks)) {
            (Some(_), Guarded::Always) => {
                retries.only_connecting();
                Methods::Any
            }
            (Some(_), Guarded::Some(methods)) => methods,
            (None, _) => Methods::Any,
        };
        let nothing = retry_on.filter(|_| retries.conditions.yes.is_empty() && retries.conditions.unknown.is_empty());
        let (attempts, place, reading) = match nothing {
            // `none`, or in mode tcp only what comes after connecting.
            Some(e) => (Setting::written(Attempts::Count(1), e.key_span), e.key_span, format!("`retry-on` on {name}")),
            None => self.count(&name, opens),
        };
        Layer {
            reading,
            place,
            asked_for: retry_on.is_some() || self.directive("retries").is_some(),
            attempts,
            wait: self.wait(&retries),
            retries: retries.conditions,
            methods,
            per_try: self.limit("server"),
            advice: advice(),
            ..layer
        }
    }

    fn count(&self, name: &str, opens: Span) -> (Setting<Attempts>, Span, String) {
        if let Some((entry, value)) = self.set_retries().and_then(|e| Some((e, e.value.args().nth(1)?))) {
            let conditional = entry.value.args().skip(2).any(|a| matches!(a.as_str(), Some("if" | "unless")));
            let attempts = match value.as_int().and_then(|n| u64::try_from(n).ok()).filter(|_| !conditional) {
                Some(n) => Setting::written(Attempts::Count(n.saturating_add(1)), value.span),
                None => Setting::unknown("a rule sets it for some requests, or by an expression", Some(value.span)),
            };
            let text = settings::shown(value.as_str().unwrap_or_default());
            return (attempts, value.span, format!("`http-request set-retries {text}` on {name}"));
        }
        let written = self.directive("retries").and_then(|e| Some((e, e.value.args().next()?)));
        let Some((entry, value)) = written else {
            let reading = format!("{name}, which sets no `retries`");
            return (Setting::default(Attempts::Count(4), RETRIES), opens, reading);
        };
        let attempts = match value.as_int().and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Setting::written(Attempts::Count(n.saturating_add(1)), value.span),
            None => Setting::unknown("`retries` is not a whole number here", Some(value.span)),
        };
        let text = settings::shown(value.as_str().unwrap_or_default());
        let own = self.blocks.first().is_some_and(|b| b.directives("retries").any(|e| std::ptr::eq(e, entry)));
        let from = if own { "" } else { " from its defaults" };
        (attempts, value.span, format!("`retries {text}` on {name}{from}"))
    }

    /// Only a refused connection to the same server is followed by a wait.
    fn wait(&self, retries: &RetryOn) -> Wait {
        let waits = retries.conditions.yes.contains(Mode::Refused) && retries.after_sending.is_none();
        if !waits || self.moves_on() {
            return Wait::None;
        }
        let second = Duration::from_secs(1);
        Wait::Fixed(match self.limit("connect") {
            Some(Setting::Written { value, span }) if value < second => Setting::written(value, span),
            Some(Setting::Unknown { why, span }) => Setting::unknown(why, span),
            _ => Setting::default(second, STREAM),
        })
    }

    fn limit(&self, which: &str) -> Option<Setting<Duration>> {
        settings::limit(self.second("timeout", which)?.value.args().nth(1)?, millis)
    }
}

/// A time without a unit is in milliseconds.
fn millis(node: &Node) -> Option<Duration> {
    let text = node.as_str()?;
    let number: Option<u32> = text.parse().ok();
    number.map(|n| Duration::from_millis(n.into())).or_else(|| duration::go(text))
}

/// There is no setting for a wait or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `retries 0` in the backend"),
        limit: some("set `retries` to 1 or 2"),
        statuses: some("keep `conn-failure` in `retry-on`, and of the statuses 502 and 503"),
        ..Advice::default()
    }
}
