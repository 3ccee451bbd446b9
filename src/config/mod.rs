//! `retrylint.toml`: what it says, as plain data.

pub mod effective;
pub mod keys;
mod levels;
mod load;
mod merge;
pub mod own;
mod problem;
mod read_own;
mod reader;
pub mod schema;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use levels::apply_levels;
pub use load::{find, load, parse};
use own::{HelperConfig, SystemConfig};
pub use problem::{Invalid, Problem};
pub use reader::Names;

pub use crate::source::{Bases, CONFIG_NAME, Globs};

use jiff::civil::Date;

use crate::rules::Severity;
use crate::source::{FileId, SourceFile, Span, shown};
use crate::syntax::{Node, Syntax};
use crate::systems::Versions;

/// The number of the configuration file: after those of all files that are linted.
pub const CONFIG_FILE_ID: FileId = FileId(u32::MAX);

/// The effective configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it came from, if there is one.
    pub file: Option<PathBuf>,
    /// Its text and those of the files that it extends, for the spans in them.
    pub sources: Vec<Arc<SourceFile>>,
    /// Its settings put over those of the files that it extends, as written.
    pub tree: Option<Arc<Node>>,
    /// What the command line says: the key, the flag, the value.
    pub flags: Vec<(&'static str, &'static str, serde_json::Value)>,
    /// Where its globs start.
    pub bases: Bases,
    /// The baseline: absolute.
    pub baseline: Option<PathBuf>,
    /// The product above which a path is an error.
    pub max_amplification: u64,
    /// Levels of rules for the whole tree, in the order of the file.
    pub levels: Vec<RuleLevel>,
    /// Levels of rules for some paths; later ones win.
    pub overrides: Vec<PathLevels>,
    /// Findings that are right as they are.
    pub allows: Vec<AllowConfig>,
    /// Whether a permission without a reason holds.
    pub allow_without_reason: bool,
    /// Whether nothing is said of a permission that allows nothing.
    pub allow_unused: bool,
    /// Globs of files that are not read.
    pub exclude: Vec<String>,
    /// What cannot be seen.
    pub services: Vec<ServiceConfig>,
    /// Functions and macros of the project that retry.
    pub helpers: Vec<HelperConfig>,
    /// Formats of settings of the project's own.
    pub own_systems: Vec<SystemConfig>,
    /// How long after the first time a request or message can still come again, and where that is written.
    pub redelivery_window: Option<(Duration, Span)>,
    /// Versions of systems.
    pub versions: Versions,
    /// The least level that makes the run fail; `None` = never.
    pub fail_on: Option<Severity>,
    /// Whether text output shows notes.
    pub notes: bool,
    /// Whether a file that cannot be read makes the run fail.
    pub strict: bool,
    /// Whether code under `cfg(test)`, tests/, benches/ and examples/ counts.
    pub include_tests: bool,
    /// Whether files count that say that a program wrote them.
    pub include_generated: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file: None,
            sources: Vec::new(),
            tree: None,
            flags: Vec::new(),
            bases: Bases::default(),
            baseline: None,
            max_amplification: 10,
            levels: Vec::new(),
            overrides: Vec::new(),
            allows: Vec::new(),
            allow_without_reason: false,
            allow_unused: false,
            exclude: Vec::new(),
            services: Vec::new(),
            helpers: Vec::new(),
            own_systems: Vec::new(),
            redelivery_window: None,
            versions: Versions::default(),
            fail_on: Some(Severity::Error),
            notes: false,
            strict: false,
            include_tests: false,
            include_generated: false,
        }
    }
}

impl Config {
    /// The defaults, with globs that start at the working directory: absolute, links resolved.
    pub fn without_file(cwd: &Path) -> Self {
        Self { bases: Bases { config: cwd.to_owned(), cwd: cwd.to_owned() }, ..Self::default() }
    }

    /// Whether a file may call what `[[helper]]` names.
    pub fn may_call_helper(&self, file: &SourceFile) -> bool {
        let calls = || self.helpers.iter().any(|h| file.text.contains(h.name()));
        !self.helpers.is_empty() && Syntax::of_path(&file.path) == Some(Syntax::Rust) && calls()
    }

    /// The baseline, as seen from the working directory.
    pub fn baseline_shown(&self) -> Option<PathBuf> {
        let file = self.baseline.as_deref()?;
        let is_near = [&self.bases.cwd, &self.bases.config].into_iter().any(|folder| file.starts_with(folder));
        Some(if is_near { shown::relative(file, &self.bases.cwd).into() } else { file.to_owned() })
    }

    /// Globs of this configuration, to be asked with shown paths.
    pub fn globs(&self, globs: &[String]) -> Globs {
        Globs::new(globs, &self.bases)
    }
}

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(Span),
    /// Nobody wrote it.
    Default,
    /// This flag of the command line.
    Flag(&'static str),
}

/// A rule's level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLevel {
    /// The rule's name.
    pub rule: String,
    /// The level; `None` = off.
    pub level: Option<Severity>,
    /// Where it is set.
    pub place: Option<Span>,
}

/// Levels for the paths that globs match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathLevels {
    /// The globs, relative to the configuration file.
    pub paths: Vec<String>,
    /// The levels.
    pub levels: Vec<RuleLevel>,
}

/// `[[allow]]`: findings that are right as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowConfig {
    /// The rules, each with its place.
    pub rules: Vec<(String, Span)>,
    /// The globs, relative to the configuration file.
    pub paths: Vec<String>,
    /// Why.
    pub reason: Option<String>,
    /// The last day on which it holds, with its place.
    pub until: Option<(Date, Span)>,
    /// Where it is configured.
    pub span: Span,
}

/// `[[service]]`: a service that the files do not show, or not well enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceConfig {
    /// Its name.
    pub name: String,
    /// Globs of its source folders, relative to the configuration file.
    pub paths: Vec<String>,
    /// Host names by which others call it.
    pub hosts: Vec<String>,
    /// Names or hosts of the services that it calls.
    pub calls: Vec<String>,
    /// Where it is configured.
    pub span: Option<Span>,
}
