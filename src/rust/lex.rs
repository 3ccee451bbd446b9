//! A cheap lexer for Rust: enough to tell code from strings and comments, at the speed of a scan.
//!
//! It knows no keywords, keeps no text and never fails; what it cannot make sense of becomes punctuation.
//! The depth measure and the choice of files to parse stand on it, so it must see strings, comments, characters
//! and lifetimes exactly as the real lexer does.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword, raw ones included.
    Ident,
    /// `'a`
    Lifetime,
    /// A string, byte string or C string, raw or not.
    Str,
    /// A character or byte.
    Char,
    /// A number.
    Number,
    /// `(`, `[` or `{`.
    Open(u8),
    /// `)`, `]` or `}`.
    Close(u8),
    /// One character of punctuation.
    Punct(u8),
}

/// A token with its byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Token {
    /// The byte range.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The text of the token in the source it was read from.
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }
}

/// The tokens of a text; comments and white space are left out.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of `source`.
    pub fn new(source: &'a str) -> Self {
        Self { bytes: source.as_bytes(), at: 0 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at += rest.iter().position(|&b| !wanted(b)).unwrap_or(rest.len());
    }

    fn skip_blank(&mut self) {
        loop {
            self.skip_while(|b| b.is_ascii_whitespace() || b == 0x0b);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => self.skip_while(|b| b != b'\n'),
                (b'/', b'*') => self.skip_block_comment(),
                (0x80.., _) if self.wide_blank() > 0 => self.at += self.wide_blank(),
                _ => return,
            }
        }
    }

    /// The width of the white space beyond ASCII that stands here; 0 if none does.
    fn wide_blank(&self) -> usize {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (0xc2, 0x85 | 0xa0, _) => 2,
            (0xe1, 0x9a, 0x80)
            | (0xe2, 0x80, 0x80..=0x8a | 0x8e | 0x8f | 0xa8 | 0xa9 | 0xaf)
            | (0xe2, 0x81, 0x9f)
            | (0xe3, 0x80, 0x80) => 3,
            _ => 0,
        }
    }

    /// The rest of an identifier. Letters beyond ASCII are not checked, but white space ends it.
    fn skip_ident(&mut self) {
        loop {
            self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            if self.peek(0) < 0x80 || self.wide_blank() > 0 {
                return;
            }
            self.at = (self.at + char_width(self.peek(0))).min(self.bytes.len());
        }
    }

    /// Block comments nest; one that is not closed runs to the end of the text.
    fn skip_block_comment(&mut self) {
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth = depth.saturating_sub(1);
                    self.at += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// The rest of a string whose opening quote has been read.
    fn skip_quoted(&mut self, quote: u8) {
        loop {
            self.skip_while(|b| b != quote && b != b'\\');
            match self.peek(0) {
                b'\\' => self.at = (self.at + 2).min(self.bytes.len()),
                _ => {
                    self.at = (self.at + 1).min(self.bytes.len());
                    return;
                }
            }
        }
    }

    /// The rest of a raw string, from its first `#` or its quote. False, and nothing is read, where it is none.
    fn skip_raw(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let hashes = rest.iter().take_while(|&&b| b == b'#').count();
        if rest.get(hashes) != Some(&b'"') {
            return false;
        }
        self.at += hashes + 1;
        loop {
            self.skip_while(|b| b != b'"');
            if self.at >= self.bytes.len() {
                return true;
            }
            self.at += 1;
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            if rest.iter().take(hashes).filter(|&&b| b == b'#').count() == hashes && rest.len() >= hashes {
                self.at += hashes;
                return true;
            }
        }
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_ident();
        let prefix = self.bytes.get(start..self.at).unwrap_or(&[]);
        match (prefix, self.peek(0)) {
            (b"b" | b"c", b'"') => {
                self.at += 1;
                self.skip_quoted(b'"');
                Kind::Str
            }
            (b"b", b'\'') => {
                self.at += 1;
                self.skip_quoted(b'\'');
                Kind::Char
            }
            (b"r" | b"br" | b"cr", b'"' | b'#') if self.skip_raw() => Kind::Str,
            (b"r", b'#') if is_ident(self.peek(1)) => {
                self.at += 1;
                self.skip_ident();
                Kind::Ident
            }
            _ => Kind::Ident,
        }
    }

    fn number(&mut self) -> Kind {
        self.skip_ident();
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_ident();
        }
        let exponent = self.bytes.get(self.at.wrapping_sub(1)).is_some_and(|b| matches!(b, b'e' | b'E'));
        if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_ident();
        }
        Kind::Number
    }

    /// What begins with `'`: a character if a quote follows one character or an escape, else a lifetime.
    fn apostrophe(&mut self) -> Kind {
        self.at += 1;
        if self.peek(0) == b'\\' {
            self.skip_quoted(b'\'');
            return Kind::Char;
        }
        let width = char_width(self.peek(0));
        if self.peek(0) != b'\'' && self.peek(width) == b'\'' {
            self.at += width + 1;
            return Kind::Char;
        }
        if is_ident(self.peek(0)) {
            self.skip_ident();
            return Kind::Lifetime;
        }
        Kind::Punct(b'\'')
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_blank();
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let kind = match first {
            b'0'..=b'9' => self.number(),
            _ if is_ident(first) => self.word(),
            b'\'' => self.apostrophe(),
            b'"' => {
                self.at += 1;
                self.skip_quoted(b'"');
                Kind::Str
            }
            _ => {
                self.at += 1;
                match first {
                    b'(' | b'[' | b'{' => Kind::Open(first),
                    b')' | b']' | b'}' => Kind::Close(first),
                    _ => Kind::Punct(first),
                }
            }
        };
        Some(Token { kind, start, end: self.at.min(self.bytes.len()) })
    }
}

