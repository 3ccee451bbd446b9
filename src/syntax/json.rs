//! JSON to the tree. Comments, trailing commas and what JSON5 adds are allowed: editors and tools write them.

use std::sync::Arc;

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::tree::{
    Comment, Entry, MAX_DEPTH, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value, within,
};
use crate::source::SourceFile;

/// Reads a JSON text. A text without a value gives no document and no error.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    if let Err(problem) = measure(file) {
        out.errors.push(problem);
        return out;
    }
    // The parser knows no byte order mark.
    let shift = if file.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let reader = Reader { file, shift };
    let collect = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: false };
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    match parse_to_ast(file.text.get(shift..).unwrap_or(""), &collect, &options) {
        Ok(result) => {
            out.documents.extend(result.value.map(|value| Arc::new(reader.node(value))));
            // Each comment is listed under the token before it and the one after it.
            let comments = result.comments.unwrap_or_default();
            out.comments = comments.values().flat_map(|list| list.iter()).map(|c| reader.comment(c)).collect();
            out.comments.sort_by_key(|c| c.span);
            out.comments.dedup_by_key(|c| c.span);
        }
        Err(error) => {
            let Range { start, end } = error.range();
            let span = file.span(within(&file.text, start + shift..end + shift));
            out.errors.push(SyntaxError { span, message: format!("not valid JSON: {}", lower(error.kind())) });
        }
    }
    out
}

/// The parser and its tree are recursive: what is too deep or too large for them is refused before.
fn measure(file: &SourceFile) -> Result<(), SyntaxError> {
    let refuse = |at: usize, message: &str| Err(SyntaxError { span: file.span(at..at + 1), message: message.into() });
    let bytes = file.text.as_bytes();
    let (mut depth, mut values, mut at) = (0usize, 0usize, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                values += 1;
                if depth > MAX_DEPTH {
                    return refuse(at, TOO_DEEP);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            b'"' | b'\'' => at = skip_string(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = find(bytes, at, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = find(bytes, at + 2, b"*/") + 1,
            _ => {}
        }
        if values > MAX_VALUES {
            return refuse(at, TOO_MANY);
        }
        at += 1;
    }
    Ok(())
}

/// The closing quote of the string that opens at `at`, or the end.
fn skip_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at).copied();
    let mut i = at + 1;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' => i += 1,
            _ if Some(byte) == quote => return i,
            _ => {}
        }
        i += 1;
    }
    i
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(what.len()).position(|w| w == what).map_or(bytes.len(), |n| from + n)
}

/// The parser's message in the middle of a sentence.
fn lower(message: impl ToString) -> String {
    let mut message = message.to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    message
}

struct Reader<'f> {
    file: &'f SourceFile,
    shift: usize,
}

impl Reader<'_> {
    fn span(&self, range: Range) -> crate::source::Span {
        self.file.span(range.start + self.shift..range.end + self.shift)
    }

    fn node(&self, value: ast::Value<'_>) -> Node {
        let range = value.range();
        let value = match value {
            ast::Value::StringLit(s) => self.string(&s.value, range),
            ast::Value::NumberLit(_) | ast::Value::BooleanLit(_) | ast::Value::NullKeyword(_) => self.plain(range),
            ast::Value::Array(array) => {
                Value::List(array.elements.into_iter().map(|v| Arc::new(self.node(v))).collect())
            }
            ast::Value::Object(object) => Value::Map(object.properties.into_iter().map(|p| self.entry(p)).collect()),
        };
        Node::new(self.span(range), value)
    }

    fn entry(&self, property: ast::ObjectProp<'_>) -> Entry {
        let (key, range) = match &property.name {
            ObjectPropName::String(s) => (&*s.value, s.range),
            ObjectPropName::Word(w) => (w.value, w.range),
        };
        Entry { key: key.into(), key_span: self.span(range), value: Arc::new(self.node(property.value)) }
    }

    fn string(&self, text: &str, range: Range) -> Value {
        // Without escapes the text is as long as what stands between the quotes.
        let verbatim = (range.end - range.start == text.len() + 2).then(|| self.span(range).start + 1);
        Value::Scalar(Scalar { text: text.into(), plain: false, verbatim })
    }

    fn plain(&self, range: Range) -> Value {
        let span = self.span(range);
        let text = self.file.text.get(span.range()).unwrap_or("").into();
        Value::Scalar(Scalar { text, plain: true, verbatim: Some(span.start) })
    }

    fn comment(&self, comment: &ast::Comment<'_>) -> Comment {
        Comment { span: self.span(comment.range()), text: comment.text().into() }
    }
}

#[cfg(test)]
mod tests;
