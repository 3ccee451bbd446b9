//! Declarations: the headers of impls, types and constants, imports, and test modules.

use crate::rust::lex::Kind;

use super::names::{Block, Item, Reader};
use super::vocabulary::{is_keyword, is_library};

impl<'t> Reader<'t, '_> {
    /// The header of an impl, up to its brace. The block counts as an item with the name of its type.
    pub(super) fn implementation(&mut self) {
        let mut angles = 0usize;
        let mut types = [""; 2];
        let mut at = self.at + 1;
        let mut is_bound = false;
        while let Some(&token) = self.tokens.get(at) {
            match token.kind {
                Kind::Open(b'{') | Kind::Punct(b';') => break,
                Kind::Punct(b'<') => angles += 1,
                Kind::Punct(b'>') if !self.is_punct(at.wrapping_sub(1), b'-') => angles = angles.saturating_sub(1),
                Kind::Ident => match self.text(at) {
                    "where" => is_bound = true,
                    "for" if angles == 0 && !is_bound && !self.is_punct(at + 1, b'<') => types = [types[1], ""],
                    text if angles == 0 && !is_bound && !is_keyword(text) => types[1] = text,
                    _ => {}
                },
                _ => {}
            }
            at += 1;
        }
        let [of_trait, owner] = types;
        let level = self.level();
        self.begin(owner, false, true);
        let header = self.at + 1..at;
        for at in header {
            if let Some(name) = self.ident(at).filter(|n| !is_keyword(n)) {
                self.uses(name);
            }
        }
        self.blocks.push(Block { owner, of_trait, level });
        self.at = at.saturating_sub(1);
    }

    pub(super) fn definition(&mut self, has_body: bool) {
        let mut at = self.at + 1;
        while matches!(self.text(at), "mut" | "ref") {
            at += 1;
        }
        let Some(name) = self.ident(at).filter(|n| !is_keyword(n)) else { return };
        let is_trait = self.text(self.at) == "trait";
        self.at = at;
        if is_trait {
            self.blocks.push(Block { owner: name, of_trait: "", level: self.level() });
        }
        self.begin(name, false, has_body);
    }

    /// A `use` up to its semicolon. A name that it changes or hands on is an item that uses the old one.
    pub(super) fn imports(&mut self) {
        let public = self.before(1).is_some_and(|b| self.text(b) == "pub" || self.kind(b) == Some(Kind::Close(b')')));
        let mut last = "";
        while let Some(&token) = self.tokens.get(self.at + 1) {
            self.at += 1;
            match token.kind {
                Kind::Punct(b';') => return,
                Kind::Punct(b'*') => self.out.globs.push((last, public)),
                Kind::Ident if self.text(self.at) == "as" => {
                    self.at += 1;
                    let (name, uses) = (self.text(self.at), vec![last]);
                    self.out.items.push(Item { name, uses, ..Item::default() });
                }
                Kind::Ident => {
                    last = self.text(self.at);
                    self.out.imports_library |= is_library(last);
                    let is_leaf = !self.is_path_separator(self.at + 1);
                    if public && is_leaf {
                        self.out.items.push(Item { name: last, ..Item::default() });
                    }
                }
                _ => {}
            }
        }
    }

    /// `#[cfg(test)] mod x { .. }` is passed over.
    pub(super) fn attribute(&mut self) {
        self.out.places_modules |= self.text(self.at + 2) == "path";
        let expected = ["[", "cfg", "(", "test", ")", "]"];
        if self.include_tests || expected.iter().enumerate().any(|(i, e)| self.text(self.at + 1 + i) != *e) {
            return;
        }
        let after = self.at + 1 + expected.len();
        if self.text(after) != "mod" || self.kind(after + 2) != Some(Kind::Open(b'{')) {
            return;
        }
        let mut depth = 0usize;
        for at in after + 2..self.tokens.len() {
            match self.kind(at) {
                Some(Kind::Open(_)) => depth += 1,
                Some(Kind::Close(_)) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                self.at = at;
                return;
            }
        }
        self.at = self.tokens.len();
    }
}
