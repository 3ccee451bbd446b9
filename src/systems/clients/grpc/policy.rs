//! What a method's policy says.

use super::super::base;
use super::{A6, GO, Seen, codes, get};
use crate::model::{Attempts, Conditions, Confidence, Jitter, Layer, ModeSet, Pick, Setting, Wait, grpc_named};
use crate::syntax::{Entry, Node};
use crate::systems::{duration, settings};

/// Clients make no more attempts than these, unless code moves the limit.
const CAP: u64 = 5;

/// A policy.
pub(super) struct Policy<'n> {
    entry: &'n Entry,
    hedges: bool,
}

impl<'n> Policy<'n> {
    /// The policy of a `methodConfig`, if it has one.
    pub(super) fn new(config: &'n Node) -> Option<Self> {
        let of = |key, hedges| get(config, key).filter(|e| !e.value.is_null()).map(|entry| Self { entry, hedges });
        of("retryPolicy", false).or_else(|| of("hedgingPolicy", true))
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.hedges { "hedging policy" } else { "retry policy" }
    }

    /// Puts what the policy says into a layer.
    pub(super) fn fill(&self, config: &Node, mut layer: Layer) -> Layer {
        let node = &*self.entry.value;
        layer.asked_for = true;
        layer.place = self.entry.key_span;
        match get(node, "maxAttempts") {
            Some(count) => {
                let attempts = self.attempts(count);
                base::counted(&mut layer, count, attempts);
                if base::whole(count).value().is_some_and(|n| *n > CAP) {
                    layer.labels.push((count.value.span, format!("clients stop at {CAP}")));
                }
            }
            None => layer.attempts = self.rejected("maxAttempts"),
        }
        layer.overall = get(config, "timeout").and_then(|e| settings::limit(&e.value, duration::proto));
        layer.retry_after = Setting::default(true, A6);
        layer.methods = crate::model::Methods::Unknown;
        if self.hedges {
            self.hedge(&mut layer);
        } else {
            self.repeat(&mut layer);
        }
        layer
    }

    fn attempts(&self, count: &Entry) -> Setting<Attempts> {
        match base::whole(count) {
            Setting::Written { value: 0 | 1, span } => {
                Setting::unknown("gRPC rejects a config with fewer than 2 attempts", Some(span))
            }
            n => match self.missing() {
                Some(field) => self.rejected(field),
                None => n.map(|n| Attempts::Count(n.min(CAP))),
            },
        }
    }

    /// A field that must be there and is not.
    fn missing(&self) -> Option<&'static str> {
        let needed: &[&str] = match self.hedges {
            true => &[],
            false => &["initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"],
        };
        needed.iter().copied().find(|key| get(&self.entry.value, key).is_none())
    }

    fn rejected(&self, field: &str) -> Setting<Attempts> {
        let why = format!("gRPC rejects a config whose policy lacks `{field}`");
        Setting::unknown(why, Some(self.entry.key_span))
    }

    fn repeat(&self, layer: &mut Layer) {
        let node = &*self.entry.value;
        let field = |key| get(node, key);
        let duration = |key| match field(key) {
            Some(e) => settings::limit(&e.value, duration::proto)
                .unwrap_or_else(|| Setting::unknown("gRPC rejects a wait of zero", Some(e.value.span))),
            None => Setting::unknown(format!("`{key}` is missing"), Some(self.entry.key_span)),
        };
        let factor = match field("backoffMultiplier") {
            Some(e) => base::number(e),
            None => Setting::unknown("`backoffMultiplier` is missing", Some(self.entry.key_span)),
        };
        layer.wait =
            Wait::Exponential { base: duration("initialBackoff"), factor, cap: duration("maxBackoff").map(Some) };
        layer.wait_place = field("initialBackoff").map(|e| e.key_span);
        layer.jitter = Setting::default(Jitter::Partial { low: 0.8, high: 1.2 }, GO);
        layer.retries = conditions(field("retryableStatusCodes"));
    }

    /// Copies go out one after the other, whatever becomes of the first. Only a code that is not fatal keeps the others
    /// going; clients in Go and those built on C send no copies.
    fn hedge(&self, layer: &mut Layer) {
        layer.copies = true;
        layer.confidence = Confidence::Medium;
        layer.wait = match get(&self.entry.value, "hedgingDelay") {
            Some(e) => settings::limit(&e.value, duration::proto).map_or(Wait::None, Wait::Fixed),
            None => Wait::None,
        };
        layer.jitter = Setting::default(Jitter::None, A6);
        layer.retries = conditions(get(&self.entry.value, "nonFatalStatusCodes"));
    }
}

/// The codes that are listed. Not every client takes numbers and names in lower case.
fn conditions(list: Option<&Entry>) -> Conditions {
    let mut out = Conditions::default();
    let mut seen = Seen::new();
    for item in list.map_or(&[][..], |e| e.value.items()).iter().take(settings::MAX_LIST) {
        let Some(text) = item.as_str() else { continue };
        let number = text.parse().ok().filter(|n| (1..=16).contains(n));
        if let Some(code) = grpc_named(text).or(number) {
            let modes: ModeSet = codes::modes(code);
            out.yes = out.yes.union(modes);
            if seen.insert(code) {
                // What a proxy's plain answer becomes is no choice of whoever wrote the code.
                let modes = [crate::model::Mode::Grpc(code)].into_iter().collect();
                out.picks.push(Pick { modes, span: item.span, text: format!("`{text}`") });
            }
        } else if let Some(code) = grpc_named(&text.to_uppercase()) {
            out.unknown = out.unknown.union(codes::modes(code));
        }
    }
    out.unknown = out.unknown.difference(out.yes);
    out
}
