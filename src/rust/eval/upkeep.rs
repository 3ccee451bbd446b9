//! Repeats that no request waits for: asking whether something is up.
//!
//! They are on no request path, so their attempts multiply nothing, and that they come in step hurts nobody: what they
//! ask is cheap, and one process asks it at its start. Only one that does not wait at all is worth a word.

use super::goal::Outgoing;
use super::machine::Machine;
use crate::rust::reading::UrlPart;

/// Words in the name of a function that asks whether something is up.
const WORDS: [&str; 12] = [
    "ready",
    "readiness",
    "health",
    "healthy",
    "healthz",
    "healthcheck",
    "alive",
    "liveness",
    "ping",
    "reachable",
    "connectivity",
    "probe",
];

/// Ends of a URL's path that answer whether something is up.
const PATHS: [&str; 9] =
    ["/health", "/healthz", "/healthcheck", "/ready", "/readyz", "/livez", "/ping", "/_ping", "/-/ready"];

impl<'a> Machine<'a, '_> {
    /// Notes, for each episode that is open, whether this call of it asks only whether something is up.
    pub(super) fn note_upkeep(&mut self, call: &Outgoing) {
        if !call.method.as_deref().is_none_or(is_asking) {
            return;
        }
        let up = asks_whether_up(call);
        let index = self.shared.index;
        let named: Vec<bool> =
            self.frames.iter().map(|f| is_upkeep_name(&index.function(f.function).function.name)).collect();
        for episode in &mut self.episodes {
            episode.upkeep |= up || named.iter().skip(episode.frame).any(|is| *is);
        }
    }
}

/// Whether a method asks, and changes nothing.
fn is_asking(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|asking| method.eq_ignore_ascii_case(asking))
}

fn asks_whether_up(call: &Outgoing) -> bool {
    let Some((url, _)) = &call.url else { return false };
    let parts = url.url_parts();
    let Some(UrlPart::Text(last)) = parts.last() else { return false };
    let path = last.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    PATHS.iter().any(|end| path.ends_with(end))
}

/// Whether a function is named after asking whether something is up: `wait_ready`, `check_health`, `ping`.
fn is_upkeep_name(name: &str) -> bool {
    name.split('_').any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_word_by_word() {
        for name in ["wait_ready", "check_health", "ping", "wait_until_healthy", "is_alive"] {
            assert!(is_upkeep_name(name), "{name}");
        }
        for name in ["already_sent", "shipping", "healthcare_claims", "spread", "fetch"] {
            assert!(!is_upkeep_name(name), "{name}");
        }
    }
}
