//! Every place in the lowered form of real code begins and ends with the tokens that its kind must have, and lies in
//! the place of what it stands in. The code is this crate's own, its tests and its fixtures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use retrylint::rust::ir::{Const, Expr, ExprKind, Function, Item, Lit, Stmt};
use retrylint::rust::lower::lower;
use retrylint::rust::walk;
use retrylint::source::{FileId, SourceFile, Span};

struct Check<'a> {
    file: &'a SourceFile,
    expressions: usize,
}

impl Check<'_> {
    fn text(&self, span: Span) -> &str {
        self.file.text.get(span.range()).unwrap()
    }

    #[track_caller]
    fn holds(&self, held: bool, what: &str, span: Span) {
        assert!(held, "{}: {what} at {span:?}: {:.80}", self.file.path, self.text(span));
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(f) => self.function(f),
                Item::Impl(block) => {
                    block.functions.iter().for_each(|f| self.function(f));
                    block.consts.iter().for_each(|c| self.constant(c));
                }
                Item::Const(c) => self.constant(c),
                Item::Struct(s) => self.name(&s.name, s.span),
                Item::Mod { items, .. } => self.items(items),
                Item::Enum { .. } | Item::Alias { .. } | Item::Use(_) | Item::ModFile { .. } => {}
            }
        }
    }

    fn name(&self, name: &str, span: Span) {
        self.holds(self.text(span).trim_start_matches("r#") == name, "a name", span);
    }

    fn constant(&mut self, c: &Const) {
        self.name(&c.name, c.span);
        c.value.iter().for_each(|value| self.expr(value));
    }

    fn function(&mut self, f: &Function) {
        self.name(&f.name, f.name_span);
        self.holds(f.span.contains(f.name_span) && f.span.contains(f.body.span), "a function", f.span);
        self.holds(self.text(f.body.span).starts_with('{'), "a body", f.body.span);
        self.expr(&f.body);
    }

    /// Whether a macro's name and its `!` stand where a span starts.
    fn is_at_macro(&self, span: Span) -> bool {
        let rest = self.file.text.get(span.range().start..).unwrap();
        rest.split_once('!').is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)))
    }

    fn expr(&mut self, e: &Expr) {
        self.expressions += 1;
        let text = self.text(e.span);
        // What a macro stands for has the place of the macro, or of its name.
        let is_macro = self.is_at_macro(e.span);
        let (begin, end): (&[&str], &[&str]) = match &*e.kind {
            ExprKind::Method { .. } => (&[], &[")"]),
            ExprKind::Call { .. } => (&[], &[")", "}", "]"]),
            ExprKind::If { .. } => (&["if"], &["}"]),
            ExprKind::Match { .. } => (&["match"], &["}"]),
            ExprKind::Loop { .. } => (&["loop"], &["}"]),
            ExprKind::While { .. } => (&["while"], &["}"]),
            ExprKind::For { .. } => (&["for"], &["}"]),
            ExprKind::Await(_) => (&[], &["await"]),
            ExprKind::Try(_) => (&[], &["?"]),
            ExprKind::Closure { .. } => (&["|", "move", "async"], &[]),
            ExprKind::Async(_) => (&["async"], &["}"]),
            ExprKind::Return { .. } => (&["return"], &[]),
            ExprKind::Break { .. } => (&["break"], &[]),
            ExprKind::Struct { .. } => (&[], &["}"]),
            ExprKind::Tuple(_) => (&["("], &[")"]),
            ExprKind::Block { .. } => (&["{"], &["}"]),
            ExprKind::Lit(Lit::Str { .. }) => (&["\"", "r", "b", "c"], &["\"", "#"]),
            ExprKind::Lit(Lit::Char(_)) => (&["'"], &["'"]),
            _ => (&[], &[]),
        };
        let fits = |all: &[&str], by: &dyn Fn(&str) -> bool| all.is_empty() || all.iter().any(|t| by(t));
        let fits = fits(begin, &|t| text.starts_with(t)) && fits(end, &|t| text.ends_with(t));
        self.holds(fits || is_macro, &format!("{:.40?}", e.kind), e.span);
        match &*e.kind {
            ExprKind::Method { name, name_span, .. } => self.name(name, *name_span),
            ExprKind::Block { stmts, .. } => {
                let items =
                    stmts.iter().filter_map(|s| if let Stmt::Item(item) = s { Some(item.clone()) } else { None });
                self.items(&items.collect::<Vec<_>>());
            }
            _ => {}
        }
        let mut below = Vec::new();
        walk::children(e, &mut |child| below.push(child));
        for child in below {
            // What a macro is given stands beside its name.
            self.holds(
                e.span.contains(child.span) || is_macro,
                "an expression outside of what it stands in",
                child.span,
            );
            self.expr(child);
        }
    }
}

#[test]
fn places_begin_and_end_where_they_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut expressions) = (0, 0);
    for folder in ["src", "tests", "fixtures", "benches"] {
        let found = walkdir::WalkDir::new(root.join(folder)).into_iter().map(|entry| entry.unwrap().into_path());
        for path in found.filter(|path| path.extension().is_some_and(|e| e == "rs") && path.is_file()) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for text in [text.clone(), format!("\u{feff}#!/usr/bin/env run\n{}", text.replace('\n', "\r\n"))] {
                let file = SourceFile { id: FileId(0), path: path.to_string_lossy().into(), text: Arc::from(text) };
                let Ok(module) = lower(&file, true) else { continue };
                let mut check = Check { file: &file, expressions: 0 };
                check.items(&module.items);
                files += 1;
                expressions += check.expressions;
            }
        }
    }
    assert!(files > 100 && expressions > 50_000, "{files} files with {expressions} expressions");
}
