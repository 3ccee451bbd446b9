//! Skipper's route files to the tree: each route a key, with its predicates, filters and backends.
//!
//! `id: Path("/a") && Method("GET") -> filter("x") -> <roundRobin, "http://a", "http://b">;`

use std::ops::Range;
use std::sync::Arc;

use super::tree::{Entry, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_MANY, Value};
use crate::source::SourceFile;

/// Reads a file of routes. What stands before an error is kept.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut reader = Reader { file, text: &file.text, at: 0, values: 0 };
    let mut routes = Vec::new();
    let mut out = Parsed::default();
    loop {
        reader.blank();
        if reader.rest().is_empty() {
            break;
        }
        match reader.route() {
            Ok(route) => routes.push(route),
            Err(error) => {
                out.errors.push(error);
                break;
            }
        }
    }
    if let (Some(first), Some(last)) = (routes.first(), routes.last()) {
        let span = file.span(first.key_span.range().start..last.value.span.range().end);
        out.documents.push(Arc::new(Node::new(span, Value::Map(routes))));
    }
    out
}

struct Reader<'f> {
    file: &'f SourceFile,
    text: &'f str,
    at: usize,
    values: usize,
}

type Read<T> = Result<T, SyntaxError>;

impl<'f> Reader<'f> {
    /// One route, its semicolon included; the last one needs none.
    fn route(&mut self) -> Read<Entry> {
        let start = self.at;
        let id = self.take(is_word);
        let key = start..self.at;
        self.blank();
        let named = !id.is_empty() && self.rest().starts_with(':');
        if named {
            self.at += 1;
        } else {
            self.at = start;
        }
        let from = self.at;
        let mut parts: Vec<Vec<Entry>> = vec![Vec::new()];
        let (mut backends, mut kind) = (Vec::new(), None);
        loop {
            self.blank();
            let rest = self.rest();
            if rest.is_empty() || rest.starts_with(';') {
                break;
            } else if rest.starts_with("->") {
                self.at += 2;
                parts.push(Vec::new());
            } else if rest.starts_with("&&") {
                self.at += 2;
            } else if rest.starts_with(['*', '<', ',', '>']) {
                self.at += 1;
            } else if rest.starts_with(['"', '`']) {
                backends.push(Arc::new(self.text()?));
            } else {
                let (name, range) = self.word()?;
                self.blank();
                if self.rest().starts_with('(') {
                    let list = self.arguments()?;
                    let call = Entry { key: name.into(), key_span: self.file.span(range), value: Arc::new(list) };
                    parts.last_mut().into_iter().for_each(|part| part.push(call.clone()));
                } else {
                    kind = Some(Arc::new(self.scalar(name, range, true)));
                }
            }
        }
        let end = self.at;
        self.at += usize::from(self.rest().starts_with(';'));
        let map = |entries: Vec<Entry>| Arc::new(Node::new(self.file.span(from..end), Value::Map(entries)));
        let mut parts = parts.into_iter();
        let predicates = parts.next().unwrap_or_default();
        let fields = [
            ("predicates", Some(map(predicates))),
            ("filters", Some(map(parts.flatten().collect()))),
            ("backends", Some(Arc::new(Node::new(self.file.span(from..end), Value::List(backends))))),
            ("kind", kind),
        ];
        let key_span = self.file.span(if named { key } else { from..end });
        let fields =
            fields.into_iter().filter_map(|(key, value)| Some(Entry { key: key.into(), key_span, value: value? }));
        Ok(Entry { key: if named { id.into() } else { "".into() }, key_span, value: map(fields.collect()) })
    }

