//! Blocks and statements.

use super::super::ir::{Expr, ExprKind, Name, Stmt};
use super::{Lowerer, types};
use crate::source::Span;

impl Lowerer<'_> {
    pub(super) fn block(&mut self, block: &syn::Block, label: Option<Name>) -> Expr {
        let span = self.span(block.brace_token.span.join());
        self.statements(&block.stmts, label, span)
    }

    /// The block of statements that stand at `span`.
    pub(super) fn statements(&mut self, all: &[syn::Stmt], label: Option<Name>, span: Span) -> Expr {
        let mut stmts = Vec::new();
        let mut tail = None;
        let mut before: &[syn::Attribute] = &[];
        for (i, stmt) in all.iter().enumerate() {
            let is_last = i + 1 == all.len();
            let own: &[syn::Attribute] = match stmt {
                syn::Stmt::Expr(e, _) => attributes_of(e),
                syn::Stmt::Macro(m) => &m.attrs,
                _ => &[],
            };
            // Of two statements that never are in one program, the first stands for both.
            if self.exclude_each_other(before, own) {
                if is_last && matches!(stmt, syn::Stmt::Expr(_, None)) {
                    tail = stmts.pop_if(|first| matches!(first, Stmt::Expr(_))).and_then(|first| match first {
                        Stmt::Expr(e) => Some(e),
                        _ => None,
                    });
                }
                continue;
            }
            before = own;
            match stmt {
                syn::Stmt::Local(local) => self.local(local, &mut stmts),
                // A semicolon alone.
                syn::Stmt::Expr(syn::Expr::Verbatim(tokens), _) if tokens.is_empty() => {}
                syn::Stmt::Item(item) => stmts.extend(self.item(item).into_iter().map(Stmt::Item)),
                syn::Stmt::Expr(e, semi) if !self.leaves_out(attributes_of(e)) => {
                    let e = self.expr(e);
                    if is_last && semi.is_none() { tail = Some(e) } else { stmts.push(Stmt::Expr(e)) }
                }
                syn::Stmt::Macro(m) if !self.leaves_out(&m.attrs) => {
                    let is_tail = is_last && m.semi_token.is_none();
                    self.macro_statement(&m.mac, is_tail, &mut stmts, &mut tail);
                }
                syn::Stmt::Expr(..) | syn::Stmt::Macro(_) => {}
            }
        }
        Expr { span, kind: Box::new(ExprKind::Block { label, stmts, tail }) }
    }

    fn local(&mut self, local: &syn::Local, stmts: &mut Vec<Stmt>) {
        if self.leaves_out(&local.attrs) {
            return;
        }
        let ty = match &local.pat {
            syn::Pat::Type(t) => Some(types::ty(&t.ty)),
            _ => None,
        };
        let pat = self.pattern(&local.pat);
        let value = local.init.as_ref().map(|init| self.expr(&init.expr));
        let diverge = local.init.as_ref().and_then(|init| init.diverge.as_ref());
        let otherwise = diverge.map(|(_, block)| self.expr(block));
        stmts.push(Stmt::Let { pat, ty, value, otherwise });
    }
}

/// The attributes of an expression that can stand as a statement.
fn attributes_of(e: &syn::Expr) -> &[syn::Attribute] {
    match e {
        syn::Expr::Assign(e) => &e.attrs,
        syn::Expr::Await(e) => &e.attrs,
        syn::Expr::Block(e) => &e.attrs,
        syn::Expr::Call(e) => &e.attrs,
        syn::Expr::ForLoop(e) => &e.attrs,
        syn::Expr::If(e) => &e.attrs,
        syn::Expr::Loop(e) => &e.attrs,
        syn::Expr::Match(e) => &e.attrs,
        syn::Expr::MethodCall(e) => &e.attrs,
        syn::Expr::Macro(e) => &e.attrs,
        syn::Expr::Return(e) => &e.attrs,
        syn::Expr::Try(e) => &e.attrs,
        syn::Expr::Unsafe(e) => &e.attrs,
        syn::Expr::While(e) => &e.attrs,
        _ => &[],
    }
}
