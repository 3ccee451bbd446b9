//! Macros: what is known of the common ones, and what can be guessed of the others.

use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Macro, Token};

use super::super::ir::{BinOp, Const, Expr, ExprKind, Item, Stmt};
use super::expr::{call, expr, then, unless};
use super::{Lowerer, format, name, types};
use crate::source::Span;

/// Macros whose tokens are another language, or code that does not run where it stands.
const FOREIGN: [&str; 14] = [
    "json",
    "quote",
    "quote_spanned",
    "parse_quote",
    "parse_quote_spanned",
    "html",
    "rsx",
    "view",
    "stringify",
    "macro_rules",
    "css",
    "xml",
    "toml",
    "graphql",
];

impl Lowerer<'_> {
    pub(super) fn macro_span(&self, mac: &Macro) -> Span {
        self.path_span(&None, &mac.path).to(self.span(mac.delimiter.span().close()))
    }

    pub(super) fn macro_expr(&mut self, mac: &Macro) -> Expr {
        let span = self.macro_span(mac);
        let last = mac.path.segments.last().map(|s| name(&s.ident));
        let last = last.as_deref().unwrap_or("");
        if let Some(written_out) = self.own_macro(mac) {
            return written_out;
        }
        let known = match last {
            _ if FOREIGN.contains(&last) => Some(expr(ExprKind::Opaque, span)),
            _ if format::NAMES.contains(&last) => self.format_macro(last, mac, span),
            "vec" => self.list(mac, span),
            "matches" => self.matches(mac, span),
            "assert_matches" | "debug_assert_matches" => {
                self.matches(mac, span).map(|held| unless(held, expr(panic(), span), span))
            }
            "assert" | "debug_assert" => self.assert(mac, span),
            "assert_eq" | "debug_assert_eq" => self.assert_pair(BinOp::Ne, mac, span),
            "assert_ne" | "debug_assert_ne" => self.assert_pair(BinOp::Eq, mac, span),
            "ensure" => self.ensure(mac, span),
            "select" | "select_biased" => self.select(mac, span),
            "join" => self.join(false, mac, span),
            "try_join" => self.join(true, mac, span),
            "pin" | "dbg" | "r#try" | "try" => self.wrapper(last, mac, span),
            "cfg_if" => self.cfg_if(mac, span),
            _ => None,
        };
        known.or_else(|| self.arguments(mac, span)).unwrap_or_else(|| expr(ExprKind::Opaque, span))
    }

    /// A macro that the file defines, written out.
    fn own_macro(&mut self, mac: &Macro) -> Option<Expr> {
        let tokens = self.rules.expand(mac)?;
        self.rules.nested += 1;
        let lowered = match syn::parse2::<syn::Expr>(tokens.clone()) {
            Ok(inner) => Some(self.expr(&inner)),
            Err(_) => {
                let stmts = syn::Block::parse_within.parse2(tokens).ok();
                stmts.map(|stmts| self.statements(&stmts, None, self.macro_span(mac)))
            }
        };
        self.rules.nested -= 1;
        lowered
    }

    /// A macro as a statement. `pin! { let a = b(); }` declares; any other is its expression.
    pub(super) fn macro_statement(
        &mut self,
        mac: &Macro,
        is_tail: bool,
        stmts: &mut Vec<Stmt>,
        tail: &mut Option<Expr>,
    ) {
        if mac.path.segments.last().is_some_and(|s| s.ident == "macro_rules") {
            return;
        }
        if mac.path.segments.last().is_some_and(|s| s.ident == "pin")
            && let Ok(inner) = syn::Block::parse_within.parse2(mac.tokens.clone())
            && inner.iter().any(|s| matches!(s, syn::Stmt::Local(_)))
        {
            let block = self.statements(&inner, None, self.macro_span(mac));
            if let ExprKind::Block { stmts: inner, .. } = *block.kind {
                stmts.extend(inner);
            }
            return;
        }
        let e = self.macro_expr(mac);
        if is_tail { *tail = Some(e) } else { stmts.push(Stmt::Expr(e)) }
    }

    /// Items in macros: statics of `lazy_static!` and `thread_local!`, the branches of `cfg_if!`, wrapped items.
    pub(super) fn macro_items(&mut self, mac: &Macro) -> Vec<Item> {
        let last = mac.path.segments.last().map(|s| name(&s.ident));
        match last.as_deref().unwrap_or("") {
            "lazy_static" | "thread_local" => {
                let statics = statics.parse2(mac.tokens.clone()).unwrap_or_default();
                statics.iter().map(|s| Item::Const(self.static_of_macro(s))).collect()
            }
            "cfg_if" => {
                let branches = cfg_branches.parse2(mac.tokens.clone()).unwrap_or_default();
                let bodies = branches.into_iter().filter(|b| !self.leaves_out(&b.attributes));
                let bodies: Vec<_> = bodies.filter_map(|b| items.parse2(b.body).ok()).collect();
                bodies.iter().flat_map(|items| self.items(items)).collect()
            }
            _ => match items.parse2(mac.tokens.clone()) {
                Ok(inner) => self.items(&inner),
                Err(_) => Vec::new(),
            },
        }
    }

    fn static_of_macro(&mut self, s: &Static) -> Const {
        self.constant(&s.ident, &s.ty, Some(&s.value))
    }

    /// Expressions between commas, or statements, or nothing that is understood.
    fn arguments(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let path = types::path(&mac.path);
        if let Ok(args) = mac.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated) {
            return Some(expr(ExprKind::Macro { path, args: self.exprs(&args) }, span));
        }
        let stmts = mac.parse_body_with(syn::Block::parse_within).ok()?;
        let block = self.statements(&stmts, None, self.span(mac.delimiter.span().join()));
        if matches!(&*block.kind, ExprKind::Block { stmts, tail: None, .. } if stmts.is_empty()) {
            return None;
        }
        Some(expr(ExprKind::Macro { path, args: vec![block] }, span))
    }

    fn list(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        if let Ok(items) = mac.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated) {
            return Some(expr(ExprKind::List(self.exprs(&items)), span));
        }
        let repeat = |input: ParseStream| -> syn::Result<(syn::Expr, syn::Expr)> {
            let value = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok((value, input.parse()?))
        };
        let (value, len) = mac.parse_body_with(repeat).ok()?;
        Some(expr(ExprKind::Repeat { value: self.expr(&value), len: self.expr(&len) }, span))
    }

    fn matches(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let parser = |input: ParseStream| -> syn::Result<(syn::Expr, syn::Pat, Option<syn::Expr>)> {
            let value = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = input.call(syn::Pat::parse_multi_with_leading_vert)?;
            let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
            // `assert_matches!` takes a message.
            input.parse::<proc_macro2::TokenStream>()?;
            Ok((value, pat, guard))
        };
        let (value, pat, guard) = mac.parse_body_with(parser).ok()?;
        let kind = ExprKind::Matches {
            value: self.expr(&value),
            pat: self.pattern(&pat),
            guard: guard.map(|g| self.expr(&g)),
        };
        Some(expr(kind, span))
    }

    /// `assert!(a, "..")` is `if !a { panic!("..") }`.
    fn assert(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let (cond, rest) = mac.parse_body_with(first_and_rest).ok()?;
        let cond = self.expr(&cond);
        let panic = self.format_tokens("panic", rest, span)?;
        Some(unless(cond, panic, span))
    }

    /// `assert_eq!(a, b, "..")` is `if a != b { panic!("..") }`.
    fn assert_pair(&mut self, op: BinOp, mac: &Macro, span: Span) -> Option<Expr> {
        let parser = |input: ParseStream| {
            let left: syn::Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let (right, rest) = first_and_rest(input)?;
            Ok((left, right, rest))
        };
        let (left, right, rest) = mac.parse_body_with(parser).ok()?;
        let (left, right) = (self.expr(&left), self.expr(&right));
        let at = left.span.to(right.span);
        let panic = self.format_tokens("panic", rest, span)?;
        Some(then(expr(ExprKind::Binary { op, left, right }, at), panic, span))
    }

    /// `ensure!(a, "..")` is `if !a { return Err(anyhow!("..")) }`; with an error instead of a message, that error.
    fn ensure(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let (cond, rest) = mac.parse_body_with(first_and_rest).ok()?;
        let cond = self.expr(&cond);
        let single = syn::parse2::<syn::Expr>(rest.clone()).ok().filter(|e| !is_string(e));
        let error = match single {
            Some(e) => self.expr(&e),
            None => self.format_tokens("anyhow", rest, span)?,
        };
        let value = Some(call("Err", vec![error], span));
        Some(unless(cond, expr(ExprKind::Return { value }, span), span))
    }

    fn join(&mut self, is_try: bool, mac: &Macro, span: Span) -> Option<Expr> {
        let parser = |input: ParseStream| {
            if input.peek(syn::Ident) && input.peek2(Token![;]) {
                input.parse::<syn::Ident>()?;
                input.parse::<Token![;]>()?;
            }
            Punctuated::<syn::Expr, Token![,]>::parse_terminated(input)
        };
        let futures = mac.parse_body_with(parser).ok()?;
        Some(expr(ExprKind::Join { is_try, futures: self.exprs(&futures) }, span))
    }

    /// Macros around one value: `pin!(a)` and `dbg!(a)` are `a`, `try!(a)` is `a?`.
    fn wrapper(&mut self, macro_name: &str, mac: &Macro, span: Span) -> Option<Expr> {
        let args = mac.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated).ok()?;
        let value = args.first().filter(|_| args.len() == 1)?;
        let value = self.expr(value);
        Some(if macro_name == "try" { expr(ExprKind::Try(value), span) } else { value })
    }

    /// `cfg_if!` as a statement: an if-else whose conditions are not known.
    fn cfg_if(&mut self, mac: &Macro, span: Span) -> Option<Expr> {
        let branches = cfg_branches.parse2(mac.tokens.clone()).ok()?;
        let mut whole = None;
        for branch in branches.into_iter().rev() {
            if self.leaves_out(&branch.attributes) {
                continue;
            }
            let stmts = syn::Block::parse_within.parse2(branch.body).ok()?;
            let block = self.statements(&stmts, None, self.span(branch.braces));
            whole = Some(match branch.attributes.first() {
                None => block,
                Some(condition) => {
                    let cond = expr(ExprKind::Opaque, self.span(condition.bracket_token.span.join()));
                    expr(ExprKind::If { cond, then: block, otherwise: whole }, span)
                }
            });
        }
        whole
    }
}