    /// `("a", 2, /regex/)`
    fn arguments(&mut self) -> Read<Node> {
        let start = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank();
            match self.rest().chars().next() {
                None => return Err(self.error("the arguments are not closed")),
                Some(')') => {
                    self.at += 1;
                    return Ok(Node::new(self.file.span(start..self.at), Value::List(items)));
                }
                Some(',') => self.at += 1,
                Some('"' | '`' | '/') => items.push(Arc::new(self.text()?)),
                Some(_) => {
                    let (word, range) = self.word()?;
                    items.push(Arc::new(self.scalar(word, range, true)));
                }
            }
        }
    }

    /// A text between two marks of one kind, of which a backslash hides the second.
    fn text(&mut self) -> Read<Node> {
        let start = self.at;
        let rest = self.rest();
        let mark = rest.chars().next().unwrap_or('"');
        let mut hidden = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == mark && !hidden;
            hidden = *c == '\\' && !hidden && mark != '`';
            ends
        });
        let Some((end, _)) = end else { return Err(self.error("the text is not closed")) };
        self.at = start + end + 1;
        let inner = start + 1..start + end;
        let mut node = self.scalar(self.text.get(inner.clone()).unwrap_or_default(), inner, false);
        node.span = self.file.span(start..self.at);
        self.counted()?;
        Ok(node)
    }

    fn word(&mut self) -> Read<(&'f str, Range<usize>)> {
        let start = self.at;
        let word = self.take(is_word);
        self.counted()?;
        if word.is_empty() { Err(self.error("a name is expected here")) } else { Ok((word, start..self.at)) }
    }

    fn counted(&mut self) -> Read<()> {
        self.values += 1;
        if self.values > MAX_VALUES { Err(self.error(TOO_MANY)) } else { Ok(()) }
    }

    fn scalar(&self, text: &str, range: Range<usize>, plain: bool) -> Node {
        let verbatim = u32::try_from(range.start).ok();
        Node::new(self.file.span(range), Value::Scalar(Scalar { text: text.into(), plain, verbatim }))
    }

    /// Blanks and comments.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if !rest.starts_with("//") {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn take(&mut self, test: fn(char) -> bool) -> &'f str {
        let rest = self.rest();
        let end = rest.find(|c| !test(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn rest(&self) -> &'f str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, message: &str) -> SyntaxError {
        let message = if message == TOO_MANY { message.to_string() } else { format!("not valid eskip: {message}") };
        SyntaxError { span: self.file.span(self.at..self.at), message }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str) -> Parsed {
        parse(&SourceFile { id: FileId(0), path: "a.eskip".into(), text: text.into() })
    }

    #[test]
    fn routes() {
        let text = "// all\na: PathSubtree(\"/a\") && Method(\"GET\")\n -> backendTimeout(\"2s\") -> <roundRobin, \"http://a\", \"http://b\">;\nb: * -> <shunt>; c: PathRegexp(/^\\/c;$/) -> \"https://c\"";
        let parsed = read(text);
        assert_eq!(parsed.errors, []);
        let root = &parsed.documents[0];
        let keys: Vec<&str> = root.entries().iter().map(|e| &*e.key).collect();
        assert_eq!(keys, ["a", "b", "c"]);
        assert_eq!(root.at(&["a", "backends"]).unwrap().items().len(), 2);
        assert_eq!(root.at(&["a", "kind"]).and_then(Node::as_str), Some("roundRobin"));
        assert_eq!(root.at(&["a", "filters", "backendTimeout"]).unwrap().items()[0].as_str(), Some("2s"));
        assert_eq!(root.at(&["a", "predicates"]).unwrap().entries().len(), 2);
        assert_eq!(root.at(&["b", "kind"]).and_then(Node::as_str), Some("shunt"));
        assert_eq!(root.at(&["c", "backends"]).unwrap().items()[0].as_str(), Some("https://c"));
    }

    #[test]
    fn what_is_broken_is_told_and_ends() {
        for text in ["a: \"x", "a: f(", "a: ) -> b", "=", "a: f(=)", &"->".repeat(100_000), &"a(".repeat(100_000)] {
            let parsed = read(text);
            assert!(parsed.errors.len() <= 1, "{:?}", parsed.errors);
        }
        assert_eq!(read("").documents, []);
    }
}
