//! reqwest and clients that look like it: from `client.get(url)` to what `send()` gives back.

use std::rc::Rc;

use super::goal::{Outgoing, World};
use super::key::Carried;
use super::machine::{Eval, Machine};
use super::plain_clients::Made;
use super::value::{
    Brand, Client, ClientLayer, Future, HttpError, Kind, Request, Response, Taint, Text, TextPart, Value, Why,
};
use crate::model::Mode;
use crate::rust::crates::At;
use crate::rust::ir::Path;
use crate::source::Span;

/// A client of which only the type is known.
pub(crate) fn client_of_type<'a>(path: &Path, id: u64) -> Option<Value<'a>> {
    let all = super::std_names::segments(path);
    let last = *all.last()?;
    let first = *all.first()?;
    if first == "reqwest_middleware" && last == "Next" {
        // What a middleware hands a request on to.
        let next = Client::plain(id, Brand::Reqwest, false);
        return Some(Value::new(Kind::Client(Rc::new(next))));
    }
    if let Some((brand, blocking)) = super::plain_clients::of_type(&all) {
        return Some(Value::new(Kind::Client(Rc::new(Client::plain(id, brand, blocking)))));
    }
    let ours = first.starts_with("reqwest") || first == "http_client";
    if !ours || !matches!(last, "Client" | "ClientWithMiddleware") {
        return None;
    }
    let open = last == "ClientWithMiddleware";
    let blocking = all.contains(&"blocking");
    Some(Value::new(Kind::Client(Rc::new(Client { open, ..Client::plain(id, Brand::Reqwest, blocking) }))))
}

/// Whether a text names a header in which a server says how long to wait.
pub(crate) fn names_retry_after(value: &Value<'_>) -> bool {
    value.known_text().is_some_and(|t| super::expr::is_retry_after(&t))
}

/// The limit that a duration sets, or `Some` of one.
fn limit_of(value: &Value<'_>, at: At) -> Option<super::value::Limit> {
    let plain = match value.variant() {
        Some(("Some", Some(inner))) => inner,
        _ => value,
    };
    Some((plain.duration()?.mid, at.named()))
}

