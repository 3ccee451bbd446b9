//! nginx.conf and what it includes, to the tree. The grammar is that of `ngx_conf_read_token` (nginx/nginx
//! src/core/ngx_conf_file.c); what templates put between double braces counts as a part of a word.

use super::directive::{Blocks, Word};
use super::tree::{Comment, Parsed};
use crate::source::SourceFile;

/// What tells nginx's files from others with the same names.
const SIGNS: [&str; 11] = [
    "proxy_pass",
    "fastcgi_pass",
    "uwsgi_pass",
    "scgi_pass",
    "grpc_pass",
    "memcached_pass",
    "next_upstream",
    "server_name",
    "upstream ",
    "proxy_read_timeout",
    "proxy_connect_timeout",
];

/// Reads a file; one that holds no sign of nginx gives nothing, and no error.
pub fn parse(file: &SourceFile) -> Parsed {
    if !SIGNS.iter().any(|sign| file.text.contains(sign)) {
        return Parsed::default();
    }
    let mut reader = Reader {
        file,
        bytes: file.text.as_bytes(),
        at: 0,
        words: Vec::new(),
        directives: 0,
        endless: 0,
        blocks: Blocks::new(file),
    };
    if file.text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.read();
    // Without a single `;` it is another format, which has words of nginx's in it (`kong.conf`).
    if reader.directives == 0 && !reader.blocks.is_full() {
        return Parsed::default();
    }
    reader.blocks.finish(Some("a block that is not closed"))
}

