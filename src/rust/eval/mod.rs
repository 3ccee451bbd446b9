//! Reading Rust code by running it: each function that nothing calls is run on a call that fails, and what it does is
//! watched. How often the call is made is the number of attempts; what is slept between is the wait; the failures in
//! which it is made again are what is retried. Whether that is done by a `for`, by recursion, in a helper, or by a
//! crate makes no difference to the observer.
//!
//! A run takes its open conditions one way; other runs take them the other way ([`oracle`]). A status is not tried
//! number by number: all statuses run together until a condition tells them apart ([`value::Kind::Lifted`]).

mod alternatives;
mod bind;
mod branch;
mod build;
pub(crate) mod call;
mod conversion;
mod decide;
pub(crate) mod env;
pub(crate) mod episode;
mod exec;
pub(crate) mod expr;
mod fields;
mod futures;
pub(crate) mod goal;
pub(crate) mod grpc;
mod helper;
pub(crate) mod http;
pub(crate) mod instances;
pub(crate) mod iter;
pub(crate) mod key;
mod layers;
mod library;
mod loops;
pub(crate) mod machine;
pub(crate) mod macros;
pub(crate) mod methods;
mod mutual;
mod notes;
mod number;
mod ops;
mod option;
mod oracle;
mod own_methods;
mod pattern;
mod plain_clients;
pub(crate) mod random;
mod reading;
mod reply;
mod select;
mod settings;
mod side_by_side;
pub(crate) mod statics;
mod std_names;
mod tasks;
mod text;
mod upkeep;
pub(crate) mod value;
pub(crate) mod wait;
mod watch;
mod words;

#[cfg(test)]
mod tests;

use crate::facts::{PackageFact, SettingsFact};
use crate::rust::index::Index;
use crate::rust::reading::CodeReading;
use crate::rust::stack;

/// Reads all packages: the layers in the code, and the calls that leave it, with the layers around each.
pub fn read(index: &Index<'_>, packages: &[PackageFact], settings: &[SettingsFact]) -> CodeReading {
    // Without a large stack nothing is run; what is not read is then missing, and never a crash.
    stack::on_large_stack(|| reading::read(index, packages, settings)).unwrap_or_default()
}
