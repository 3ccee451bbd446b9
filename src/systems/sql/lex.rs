//! SQL as tokens, as far as all dialects agree: words, names, texts, dollar quotes, separators. Comments are left out.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word: keyword or name, variables with their `@` or `:` included.
    Word,
    /// A name in quotes, backticks or brackets.
    Name,
    /// A text in single quotes.
    Text,
    /// A text in dollar quotes.
    Dollar,
    /// A number.
    Number,
    /// Any other character.
    Mark(u8),
    /// A semicolon.
    Semicolon,
    /// What surely ends a statement: `GO`, a `DELIMITER` of MySQL, a command of psql.
    Break,
}

/// A token with its place.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
    /// Without its quotes.
    pub(super) inner: Range<usize>,
}

/// Reads tokens from `range` of `text`. Never fails: what is not closed ends with the range.
pub(super) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    end: usize,
    /// What ends a statement besides the semicolon.
    delimiter: Option<&'t str>,
    /// Whether a backslash escapes a quote: MySQL, told by its backticks.
    has_backslashes: bool,
    /// The first word since the last separator is COPY, and STDIN was seen.
    copy: (bool, bool),
    is_fresh: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, range: Range<usize>) -> Self {
        let end = range.end.min(text.len());
        let bytes = text.as_bytes();
        let has_backslashes = bytes.get(range.start..end).unwrap_or_default().contains(&b'`');
        Self {
            text,
            bytes,
            at: range.start,
            end,
            delimiter: None,
            has_backslashes,
            copy: (false, false),
            is_fresh: true,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    fn starts(&self, at: usize, what: &str) -> bool {
        self.bytes.get(at..self.end).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    /// The end of the line that `at` is in, its line end left out.
    fn line_end(&self, at: usize) -> usize {
        self.bytes.get(at..self.end).unwrap_or_default().iter().position(|&b| b == b'\n').map_or(self.end, |n| at + n)
    }

    fn is_line_start(&self, at: usize) -> bool {
        let before = self.bytes.get(..at).unwrap_or_default();
        before.iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'\r')).is_none_or(|&b| b == b'\n')
    }

    /// The byte after `what`, looked for from `at`.
    fn after(&self, at: usize, what: &str) -> usize {
        let rest = self.bytes.get(at..self.end).unwrap_or_default();
        rest.windows(what.len()).position(|w| w == what.as_bytes()).map_or(self.end, |n| at + n + what.len())
    }

    fn skip_blanks_and_comments(&mut self) {
        while let Some(byte) = self.byte(self.at) {
            match byte {
                _ if byte.is_ascii_whitespace() => self.at += 1,
                b'-' if self.starts(self.at, "--") => self.at = self.line_end(self.at),
                b'/' if self.starts(self.at, "/*") => self.at = self.after(self.at + 2, "*/"),
                b'#' if self.is_line_start(self.at) => self.at = self.line_end(self.at),
                _ => return,
            }
        }
    }

    fn token(&mut self, kind: Kind, end: usize, inner: Range<usize>) -> Token {
        let range = self.at..end.min(self.end);
        self.at = range.end;
        Token { kind, inner: inner.start..inner.end.min(range.end), range }
    }

    fn simple(&mut self, kind: Kind, end: usize) -> Token {
        let start = self.at;
        self.token(kind, end, start..end)
    }

    /// A separator; after `COPY .. FROM STDIN` the data lines go with it.
    fn separator(&mut self, kind: Kind, end: usize) -> Token {
        let end = if self.copy == (true, true) { self.after(end, "\n\\.") } else { end };
        self.copy = (false, false);
        self.is_fresh = true;
        self.simple(kind, end)
    }

    /// The end of a quoted text that opens at `at`; a doubled quote is part of it.
    fn quoted_end(&self, at: usize, quote: u8, has_backslashes: bool) -> usize {
        let mut i = at + 1;
        while let Some(byte) = self.byte(i) {
            match byte {
                b'\\' if has_backslashes => i += 1,
                _ if byte == quote && self.byte(i + 1) == Some(quote) => i += 1,
                _ if byte == quote => return i + 1,
                _ => {}
            }
            i += 1;
        }
        self.end
    }

    fn quoted(&mut self, kind: Kind, quote: u8, has_backslashes: bool) -> Token {
        let end = self.quoted_end(self.at, quote, has_backslashes);
        let inner = self.at + 1..end.saturating_sub(1).max(self.at + 1);
        self.token(kind, end, inner)
    }

    /// `$tag$ .. $tag$`, if one opens here.
    fn dollar(&mut self) -> Option<Token> {
        let rest = self.text.get(self.at + 1..self.end)?;
        let tag = rest.get(..rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?)?;
        let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit()) && rest.get(tag.len()..)?.starts_with('$');
        if !is_tag {
            return None;
        }
        let mark = self.text.get(self.at..self.at + tag.len() + 2)?;
        let start = self.at + mark.len();
        let end = self.after(start, mark);
        let closes = self.text.get(start..end).is_some_and(|body| body.ends_with(mark));
        let body_end = if closes { end - mark.len() } else { end };
        Some(self.token(Kind::Dollar, end, start..body_end))
    }

    /// The end of a word; letters beyond ASCII belong to it.
    fn word_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..self.end).unwrap_or("");
        at + rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len())
    }

    /// `DELIMITER //` or `GO`, on a line of its own.
    fn command(&mut self, word: &str, end: usize) -> Option<Token> {
        let is = |what: &str| word.eq_ignore_ascii_case(what);
        if !(is("DELIMITER") || is("GO")) || !self.is_line_start(self.at) {
            return None;
        }
        let line_end = self.line_end(end);
        let rest = self.text.get(end..line_end)?.trim();
        if is("GO") {
            return rest.trim_end_matches(';').is_empty().then(|| self.separator(Kind::Break, end));
        }
        self.delimiter = Some(rest).filter(|d| !matches!(*d, "" | ";"));
        Some(self.separator(Kind::Break, line_end))
    }

    fn word(&mut self) -> Token {
        let end = self.word_end(self.at);
        let word = self.text.get(self.at..end).unwrap_or("");
        if let Some(token) = self.command(word, end) {
            return token;
        }
        if self.is_fresh {
            self.copy.0 = word.eq_ignore_ascii_case("COPY");
        }
        self.copy.1 |= word.eq_ignore_ascii_case("STDIN");
        let next = self.byte(end);
        // N'..' and E'..' are texts.
        if next == Some(b'\'') && word.len() == 1 && matches!(word, "N" | "n" | "E" | "e") {
            let closing = self.quoted_end(end, b'\'', self.has_backslashes || matches!(word, "E" | "e"));
            return self.token(Kind::Text, closing, end + 1..closing.saturating_sub(1).max(end + 1));
        }
        self.simple(Kind::Word, end)
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_blanks_and_comments();
        let byte = self.byte(self.at)?;
        if let Some(delimiter) = self.delimiter.filter(|d| self.starts(self.at, d)) {
            return Some(self.separator(Kind::Break, self.at + delimiter.len()));
        }
        if byte == b'\\' && self.is_line_start(self.at) {
            return Some(self.separator(Kind::Break, self.line_end(self.at)));
        }
        let is_name_bracket = || {
            let before = self.at.checked_sub(1).and_then(|i| self.bytes.get(i));
            !before.is_some_and(|&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b']' | b')'))
        };
        let token = match byte {
            b';' => return Some(self.separator(Kind::Semicolon, self.at + 1)),
            b'\'' => self.quoted(Kind::Text, b'\'', self.has_backslashes),
            b'"' => self.quoted(Kind::Name, b'"', false),
            b'`' => self.quoted(Kind::Name, b'`', false),
            b'[' if is_name_bracket() => self.quoted(Kind::Name, b']', false),
            b'$' if let Some(token) = self.dollar() => token,
            b'0'..=b'9' => {
                let end = self.word_end(self.at);
                let fraction = self.byte(end) == Some(b'.') && self.byte(end + 1).is_some_and(|b| b.is_ascii_digit());
                let end = if fraction { self.word_end(end + 1) } else { end };
                self.simple(Kind::Number, end)
            }
            b'@' | b':' | b'$'
                if self.byte(self.at + 1).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'@')) =>
            {
                let name = self.at + if self.starts(self.at, "@@") { 2 } else { 1 };
                self.simple(Kind::Word, self.word_end(name))
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii() => {
                // A character that is no letter stands alone.
                let next = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                if self.word_end(self.at) == self.at {
                    self.simple(Kind::Mark(byte), self.at + next)
                } else {
                    self.word()
                }
            }
            _ => self.simple(Kind::Mark(byte), self.at + 1),
        };
        if token.kind != Kind::Break && token.kind != Kind::Semicolon {
            self.is_fresh = false;
        }
        Some(token)
    }
}
