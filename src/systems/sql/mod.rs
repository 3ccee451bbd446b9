//! SQL scripts: which tables remember requests or messages, what keeps a second record of one of them out, and which
//! statements purge them.

mod age;
mod conditions;
mod cursor;
mod dialect;
pub mod glance;
pub mod in_code;
mod keys;
mod lex;
mod names;
mod places;
pub mod purges;
mod read;
mod redrives;
pub mod schema;
mod spans;
mod split;
mod stores;
mod tables;
mod victims;

use super::{System, SystemMeta, Unit, Versions};
use crate::facts::Facts;
use crate::source::SourceFile;
use crate::syntax::Syntax;

static META: SystemMeta = SystemMeta {
    id: "sql",
    name: "SQL",
    reads: "scripts (.sql), migrations in the order of their names: inbox, idempotency and dead-letter tables, their keys, and what deletes from them",
    marks: &["DELETE", "delete", "Delete", "TRUNCATE", "truncate", "Truncate"],
    defaults: &[],
};

/// SQL scripts.
pub struct Sql;

impl System for Sql {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _versions: &Versions, facts: &mut Facts) {
        for part in unit.parts.iter().filter(|p| Syntax::of_path(&p.file.path) == Some(Syntax::Sql)) {
            extract(part.file, facts);
        }
    }

    fn join(&self, facts: &mut Facts) {
        stores::join(facts);
    }
}

/// Adds all that a script says.
pub fn extract(file: &SourceFile, facts: &mut Facts) {
    purges::extract(file, facts);
    schema::extract(file, facts);
    redrives::extract(file, facts);
}

#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;