struct Reader<'f> {
    file: &'f SourceFile,
    bytes: &'f [u8],
    at: usize,
    /// The words of the directive so far.
    words: Vec<Word>,
    /// How many directives ended as they should.
    directives: usize,
    /// How many openings of a template had no end.
    endless: u32,
    blocks: Blocks<'f>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.blocks.is_full() {
                return;
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => self.comment(),
                b';' => {
                    self.at += 1;
                    self.directives += 1;
                    let words = std::mem::take(&mut self.words);
                    self.blocks.directive(words);
                }
                _ if self.skips_template() => {}
                b'{' if !self.rest().starts_with(b"{{") => self.open(),
                b'}' => self.close(),
                _ => self.word(),
            }
        }
        if let Some(first) = self.words.first() {
            let range = first.range.clone();
            self.blocks.error(range, "a directive that no `;` ends");
        }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// How far away the end of what a template puts in is.
    fn end_of_template(&mut self, what: &[u8]) -> Option<usize> {
        if self.endless > MAX_ENDLESS {
            return None;
        }
        let rest = self.rest();
        let found = find(rest.get(..MAX_TEMPLATE).unwrap_or(rest), what);
        self.endless += u32::from(found.is_none());
        found
    }

    fn comment(&mut self) {
        let len = self.rest().iter().position(|b| *b == b'\n').unwrap_or(self.rest().len());
        let range = self.at..self.at + len;
        let text = self.file.text.get(range.clone()).unwrap_or("");
        let text = text.strip_prefix('#').unwrap_or(text).trim_end_matches('\r').into();
        self.blocks.out.comments.push(Comment { span: self.file.span(range.clone()), text });
        self.at = range.end;
    }

    /// A statement of a template (`{% if … %}`, `<% if … %>`) between two directives says nothing here.
    fn skips_template(&mut self) -> bool {
        let pairs: [(&[u8], &[u8]); 3] = [(b"{%", b"%}"), (b"<%", b"%>"), (b"{#", b"#}")];
        let Some((_, close)) = pairs.into_iter().find(|(open, _)| self.rest().starts_with(open)) else { return false };
        let is_word = !self.words.is_empty() && self.rest().starts_with(b"<%=");
        match self.end_of_template(close) {
            Some(len) if !is_word => {
                self.at += len + close.len();
                true
            }
            _ => false,
        }
    }

    fn open(&mut self) {
        let words = std::mem::take(&mut self.words);
        let is_lua = words.first().is_some_and(|w| w.text.ends_with("_by_lua_block"));
        if words.is_empty() {
            self.blocks.error(self.at..self.at + 1, "a block without a directive");
        }
        self.blocks.open(words, self.at);
        self.at += 1;
        if is_lua {
            self.skip_lua();
        }
    }

    fn close(&mut self) {
        if let Some(first) = self.words.first() {
            let range = first.range.clone();
            self.blocks.error(range, "a directive that no `;` ends");
            self.words.clear();
        }
        self.at += 1;
        if !self.blocks.close(self.at) {
            self.blocks.error(self.at - 1..self.at, "a brace that closes nothing");
        }
    }

    /// Goes to the brace that closes a block of Lua.
    fn skip_lua(&mut self) {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' | b'\'' => self.at = closing(self.bytes, self.at),
                b'-' if self.rest().starts_with(b"--[[") => {
                    self.at += find(self.rest(), b"]]").map_or(self.rest().len(), |len| len + 1);
                }
                b'-' if self.rest().starts_with(b"--") => {
                    self.at += find(self.rest(), b"\n").unwrap_or(self.rest().len());
                }
                b'{' => depth += 1,
                b'}' if depth == 0 => return,
                b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn word(&mut self) {
        let start = self.at;
        match self.bytes.get(start) {
            Some(quote @ (b'"' | b'\'')) => {
                let quote = *quote;
                let end = closing(self.bytes, start);
                if self.bytes.get(end) != Some(&quote) {
                    self.blocks.error(start..start + 1, "a quote that is not closed");
                }
                self.at = (end + 1).min(self.bytes.len());
                self.push(start..self.at, start + 1..end.min(self.bytes.len()), false);
            }
            _ => {
                self.bare();
                self.push(start..self.at, start..self.at, true);
            }
        }
    }

    /// A word without quotes ends before a blank, a `;` or a brace; a brace after `$` belongs to it.
    fn bare(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' => return,
                b'\\' => self.at += 1,
                b'$' if self.rest().starts_with(b"${") => self.at += 1,
                b'{' if self.rest().starts_with(b"{{") => match self.end_of_template(b"}}") {
                    Some(len) => self.at += len + 1,
                    None => self.at += 1,
                },
                b'<' if self.rest().starts_with(b"<%") => {
                    self.at += self.end_of_template(b"%>").map_or(0, |len| len + 1);
                }
                b'{' => return,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn push(&mut self, range: std::ops::Range<usize>, inner: std::ops::Range<usize>, plain: bool) {
        // A backslash may have stood before a character of several bytes.
        let range = grown(&self.file.text, range);
        self.at = self.at.max(range.end);
        let inner = if plain { range.clone() } else { inner };
        let text = self.file.text.get(inner.clone()).unwrap_or("");
        let word = if text.contains('\\') {
            Word { text: unescaped(text), range, plain, verbatim: None }
        } else {
            Word { text: text.to_string(), range, plain, verbatim: Some(inner.start) }
        };
        self.words.push(word);
    }
}

/// A range whose end lies between characters.
fn grown(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let end = (range.end..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    range.start..end
}

/// nginx takes the backslash from quotes and from itself, and knows `\t`, `\r` and `\n`; all others stay.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(next @ ('"' | '\'' | '\\'))) => out.push(next),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('n')) => out.push('\n'),
            _ => {
                out.push(c);
                continue;
            }
        }
        chars.next();
    }
    out
}

