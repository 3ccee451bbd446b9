//! Words to lines of a width, counted as a terminal counts.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that `text` takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A character as a terminal may safely show it, with its columns. Control and direction characters, which could move
/// the cursor or turn the line around, are replaced.
pub(super) fn shown(c: char) -> (char, usize) {
    let harmless =
        !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    if harmless { (c, c.width().unwrap_or(0)) } else { ('\u{fffd}', 1) }
}

/// `text` with nothing in it that a terminal would obey.
pub(super) fn safe(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { shown(c).0 }).collect()
}

/// Breaks `text` at spaces so that no line is wider than `first` (the first one) or `rest` (all others).
/// A word that is wider than a line is broken where the line ends; code in backquotes is kept whole where it can be.
pub(super) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let text = safe(text);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in words(&text, first.min(rest)) {
        let room = room(lines.len(), first, rest);
        let wide = width(word);
        if used > 0 && used + 1 + wide > room {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used > 0 && used + wide > self::room(lines.len(), first, rest) {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text at its spaces, but code in backquotes that takes up to half of a line in one piece.
fn words(text: &str, line: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = end_of_word(rest, line);
        let (word, after) = rest.split_at(end);
        if !word.is_empty() {
            words.push(word);
        }
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    words
}

fn end_of_word(text: &str, line: usize) -> usize {
    let space = text.find(' ').unwrap_or(text.len());
    let opens = text.get(..space).and_then(|word| word.find('`'));
    // No more is looked at than what could stand on a line: texts can be long, and this is asked at every word.
    let near = text.char_indices().nth(line + 1).map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
    let closes = opens.and_then(|open| Some(open + 1 + near.get(open + 1..)?.find('`')?));
    let whole = closes.and_then(|close| match near.get(close..)?.find(' ') {
        Some(after) => Some(close + after),
        None => (near.len() == text.len()).then_some(text.len()),
    });
    whole.filter(|end| text.get(..*end).is_some_and(|t| width(t) * 2 <= line)).unwrap_or(space)
}

/// However narrow the terminal, some text goes on a line.
fn room(line: usize, first: usize, rest: usize) -> usize {
    (if line == 0 { first } else { rest }).max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_counts_wide_characters_twice() {
        assert_eq!(wrap("one two three", 16, 16), ["one two three"]);
        assert_eq!(wrap("one two three four five", 16, 16), ["one two three", "four five"]);
        assert_eq!(wrap("서비스 이름이 길다 그래서", 16, 16), ["서비스 이름이", "길다 그래서"]);
        assert_eq!(wrap("", 16, 16), [""]);
    }

    #[test]
    fn breaks_a_word_that_is_wider_than_the_line() {
        assert_eq!(wrap("a bbbbbbbbbbbbbbbbbbbb", 16, 16), ["a", "bbbbbbbbbbbbbbbb", "bbbb"]);
    }

    #[test]
    fn keeps_short_code_whole() {
        assert_eq!(wrap("then write this `retries: 0` there", 24, 24), ["then write this", "`retries: 0` there"]);
        assert_eq!(wrap("a `b c d e f g h i j k l m` n", 16, 16), ["a `b c d e f g h", "i j k l m` n"]);
        assert_eq!(wrap("one ` alone", 16, 16), ["one ` alone"]);
        assert_eq!(wrap("`", 16, 16), ["`"]);
    }

    #[test]
    fn long_texts_take_as_long_as_they_are() {
        let start = std::time::Instant::now();
        for word in ["a ", "` ", "`a ", "é "] {
            assert!(wrap(&word.repeat(200_000), 80, 80).len() >= 200_000 / 40);
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 60.0, "{seconds} s");
    }

    #[test]
    fn takes_the_power_out_of_control_characters() {
        assert_eq!(safe("a\u{1b}[31mb\u{202e}c\td"), "a\u{fffd}[31mb\u{fffd}c d");
    }
}
