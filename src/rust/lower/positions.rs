//! The parser's lines and columns to bytes.
//!
//! The parser can tell bytes itself, but counts characters from the last place it was asked about and remembers
//! every answer; that takes as long as parsing. Lines without letters beyond ASCII need no counting.

use proc_macro2::LineColumn;

pub(super) struct Positions<'a> {
    /// Where the text given to the parser begins in the file.
    base: usize,
    code: &'a str,
    /// Where each line begins, and whether its characters are bytes.
    lines: Vec<(usize, bool)>,
}

impl<'a> Positions<'a> {
    pub(super) fn new(base: usize, code: &'a str) -> Self {
        let mut start = 0;
        let mut lines = Vec::new();
        for line in code.split_inclusive('\n') {
            lines.push((start, line.is_ascii()));
            start += line.len();
        }
        lines.push((start, true));
        Self { base, code, lines }
    }

    /// The byte of a position in the whole file.
    pub(super) fn byte(&self, at: LineColumn) -> usize {
        let Some(&(start, ascii)) = self.lines.get(at.line.saturating_sub(1)) else {
            return self.base + self.code.len();
        };
        let offset = if ascii {
            at.column
        } else {
            let line = self.code.get(start..).unwrap_or("");
            line.char_indices().nth(at.column).map_or(line.len(), |(offset, _)| offset)
        };
        self.base + start + offset
    }
}
