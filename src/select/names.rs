//! What a Rust file defines and uses, from its tokens alone.
//!
//! Nothing is parsed, so some of it is guessed; each guess errs towards a use or a call too many, which costs a parse,
//! and not towards one too few, which would lose a layer.

use crate::rust::lex::{Kind, Lexer, Token};

use super::vocabulary::{is_client, is_keyword, is_library, is_local_wait, is_outgoing, is_sleep, is_sql};
use crate::model::names_dead_letter;

/// The names of one file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Names<'t> {
    /// What it defines; what stands outside of any item is in the first, which has no name.
    pub(super) items: Vec<Item<'t>>,
    /// The modules of which a `use` takes everything, by their last segment, and whether it hands it on (`pub use`).
    pub(super) globs: Vec<(&'t str, bool)>,
    /// Whether it says that a module stands in a file of another name: `#[path = ".."]`.
    pub(super) places_modules: bool,
    /// Whether a struct of it may be read from settings.
    pub(super) deserializes: bool,
    /// Whether it imports from a library that repeats calls: what it waits for may be a call of one of its clients,
    /// whatever that is called.
    pub(super) imports_library: bool,
}

/// A function, type, trait, constant or renaming import.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Item<'t> {
    /// Its name.
    pub(super) name: &'t str,
    /// Whether it is a function.
    pub(super) is_function: bool,
    /// The type or trait in whose block a function stands; empty outside of one.
    pub(super) owner: &'t str,
    /// The trait that the block implements.
    pub(super) of_trait: &'t str,
    /// Every name in it that may mean something defined elsewhere; sorted, each once.
    pub(super) uses: Vec<&'t str>,
    /// Those of them that stand in a loop.
    pub(super) looped: Vec<&'t str>,
    /// Whether it makes a request, or names a library of retries.
    pub(super) requests: bool,
    /// Whether it waits for, or makes, some call that may leave the program.
    pub(super) leaves: bool,
    /// Whether it does so in a loop, or sleeps there.
    pub(super) repeats: bool,
    /// Whether it calls a function of its own name: itself, as far as names tell.
    pub(super) recurses: bool,
}

/// Reads the names of a file. Without `include_tests`, test modules are passed over.
pub(super) fn names(source: &str, include_tests: bool) -> Names<'_> {
    let tokens: Vec<Token> = Lexer::new(source).collect();
    let out = Names { items: vec![Item::default()], ..Names::default() };
    let mut reader = Reader {
        source,
        tokens: &tokens,
        include_tests,
        at: 0,
        scopes: Vec::new(),
        open: Vec::new(),
        blocks: Vec::new(),
        loop_at: None,
        closed_call: "",
        out,
    };
    reader.read();
    let mut names = reader.out;
    for item in &mut names.items {
        item.requests |= item.leaves && names.imports_library;
        for list in [&mut item.uses, &mut item.looped] {
            list.sort_unstable();
            list.dedup();
        }
    }
    names
}

/// What an open delimiter belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Scope<'t> {
    /// The body of an item.
    Item,
    /// The body of a loop.
    Loop,
    /// The arguments of a call of this name.
    Call(&'t str),
    /// Anything else.
    Other,
}

/// An item that has begun and not ended.
struct Open {
    /// Its number.
    item: usize,
    /// How many delimiters were open where it began.
    level: usize,
    /// Whether a brace at that level is its body and ends it; else only a semicolon does.
    has_body: bool,
}

/// The block of methods that is being read.
#[derive(Clone, Copy)]
pub(super) struct Block<'t> {
    pub(super) owner: &'t str,
    pub(super) of_trait: &'t str,
    pub(super) level: usize,
}

pub(super) struct Reader<'t, 'k> {
    pub(super) source: &'t str,
    pub(super) tokens: &'k [Token],
    pub(super) include_tests: bool,
    pub(super) at: usize,
    scopes: Vec<Scope<'t>>,
    open: Vec<Open>,
    pub(super) blocks: Vec<Block<'t>>,
    /// The level at which the next brace opens the body of a loop.
    loop_at: Option<usize>,
    /// The call whose parenthesis was closed last.
    closed_call: &'t str,
    pub(super) out: Names<'t>,
}

