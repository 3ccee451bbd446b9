//! Spring's names of statuses and of their classes.

use crate::model::ModeSet;

/// A status by its number or the name of Spring's `HttpStatus`.
pub(super) fn status(word: &str) -> Option<ModeSet> {
    let code = match word.to_ascii_uppercase().as_str() {
        "BAD_REQUEST" => 400,
        "UNAUTHORIZED" => 401,
        "PAYMENT_REQUIRED" => 402,
        "FORBIDDEN" => 403,
        "NOT_FOUND" => 404,
        "METHOD_NOT_ALLOWED" => 405,
        "NOT_ACCEPTABLE" => 406,
        "PROXY_AUTHENTICATION_REQUIRED" => 407,
        "REQUEST_TIMEOUT" => 408,
        "CONFLICT" => 409,
        "GONE" => 410,
        "LENGTH_REQUIRED" => 411,
        "PRECONDITION_FAILED" => 412,
        "PAYLOAD_TOO_LARGE" | "CONTENT_TOO_LARGE" => 413,
        "URI_TOO_LONG" => 414,
        "UNSUPPORTED_MEDIA_TYPE" => 415,
        "EXPECTATION_FAILED" => 417,
        "UNPROCESSABLE_ENTITY" | "UNPROCESSABLE_CONTENT" => 422,
        "LOCKED" => 423,
        "FAILED_DEPENDENCY" => 424,
        "TOO_EARLY" => 425,
        "UPGRADE_REQUIRED" => 426,
        "PRECONDITION_REQUIRED" => 428,
        "TOO_MANY_REQUESTS" => 429,
        "INTERNAL_SERVER_ERROR" => 500,
        "NOT_IMPLEMENTED" => 501,
        "BAD_GATEWAY" => 502,
        "SERVICE_UNAVAILABLE" => 503,
        "GATEWAY_TIMEOUT" => 504,
        "HTTP_VERSION_NOT_SUPPORTED" => 505,
        "INSUFFICIENT_STORAGE" => 507,
        "LOOP_DETECTED" => 508,
        "BANDWIDTH_LIMIT_EXCEEDED" => 509,
        number => number.parse().ok()?,
    };
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
