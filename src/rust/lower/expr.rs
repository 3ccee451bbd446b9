//! Expressions.
//!
//! Each function gives the expression and the place of the whole, which is wider where parentheses, references or
//! dereferences are looked through: `(&a).b` begins at the parenthesis.

use std::sync::Arc;

use super::super::ir::{Arm, BinOp, Expr, ExprKind, Name, Param, Path, Stmt, UnOp};
use super::{Lowerer, label, name, types};
use crate::source::Span;

type Placed = (Expr, Span);

impl Lowerer<'_> {
    pub(super) fn expr(&mut self, e: &syn::Expr) -> Expr {
        self.placed(e).0
    }

    pub(super) fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e syn::Expr>) -> Vec<Expr> {
        all.into_iter().map(|e| self.expr(e)).collect()
    }

    fn optional(&mut self, e: &Option<Box<syn::Expr>>) -> Option<Expr> {
        e.as_ref().map(|e| self.expr(e))
    }

    fn placed(&mut self, e: &syn::Expr) -> Placed {
        use syn::Expr::*;
        match e {
            Lit(l) => {
                let span = self.span(l.lit.span());
                placed(self.literal(&l.lit), span)
            }
            Path(p) => {
                let span = self.path_span(&p.qself, &p.path);
                placed(ExprKind::Path(types::qualified_path(&p.qself, &p.path)), span)
            }
            Call(_) | MethodCall(_) | Field(_) | Index(_) | Try(_) | Await(_) | Cast(_) => self.postfix(e),
            Paren(_) | Group(_) | Unary(_) | Reference(_) | RawAddr(_) | Let(_) => self.prefix(e),
            Binary(_) | Assign(_) | Range(_) => self.operator(e),
            If(_) | Match(_) | Loop(_) | While(_) | ForLoop(_) => self.control(e),
            Block(_) | Unsafe(_) | Const(_) | Async(_) | TryBlock(_) | Closure(_) => self.body_of(e),
            Break(_) | Continue(_) | Return(_) | Yield(_) => self.jump(e),
            Struct(_) | Tuple(_) | Array(_) | Repeat(_) => self.aggregate(e),
            Macro(m) => {
                let e = self.macro_expr(&m.mac);
                let span = self.macro_span(&m.mac);
                (e, span)
            }
            _ => placed(ExprKind::Opaque, self.span_of(e)),
        }
    }

    fn postfix(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::Call(c) => {
                let (callee, start) = self.placed(&c.func);
                let args = self.exprs(&c.args);
                placed(ExprKind::Call { callee, args }, start.to(self.span(c.paren_token.span.close())))
            }
            syn::Expr::MethodCall(m) => self.method(m),
            syn::Expr::Field(f) => {
                let (base, start) = self.placed(&f.base);
                placed(ExprKind::Field { base, name: member(&f.member) }, start.to(self.member_span(&f.member)))
            }
            syn::Expr::Index(i) => {
                let (base, start) = self.placed(&i.expr);
                let index = self.expr(&i.index);
                placed(ExprKind::Index { base, index }, start.to(self.span(i.bracket_token.span.close())))
            }
            syn::Expr::Try(t) => {
                let (value, start) = self.placed(&t.expr);
                placed(ExprKind::Try(value), start.to(self.span(t.question_token.span)))
            }
            syn::Expr::Await(a) => {
                let (value, start) = self.placed(&a.base);
                placed(ExprKind::Await(value), start.to(self.span(a.await_token.span)))
            }
            syn::Expr::Cast(c) => {
                let (value, start) = self.placed(&c.expr);
                placed(ExprKind::Cast { value, ty: types::ty(&c.ty) }, start.to(self.span_of(&c.ty)))
            }
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }

    fn method(&mut self, m: &syn::ExprMethodCall) -> Placed {
        let (receiver, start) = self.placed(&m.receiver);
        let kind = ExprKind::Method {
            receiver,
            name: name(&m.method),
            name_span: self.span(m.method.span()),
            types: m.turbofish.as_ref().map(|t| types::generic_args(&t.args)).unwrap_or_default(),
            args: self.exprs(&m.args),
        };
        placed(kind, start.to(self.span(m.paren_token.span.close())))
    }

    fn member_span(&self, member: &syn::Member) -> Span {
        match member {
            syn::Member::Named(ident) => self.span(ident.span()),
            syn::Member::Unnamed(index) => self.span(index.span),
        }
    }

    fn prefix(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::Paren(p) => (self.expr(&p.expr), self.span(p.paren_token.span.join())),
            syn::Expr::Group(g) => self.placed(&g.expr),
            syn::Expr::Reference(r) => self.looked_through(r.and_token.spans[0], &r.expr),
            syn::Expr::RawAddr(r) => self.looked_through(r.and_token.spans[0], &r.expr),
            syn::Expr::Unary(u) => self.unary(u),
            syn::Expr::Let(l) => {
                let pat = self.pattern(&l.pat);
                let (value, end) = self.placed(&l.expr);
                placed(ExprKind::Let { pat, value }, self.span(l.let_token.span).to(end))
            }
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }

    fn looked_through(&mut self, first: proc_macro2::Span, inner: &syn::Expr) -> Placed {
        let (inner, end) = self.placed(inner);
        (inner, self.span(first).to(end))
    }

    fn unary(&mut self, u: &syn::ExprUnary) -> Placed {
        let (op, token) = match &u.op {
            syn::UnOp::Not(t) => (UnOp::Not, t.span),
            syn::UnOp::Neg(t) => (UnOp::Neg, t.span),
            other => return self.looked_through(syn::spanned::Spanned::span(other), &u.expr),
        };
        let (value, end) = self.placed(&u.expr);
        placed(ExprKind::Unary { op, value }, self.span(token).to(end))
    }

    fn operator(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::Binary(b) => {
                let (left, start) = self.placed(&b.left);
                let (right, end) = self.placed(&b.right);
                let kind = match binary(&b.op) {
                    Some((op, false)) => ExprKind::Binary { op, left, right },
                    Some((op, true)) => ExprKind::Assign { op: Some(op), place: left, value: right },
                    None => ExprKind::Opaque,
                };
                placed(kind, start.to(end))
            }
            syn::Expr::Assign(a) => {
                let (place, start) = self.placed(&a.left);
                let (value, end) = self.placed(&a.right);
                placed(ExprKind::Assign { op: None, place, value }, start.to(end))
            }
            syn::Expr::Range(r) => self.range(r),
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }

    fn range(&mut self, r: &syn::ExprRange) -> Placed {
        let (inclusive, dots) = match &r.limits {
            syn::RangeLimits::HalfOpen(dots) => (false, self.between(dots.spans[0], dots.spans[1])),
            syn::RangeLimits::Closed(dots) => (true, self.between(dots.spans[0], dots.spans[2])),
        };
        let start = r.start.as_ref().map(|e| self.placed(e));
        let end = r.end.as_ref().map(|e| self.placed(e));
        let first = start.as_ref().map_or(dots, |(_, span)| *span);
        let span = first.to(end.as_ref().map_or(dots, |(_, span)| *span));
        placed(ExprKind::Range { start: start.map(|(e, _)| e), end: end.map(|(e, _)| e), inclusive }, span)
    }

    fn control(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::If(i) => self.if_else(i),
            syn::Expr::Match(m) => {
                let value = self.expr(&m.expr);
                let arms = m.arms.iter().filter_map(|arm| self.arm(arm)).collect();
                placed(ExprKind::Match { value, arms }, self.between(m.match_token.span, m.brace_token.span.close()))
            }
            syn::Expr::Loop(l) => {
                let body = self.block(&l.body, None);
                let span = self.span(l.loop_token.span).to(body.span);
                placed(ExprKind::Loop { label: label(&l.label), body }, span)
            }
            syn::Expr::While(w) => {
                let cond = self.expr(&w.cond);
                let body = self.block(&w.body, None);
                let span = self.span(w.while_token.span).to(body.span);
                placed(ExprKind::While { label: label(&w.label), cond, body }, span)
            }
            syn::Expr::ForLoop(f) => {
                let pat = self.pattern(&f.pat);
                let iter = self.expr(&f.expr);
                let body = self.block(&f.body, None);
                let span = self.span(f.for_token.span).to(body.span);
                placed(ExprKind::For { label: label(&f.label), pat, iter, body }, span)
            }
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }

    fn if_else(&mut self, i: &syn::ExprIf) -> Placed {
        let cond = self.expr(&i.cond);
        let then = self.block(&i.then_branch, None);
        let otherwise = i.else_branch.as_ref().map(|(_, e)| self.expr(e));
        let end = otherwise.as_ref().map_or(then.span, |e| e.span);
        placed(ExprKind::If { cond, then, otherwise }, self.span(i.if_token.span).to(end))
    }

    fn arm(&mut self, arm: &syn::Arm) -> Option<Arm> {
        if self.leaves_out(&arm.attrs) {
            return None;
        }
        let pat = self.pattern(&arm.pat);
        let guard = match &arm.pat {
            syn::Pat::Guard(g) => Some(self.expr(&g.guard)),
            _ => None,
        };
        let (body, end) = self.placed(&arm.body);
        Some(Arm { span: pat.span.to(end), pat, guard, body })
    }

    fn body_of(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::Block(b) => {
                let block = self.block(&b.block, label(&b.label));
                let span = block.span;
                (block, span)
            }
            syn::Expr::Unsafe(u) => {
                let block = self.block(&u.block, None);
                let span = self.span(u.unsafe_token.span).to(block.span);
                (block, span)
            }
            syn::Expr::Const(c) => {
                let block = self.block(&c.block, None);
                let span = self.span(c.const_token.span).to(block.span);
                (block, span)
            }
            syn::Expr::Async(a) => {
                let body = self.block(&a.block, None);
                let span = self.span(a.async_token.span).to(body.span);
                placed(ExprKind::Async(body), span)
            }
            syn::Expr::TryBlock(t) => {
                let body = self.block(&t.block, None);
                let span = self.span(t.try_token.span).to(body.span);
                placed(try_block(body, span), span)
            }
            syn::Expr::Closure(c) => self.closure(c),
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }

    fn closure(&mut self, c: &syn::ExprClosure) -> Placed {
        let params = c.inputs.iter().map(|p| self.param(p)).collect();
        let (body, end) = self.placed(&c.body);
        let first = c.asyncness.as_ref().map(|t| t.span).or(c.capture.as_ref().map(|t| t.span));
        let first = first.unwrap_or(c.inputs_begin.span);
        let is_async = c.asyncness.is_some();
        placed(ExprKind::Closure { params, body, is_async }, self.span(first).to(end))
    }

    fn param(&mut self, pat: &syn::Pat) -> Param {
        let ty = match pat {
            syn::Pat::Type(t) => Some(types::ty(&t.ty)),
            _ => None,
        };
        Param { pat: self.pattern(pat), ty }
    }

    fn jump(&mut self, e: &syn::Expr) -> Placed {
        let lifetime = |l: &Option<syn::Lifetime>| l.as_ref().map(|l| name(&l.ident));
        let (first, label_end, value) = match e {
            syn::Expr::Continue(c) => (c.continue_token.span, &c.label, &None),
            syn::Expr::Break(b) => (b.break_token.span, &b.label, &b.expr),
            syn::Expr::Return(r) => (r.return_token.span, &None, &r.expr),
            syn::Expr::Yield(y) => (y.yield_token.span, &None, &y.expr),
            other => return placed(ExprKind::Opaque, self.span_of(other)),
        };
        let mut span = self.span(first);
        if let Some(l) = label_end {
            span = span.to(self.span(l.ident.span()));
        }
        let value = value.as_ref().map(|v| self.placed(v));
        let span = value.as_ref().map_or(span, |(_, end)| span.to(*end));
        let value = value.map(|(v, _)| v);
        let kind = match e {
            syn::Expr::Continue(c) => ExprKind::Continue { label: lifetime(&c.label) },
            syn::Expr::Break(b) => ExprKind::Break { label: lifetime(&b.label), value },
            syn::Expr::Return(_) => ExprKind::Return { value },
            _ => ExprKind::Macro { path: single("yield"), args: value.into_iter().collect() },
        };
        placed(kind, span)
    }

    fn aggregate(&mut self, e: &syn::Expr) -> Placed {
        match e {
            syn::Expr::Struct(s) => {
                let path = types::qualified_path(&s.qself, &s.path);
                let fields = s.fields.iter().map(|f| (member(&f.member), self.expr(&f.expr))).collect();
                let rest = self.optional(&s.rest);
                let start = self.path_span(&s.qself, &s.path).to(self.span(s.brace_token.span.close()));
                placed(ExprKind::Struct { path, fields, rest }, start)
            }
            syn::Expr::Tuple(t) => placed(ExprKind::Tuple(self.exprs(&t.elems)), self.span(t.paren_token.span.join())),
            syn::Expr::Array(a) => placed(ExprKind::List(self.exprs(&a.elems)), self.span(a.bracket_token.span.join())),
            syn::Expr::Repeat(r) => {
                let (value, len) = (self.expr(&r.expr), self.expr(&r.len));
                placed(ExprKind::Repeat { value, len }, self.span(r.bracket_token.span.join()))
            }
            other => placed(ExprKind::Opaque, self.span_of(other)),
        }
    }
}

