//! Macros with a format string: text and arguments in their order, names in braces included.

use std::sync::Arc;

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Macro, Token};

use super::super::ir::{Expr, ExprKind, FormatPart};
use super::Lowerer;
use super::expr::{expr, single};
use crate::source::Span;

/// The macros whose first string literal is taken for a format string.
pub(super) const NAMES: [&str; 36] = [
    "format",
    "print",
    "println",
    "eprint",
    "eprintln",
    "write",
    "writeln",
    "format_args",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "bail",
    "anyhow",
    "eyre",
    "format_err",
    "miette",
    "whatever",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "critical",
    "crit",
    "notice",
    "log",
    "event",
    "span",
    "trace_span",
    "debug_span",
    "info_span",
    "warn_span",
    "error_span",
    "fatal",
    "alert",
];

/// An argument of such a macro.
enum Argument {
    /// The first literal that stands alone.
    Format(LitStr),
    /// Any other, with its name (`target: a`, `user = b`, `"key" => c`).
    Value(Option<String>, Box<syn::Expr>),
}

impl Argument {
    /// A literal that is no format string after all.
    fn into_value(self) -> Self {
        match self {
            Self::Format(lit) => {
                Self::Value(None, Box::new(syn::Expr::Lit(syn::ExprLit { attrs: Vec::new(), lit: syn::Lit::Str(lit) })))
            }
            value => value,
        }
    }
}

/// The arguments of a macro as far as they are read.
#[derive(Default)]
struct Arguments {
    all: Vec<Expr>,
    /// How many stand before the format string.
    before: usize,
    /// The names of those after it.
    names: Vec<Option<String>>,
}

impl Arguments {
    /// The number of the argument that the format string calls `i`.
    fn index(&self, i: usize) -> Option<usize> {
        (i < self.names.len()).then(|| self.before + i)
    }

    /// The number of the argument of this name.
    fn named(&self, wanted: &str) -> Option<usize> {
        self.index(self.names.iter().position(|name| name.as_deref() == Some(wanted))?)
    }

    /// Adds what the format string itself brings.
    fn bring(&mut self, value: Expr) -> usize {
        self.all.push(value);
        self.all.len() - 1
    }
}

/// A piece of a format string.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    /// `{}`
    Next,
    /// `{0}`
    Index(usize),
    /// `{name}`, with the offset of the name from where the text begins.
    Name(String, usize),
}

impl Lowerer<'_> {
    pub(super) fn format_macro(&mut self, macro_name: &str, mac: &Macro, span: Span) -> Option<Expr> {
        self.format_tokens(macro_name, mac.tokens.clone(), span)
    }

    pub(super) fn format_tokens(&mut self, macro_name: &str, tokens: TokenStream, span: Span) -> Option<Expr> {
        let mut args = Arguments::default();
        let mut literal = None;
        for argument in arguments.parse2(tokens).ok()? {
            match argument {
                Argument::Format(lit) => literal = Some(lit),
                Argument::Value(name, value) => {
                    args.all.push(self.expr(&value));
                    if literal.is_some() {
                        args.names.push(name);
                    } else {
                        args.before += 1;
                    }
                }
            }
        }
        let parts = literal.map(|lit| self.parts(&lit, &mut args)).unwrap_or_default();
        Some(expr(ExprKind::Format { name: Arc::from(macro_name), parts, args: args.all }, span))
    }

    fn parts(&self, lit: &LitStr, args: &mut Arguments) -> Vec<FormatPart> {
        let whole = self.span(lit.span());
        let (start, escaped) = self.body(whole).unwrap_or((whole.range().start, false));
        let token = self.text(whole);
        let end = whole.range().start + token.rfind('"').unwrap_or(token.len());
        let body = self.file.text.get(start..end).unwrap_or("");
        let mut next = 0;
        let parts = split(body, escaped).into_iter().map(|piece| {
            let (found, otherwise) = match piece {
                Piece::Text(text) => return FormatPart::Text(Arc::from(text)),
                Piece::Next => {
                    next += 1;
                    (args.index(next - 1), expr(ExprKind::Opaque, whole))
                }
                Piece::Index(i) => (args.index(i), expr(ExprKind::Opaque, whole)),
                Piece::Name(wanted, offset) => {
                    let at = start + offset;
                    let span = self.file.span(at..at + wanted.len());
                    (args.named(&wanted), expr(ExprKind::Path(single(&wanted)), span))
                }
            };
            FormatPart::Arg(found.unwrap_or_else(|| args.bring(otherwise)))
        });
        parts.collect()
    }
}

