//! Trees as text, for the tests of the readers.
#![allow(clippy::string_slice)] // Spans of texts that the tests wrote.

use super::tree::{Node, Parsed, Value};
use crate::source::{FileId, SourceFile};

pub(super) fn file(text: &str) -> SourceFile {
    SourceFile { id: FileId(0), path: "a".into(), text: text.into() }
}

/// Every node as `path(key's source) = kind "text" «source» @verbatim`, then comments and errors.
pub(super) fn dump(parse: fn(&SourceFile) -> Parsed, text: &str) -> String {
    let file = file(text);
    let parsed = parse(&file);
    let mut out = String::new();
    for (i, document) in parsed.documents.iter().enumerate() {
        show(&file, &i.to_string(), document, &mut out);
    }
    for comment in &parsed.comments {
        out += &format!("comment {:?} «{}»\n", comment.text, &file.text[comment.span.range()]);
    }
    for error in &parsed.errors {
        out += &format!("error {} {}..{}\n", error.message, error.span.start, error.span.end);
    }
    out
}

fn show(file: &SourceFile, path: &str, node: &Node, out: &mut String) {
    let source = file.text[node.span.range()].replace('\n', "⏎").replace('\r', "␍");
    let tag = node.tag.as_ref().map(|t| format!(" {t}")).unwrap_or_default();
    match &node.value {
        Value::Scalar(s) => {
            let plain = if s.plain { "plain" } else { "text" };
            let verbatim = s.verbatim.map(|v| format!(" @{v}")).unwrap_or_default();
            *out += &format!("{path} = {plain}{tag} {:?} «{source}»{verbatim}\n", s.text);
        }
        Value::List(items) => {
            *out += &format!("{path} list{tag} «{source}»\n");
            for (i, item) in items.iter().enumerate() {
                show(file, &format!("{path}[{i}]"), item, out);
            }
        }
        Value::Map(entries) => {
            *out += &format!("{path} map{tag} «{source}»\n");
            for entry in entries {
                let key = &file.text[entry.key_span.range()];
                show(file, &format!("{path}.{}({key})", entry.key), &entry.value, out);
            }
        }
    }
}
