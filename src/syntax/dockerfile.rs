//! Dockerfiles to the tree: an instruction is a key, in lower case, and its words are a list. An instruction that stands
//! there twice is two entries.

use std::sync::Arc;

use super::tree::{Entry, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_MANY, Value};
use crate::source::{SourceFile, Span};

/// Reads a Dockerfile. Quotes are taken off the words; a line that ends with a backslash goes on in the next.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut values = 0;
    for line in instructions(&file.text) {
        let Some((name, words)) = line.split_first() else { continue };
        values += line.len();
        if values > MAX_VALUES {
            out.errors.push(SyntaxError { span: span(file, name), message: TOO_MANY.to_owned() });
            break;
        }
        let all = words.iter().fold(span(file, name), |all, word| all.to(span(file, word)));
        let items = words.iter().map(|word| Arc::new(Node::new(span(file, word), scalar(word)))).collect();
        entries.push(Entry {
            key: Arc::from(name.text.to_lowercase()),
            key_span: span(file, name),
            value: Arc::new(Node::new(all, Value::List(items))),
        });
    }
    let whole = file.span(0..file.text.len());
    out.documents.push(Arc::new(Node::new(whole, Value::Map(entries))));
    out
}

/// A word of an instruction.
struct Word {
    text: String,
    /// With its quotes.
    start: usize,
    end: usize,
    quoted: bool,
}

fn span(file: &SourceFile, word: &Word) -> Span {
    file.span(word.start..word.end)
}

fn scalar(word: &Word) -> Value {
    let verbatim = (word.end - word.start == word.text.len()).then(|| u32::try_from(word.start).ok()).flatten();
    Value::Scalar(Scalar { text: Arc::from(word.text.as_str()), plain: !word.quoted, verbatim })
}

/// The words of each instruction, comments left out.
fn instructions(text: &str) -> Vec<Vec<Word>> {
    let mut all = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let is_comment = content.trim_start().starts_with('#');
        if !is_comment {
            let (content, goes_on) = match content.strip_suffix('\\') {
                Some(content) => (content, true),
                None => (content, false),
            };
            split(content, start, &mut words);
            // An empty line inside an instruction does not end it.
            if !goes_on && (!content.trim().is_empty() || words.is_empty()) {
                all.push(std::mem::take(&mut words));
            }
        }
        start += line.len();
    }
    all.push(words);
    all.retain(|words| !words.is_empty());
    all
}

/// Words between blanks; quotes keep blanks together.
fn split(line: &str, offset: usize, words: &mut Vec<Word>) {
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let here = word.get_or_insert_with(|| Word {
            text: String::new(),
            start: offset + at,
            end: offset + at,
            quoted: false,
        });
        here.end = offset + at + c.len_utf8();
        match c {
            _ if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                here.quoted = true;
            }
            '\\' if quote != Some('\'') => {
                if let Some((at, next)) = chars.next() {
                    here.text.push(next);
                    here.end = offset + at + next.len_utf8();
                }
            }
            c => here.text.push(c),
        }
    }
    words.extend(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn read(text: &str) -> Vec<(String, Vec<String>)> {
        let file = SourceFile { id: FileId(0), path: Arc::from("Dockerfile"), text: Arc::from(text) };
        let parsed = parse(&file);
        let words = |e: &Entry| e.value.items().iter().filter_map(|n| n.scalar()).map(|s| s.text.to_string()).collect();
        parsed.documents.iter().flat_map(|d| d.entries()).map(|e| (e.key.to_string(), words(e))).collect()
    }

    #[test]
    fn instructions_and_their_words() {
        let text = "FROM a AS b\n# none\nenv A=1 \\\n  # none here\n\n  B=\"two words\"  C=d\\ e\r\nCMD [\"/x\", '-c']";
        let words = |all: &[&str]| all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            read(text),
            [
                ("from".to_owned(), words(&["a", "AS", "b"])),
                ("env".to_owned(), words(&["A=1", "B=two words", "C=d e"])),
                ("cmd".to_owned(), words(&["[/x,", "-c]"])),
            ]
        );
    }

    #[test]
    fn places_are_those_of_the_words() {
        let file =
            SourceFile { id: FileId(0), path: Arc::from("Dockerfile"), text: Arc::from("ENV A=1 \\\n B=\"é\"") };
        let parsed = parse(&file);
        let env = &parsed.documents[0].entries()[0];
        let texts: Vec<&str> = env.value.items().iter().map(|n| file.text.get(n.span.range()).unwrap()).collect();
        assert_eq!(texts, ["A=1", "B=\"é\""]);
    }

    #[test]
    fn anything_is_read_somehow() {
        for text in ["", "\\", "\\\n\\", "ENV \"open", "ENV a\\", "\u{feff}FROM x", "#", "é=\\é"] {
            let _ = read(text);
        }
    }
}
