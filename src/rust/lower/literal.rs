//! Literals, and where the text of a string stands in the file.

use std::sync::Arc;

use super::super::ir::{ExprKind, Lit};
use super::Lowerer;
use crate::source::Span;

impl Lowerer<'_> {
    /// A literal; one that no value is made of (an integer beyond 128 bits, bytes that are no text) is opaque.
    pub(super) fn literal(&self, lit: &syn::Lit) -> ExprKind {
        match lit {
            syn::Lit::Str(s) => self.string(&s.value(), self.span(s.span())),
            syn::Lit::ByteStr(s) => match String::from_utf8(s.value()) {
                Ok(text) => self.string(&text, self.span(s.span())),
                Err(_) => ExprKind::Opaque,
            },
            syn::Lit::CStr(s) => match s.value().into_string() {
                Ok(text) => self.string(&text, self.span(s.span())),
                Err(_) => ExprKind::Opaque,
            },
            syn::Lit::Byte(b) => ExprKind::Lit(Lit::Int(b.value().into())),
            syn::Lit::Char(c) => ExprKind::Lit(Lit::Char(c.value())),
            syn::Lit::Int(i) => match i.base10_digits().parse() {
                Ok(n) => ExprKind::Lit(Lit::Int(n)),
                Err(_) => ExprKind::Opaque,
            },
            syn::Lit::Float(f) => match f.base10_digits().parse() {
                Ok(n) => ExprKind::Lit(Lit::Float(n)),
                Err(_) => ExprKind::Opaque,
            },
            syn::Lit::Bool(b) => ExprKind::Lit(Lit::Bool(b.value)),
            _ => ExprKind::Opaque,
        }
    }

    fn string(&self, text: &str, span: Span) -> ExprKind {
        let start = self.body(span).map(|(start, _)| start);
        let verbatim = start.filter(|&at| self.file.text.get(at..).is_some_and(|rest| rest.starts_with(text)));
        let verbatim = verbatim.and_then(|at| u32::try_from(at).ok());
        ExprKind::Lit(Lit::Str { text: Arc::from(text), verbatim })
    }

    /// Where the text between a string's quotes begins, and whether escapes in it mean something.
    pub(super) fn body(&self, span: Span) -> Option<(usize, bool)> {
        let token = self.text(span);
        let quote = token.find('"')?;
        let raw = token.get(..quote)?.contains('r');
        Some((span.range().start + quote + 1, !raw))
    }
}
