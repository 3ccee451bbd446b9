//! One line of a source as a terminal shows it: tabs set, wide characters counted, cut where it is too long.

use std::ops::Range;

use super::wrap::shown;

/// Tab stops are so many columns apart.
const TAB: usize = 4;

/// A line, or the part of it around a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownLine {
    /// What to print.
    pub text: String,
    /// The columns of the span in it, at least one.
    pub mark: Range<usize>,
    /// Whether something was left out.
    pub cut: bool,
}

/// Shows `line` so that it fits into `room` columns and the start of `span` (bytes of the line) is in it.
pub(super) fn show(line: &str, span: Range<usize>, room: usize) -> ShownLine {
    let line = line.trim_end_matches(['\r', '\n']);
    let span = span.start.min(line.len())..span.end.min(line.len()).max(span.start.min(line.len()));
    let (from, cut_before) = start(line, span.start, room);
    let mut text = String::new();
    let mut column = 0;
    if cut_before {
        text.push('…');
        column = 1;
    }
    let mut mark: Option<usize> = None;
    let mut mark_end = None;
    let mut cut_after = false;
    for (byte, c) in line.get(from..).unwrap_or("").char_indices().map(|(i, c)| (from + i, c)) {
        if byte >= span.start {
            mark = mark.or(Some(column));
        }
        if byte >= span.end {
            mark_end = mark_end.or(Some(column));
        }
        if byte == 0 && c == '\u{feff}' {
            continue;
        }
        let (c, wide) = if c == '\t' { (' ', TAB - column % TAB) } else { shown(c) };
        // One column stays free for the sign that something follows.
        if column + wide >= room && byte + c.len_utf8() < line.len() {
            cut_after = true;
            break;
        }
        if c == ' ' {
            text.extend(std::iter::repeat_n(' ', wide));
        } else {
            text.push(c);
        }
        column += wide;
    }
    let start = mark.unwrap_or(column);
    let end = mark_end.unwrap_or(column).max(start + 1);
    if cut_after {
        text.push('…');
    }
    ShownLine { text: text.trim_end().to_string(), mark: start..end, cut: cut_before || cut_after }
}

/// From which byte on the line is shown: all of it, unless the span would then lie far out.
fn start(line: &str, mark: usize, room: usize) -> (usize, bool) {
    // More bytes than this cannot fit; nothing of them needs to be measured.
    let before = line.get(..mark).unwrap_or("");
    let near: usize = before.len();
    let columns = |text: &str| text.chars().map(|c| if c == '\t' { TAB } else { shown(c).1 }).sum::<usize>();
    if near <= room * 4 && columns(before) + 12 <= room {
        return (0, false);
    }
    let mut from = mark;
    let mut columns = 0;
    for (byte, c) in before.char_indices().rev() {
        let wide = if c == '\t' { TAB } else { shown(c).1.max(1) };
        if columns + wide > room / 3 {
            break;
        }
        columns += wide;
        from = byte;
    }
    (from, from > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_fits_is_shown_as_it_is() {
        let shown = show("  retries: 3\r\n", 11..12, 40);
        assert_eq!(shown, ShownLine { text: "  retries: 3".to_string(), mark: 11..12, cut: false });
    }

    #[test]
    fn wide_characters_take_two_columns_and_tabs_go_to_the_next_stop() {
        assert_eq!(show("재시도: 3", 11..12, 40).mark, 8..9);
        let shown = show("\tab\tretries", 4..11, 40);
        assert_eq!((shown.text.as_str(), shown.mark), ("    ab  retries", 8..15));
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let line = format!("{}retries: 3{}", "x".repeat(5000), "y".repeat(5000));
        let shown = show(&line, 5000..5007, 40);
        assert!(shown.cut);
        assert!(shown.text.starts_with('…') && shown.text.ends_with('…'), "{}", shown.text);
        assert!(super::super::wrap::width(&shown.text) <= 40, "{}", shown.text);
        assert_eq!(shown.text.chars().skip(shown.mark.start).take(7).collect::<String>(), "retries");
    }

    #[test]
    fn an_empty_span_or_one_past_the_end_marks_one_column() {
        assert_eq!(show("abc", 1..1, 40).mark, 1..2);
        assert_eq!(show("abc", 7..9, 40).mark, 3..4);
        assert_eq!(show("", 0..0, 40).mark, 0..1);
    }

    #[test]
    fn a_span_that_goes_on_is_marked_to_the_end_of_the_line() {
        assert_eq!(show("for i in 0..4 {", 0..400, 40).mark, 0..15);
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let shown = show("\u{feff}retries: 3", 3..10, 40);
        assert_eq!((shown.text.as_str(), shown.mark), ("retries: 3", 0..7));
    }
}
