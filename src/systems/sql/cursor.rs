//! A place in the tokens of a statement.

use super::lex::{Kind, Token};

/// Reads tokens from left to right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self { text, tokens }
    }

    /// The tokens that are left.
    pub(super) fn rest(&self) -> &'a [Token] {
        self.tokens
    }

    pub(super) fn first(&self) -> Option<&'a Token> {
        self.tokens.first()
    }

    pub(super) fn skip(&mut self, n: usize) {
        self.tokens = self.tokens.get(n..).unwrap_or_default();
    }

    pub(super) fn word(&self, token: &Token) -> &'a str {
        self.text.get(token.inner.clone()).unwrap_or("")
    }

    pub(super) fn is_word(&self, token: &Token, words: &[&str]) -> bool {
        token.kind == Kind::Word && words.iter().any(|w| self.word(token).eq_ignore_ascii_case(w))
    }

    /// Whether the next token is one of these words.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.first().is_some_and(|t| self.is_word(t, words))
    }

    /// Whether one of these words is left.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.tokens.iter().any(|t| self.is_word(t, words))
    }

    /// Takes the next token if it is one of these words.
    pub(super) fn eat(&mut self, words: &[&str]) -> bool {
        let is = self.is(words);
        self.skip(usize::from(is));
        is
    }

    /// Takes all of these words that come next.
    pub(super) fn eat_all(&mut self, words: &[&str]) {
        while self.eat(words) {}
    }

    /// The last part of a dotted name.
    pub(super) fn name(&mut self) -> Option<&'a Token> {
        let mut last = self.first().filter(|t| is_name(t))?;
        self.skip(1);
        while self.first().is_some_and(|t| t.kind == Kind::Mark(b'.')) {
            self.skip(1);
            last = self.first().filter(|t| is_name(t))?;
            self.skip(1);
        }
        Some(last)
    }

    /// What stands in the parentheses that come next.
    pub(super) fn group(&mut self) -> Option<&'a [Token]> {
        self.first().filter(|t| t.kind == Kind::Mark(b'('))?;
        let mut depth = 0usize;
        for (i, token) in self.tokens.iter().enumerate() {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inner = self.tokens.get(1..i);
                self.skip(i + 1);
                return inner;
            }
        }
        None
    }

    /// Skips to the parentheses that come next, and gives what stands in them.
    pub(super) fn next_group(&mut self) -> Option<&'a [Token]> {
        let at = self.tokens.iter().position(|t| t.kind == Kind::Mark(b'('))?;
        self.skip(at);
        self.group()
    }
}

pub(super) fn is_name(token: &Token) -> bool {
    matches!(token.kind, Kind::Word | Kind::Name)
}

/// What stands between the commas outside of parentheses.
pub(super) fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0usize;
    tokens
        .split(|t| {
            match t.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && t.kind == Kind::Mark(b',')
        })
        .collect()
}
