//! haproxy.cfg to the tree: one directive a line, sections as blocks. Quotes and escapes are those of haproxy's
//! `parse_line` (haproxy/haproxy src/tools.c).

use super::directive::{Blocks, Word};
use super::tree::{Comment, Parsed};
use crate::source::SourceFile;

/// The words that open a section.
const SECTIONS: [&str; 23] = [
    "acme",
    "backend",
    "cache",
    "crt-store",
    "defaults",
    "dynamic-update",
    "fcgi-app",
    "frontend",
    "global",
    "http-errors",
    "listen",
    "log-forward",
    "log-profile",
    "mailers",
    "namespace_list",
    "peers",
    "program",
    "resolvers",
    "ring",
    "traces",
    "udp-forward",
    "userlist",
    "healthcheck",
];

/// Of these one at least is in a file of HAProxy's; `setup.cfg` and the like have none.
const SIGNS: [&str; 4] = ["backend", "defaults", "frontend", "listen"];

/// Reads a file; one without a section of HAProxy's gives nothing, and no error.
pub fn parse(file: &SourceFile) -> Parsed {
    if !is_haproxy(&file.text) {
        return Parsed::default();
    }
    read(file, true)
}

/// Reads the lines of one section: a snippet that another file puts into it.
pub fn parse_lines(file: &SourceFile) -> Parsed {
    read(file, false)
}

/// Whether a line opens a section that HAProxy and hardly anything else has.
pub(super) fn is_haproxy(text: &str) -> bool {
    let first = |line: &str| line.split_ascii_whitespace().next().map(str::to_owned);
    let mut words = text.lines().filter(|l| SIGNS.iter().any(|s| l.contains(s))).filter_map(first);
    words.any(|word| SIGNS.contains(&word.as_str()))
}

fn read(file: &SourceFile, has_sections: bool) -> Parsed {
    let mut blocks = Blocks::new(file);
    let mut start = 0;
    for line in file.text.split_inclusive('\n') {
        if blocks.is_full() {
            break;
        }
        let words = words(file, start, line.trim_end_matches(['\n', '\r']), &mut blocks);
        let opens = has_sections && words.first().is_some_and(|w| SECTIONS.contains(&w.text.as_str()));
        if opens {
            // The block takes in what follows, up to the next section.
            blocks.close(start);
            let at = words.last().map_or(start, |w| w.range.end);
            blocks.open(words, at);
        } else {
            blocks.directive(words);
        }
        start += line.len();
    }
    blocks.finish(None)
}

/// The words of a line; what stands behind `#` is a comment.
fn words(file: &SourceFile, start: usize, line: &str, blocks: &mut Blocks<'_>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = line.char_indices().peekable();
    if start == 0 && line.starts_with('\u{feff}') {
        chars.next();
    }
    while let Some(&(at, c)) = chars.peek() {
        match c {
            ' ' | '\t' => drop(chars.next()),
            '#' => {
                let text = line.get(at..).unwrap_or("");
                let span = file.span(start + at..start + line.len());
                blocks.out.comments.push(Comment { span, text: text.trim_start_matches('#').into() });
                break;
            }
            _ => words.push(word(start, line, at, &mut chars, blocks)),
        }
    }
    words
}

/// One word, which quotes may stand in the middle of.
fn word(
    start: usize,
    line: &str,
    from: usize,
    chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    blocks: &mut Blocks<'_>,
) -> Word {
    let mut text = String::new();
    let mut quote = None;
    let mut has_quotes = false;
    let mut end = line.len();
    while let Some(&(at, c)) = chars.peek() {
        match (quote, c) {
            (None, ' ' | '\t' | '#') => {
                end = at;
                break;
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                has_quotes = true;
            }
            (Some(q), _) if q == c => quote = None,
            (Some('\''), _) => text.push(c),
            (_, '\\') => {
                has_quotes = true;
                chars.next();
                match chars.peek() {
                    Some(&(_, next)) => text.push(next),
                    None => break,
                }
            }
            _ => text.push(c),
        }
        chars.next();
    }
    if quote.is_some() {
        blocks.error(start + from..start + from + 1, "a quote that is not closed");
    }
    let range = start + from..start + end;
    // A word all in quotes stands between them as it is.
    let inner = line.get(from + 1..end.saturating_sub(1)).filter(|inner| *inner == text);
    let verbatim = if has_quotes { inner.map(|_| range.start + 1) } else { Some(range.start) };
    Word { text, range, plain: !has_quotes, verbatim }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn parsed(text: &str) -> (SourceFile, Parsed) {
        let file = SourceFile { id: FileId(0), path: "haproxy.cfg".into(), text: text.into() };
        let parsed = parse(&file);
        (file, parsed)
    }

    #[test]
    fn sections_are_blocks() {
        let text =
            "global\n  daemon\ndefaults base # all\n  retries 2\n\nbackend a from base\n  server s 10.0.0.1:80 check\n";
        let (file, parsed) = parsed(text);
        let root = &parsed.documents[0];
        let names: Vec<&str> = root.entries().iter().map(|e| &*e.key).collect();
        assert_eq!(names, ["global", "defaults", "backend"]);
        let defaults = &root.entry("defaults").unwrap().value;
        assert_eq!(defaults.arg(0), Some("base"));
        let retries = defaults.block().unwrap().entry("retries").unwrap();
        assert_eq!(file.text.get(retries.head().range()).unwrap(), "retries 2");
        let backend = &root.entry("backend").unwrap().value;
        assert_eq!(backend.args().count(), 3);
        assert_eq!(backend.block().unwrap().entry("server").unwrap().value.arg(1), Some("10.0.0.1:80"));
        assert_eq!(&*parsed.comments[0].text, " all");
    }

    #[test]
    fn quotes_and_escapes() {
        let (file, parsed) = parsed("backend a\n  acl x hdr(a) -m str \"b c\" 'd\\' e\\ f g\"h\"#i\n");
        let acl = parsed.documents[0].entry("backend").unwrap().value.block().unwrap().entry("acl").unwrap();
        let args: Vec<&str> = acl.value.args().map(|a| &*a.scalar().unwrap().text).collect();
        assert_eq!(args, ["x", "hdr(a)", "-m", "str", "b c", "d\\", "e f", "gh"]);
        let quoted = acl.value.args().nth(4).unwrap();
        assert_eq!(file.text.get(quoted.span.range()).unwrap(), "\"b c\"");
        assert_eq!(quoted.scalar().unwrap().verbatim, Some(quoted.span.start + 1));
        assert_eq!(acl.value.args().nth(6).unwrap().scalar().unwrap().verbatim, None);
    }

    #[test]
    fn a_quote_that_is_not_closed_ends_with_its_line() {
        let (_, parsed) = parsed("backend a\n  errorfile 503 \"x\n  retries 3\n");
        assert_eq!(parsed.errors[0].message, "a quote that is not closed");
        assert!(parsed.documents[0].entry("backend").unwrap().value.block().unwrap().entry("retries").is_some());
    }

    #[test]
    fn other_files_say_nothing() {
        let (_, parsed) = parsed("[metadata]\nname = x\nbackends = \"a\n");
        assert!(parsed.documents.is_empty() && parsed.errors.is_empty());
    }
}