/// Bytes of characters beyond ASCII count as letters: no token boundary can be missed by that.
fn is_ident(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

fn char_width(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<(Kind, &str)> {
        Lexer::new(source).map(|t| (t.kind, t.text(source))).collect()
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        let found = tokens("'a 'a' '\\'' b'\\'' 'é' '(' 'static: loop {");
        assert_eq!(
            found,
            [
                (Kind::Lifetime, "'a"),
                (Kind::Char, "'a'"),
                (Kind::Char, "'\\''"),
                (Kind::Char, "b'\\''"),
                (Kind::Char, "'é'"),
                (Kind::Char, "'('"),
                (Kind::Lifetime, "'static"),
                (Kind::Punct(b':'), ":"),
                (Kind::Ident, "loop"),
                (Kind::Open(b'{'), "{"),
            ]
        );
    }

    #[test]
    fn strings_and_comments_hide_what_is_in_them() {
        let source = r###"a "x \" (" r#"raw " ("# br##"b"# ("## c"z" r#type /* ( /* ( */ ( */ b // ( "
c"###;
        let kinds: Vec<_> = tokens(source).into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            kinds,
            ["a", r#""x \" (""#, r##"r#"raw " ("#"##, r###"br##"b"# ("##"###, "c\"z\"", "r#type", "b", "c"]
        );
    }

    #[test]
    fn numbers_leave_ranges_and_methods_alone() {
        let texts: Vec<_> = tokens("0..10 1.5e-3 1.max(2) 0xffu8 t.0.1").into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["0", ".", ".", "10", "1.5e-3", "1", ".", "max", "(", "2", ")", "0xffu8", "t", ".", "0.1"]);
    }

    #[test]
    fn white_space_beyond_ascii_ends_a_word() {
        // Else `r"\"` would look like a string that is not closed, and hide the code behind it.
        for blank in ["\u{a0}", "\u{2028}", "\u{3000}", "\u{200e}"] {
            let source = format!("x{blank}r\"\\\" ( \"");
            let texts: Vec<_> = tokens(&source).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, ["x", "r\"\\\"", "(", "\""], "{blank:?}");
        }
    }

    #[test]
    fn what_is_not_closed_runs_to_the_end() {
        for source in ["\"abc\\", "r#\"abc\"", "/* /* */", "'", "b'", "'\\", "r#", "é", "'é"] {
            assert!(Lexer::new(source).all(|t| t.end <= source.len() && t.start < t.end), "{source}");
        }
    }
}