fn panic() -> ExprKind {
    ExprKind::Format { name: "panic".into(), parts: Vec::new(), args: Vec::new() }
}

fn is_string(e: &syn::Expr) -> bool {
    matches!(e, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }))
}

/// The first argument, and the tokens after the comma behind it.
fn first_and_rest(input: ParseStream) -> syn::Result<(syn::Expr, proc_macro2::TokenStream)> {
    let first = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok((first, input.parse()?))
}

fn items(input: ParseStream) -> syn::Result<Vec<syn::Item>> {
    input.call(syn::Attribute::parse_inner)?;
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok(items)
}

/// A static that a macro declares.
struct Static {
    ident: syn::Ident,
    ty: syn::Type,
    value: syn::Expr,
}

/// `pub static ref A: T = a; ..`, with and without `ref`, the last semicolon optional.
fn statics(input: ParseStream) -> syn::Result<Vec<Static>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        input.call(syn::Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        input.parse::<Token![static]>()?;
        input.parse::<Option<Token![ref]>>()?;
        let ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        input.parse::<Token![=]>()?;
        found.push(Static { ident, ty, value: input.parse()? });
        input.parse::<Option<Token![;]>>()?;
    }
    Ok(found)
}

/// A branch of `cfg_if!`; the last one may have no condition.
struct Branch {
    attributes: Vec<syn::Attribute>,
    body: proc_macro2::TokenStream,
    braces: proc_macro2::Span,
}

fn cfg_branches(input: ParseStream) -> syn::Result<Vec<Branch>> {
    let mut branches = Vec::new();
    while !input.is_empty() {
        input.parse::<Option<Token![else]>>()?;
        let conditional = input.parse::<Option<Token![if]>>()?.is_some();
        let attributes = if conditional { input.call(syn::Attribute::parse_outer)? } else { Vec::new() };
        let body: proc_macro2::Group = input.parse()?;
        branches.push(Branch { attributes, braces: body.span(), body: body.stream() });
    }
    Ok(branches)
}
