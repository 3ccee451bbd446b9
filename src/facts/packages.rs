//! Cargo packages, and what they are built with.
use std::collections::BTreeMap;

use crate::source::Span;

/// A Rust package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFact {
    /// `package.name`.
    pub name: String,
    /// The folder of Cargo.toml, as shown ("" = the working directory).
    pub folder: String,
    /// Names of `[[bin]]` targets besides the package's own.
    pub binaries: Vec<String>,
    /// Dependencies: the name used in code, the package's name, the version requirement.
    pub dependencies: Vec<Dependency>,
    /// What Cargo.lock fixes for it, of the packages whose version matters: name and version.
    pub locked: BTreeMap<String, String>,
    /// The manifest's place.
    pub span: Span,
}

/// A Cargo workspace: what its members can inherit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFact {
    /// The folder of its Cargo.toml, as shown.
    pub folder: String,
    /// `[workspace.dependencies]`
    pub dependencies: Vec<Dependency>,
    /// The place of `[workspace]`.
    pub span: Span,
}

/// A Cargo.lock: the versions of packages whose version matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFact {
    /// Its folder, as shown.
    pub folder: String,
    /// Name and version, in the order of the file.
    pub versions: Vec<(String, String)>,
}

/// A dependency of a Rust package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The name in code (`_` for `-`; the rename, if renamed).
    pub alias: String,
    /// The package.
    pub package: String,
    /// The requirement, if written here.
    pub version: Option<String>,
    /// The folder of a path dependency, as shown.
    pub path: Option<String>,
}