fn placed(kind: ExprKind, span: Span) -> Placed {
    (expr(kind, span), span)
}

pub(super) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { span, kind: Box::new(kind) }
}

/// A path of one segment.
pub(super) fn single(segment: &str) -> Path {
    Path { segments: vec![Arc::from(segment)] }
}

pub(super) fn member(member: &syn::Member) -> Name {
    match member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => Arc::from(index.index.to_string()),
    }
}

/// `try { a?; b }` is what `(|| { a?; Ok(b) })()` gives: `?` ends the block, not the function.
fn try_block(body: Expr, span: Span) -> ExprKind {
    let mut body = body;
    if let ExprKind::Block { tail, .. } = &mut *body.kind {
        let value = tail.take().unwrap_or_else(|| expr(ExprKind::Tuple(Vec::new()), span));
        let at = value.span;
        *tail = Some(call("Ok", vec![value], at));
    }
    let callee = expr(ExprKind::Closure { params: Vec::new(), body, is_async: false }, span);
    ExprKind::Call { callee, args: Vec::new() }
}

/// `function(args)`
pub(super) fn call(function: &str, args: Vec<Expr>, span: Span) -> Expr {
    let callee = expr(ExprKind::Path(single(function)), span);
    expr(ExprKind::Call { callee, args }, span)
}

