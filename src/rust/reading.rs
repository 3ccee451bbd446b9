//! What reading the Rust code of a repository comes to: layers and calls.

use std::time::Duration;

use crate::model::{Answer, IdempotencyKey, Layer, ModeSet, Setting, Unresolved};
use crate::source::Span;

/// The result of reading all packages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CodeReading {
    /// The layers found; [`CodeLayerUse::layer`] counts from 0 in here.
    pub layers: Vec<Layer>,
    /// The calls that leave a package, each with the layers around it.
    pub calls: Vec<CodeCall>,
    /// Layers that a limit around them ends before their own count does.
    pub cut_short: Vec<CutShort>,
    /// What matters and could not be resolved.
    pub unresolved: Vec<Unresolved>,
}

impl CodeReading {
    /// Puts a layer around every call that the function of this name leads to.
    pub fn add_around(&mut self, layer: Layer, runs: Option<Span>) {
        let number = self.layers.len();
        self.layers.push(layer);
        for call in self.calls.iter_mut().filter(|call| Some(call.root.span) == runs) {
            call.layers.insert(0, CodeLayerUse { layer: number, modes: ModeSet::all() });
            // It is one of each try of this layer, and no longer around all that repeats.
            call.limit = None;
            // A job is no request.
            call.root.is_main = true;
        }
    }
}

/// A layer that a limit around it ends before its own count does.
#[derive(Debug, Clone, PartialEq)]
pub struct CutShort {
    /// The layer.
    pub layer: usize,
    /// The tries that it was meant to make.
    pub attempts: u64,
    /// The limit on all of them.
    pub limit: Setting<Duration>,
}

/// A call that leaves the program, as one chain of functions reaches it.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeCall {
    /// The package whose code starts the chain: an index into the facts' packages; `None` for a file without Cargo.toml.
    pub package: Option<usize>,
    /// The function at the start of the chain: `main`, a handler, a public function.
    pub root: Root,
    /// Whom it calls.
    pub target: Target,
    /// The HTTP method, upper case, if known.
    pub method: Option<String>,
    /// The idempotency key that its tries carry.
    pub key: IdempotencyKey,
    /// The layers around it, outermost first.
    pub layers: Vec<CodeLayerUse>,
    /// What the root returns when the call has failed for good, where the code shows it.
    pub answers: Vec<(ModeSet, Answer)>,
    /// The place of the call.
    pub span: Span,
    /// Whether it is gRPC.
    pub grpc: bool,
    /// Whether it takes messages from a queue, or says that they are done: a redelivery does not repeat it.
    pub takes_messages: bool,
    /// How long it is waited for at most, where no layer is around it; else the layers say so.
    pub limit: Option<Setting<Duration>>,
    /// Whether it is made for each of several things: a loop makes it again after it has succeeded.
    pub per_item: bool,
}

/// Where a chain of functions starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Root {
    /// The function, with its type: `Tickets::load`.
    pub name: String,
    /// Its place.
    pub span: Span,
    /// Whether it is the program's `main`: what it does is not caused by a request.
    pub is_main: bool,
}

/// A layer around a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeLayerUse {
    /// The layer.
    pub layer: usize,
    /// The failures of the callee in which this layer makes the call again.
    pub modes: ModeSet,
}

/// Whom a call reaches.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A URL or an address in parts; linking fills in environment values and finds the host.
    Url {
        /// The parts in order.
        parts: Vec<UrlPart>,
        /// Where it is put together.
        span: Span,
    },
    /// Not known.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// A part of a URL.
#[derive(Debug, Clone, PartialEq)]
pub enum UrlPart {
    /// Text.
    Text(String),
    /// An environment variable.
    Env {
        /// Its name.
        name: String,
        /// The default that the code gives.
        default: Option<String>,
        /// Where it is read.
        span: Span,
    },
    /// A value that only the run knows.
    Unknown,
}
