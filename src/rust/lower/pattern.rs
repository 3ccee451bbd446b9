//! Patterns.

use super::super::ir::{ExprKind, Pat, PatKind};
use super::{Lowerer, name, types};
use crate::source::Span;

impl Lowerer<'_> {
    pub(super) fn pattern(&mut self, pat: &syn::Pat) -> Pat {
        match pat {
            syn::Pat::Paren(p) => self.pattern(&p.pat),
            syn::Pat::Reference(r) => self.pattern(&r.pat),
            syn::Pat::Type(t) => self.pattern(&t.pat),
            syn::Pat::Guard(g) => self.pattern(&g.pat),
            syn::Pat::Ident(i) => self.binding(i),
            syn::Pat::Or(o) => {
                let cases: Vec<Pat> = o.cases.iter().map(|p| self.pattern(p)).collect();
                let span = match (cases.first(), cases.last()) {
                    (Some(first), Some(last)) => first.span.to(last.span),
                    _ => self.span_of(o),
                };
                Pat { span, kind: PatKind::Or(cases) }
            }
            syn::Pat::Lit(_) | syn::Pat::Range(_) => self.value(pat),
            syn::Pat::Tuple(t) => {
                let span = self.span(t.paren_token.span.join());
                Pat { span, kind: PatKind::Tuple(self.patterns(&t.elems)) }
            }
            syn::Pat::Slice(s) => {
                let span = self.span(s.bracket_token.span.join());
                Pat { span, kind: PatKind::List(self.patterns(&s.elems)) }
            }
            syn::Pat::TupleStruct(_) | syn::Pat::Struct(_) | syn::Pat::Path(_) => self.variant(pat),
            syn::Pat::Wild(w) => Pat { span: self.span(w.underscore_token.span), kind: PatKind::Wild },
            other => Pat { span: self.span_of(other), kind: PatKind::Wild },
        }
    }

    fn patterns(&mut self, pats: &syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>) -> Vec<Pat> {
        pats.iter().map(|p| self.pattern(p)).collect()
    }

    fn binding(&mut self, i: &syn::PatIdent) -> Pat {
        let sub = i.subpat.as_ref().map(|(_, sub)| Box::new(self.pattern(sub)));
        let ident = self.span(i.ident.span());
        let span = sub.as_ref().map_or(ident, |sub| ident.to(sub.span));
        Pat { span, kind: PatKind::Bind { name: name(&i.ident), sub } }
    }

    fn value(&mut self, pat: &syn::Pat) -> Pat {
        match pat {
            syn::Pat::Lit(l) => {
                let kind = match self.literal(&l.lit) {
                    ExprKind::Lit(lit) => PatKind::Lit(lit),
                    _ => PatKind::Wild,
                };
                Pat { span: self.span(l.lit.span()), kind }
            }
            syn::Pat::Range(r) => {
                let start = r.start.as_ref().map(|e| self.expr(e));
                let end = r.end.as_ref().map(|e| self.expr(e));
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                let dots = match &r.limits {
                    syn::RangeLimits::HalfOpen(dots) => self.between(dots.spans[0], dots.spans[1]),
                    syn::RangeLimits::Closed(dots) => self.between(dots.spans[0], dots.spans[2]),
                };
                let first = start.as_ref().map_or(dots, |e| e.span);
                let span = first.to(end.as_ref().map_or(dots, |e| e.span));
                Pat { span, kind: PatKind::Range { start, end, inclusive } }
            }
            other => Pat { span: self.span_of(other), kind: PatKind::Wild },
        }
    }

    fn variant(&mut self, pat: &syn::Pat) -> Pat {
        let (qself, path, end): (_, _, Option<Span>) = match pat {
            syn::Pat::TupleStruct(t) => (&t.qself, &t.path, Some(self.span(t.paren_token.span.close()))),
            syn::Pat::Struct(s) => (&s.qself, &s.path, Some(self.span(s.brace_token.span.close()))),
            syn::Pat::Path(p) => (&p.qself, &p.path, None),
            other => return Pat { span: self.span_of(other), kind: PatKind::Wild },
        };
        let start = self.path_span(qself, path);
        let span = end.map_or(start, |end| start.to(end));
        let path = types::qualified_path(qself, path);
        let kind = match pat {
            syn::Pat::TupleStruct(t) => PatKind::TupleStruct { path, parts: self.patterns(&t.elems) },
            syn::Pat::Struct(s) => {
                let fields = s.fields.iter().map(|f| (super::expr::member(&f.member), self.pattern(&f.pat)));
                PatKind::Struct { path, fields: fields.collect() }
            }
            _ => PatKind::Path(path),
        };
        Pat { span, kind }
    }
}
