//! What Rust code does about messages that come twice or failed: SQL in its texts, looks before inserts, dead letters
//! that are sent back, batches. A reading by names and shapes; what it does not recognise says nothing.

pub mod batches;
mod caches;
mod calls;
mod capped;
pub mod checks;
mod consumers;
mod functions;
pub mod jobs;
mod records;
mod redrives;
pub mod texts;
mod words;

use crate::facts::TableFact;
use crate::model::{CheckThenInsert, IncompleteRecord, Purge, Queue, Redrive, Store};
use crate::rust::ir::Module;
use crate::source::Sources;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handling {
    /// Looks before inserts.
    pub checks: Vec<CheckThenInsert>,
    /// Dead letters that are sent back.
    pub redrives: Vec<Redrive>,
    /// Dead-letter records that lack something.
    pub records: Vec<IncompleteRecord>,
    /// Consumers that reject what they cannot handle.
    pub consumers: Vec<Queue>,
    /// Caches and keys that forget.
    pub purges: Vec<Purge>,
    /// Jobs of crates that run them again.
    pub jobs: Vec<jobs::Job>,
    /// Loops over many items.
    pub batches: Vec<batches::Batch>,
}

/// Reads all modules; `dead_letters` are the tables of dead letters that scripts make.
pub fn read(modules: &[Module], stores: &[Store], dead_letters: &[TableFact], sources: &Sources) -> Handling {
    let code = functions::Code::new(modules);
    Handling {
        checks: checks::find(&code, stores, sources),
        redrives: redrives::find(&code),
        records: records::find(&code, dead_letters),
        consumers: consumers::find(&code),
        purges: caches::find(&code),
        jobs: jobs::find(modules, &code, sources),
        batches: batches::find(&code, sources),
    }
}

#[cfg(test)]
mod tests;
