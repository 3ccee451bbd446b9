//! Bytes to lines and columns, at the edge only.

/// The line starts of one text.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<u32>,
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl LineIndex {
    /// Indexes `text`. Lines end with `\n`; a `\r` before it belongs to the line.
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        Self { starts }
    }

    /// The position of a byte offset in the `text` this index was made from.
    /// A byte order mark at the very start of the text takes no column.
    pub fn position(&self, text: &str, byte: u32) -> Position {
        let line = self.starts.partition_point(|&start| start <= byte).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0) as usize;
        let end = floor_char_boundary(text, byte as usize);
        let before = text.get(start..end).unwrap_or("");
        let column = before.trim_start_matches('\u{feff}').chars().count() as u32 + 1;
        Position { line: line as u32, column }
    }

    /// The byte range of a line (from 1), its line end left out.
    pub fn line_range(&self, text: &str, line: u32) -> std::ops::Range<usize> {
        let at = |n: u32| self.starts.get(n as usize).map(|&s| s as usize);
        let start = at(line.saturating_sub(1)).unwrap_or(text.len());
        let end = at(line).unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or("");
        start..start + line.trim_end_matches(['\n', '\r']).len()
    }

    /// How many lines the text has (at least one).
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }
}

fn floor_char_boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a: 1\n# 재시도 注释 x: 2\n";
        let index = LineIndex::new(text);
        let byte = text.find("x: 2").unwrap() as u32;
        assert_eq!(index.position(text, byte), Position { line: 2, column: 10 });
        assert_eq!(index.position(text, 0), Position { line: 1, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let text = "\u{feff}retries: 3\r\nx";
        let index = LineIndex::new(text);
        assert_eq!(index.position(text, 3), Position { line: 1, column: 1 });
        assert_eq!(index.line_range(text, 1), 0..13);
        assert_eq!(index.position(text, 15), Position { line: 2, column: 1 });
    }

    #[test]
    fn offsets_past_the_end_or_inside_a_character_are_safe() {
        let index = LineIndex::new("é");
        assert_eq!(index.position("é", 1), Position { line: 1, column: 1 });
        assert_eq!(index.position("é", 99), Position { line: 1, column: 2 });
    }
}
