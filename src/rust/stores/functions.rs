//! The functions of all files, their names, and the constants that hold texts.

use std::collections::BTreeMap;

use crate::rust::ir::{Const, Expr, ExprKind, FormatPart, Function, Item, Lit, Module, Struct};
use crate::rust::walk;
use crate::source::Span;

/// A function and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'m> {
    pub(super) function: &'m Function,
    pub(super) path: &'m str,
    /// The type that it belongs to.
    pub(super) owner: Option<&'m str>,
}

/// All functions and texts.
#[derive(Debug, Default)]
pub(super) struct Code<'m> {
    pub(super) functions: Vec<Place<'m>>,
    by_name: BTreeMap<&'m str, Vec<usize>>,
    consts: BTreeMap<&'m str, Vec<(&'m str, &'m Expr)>>,
    /// Structs, with their files.
    pub(super) structs: Vec<(&'m str, &'m Struct)>,
}

impl<'m> Code<'m> {
    pub(super) fn new(modules: &'m [Module]) -> Self {
        let mut code = Self::default();
        for module in modules {
            each_item(&module.items, &mut |found| match found {
                Found::Function(function, owner) => {
                    code.by_name.entry(&function.name).or_default().push(code.functions.len());
                    code.functions.push(Place { function, path: &module.path, owner });
                }
                Found::Const(constant) => {
                    if let Some(value) = &constant.value {
                        code.consts.entry(&constant.name).or_default().push((&module.path, value));
                    }
                }
                Found::Struct(found) => code.structs.push((&module.path, found)),
            });
        }
        code
    }

    /// The function of a name, if there is one only.
    pub(super) fn function(&self, name: &str) -> Option<Place<'m>> {
        match self.by_name.get(name)?.as_slice() {
            [only] => self.functions.get(*only).copied(),
            _ => None,
        }
    }

    /// The functions of a name.
    pub(super) fn functions_called(&self, name: &str) -> impl Iterator<Item = Place<'m>> {
        let found = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        found.iter().filter_map(|at| self.functions.get(*at).copied())
    }

    /// The struct of a name, if there is one only.
    pub(super) fn only_struct(&self, name: &str) -> Option<&'m Struct> {
        let mut named = self.structs.iter().filter(|(_, s)| &*s.name == name);
        let (_, first) = named.next()?;
        named.next().is_none().then_some(*first)
    }

    /// The text behind an expression: a literal, a `format!`, or a constant that is one.
    pub(super) fn text(&self, expr: &Expr, path: &str) -> Option<Text> {
        match &*expr.kind {
            ExprKind::Path(_) => literal(self.constant(expr, path)?),
            _ => literal(expr),
        }
    }

    /// The value of a constant: the one of this file, or the only one of its name.
    pub(super) fn constant(&self, expr: &Expr, path: &str) -> Option<&'m Expr> {
        let ExprKind::Path(name) = &*expr.kind else { return None };
        let found = self.consts.get(&**name.segments.last()?)?;
        let here = found.iter().find(|(file, _)| *file == path);
        let (_, value) = here.or(if found.len() == 1 { found.first() } else { None })?;
        Some(value)
    }

    /// Every constant: its name, its file and its value.
    pub(super) fn constants(&self) -> impl Iterator<Item = (&'m str, &'m str, &'m Expr)> {
        self.consts.iter().flat_map(|(name, all)| all.iter().map(|(path, value)| (*name, *path, *value)))
    }
}

/// A text and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) verbatim: Option<u32>,
    pub(super) span: Span,
}

impl Text {
    /// The place of a byte of the text.
    pub(super) fn place(&self, at: usize) -> Span {
        match self.verbatim {
            Some(start) => {
                let from = start.saturating_add(u32::try_from(at).unwrap_or(0));
                Span { start: from, end: self.span.end.max(from), ..self.span }
            }
            None => self.span,
        }
    }
}

fn literal(expr: &Expr) -> Option<Text> {
    match &*expr.kind {
        ExprKind::Lit(Lit::Str { text, verbatim }) => {
            Some(Text { text: text.to_string(), verbatim: *verbatim, span: expr.span })
        }
        ExprKind::Format { name, parts, .. } if &**name == "format" => {
            let pieces =
                parts.iter().map(|p| if let FormatPart::Text(t) = p { t.to_string() } else { "?".to_string() });
            Some(Text { text: pieces.collect(), verbatim: None, span: expr.span })
        }
        _ => None,
    }
}

/// What an item is.
pub(super) enum Found<'m> {
    /// With the type that it belongs to.
    Function(&'m Function, Option<&'m str>),
    Const(&'m Const),
    Struct(&'m Struct),
}

/// Calls `with` on the functions, constants and structs of items, those in blocks and bodies too.
pub(super) fn each_item<'m>(items: &'m [Item], with: &mut dyn FnMut(Found<'m>)) {
    let mut open: Vec<&Item> = items.iter().rev().collect();
    while let Some(item) = open.pop() {
        match item {
            Item::Fn(function) => {
                with(Found::Function(function, None));
                open.extend(walk::items_inside(&function.body));
            }
            Item::Impl(block) => {
                let owner = block.ty.path.segments.last().map(|s| &**s);
                for function in &block.functions {
                    with(Found::Function(function, owner));
                    open.extend(walk::items_inside(&function.body));
                }
                block.consts.iter().for_each(|c| with(Found::Const(c)));
            }
            Item::Const(constant) => with(Found::Const(constant)),
            Item::Struct(found) => with(Found::Struct(found)),
            Item::Mod { items, .. } => open.extend(items.iter().rev()),
            _ => {}
        }
    }
}
