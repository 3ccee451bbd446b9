//! `macro_rules!` of the same file, written out where they are called: patterns of captures between fixed tokens, and of
//! one capture that is repeated at the end. What a macro brings stands where it is called; what it is given keeps its own place.

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
    Capture {
        name: String,
        kind: String,
    },
    /// `$(, $name:kind)*` or `$($name:kind),*`, at the end.
    Repeated {
        name: String,
        kind: String,
    },
    Token(String),
}

/// What a call gives: one thing for each capture, several for one that is repeated.
type Given = BTreeMap<String, Vec<TokenStream>>;

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

/// The parts of a pattern; `None` if there is a repetition in it other than one at the end, of a capture or a comma.
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
            TokenTree::Group(repeated) => {
                let inside: Vec<Part> = self::parts(repeated.stream())?;
                // The separator, how often, and perhaps a comma behind it all.
                let behind: String = tokens.by_ref().map(|t| t.to_string()).collect();
                let fits = matches!(&*behind, "*" | "+" | ",*" | ",+" | "*$(,)?" | "+$(,)?" | ",*$(,)?" | ",+$(,)?");
                match inside.as_slice() {
                    [Part::Capture { name, kind }] | [Part::Token(_), Part::Capture { name, kind }] if fits => {
                        parts.push(Part::Repeated { name: name.clone(), kind: kind.clone() });
                    }
                    _ => return None,
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => return None,
        }
    }
    Some(parts)
}

/// What a call gives for each capture; `None` if the pattern is another one.
fn captured(pattern: &[Part], tokens: &TokenStream) -> Option<Given> {
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
                given.insert(name.clone(), vec![fitting(kind, mine)?]);
            }
            Part::Repeated { name, kind } => {
                let rest: Vec<TokenTree> = tokens.by_ref().collect();
                let pieces = rest.split(|t| t.to_string() == ",").filter(|piece| !piece.is_empty());
                let all: Option<Vec<TokenStream>> =
                    pieces.map(|piece| fitting(kind, piece.iter().cloned().collect())).collect();
                given.insert(name.clone(), all?);
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

fn written_out(body: TokenStream, given: &Given, place: Span, left: &mut u32) -> Option<TokenStream> {
    let mut out = TokenStream::new();
    let mut tokens = body.into_iter().peekable();
    while let Some(mut token) = tokens.next() {
        *left = left.checked_sub(1)?;
        match token {
            TokenTree::Punct(ref p) if p.as_char() == '$' => {
                let name = match tokens.next()? {
                    TokenTree::Ident(name) => name,
                    TokenTree::Group(repeated) => {
                        let separator = tokens.next_if(|t| !is_count(t));
                        tokens.next().filter(is_count)?;
                        out.extend(repetition(&repeated.stream(), separator.as_ref(), given, place, left)?);
                        continue;
                    }
                    _ => return None,
                };
                match given.get(&name.to_string()).map(Vec::as_slice) {
                    Some([tokens]) => {
                        *left = left.checked_sub(u32::try_from(tokens.clone().into_iter().count()).ok()?)?;
                        out.extend(tokens.clone());
                    }
                    Some(_) => return None,
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

/// Whether a token says how often something is repeated.
fn is_count(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(p) if matches!(p.as_char(), '*' | '+' | '?'))
}

/// `$( body ) separator *`, for each thing that the repeated capture in it was given.
fn repetition(
    body: &TokenStream,
    separator: Option<&TokenTree>,
    given: &Given,
    place: Span,
    left: &mut u32,
) -> Option<TokenStream> {
    let names: Vec<String> = body.clone().into_iter().map(|t| t.to_string()).collect();
    let of = |pair: &[String]| match pair {
        [dollar, name] if dollar == "$" => given.get_key_value(name),
        _ => None,
    };
    let (name, all) = names.windows(2).find_map(of)?;
    let mut out = TokenStream::new();
    for (n, one) in all.iter().enumerate() {
        if n > 0 {
            out.extend(separator.cloned());
        }
        let mut given = given.clone();
        given.insert(name.clone(), vec![one.clone()]);
        out.extend(written_out(body.clone(), &given, place, left)?);
    }
    Some(out)
}
