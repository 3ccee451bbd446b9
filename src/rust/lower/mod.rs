//! Lowering: one Rust file, parsed by syn, to the form in [`super::ir`].
//!
//! Nothing of syn leaves this folder. Byte ranges are taken while the parser's table of positions is filled, and the
//! table is emptied before a file is left: it would grow for as long as the thread lives.
//! Labels are named without their apostrophe. A file that is too deep to be parsed safely is an error.

mod attributes;
mod block;
mod expr;
mod format;
mod item;
mod literal;
mod macros;
mod pattern;
mod positions;
mod rules;
mod select;
mod types;

use std::sync::Arc;

pub use attributes::is_test_path;

use positions::Positions;
use rules::Rules;

use super::{depth, ir, stack};
use crate::source::{SourceFile, Span};
use crate::syntax::SyntaxError;

/// A file no deeper than this is parsed on the stack that is at hand; threads have 2 MiB where nobody asks for more.
const SHALLOW: u32 = 40;

/// The form of a file. Without `include_tests`, code that only tests compile is left out, and the module says so.
pub fn lower(file: &SourceFile, include_tests: bool) -> Result<ir::Module, SyntaxError> {
    if !include_tests && attributes::is_test_path(&file.path) {
        return Ok(ir::Module { path: file.path.clone(), items: Vec::new(), tests_left_out: true });
    }
    let (base, code) = code_of(&file.text);
    let error = |at: usize, message: String| SyntaxError { span: file.span(at..at), message };
    let depth = depth::measure(code).map_err(|refused| error(base + refused.at, refused.reason))?;
    // Macros of one's own that are written out nest deeper than the text.
    if depth <= SHALLOW && !code.contains("macro_rules!") {
        return parse(file, base, code, include_tests);
    }
    stack::on_large_stack(|| parse(file, base, code, include_tests))
        .unwrap_or_else(|e| Err(error(base, format!("no thread to parse it on: {e}"))))
}

/// The text that is code, and where it begins: byte order marks and a shebang are not.
fn code_of(text: &str) -> (usize, &str) {
    let code = text.trim_start_matches('\u{feff}');
    let is_shebang = code.strip_prefix("#!").is_some_and(|rest| !rest.trim_start().starts_with('['));
    let code = match code.find('\n') {
        Some(end) if is_shebang => code.get(end..).unwrap_or(""),
        None if is_shebang => "",
        _ => code,
    };
    (text.len() - code.len(), code)
}

fn parse(file: &SourceFile, base: usize, code: &str, include_tests: bool) -> Result<ir::Module, SyntaxError> {
    let _table = PositionTable;
    let rules = Rules::default();
    let mut lowerer = Lowerer { file, positions: Positions::new(base, code), rules, include_tests, left_out: false };
    let tree: syn::File = syn::parse_str(code).map_err(|e| lowerer.syntax_error(&e))?;
    lowerer.rules = Rules::of(&tree.items);
    let items = lowerer.file(&tree);
    Ok(ir::Module { path: file.path.clone(), items, tests_left_out: lowerer.left_out })
}

/// Empties the parser's table of positions when a file is done.
struct PositionTable;

impl Drop for PositionTable {
    fn drop(&mut self) {
        proc_macro2::extra::invalidate_current_thread_spans();
    }
}

struct Lowerer<'a> {
    file: &'a SourceFile,
    positions: Positions<'a>,
    /// The file's own macros.
    rules: Rules,
    include_tests: bool,
    /// Whether something was left out for being a test.
    left_out: bool,
}

impl Lowerer<'_> {
    fn span(&self, span: proc_macro2::Span) -> Span {
        self.file.span(self.positions.byte(span.start())..self.positions.byte(span.end()))
    }

    /// From the start of one token to the end of another.
    fn between(&self, first: proc_macro2::Span, last: proc_macro2::Span) -> Span {
        self.span(first).to(self.span(last))
    }

    /// The span of any piece of syntax. Copies all of its tokens: for small or rare ones.
    fn span_of(&self, tokens: &impl syn::spanned::Spanned) -> Span {
        self.span(tokens.span())
    }

    fn path_span(&self, qself: &Option<syn::QSelf>, path: &syn::Path) -> Span {
        let (Some(first), Some(last)) = (path.segments.first(), path.segments.last()) else {
            return self.span_of(path);
        };
        let colon = path.leading_colon.as_ref().map(|c| c.spans[0]);
        let start = qself.as_ref().map(|q| q.lt_token.span).or(colon).unwrap_or_else(|| first.ident.span());
        let end = match &last.arguments {
            syn::PathArguments::None => self.span(last.ident.span()),
            syn::PathArguments::AngleBracketed(args) => self.span(args.gt_token.span),
            syn::PathArguments::Parenthesized(args) => self.span_of(args),
        };
        self.span(start).to(end)
    }

    fn text(&self, span: Span) -> &str {
        self.file.text.get(span.range()).unwrap_or("")
    }

    fn syntax_error(&self, error: &syn::Error) -> SyntaxError {
        SyntaxError { span: self.span(error.span()), message: error.to_string() }
    }
}

fn name(ident: &syn::Ident) -> ir::Name {
    let text = ident.to_string();
    Arc::from(text.strip_prefix("r#").unwrap_or(&text))
}

fn label(label: &Option<syn::Label>) -> Option<ir::Name> {
    label.as_ref().map(|l| name(&l.name.ident))
}

#[cfg(test)]
mod tests;
