//! What the parser's events leave out: where a block begins, and whether a text stands in the source as it is.

use std::ops::Range;

use granit_parser::ScalarStyle;

/// The first dash of a block sequence that is the value of a key, between the key's end and the first item.
pub(super) fn first_dash(text: &str, between: Range<usize>) -> Option<usize> {
    // The sequence begins on a line of its own; before it stand only the colon, properties and comments.
    let gap = text.get(between.start..text.len().min(between.end + 1))?;
    let mut at = between.start;
    for (i, line) in gap.split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches([' ', '\t']);
        if i > 0 && content.starts_with('-') {
            return Some(at + line.len() - content.len());
        }
        at += line.len();
    }
    None
}

/// The `|` or `>` that opens the block scalar whose content is at `between.end`; it stands after `between.start`.
pub(super) fn block_indicator(text: &str, between: Range<usize>) -> Option<usize> {
    let before = trimmed(text.get(between.clone())?);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let header = before.get(line..)?;
    let mut previous = ' ';
    for (at, c) in header.char_indices() {
        if matches!(c, '|' | '>') && (previous.is_whitespace() || previous == ':') && is_header(header.get(at + 1..)?) {
            return Some(between.start + line + at);
        }
        previous = c;
    }
    None
}

/// Whether this can follow `|` or `>`: indentation and chomping indicators, then nothing or a comment.
fn is_header(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    let comment = rest.trim_start_matches([' ', '\t']);
    comment.is_empty() || (comment.len() < rest.len() && comment.starts_with('#'))
}

/// A block's source without the blank lines after it.
pub(super) fn trimmed(source: &str) -> &str {
    source.trim_end_matches([' ', '\t', '\r', '\n'])
}

/// Where in the scalar's source the text stands byte for byte.
pub(super) fn verbatim(source: &str, text: &str, style: ScalarStyle) -> Option<usize> {
    let (at, closing) = match style {
        ScalarStyle::Plain => (0, Some(0)),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => (1, Some(1)),
        ScalarStyle::Literal | ScalarStyle::Folded => {
            let body = source.find('\n')? + 1;
            let spaces = |s: &str| s.len() - s.trim_start_matches(' ').len();
            (body + spaces(source.get(body..)?).checked_sub(spaces(text))?, None)
        }
    };
    let end = at + text.len();
    let is_whole = closing.is_none_or(|quote| end + quote == source.len());
    (is_whole && source.get(at..end) == Some(text)).then_some(at)
}
