//! What the parser drops or cannot bear: comments, and nesting that its tree could not be dropped with.

use crate::source::SourceFile;
use crate::syntax::tree::{Comment, MAX_VALUES, SyntaxError, TOO_MANY};

/// The parser gives up at 80 levels without saying where; ours comes first and says it.
const MAX_DEPTH: usize = 64;
pub(super) const TOO_DEEP: &str = "nested deeper than 64 levels";

/// How deep the text is at a point: brackets, and the dots of keys, which nest as well.
#[derive(Default)]
struct Depth {
    /// The dots of the table header in force.
    header: usize,
    /// The dots since the last comma or line, of the innermost bracket.
    dots: usize,
    /// The dots outside of each open bracket.
    outer: Vec<usize>,
    /// Their sum.
    sum: usize,
    in_header: bool,
}

impl Depth {
    fn now(&self) -> usize {
        self.header + self.sum + self.dots + self.outer.len()
    }

    fn open(&mut self) {
        self.outer.push(self.dots);
        self.sum += self.dots;
        self.dots = 0;
    }

    fn close(&mut self) {
        if let Some(dots) = self.outer.pop() {
            self.sum -= dots;
            self.dots = dots;
        }
    }

    fn end_of_line(&mut self) {
        if self.in_header {
            self.header = self.sum + self.dots + self.outer.iter().sum::<usize>();
            self.outer.clear();
            self.in_header = false;
        }
        if self.outer.is_empty() {
            self.sum = 0;
            self.dots = 0;
        }
    }
}

/// The comments of the file; an error if it is nested too deeply or holds too many values.
pub(super) fn comments(file: &SourceFile) -> Result<Vec<Comment>, SyntaxError> {
    let bytes = file.text.as_bytes();
    let refuse = |at: usize, message: &str| Err(SyntaxError { span: file.span(at..at + 1), message: message.into() });
    let mut comments = Vec::new();
    let mut depth = Depth::default();
    let (mut at, mut values, mut starts_line) = (0, 0, true);
    while let Some(&byte) = bytes.get(at) {
        let mut next = at + 1;
        match byte {
            b'#' => {
                next = line_end(bytes, at);
                let text = file.text.get(at + 1..next).unwrap_or("").trim_end_matches('\r');
                comments.push(Comment { span: file.span(at..at + 1 + text.len()), text: text.into() });
            }
            b'"' | b'\'' => next = string_end(bytes, at),
            b'[' | b'{' => {
                if starts_line && depth.outer.is_empty() {
                    depth = Depth { in_header: true, ..Depth::default() };
                } else if !depth.in_header {
                    depth.open();
                }
                values += 1;
            }
            b']' | b'}' => depth.close(),
            b',' => {
                depth.dots = 0;
                values += 1;
            }
            b'=' => values += 1,
            b'.' => depth.dots += 1,
            b'\n' => depth.end_of_line(),
            _ => {}
        }
        if depth.now() > MAX_DEPTH {
            return refuse(at, TOO_DEEP);
        }
        if values > MAX_VALUES {
            return refuse(at, TOO_MANY);
        }
        starts_line = byte == b'\n' || (starts_line && matches!(byte, b' ' | b'\t'));
        at = next;
    }
    Ok(comments)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes.iter().skip(from).position(|&b| b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// The byte after the string that opens at `at`; one that is not closed ends with its line.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let Some(&quote) = bytes.get(at) else { return at };
    let triple = [quote; 3];
    let is_long = bytes.get(at..).is_some_and(|rest| rest.starts_with(&triple));
    let mut i = at + if is_long { 3 } else { 1 };
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' if quote == b'"' => i += 1,
            b'\n' if !is_long => return i,
            _ if byte == quote && !is_long => return i + 1,
            _ if byte == quote && bytes.get(i..).is_some_and(|rest| rest.starts_with(&triple)) => {
                // Up to two quotes may stand right before the closing three.
                let extra = bytes.iter().skip(i + 3).take(2).take_while(|&&b| b == quote).count();
                return i + 3 + extra;
            }
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}
