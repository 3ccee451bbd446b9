//! Where in a statement its parts stand.

use std::ops::Range;

use sqlparser::tokenizer::{Location, Span as RawSpan};

use super::lex::{Kind, Token};
use super::split::Candidate;
use crate::source::LineIndex;

/// Finds places in one statement; all of them count from its start.
pub(super) struct Places<'c> {
    candidate: &'c Candidate,
    lines: LineIndex,
}

impl<'c> Places<'c> {
    pub(super) fn new(candidate: &'c Candidate) -> Self {
        Self { candidate, lines: LineIndex::new(&candidate.sql) }
    }

    /// The byte at the parser's line and column.
    fn byte(&self, at: Location) -> Option<usize> {
        let line = self.lines.line_range(&self.candidate.sql, u32::try_from(at.line).ok().filter(|l| *l > 0)?);
        let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
        let text = self.candidate.sql.get(line.clone())?;
        text.char_indices().map(|(i, _)| i).chain([text.len()]).nth(column).map(|i| line.start + i)
    }

    /// The bytes of the parser's span, if it has one.
    pub(super) fn range(&self, span: RawSpan) -> Option<Range<usize>> {
        let (start, end) = (self.byte(span.start)?, self.byte(span.end)?);
        (start < end).then_some(start..end)
    }

    /// From the DELETE at the parser's location to the end of the table's name.
    pub(super) fn head(&self, at: Location) -> Option<Range<usize>> {
        let start = self.byte(at)?;
        let first = self.candidate.tokens.iter().position(|t| t.range.start == start)?;
        Some(start..self.name_end(first))
    }

    /// The end of the table's name after the DELETE or TRUNCATE that is the token `first`.
    pub(super) fn name_end(&self, first: usize) -> usize {
        let tokens = &self.candidate.tokens;
        let mut end = tokens.get(first).map_or(0, |t| t.range.end);
        let mut rest = tokens.iter().skip(first + 1).peekable();
        let mut depth = 0usize;
        let mut is_named = false;
        while let Some(token) = rest.next() {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                _ if depth > 0 || token.kind == Kind::Number => {}
                Kind::Word | Kind::Name if !is_named && self.is_filler(token) => {}
                Kind::Word | Kind::Name if !is_named => {
                    is_named = true;
                    end = token.range.end;
                }
                Kind::Mark(b'.') if is_named => {
                    if let Some(part) = rest.next() {
                        end = part.range.end;
                    }
                }
                _ => break,
            }
        }
        end
    }

    fn is_filler(&self, token: &Token) -> bool {
        let words = ["FROM", "ONLY", "TOP", "TABLE", "PERCENT", "LOW_PRIORITY", "QUICK", "IGNORE", "IF", "EXISTS"];
        token.kind == Kind::Word && words.iter().any(|w| self.candidate.word(token).eq_ignore_ascii_case(w))
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        let token = self.candidate.tokens.get(at).filter(|t| t.kind == Kind::Word);
        token.is_some_and(|t| words.iter().any(|w| self.candidate.word(t).eq_ignore_ascii_case(w)))
    }

    /// The part that picks by number: the LIMIT with its ORDER BY, the TOP, the numbering, the maximum.
    pub(super) fn count(&self) -> Option<Range<usize>> {
        let tokens = &self.candidate.tokens;
        let opens = |i: usize| tokens.get(i).is_some_and(|t| t.kind == Kind::Mark(b'('));
        let clause = |i: usize| self.is(i, &["LIMIT", "OFFSET", "FETCH"]) && !opens(i + 1);
        let top = |i: usize| {
            self.is(i, &["TOP"]) && tokens.get(i + 1).is_some_and(|t| t.kind == Kind::Number || opens(i + 1))
        };
        let call = |i: usize, names: &[&str]| self.is(i, names) && opens(i + 1);
        let indices = 0..tokens.len();
        if let Some(i) = indices.clone().find(|&i| clause(i)) {
            return self.between(self.order_by(i).unwrap_or(i), self.clause_end(i));
        }
        if let Some(i) = indices.clone().find(|&i| top(i)) {
            return self.between(i, if opens(i + 1) { self.closing(i + 1) } else { i + 1 });
        }
        if let Some(i) = indices.clone().find(|&i| call(i, &["ROW_NUMBER", "RANK", "DENSE_RANK"])) {
            let over = self.closing(i + 1) + 1;
            let end =
                if self.is(over, &["OVER"]) && opens(over + 1) { self.closing(over + 1) } else { self.closing(i + 1) };
            return self.between(i, end);
        }
        if let Some(i) = indices.clone().find(|&i| call(i, &["MAX", "MIN", "TABLESAMPLE"])) {
            let end = self.closing(i + 1);
            let is_less = tokens.get(end + 1).is_some_and(|t| t.kind == Kind::Mark(b'-'));
            return self.between(i, if is_less { end + 2 } else { end });
        }
        let i = indices.clone().find(|&i| self.is(i, &["ROWNUM", "TABLESAMPLE"]))?;
        self.between(i, self.clause_end(i))
    }

    fn between(&self, first: usize, last: usize) -> Option<Range<usize>> {
        let tokens = &self.candidate.tokens;
        Some(tokens.get(first)?.range.start..tokens.get(last).or(tokens.last())?.range.end)
    }

    /// The ORDER BY in front of a LIMIT, in the same query.
    fn order_by(&self, limit: usize) -> Option<usize> {
        let mut depth = 0usize;
        for i in (0..limit).rev() {
            match self.candidate.tokens.get(i)?.kind {
                Kind::Mark(b')') => depth += 1,
                Kind::Mark(b'(') if depth == 0 => return None,
                Kind::Mark(b'(') => depth -= 1,
                Kind::Word if depth == 0 && self.is(i, &["ORDER"]) => return Some(i),
                _ => {}
            }
        }
        None
    }

    /// The last token of a clause: before its query ends or another kind of clause begins.
    fn clause_end(&self, start: usize) -> usize {
        let tokens = &self.candidate.tokens;
        let mut depth = 0usize;
        for (i, token) in tokens.iter().enumerate().skip(start + 1) {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') if depth == 0 => return i - 1,
                Kind::Mark(b')') => depth -= 1,
                Kind::Word if depth == 0 && self.is(i, &["FOR", "AND", "OR", "RETURNING", "ORDER", "LOCK"]) => {
                    return i - 1;
                }
                _ => {}
            }
        }
        tokens.len().saturating_sub(1)
    }

    fn closing(&self, open: usize) -> usize {
        let tokens = &self.candidate.tokens;
        let mut depth = 0usize;
        for (i, token) in tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return i;
            }
        }
        tokens.len().saturating_sub(1)
    }
}