/// The text of a URL, as far as it is one.
pub(super) fn text_of_url(value: &Value<'_>) -> Option<Rc<Text>> {
    match &value.kind {
        Kind::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn text_value(value: &Value<'_>) -> Text {
    match &value.kind {
        Kind::Text(t) => (**t).clone(),
        _ => Text { parts: vec![TextPart::Unknown(value.digest())] },
    }
}

impl<'a> Machine<'a, '_> {
    /// Functions of reqwest; `None` if it is none.
    pub(crate) fn http_function(&mut self, path: &Path, args: &[Value<'a>], span: Span) -> Option<Eval<'a>> {
        let all = super::std_names::segments(path);
        let first = *all.first()?;
        let id =
            Value::digest_all("client", [&Value::int(i128::from(span.start)), &Value::int(i128::from(span.file.0))]);
        match super::plain_clients::made_by(&all) {
            Some(Made::Client(brand, blocking)) => {
                // Made of settings that were put together like a client.
                let settings = args.iter().find(|a| matches!(a.kind, Kind::Client(_)));
                let client = || Value::new(Kind::Client(Rc::new(Client::plain(id, brand, blocking))));
                return Some(Ok(settings.cloned().unwrap_or_else(client)));
            }
            Some(Made::Request(brand, blocking)) => {
                // The same as a method of a client that nobody has set anything of.
                let client = Rc::new(Client::plain(0, brand, blocking));
                let name = path.segments.last()?;
                return match args {
                    [method, url] if &**name == "request" => {
                        let method = method.known_text().map(Rc::from);
                        Some(Ok(Value::new(Kind::Request(self.request_of(&client, method, url, span)))))
                    }
                    [url, rest @ ..] => {
                        let method = super::call::http_method(name.trim_end_matches("_async")).map(Rc::from);
                        let request = self.request_of(&client, method, url, span);
                        if brand != Brand::Isahc {
                            return Some(Ok(Value::new(Kind::Request(request))));
                        }
                        let client = Rc::new(Client { blocking: !name.ends_with("_async"), ..(*client).clone() });
                        let content = Value::digest_all(name, rest);
                        let request = Rc::new(Request { client, content, ..(*request).clone() });
                        Some(self.sending(&request, span))
                    }
                    [] => None,
                };
            }
            None => {}
        }
        if !first.starts_with("reqwest") {
            return None;
        }
        let blocking = all.contains(&"blocking");
        let fresh = || Rc::new(Client::plain(id, Brand::Reqwest, blocking));
        match (all.as_slice(), args) {
            ([.., "Client" | "ClientBuilder", "new" | "builder" | "default"], []) => {
                Some(Ok(Value::new(Kind::Client(fresh()))))
            }
            // reqwest_middleware: a client around a client.
            ([.., "ClientBuilder" | "ClientWithMiddleware", "new" | "from" | "from_client"], [inner, ..]) => {
                let client = match &inner.kind {
                    Kind::Client(inner) => inner.clone(),
                    _ => fresh(),
                };
                Some(Ok(Value::new(Kind::Client(client))))
            }
            ([.., "Request", "new"], [method, url]) => {
                let method = method.known_text().map(Rc::from);
                Some(Ok(self.request(&fresh(), method, url, span)))
            }
            (["reqwest", "get"] | ["reqwest", "blocking", "get"], [url]) => {
                let request = Rc::new(Request {
                    client: fresh(),
                    method: Some(Rc::from("GET")),
                    url: Some(Rc::new(text_value(url))),
                    url_span: span,
                    content: 0,
                    key: Carried::Nothing,
                    timeout: None,
                });
                Some(self.sending(&request, span))
            }
            _ => None,
        }
    }

    /// Methods of clients, requests, responses, errors and statuses.
    pub(crate) fn http_method(
        &mut self,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        match &value.kind {
            Kind::Client(client) => self.client_method(&client.clone(), value, name, args, at),
            Kind::Request(request) => self.request_method(&request.clone(), value, name, args, at),
            Kind::Response(response) => self.response_method(*response, value, name, args, at),
            Kind::HttpError(error) => self.error_method(&error.clone(), value, name),
            Kind::Status(status) => status_method(*status, name).map(|v| Ok(v.tainted(value.taint))),
            _ => None,
        }
    }

    /// A method of an error or a status that takes nothing, as `Error::is_connect` is handed to something.
    pub(crate) fn plain_http_method(&mut self, value: &Value<'a>, name: &str) -> Option<Eval<'a>> {
        match &value.kind {
            Kind::HttpError(error) => self.error_method(&error.clone(), value, name),
            Kind::Status(status) => status_method(*status, name).map(|v| Ok(v.tainted(value.taint))),
            _ => None,
        }
    }

    /// Methods of something not known that a name gives away as an HTTP response's.
    pub(crate) fn http_like_method(
        &mut self,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let _ = at;
        if let ("status" | "status_code", [], Some(unknown)) = (name, args, value.as_unknown()) {
            self.asked_for_status(unknown.id);
        }
        let answered = value.taint.has(Taint::ANSWER) && args.is_empty();
        match name {
            // A good answer is a success, whatever client brought it.
            "is_success" if answered => Some(Ok(Value::bool(true).tainted(value.taint))),
            "code" if args.is_empty() && value.taint.has(Taint::FAILURE) && matches!(self.world, World::Codes(_)) => {
                Some(Ok(self.statuses(value.taint)))
            }
            "is_client_error" | "is_server_error" if answered => Some(Ok(Value::bool(false).tainted(value.taint))),
            // The error of an outer crate around the one of which all is known.
            "status" if value.taint.has(Taint::FAILURE) && value.as_unknown().is_some_and(|u| u.call.is_none()) => {
                Some(Ok(self.derived("status", Why::Other("is a status that cannot be told"), &[value])))
            }
            _ => None,
        }
    }

    fn client_method(
        &mut self,
        client: &Rc<Client<'a>>,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        if client.brand != Brand::Reqwest
            && let Some(result) = self.plain_client_method(client, name, args, at)
        {
            return Some(result);
        }
        if let Some(method) = super::call::http_method(name)
            && let [url] = args
        {
            return Some(Ok(self.request(client, Some(Rc::from(method)), url, at.span)));
        }
        match (name, args) {
            ("request", [method, url]) => {
                let method = method.known_text().map(|m| Rc::from(m.to_ascii_uppercase()));
                Some(Ok(self.request(client, method, url, at.span)))
            }
            // `next.run(request, extensions)` is how a middleware hands a request on.
            ("execute", [request]) | ("run", [request, _]) => {
                let request = match &request.kind {
                    Kind::Request(request) => Request { client: client.clone(), ..(**request).clone() },
                    _ => Request {
                        client: client.clone(),
                        method: None,
                        url: None,
                        url_span: at.span,
                        content: request.digest(),
                        key: Carried::Perhaps,
                        timeout: None,
                    },
                };
                Some(self.sending(&Rc::new(request), at.span))
            }
            ("with" | "with_arc" | "retry", [layer]) => Some(Ok(self.with_layer(client, layer))),
            ("clone", []) => Some(Ok(value.clone())),
            ("timeout", [limit]) => {
                let client = Client { timeout: limit_of(limit, at), ..(**client).clone() };
                Some(Ok(Value::new(Kind::Client(Rc::new(client)))))
            }
            // A builder's settings, `build()`, and what unwraps its result.
            _ => Some(Ok(value.clone())),
        }
    }

    fn request(&mut self, client: &Rc<Client<'a>>, method: Option<Rc<str>>, url: &Value<'a>, span: Span) -> Value<'a> {
        Value::new(Kind::Request(self.request_of(client, method, url, span)))
    }

    /// A request that is yet to be sent.
    pub(super) fn request_of(
        &self,
        client: &Rc<Client<'a>>,
        method: Option<Rc<str>>,
        url: &Value<'a>,
        span: Span,
    ) -> Rc<Request<'a>> {
        Rc::new(Request {
            client: client.clone(),
            method,
            url: Some(Rc::new(text_value(url))),
            url_span: span,
            content: 0,
            key: Carried::Nothing,
            timeout: None,
        })
    }

    fn request_method(
        &mut self,
        request: &Rc<Request<'a>>,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        match name {
            "send" | "call" | "send_json" | "send_form" | "send_body" | "send_string" | "send_bytes" | "send_empty" => {
                let content = match args {
                    [] => request.content,
                    args => Value::digest_all(name, args.iter().chain([&Value::int(i128::from(request.content))])),
                };
                let key = request.key.with_body(args);
                Some(self.sending(&Rc::new(Request { content, key, ..(**request).clone() }), at.span))
            }
            "json" | "body" | "form" | "query" | "multipart" => {
                let content = Value::digest_all(name, args.iter().chain([&Value::int(i128::from(request.content))]));
                let key = request.key.with_body(args);
                let request = Request { content, key, ..(**request).clone() };
                Some(Ok(Value::new(Kind::Request(Rc::new(request))).tainted(value.taint)))
            }
            "header" | "headers" | "set" => {
                let key = match args {
                    [name, value] => request.key.with_header(name, value),
                    _ => request.key.with_headers(),
                };
                let request = Request { key, ..(**request).clone() };
                Some(Ok(Value::new(Kind::Request(Rc::new(request))).tainted(value.taint)))
            }
            "timeout" => {
                let timeout = args.first().and_then(|limit| limit_of(limit, at));
                let request = Request { timeout, ..(**request).clone() };
                Some(Ok(Value::new(Kind::Request(Rc::new(request))).tainted(value.taint)))
            }
            "try_clone" => Some(Ok(Value::wrap("Some", value.clone()))),
            "method" if args.is_empty() => Some(Ok(match &request.method {
                Some(method) => Value::text(&**method),
                None => self.derived("method", Why::Other("is the request's method"), &[value]),
            })),
            "url_mut" | "headers_mut" | "body_mut" | "timeout_mut" => Some(Ok(Value::unit())),
            _ => Some(Ok(value.clone())),
        }
    }

    fn with_layer(&mut self, client: &Rc<Client<'a>>, layer: &Value<'a>) -> Value<'a> {
        let mut layers = client.layers.clone();
        if let Kind::Native(native) = &layer.kind {
            if let Some(layer) = native.clone().client_layer() {
                self.layers_made.push(layer.clone());
                let at = match layer.innermost() {
                    true => layers.len(),
                    false => layers.iter().position(|l| l.innermost()).unwrap_or(layers.len()),
                };
                layers.insert(at, layer);
            }
        } else {
            let own = crate::rust::crates::middleware::own(self, layer);
            let at = layers.iter().position(|l| l.innermost()).unwrap_or(layers.len());
            layers.splice(at..at, own);
        }
        let client = Client { layers, open: false, ..(**client).clone() };
        Value::new(Kind::Client(Rc::new(client)))
    }

    /// A request on its way: an async one when it is awaited, a blocking one now.
    pub(super) fn sending(&mut self, request: &Rc<Request<'a>>, span: Span) -> Eval<'a> {
        if request.client.blocking {
            return self.send(request, span);
        }
        Ok(Value::new(Kind::Future(Rc::new(Future::Send { request: request.clone(), span }))))
    }

    /// Sends a request through its client's layers.
    pub(crate) fn send(&mut self, request: &Rc<Request<'a>>, span: Span) -> Eval<'a> {
        let mut layers = request.client.layers.clone();
        if request.client.open && layers.is_empty() {
            layers = self.only_layers();
        }
        self.send_through(&layers, request, span)
    }

    /// Sends a request through these layers, outermost first.
    pub(crate) fn send_through(
        &mut self,
        layers: &[ClientLayer<'a>],
        request: &Rc<Request<'a>>,
        span: Span,
    ) -> Eval<'a> {
        let Some((layer, rest)) = layers.split_first() else {
            let outgoing = Outgoing {
                span,
                identity: Value::new(Kind::Request(request.clone())).digest(),
                http: true,
                grpc: false,
                url: request.url.clone().map(|url| (url, request.url_span)),
                method: request.method.clone(),
                key: request.key,
                limit: request.timeout.or(request.client.timeout),
                layered: self.episodes.iter().any(|e| e.repeats()),
                takes_messages: false,
                stream: None,
                what: "the request".to_owned(),
            };
            let end = self.outgoing(&outgoing)?;
            return Ok(match request.client.brand {
                Brand::Ureq => self.ureq_result(end),
                Brand::Reqwest | Brand::Hyper | Brand::Isahc => self.http_result(end),
            });
        };
        if let Some(result) = layer.around(self, rest, request, span) {
            return result;
        }
        self.under(layer, Some(request), &mut |m| m.send_through(rest, request, span))
    }

    /// Calls something through these layers, outermost first.
    pub(crate) fn through(
        &mut self,
        layers: &[ClientLayer<'a>],
        call: &mut dyn FnMut(&mut Self) -> Eval<'a>,
    ) -> Eval<'a> {
        match layers.split_first() {
            Some((layer, rest)) => self.under(layer, None, &mut |m| m.through(rest, call)),
            None => call(self),
        }
    }

    /// Calls something under one layer.
    fn under(
        &mut self,
        layer: &ClientLayer<'a>,
        request: Option<&Rc<Request<'a>>>,
        call: &mut dyn FnMut(&mut Self) -> Eval<'a>,
    ) -> Eval<'a> {
        layer.begin();
        self.repeat(layer.described(), call, &mut |m, result| layer.again_of(m, request, result))
    }

    fn response_method(
        &mut self,
        response: Response,
        value: &Value<'a>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        match name {
            "status" | "status_code" => Some(Ok(match response {
                Response::Other => Value::new(Kind::Status(200)),
                Response::Good | Response::Failed => self.statuses(value.taint),
            })),
            "error_for_status" | "error_for_status_ref" => Some(Ok(match response {
                Response::Failed => {
                    let error = Value::new(Kind::HttpError(Rc::new(HttpError { transport: None })));
                    Value::wrap("Err", error.tainted(value.taint))
                }
                _ => Value::wrap("Ok", value.clone()),
            })),
            // The head holds the status as a field.
            "into_parts" => {
                let body = self.good_result(name, value);
                Some(Ok(Value::tuple(vec![value.clone(), body])))
            }
            "headers" => {
                let id = Value::digest_all("headers", [value]);
                Some(Ok(Value::unknown(id, Why::Other("is what the server answers")).tainted(value.taint)))
            }
            "text" | "json" | "bytes" | "chunk" | "text_with_charset" => {
                let result = self.good_result(name, value);
                Some(Ok(Value::new(Kind::Future(Rc::new(Future::Ready(result))))))
            }
            "content_length" | "url" | "remote_addr" | "version" | "extensions" | "bytes_stream" | "cookies" => {
                let _ = (args, at);
                Some(Ok(self.derived(name, Why::Other("is what the server answers"), &[value])))
            }
            _ => None,
        }
    }

    fn error_method(&mut self, error: &Rc<HttpError>, value: &Value<'a>, name: &str) -> Option<Eval<'a>> {
        let truth = |b: bool| Some(Ok(Value::bool(b).tainted(value.taint)));
        match name {
            "is_timeout" => truth(error.transport == Some(Mode::Timeout)),
            "is_connect" => truth(error.transport == Some(Mode::Refused)),
            "is_request" => truth(error.transport.is_some()),
            "is_status" => truth(error.transport.is_none()),
            "is_body" | "is_decode" | "is_redirect" | "is_builder" | "is_middleware" | "is_upgrade" => truth(false),
            "status" => Some(Ok(match error.transport {
                None => Value::wrap("Some", self.statuses(value.taint)),
                Some(_) => Value::none().tainted(value.taint),
            })),
            "downcast_ref" => Some(Ok(Value::wrap("Some", value.clone()))),
            "downcast" => Some(Ok(Value::wrap("Ok", value.clone()))),
            "without_url" | "with_url" | "root_cause" | "into" | "unwrap_or_else" => Some(Ok(value.clone())),
            _ => None,
        }
    }
}

fn status_method<'a>(status: u16, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "as_u16" | "into" => Value::int(i128::from(status)),
        "is_success" => Value::bool((200..300).contains(&status)),
        "is_client_error" => Value::bool((400..500).contains(&status)),
        "is_server_error" => Value::bool((500..600).contains(&status)),
        "is_redirection" => Value::bool((300..400).contains(&status)),
        "is_informational" => Value::bool((100..200).contains(&status)),
        "as_str" | "to_string" => Value::text(status.to_string()),
        "clone" | "to_owned" => Value::new(Kind::Status(status)),
        _ => return None,
    })
}
