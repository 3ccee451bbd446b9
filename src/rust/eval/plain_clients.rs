//! HTTP clients that repeat nothing by themselves, and how they differ from reqwest: ureq, hyper, awc, surf, isahc.

use std::rc::Rc;

use super::goal::{End, World};
use super::key::Carried;
use super::machine::{Eval, Machine};
use super::value::{Brand, Client, HttpError, Kind, Request, Response, Taint, Value};
use crate::model::Mode;
use crate::rust::crates::At;
use crate::rust::ir::Name;
use crate::source::Span;

/// The client that a type is: whose, and whether its calls block.
pub(super) fn of_type(path: &[&str]) -> Option<(Brand, bool)> {
    Some(match path {
        ["ureq", .., "Agent"] => (Brand::Ureq, true),
        ["hyper", .., "Client"] | ["hyper_util", .., "Client"] => (Brand::Hyper, false),
        ["awc" | "surf", .., "Client"] => (Brand::Reqwest, false),
        ["isahc", .., "HttpClient"] => (Brand::Isahc, true),
        _ => return None,
    })
}

/// What a function makes: a client, or a request by the method that it is named after.
pub(super) enum Made {
    Client(Brand, bool),
    Request(Brand, bool),
}

/// What a function of these crates makes.
pub(super) fn made_by(path: &[&str]) -> Option<Made> {
    let client = |(brand, blocking)| Some(Made::Client(brand, blocking));
    match path {
        ["ureq", "agent"] | ["ureq", .., "AgentBuilder", "new"] | ["ureq", "config", "Config", "builder"] => {
            Some(Made::Client(Brand::Ureq, true))
        }
        ["ureq", "request"] => Some(Made::Request(Brand::Ureq, true)),
        ["ureq", method] if super::call::http_method(method).is_some() => Some(Made::Request(Brand::Ureq, true)),
        ["surf", method] if super::call::http_method(method).is_some() => Some(Made::Request(Brand::Reqwest, false)),
        ["isahc", method] if isahc_method(method).is_some() => Some(Made::Request(Brand::Isahc, true)),
        [ty @ .., "new" | "builder" | "default" | "new_with_defaults" | "new_with_config" | "config_builder"] => {
            of_type(ty).and_then(client)
        }
        _ => None,
    }
}

/// The HTTP method that one of isahc's methods sends, and whether it waits for the answer.
fn isahc_method(name: &str) -> Option<(&'static str, bool)> {
    let plain = name.strip_suffix("_async");
    Some((super::call::http_method(plain.unwrap_or(name))?, plain.is_none()))
}

impl<'a> Machine<'a, '_> {
    /// Methods that only these clients have; `None`: it is used like reqwest.
    pub(super) fn plain_client_method(
        &mut self,
        client: &Rc<Client<'a>>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        match (client.brand, name, args) {
            (Brand::Ureq, "http_status_as_error", [Value { kind: Kind::Bool(false), .. }]) => {
                let client = Client { brand: Brand::Reqwest, ..(**client).clone() };
                Some(Ok(Value::new(Kind::Client(Rc::new(client)))))
            }
            (Brand::Ureq, "run", [request]) | (Brand::Hyper, "request" | "call", [request]) => {
                let request = self.handed_over(client, request, at.span);
                Some(self.sending(&request, at.span))
            }
            (Brand::Hyper, "get", [url]) => {
                let request = self.request_of(client, Some(Rc::from("GET")), url, at.span);
                Some(self.sending(&request, at.span))
            }
            (Brand::Isahc, "send" | "send_async", [request]) => {
                let blocking = Client { blocking: name == "send", ..(**client).clone() };
                let request = self.handed_over(&Rc::new(blocking), request, at.span);
                Some(self.sending(&request, at.span))
            }
            (Brand::Isahc, name, [url, ..]) => {
                let (method, blocking) = isahc_method(name)?;
                let client = Rc::new(Client { blocking, ..(**client).clone() });
                let request = self.request_of(&client, Some(Rc::from(method)), url, at.span);
                let content = Value::digest_all(name, args.get(1..).unwrap_or_default());
                let request = Rc::new(Request { content, ..(*request).clone() });
                Some(self.sending(&request, at.span))
            }
            _ => None,
        }
    }

    /// A request that was put together elsewhere: what is told of it is told by how it was made.
    pub(super) fn handed_over(&self, client: &Rc<Client<'a>>, request: &Value<'a>, span: Span) -> Rc<Request<'a>> {
        if let Kind::Request(request) = &request.kind {
            return Rc::new(Request { client: client.clone(), ..(**request).clone() });
        }
        let made = request.as_unknown().and_then(|u| u.call.clone());
        let url = made.as_ref().and_then(|made| made.url.clone());
        Rc::new(Request {
            client: client.clone(),
            method: made.and_then(|made| made.method.clone()),
            url_span: url.as_ref().map_or(span, |(_, span)| *span),
            url: url.map(|(url, _)| url),
            content: request.digest(),
            key: Carried::Perhaps,
            timeout: None,
        })
    }

    /// What a request of ureq gives back: a status from 400 on is an error.
    pub(super) fn ureq_result(&mut self, end: End) -> Value<'a> {
        let old = self.major("ureq").is_some_and(|major| major < 3);
        let (name, fields) = match (end, &self.world) {
            (End::Tested, World::Statuses(_)) => {
                let status = super::expr::cast_to(self.statuses(Taint::FAILURE), "u16");
                let response = Value::new(Kind::Response(Response::Failed)).tainted(Taint::FAILURE);
                (if old { "Status" } else { "StatusCode" }, vec![status, response])
            }
            (End::Tested, World::Transport(mode)) => {
                let name = match mode {
                    _ if old => "Transport",
                    Mode::Timeout => "Timeout",
                    _ => "Io",
                };
                let error = Value::new(Kind::HttpError(Rc::new(HttpError { transport: Some(*mode) })));
                (name, vec![error.tainted(Taint::FAILURE)])
            }
            _ => return self.http_result(end),
        };
        let error = super::call::variant(None, Name::from(name), fields);
        Value::wrap("Err", error.tainted(Taint::FAILURE))
    }
}
