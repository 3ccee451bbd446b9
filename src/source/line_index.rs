//! Bytes to lines and columns, at the edge only.

/// The line starts of one text.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// For every [`STEP`]th byte, how many bytes before it continue a character: columns on lines of many megabytes
    /// are counted without reading the whole line for each of them.
    continuations: Vec<u32>,
}

const STEP: usize = 4096;

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
        let mut count = 0;
        let continuations = text
            .as_bytes()
            .chunks(STEP)
            .map(|chunk| {
                let before = count;
                count += continuing(chunk);
                before
            })
            .collect();
        Self { starts, continuations }
    }

    /// The position of a byte offset in the `text` this index was made from.
    /// A byte order mark at the very start of the text takes no column.
    pub fn position(&self, text: &str, byte: u32) -> Position {
        let line = self.starts.partition_point(|&start| start <= byte).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0) as usize;
        let end = floor_char_boundary(text, byte as usize);
        let characters = (end - start) as u32 - self.continuing_between(text, start, end);
        let mark = u32::from(start == 0 && end > 0 && text.starts_with('\u{feff}'));
        let column = characters - mark + 1;
        Position { line: line as u32, column }
    }

    /// Most lines are short, and then their own bytes are all that is read.
    fn continuing_between(&self, text: &str, start: usize, end: usize) -> u32 {
        match text.as_bytes().get(start..end).filter(|bytes| bytes.len() <= STEP) {
            Some(bytes) => continuing(bytes),
            None => self.continuing_before(text, end) - self.continuing_before(text, start),
        }
    }

    fn continuing_before(&self, text: &str, byte: usize) -> u32 {
        let step = byte / STEP;
        let known = self.continuations.get(step).copied().unwrap_or(0);
        let start = if self.continuations.get(step).is_some() { step * STEP } else { 0 };
        known + continuing(text.as_bytes().get(start..byte).unwrap_or(&[]))
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

/// How many bytes continue a character that began before them.
fn continuing(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|b| **b & 0b1100_0000 == 0b1000_0000).count() as u32
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
    fn columns_of_very_long_lines_are_the_number_of_characters() {
        for unit in ["ab", "é", "재a"] {
            let line = unit.repeat(3 * STEP);
            let text = format!("first\n{line}");
            let index = LineIndex::new(&text);
            for (column, (byte, _)) in line.char_indices().enumerate().step_by(97) {
                let position = index.position(&text, ("first\n".len() + byte) as u32);
                assert_eq!(position, Position { line: 2, column: column as u32 + 1 });
            }
            assert_eq!(index.position(&text, u32::MAX).column as usize, text.chars().count() - 6 + 1);
        }
    }

    #[test]
    fn offsets_past_the_end_or_inside_a_character_are_safe() {
        let index = LineIndex::new("é");
        assert_eq!(index.position("é", 1), Position { line: 1, column: 1 });
        assert_eq!(index.position("é", 99), Position { line: 1, column: 2 });
    }
}
