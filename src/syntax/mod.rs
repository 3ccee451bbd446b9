//! Texts to trees. Parsers never fail and never do I/O: they return what they could read and what they could not.

#[cfg(test)]
mod dump;
pub mod json;
pub mod properties;
pub mod toml;
pub mod tree;
pub mod yaml;

pub use tree::{Comment, Entry, Node, Parsed, Scalar, SyntaxError, Value, relaxed};

use crate::source::SourceFile;

/// Reads a settings file. Rust and SQL have no tree here: their readers stand with what they read.
pub fn parse(syntax: Syntax, file: &SourceFile) -> Parsed {
    match syntax {
        Syntax::Yaml => yaml::parse(file),
        Syntax::Json => json::parse(file),
        Syntax::Toml => toml::parse(file),
        Syntax::Properties => properties::parse(file),
        Syntax::Rust | Syntax::Sql => Parsed::default(),
    }
}

/// The syntaxes with a reader here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Syntax {
    /// YAML 1.2 streams (and what the wild calls YAML 1.1).
    Yaml,
    /// JSON, with comments and trailing commas allowed.
    Json,
    /// TOML 1.
    Toml,
    /// Java .properties; dotted keys become nested mappings.
    Properties,
    /// Rust sources.
    Rust,
    /// SQL scripts.
    Sql,
}

impl Syntax {
    /// The syntax of a path, by its name alone.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase())?;
        Some(match ending.as_str() {
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" | "json5" => Self::Json,
            "toml" => Self::Toml,
            "properties" => Self::Properties,
            "rs" => Self::Rust,
            "sql" => Self::Sql,
            _ => return None,
        })
    }
}
