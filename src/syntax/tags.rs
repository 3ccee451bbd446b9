//! Fluentd's form to the tree: `<match app.**>` … `</match>`, with a key and its value on each line.
//!
//! A section is an entry whose value is the list of its arguments, and of the mapping of what is in it, which comes last.

use std::sync::Arc;

use super::tree::{
    Comment, Entry, MAX_DEPTH, MAX_ERRORS, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value,
};
use crate::source::{SourceFile, Span};

/// Reads a file of sections.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    // The outermost is the file.
    let mut open = vec![Section { key: "".into(), span: file.span(0..0), argument: None, entries: Vec::new() }];
    let mut at = 0;
    let mut values = 0;
    for raw in file.text.split_inclusive('\n') {
        let start = at + (raw.len() - raw.trim_start().len());
        at += raw.len();
        let line = raw.trim();
        let span = file.span(start..start + line.len());
        values += 1;
        if values > MAX_VALUES {
            out.errors.push(SyntaxError { span, message: TOO_MANY.into() });
            break;
        }
        if let Some(text) = line.strip_prefix('#') {
            out.comments.push(Comment { span, text: text.into() });
        } else if line.starts_with("</") {
            close(&mut open, span);
        } else if let Some(inner) = line.strip_prefix('<').and_then(|l| l.split_once('>')).map(|(inner, _)| inner) {
            if open.len() > MAX_DEPTH {
                if out.errors.len() < MAX_ERRORS {
                    out.errors.push(SyntaxError { span, message: TOO_DEEP.into() });
                }
                break;
            }
            let (key, argument) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
            let from = start + 1 + (inner.len() - argument.trim_start().len());
            let argument = argument.trim();
            let argument = (!argument.is_empty()).then(|| scalar(file, from, argument));
            open.push(Section { key: key.into(), span, argument, entries: Vec::new() });
        } else if let Some((key, value)) = line.split_once(char::is_whitespace) {
            let from = start + (line.len() - value.trim_start().len());
            let entry = Entry {
                key: key.into(),
                key_span: file.span(start..start + key.len()),
                value: Arc::new(scalar(file, from, value.trim())),
            };
            if let Some(section) = open.last_mut() {
                section.entries.push(entry);
            }
        }
    }
    let end = file.span(file.text.len()..file.text.len());
    while open.len() > 1 {
        close(&mut open, end);
    }
    let entries = open.pop().map_or(Vec::new(), |file| file.entries);
    out.documents.push(Arc::new(Node::new(file.span(0..file.text.len()), Value::Map(entries))));
    out
}

struct Section {
    key: Arc<str>,
    span: Span,
    argument: Option<Node>,
    entries: Vec<Entry>,
}

/// Puts the innermost section into the one around it.
fn close(open: &mut Vec<Section>, end: Span) {
    if open.len() < 2 {
        return;
    }
    let Some(section) = open.pop() else { return };
    let whole = Span { end: end.end, ..section.span };
    let body = Node::new(whole, Value::Map(section.entries));
    let items = section.argument.into_iter().chain([body]).map(Arc::new).collect();
    let value = Arc::new(Node::new(whole, Value::List(items)));
    if let Some(outer) = open.last_mut() {
        outer.entries.push(Entry { key: section.key, key_span: section.span, value });
    }
}

fn scalar(file: &SourceFile, from: usize, text: &str) -> Node {
    let quoted = text.len() > 1 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
    let inner = if quoted { text.get(1..text.len() - 1).unwrap_or_default() } else { text };
    let start = from + usize::from(quoted);
    let scalar = Scalar { text: inner.into(), plain: !quoted, verbatim: u32::try_from(start).ok() };
    Node::new(file.span(from..from + text.len()), Value::Scalar(scalar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str) -> Parsed {
        parse(&SourceFile { id: FileId(0), path: "fluent.conf".into(), text: text.into() })
    }

    #[test]
    fn sections() {
        let parsed =
            read("# x\n<match app.**>\n  @type http\n  <buffer>\n    retry_max_times 8\n  </buffer>\n</match>\n");
        let found = parsed.documents[0].get("match").unwrap();
        assert_eq!(found.items()[0].as_str(), Some("app.**"));
        let body = &found.items()[1];
        assert_eq!(body.get("@type").unwrap().as_str(), Some("http"));
        let buffer = body.get("buffer").unwrap().items().last().unwrap();
        assert_eq!(buffer.get("retry_max_times").unwrap().as_int(), Some(8));
        let span = buffer.get("retry_max_times").unwrap().span;
        assert_eq!((span.start, span.end), (63, 64));
    }

    #[test]
    fn nothing_panics() {
        let text = "</x>\n<a é>\n<\n<>\n< >\nk  'v'\nk '\n</a\n<b\nx é";
        for end in 0..=text.len() {
            if let Some(cut) = text.get(..end) {
                read(cut);
            }
        }
        read(&"<a>\n".repeat(1_000));
    }
}
