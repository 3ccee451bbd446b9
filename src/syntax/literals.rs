//! The texts between quotes in Go, Java and Kotlin sources: nothing else of the code is read.

use std::ops::Range;

/// A text as the program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// What it says, pieces that `+` joins together.
    pub text: String,
    /// Where it stands, with its quotes.
    pub range: Range<usize>,
    /// The offset from which it stands in the file byte for byte.
    pub verbatim: Option<u32>,
}

/// Every text of a source, in order. Files that break off in a text end with it.
pub fn literals(source: &str) -> Vec<Literal> {
    let mut out: Vec<Literal> = Vec::new();
    let mut at = 0;
    // Whether a `+` is all that stands between the last text and the place.
    let (mut adds, mut anything) = (false, true);
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let length = match token(rest) {
            Token::Blank(length) => length,
            Token::Text { length, quote } => {
                let next = literal(rest, at, length, quote);
                match out.last_mut().filter(|_| adds && !anything) {
                    Some(last) => join(last, next),
                    None => out.push(next),
                }
                (adds, anything) = (false, false);
                length
            }
            Token::Other(length) => {
                anything |= first != '+' || adds;
                adds = first == '+';
                length
            }
        };
        at += length.max(1);
    }
    out
}

enum Token {
    /// A blank or a comment.
    Blank(usize),
    /// A text, with the length of the quotes at each end; those of a text that breaks off are counted as if they stood.
    Text { length: usize, quote: usize },
    /// Any other sign, or a character between single quotes.
    Other(usize),
}

fn token(rest: &str) -> Token {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        _ if first.is_whitespace() => Token::Blank(first.len_utf8()),
        '/' if rest.starts_with("//") => Token::Blank(rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => Token::Blank(rest.find("*/").map_or(rest.len(), |end| end + 2)),
        '"' if rest.starts_with("\"\"\"") => Token::Text { length: to_quote(rest, "\"\"\"", false), quote: 3 },
        '"' => Token::Text { length: to_quote(rest, "\"", true), quote: 1 },
        // Nothing is escaped between these.
        '`' => Token::Text { length: rest.find_after('`').unwrap_or(rest.len()), quote: 1 },
        '\'' => Token::Other(to_quote(rest, "'", true)),
        _ => Token::Other(first.len_utf8()),
    }
}

trait FindAfter {
    /// The end of the second `sign`, where the first is what the text begins with.
    fn find_after(&self, sign: char) -> Option<usize>;
}

impl FindAfter for str {
    fn find_after(&self, sign: char) -> Option<usize> {
        let begin = sign.len_utf8();
        Some(begin + self.get(begin..)?.find(sign)? + sign.len_utf8())
    }
}

/// How long a text is, both quotes included; one on a line ends with it.
fn to_quote(rest: &str, quote: &str, on_a_line: bool) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(quote.len()) {
        if !escaped && rest.get(at..).is_some_and(|r| r.starts_with(quote)) {
            return at + quote.len();
        }
        if on_a_line && c == '\n' {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn literal(rest: &str, at: usize, length: usize, quote: usize) -> Literal {
    let whole = rest.get(..length).unwrap_or(rest);
    let end = whole.len().saturating_sub(quote).max(quote);
    let inner = whole.get(quote..end).unwrap_or_default();
    let is_raw = whole.starts_with('`') || !inner.contains('\\');
    let text = if is_raw { inner.to_owned() } else { unescaped(inner) };
    let verbatim = u32::try_from(at + quote).ok().filter(|_| is_raw);
    Literal { text, range: at..at + length, verbatim }
}

fn join(last: &mut Literal, next: Literal) {
    last.text.push_str(&next.text);
    last.range.end = next.range.end;
    last.verbatim = None;
}

/// What `\"`, `\n`, `\u0041` and the like stand for; others stay as they are.
fn unescaped(inner: &str) -> String {
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('u') => {
                let digits: String = chars.clone().take(4).collect();
                match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).filter(|_| digits.len() == 4) {
                    Some(c) => {
                        out.push(c);
                        chars = chars.as_str().get(4..).unwrap_or_default().chars();
                    }
                    None => out.push_str("\\u"),
                }
            }
            // The end of a line that goes on.
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        literals(source).into_iter().map(|l| l.text).collect()
    }

    #[test]
    fn texts_in_each_kind_of_quotes() {
        assert_eq!(
            texts("var a = `{\"b\":\n1}` // \"no\"\n/* `no` */ c := '\"' + \"d\\\"\\u0041\""),
            ["{\"b\":\n1}", "d\"A"]
        );
        assert_eq!(texts("String s = \"\"\"\n  {\"a\": 1}\n  \"\"\"; f(\"x\")"), ["\n  {\"a\": 1}\n  ", "x"]);
        assert_eq!(
            texts("f(\"{\" + // why\n  \"}\", \"c\", d + \"e\", \"f\" + g + \"h\")"),
            ["{}", "c", "e", "f", "h"]
        );
    }

    #[test]
    fn places() {
        let source = "x = \"abc\" + \"d\\n\"; y = `z`";
        let all = literals(source);
        assert_eq!(source.get(all[0].range.clone()), Some("\"abc\" + \"d\\n\""));
        assert_eq!(all[0].verbatim, None);
        assert_eq!(all[1].verbatim, Some(24));
        assert_eq!(source.get(24..25), Some("z"));
    }

    #[test]
    fn what_breaks_off_does_no_harm() {
        for source in
            ["\"", "`", "\"\"\"", "'", "\"a\nb", "\"\\", "\"\\u12", "\"\\u12é\"", "/*", "a + \"", "\"\"\"é", "`é"]
        {
            for end in 0..=source.len() {
                if let Some(part) = source.get(..end) {
                    assert!(literals(part).iter().all(|l| part.get(l.range.clone()).is_some()), "{part:?}");
                }
            }
        }
    }
}
