//! Spans to paths, lines and columns: each file is indexed once a report.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FileId, LineIndex, Position, SourceFile, Sources, Span};

/// The line indexes of the files that a report shows.
#[derive(Debug)]
pub struct Places<'r> {
    sources: &'r Sources,
    indexes: BTreeMap<FileId, Arc<LineIndex>>,
}

/// A span as people and other programs count it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path as shown; empty for a span of a file whose text was not kept.
    pub path: Arc<str>,
    /// Where it starts.
    pub start: Position,
    /// The position after its last character.
    pub end: Position,
}

impl<'r> Places<'r> {
    /// For spans into `sources`.
    pub fn new(sources: &'r Sources) -> Self {
        Self { sources, indexes: BTreeMap::new() }
    }

    /// The place of a span.
    pub fn place(&mut self, span: Span) -> Place {
        let Some((file, index)) = self.file(span.file) else {
            let nowhere = Position { line: 1, column: 1 };
            return Place { path: Arc::from(""), start: nowhere, end: nowhere };
        };
        let position = |byte| index.position(&file.text, byte);
        Place { path: Arc::clone(&file.path), start: position(span.start), end: position(span.end) }
    }

    /// A file with its line index.
    pub fn file(&mut self, id: FileId) -> Option<(&'r SourceFile, Arc<LineIndex>)> {
        let file = self.sources.get(id)?;
        let index = self.indexes.entry(id).or_insert_with(|| Arc::new(LineIndex::new(&file.text)));
        Some((file, Arc::clone(index)))
    }
}