/// The quote that closes the one at `at`, or the end of the text.
pub(super) fn closing(bytes: &[u8], at: usize) -> usize {
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
    bytes.len()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

/// What templates put in is short.
const MAX_TEMPLATE: usize = 2_000;

/// After so many openings that nothing closes it is no template.
const MAX_ENDLESS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::syntax::directive::shown;

    fn parsed(text: &str) -> (SourceFile, Parsed) {
        let file = SourceFile { id: FileId(0), path: "nginx.conf".into(), text: text.into() };
        let parsed = parse(&file);
        (file, parsed)
    }

    fn read(text: &str) -> String {
        let (_, parsed) = parsed(text);
        assert_eq!(parsed.errors, [], "{text}");
        parsed.documents.first().map_or(String::new(), |d| shown(d))
    }

    #[test]
    fn directives_and_blocks() {
        let text = "http { # all\n  upstream u { server a:80 max_fails=2; server b; }\n  server { listen 80;\n location ~ \
                    \"^/x{2}\" { proxy_pass http://u; } }\n}";
        assert_eq!(
            read(text),
            "http { upstream <u> { server <a:80> <max_fails=2>; server <b> }; server { listen <80>; location <~> <^/x{2}> \
             { proxy_pass <http://u> } } }"
        );
    }

    #[test]
    fn words() {
        assert_eq!(read("proxy_pass http://${host}$uri;"), "proxy_pass <http://${host}$uri>");
        assert_eq!(read(r#"proxy_pass 'a;b' "c\"d" e\ f \{;"#), r#"proxy_pass <a;b> <c"d> <e\ f> <\{>"#);
        assert_eq!(read("proxy_pass a#b; # proxy_pass c;"), "proxy_pass <a#b>");
        assert_eq!(read("proxy_pass http://{{ .Values.a }}:{{b}};"), "proxy_pass <http://{{ .Values.a }}:{{b}}>");
        assert_eq!(read("{% if x %}\nproxy_pass a;\n{% endif %}"), "proxy_pass <a>");
        assert_eq!(read("proxy_pass <%= @url %>;"), "proxy_pass <<%= @url %>>");
        assert_eq!(read("\u{feff}proxy_pass \\é;\r\nserver_name é;\r\n"), "proxy_pass <\\é>; server_name <é>");
    }

    #[test]
    fn lua_is_passed_over() {
        let text = "server_name a; content_by_lua_block { local t = { \"}\" } -- }\n --[[ } ]] } proxy_pass b;";
        assert_eq!(read(text), "server_name <a>; content_by_lua_block {  }; proxy_pass <b>");
    }

    #[test]
    fn places() {
        let (file, parsed) = parsed("server_name a; location / {\n  proxy_pass \"http://u\";\n}\n");
        let location = parsed.documents[0].entry("location").unwrap();
        let pass = location.value.block().unwrap().entry("proxy_pass").unwrap();
        let text = |span: crate::source::Span| file.text.get(span.range()).unwrap();
        assert_eq!(text(pass.key_span), "proxy_pass");
        assert_eq!(text(pass.value.span), "\"http://u\"");
        assert_eq!(text(pass.head()), "proxy_pass \"http://u\"");
        assert_eq!(text(location.head()), "location /");
        assert_eq!(text(location.value.block().unwrap().span), "{\n  proxy_pass \"http://u\";\n}");
    }

    #[test]
    fn what_is_wrong_is_told_and_the_rest_is_read() {
        for (text, message) in [
            ("server_name a; http { proxy_pass b;", "a block that is not closed"),
            ("server_name a; }", "a brace that closes nothing"),
            ("server_name a; proxy_pass \"b", "a quote that is not closed"),
            ("listen 80; server_name a", "a directive that no `;` ends"),
            ("server { listen 80; server_name a }", "a directive that no `;` ends"),
            ("server_name a; { proxy_pass b; }", "a block without a directive"),
        ] {
            let (_, parsed) = parsed(text);
            let messages: Vec<&str> = parsed.errors.iter().map(|e| e.message.as_str()).collect();
            assert!(messages.contains(&message), "{text}: {messages:?}");
        }
    }

    #[test]
    fn other_files_say_nothing() {
        for text in
            ["[program:web]\ncommand={ unbalanced\n", "nginx_proxy_proxy_next_upstream = error\nproxy_listen = {\n"]
        {
            let (_, parsed) = parsed(text);
            assert!(parsed.documents.is_empty() && parsed.errors.is_empty());
        }
    }
}
