//! Spring's names of statuses and of their classes.

use crate::model::{ModeSet, status_named};

/// A status by its number or the name of Spring's `HttpStatus`.
pub(super) fn status(word: &str) -> Option<ModeSet> {
    let code = status_named(&word.to_ascii_uppercase()).or_else(|| word.parse().ok())?;
    Some(ModeSet::statuses([code]))
}

/// A class of statuses; those of good answers are none that this program looks at.
pub(super) fn series(word: &str) -> Option<ModeSet> {
    Some(match word.to_ascii_uppercase().as_str() {
        "CLIENT_ERROR" => ModeSet::statuses(400..=499),
        "SERVER_ERROR" => ModeSet::statuses(500..=599),
        "INFORMATIONAL" | "SUCCESSFUL" | "REDIRECTION" => ModeSet::EMPTY,
        _ => return None,
    })
}

/// What exceptions of a class stand for; `None` where the name does not tell.
pub(super) fn exception(class: &str) -> Option<ModeSet> {
    use crate::model::Mode::{Refused, Timeout};
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    let modes: &[crate::model::Mode] = match simple {
        "IOException" | "ConnectException" | "UnknownHostException" | "SocketException" => &[Refused],
        "ConnectTimeoutException" => &[Refused],
        "Exception" | "Throwable" | "RuntimeException" => &[Refused, Timeout],
        name if name.contains("Timeout") => &[Timeout],
        _ => return None,
    };
    Some(modes.iter().copied().collect())
}