/// `if !cond { body }`
pub(super) fn unless(cond: Expr, body: Expr, span: Span) -> Expr {
    let at = cond.span;
    let cond = expr(ExprKind::Unary { op: UnOp::Not, value: cond }, at);
    then(cond, body, span)
}

/// `if cond { body; }`
pub(super) fn then(cond: Expr, body: Expr, span: Span) -> Expr {
    let stmts = vec![Stmt::Expr(body)];
    let then = expr(ExprKind::Block { label: None, stmts, tail: None }, span);
    expr(ExprKind::If { cond, then, otherwise: None }, span)
}

/// The operator, and whether it assigns.
fn binary(op: &syn::BinOp) -> Option<(BinOp, bool)> {
    use syn::BinOp as S;
    Some(match op {
        S::Add(_) => (BinOp::Add, false),
        S::Sub(_) => (BinOp::Sub, false),
        S::Mul(_) => (BinOp::Mul, false),
        S::Div(_) => (BinOp::Div, false),
        S::Rem(_) => (BinOp::Rem, false),
        S::And(_) => (BinOp::And, false),
        S::Or(_) => (BinOp::Or, false),
        S::BitXor(_) => (BinOp::BitXor, false),
        S::BitAnd(_) => (BinOp::BitAnd, false),
        S::BitOr(_) => (BinOp::BitOr, false),
        S::Shl(_) => (BinOp::Shl, false),
        S::Shr(_) => (BinOp::Shr, false),
        S::Eq(_) => (BinOp::Eq, false),
        S::Lt(_) => (BinOp::Lt, false),
        S::Le(_) => (BinOp::Le, false),
        S::Ne(_) => (BinOp::Ne, false),
        S::Ge(_) => (BinOp::Ge, false),
        S::Gt(_) => (BinOp::Gt, false),
        S::AddAssign(_) => (BinOp::Add, true),
        S::SubAssign(_) => (BinOp::Sub, true),
        S::MulAssign(_) => (BinOp::Mul, true),
        S::DivAssign(_) => (BinOp::Div, true),
        S::RemAssign(_) => (BinOp::Rem, true),
        S::BitXorAssign(_) => (BinOp::BitXor, true),
        S::BitAndAssign(_) => (BinOp::BitAnd, true),
        S::BitOrAssign(_) => (BinOp::BitOr, true),
        S::ShlAssign(_) => (BinOp::Shl, true),
        S::ShrAssign(_) => (BinOp::Shr, true),
        _ => return None,
    })
}
