//! Caddyfiles to the tree. Words and lines are those of Caddy's lexer (caddyserver/caddy caddyconfig/caddyfile/lexer.go):
//! a brace that ends a line opens a block, one that stands alone on its line closes it.

use super::directive::{Blocks, Word};
use super::tree::{Comment, Parsed};
use crate::source::SourceFile;

/// What tells Caddyfiles apart; a file that is named `Caddyfile` need not hold it.
const SIGN: &str = "reverse_proxy";

/// Reads a file; one without a reverse proxy gives nothing, and no error.
pub fn parse(file: &SourceFile) -> Parsed {
    if !file.text.contains(SIGN) {
        return Parsed::default();
    }
    let mut reader = Reader { file, text: &file.text, at: 0, words: Vec::new(), blocks: Blocks::new(file) };
    if file.text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.read();
    reader.blocks.finish(Some("a block that is not closed"))
}

struct Reader<'f> {
    file: &'f SourceFile,
    text: &'f str,
    at: usize,
    /// The words of the line so far.
    words: Vec<Word>,
    blocks: Blocks<'f>,
}

impl<'f> Reader<'f> {
    fn read(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if self.blocks.is_full() {
                return;
            }
            match c {
                '\n' => {
                    self.at += 1;
                    self.end_of_line();
                }
                '\\' if self.rest().starts_with("\\\n") => self.at += 2,
                '\\' if self.rest().starts_with("\\\r\n") => self.at += 3,
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '#' => self.comment(),
                _ => self.word(c),
            }
        }
        self.end_of_line();
    }

    fn rest(&self) -> &'f str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Words make a directive; a brace at their end opens its block, a brace alone closes one.
    fn end_of_line(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        let is_brace = |w: &Word, brace: &str| w.plain && w.text == brace;
        match words.as_slice() {
            [only] if is_brace(only, "}") => {
                let range = only.range.clone();
                if !self.blocks.close(range.end) {
                    self.blocks.error(range, "a brace that closes nothing");
                }
            }
            [.., last] if is_brace(last, "{") => {
                let at = last.range.start;
                words.pop();
                self.blocks.open(words, at);
            }
            // A list of addresses goes on in the next line.
            [.., last] if last.plain && last.text.ends_with(',') && self.blocks.depth() == 0 => self.words = words,
            _ => self.blocks.directive(words),
        }
    }

    fn comment(&mut self) {
        let len = self.rest().find('\n').unwrap_or(self.rest().len());
        let text = self.rest().get(1..len).unwrap_or("").trim_end_matches('\r').into();
        let span = self.file.span(self.at..self.at + len);
        self.blocks.out.comments.push(Comment { span, text });
        self.at += len;
    }

    fn word(&mut self, first: char) {
        let start = self.at;
        match first {
            '"' | '`' => self.quoted(first),
            '<' if self.heredoc() => {}
            _ => {
                let rest = self.rest();
                let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
                self.at += len;
                let text = rest.get(..len).unwrap_or("").to_string();
                self.words.push(Word { text, range: start..self.at, plain: true, verbatim: Some(start) });
            }
        }
    }

    /// Between double quotes a backslash makes a quote a character; between backticks it does not.
    fn quoted(&mut self, quote: char) {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let end = match quote {
            '"' => super::nginx::closing(bytes, start),
            _ => self.rest().get(1..).and_then(|rest| rest.find('`')).map_or(bytes.len(), |len| start + 1 + len),
        };
        if end == bytes.len() {
            self.blocks.error(start..start + 1, "a quote that is not closed");
        }
        self.at = (end + 1).min(bytes.len());
        let raw = self.text.get(start + 1..end).unwrap_or("");
        let text = if quote == '"' { raw.replace("\\\"", "\"") } else { raw.to_string() };
        let verbatim = (text.len() == raw.len()).then_some(start + 1);
        self.words.push(Word { text, range: start..self.at, plain: false, verbatim });
    }

    /// `<<MARK` up to a line that is `MARK`.
    fn heredoc(&mut self) -> bool {
        let rest = self.rest();
        let Some(line) = rest.strip_prefix("<<").and_then(|r| r.split('\n').next()) else { return false };
        let mark = line.trim_end_matches('\r');
        if mark.is_empty() || !mark.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')) {
            return false;
        }
        let start = self.at;
        let mut at = 2 + line.len() + 1;
        let body = at;
        while let Some(next) = rest.get(at..).filter(|r| !r.is_empty()) {
            let line = next.split('\n').next().unwrap_or("");
            if line.trim_start().trim_end_matches('\r').starts_with(mark) {
                let end = at + line.find(mark).unwrap_or(0) + mark.len();
                let text = rest.get(body..at).unwrap_or("").to_string();
                self.words.push(Word { text, range: start..start + end, plain: false, verbatim: Some(start + body) });
                self.at = start + end;
                return true;
            }
            at += line.len() + 1;
        }
        self.blocks.error(start..start + 2, "a text that is not closed");
        self.at = self.text.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::syntax::directive::shown;

    fn parsed(text: &str) -> (SourceFile, Parsed) {
        let file = SourceFile { id: FileId(0), path: "Caddyfile".into(), text: text.into() };
        let parsed = parse(&file);
        (file, parsed)
    }

    fn read(text: &str) -> String {
        let (_, parsed) = parsed(text);
        assert_eq!(parsed.errors, [], "{text}");
        parsed.documents.first().map_or(String::new(), |d| shown(d))
    }

    #[test]
    fn sites_and_directives() {
        let text = "{\n\temail a@example.test\n}\na.test,\nb.test {\n\treverse_proxy /api/* x:80 y:80 { # two\n\t\tlb_retries 3\n\t}\n}\n";
        assert_eq!(
            read(text),
            " { email <a@example.test> }; a.test, <b.test> { reverse_proxy </api/*> <x:80> <y:80> { lb_retries <3> } }"
        );
        assert_eq!(read(":80\nreverse_proxy x:80\n"), ":80; reverse_proxy <x:80>");
    }

    #[test]
    fn words() {
        assert_eq!(
            read("reverse_proxy {$HOST:a}:80 \\\n  \"b \\\"c\\\"\" `d \"e`"),
            "reverse_proxy <{$HOST:a}:80> <b \"c\"> <d \"e>"
        );
        assert_eq!(
            read("respond <<TEXT\n  a }\n  TEXT 200\nreverse_proxy a#b\n"),
            "respond <  a }\n> <200>; reverse_proxy <a#b>"
        );
        assert_eq!(read("\u{feff}reverse_proxy é\r\n"), "reverse_proxy <é>");
    }

    #[test]
    fn places() {
        let (file, parsed) = parsed("a.test {\n  reverse_proxy x:80 {\n    lb_retries 3\n  }\n}\n");
        let site = parsed.documents[0].entry("a.test").unwrap();
        let proxy = site.value.block().unwrap().entry("reverse_proxy").unwrap();
        let text = |span: crate::source::Span| file.text.get(span.range()).unwrap();
        assert_eq!(text(proxy.head()), "reverse_proxy x:80");
        assert_eq!(text(proxy.value.block().unwrap().span), "{\n    lb_retries 3\n  }");
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, message) in [
            ("a {\n reverse_proxy b\n", "a block that is not closed"),
            ("reverse_proxy b\n}\n", "a brace that closes nothing"),
            ("reverse_proxy \"b\n", "a quote that is not closed"),
            ("reverse_proxy <<X\n b\n", "a text that is not closed"),
        ] {
            let (_, parsed) = parsed(text);
            let messages: Vec<&str> = parsed.errors.iter().map(|e| e.message.as_str()).collect();
            assert!(messages.contains(&message), "{text}: {messages:?}");
        }
    }
}
