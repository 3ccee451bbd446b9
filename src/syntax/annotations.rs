//! What annotations say in Java and Kotlin sources, as a tree: nothing else of the code is read.
//!
//! The document lists them under `annotations`: each a mapping of its members, with its name under `@`, the class and
//! the method that it stands before, and all under the package and the imports of the file.

use std::ops::Range;
use std::sync::Arc;

use super::tree::{Entry, MAX_VALUES, Node, Parsed, Scalar, Value};
use crate::source::SourceFile;

/// Reads a source file. What is no annotation is passed over.
pub fn parse(file: &SourceFile) -> Parsed {
    let words = words(&file.text);
    let mut reader = Reader { file, words: &words, at: 0, class: None, found: Vec::new(), imports: Vec::new() };
    reader.read();
    let list = |items: Vec<Node>| {
        Node::new(file.span(0..file.text.len()), Value::List(items.into_iter().map(Arc::new).collect()))
    };
    let entry = |key: &str, value: Node| Entry { key: key.into(), key_span: file.span(0..0), value: Arc::new(value) };
    let entries = vec![entry("imports", list(reader.imports)), entry("annotations", list(reader.found))];
    let mut out = Parsed::default();
    out.documents.push(Arc::new(Node::new(file.span(0..file.text.len()), Value::Map(entries))));
    out
}

/// A word, a number with its dots, a text in quotes, or one sign.
#[derive(Debug, Clone)]
struct Word {
    range: Range<usize>,
    quoted: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        if out.len() > MAX_VALUES {
            break;
        }
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if matches!(first, '"' | '\'') {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == first && !escaped || *c == '\n';
                escaped = *c == '\\' && !escaped;
                ends
            });
            let length = end.map_or(rest.len(), |(end, _)| end + 1);
            out.push(Word { range: at..at + length, quoted: true });
            at += length;
        } else {
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
            let length = rest.find(|c| !is_word(c)).filter(|n| *n > 0).unwrap_or(if is_word(first) {
                rest.len()
            } else {
                first.len_utf8()
            });
            out.push(Word { range: at..at + length, quoted: false });
            at += length;
        }
    }
    out
}

struct Reader<'a> {
    file: &'a SourceFile,
    words: &'a [Word],
    at: usize,
    class: Option<Range<usize>>,
    found: Vec<Node>,
    imports: Vec<Node>,
}

/// What an annotation stands before comes within so many words.
const MAX_AHEAD: usize = 2_000;

/// Annotations inside annotations go no deeper.
const MAX_NESTED: usize = 8;

