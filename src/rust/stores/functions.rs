//! The functions of all files, their names, and the constants that hold texts.

use std::collections::BTreeMap;

use crate::rust::ir::{Const, Expr, ExprKind, FormatPart, Function, Item, Lit, Module};
use crate::rust::walk;
use crate::source::Span;

/// A function and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'m> {
    pub(super) function: &'m Function,
    pub(super) path: &'m str,
}

/// All functions and texts.
#[derive(Debug, Default)]
pub(super) struct Code<'m> {
    pub(super) functions: Vec<Place<'m>>,
    by_name: BTreeMap<&'m str, Vec<usize>>,
    consts: BTreeMap<&'m str, Vec<(&'m str, &'m Expr)>>,
}

impl<'m> Code<'m> {
    pub(super) fn new(modules: &'m [Module]) -> Self {
        let mut code = Self::default();
        for module in modules {
            each_item(&module.items, &mut |found| match found {
                Found::Function(function) => {
                    code.by_name.entry(&function.name).or_default().push(code.functions.len());
                    code.functions.push(Place { function, path: &module.path });
                }
                Found::Const(constant) => {
                    if let Some(value) = &constant.value {
                        code.consts.entry(&constant.name).or_default().push((&module.path, value));
                    }
                }
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

    /// The text behind an expression: a literal, a `format!`, or a constant that is one.
    pub(super) fn text(&self, expr: &'m Expr, path: &str) -> Option<Text> {
        match &*expr.kind {
            ExprKind::Path(name) => {
                let found = self.consts.get(&**name.segments.last()?)?;
                let here = found.iter().find(|(file, _)| *file == path);
                let (_, value) = here.or(if found.len() == 1 { found.first() } else { None })?;
                literal(value)
            }
            _ => literal(expr),
        }
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
    Function(&'m Function),
    Const(&'m Const),
}

/// Calls `with` on the functions and constants of items, those in blocks and bodies too.
pub(super) fn each_item<'m>(items: &'m [Item], with: &mut dyn FnMut(Found<'m>)) {
    let mut open: Vec<&Item> = items.iter().rev().collect();
    while let Some(item) = open.pop() {
        match item {
            Item::Fn(function) => {
                with(Found::Function(function));
                open.extend(walk::items_inside(&function.body));
            }
            Item::Impl(block) => {
                for function in &block.functions {
                    with(Found::Function(function));
                    open.extend(walk::items_inside(&function.body));
                }
                block.consts.iter().for_each(|c| with(Found::Const(c)));
            }
            Item::Const(constant) => with(Found::Const(constant)),
            Item::Mod { items, .. } => open.extend(items.iter().rev()),
            _ => {}
        }
    }
}
