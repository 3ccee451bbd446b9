//! What Rust code does about messages that come twice or failed: SQL in its texts, looks before inserts, dead letters
//! that are sent back, batches. A reading by names and shapes; what it does not recognise says nothing.

pub mod checks;
mod functions;
pub mod texts;

use crate::model::{CheckThenInsert, Store};
use crate::rust::ir::Module;
use crate::source::Sources;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handling {
    /// Looks before inserts.
    pub checks: Vec<CheckThenInsert>,
}

/// Reads all modules.
pub fn read(modules: &[Module], stores: &[Store], sources: &Sources) -> Handling {
    let code = functions::Code::new(modules);
    Handling { checks: checks::find(&code, stores, sources) }
}

#[cfg(test)]
mod tests;
