//! XML to the tree, as far as policies of gateways need it: an element is a directive with a block, its attributes and
//! its text are directives in that block. Written here since such policies are no well-formed XML: an attribute that is
//! an expression, `@(…)` or `@{…}`, may hold quotes, `<` and `&&`.

use super::directive::{Blocks, Word};
use super::tree::{Comment, Parsed};
use crate::source::SourceFile;

/// The name under which the text of an element stands in its block.
pub const TEXT: &str = "#text";

/// Only such a file is read, or one of endpoints that fail over; most XML is none of a gateway's.
const SIGNS: [&str; 3] = ["<policies", "<retry ", "<fragment"];

/// Reads a file; one without a sign of a policy gives nothing, and no error.
pub fn parse(file: &SourceFile) -> Parsed {
    let is_policy = file.text.contains("<retry") && SIGNS.iter().any(|sign| file.text.contains(sign));
    let is_endpoint = file.text.contains("<failover") && file.text.contains("<endpoint");
    if !is_policy && !is_endpoint {
        return Parsed::default();
    }
    let mut reader = Reader { file, text: &file.text, at: 0, open: Vec::new(), endless: 0, blocks: Blocks::new(file) };
    reader.read();
    reader.blocks.finish(Some("an element that is not closed"))
}

struct Reader<'f> {
    file: &'f SourceFile,
    text: &'f str,
    at: usize,
    /// The names of the elements that are open.
    open: Vec<&'f str>,
    /// How many expressions had no end: after some of them no more are looked for.
    endless: u32,
    blocks: Blocks<'f>,
}

impl<'f> Reader<'f> {
    fn rest(&self) -> &'f str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn read(&mut self) {
        while !self.rest().is_empty() && !self.blocks.is_full() {
            let rest = self.rest();
            if let Some(inner) = rest.strip_prefix("<!--") {
                self.comment(inner);
            } else if let Some(inner) = rest.strip_prefix("<![CDATA[") {
                let len = inner.find("]]>").unwrap_or(inner.len());
                self.push_text(self.at + 9, inner.get(..len).unwrap_or(""));
                self.at = (self.at + 9 + len + 3).min(self.text.len());
            } else if rest.starts_with("<?") || rest.starts_with("<!") {
                self.at += rest.find('>').map_or(rest.len(), |len| len + 1);
            } else if let Some(inner) = rest.strip_prefix("</") {
                self.close(inner);
            } else if rest.starts_with('<') && rest.chars().nth(1).is_some_and(|c| c.is_alphabetic() || c == '_') {
                self.element();
            } else {
                self.text();
            }
        }
    }

    /// Text up to the next tag; an expression in it may hold `<`.
    fn text(&mut self) {
        let rest = self.rest();
        let start = self.at + (rest.len() - rest.trim_start().len());
        let from = self.end_of_expression(start).unwrap_or(ceil(self.text, self.at + 1));
        let end = self.text.get(from..).and_then(|r| r.find('<')).map_or(self.text.len(), |n| from + n);
        self.push_text(self.at, self.text.get(self.at..end).unwrap_or(""));
        self.at = end;
    }

    fn comment(&mut self, inner: &str) {
        let len = inner.find("-->").unwrap_or(inner.len());
        let end = (self.at + 4 + len + 3).min(self.text.len());
        let text = inner.get(..len).unwrap_or("").into();
        self.blocks.out.comments.push(Comment { span: self.file.span(self.at..end), text });
        self.at = end;
    }

    fn push_text(&mut self, start: usize, raw: &str) {
        let text = raw.trim();
        if text.is_empty() || self.blocks.depth() == 0 {
            return;
        }
        let start = start + (raw.len() - raw.trim_start().len());
        let range = start..start + text.len();
        let key = Word { text: TEXT.to_string(), range: start..start, plain: true, verbatim: None };
        self.blocks.directive(vec![key, value(text, range)]);
    }

    fn close(&mut self, inner: &str) {
        let len = inner.find('>').unwrap_or(inner.len());
        let name = inner.get(..len).unwrap_or("").trim();
        let end = (self.at + 2 + len + 1).min(self.text.len());
        match self.open.iter().rposition(|open| *open == name) {
            Some(at) => {
                while self.open.len() > at {
                    if self.open.len() > at + 1 {
                        self.blocks.error(self.at..end, "closes an element around one that is not closed");
                    }
                    self.open.pop();
                    self.blocks.close(end);
                }
            }
            None => self.blocks.error(self.at..end, "closes an element that is not open"),
        }
        self.at = end;
    }

    fn element(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let len = rest.char_indices().skip(1).find(|(_, c)| !is_name(*c)).map_or(rest.len(), |(at, _)| at);
        let name = rest.get(1..len).unwrap_or("");
        let head = Word { text: name.into(), range: start + 1..start + len, plain: true, verbatim: Some(start + 1) };
        self.at += len;
        self.blocks.open(vec![head], self.at);
        self.open.push(name);
        self.attributes();
        let ends = self.rest().starts_with("/>");
        if !ends && !self.rest().starts_with('>') {
            self.blocks.error(start..start + 1, "a tag that is not closed");
        }
        self.at = (self.at + if ends { 2 } else { 1 }).min(self.text.len());
        if ends {
            self.open.pop();
            self.blocks.close(self.at);
        }
    }

    fn attributes(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.is_empty() || rest.starts_with('>') || rest.starts_with("/>") || rest.starts_with('<') {
                return;
            }
            let len =
                rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '<')).unwrap_or(rest.len()).max(1);
            let len = ceil(rest, len);
            let key_range = self.at..self.at + len;
            let key = rest.get(..len).unwrap_or("").to_string();
            self.at += len;
            let after = self.rest();
            let Some(quoted) = after.trim_start().strip_prefix('=').map(str::trim_start) else { continue };
            self.at += after.len() - quoted.len();
            let verbatim = Some(key_range.start);
            let key = Word { text: key, range: key_range, plain: true, verbatim };
            self.value(key);
        }
    }

    /// A value in quotes; an expression ends with its bracket, whatever quotes it holds.
    fn value(&mut self, key: Word) {
        let start = self.at;
        let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '"' | '\'')) else { return };
        let inner = start + 1;
        let from = self.end_of_expression(inner).unwrap_or(inner);
        let rest = self.text.get(from..).unwrap_or("");
        let end = from + rest.find(quote).unwrap_or(rest.len());
        self.at = (end + 1).min(self.text.len());
        let text = self.text.get(inner..end).unwrap_or("");
        self.blocks.directive(vec![key, value(text, inner..end)]);
    }

    /// The place behind `@(…)` or `@{…}`; strings of C# in it count as a whole.
    fn end_of_expression(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if self.endless > MAX_ENDLESS || bytes.get(at) != Some(&b'@') || !matches!(bytes.get(at + 1), Some(b'(' | b'{'))
        {
            return None;
        }
        let mut depth = 0usize;
        let mut i = at + 1;
        while let Some(&byte) = bytes.get(i) {
            match byte {
                b'(' | b'{' | b'[' => depth += 1,
                b')' | b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(i + 1);
                    }
                }
                b'"' => i = super::nginx::closing(bytes, i),
                _ => {}
            }
            // No expression is as long as this; looking no further bounds the time.
            if i > at + MAX_EXPRESSION {
                break;
            }
            i += 1;
        }
        self.endless += 1;
        None
    }
}

