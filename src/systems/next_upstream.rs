//! The words of nginx's `proxy_next_upstream`, which everything built on nginx takes over.

use std::sync::Arc;

use crate::model::{Conditions, Methods, Mode, ModeSet, Pick};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Scalar, Value};
use crate::systems::gateways::base;
use crate::systems::settings;

/// What a list of words says.
#[derive(Debug, Clone, Default)]
pub(super) struct NextUpstream {
    /// What is retried.
    pub conditions: Conditions,
    /// The word that switches it off.
    pub off: Option<Span>,
    /// The word that lets POST, LOCK and PATCH be sent again.
    pub non_idempotent: Option<Span>,
}

impl NextUpstream {
    /// What holds where nothing is written: `error timeout`.
    pub(super) fn by_default(opens: Span) -> Self {
        let modes = ModeSet::transport();
        let pick = Pick { modes, span: opens, text: "the default `error timeout`".to_string() };
        let conditions = Conditions { yes: modes, picks: vec![pick], ..Conditions::default() };
        Self { conditions, ..Self::default() }
    }

    /// A list; `None` where a word is not one of nginx's, or there is none.
    pub(super) fn read(words: &[(&str, Span)]) -> Option<Self> {
        let known = !words.is_empty() && words.iter().all(|(word, _)| modes(word).is_some());
        known.then(|| Self::of_known(words))
    }

    /// A list of which only the words that are nginx's count.
    pub(super) fn of_known(words: &[(&str, Span)]) -> Self {
        let mut out = Self::default();
        for &(word, span) in words {
            match word {
                "off" => out.off = Some(span),
                "non_idempotent" => out.non_idempotent = Some(span),
                _ => {}
            }
            let modes = modes(word).unwrap_or_default();
            if !modes.is_empty() {
                out.conditions.yes = out.conditions.yes.union(modes);
                out.conditions.picks.push(Pick { modes, span, text: format!("`{word}`") });
            }
        }
        out
    }
}

/// What may have been processed and is sent again: POST, LOCK and PATCH only where a word or a switch says so.
pub(super) fn methods(allowed: Option<Span>) -> Methods {
    allowed.map_or_else(base::idempotent, base::all_methods)
}

/// What one word retries; `None` for an unknown word.
pub(super) fn modes(word: &str) -> Option<ModeSet> {
    let one = |mode: Mode| [mode].into_iter().collect::<ModeSet>();
    Some(match word {
        "error" => one(Mode::Refused),
        "timeout" => one(Mode::Timeout),
        "invalid_header" | "invalid_response" | "not_found" | "updating" | "denied" | "non_idempotent" | "off" => {
            ModeSet::EMPTY
        }
        _ => {
            let status: u16 = word.strip_prefix("http_")?.parse().ok()?;
            matches!(status, 403 | 404 | 429 | 500 | 502 | 503 | 504).then(|| one(Mode::Status(status)))?
        }
    })
}

/// A directive of nginx's as a setting with one text: its arguments as they stand in the file.
pub(super) fn as_setting(file: &SourceFile, directive: &Entry) -> Entry {
    let span = directive.value.span;
    let in_place = directive.value.args().all(|a| a.scalar().is_some_and(|s| s.verbatim.is_some()));
    let raw = file.text.get(span.range()).filter(|_| in_place);
    let joined = || directive.value.args().filter_map(Node::as_str).collect::<Vec<_>>().join(" ");
    let text = raw.map_or_else(joined, str::to_string);
    let scalar = Scalar { text: text.into(), plain: true, verbatim: raw.map(|_| span.start) };
    Entry { value: Arc::new(Node::new(span, Value::Scalar(scalar))), ..directive.clone() }
}

/// The words of a list that blanks part, each with its place.
pub(super) fn words(node: &Node) -> Vec<(&str, Span)> {
    let Some(text) = node.as_str() else { return Vec::new() };
    let mut at = 0;
    let mut out = Vec::new();
    for word in text.split(char::is_whitespace).take(settings::MAX_LIST) {
        if !word.is_empty() {
            out.push((word, settings::within(node, at..at + word.len())));
        }
        // What parts the words is one character, a blank of one byte in all that a controller takes.
        at += word.len() + 1;
    }
    out
}
