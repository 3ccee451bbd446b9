//! Files of sections to the tree: INI, the classic form of Fluent Bit, and lists of variables (`.env`).
//!
//! A section is an entry whose value is a mapping; sections of one name stay apart.

use std::ops::Range;
use std::sync::Arc;

use super::tree::{Comment, Entry, MAX_ERRORS, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_MANY, Value};
use crate::source::SourceFile;

/// What a line of a key and its value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `key = value`, `key: value`; `;` and `#` begin comments.
    Ini,
    /// `Key value`.
    Words,
    /// `KEY=value`, with `export` before it or without; quotes around values.
    Variables,
}

/// Reads a file of sections.
pub fn parse(file: &SourceFile, form: Form) -> Parsed {
    let mut out = Parsed::default();
    let mut top: Vec<Entry> = Vec::new();
    let mut open: Option<Section> = None;
    let mut at = 0;
    let mut values = 0;
    for raw in file.text.split_inclusive('\n') {
        let start = at + (raw.len() - raw.trim_start().len());
        at += raw.len();
        let line = raw.trim();
        let range = start..start + line.len();
        if line.is_empty() {
            continue;
        }
        if line.starts_with(['#', ';']) {
            let text = line.get(1..).unwrap_or_default();
            out.comments.push(Comment { span: file.span(range), text: text.into() });
            continue;
        }
        values += 1;
        if values > MAX_VALUES {
            out.errors.push(SyntaxError { span: file.span(range), message: TOO_MANY.into() });
            break;
        }
        if let Some(name) = header(line).filter(|_| form != Form::Variables) {
            top.extend(open.take().map(|s| s.finish(file)));
            let from = start + 1 + (name.len() - name.trim_start().len());
            open =
                Some(Section { name: name.trim().into(), range: from..from + name.trim().len(), entries: Vec::new() });
            continue;
        }
        match key_and_value(line, start, form) {
            Some((key, value)) => {
                let entry = entry(file, key, value, form);
                open.as_mut().map_or(&mut top, |s| &mut s.entries).push(entry);
            }
            // A line that only goes on with the value before it, or names a directive, says nothing here.
            None if form != Form::Words || line.starts_with('@') => {}
            None if out.errors.len() < MAX_ERRORS => {
                out.errors.push(SyntaxError { span: file.span(range), message: "no key with a value".into() });
            }
            None => {}
        }
    }
    top.extend(open.take().map(|s| s.finish(file)));
    out.documents.push(Arc::new(Node::new(file.span(0..file.text.len()), Value::Map(top))));
    out
}

struct Section {
    name: Arc<str>,
    range: Range<usize>,
    entries: Vec<Entry>,
}

impl Section {
    fn finish(self, file: &SourceFile) -> Entry {
        let key_span = file.span(self.range);
        let span = match (self.entries.first(), self.entries.last()) {
            (Some(first), Some(last)) => first.key_span.to(last.value.span),
            _ => key_span,
        };
        Entry { key: self.name, key_span, value: Arc::new(Node::new(span, Value::Map(self.entries))) }
    }
}

/// The name of a section.
fn header(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.split_once(']').map(|(name, _)| name)
}

/// The places of a key and its value in a line that starts at `start`.
fn key_and_value(line: &str, start: usize, form: Form) -> Option<(Range<usize>, Range<usize>)> {
    let skip = match line.strip_prefix("export ") {
        Some(rest) if form == Form::Variables => line.len() - rest.trim_start().len(),
        _ => 0,
    };
    let rest = line.get(skip..)?;
    let end = match form {
        Form::Ini => rest.find(['=', ':'])?,
        Form::Variables => rest.find('=')?,
        Form::Words => rest.find(char::is_whitespace)?,
    };
    let key = rest.get(..end)?.trim_end();
    let value = rest.get(end + 1..)?;
    let from = start + skip + end + 1 + (value.len() - value.trim_start().len());
    let value = without_comment(value.trim(), form);
    let is_key = !key.is_empty() && !key.starts_with('@');
    is_key.then(|| (start + skip..start + skip + key.len(), from..from + value.len()))
}

