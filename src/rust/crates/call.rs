//! A call of a client, from the operation's name to what is sent.
use std::rc::Rc;

use super::client::{Client, Layer, Link};
use super::{At, Native};
use crate::rust::eval::goal::Outgoing;
use crate::rust::eval::key::Carried;
use crate::rust::eval::machine::{Eval, Machine};
use crate::rust::eval::value::{ClientLayer, Kind, Text, TextPart, Value, Why};
use crate::rust::reading::UrlPart;
use crate::source::Span;

/// A call that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub(super) client: Rc<Client>,
    /// The method of the client that began it.
    pub(super) op: &'a str,
    pub(super) content: u64,
    pub(super) span: Span,
    pub(super) sent: bool,
    /// Whether it asks for the next page or event, which may not be there.
    pub(super) streamed: bool,
    /// The same, an error going to `?`.
    pub(super) pages: bool,
}

impl<'a> Call<'a> {
    pub(super) fn value(self) -> Value<'a> {
        Value::new(Kind::Native(Rc::new(self)))
    }

    fn leaves(&self) -> bool {
        self.sent || self.client.library.sends.is_empty()
    }

    /// Makes the call through the client's layer.
    fn run(&self, machine: &mut Machine<'a, '_>) -> Eval<'a> {
        let layer = match &self.client.link {
            Link::Open => machine.layer_made_elsewhere(self.client.library, self.span),
            _ => self.client.layer().map(|l| Rc::new(l) as ClientLayer<'a>),
        };
        let Some(layer) = layer else { return self.once(machine, self.client.leaf.clone()) };
        let leaf = self.client.leaf.clone().or_else(|| layer.leaf());
        let own = Layer { library: self.client.library, described: layer.described(), leaf: leaf.clone() };
        machine.repeat(layer.described(), &mut |m| self.once(m, leaf.clone()), &mut |m, result| {
            own.repeats(m, self.op, result)
        })
    }

    fn once(&self, machine: &mut Machine<'a, '_>, leaf: Option<Rc<str>>) -> Eval<'a> {
        let url = leaf.map(|leaf| {
            let parts = vec![TextPart::Url(UrlPart::Text(format!("{leaf}://{leaf}")))];
            (Rc::new(Text { parts }), self.span)
        });
        let identity = Value::digest_all(
            self.op,
            [&Value::int(i128::from(self.client.id)), &Value::int(i128::from(self.content))],
        );
        // What comes next in a stream is another answer each time, and after an error nothing does.
        let identity = if self.streamed || self.pages { machine.fresh_id() } else { identity };
        let outgoing = Outgoing {
            span: self.span,
            identity,
            http: true,
            grpc: false,
            url,
            method: None,
            key: Carried::Perhaps,
            limit: None,
            layered: false,
            takes_messages: (self.client.library.takes_messages)(self.op),
            stream: None,
            what: format!("`{}`", self.op),
        };
        let end = machine.outgoing(&outgoing)?;
        let result = machine.opaque_result(end, self.op);
        Ok(if self.streamed { Value::wrap("Some", result) } else { result })
    }
}

impl<'a> Native<'a> for Call<'a> {
    fn identity(&self) -> u64 {
        self.content
    }

    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        let library = self.client.library;
        if (library.is_local)(name) {
            return Some(Ok(machine.derived(name, Why::Call(name), &[])));
        }
        let mut call = (*self).clone();
        call.streamed = name == "next";
        call.pages = name == "try_next";
        if args.is_empty() && library.sends.contains(&name) {
            call.sent = true;
        } else if let Some(policy) = args.first().filter(|_| name.ends_with("retry_policy") || name == "retry_config") {
            call.client = Rc::new((*call.client).clone().with_policy(policy, at.named()));
        } else if let Some(own) =
            args.first().and_then(|a| Client::of(library, a)).filter(|_| name == "config_override")
            && own.asked_for
        {
            call.client = Rc::new((*call.client).clone().with_layer_of(&own));
        }
        let before = Value::int(i128::from(self.content));
        call.content = Value::digest_all(name, args.iter().chain([&before]));
        call.span = at.span;
        Some(Ok(call.value()))
    }

    fn is_future(&self) -> bool {
        self.leaves()
    }

    fn awaited(self: Rc<Self>, machine: &mut Machine<'a, '_>, _: Span) -> Option<Eval<'a>> {
        Some(if self.leaves() { self.run(machine) } else { Ok(machine.opaque(Why::Call(self.op))) })
    }
}
