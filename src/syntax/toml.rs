//! TOML to the tree. What the parser can recover of a broken file is kept.

mod lex;

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{Entry, MAX_ERRORS, Node, Parsed, Scalar, SyntaxError, Value, within};
use crate::source::{SourceFile, Span};

/// A broken file larger than this is not recovered: each error has a cost, and there can be one for every byte.
const MAX_RECOVERED: usize = 1 << 20;

/// Reads a TOML file. Tables come in the order of the file; a table's place runs from its header to its last own value.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    match lex::comments(file) {
        Ok(comments) => out.comments = comments,
        Err(problem) => {
            out.errors.push(problem);
            return out;
        }
    }
    let (table, errors) = match DeTable::parse(&file.text) {
        Ok(table) => (table, Vec::new()),
        Err(_) if file.text.len() <= MAX_RECOVERED => DeTable::parse_recoverable(&file.text),
        Err(error) => (Spanned::new(0..0, DeTable::new()), vec![error]),
    };
    for error in errors.iter().take(MAX_ERRORS) {
        let span = file.span(within(&file.text, error.span().unwrap_or(0..0)));
        out.errors.push(SyntaxError { span, message: format!("not valid TOML: {}", error.message()) });
    }
    let reader = Reader { file };
    let entries = reader.entries(table.get_ref());
    let mut root = Node::new(Span::start_of(file.id), Value::Map(entries));
    if let Some(first) = root.entries().first() {
        let start = first.key_span.start.min(first.value.span.start);
        let end = root.walk().map(|n| n.span.end).max().unwrap_or(start);
        root.span = file.span(start as usize..end as usize);
    }
    out.documents.push(Arc::new(root));
    out.errors.sort_by_key(|e| e.span);
    out
}

struct Reader<'f> {
    file: &'f SourceFile,
}

impl Reader<'_> {
    fn entries(&self, table: &DeTable<'_>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().as_ref().into(),
                key_span: self.file.span(key.span()),
                value: Arc::new(self.node(value)),
            })
            .collect();
        entries.sort_by_key(|e| e.key_span);
        entries
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let mut span = self.file.span(value.span());
        let source = self.file.text.get(span.range()).unwrap_or("");
        let value = match value.get_ref() {
            DeValue::Table(table) => {
                let entries = self.entries(table);
                span.end = self.end_of_own(span, &entries);
                Value::Map(entries)
            }
            DeValue::Array(array) => {
                let items: Vec<_> = array.iter().map(|v| Arc::new(self.node(v))).collect();
                // Of an array of tables only the first header is known.
                span.end = items.iter().map(|n| n.span.end).fold(span.end, u32::max);
                Value::List(items)
            }
            DeValue::String(text) => Value::Scalar(Scalar {
                text: text.as_ref().into(),
                plain: false,
                verbatim: verbatim(source, text).map(|at| span.start + at),
            }),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                Value::Scalar(Scalar { text: source.into(), plain: true, verbatim: Some(span.start) })
            }
        };
        Node::new(span, value)
    }

    /// The end of a table: of what stands under its header or beside its key, other headers left out.
    fn end_of_own(&self, span: Span, entries: &[Entry]) -> u32 {
        let is_header = |e: &Entry| {
            let before = self.file.text.get(..e.value.span.start as usize + 1).unwrap_or("");
            let line = before.rsplit('\n').next().unwrap_or("");
            matches!(e.value.value, Value::Map(_) | Value::List(_)) && line.trim_start().starts_with('[')
        };
        let ends = entries.iter().filter(|e| e.value.span.end > span.end && !is_header(e)).map(|e| e.value.span.end);
        ends.fold(span.end, u32::max)
    }
}

/// Where in the quoted source the text stands byte for byte.
fn verbatim(source: &str, text: &str) -> Option<u32> {
    let quotes = source.len().checked_sub(text.len())?;
    let at = match quotes {
        2 => 1,
        6 => 3,
        _ => return None,
    };
    (source.get(at..at + text.len()) == Some(text)).then_some(at as u32)
}

#[cfg(test)]
mod tests;
