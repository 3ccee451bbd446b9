//! Patterns.

use syn::spanned::Spanned;

use super::super::ir::{ExprKind, Pat, PatKind};
use super::{Lowerer, name, types};

impl Lowerer<'_> {
    pub(super) fn pattern(&mut self, pat: &syn::Pat) -> Pat {
        let span = self.span(pat.span());
        let kind = match pat {
            syn::Pat::Paren(p) => return self.pattern(&p.pat),
            syn::Pat::Reference(r) => return self.pattern(&r.pat),
            syn::Pat::Type(t) => return self.pattern(&t.pat),
            syn::Pat::Guard(g) => return self.pattern(&g.pat),
            syn::Pat::Ident(i) => PatKind::Bind {
                name: name(&i.ident),
                sub: i.subpat.as_ref().map(|(_, sub)| Box::new(self.pattern(sub))),
            },
            syn::Pat::Lit(l) => match self.literal(&l.lit) {
                ExprKind::Lit(lit) => PatKind::Lit(lit),
                _ => PatKind::Wild,
            },
            syn::Pat::Range(r) => PatKind::Range {
                start: r.start.as_ref().map(|e| self.expr(e)),
                end: r.end.as_ref().map(|e| self.expr(e)),
                inclusive: matches!(r.limits, syn::RangeLimits::Closed(_)),
            },
            syn::Pat::Tuple(t) => PatKind::Tuple(self.patterns(&t.elems)),
            syn::Pat::Slice(s) => PatKind::List(self.patterns(&s.elems)),
            syn::Pat::Or(o) => PatKind::Or(o.cases.iter().map(|p| self.pattern(p)).collect()),
            syn::Pat::TupleStruct(t) => {
                let path = types::qualified_path(&t.qself, &t.path);
                PatKind::TupleStruct { path, parts: self.patterns(&t.elems) }
            }
            syn::Pat::Struct(s) => PatKind::Struct {
                path: types::qualified_path(&s.qself, &s.path),
                fields: s.fields.iter().map(|f| (super::expr::member(&f.member), self.pattern(&f.pat))).collect(),
            },
            syn::Pat::Path(p) => PatKind::Path(types::qualified_path(&p.qself, &p.path)),
            _ => PatKind::Wild,
        };
        Pat { span, kind }
    }

    fn patterns(&mut self, pats: &syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>) -> Vec<Pat> {
        pats.iter().map(|p| self.pattern(p)).collect()
    }
}
