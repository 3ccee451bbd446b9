//! `select!` of tokio, futures and crossbeam.

use syn::parse::ParseStream;
use syn::{Ident, Macro, Token};

use super::super::ir::{Expr, ExprKind, SelectArm};
use super::Lowerer;
use super::expr::expr;
use crate::source::Span;

/// An arm as written.
struct Arm {
    pat: Option<syn::Pat>,
    future: Option<syn::Expr>,
    body: syn::Expr,
}

impl Lowerer<'_> {
    pub(super) fn select(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let arms = mac.parse_body_with(arms).ok()?;
        let arms = arms.iter().map(|arm| self.select_arm(arm)).collect();
        Some(expr(ExprKind::Select(arms), span))
    }

    fn select_arm(&mut self, arm: &Arm) -> SelectArm {
        SelectArm {
            pat: arm.pat.as_ref().map(|p| self.pattern(p)),
            future: arm.future.as_ref().map(|e| self.expr(e)),
            body: self.expr(&arm.body),
        }
    }
}

fn arms(input: ParseStream) -> syn::Result<Vec<Arm>> {
    if input.peek(Ident) && input.peek2(Token![;]) {
        // `biased;`
        input.parse::<Ident>()?;
        input.parse::<Token![;]>()?;
    }
    let mut found = Vec::new();
    while !input.is_empty() {
        found.push(arm(input)?);
    }
    Ok(found)
}

/// `pat = future, if guard => body`, `recv(r) -> pat => body`, `else => body`, `default => body`.
fn arm(input: ParseStream) -> syn::Result<Arm> {
    let (pat, future) = if input.peek(Token![else]) {
        input.parse::<Token![else]>()?;
        (None, None)
    } else if input.peek(Ident) && input.peek2(Token![=>]) {
        input.parse::<Ident>()?;
        (None, None)
    } else {
        head(input)?
    };
    if input.parse::<Option<Token![,]>>()?.is_some() {
        input.parse::<Token![if]>()?;
        input.parse::<syn::Expr>()?;
    }
    input.parse::<Token![=>]>()?;
    let body = body(input)?;
    Ok(Arm { pat, future, body })
}

fn head(input: ParseStream) -> syn::Result<(Option<syn::Pat>, Option<syn::Expr>)> {
    let ahead = input.fork();
    let is_pattern = ahead.call(syn::Pat::parse_multi_with_leading_vert).is_ok() && ahead.peek(Token![=]);
    if is_pattern && !ahead.peek(Token![=>]) {
        let pat = input.call(syn::Pat::parse_multi_with_leading_vert)?;
        input.parse::<Token![=]>()?;
        return Ok((Some(pat), Some(input.parse()?)));
    }
    let future = input.parse()?;
    let received = input.parse::<Option<Token![->]>>()?.is_some();
    let pat = if received { Some(input.call(syn::Pat::parse_multi_with_leading_vert)?) } else { None };
    Ok((pat, Some(future)))
}

/// A block ends its arm; any other body runs to a comma.
fn body(input: ParseStream) -> syn::Result<syn::Expr> {
    let body = if input.peek(syn::token::Brace) {
        let ahead = input.fork();
        let block: syn::ExprBlock = ahead.parse()?;
        let goes_on = ahead.peek(Token![.]) || ahead.peek(Token![?]);
        if goes_on {
            input.parse()?
        } else {
            syn::parse::discouraged::Speculative::advance_to(input, &ahead);
            syn::Expr::Block(block)
        }
    } else {
        input.call(syn::Expr::parse_with_earlier_boundary_rule)?
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(body)
}
