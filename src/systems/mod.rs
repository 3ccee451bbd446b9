//! The systems that retrylint reads from settings: one file each.
//!
//! To add one: its file here, its line in [`all`], its folder in `fixtures/`.

use crate::facts::Facts;
use crate::source::SourceFile;
use crate::syntax::Parsed;

/// What `retrylint systems` prints, and what the text filter and the reports need to know of a system.
#[derive(Debug)]
pub struct SystemMeta {
    /// The id: "kong".
    pub id: &'static str,
    /// The name: "Kong".
    pub name: &'static str,
    /// What is read of it: "declarative configuration (YAML, JSON)".
    pub reads: &'static str,
    /// Literals of which a file must hold at least one to concern this system.
    pub marks: &'static [&'static str],
    /// What holds where nobody wrote anything.
    pub defaults: &'static [DefaultFigure],
}

/// One documented default.
#[derive(Debug)]
pub struct DefaultFigure {
    /// The setting: "services[].retries absent".
    pub what: &'static str,
    /// What it means: "6 attempts (5 retries), at once".
    pub value: &'static str,
    /// Where the figure is documented.
    pub source: &'static str,
}

/// What is read together: one file, or files that their format itself joins. The first part is the main one.
#[derive(Debug)]
pub struct Unit<'a> {
    /// The files with their trees.
    pub parts: Vec<Part<'a>>,
}

/// One file of a unit.
#[derive(Debug)]
pub struct Part<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its trees.
    pub parsed: &'a Parsed,
}

impl<'a> Unit<'a> {
    /// Every document of every part, with its file.
    pub fn documents(&self) -> impl Iterator<Item = (&'a SourceFile, &'a crate::syntax::Node)> + '_ {
        self.parts.iter().flat_map(|p| p.parsed.documents.iter().map(move |d| (p.file, &**d)))
    }
}

/// The versions that `[systems]` in retrylint.toml states, for defaults that depend on one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions(pub std::collections::BTreeMap<String, Version>);

/// A version: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major.
    pub major: u32,
    /// Minor.
    pub minor: u32,
}

impl Versions {
    /// Whether `system` is stated to be older than `major.minor`. Nothing stated means the newest.
    pub fn is_before(&self, system: &str, major: u32, minor: u32) -> bool {
        self.0.get(system).is_some_and(|v| *v < Version { major, minor })
    }
}

/// A system whose settings are read from files. A pure function of the unit: no I/O, no state.
pub trait System: Sync {
    /// What it is.
    fn meta(&self) -> &'static SystemMeta;
    /// Adds what the unit says of this system. Finds nothing in units of other systems.
    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts);
}

/// Every system, in the order in which they are listed.
pub fn all() -> &'static [&'static dyn System] {
    &[]
}
