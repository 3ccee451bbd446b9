//! The vocabulary of retries as types. Nothing here knows a file format or a system.

mod handling;
mod hop;
mod inert;
mod layer;
mod load;
mod mode;
mod post;
mod purge;
mod queue;
mod setting;
mod store;
mod time;

pub use handling::{CheckThenInsert, Redone, Redrive, RedriveLack, Rerun};
pub use hop::{
    Answer, Callers, Component, ComponentIx, ComponentKind, ComponentName, GatewayName, Hop, HopIx, HostRef, LayerIx,
    LayerUse, MAX_PRODUCT, Path, PathIx, QueueName, Reason, Scope,
};
pub use inert::Inert;
pub use layer::{
    Advice, Attempts, Budget, Conditions, Confidence, Jitter, Layer, LayerKind, Methods, Pick, Purpose, Wait,
};
pub use load::{Load, Sent};
pub use mode::{Mode, ModeSet, STATUSES, grpc_name, grpc_named, status_named};
pub use post::{IdempotencyKey, Post};
pub use purge::{Keeps, Purge, PurgeBound};
pub use queue::{
    Alarm, AlarmIx, DeadLetter, Fires, IncompleteRecord, NameTest, OF_METRIC, Queue, QueueIx, QueueRef, RecordPart,
    Watch, Which, names_dead_letter, names_dead_letters,
};
pub use setting::Setting;
pub use store::{KeyColumn, NoHelp, Store, StoreKind, StoredResponse, Unique};
pub use time::{LimitKind, Overrun, WorstTime};

use std::time::Duration;

use crate::source::Span;

/// Something that matters and could not be resolved; listed, so that nobody takes silence for a clean bill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unresolved {
    /// Where.
    pub span: Span,
    /// What: "attempts of backon call in `load`".
    pub what: String,
    /// Why: "comes from the environment variable TRIES, which nothing in the repository sets".
    pub reason: String,
}

/// Everything that the rules look at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// All layers, inactive ones included, in the order of their places.
    pub layers: Vec<Layer>,
    /// All components.
    pub components: Vec<Component>,
    /// All hops.
    pub hops: Vec<Hop>,
    /// The maximal paths with two or more retrying layers, an unbounded one, or one above the limit; largest first.
    pub paths: Vec<Path>,
    /// Whether there are more than are listed.
    pub paths_truncated: bool,
    /// Limits that end before what they hold can.
    pub overruns: Vec<Overrun>,
    /// Statements that purge records.
    pub purges: Vec<Purge>,
    /// Tables that remember requests or messages.
    pub stores: Vec<Store>,
    /// Looks into them, and inserts if nothing was found.
    pub checks: Vec<CheckThenInsert>,
    /// Dead letters that are sent back.
    pub redrives: Vec<Redrive>,
    /// Batches that are run again from their start.
    pub reruns: Vec<Rerun>,
    /// Queues, subscriptions and consumers, those for dead letters among them.
    pub queues: Vec<Queue>,
    /// Every alarm, also those that watch no queue.
    pub alarms: Vec<Alarm>,
    /// Places that make dead-letter records which lack something.
    pub incomplete_records: Vec<IncompleteRecord>,
    /// Retry settings without effect.
    pub inert: Vec<Inert>,
    /// What could not be resolved.
    pub unresolved: Vec<Unresolved>,
    /// How long after the first time a request or message can still come again, where the configuration says it.
    pub redelivery_window: Option<(Duration, Span)>,
    /// The product above which a path is an error.
    pub max_amplification: u64,
}

impl Model {
    /// The layer behind an index.
    ///
    /// # Panics
    /// Never for an index that came with this model.
    pub fn layer(&self, ix: LayerIx) -> &Layer {
        &self.layers[ix.0 as usize]
    }

    /// The hop behind an index.
    ///
    /// # Panics
    /// Never for an index that came with this model.
    pub fn hop(&self, ix: HopIx) -> &Hop {
        &self.hops[ix.0 as usize]
    }

    /// The layers of a path, outermost first.
    pub fn layers_of<'m>(&'m self, path: &'m Path) -> impl DoubleEndedIterator<Item = &'m Layer> {
        path.layers.iter().map(|ix| self.layer(*ix))
    }

    /// The component behind an index.
    ///
    /// # Panics
    /// Never for an index that came with this model.
    pub fn component(&self, ix: ComponentIx) -> &Component {
        &self.components[ix.0 as usize]
    }
}