impl<'t> Reader<'t, '_> {
    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|t| t.kind)
    }

    pub(super) fn text(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|t| self.source.get(t.range())).unwrap_or("")
    }

    pub(super) fn is_punct(&self, at: usize, b: u8) -> bool {
        self.kind(at) == Some(Kind::Punct(b))
    }

    pub(super) fn is_path_separator(&self, at: usize) -> bool {
        self.is_punct(at, b':') && self.is_punct(at + 1, b':')
    }

    pub(super) fn ident(&self, at: usize) -> Option<&'t str> {
        (self.kind(at) == Some(Kind::Ident)).then(|| self.text(at))
    }

    pub(super) fn before(&self, back: usize) -> Option<usize> {
        self.at.checked_sub(back)
    }

    /// How many delimiters are open.
    pub(super) fn level(&self) -> usize {
        self.scopes.len()
    }

    fn read(&mut self) {
        while let Some(&token) = self.tokens.get(self.at) {
            match token.kind {
                Kind::Open(b) => self.opened(b),
                Kind::Close(_) => self.closed(),
                Kind::Ident => self.word(),
                Kind::Str => self.string(token),
                Kind::Punct(b';') => self.semicolon(),
                Kind::Punct(b'#') => self.attribute(),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn opened(&mut self, b: u8) {
        let level = self.scopes.len();
        let scope = match b {
            b'{' if self.loop_at == Some(level) => {
                self.loop_at = None;
                Scope::Loop
            }
            b'{' if self.open.last().is_some_and(|o| o.has_body && o.level == level) => Scope::Item,
            b'(' => self.callee().map_or(Scope::Other, Scope::Call),
            _ => Scope::Other,
        };
        self.scopes.push(scope);
    }

    fn closed(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let level = self.scopes.len();
        self.closed_call = if let Scope::Call(name) = scope { name } else { "" };
        // `for a in match b { .. } { .. }`: the second brace is the body.
        if scope == Scope::Loop && self.kind(self.at + 1) == Some(Kind::Open(b'{')) {
            self.loop_at = Some(level);
        }
        self.open.retain(|o| o.level < level || o.level == level && scope != Scope::Item);
        self.blocks.retain(|b| b.level < level);
    }

    fn semicolon(&mut self) {
        let level = self.scopes.len();
        self.open.retain(|o| o.level < level);
        self.loop_at = self.loop_at.filter(|at| *at != level);
    }

    pub(super) fn begin(&mut self, name: &'t str, is_function: bool, has_body: bool) {
        let level = self.scopes.len();
        let block = self.blocks.last().filter(|b| is_function && b.level + 1 == level);
        let (owner, of_trait) = block.map_or(("", ""), |b| (b.owner, b.of_trait));
        self.open.push(Open { item: self.out.items.len(), level, has_body });
        // What a dead letter keeps is told by its fields.
        let requests = !is_function && names_dead_letter(name);
        self.out.items.push(Item { name, is_function, owner, of_trait, requests, ..Item::default() });
    }

    fn item(&mut self) -> &mut Item<'t> {
        if self.out.items.is_empty() {
            self.out.items.push(Item::default());
        }
        let at = self.open.last().map_or(0, |o| o.item).min(self.out.items.len() - 1);
        &mut self.out.items[at] // not empty: pushed above
    }

    pub(super) fn uses(&mut self, name: &'t str) {
        let looped = self.in_loop();
        let item = self.item();
        item.uses.push(name);
        if looped {
            item.looped.push(name);
        }
    }

    /// The name before the parenthesis that opens here: `f(`, `a.f(`, `f::<T>(`.
    fn callee(&self) -> Option<&'t str> {
        let before = self.before(1)?;
        if let Some(name) = self.ident(before) {
            return Some(name).filter(|n| !is_keyword(n));
        }
        if !self.is_punct(before, b'>') {
            return None;
        }
        let mut open = 0usize;
        for at in (0..=before).rev().take(64) {
            match self.kind(at) {
                Some(Kind::Punct(b'>')) => open += 1,
                Some(Kind::Punct(b'<')) => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return self.ident(at.checked_sub(3)?);
                    }
                }
                Some(Kind::Punct(b';') | Kind::Open(b'{') | Kind::Close(b'}')) | None => return None,
                _ => {}
            }
        }
        None
    }

    fn word(&mut self) {
        let text = self.text(self.at);
        match text {
            "fn" => {
                if let Some(name) = self.ident(self.at + 1) {
                    self.at += 1;
                    self.begin(name, true, true);
                }
            }
            "loop" | "while" => self.loop_at = Some(self.scopes.len()),
            "for" if !self.is_punct(self.at + 1, b'<') => self.loop_at = Some(self.scopes.len()),
            "impl" if self.is_item() => self.implementation(),
            "use" => self.imports(),
            "struct" | "enum" | "union" | "trait" => self.definition(true),
            "type" | "static" | "const" => self.definition(false),
            "await" => self.awaited(),
            _ if is_keyword(text) => {}
            _ => self.name(text),
        }
    }

    /// Whether an item may begin here: after the end of another, an attribute, or `unsafe`.
    fn is_item(&self) -> bool {
        let Some(before) = self.before(1) else { return true };
        match self.kind(before) {
            Some(Kind::Close(b'}' | b']') | Kind::Open(b'{') | Kind::Punct(b';')) => true,
            _ => matches!(self.text(before), "unsafe" | "default"),
        }
    }

    fn in_loop(&self) -> bool {
        self.scopes.iter().rev().take_while(|scope| **scope != Scope::Item).any(|scope| *scope == Scope::Loop)
    }

    fn leaves(&mut self, requests: bool) {
        let repeats = self.in_loop();
        let item = self.item();
        item.leaves = true;
        item.requests |= requests;
        item.repeats |= repeats;
    }

    fn awaited(&mut self) {
        let after_call = self.before(2).is_some_and(|b| self.kind(b) == Some(Kind::Close(b')')));
        if !(after_call && is_local_wait(self.closed_call)) {
            self.leaves(false);
        }
    }

    fn name(&mut self, text: &'t str) {
        if is_library(text) {
            self.leaves(true);
        }
        self.out.deserializes |= text == "Deserialize";
        let next = self.at + 1;
        let called =
            self.kind(next) == Some(Kind::Open(b'(')) || self.is_punct(next, b'!') || self.is_path_separator(next);
        let is_path = self.before(1).is_some_and(|b| self.is_punct(b, b':'));
        if called || is_path || self.is_value() || text.starts_with(|c: char| !c.is_ascii_lowercase()) {
            self.uses(text);
        }
        if called {
            self.call(text);
        }
        if called && self.item().name == text && self.is_own() {
            self.item().recurses = true;
        }
    }

    /// Whether a name is called bare, or on `self` or `Self`.
    fn is_own(&self) -> bool {
        let is = |back: usize, wanted: &str| self.before(back).is_some_and(|b| self.text(b) == wanted);
        if is(1, ".") { is(2, "self") && !is(3, ".") } else { !is(1, ":") || is(3, "Self") }
    }

    fn call(&mut self, text: &str) {
        let empty = self.kind(self.at + 2) == Some(Kind::Close(b')'));
        if is_client(text) || text == "send" && empty {
            self.leaves(true);
        } else if is_outgoing(text) || is_sleep(text) && self.in_loop() {
            self.leaves(false);
        }
    }

    /// Whether a name stands where a function may be handed on: `f(g)`, `f(a::g, 1)`, `x = g;`, `field: g,`.
    fn is_value(&self) -> bool {
        let Some(before) = self.before(1) else { return false };
        let opens = match self.kind(before) {
            Some(Kind::Open(b'(') | Kind::Punct(b',' | b'=' | b'&' | b':' | b'|')) => true,
            _ => self.text(before) == "return",
        };
        opens && matches!(self.kind(self.at + 1), Some(Kind::Close(_) | Kind::Punct(b',' | b';')))
    }

    /// Names in the braces of a format string, and strings that are a path: `#[serde(default = "three")]`.
    fn string(&mut self, token: Token) {
        let Some(text) = self.source.get(token.range()) else { return };
        let text = text.trim_matches(|c| matches!(c, '"' | 'r' | '#'));
        self.item().requests |= is_sql(text);
        for (at, _) in text.match_indices('{') {
            let rest = text.get(at + 1..).unwrap_or("");
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if let Some(name) = rest.get(..end).filter(|n| !n.is_empty()) {
                self.uses(name);
            }
        }
        if !text.is_empty()
            && text.len() < 120
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'))
        {
            text.split(':').filter(|s| !s.is_empty()).for_each(|name| self.uses(name));
        }
    }
}
