//! Package managers: what they download, and how often they try. No request waits for it, and none of them has jitter
//! to set.

mod cargo;
mod gradle;
mod maven;
mod npm;
mod pip;
mod uv;
mod yarn;

pub use cargo::Cargo;
pub use gradle::Gradle;
pub use maven::Maven;
pub use npm::Npm;
pub use pip::Pip;
pub use uv::Uv;
pub use yarn::Yarn;

use super::{base, variables};
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::Entry;

/// What is known of a package manager.
struct Tool {
    id: &'static str,
    name: &'static str,
    /// The setting that switches its retries off.
    off: &'static str,
    source: &'static str,
}

/// The layer of a count that somebody wrote; what it does beside that is the same everywhere. `of` is the folder of the
/// file, or whose environment it is.
fn layer(tool: &Tool, of: &str, count: &Entry, attempts: Setting<Attempts>) -> Layer {
    let id = format!("{}:{of}", tool.id);
    let name = format!("{}'s downloads", tool.name);
    let mut layer = base::apart(tool.id, id.into(), name, count.key_span, None, attempts.clone());
    base::counted(&mut layer, count, attempts);
    layer.jitter = Setting::default(Jitter::None, tool.source);
    layer.retry_after = Setting::default(true, tool.source);
    layer.retries = Conditions::default();
    layer.wait = Wait::Unknown { why: "it cannot be set".to_owned() };
    layer.advice = Advice { none: Some(format!("set `{}`", tool.off)), ..Advice::default() };
    layer
}

/// The file's folder.
fn folder(file: &SourceFile) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The file's name.
fn name(file: &SourceFile) -> &str {
    file.path.rsplit('/').next().unwrap_or(&file.path)
}
