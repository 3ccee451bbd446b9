//! The parser's lines and columns to bytes.
//!
//! The parser can tell bytes itself, but counts characters from the last place it was asked about and remembers
//! every answer; that takes as long as parsing. Lines without letters beyond ASCII need no counting; of the others every
//! [`STEP`]th character is known, so that generated lines of megabytes are not counted through for each position.

use proc_macro2::LineColumn;

pub(super) struct Positions<'a> {
    /// Where the text given to the parser begins in the file.
    base: usize,
    code: &'a str,
    lines: Vec<Line>,
}

struct Line {
    /// Where it begins.
    start: usize,
    /// Where every [`STEP`]th of its characters stands; empty where characters are bytes.
    steps: Vec<usize>,
}

const STEP: usize = 64;

impl<'a> Positions<'a> {
    pub(super) fn new(base: usize, code: &'a str) -> Self {
        let mut start = 0;
        let mut lines = Vec::new();
        for line in code.split_inclusive('\n') {
            let characters = if line.is_ascii() { "" } else { line };
            let steps = characters.char_indices().step_by(STEP).map(|(offset, _)| start + offset);
            lines.push(Line { start, steps: steps.collect() });
            start += line.len();
        }
        lines.push(Line { start, steps: Vec::new() });
        Self { base, code, lines }
    }

    /// The byte of a position in the whole file.
    pub(super) fn byte(&self, at: LineColumn) -> usize {
        let Some(line) = self.lines.get(at.line.saturating_sub(1)) else {
            return self.base + self.code.len();
        };
        let offset = match line.steps.get(at.column / STEP).or(line.steps.last()) {
            None => line.start + at.column,
            Some(&known) => {
                let rest = self.code.get(known..).unwrap_or("");
                known + rest.char_indices().nth(at.column % STEP).map_or(rest.len(), |(offset, _)| offset)
            }
        };
        self.base + offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_on_lines_of_every_length() {
        for unit in ["ab", "é", "재a"] {
            let code = format!("first\n{}\nlast", unit.repeat(3 * STEP));
            let positions = Positions::new(7, &code);
            for (line, text) in (1..).zip(code.split_inclusive('\n')) {
                let start = text.as_ptr() as usize - code.as_ptr() as usize;
                for (column, (offset, _)) in text.char_indices().enumerate() {
                    assert_eq!(
                        positions.byte(LineColumn { line, column }),
                        7 + start + offset,
                        "{unit} {line}:{column}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_position_on_a_line_of_megabytes_costs_no_more_than_on_a_short_one() {
        let code = "é".repeat(1_000_000);
        let positions = Positions::new(0, &code);
        let start = std::time::Instant::now();
        for column in 0..1_000_000 {
            assert_eq!(positions.byte(LineColumn { line: 1, column }), 2 * column);
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 60.0, "{seconds} s");
    }
}