const MAX_EXPRESSION: usize = 20_000;

const MAX_ENDLESS: u32 = 100;

/// A value: with its entities resolved, and verbatim where it has none.
fn value(raw: &str, range: std::ops::Range<usize>) -> Word {
    let start = range.start;
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    if !pairs.iter().any(|(entity, _)| raw.contains(entity)) {
        return Word { text: raw.to_string(), range, plain: false, verbatim: Some(start) };
    }
    let text = pairs.iter().fold(raw.to_string(), |text, (from, to)| text.replace(from, to));
    Word { text, range, plain: false, verbatim: None }
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::syntax::Node;

    fn parsed(text: &str) -> (SourceFile, Parsed) {
        let file = SourceFile { id: FileId(0), path: "a.xml".into(), text: text.into() };
        let parsed = parse(&file);
        (file, parsed)
    }

    fn shown(node: &Node) -> String {
        let entry = |e: &crate::syntax::Entry| match (e.value.block(), e.value.arg(0)) {
            (Some(block), _) => format!("{}({})", e.key, shown(block)),
            (None, text) => format!("{}={}", e.key, text.unwrap_or_default()),
        };
        node.entries().iter().map(entry).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str) -> String {
        let (_, parsed) = parsed(text);
        assert_eq!(parsed.errors, [], "{text}");
        parsed.documents.first().map_or(String::new(), |d| shown(d))
    }

    #[test]
    fn elements_attributes_and_text() {
        let text = "<?xml version=\"1.0\"?>\n<policies><!-- a < b -->\n <retry count='4' interval = \"2\">\n  <set-url>https://a&amp;b</set-url>\n  <base />\n </retry>\n</policies>";
        assert_eq!(read(text), "policies(retry(count=4 interval=2 set-url(#text=https://a&b) base()))");
    }

    #[test]
    fn expressions_hold_anything() {
        let text = "<policies><retry condition=\"@(a.B<string>(\"x\") == \"y)\" && c >= 500)\" count=\"1\"><set-url>@{ return \"<a>\"; }</set-url></retry></policies>";
        assert_eq!(
            read(text),
            "policies(retry(condition=@(a.B<string>(\"x\") == \"y)\" && c >= 500) count=1 set-url(#text=@{ return \"<a>\"; })))"
        );
    }

    #[test]
    fn places() {
        let (file, parsed) = parsed("<policies>\n  <retry count=\"4\" />\n</policies>\n");
        let retry = parsed.documents[0].entry("policies").unwrap().value.block().unwrap().entry("retry").unwrap();
        let count = retry.value.block().unwrap().entry("count").unwrap();
        assert_eq!(file.text.get(retry.key_span.range()).unwrap(), "retry");
        assert_eq!(file.text.get(count.value.args().next().unwrap().span.range()).unwrap(), "4");
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, message) in [
            ("<policies><retry count=\"1\">", "an element that is not closed"),
            ("<policies><retry count=\"1\"></policies>", "closes an element around one that is not closed"),
            ("<policies><retry /></b></policies>", "closes an element that is not open"),
            ("<policies><retry count=\"1", "a tag that is not closed"),
        ] {
            let (_, parsed) = parsed(text);
            let messages: Vec<&str> = parsed.errors.iter().map(|e| e.message.as_str()).collect();
            assert!(messages.contains(&message), "{text}: {messages:?}");
        }
        assert!(parsed("<project><a></project>").1.errors.is_empty());
    }
}
