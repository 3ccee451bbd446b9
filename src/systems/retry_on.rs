//! The words of Envoy's `retry_on`, which everything built on Envoy takes over.

use std::collections::BTreeSet;

use super::settings::shown;
use crate::model::{Conditions, Inert, Mode, ModeSet, Pick};
use crate::source::Span;
use crate::suggest;

/// Where the figures of Envoy's retries stand.
pub(super) const RETRY_STATE: &str = "envoyproxy/envoy source/common/router/retry_state_impl.cc";

/// What stands around the words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    /// A try has a limit of its own, so that one that takes too long is retried; without it the limit on all tries
    /// ends the request instead.
    pub timeouts: bool,
    /// There is a list of headers for `retriable-headers`.
    pub headers: bool,
    /// A bare number is a status (Istio).
    pub numbers: bool,
}

/// What a list of words and of statuses retries.
#[derive(Debug, Clone, Default)]
pub(super) struct RetryOn {
    /// The conditions.
    pub conditions: Conditions,
    /// Whether any word is known; with none, Envoy does not retry at all.
    pub known: bool,
    /// Words that add nothing.
    pub inert: Vec<Inert>,
}

/// Every word.
const WORDS: [&str; 16] = [
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "refused-stream",
    "retriable-4xx",
    "retriable-status-codes",
    "retriable-headers",
    "envoy-ratelimited",
    "http3-post-connect-failure",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

/// Reads the words; statuses count only where the word for them is there. Unknown words are dropped, as Envoy does.
pub(super) fn read(words: &[(&str, Span)], statuses: &[(u16, Span)], around: Around) -> RetryOn {
    let mut out = RetryOn::default();
    let mut seen = BTreeSet::new();
    for &(word, span) in words.iter().filter(|(word, _)| seen.insert(*word)) {
        let number = around.numbers.then(|| word.parse().ok()).flatten();
        let Some(modes) = number.map(|n: u16| ModeSet::statuses([n])).or_else(|| modes(word, around)) else {
            out.inert.push(unknown(word, span));
            continue;
        };
        out.known = true;
        add(&mut out.conditions, modes, span, word);
        out.conditions.lost_answers |= matches!(word, "5xx" | "gateway-error" | "reset");
        match word {
            "retriable-status-codes" if statuses.is_empty() && !(around.numbers && names_statuses(words)) => {
                let why = "it stands for a list of statuses, and there is none, so it retries nothing";
                out.inert
                    .push(Inert::new(span, "`retriable-status-codes`", why).instead("List the statuses that can pass"));
            }
            "retriable-headers" if !around.headers => {
                let why = "it stands for a list of response headers, and there is none, so it retries nothing";
                out.inert
                    .push(Inert::new(span, "`retriable-headers`", why).instead("List the headers, or take it out"));
            }
            "retriable-status-codes" => {
                let mut seen = BTreeSet::new();
                for &(status, span) in statuses.iter().filter(|(status, _)| seen.insert(*status)) {
                    add(&mut out.conditions, ModeSet::statuses([status]), span, &status.to_string());
                }
            }
            // Which responses carry such a header cannot be known.
            "retriable-headers" => {
                out.conditions.unknown = out.conditions.unknown.union(ModeSet::statuses(crate::model::STATUSES));
            }
            "envoy-ratelimited" => {
                out.conditions.unknown = out.conditions.unknown.union(ModeSet::statuses([429]));
            }
            _ => {}
        }
    }
    out
}

/// Whether bare numbers stand among the words.
fn names_statuses(words: &[(&str, Span)]) -> bool {
    words.iter().any(|(word, _)| word.parse::<u16>().is_ok())
}

/// A word that Envoy drops without a sound.
fn unknown(word: &str, span: Span) -> Inert {
    let word = shown(word);
    let inert = Inert::new(span, format!("`{word}`"), "Envoy knows no such condition and passes over it");
    match suggest::closest(&word, WORDS) {
        _ if word.parse::<u16>().is_ok() => inert
            .instead(format!("Name `retriable-status-codes`, and {word} in the list of statuses that belongs to it")),
        Some(meant) => inert.instead(format!("Write `{meant}`, if that is what is meant")),
        None => inert,
    }
}

fn add(conditions: &mut Conditions, modes: ModeSet, span: Span, word: &str) {
    conditions.yes = conditions.yes.union(modes);
    if !modes.is_empty() {
        conditions.picks.push(Pick { modes, span, text: format!("`{}`", shown(word)) });
    }
}

/// What one word retries; `None` for an unknown word.
fn modes(word: &str, around: Around) -> Option<ModeSet> {
    let one = |mode| [mode].into_iter().collect::<ModeSet>();
    let refused = one(Mode::Refused);
    // A reset stream, a lost connection, a try that took too long.
    let resets = if around.timeouts { ModeSet::transport() } else { refused };
    Some(match word {
        "5xx" => ModeSet::statuses(500..=599).union(resets),
        "gateway-error" => ModeSet::statuses(502..=504).union(resets),
        "reset" => resets,
        "reset-before-request" | "connect-failure" => refused,
        "retriable-4xx" => ModeSet::statuses([409]),
        "cancelled" => one(Mode::Grpc(1)),
        "deadline-exceeded" => one(Mode::Grpc(4)),
        "resource-exhausted" => one(Mode::Grpc(8)),
        "internal" => one(Mode::Grpc(13)),
        "unavailable" => one(Mode::Grpc(14)),
        "refused-stream"
        | "retriable-status-codes"
        | "retriable-headers"
        | "envoy-ratelimited"
        | "http3-post-connect-failure" => ModeSet::EMPTY,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn names(words: &str, around: Around) -> Vec<String> {
        let at = Span::start_of(FileId(0));
        let words: Vec<(&str, Span)> = words.split(',').map(|w| (w, at)).collect();
        read(&words, &[(429, at)], around).conditions.yes.names()
    }

    #[test]
    fn words() {
        let tried = Around { timeouts: true, ..Around::default() };
        assert_eq!(names("5xx", tried), ["refused", "timeout", "5xx"]);
        assert_eq!(names("5xx", Around::default()), ["refused", "5xx"]);
        assert_eq!(names("gateway-error", tried), ["refused", "timeout", "502-504"]);
        assert_eq!(
            names("connect-failure,refused-stream,unavailable,cancelled", tried),
            ["refused", "grpc:1", "grpc:14"]
        );
        assert_eq!(names("retriable-4xx", tried), ["409"]);
        assert_eq!(names("retriable-status-codes", tried), ["429"]);
        assert!(names("retriable-status-code,503", tried).is_empty());
        assert_eq!(names("503,reset", Around { numbers: true, ..Around::default() }), ["refused", "503"]);
    }

    #[test]
    fn unknown_words_alone_retry_nothing() {
        let at = Span::start_of(FileId(0));
        assert!(!read(&[("5XX", at)], &[], Around::default()).known);
        assert!(read(&[("5XX", at), ("refused-stream", at)], &[], Around::default()).known);
    }
}
