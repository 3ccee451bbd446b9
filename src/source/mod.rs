//! Stages one and two: which files there are, and their text; and what their comments allow.

pub mod account;
pub mod allows;
pub mod discover;
pub mod generated;
pub mod globs;
pub mod line_index;
pub mod places;
pub mod read;
pub mod shown;
pub mod span;

use std::sync::Arc;

pub use globs::{Bases, Globs};
pub use line_index::{LineIndex, Position};
pub use places::{Place, Places};
pub use span::{FileId, Span};

/// The name of the configuration file.
pub const CONFIG_NAME: &str = "retrylint.toml";

/// One file that was read.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its number in this run.
    pub id: FileId,
    /// The path as shown: relative to the working directory, with `/`, without `./`.
    pub path: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl SourceFile {
    /// The span of a byte range of this file.
    pub fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.id, range.start, range.end)
    }
}

/// The files whose text is kept, by number.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    files: std::collections::BTreeMap<FileId, SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub fn insert(&mut self, file: SourceFile) {
        self.files.insert(file.id, file);
    }

    /// The file with this number, if its text was kept.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(&id)
    }

    /// All files, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.values()
    }

    /// The text of a span; empty if its file was not kept.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.range())).unwrap_or("")
    }
}

impl FromIterator<SourceFile> for Sources {
    fn from_iter<I: IntoIterator<Item = SourceFile>>(files: I) -> Self {
        Self { files: files.into_iter().map(|file| (file.id, file)).collect() }
    }
}

/// A file, or a part of one, that could not be read or parsed. Listed, never fatal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The path as shown.
    pub path: Arc<str>,
    /// Where, if the trouble has a place.
    pub span: Option<Span>,
    /// Why, for a person.
    pub reason: String,
}
