//! Which failures stand behind an exception's class.

use super::blocks::Resolved;
use crate::model::{Conditions, Mode, ModeSet, Pick, STATUSES};
use crate::source::Span;
use crate::syntax::{Entry, Value};
use crate::systems::settings;

/// What an instance retries: every exception, or those listed, less those ignored.
pub(super) fn conditions(r: &Resolved<'_>) -> Conditions {
    let mut out = Conditions::default();
    let listed = r.retry_exceptions.map(classes).unwrap_or_default();
    let ignored = r.ignore_exceptions.map(classes).unwrap_or_default();
    if r.missing_base.is_some() && listed.is_empty() {
        out.unknown = ModeSet::all();
    } else if listed.is_empty() && r.exception_predicate.is_none() {
        out.yes = ModeSet::all();
        if ignored.is_empty() {
            out.any_error = Some(r.opens);
        }
    }
    pick(&listed, &mut out);
    // What a predicate decides cannot be read here.
    if r.exception_predicate.is_some() {
        out.unknown = ModeSet::all();
    }
    if r.result_predicate.is_some() {
        out.unknown = out.unknown.union(ModeSet::statuses(STATUSES));
    }
    leave_out(&ignored, &mut out);
    out
}

/// What a retry of these classes of exceptions, but not of those, retries; of every class where none is listed.
pub(in super::super) fn of_classes(listed: &[(&str, Span)], ignored: &[(&str, Span)], opens: Span) -> Conditions {
    let mut out = Conditions::default();
    if listed.is_empty() {
        out.yes = ModeSet::all();
        out.any_error = Some(opens).filter(|_| ignored.is_empty());
    }
    pick(listed, &mut out);
    leave_out(ignored, &mut out);
    out
}

fn pick(listed: &[(&str, Span)], out: &mut Conditions) {
    for &(class, span) in listed {
        match failures(class) {
            Failures::Any => {
                out.yes = ModeSet::all();
                out.any_error = out.any_error.or(Some(span));
            }
            Failures::These(modes) => {
                out.yes = out.yes.union(modes);
                out.picks.push(Pick { modes, span, text: format!("`{}`", settings::shown(short(class))) });
            }
            Failures::Unknown => out.unknown = out.unknown.union(ModeSet::all()),
        }
    }
}

fn leave_out(ignored: &[(&str, Span)], out: &mut Conditions) {
    for (class, _) in ignored {
        if let Failures::These(modes) = failures(class) {
            out.yes = out.yes.difference(modes);
            out.unknown = out.unknown.difference(modes);
            out.picks.iter_mut().for_each(|p| p.modes = p.modes.difference(modes));
        }
    }
    out.picks.retain(|p| !p.modes.is_empty());
    out.unknown = out.unknown.difference(out.yes);
}

/// Longer lists are cut off, since many instances can share one.
const MAX_CLASSES: usize = 100;

/// The classes of a list, or of a comma list in one string.
fn classes(entry: &Entry) -> Vec<(&str, Span)> {
    match &entry.value.value {
        Value::List(items) => {
            items.iter().take(MAX_CLASSES).filter_map(|n| Some((n.as_str()?.trim(), n.span))).collect()
        }
        _ => settings::list(&entry.value).into_iter().take(MAX_CLASSES).collect(),
    }
}

enum Failures {
    /// Everything that can go wrong.
    Any,
    /// Just these; none where the class stands for no failure of the callee.
    These(ModeSet),
    /// A class of the application.
    Unknown,
}

fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn failures(class: &str) -> Failures {
    let name = short(class);
    let (outer, inner) = name.split_once('$').unwrap_or((name, ""));
    let all = || ModeSet::statuses(STATUSES);
    let client = || ModeSet::statuses(400..=499);
    let server = || ModeSet::statuses(500..=599);
    let one = |mode| Failures::These([mode].into_iter().collect());
    if let Some(status) = status(inner) {
        return one(Mode::Status(status));
    }
    match (outer, inner) {
        ("Exception" | "Throwable" | "RuntimeException" | "RestClientException" | "NestedRuntimeException", _) => {
            Failures::Any
        }
        ("FeignException", "FeignServerException") => Failures::These(server()),
        ("FeignException", "FeignClientException") => Failures::These(client()),
        ("FeignException", _) => Failures::These(all().union(ModeSet::transport())),
        ("HttpServerErrorException", _) => Failures::These(server()),
        ("HttpClientErrorException", _) => Failures::These(client()),
        ("HttpStatusCodeException" | "RestClientResponseException" | "WebClientResponseException", _) => {
            Failures::These(all())
        }
        ("IOException" | "UncheckedIOException" | "ResourceAccessException" | "WebClientRequestException", _)
        | ("RetryableException" | "SocketException", _) => Failures::These(ModeSet::transport()),
        ("ConnectException" | "HttpHostConnectException" | "UnknownHostException" | "NoRouteToHostException", _) => {
            one(Mode::Refused)
        }
        ("TimeoutException" | "SocketTimeoutException" | "HttpTimeoutException" | "ReadTimeoutException", _)
        | ("ConnectTimeoutException" | "HttpConnectTimeoutException", _) => one(Mode::Timeout),
        ("CallNotPermittedException" | "BulkheadFullException" | "RequestNotPermitted", _) => {
            Failures::These(ModeSet::EMPTY)
        }
        ("IllegalStateException" | "IllegalArgumentException" | "NullPointerException", _) => {
            Failures::These(ModeSet::EMPTY)
        }
        _ => Failures::Unknown,
    }
}

/// The status that a nested class stands for: `HttpClientErrorException$TooManyRequests`.
fn status(inner: &str) -> Option<u16> {
    Some(match inner {
        "BadRequest" => 400,
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "NotFound" => 404,
        "MethodNotAllowed" => 405,
        "NotAcceptable" => 406,
        "Conflict" => 409,
        "Gone" => 410,
        "UnsupportedMediaType" => 415,
        "UnprocessableEntity" | "UnprocessableContent" => 422,
        "TooManyRequests" => 429,
        "InternalServerError" => 500,
        "NotImplemented" => 501,
        "BadGateway" => 502,
        "ServiceUnavailable" => 503,
        "GatewayTimeout" => 504,
        _ => return None,
    })
}