/// A comment behind a value has a blank before it.
fn without_comment(value: &str, form: Form) -> &str {
    if form == Form::Words || value.starts_with(['"', '\'']) {
        return value;
    }
    let marks: &[&str] = if form == Form::Ini { &[" ;", " #", "\t;", "\t#"] } else { &[" #", "\t#"] };
    let end = marks.iter().filter_map(|mark| value.find(mark)).min().unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end()
}

fn entry(file: &SourceFile, key: Range<usize>, value: Range<usize>, form: Form) -> Entry {
    let text = |range: &Range<usize>| file.text.get(range.clone()).unwrap_or_default();
    let raw = text(&value);
    let quote = raw.chars().next().filter(|q| matches!(q, '"' | '\''));
    let close = quote.and_then(|q| raw.get(1..)?.find(q)).filter(|_| form == Form::Variables);
    let (inner, plain) = match close {
        Some(end) => (value.start + 1..value.start + 1 + end, false),
        None => (value.clone(), true),
    };
    let whole = if plain { inner.clone() } else { value.start..inner.end + 1 };
    let scalar = Scalar { text: text(&inner).into(), plain, verbatim: u32::try_from(inner.start).ok() };
    Entry {
        key: text(&key).into(),
        key_span: file.span(key),
        value: Arc::new(Node::new(file.span(whole), Value::Scalar(scalar))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str, form: Form) -> Parsed {
        parse(&SourceFile { id: FileId(0), path: "a.ini".into(), text: text.into() }, form)
    }

    #[test]
    fn ini() {
        let parsed =
            read("top=1\n; a comment\n[profile x]\nmax_attempts = 5 ; five\nretry_mode: standard\n[a]\n", Form::Ini);
        let root = &parsed.documents[0];
        assert_eq!(root.get("top").unwrap().as_int(), Some(1));
        assert_eq!(root.at(&["profile x", "max_attempts"]).unwrap().as_int(), Some(5));
        assert_eq!(root.at(&["profile x", "retry_mode"]).unwrap().as_str(), Some("standard"));
        assert_eq!((parsed.comments.len(), parsed.errors.len()), (1, 0));
        let span = root.at(&["profile x", "max_attempts"]).unwrap().span;
        assert_eq!((span.start, span.end), (45, 46));
    }

    #[test]
    fn words() {
        let parsed = read(
            "[OUTPUT]\n    Name  es\n    Retry_Limit False\n@INCLUDE x.conf\n[OUTPUT]\n    Name loki\n",
            Form::Words,
        );
        let root = &parsed.documents[0];
        assert_eq!(root.entries().len(), 2);
        assert_eq!(root.entries()[0].value.get("Retry_Limit").unwrap().as_str(), Some("False"));
        assert_eq!(parsed.errors, []);
    }

    #[test]
    fn variables() {
        let parsed = read("# x\nA=1\nexport B='two words' # y\nC=\"a=b\"\nD=x y # z\nno\n", Form::Variables);
        let root = &parsed.documents[0];
        let of = |key| root.get(key).unwrap().as_str();
        assert_eq!((of("A"), of("B"), of("C"), of("D")), (Some("1"), Some("two words"), Some("a=b"), Some("x y")));
        assert_eq!(parsed.errors, []);
    }

    #[test]
    fn nothing_panics() {
        let text = "[a\n=\n[]\nx=\"\nexport \nexport =\né=é ;é\n'\n\u{feff}k=v\n[é]é\n";
        for form in [Form::Ini, Form::Words, Form::Variables] {
            for end in 0..=text.len() {
                if let Some(cut) = text.get(..end) {
                    read(cut, form);
                }
            }
        }
    }
}
