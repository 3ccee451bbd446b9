//! SQL scripts: which statements purge the records that a redelivery is looked up in.

mod age;
mod conditions;
mod lex;
mod names;
mod places;
pub mod purges;
mod read;
mod split;
mod tables;
mod victims;

use super::{System, SystemMeta, Unit, Versions};
use crate::facts::Facts;
use crate::syntax::Syntax;

static META: SystemMeta = SystemMeta {
    id: "sql",
    name: "SQL",
    reads: "scripts (.sql): DELETE and TRUNCATE of inbox, idempotency and dead-letter tables, in routines and schedules too",
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
            purges::extract(part.file, facts);
        }
    }
}

#[cfg(test)]
mod tests;
