//! What goes out of the program, and what comes back.
use std::hash::Hash;
use std::rc::Rc;

use super::*;
use crate::model::Mode;
use crate::rust::index::TypeIx;
use crate::source::Span;

/// An HTTP client.
#[derive(Debug, Clone)]
pub(crate) struct Client<'a> {
    /// What each request goes through, outermost first.
    pub(crate) layers: Vec<ClientLayer<'a>>,
    /// Which one it is, for the comparison of calls.
    pub(crate) id: u64,
    /// Whether it may have layers that are not known here.
    pub(crate) open: bool,
    /// Whether its calls block.
    pub(crate) blocking: bool,
    /// How long one request may take, and where that is written.
    pub(crate) timeout: Option<Limit>,
    /// Whose it is.
    pub(crate) brand: Brand,
}

impl Client<'_> {
    /// One without layers of which nothing is known but whose it is.
    pub(crate) fn plain(id: u64, brand: Brand, blocking: bool) -> Self {
        Self { layers: Vec::new(), id, open: false, blocking, timeout: None, brand }
    }
}

/// Whose a client is, as far as that changes how it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brand {
    /// reqwest's, or one that is used like it.
    Reqwest,
    /// ureq's: a status from 400 on is an error.
    Ureq,
    /// hyper's: requests are made elsewhere and handed over.
    Hyper,
    /// isahc's: its methods send at once.
    Isahc,
}

/// A request that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) client: Rc<Client<'a>>,
    pub(crate) method: Option<Rc<str>>,
    pub(crate) url: Option<Rc<Text>>,
    pub(crate) url_span: Span,
    /// The identity of body, query and form, headers left out.
    pub(crate) content: u64,
    /// Its idempotency key.
    pub(crate) key: crate::rust::eval::key::Carried,
    /// How long it may take, where that is not its client's.
    pub(crate) timeout: Option<Limit>,
}

/// A response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Response {
    /// The failing answer of the call under test.
    Failed,
    /// The good answer of the call under test.
    Good,
    /// The good answer of another call.
    Other,
}

/// The error of an HTTP client for the call under test.
#[derive(Debug)]
pub(crate) struct HttpError {
    /// Refused or timeout; `None` where a status was made into an error.
    pub(crate) transport: Option<Mode>,
}

/// A call of something outside that runs when it is awaited.
#[derive(Debug)]
pub(crate) struct Pending<'a> {
    /// The whole call.
    pub(crate) span: Span,
    /// The function or method.
    pub(crate) name: &'a str,
    /// The identity of receiver and arguments.
    pub(crate) identity: u64,
    /// A URL among what it is called with.
    pub(crate) url: Option<(Rc<Text>, Span)>,
    /// The HTTP method that a method of that name stands for.
    pub(crate) method: Option<Rc<str>>,
    /// The duration that it is given.
    pub(crate) wait: Option<Value<'a>>,
    /// Whether somebody else is told of the failure by it, who may count.
    pub(crate) judges: bool,
}

/// A chain of fields from a settings struct.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    /// The struct whose field comes first.
    pub(crate) root: TypeIx,
    /// The fields.
    pub(crate) fields: Vec<&'a str>,
}

/// Seconds that something may take, and where that is written.
pub(crate) type Limit = (f64, Span);

/// A layer that a client puts around each of its requests: told by its own crate.
pub(crate) type ClientLayer<'a> = Rc<dyn crate::rust::crates::ClientRetry<'a> + 'a>;
