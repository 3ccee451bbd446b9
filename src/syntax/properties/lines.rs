//! The lines of a .properties file: comments, keys and values, escapes resolved.

use std::ops::Range;

use crate::source::SourceFile;
use crate::syntax::tree::{Comment, MAX_ERRORS, SyntaxError};

/// A key and its value.
pub(super) struct Line {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    /// The value without blanks after it: Java keeps them, but no setting means them.
    pub(super) value: String,
    /// From the first to the last byte of the value, blanks after it left out.
    pub(super) value_range: Range<usize>,
    /// Whether the value stands in the file as it is.
    pub(super) is_verbatim: bool,
}

/// All lines, in the order of the file.
pub(super) fn lines(file: &SourceFile, comments: &mut Vec<Comment>, errors: &mut Vec<SyntaxError>) -> Vec<Line> {
    let mut lexer = Lexer { file, text: &file.text, at: 0, errors };
    if file.text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    let mut out = Vec::new();
    loop {
        lexer.skip(|c| is_blank(c) || is_break(c));
        match lexer.peek() {
            None => return out,
            Some('#' | '!') => {
                let start = lexer.at;
                lexer.skip(|c| !is_break(c));
                let text = file.text.get(start + 1..lexer.at).unwrap_or("").into();
                comments.push(Comment { span: file.span(start..lexer.at), text });
            }
            Some(_) => out.push(lexer.line()),
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// A piece of a line, escapes resolved.
struct Read {
    text: String,
    /// The length of the text without the blanks after it; escaped ones belong to it.
    length: usize,
    /// Where that ends in the file.
    end: usize,
    /// Whether the source says the same.
    is_verbatim: bool,
}

struct Lexer<'f, 'e> {
    file: &'f SourceFile,
    text: &'f str,
    at: usize,
    errors: &'e mut Vec<SyntaxError>,
}

impl Lexer<'_, '_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        self.at += self.rest().find(|c| !wanted(c)).unwrap_or(self.rest().len());
    }

    fn line(&mut self) -> Line {
        let start = self.at;
        let key = self.read(|c| matches!(c, '=' | ':') || is_blank(c)).text;
        let key_range = start..self.at;
        self.skip_blanks();
        if matches!(self.peek(), Some('=' | ':')) {
            self.at += 1;
            self.skip_blanks();
        }
        let start = self.at;
        let mut value = self.read(|_| false);
        value.text.truncate(value.length);
        Line { key, key_range, value: value.text, value_range: start..value.end, is_verbatim: value.is_verbatim }
    }

    /// Blanks, and line ends that a backslash takes away.
    fn skip_blanks(&mut self) {
        loop {
            self.skip(is_blank);
            match self.continuation() {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    /// The length of a backslash with the line end after it, if that is what comes next.
    fn continuation(&self) -> Option<usize> {
        let rest = self.rest().strip_prefix('\\')?;
        [("\r\n", 3), ("\n", 2), ("\r", 2)].iter().find(|(end, _)| rest.starts_with(end)).map(|(_, length)| *length)
    }

    /// Reads up to an unescaped character that ends, or to the end of the line.
    fn read(&mut self, ends: impl Fn(char) -> bool) -> Read {
        let mut read = Read { text: String::new(), length: 0, end: self.at, is_verbatim: true };
        while let Some(c) = self.peek().filter(|&c| !is_break(c) && !ends(c)) {
            if let Some(length) = self.continuation() {
                self.at += length;
                self.skip(is_blank);
                read.is_verbatim = false;
                continue;
            }
            if c == '\\' {
                self.escape(&mut read.text);
                read.is_verbatim = false;
            } else {
                read.text.push(c);
                self.at += c.len_utf8();
            }
            if !is_blank(c) {
                (read.length, read.end) = (read.text.len(), self.at);
            }
        }
        read
    }

    fn escape(&mut self, out: &mut String) {
        self.at += 1;
        let Some(c) = self.peek() else { return };
        if c == 'u' {
            return self.unicode(out);
        }
        self.at += c.len_utf8();
        out.push(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            other => other,
        });
    }

    /// `\uXXXX`, two of them for a character beyond the first plane.
    fn unicode(&mut self, out: &mut String) {
        let start = self.at - 1;
        let Some(first) = self.unit(0) else {
            if self.errors.len() < MAX_ERRORS {
                let message = "not valid .properties: \\u takes four hexadecimal digits".into();
                self.errors.push(SyntaxError { span: self.file.span(start..start + 2), message });
            }
            self.at += 1;
            out.push_str("\\u");
            return;
        };
        self.at += 5;
        let is_pair = (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u");
        let second = if is_pair { self.unit(1) } else { None };
        match char::decode_utf16([first].into_iter().chain(second)).next() {
            Some(Ok(c)) => {
                out.push(c);
                self.at += if second.is_some() { 6 } else { 0 };
            }
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }

    /// The four digits after the `u` that stands `ahead` characters further on.
    fn unit(&self, ahead: usize) -> Option<u16> {
        let digits = self.text.get(self.at + ahead + 1..self.at + ahead + 5)?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }
}