/// The arguments of the macros of the standard library, log, tracing, slog and the error crates.
fn arguments(input: ParseStream) -> syn::Result<Vec<Argument>> {
    let mut found = Vec::new();
    let mut has_format = false;
    while !input.is_empty() {
        if input.parse::<Option<Token![,]>>()?.is_some() || input.parse::<Option<Token![;]>>()?.is_some() {
            continue;
        }
        if !has_format && input.peek(syn::token::Brace) {
            // The fields of a tracing event, in braces.
            let fields: proc_macro2::Group = input.parse()?;
            input.parse::<Option<Token![=]>>()?;
            found.extend(arguments.parse2(fields.stream())?.into_iter().map(Argument::into_value));
            continue;
        }
        let name = key(input)?;
        // `%value`, `?value`: by which trait a field is shown.
        if input.parse::<Option<Token![%]>>()?.is_none() {
            input.parse::<Option<Token![?]>>()?;
        }
        if !has_format && name.is_none() && is_lone_string(input) {
            has_format = true;
            found.push(Argument::Format(input.parse()?));
        } else if let Ok(value) = input.parse() {
            found.push(Argument::Value(name, Box::new(value)));
        } else {
            while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
                input.parse::<proc_macro2::TokenTree>()?;
            }
        }
    }
    Ok(found)
}

fn is_lone_string(input: ParseStream) -> bool {
    let ahead = input.fork();
    ahead.parse::<LitStr>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![;]))
}

/// Reads `name =`, `name: `, `a.b =`, `name:? =`, `"name" =>`, if one of them stands here.
fn key(input: ParseStream) -> syn::Result<Option<String>> {
    let ahead = input.fork();
    let mut key = if ahead.peek(LitStr) {
        ahead.parse::<LitStr>()?.value()
    } else if ahead.peek(Ident::peek_any) {
        ahead.call(Ident::parse_any)?.to_string()
    } else {
        return Ok(None);
    };
    while ahead.peek(Token![.]) && ahead.peek2(Ident::peek_any) {
        ahead.parse::<Token![.]>()?;
        key = format!("{key}.{}", ahead.call(Ident::parse_any)?);
    }
    let typed = ahead.peek(Token![:]) && !ahead.peek(Token![::]);
    if typed {
        ahead.parse::<Token![:]>()?;
        if ahead.peek(Token![?]) || ahead.peek(Token![%]) {
            ahead.parse::<proc_macro2::Punct>()?;
        }
    }
    let assigned = ahead.peek(Token![=>]) || ahead.peek(Token![=]) && !ahead.peek(Token![==]);
    if ahead.peek(Token![=>]) {
        ahead.parse::<Token![=>]>()?;
    } else if assigned {
        ahead.parse::<Token![=]>()?;
    }
    if !typed && !assigned {
        return Ok(None);
    }
    syn::parse::discouraged::Speculative::advance_to(input, &ahead);
    Ok(Some(key))
}

/// Splits the text between the quotes of a format string.
fn split(body: &str, escaped: bool) -> Vec<Piece> {
    let chars = if escaped { unescape(body) } else { body.char_indices().collect() };
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = chars.into_iter().peekable();
    while let Some((at, c)) = rest.next() {
        if matches!(c, '{' | '}') && rest.next_if(|(_, next)| *next == c).is_some() || c != '{' {
            text.push(c);
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        let inside: Vec<(usize, char)> = std::iter::from_fn(|| rest.next_if(|(_, c)| *c != '}')).collect();
        rest.next();
        pieces.push(piece(&inside, at + 1));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// What stands between braces, up to the colon: nothing, a number or a name.
fn piece(inside: &[(usize, char)], default: usize) -> Piece {
    let named = inside.iter().take_while(|(_, c)| *c != ':');
    let named: Vec<_> = named.filter(|(_, c)| !c.is_whitespace()).collect();
    let text: String = named.iter().map(|(_, c)| c).collect();
    match text.parse() {
        _ if text.is_empty() => Piece::Next,
        Ok(index) => Piece::Index(index),
        Err(_) => Piece::Name(text, named.first().map_or(default, |(at, _)| *at)),
    }
}

/// The characters that a string literal stands for, each with the offset where it is written.
fn unescape(body: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    let mut rest = body.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c != '\\' {
            found.push((at, c));
            continue;
        }
        let Some((_, escape)) = rest.next() else { break };
        let c = match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'x' => {
                let digits: String = rest.by_ref().take(2).map(|(_, c)| c).collect();
                code_point(&digits)
            }
            'u' => {
                let digits: String = rest.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                code_point(digits.trim_start_matches('{'))
            }
            '\n' | '\r' => {
                while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                continue;
            }
            other => other,
        };
        found.push((at, c));
    }
    found
}

fn code_point(digits: &str) -> char {
    u32::from_str_radix(&digits.replace('_', ""), 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
}
