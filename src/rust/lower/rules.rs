//! `macro_rules!` of the same file, written out where they are called: patterns of captures between fixed tokens, no
//! repetitions. What a macro brings stands where it is called; what it is given keeps its own place.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::Parser;

/// Macros within macros that are written out.
const NESTED: u8 = 3;

/// Tokens that are written out for one file.
const TOKENS: u32 = 200_000;

/// The macros of a file.
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: BTreeMap<String, Vec<Rule>>,
    /// How many are being written out now, one in the other.
    pub(super) nested: u8,
    spent: u32,
}

/// One arm.
#[derive(Debug)]
struct Rule {
    pattern: Vec<Part>,
    body: TokenStream,
}

/// A part of an arm's pattern.
#[derive(Debug)]
enum Part {
    Capture { name: String, kind: String },
    Token(String),
}

impl Rules {
    /// Those that stand at the top level of a file or of its modules.
    pub(super) fn of(items: &[syn::Item]) -> Self {
        let mut rules = Self::default();
        let mut left: Vec<&syn::Item> = items.iter().collect();
        while let Some(item) = left.pop() {
            match item {
                syn::Item::Macro(m) => {
                    if let Some(ident) = &m.ident {
                        rules.rules.entry(ident.to_string()).or_insert_with(|| arms(m.mac.tokens.clone()));
                    }
                }
                syn::Item::Mod(m) => left.extend(m.content.iter().flat_map(|(_, items)| items)),
                _ => {}
            }
        }
        rules
    }

    /// What a call of one of them stands for.
    pub(super) fn expand(&mut self, mac: &syn::Macro) -> Option<TokenStream> {
        let ident = &mac.path.segments.last()?.ident;
        let arms = self.rules.get(&ident.to_string()).filter(|_| self.nested < NESTED)?;
        let (body, given) = arms.iter().find_map(|arm| Some((&arm.body, captured(&arm.pattern, &mac.tokens)?)))?;
        let mut left = TOKENS.checked_sub(self.spent)?;
        let expanded = written_out(body.clone(), &given, ident.span(), &mut left)?;
        self.spent = TOKENS - left;
        Some(expanded)
    }
}

/// `(pattern) => { body }; ..`; arms that are not understood are left out, and so is what follows a broken one.
fn arms(tokens: TokenStream) -> Vec<Rule> {
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(TokenTree::Group(pattern)) = tokens.next() {
        let arrow: Vec<TokenTree> = tokens.by_ref().take(2).collect();
        let is_arrow = arrow.iter().map(ToString::to_string).collect::<String>() == "=>";
        let Some(TokenTree::Group(body)) = tokens.next().filter(|_| is_arrow) else { break };
        if let Some(pattern) = parts(pattern.stream()) {
            found.push(Rule { pattern, body: body.stream() });
        }
        tokens.next();
    }
    found
}

/// The parts of a pattern; `None` if there is a repetition in it other than that of an optional comma.
fn parts(tokens: TokenStream) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if token.to_string() != "$" {
            parts.push(Part::Token(token.to_string()));
            continue;
        }
        match tokens.next()? {
            TokenTree::Ident(name) => {
                tokens.next()?;
                parts.push(Part::Capture { name: name.to_string(), kind: tokens.next()?.to_string() });
            }
            TokenTree::Group(repeated) if repeated.stream().to_string() == "," => {
                tokens.next()?;
            }
            _ => return None,
        }
    }
    Some(parts)
}

/// What a call gives for each capture; `None` if the pattern is another one.
fn captured(pattern: &[Part], tokens: &TokenStream) -> Option<BTreeMap<String, TokenStream>> {
    let mut given = BTreeMap::new();
    let mut tokens = tokens.clone().into_iter().peekable();
    for (n, part) in pattern.iter().enumerate() {
        match part {
            Part::Token(wanted) => {
                if tokens.next()?.to_string() != *wanted {
                    return None;
                }
            }
            Part::Capture { name, kind } => {
                let end = pattern.get(n + 1).and_then(|next| if let Part::Token(t) = next { Some(t) } else { None });
                let mut mine = TokenStream::new();
                // The last capture leaves the comma that may follow it.
                let ends = |t: &TokenTree| t.to_string() == end.map_or(",", String::as_str);
                while let Some(token) = tokens.next_if(|t| !ends(t)) {
                    mine.extend([token]);
                }
                given.insert(name.clone(), fitting(kind, mine)?);
            }
        }
    }
    let rest: String = tokens.map(|t| t.to_string()).collect();
    (rest.is_empty() || rest == ",").then_some(given)
}

/// A capture of this kind, if it is one.
fn fitting(kind: &str, tokens: TokenStream) -> Option<TokenStream> {
    match kind {
        "expr" => {
            syn::parse2::<syn::Expr>(tokens.clone()).ok()?;
            Some(TokenTree::Group(Group::new(Delimiter::None, tokens)).into())
        }
        "ident" => syn::parse2::<Ident>(tokens.clone()).ok().map(|_| tokens),
        "literal" => syn::parse2::<syn::Lit>(tokens.clone()).ok().map(|_| tokens),
        "ty" | "path" => syn::parse2::<syn::Type>(tokens.clone()).ok().map(|_| tokens),
        "block" => syn::parse2::<syn::Block>(tokens.clone()).ok().map(|_| tokens),
        "pat" => syn::Pat::parse_multi.parse2(tokens.clone()).ok().map(|_| tokens),
        "tt" => (tokens.clone().into_iter().count() == 1).then_some(tokens),
        _ => None,
    }
}

fn written_out(
    body: TokenStream,
    given: &BTreeMap<String, TokenStream>,
    place: Span,
    left: &mut u32,
) -> Option<TokenStream> {
    let mut out = TokenStream::new();
    let mut tokens = body.into_iter();
    while let Some(mut token) = tokens.next() {
        *left = left.checked_sub(1)?;
        match token {
            TokenTree::Punct(ref p) if p.as_char() == '$' => {
                let TokenTree::Ident(name) = tokens.next()? else { return None };
                match given.get(&name.to_string()) {
                    Some(tokens) => {
                        *left = left.checked_sub(u32::try_from(tokens.clone().into_iter().count()).ok()?)?;
                        out.extend(tokens.clone());
                    }
                    None if name == "crate" => out.extend([TokenTree::Ident(name)]),
                    None => return None,
                }
            }
            TokenTree::Group(group) => {
                let mut new = Group::new(group.delimiter(), written_out(group.stream(), given, place, left)?);
                new.set_span(place);
                out.extend([TokenTree::Group(new)]);
            }
            _ => {
                token.set_span(place);
                out.extend([token]);
            }
        }
    }
    Some(out)
}
