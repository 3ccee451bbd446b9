//! Blocks of attributes to the tree: Grafana Alloy's files and Logstash's pipelines.
//!
//! `key = value` and `key => value` are entries. A block, as `loki.write "main" { … }`, is an entry whose value is the
//! list of its labels, and of the mapping of what is in it, which comes last.

use std::ops::Range;
use std::sync::Arc;

use super::tree::{
    Comment, Entry, MAX_DEPTH, MAX_ERRORS, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value,
};
use crate::source::SourceFile;

/// Reads a file of blocks. What is neither an attribute nor a block is passed over.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut reader = Reader { file, at: 0, values: 0, out: Parsed::default() };
    let mut entries = Vec::new();
    while let Some(more) = reader.body(0) {
        entries.extend(more);
        // A brace too many.
        if !reader.take("}") {
            break;
        }
    }
    let mut out = reader.out;
    out.documents.push(Arc::new(Node::new(file.span(0..file.text.len()), Value::Map(entries))));
    out
}

struct Reader<'a> {
    file: &'a SourceFile,
    at: usize,
    values: usize,
    out: Parsed,
}

/// A word or a text in quotes.
struct Word {
    range: Range<usize>,
    inner: Range<usize>,
    quoted: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.file.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over blanks, commas and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == ';').len();
            let start = self.at + blank;
            let after = rest.get(blank..).unwrap_or_default();
            let length = if after.starts_with('#') || after.starts_with("//") {
                after.find('\n').unwrap_or(after.len())
            } else if after.starts_with("/*") {
                after.find("*/").map_or(after.len(), |end| end + 2)
            } else {
                0
            };
            if length > 0 {
                let text = after.get(..length).unwrap_or_default().trim_start_matches(['#', '/', '*']).into();
                let span = self.file.span(start..start + length);
                self.out.comments.push(Comment { span, text });
            }
            self.at = start + length;
            if length == 0 {
                return;
            }
        }
    }

    fn take(&mut self, mark: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    fn word(&mut self) -> Option<Word> {
        self.skip();
        let start = self.at;
        let rest = self.rest();
        let first = rest.chars().next()?;
        if matches!(first, '"' | '\'' | '`') {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == first && !escaped;
                escaped = *c == '\\' && !escaped && first != '`';
                ends
            });
            let end = end.map_or(rest.len(), |(at, _)| at);
            self.at = (start + end + 1).min(self.file.text.len());
            return Some(Word { range: start..self.at, inner: start + 1..(start + end).max(start + 1), quoted: true });
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '@' | ':' | '/' | '%' | '$' | '+');
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        self.at = start + end;
        Some(Word { range: start..self.at, inner: start..self.at, quoted: false })
    }

    /// The entries up to a closing brace or the end. `None` at the end of the file.
    fn body(&mut self, depth: usize) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        if self.at >= self.file.text.len() {
            return None;
        }
        if depth > MAX_DEPTH {
            self.error(TOO_DEEP);
            self.at = self.file.text.len();
            return Some(entries);
        }
        loop {
            self.skip();
            let before = self.at;
            if self.rest().is_empty() || self.rest().starts_with('}') || self.values > MAX_VALUES {
                return Some(entries);
            }
            match self.word() {
                Some(key) => entries.extend(self.statement(&key, depth)),
                // A sign that belongs to an expression.
                None => self.at += self.rest().chars().next().map_or(0, char::len_utf8),
            }
            if self.at == before {
                return Some(entries);
            }
        }
    }

    fn statement(&mut self, key: &Word, depth: usize) -> Option<Entry> {
        self.values += 1;
        if self.values > MAX_VALUES {
            self.error(TOO_MANY);
            self.at = self.file.text.len();
            return None;
        }
        let text: Arc<str> = self.file.text.get(key.inner.clone()).unwrap_or_default().into();
        let key_span = self.file.span(key.range.clone());
        let entry = |value: Node| Entry { key: text.clone(), key_span, value: Arc::new(value) };
        if self.take("=>") || (!self.rest().starts_with("==") && self.take("=")) {
            return self.value(depth + 1).map(entry);
        }
        // The labels of a block.
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.take("{") {
                let start = self.at - 1;
                let inner = self.body(depth + 1).unwrap_or_default();
                self.take("}");
                items.push(Arc::new(Node::new(self.file.span(start..self.at), Value::Map(inner))));
                let span = self.file.span(key.range.start..self.at);
                return Some(entry(Node::new(span, Value::List(items))));
            }
            let back = self.at;
            match self.word() {
                Some(word) if word.quoted && items.len() < MAX_LABELS => items.push(Arc::new(self.scalar(&word))),
                _ => {
                    // No block: what follows is looked at for itself.
                    self.at = back;
                    return None;
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.skip();
        let start = self.at;
        if depth > MAX_DEPTH {
            self.error(TOO_DEEP);
            self.at = self.file.text.len();
            return None;
        }
        if self.take("[") {
            let mut items = Vec::new();
            while !self.take("]") {
                let before = self.at;
                if let Some(item) = self.value(depth + 1) {
                    items.push(Arc::new(item));
                }
                if self.at == before || self.rest().is_empty() {
                    break;
                }
            }
            return Some(Node::new(self.file.span(start..self.at), Value::List(items)));
        }
        if self.take("{") {
            let inner = self.body(depth + 1).unwrap_or_default();
            self.take("}");
            return Some(Node::new(self.file.span(start..self.at), Value::Map(inner)));
        }
        self.values += 1;
        let word = self.word()?;
        Some(self.scalar(&word))
    }

    fn scalar(&self, word: &Word) -> Node {
        let text = self.file.text.get(word.inner.clone()).unwrap_or_default();
        let verbatim = u32::try_from(word.inner.start).ok().filter(|_| !text.contains('\\'));
        let scalar = Scalar { text: text.into(), plain: !word.quoted, verbatim };
        Node::new(self.file.span(word.range.clone()), Value::Scalar(scalar))
    }

    fn error(&mut self, message: &str) {
        if self.out.errors.len() < MAX_ERRORS {
            let span = self.file.span(self.at..self.at);
            self.out.errors.push(SyntaxError { span, message: message.into() });
        }
    }
}

/// Blocks have one or two labels.
const MAX_LABELS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str) -> Parsed {
        parse(&SourceFile { id: FileId(0), path: "a.alloy".into(), text: text.into() })
    }

    fn block<'n>(node: &'n Node, key: &str) -> &'n Node {
        node.get(key).unwrap().items().last().unwrap()
    }

    #[test]
    fn alloy() {
        let text = "// send it\nloki.write \"main\" {\n  endpoint {\n    url = \"http://loki:3100/push\"\n    \
                    max_backoff_retries = 0\n    x = [a.b.output, c()]\n  }\n}\n";
        let parsed = read(text);
        let endpoint = block(block(&parsed.documents[0], "loki.write"), "endpoint");
        assert_eq!(endpoint.get("url").unwrap().as_str(), Some("http://loki:3100/push"));
        assert_eq!(endpoint.get("max_backoff_retries").unwrap().as_int(), Some(0));
        assert_eq!(parsed.documents[0].get("loki.write").unwrap().items()[0].as_str(), Some("main"));
        assert_eq!((parsed.errors.len(), parsed.comments.len()), (0, 1));
    }

    #[test]
    fn logstash() {
        let text = "output {\n  if [type] == \"a\" {\n    elasticsearch { hosts => [\"http://es:9200\"] \
                    retry_max_interval => 64 }\n  } else { stdout { codec => rubydebug } }\n}\n";
        let parsed = read(text);
        let output = block(&parsed.documents[0], "output");
        let found = output.walk().find_map(|n| n.get("elasticsearch")).unwrap();
        let body = found.items().last().unwrap();
        assert_eq!(body.get("retry_max_interval").unwrap().as_int(), Some(64));
        assert_eq!(body.get("hosts").unwrap().items()[0].as_str(), Some("http://es:9200"));
    }

    #[test]
    fn nothing_panics_or_goes_on_for_ever() {
        let text = "a \"b\" { c = [1, {d = \"é\"}] }}} e => 'x\\'' /* é */ if [a] == `b` { ( ) = = } [ {";
        for end in 0..=text.len() {
            if let Some(cut) = text.get(..end) {
                read(cut);
            }
        }
        read(&"a {".repeat(10_000));
        read(&"a = [".repeat(10_000));
    }
}
