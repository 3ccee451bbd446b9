//! Components, hops and paths: the call graph.

use std::sync::Arc;
use std::time::Duration;

use super::{Mode, ModeSet, Post, QueueRef, Setting, WorstTime};
use crate::source::{FileId, Span};

/// A host as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostRef {
    /// The name, lower case, without scheme, port and path: `orders`, `orders.shop.svc.cluster.local`.
    pub name: String,
    /// The port, if written.
    pub port: Option<u16>,
    /// The Kubernetes namespace in which a short name is looked up, if known.
    pub namespace: Option<String>,
    /// Where it is written.
    pub span: Span,
}

/// Who sends the requests that a layer in settings repeats, and whom they reach.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// Hops to these hosts. Several hosts are alternatives (by weight, header or path), not factors.
    Hops {
        /// Whose hops.
        from: Callers,
        /// The upstreams.
        to: Vec<HostRef>,
        /// Holds only where no other layer of the same system covers the hop: a mesh's default policy.
        fallback: bool,
    },
    /// A client's setting: the hops from the component that owns the file.
    Client {
        /// The host, where the settings name it; else the client's name, which may be a service's.
        to: Option<HostRef>,
        /// Whether it is a client of gRPC.
        grpc: bool,
    },
    /// A redelivery or a rerun: whatever these components do with a message, or in a run, is done again.
    Consumers {
        /// The queue, whose other consumers linking finds.
        queue: Option<QueueName>,
        /// Components that the settings name. Empty, and no queue: what takes the message is not in the repository.
        components: Vec<ComponentName>,
        /// Layers of one group are alternatives: a hop takes one of them.
        group: String,
    },
    /// Code: linking finds the hops by reading it.
    Code,
}

/// A component, as settings beside it name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentName {
    /// The name.
    pub name: String,
    /// Where the name holds: its Kubernetes namespace, or the template that declares it.
    pub namespace: Option<String>,
}

/// A queue, as its consumers may refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueName {
    /// The service that runs it.
    pub service: &'static str,
    /// The reference.
    pub queue: QueueRef,
}

/// The callers of a [`Scope::Hops`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Callers {
    /// Gateways; one that nobody else names becomes a component and an entry.
    pub gateways: Vec<GatewayName>,
    /// Every component with a sidecar of the mesh.
    pub mesh: bool,
}

/// How a gateway's settings name the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayName {
    /// By a name of its own.
    Named(String),
    /// Not at all: it is the component that mounts this file, or the only one whose image runs this system.
    OfFile {
        /// The file.
        file: FileId,
        /// The system.
        system: &'static str,
    },
    /// By the labels of its pods: no gateway, but a component whose own sidecar does it.
    Labelled(Vec<(String, String)>),
    /// By another object of the system, which hands requests on to this one; joining puts its gateways here.
    Delegating {
        /// The system.
        system: &'static str,
        /// The object that is handed them, with its namespace: "pay/ledger".
        object: String,
    },
}

/// What a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentKind {
    /// A gateway or ingress.
    Gateway,
    /// A service of the repository.
    Service,
    /// A job or consumer.
    Job,
    /// A host outside of the repository, or one that could not be matched.
    Host,
    /// Stands for callers that are not in the repository ("callers of orders").
    Outside,
}

impl ComponentKind {
    /// The word for it, in data and pictures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Service => "service",
            Self::Job => "job",
            Self::Host => "host",
            Self::Outside => "outside",
        }
    }
}

/// A node of the call graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name, unique in the model.
    pub name: String,
    /// What it is.
    pub kind: ComponentKind,
    /// Where it is declared.
    pub place: Option<Span>,
}

/// An index into [`super::Model::components`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentIx(pub u32);

/// An index into [`super::Model::layers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerIx(pub u32);

/// An index into [`super::Model::hops`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HopIx(pub u32);

/// An index into [`super::Model::paths`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathIx(pub u32);

/// A layer as it works on one hop.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerUse {
    /// The layer.
    pub layer: LayerIx,
    /// The failures of the callee in which it repeats this hop, perhaps-es included. For code this takes in
    /// what the code between the layer and the call makes of the failure.
    pub modes: ModeSet,
}

/// What a component answers when one of its hops has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// A success all the same (a fallback): the path ends here.
    Success,
    /// This status.
    Status(u16),
}

/// Something that a link rests on: what stands where, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Where it stands; `None` for what follows from names alone.
    pub span: Option<Span>,
    /// What, as a sentence: "`ORDERS_URL` is set to `http://orders:8080`".
    pub text: Arc<str>,
}

impl Reason {
    /// A reason.
    pub fn new(span: impl Into<Option<Span>>, text: impl Into<Arc<str>>) -> Self {
        Self { span: span.into(), text: text.into() }
    }
}

/// One caller → callee edge, with its layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    /// The caller.
    pub from: ComponentIx,
    /// The callee.
    pub to: ComponentIx,
    /// The layers, outermost first.
    pub layers: Vec<LayerUse>,
    /// Where the call is made or the route is written.
    pub place: Option<Span>,
    /// Whether a request that reaches `from` can cause this hop. `false` for what only its own `main` does.
    pub on_request: bool,
    /// What the caller is seen to answer, for some modes in which the hop has failed; for all others the rule of
    /// the usual worst case holds: any 5xx, a timeout stays a timeout, a 4xx is passed on.
    pub answers: Vec<(ModeSet, Answer)>,
    /// Whether it carries gRPC: only then do gRPC modes occur.
    pub grpc: bool,
    /// The POST and PATCH requests that code is seen to send on it.
    pub posts: Vec<Post>,
    /// Whether it is there for each of several items: a loop over them, a join of calls. That is no retry, and no factor.
    pub per_item: bool,
    /// Whether it leads through a queue: the caller does not wait for the callee.
    pub through: Option<Arc<str>>,
    /// How long the caller waits for it in all, whatever its layers do.
    pub limit: Option<Setting<Duration>>,
    /// Why it is there, in the order in which one follows from the other.
    pub reasons: Vec<Reason>,
}

impl Hop {
    /// A hop without layers that a request can cause.
    pub fn new(from: ComponentIx, to: ComponentIx, place: Option<Span>) -> Self {
        Self {
            from,
            to,
            layers: Vec::new(),
            place,
            on_request: true,
            answers: Vec::new(),
            grpc: false,
            posts: Vec::new(),
            per_item: false,
            through: None,
            limit: None,
            reasons: Vec::new(),
        }
    }
}

/// One call path and the most that one request at its entry can cause at its leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The product of the attempts of `layers`; saturates at 2^53 − 1.
    pub product: u64,
    /// An unbounded layer is among them.
    pub unbounded: bool,
    /// A layer's attempts are not known; it counts 1, so the product is a lower bound.
    pub at_least: bool,
    /// The product with each budgeted layer at 1 + its ratio.
    pub sustained: f64,
    /// The failure mode of the largest product.
    pub failure: Mode,
    /// The entry's name.
    pub entry: Arc<str>,
    /// The failing point's name.
    pub leaf: Arc<str>,
    /// The layers that multiply in this mode, outermost first.
    pub layers: Vec<LayerIx>,
    /// The hops from the entry to the leaf, those that nothing repeats among them.
    pub hops: Vec<HopIx>,
    /// How long one request at the entry can take at worst until it has failed for good.
    pub time: WorstTime,
}

/// Products stop here: 2^53 − 1, the largest whole number that every JSON reader keeps.
pub const MAX_PRODUCT: u64 = (1 << 53) - 1;
