//! The words of `retry-on`.

use crate::model::{Conditions, Mode, ModeSet, Pick, STATUSES};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::settings;

/// What a list of words says.
#[derive(Debug, Clone, Default)]
pub(super) struct RetryOn {
    /// What is retried.
    pub conditions: Conditions,
    /// The first word about what comes after a request was sent.
    pub after_sending: Option<Span>,
}

impl RetryOn {
    /// What holds where nothing is written: `conn-failure`.
    pub(super) fn by_default(opens: Span) -> Self {
        let modes = one(Mode::Refused);
        let pick = Pick { modes, span: opens, text: "the default `conn-failure`".to_string() };
        let conditions = Conditions { yes: modes, picks: vec![pick], ..Conditions::default() };
        Self { conditions, after_sending: None }
    }

    /// A list. In mode tcp only what concerns connecting counts.
    pub(super) fn read(entry: &Entry, is_tcp: bool) -> Self {
        let mut out = Self::default();
        for (word, span) in entry.value.args().take(settings::MAX_LIST).filter_map(|a| Some((Node::as_str(a)?, a.span)))
        {
            let Some(mut modes) = modes(word) else {
                out.conditions.unknown = ModeSet::statuses(STATUSES);
                continue;
            };
            if word != "conn-failure" && word != "none" {
                out.after_sending.get_or_insert(span);
                if is_tcp {
                    modes = if word == "all-retryable-errors" { one(Mode::Refused) } else { ModeSet::EMPTY };
                }
            }
            out.conditions.yes = out.conditions.yes.union(modes);
            if !modes.is_empty() {
                out.conditions.picks.push(Pick { modes, span, text: format!("`{word}`") });
            }
        }
        out
    }

    /// Without what comes after a request was sent.
    pub(super) fn only_connecting(&mut self) {
        let kept = one(Mode::Refused);
        let has_connecting = self
            .conditions
            .picks
            .iter()
            .any(|p| matches!(p.text.as_str(), "`conn-failure`" | "`all-retryable-errors`"));
        self.conditions.yes = if has_connecting { kept } else { ModeSet::EMPTY };
        self.conditions.unknown = ModeSet::EMPTY;
        let yes = self.conditions.yes;
        for pick in &mut self.conditions.picks {
            pick.modes = pick.modes.intersection(yes);
        }
        self.conditions.picks.retain(|p| !p.modes.is_empty());
    }
}

fn one(mode: Mode) -> ModeSet {
    [mode].into_iter().collect()
}

/// What a word retries. An answer that never begins (closed or reset after sending) is as if refused.
pub(in crate::systems::gateways) fn modes(word: &str) -> Option<ModeSet> {
    Some(match word {
        "none" | "junk-response" | "0rtt-rejected" => ModeSet::EMPTY,
        "conn-failure" | "empty-response" => one(Mode::Refused),
        "response-timeout" => one(Mode::Timeout),
        "all-retryable-errors" => ModeSet::transport().union(ModeSet::statuses([500, 502, 503, 504])),
        _ => {
            let status: u16 = word.parse().ok()?;
            let known = matches!(status, 401 | 403 | 404 | 408 | 421 | 425 | 429 | 500..=504);
            known.then(|| ModeSet::statuses([status]))?
        }
    })
}