impl Reader<'_> {
    fn text(&self, at: usize) -> &str {
        self.words.get(at).and_then(|w| self.file.text.get(w.range.clone())).unwrap_or_default()
    }

    fn read(&mut self) {
        while self.at < self.words.len() {
            match self.text(self.at) {
                "import" => {
                    let next = if self.text(self.at + 1) == "static" { self.at + 2 } else { self.at + 1 };
                    self.imports.extend(self.scalar(next..next + 1));
                    self.at = next + 1;
                }
                "class" | "interface" | "object" => {
                    self.class = self.words.get(self.at + 1).map(|w| w.range.clone());
                    self.at += 1;
                }
                "@" if self.text(self.at + 1) != "interface" => self.annotation(),
                _ => self.at += 1,
            }
        }
    }

    fn annotation(&mut self) {
        let Some(mut entries) = self.members(0) else {
            self.at += 1;
            return;
        };
        let target = self.target();
        let named = |key: &str, range: Option<Range<usize>>| {
            let range = range?;
            let text = self.file.text.get(range.clone())?;
            let scalar = Scalar { text: text.into(), plain: true, verbatim: u32::try_from(range.start).ok() };
            let span = self.file.span(range);
            Some(Entry { key: key.into(), key_span: span, value: Arc::new(Node::new(span, Value::Scalar(scalar))) })
        };
        let (class, method) = target;
        entries.extend(named("@class", class));
        entries.extend(named("@method", method));
        let start = entries.first().map_or(0, |e| e.key_span.start as usize);
        let end = self.words.get(self.at.saturating_sub(1)).map_or(start, |w| w.range.end);
        self.found.push(Node::new(self.file.span(start..end.max(start)), Value::Map(entries)));
    }

    /// The name and the members of the annotation that begins here; the reader stands behind it afterwards.
    fn members(&mut self, depth: usize) -> Option<Vec<Entry>> {
        let start = self.words.get(self.at)?.range.start;
        let name = self.words.get(self.at + 1)?.range.clone();
        self.at += 2;
        let text = self.file.text.get(name.clone()).unwrap_or_default();
        let short = text.rsplit('.').next().unwrap_or(text);
        let scalar = Scalar { text: short.into(), plain: true, verbatim: None };
        let span = self.file.span(start..name.end);
        let mut entries =
            vec![Entry { key: "@".into(), key_span: span, value: Arc::new(Node::new(span, Value::Scalar(scalar))) }];
        if self.text(self.at) != "(" {
            return Some(entries);
        }
        self.at += 1;
        while self.at < self.words.len() && self.text(self.at) != ")" {
            let before = self.at;
            let key = self.at;
            let named = self.text(self.at + 1) == "=";
            if named {
                self.at += 2;
            }
            if let Some(value) = self.value(depth) {
                let word = self.words.get(key)?;
                let (key, key_span) = match named {
                    true => {
                        (self.file.text.get(word.range.clone()).unwrap_or_default(), self.file.span(word.range.clone()))
                    }
                    false => ("value", value.span),
                };
                entries.push(Entry { key: key.into(), key_span, value: Arc::new(value) });
            }
            if self.text(self.at) == "," {
                self.at += 1;
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.at += 1;
        Some(entries)
    }

    /// A value: a list, an annotation, or an expression up to the next comma.
    fn value(&mut self, depth: usize) -> Option<Node> {
        let start = self.words.get(self.at)?.range.start;
        match self.text(self.at) {
            "{" | "[" if depth < MAX_NESTED => {
                self.at += 1;
                let mut items = Vec::new();
                while self.at < self.words.len() && !matches!(self.text(self.at), "}" | "]") {
                    let before = self.at;
                    items.extend(self.value(depth + 1));
                    if self.text(self.at) == "," {
                        self.at += 1;
                    }
                    if self.at == before {
                        break;
                    }
                }
                self.at += 1;
                let end = self.words.get(self.at.saturating_sub(1)).map_or(start, |w| w.range.end);
                let items = items.into_iter().map(Arc::new).collect();
                Some(Node::new(self.file.span(start..end.max(start)), Value::List(items)))
            }
            "@" if depth < MAX_NESTED => {
                let entries = self.members(depth + 1)?;
                let end = self.words.get(self.at.saturating_sub(1)).map_or(start, |w| w.range.end);
                Some(Node::new(self.file.span(start..end.max(start)), Value::Map(entries)))
            }
            _ => {
                let first = self.at;
                let mut open = 0usize;
                while self.at < self.words.len() {
                    match self.text(self.at) {
                        "(" => open += 1,
                        ")" if open > 0 => open -= 1,
                        ")" | "}" | "]" | "," if open == 0 => break,
                        _ => {}
                    }
                    self.at += 1;
                }
                self.scalar(first..self.at)
            }
        }
    }

    /// The words as one scalar: a text without its quotes, a number without its ending, a class without `.class`.
    fn scalar(&self, words: Range<usize>) -> Option<Node> {
        let first = self.words.get(words.start)?;
        let last = self.words.get(words.end.checked_sub(1)?).filter(|_| words.end > words.start)?;
        let whole = first.range.start..last.range.end;
        let text = self.file.text.get(whole.clone())?;
        let quoted = first.quoted && words.len() == 1 && text.len() > 1;
        let inner = if quoted { text.get(1..text.len() - 1)? } else { text };
        let plain = inner.strip_suffix(".class").or_else(|| inner.strip_suffix("::class")).unwrap_or(inner);
        let is_number = plain.starts_with(|c: char| c.is_ascii_digit());
        let text = match is_number && !quoted {
            true => plain.trim_end_matches(['L', 'l', 'd', 'f']).replace('_', ""),
            false => plain.to_owned(),
        };
        let at = whole.start + usize::from(quoted);
        let verbatim = u32::try_from(at).ok().filter(|_| text == inner && !inner.contains('\\'));
        let scalar = Scalar { text: text.into(), plain: !quoted, verbatim };
        Some(Node::new(self.file.span(whole), Value::Scalar(scalar)))
    }

    /// What the annotation stands before: the class, and the method if it is one.
    fn target(&self) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let mut at = self.at;
        let mut depth = 0usize;
        let end = self.words.len().min(self.at + MAX_AHEAD);
        while at < end {
            match self.text(at) {
                // Annotations between this one and what it stands before.
                "@" => {
                    at += 2;
                    if self.text(at) != "(" {
                        continue;
                    }
                    depth += 1;
                }
                "(" if depth > 0 => depth += 1,
                ")" if depth > 0 => depth -= 1,
                "class" | "interface" | "object" if depth == 0 => {
                    return (self.words.get(at + 1).map(|w| w.range.clone()), None);
                }
                "(" => {
                    let name = at.checked_sub(1).and_then(|n| self.words.get(n)).map(|w| w.range.clone());
                    return (self.class.clone(), name);
                }
                ";" | "{" | "}" | "=" if depth == 0 => return (self.class.clone(), None),
                _ => {}
            }
            at += 1;
        }
        (self.class.clone(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str) -> Parsed {
        parse(&SourceFile { id: FileId(0), path: "A.java".into(), text: text.into() })
    }

    #[test]
    fn members_and_what_they_stand_before() {
        let text = "package a;\nimport org.x.Retryable;\n// @Not(1)\npublic class Quotes {\n  @Retryable(retryFor = {IOException.class, \
                    java.util.X.class}, maxAttempts = 1_0, backoff = @Backoff(delay = 400L, multiplier = 2.0))\n  \
                    @Deprecated\n  public Quote latest(String a) { return call(\"@No\"); }\n}\n";
        let parsed = read(text);
        let root = &parsed.documents[0];
        assert_eq!(root.get("imports").unwrap().items()[0].as_str(), Some("org.x.Retryable"));
        let all = root.get("annotations").unwrap().items();
        assert_eq!(all.len(), 2);
        let retry = &all[0];
        let text = |key: &str| retry.get(key).unwrap().as_str();
        assert_eq!((text("@"), text("@class"), text("@method")), (Some("Retryable"), Some("Quotes"), Some("latest")));
        assert_eq!(retry.get("maxAttempts").unwrap().as_int(), Some(10));
        assert_eq!(retry.get("retryFor").unwrap().items()[1].as_str(), Some("java.util.X"));
        assert_eq!(retry.at(&["backoff", "delay"]).unwrap().as_int(), Some(400));
    }

    #[test]
    fn on_a_class_and_with_texts() {
        let parsed = read("@Client(\"pets\") @Retryable(attempts = \"${pet.tries:5}\") interface Pets { Pet get(); }");
        let all = parsed.documents[0].get("annotations").unwrap().items();
        assert_eq!(all[0].get("value").unwrap().as_str(), Some("pets"));
        assert_eq!(all[1].get("attempts").unwrap().as_str(), Some("${pet.tries:5}"));
        assert_eq!(all[1].get("@class").unwrap().as_str(), Some("Pets"));
        assert!(all[1].get("@method").is_none());
    }

    #[test]
    fn nothing_panics() {
        let text = "@A(x = {\"é, @B(), ), y = 'z') class É { @ @( @A( int f(); }} import ;";
        for end in 0..=text.len() {
            if let Some(cut) = text.get(..end) {
                read(cut);
            }
        }
        read(&"@A(x = @A(".repeat(5_000));
        read(&"@A({".repeat(5_000));
    }
}
