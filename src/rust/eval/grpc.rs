//! gRPC by tonic: channels, the clients that its build script makes of a service's definition, and the codes with which
//! calls end.
//!
//! A code is held as a status: its numbers, 1 to 16, are none of HTTP's.

use std::rc::Rc;

use super::goal::Outgoing;
use super::http::text_of_url;
use super::key::Carried;
use super::machine::{Eval, Machine};
use super::std_names::segments;
use super::value::{Future, Kind, Run, Text, Typed, Value};
use crate::model::Mode;
use crate::rust::crates::{At, Native};
use crate::rust::ir::Path;
use crate::source::Span;

/// The codes that are failures.
pub(super) const CODES: std::ops::RangeInclusive<u16> = 1..=16;

/// The names of the codes, from 0 on (`grpc/grpc doc/statuscodes.md`).
const NAMES: [&str; 17] = [
    "Ok",
    "Cancelled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// The number of `Code::Name`.
pub(super) fn code_named(name: &str) -> Option<u16> {
    NAMES.iter().position(|n| *n == name).and_then(|n| u16::try_from(n).ok())
}

/// The failures of which a code tells: a refused connection is UNAVAILABLE, a deadline that has passed
/// DEADLINE_EXCEEDED.
pub(super) fn modes(code: u16) -> impl Iterator<Item = Mode> {
    let fault = match code {
        4 => Some(Mode::Timeout),
        14 => Some(Mode::Refused),
        _ => None,
    };
    u8::try_from(code).ok().map(Mode::Grpc).into_iter().chain(fault)
}

/// Methods of generated clients that set something.
const SETTINGS: [&str; 6] = [
    "accept_compressed",
    "send_compressed",
    "max_decoding_message_size",
    "max_encoding_message_size",
    "with_interceptor",
    "with_origin",
];

/// A channel or an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    url: Option<(Rc<Text>, Span)>,
    id: u64,
}

/// A generated client.
#[derive(Debug, Clone)]
struct Stub(Channel);

impl Channel {
    /// To this address.
    fn to(url: &Value<'_>, span: Span) -> Self {
        Self { id: url.digest(), url: text_of_url(url).map(|text| (text, span)) }
    }
}

fn native<'a>(value: impl Native<'a> + 'a) -> Value<'a> {
    Value::new(Kind::Native(Rc::new(value)))
}

fn ready<'a>(value: Value<'a>) -> Value<'a> {
    Value::new(Kind::Future(Rc::new(Future::Ready(Value::wrap("Ok", value)))))
}

impl<'a> Native<'a> for Channel {
    fn identity(&self) -> u64 {
        self.id
    }

    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        matches!(name, "connect" | "ready").then(|| Ok(ready(Value::new(Kind::Native(self)))))
    }

    fn channel(&self) -> Option<Channel> {
        Some(self.clone())
    }
}

impl<'a> Native<'a> for Stub {
    fn identity(&self) -> u64 {
        self.0.id
    }

    /// A call takes the request, and nothing else.
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, name: &'a str, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
        let request = match (name, args) {
            ("ready", []) => return Some(Ok(ready(Value::new(Kind::Native(self))))),
            ("unary" | "server_streaming" | "client_streaming" | "streaming", [request, _, _]) => request,
            (_, [request]) if !SETTINGS.contains(&name) && !super::option::METHODS.contains(&name) => request,
            _ => return None,
        };
        let identity = Value::digest_all(name, [request, &Value::int(i128::from(self.0.id))]);
        let run = move |m: &mut Machine<'a, '_>| {
            let outgoing = Outgoing {
                span: at.span,
                identity,
                http: true,
                grpc: true,
                url: self.0.url.clone(),
                method: None,
                key: Carried::Perhaps,
                limit: None,
                layered: m.episodes.iter().any(|e| e.repeats()),
                takes_messages: false,
                stream: None,
                what: format!("`{name}`"),
            };
            let end = m.outgoing(&outgoing)?;
            Ok(m.opaque_result(end, name))
        };
        Some(Ok(Value::new(Kind::Future(Rc::new(Future::Library(Run(Rc::new(run))))))))
    }

    fn channel(&self) -> Option<Channel> {
        Some(self.0.clone())
    }
}

/// Whether a path leads to a client that tonic's build script makes: `stock_client::StockClient`.
fn is_generated(path: &[&str]) -> bool {
    matches!(path, [.., module, ty] if module.ends_with("_client") && ty.ends_with("Client"))
}

impl<'a> Machine<'a, '_> {
    /// A channel or a generated client that a function makes.
    pub(super) fn grpc_function(&mut self, path: &Path, args: &[Value<'a>], span: Span) -> Option<Value<'a>> {
        let all = segments(path);
        match (all.as_slice(), args) {
            (["tonic", .., "Channel" | "Endpoint", made], [url]) => {
                let channel = native(Channel::to(url, span));
                let sure = matches!(*made, "from_static" | "builder");
                Some(if sure { channel } else { Value::wrap("Ok", channel) })
            }
            // Around a channel, with or without an interceptor.
            ([.., ty, "new" | "with_interceptor" | "with_origin"], [inner, ..])
                if ty.ends_with("Client") || all.starts_with(&["tonic"]) =>
            {
                let Kind::Native(inner) = &inner.kind else { return None };
                Some(native(Stub(inner.channel()?)))
            }
            ([ty @ .., "connect"], [url]) if self.is_stub_named(ty) => {
                Some(ready(native(Stub(Channel::to(url, span)))))
            }
            _ => None,
        }
    }

    /// What a build script makes cannot be looked up; its name tells enough where tonic is there.
    fn is_stub_named(&self, path: &[&str]) -> bool {
        if !path.last().is_some_and(|ty| ty.ends_with("Client") && *ty != "Client") {
            return false;
        }
        let index = self.shared.index;
        let context = self.context();
        let has_tonic = index.dependency_on(context.scope, "tonic").is_some();
        // Without a manifest the module's name has to tell.
        has_tonic || index.function(context.function).package.is_none() && is_generated(path)
    }

    /// A channel or a generated client of which only the type is known.
    pub(super) fn grpc_of_type(&self, path: &Path, id: u64, typed: Typed<'a>) -> Option<Value<'a>> {
        let all = segments(path);
        let unknown = Channel { url: None, id };
        match all.as_slice() {
            ["tonic", .., "Channel"] => return Some(native(unknown)),
            // What generated clients call by.
            ["tonic", .., "Grpc"] => return Some(native(Stub(unknown))),
            _ => {}
        }
        let over_channel = || {
            let ty = self.shared.index.unwrapped(typed.scope, typed.ty, 8);
            let last = |ty: &crate::rust::ir::Ty| ty.path.segments.last().map(|n| n.to_string());
            matches!(ty.args.first().and_then(last).as_deref(), Some("Channel" | "InterceptedService"))
        };
        let is_client = all.last().is_some_and(|ty| ty.ends_with("Client"));
        let is_stub = is_client && over_channel() || is_generated(&all) && self.is_stub_named(&all);
        is_stub.then(|| native(Stub(unknown)))
    }
}
