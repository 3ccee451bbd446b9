//! HCL to the tree, as HashiCorp's programs read their configuration: directive = key, block = mapping, list = list.
//!
//! It is the older grammar (blocks without `=` also inside lists, as Consul's entries have them), which the newer one
//! refuses; of the newer one (Terraform's) values that are no expression are the same. An expression is a plain scalar
//! of its source; what `jsonencode` is given is read as the value that it is.

use std::sync::Arc;

use super::tree::{
    Comment, Entry, MAX_DEPTH, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value,
};
use crate::source::{SourceFile, Span};

/// Reads an HCL file. What stands before an error is kept.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut reader = Reader { file, text: &file.text, at: 0, values: 0, comments: Vec::new() };
    let mut out = Parsed::default();
    let mut entries = Vec::new();
    if let Err(error) = reader.body(&mut entries, None, 0) {
        out.errors.push(error);
    }
    if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
        let span = Span { end: last.value.span.end.max(last.key_span.end), ..first.key_span };
        out.documents.push(Arc::new(Node::new(span, Value::Map(entries))));
    }
    out.comments = reader.comments;
    out
}

struct Reader<'f> {
    file: &'f SourceFile,
    text: &'f str,
    at: usize,
    values: usize,
    comments: Vec<Comment>,
}

type Read<T> = Result<T, SyntaxError>;

impl<'f> Reader<'f> {
    /// Items up to a closing brace, or to the end of the file.
    fn body(&mut self, entries: &mut Vec<Entry>, closing: Option<char>, depth: usize) -> Read<()> {
        loop {
            self.blank();
            while self.peek() == Some(',') {
                self.at += 1;
                self.blank();
            }
            match (self.peek(), closing) {
                (None, None) => return Ok(()),
                (None, Some(_)) => return Err(self.error("the block is not closed")),
                (Some(c), Some(end)) if c == end => {
                    self.at += 1;
                    return Ok(());
                }
                _ => entries.push(self.item(depth)?),
            }
        }
    }

    /// `key = value`, `key: value`, or a block with any number of labels before its brace: one key inside the other.
    fn item(&mut self, depth: usize) -> Read<Entry> {
        let (key, key_span) = if self.peek() == Some('(') { self.computed()? } else { self.key()? };
        let mut labels = Vec::new();
        loop {
            self.spaces();
            match self.peek() {
                Some('=' | ':') => {
                    self.at += 1;
                    let value = self.value(depth + 1)?;
                    return Ok(Entry { key, key_span, value: Arc::new(value) });
                }
                Some('{') => {
                    let mut value = Arc::new(self.value(depth + labels.len() + 1)?);
                    for (label, span) in labels.into_iter().rev() {
                        let outer = Span { end: value.span.end, ..span };
                        let entry = Entry { key: label, key_span: span, value };
                        value = Arc::new(Node::new(outer, Value::Map(vec![entry])));
                    }
                    return Ok(Entry { key, key_span, value });
                }
                Some(c) if (c == '"' || is_word(c)) && labels.len() < MAX_DEPTH => labels.push(self.key()?),
                _ => return Err(self.error("neither `=` nor a block follows the name")),
            }
        }
    }

    fn key(&mut self) -> Read<(Arc<str>, Span)> {
        let start = self.at;
        let text = match self.peek() {
            Some('"') => self.quoted()?.0,
            Some(c) if is_word(c) => self.take(is_word).to_string(),
            _ => return Err(self.error("a name is expected here")),
        };
        Ok((text.into(), self.file.span(start..self.at)))
    }

    /// `(expression)` as a key: its source.
    fn computed(&mut self) -> Read<(Arc<str>, Span)> {
        let start = self.at;
        self.at += 1;
        self.blank();
        let text = self.expression()?;
        self.blank();
        if self.next() != Some(')') {
            return Err(self.error("the bracket is not closed"));
        }
        Ok((text.into(), self.file.span(start..self.at)))
    }

    /// A value, and then nothing more of it: what goes on with an operator is an expression.
    fn value(&mut self, depth: usize) -> Read<Node> {
        self.blank();
        let (start, values, comments) = (self.at, self.values, self.comments.len());
        if self.is_comprehension() {
            self.values += 1;
            return self.source();
        }
        let node = self.plain_value(depth)?;
        self.spaces();
        let rest = self.rest();
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        if !is_comment && rest.starts_with(['?', '=', '!', '<', '>', '&', '|', '+', '-', '*', '/', '%', '.', '[']) {
            self.at = start;
            self.values = values + 1;
            self.comments.truncate(comments);
            return self.source();
        }
        Ok(node)
    }

    /// `{for …}`, `[for …]`, comments before it passed over.
    fn is_comprehension(&mut self) -> bool {
        if !self.rest().starts_with(['{', '[']) {
            return false;
        }
        let (start, comments) = (self.at, self.comments.len());
        self.at += 1;
        self.blank();
        let found = self.rest().strip_prefix("for").is_some_and(|text| text.starts_with(char::is_whitespace));
        self.at = start;
        self.comments.truncate(comments);
        found
    }

    /// An expression as a plain scalar of its source.
    fn source(&mut self) -> Read<Node> {
        let start = self.at;
        let text: Arc<str> = self.expression()?.into();
        let value = Value::Scalar(Scalar { text, plain: true, verbatim: Some(offset(start)) });
        Ok(Node::new(self.file.span(start..self.at), value))
    }

    fn plain_value(&mut self, depth: usize) -> Read<Node> {
        self.values += 1;
        if depth > MAX_DEPTH {
            return Err(self.error(TOO_DEEP));
        }
        if self.values > MAX_VALUES {
            return Err(self.error(TOO_MANY));
        }
        let start = self.at;
        let value = match self.peek() {
            None => return Err(self.error("a value is expected here")),
            Some('{') => {
                self.at += 1;
                let mut entries = Vec::new();
                self.body(&mut entries, Some('}'), depth)?;
                Value::Map(entries)
            }
            Some('[') => {
                self.at += 1;
                Value::List(self.items(depth)?)
            }
            Some('"') => {
                let (text, verbatim) = self.quoted()?;
                Value::Scalar(Scalar { text: text.into(), plain: false, verbatim: verbatim.then(|| offset(start + 1)) })
            }
            Some('<') if self.rest().starts_with("<<") => Value::Scalar(self.heredoc()?),
            Some(_) => match self.encoded(depth)? {
                Some(node) => return Ok(node),
                None => return self.source(),
            },
        };
        Ok(Node::new(self.file.span(start..self.at), value))
    }

    /// `jsonencode(value)`: the value.
    fn encoded(&mut self, depth: usize) -> Read<Option<Node>> {
        let start = self.at;
        let Some(inner) = self.rest().strip_prefix("jsonencode").map(str::trim_start) else { return Ok(None) };
        let Some(inner) = inner.strip_prefix('(').map(str::trim_start) else { return Ok(None) };
        if !inner.starts_with(['{', '[']) {
            return Ok(None);
        }
        self.at = self.text.len() - inner.len();
        let node = self.value(depth + 1)?;
        self.blank();
        while self.peek() == Some(',') {
            self.at += 1;
            self.blank();
        }
        if self.peek() != Some(')') {
            self.at = start;
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(node))
    }

    fn items(&mut self, depth: usize) -> Read<Vec<Arc<Node>>> {
        let mut items = Vec::new();
        loop {
            self.blank();
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    return Ok(items);
                }
                Some(',') => self.at += 1,
                None => return Err(self.error("the list is not closed")),
                Some(_) => items.push(Arc::new(self.value(depth + 1)?)),
            }
        }
    }

    /// A quoted text with its escapes resolved, and whether there were none.
    fn quoted(&mut self) -> Read<(String, bool)> {
        let mut out = String::new();
        let mut verbatim = true;
        self.at += 1;
        loop {
            let Some(c) = self.next() else { return Err(self.error("the text is not closed")) };
            match c {
                '"' => return Ok((out, verbatim)),
                '\n' => return Err(self.error("the text is not closed on its line")),
                '\\' => {
                    verbatim = false;
                    match self.next() {
                        Some('n') => out.push('\n'),
                        Some('t') => out.push('\t'),
                        Some('r') => out.push('\r'),
                        Some(other) => out.push(other),
                        None => return Err(self.error("the text is not closed")),
                    }
                }
                // A template: quotes in it do not end the text.
                '$' | '%' if self.peek() == Some('{') => {
                    out.push(c);
                    let start = self.at;
                    self.template()?;
                    out.push_str(self.text.get(start..self.at).unwrap_or_default());
                }
                other => out.push(other),
            }
        }
    }

    /// `{…}` of a template, quotes in it skipped.
    fn template(&mut self) -> Read<()> {
        let mut depth = 0usize;
        let mut quoted = false;
        while let Some(c) = self.next() {
            match c {
                '\\' if quoted => _ = self.next(),
                '"' => quoted = !quoted,
                '{' if !quoted => depth += 1,
                '}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(self.error("the template is not closed"))
    }

    /// `<<EOF`, `<<-EOF`: the lines up to one that holds the mark alone.
    fn heredoc(&mut self) -> Read<Scalar> {
        self.at += 2;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        let mark = self.take(is_word).to_string();
        let Some(line) = self.rest().find('\n').filter(|_| !mark.is_empty()) else {
            return Err(self.error("a text of several lines begins here and has none"));
        };
        self.at += line + 1;
        let start = self.at;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            if line.is_empty() {
                return Err(self.error("the text of several lines is not closed"));
            }
            let ends = line.trim() == mark;
            self.at += if ends { line.trim_end().len() } else { line.len() };
            if ends {
                return Ok(Scalar { text: text.into(), plain: false, verbatim: Some(offset(start)) });
            }
            text.push_str(line);
        }
    }

    /// Anything else, up to the end of the line, a comma or a bracket that closes what is around it.
    fn expression(&mut self) -> Read<String> {
        let start = self.at;
        let mut open = 0usize;
        while let Some(c) = self.peek() {
            match c {
                '\n' | ',' if open == 0 => break,
                '}' | ']' | ')' if open == 0 => break,
                '#' if open == 0 => break,
                '/' if open == 0 && (self.rest().starts_with("//") || self.rest().starts_with("/*")) => break,
                '#' => {
                    self.comment();
                    continue;
                }
                '/' if self.rest().starts_with("//") => {
                    self.comment();
                    continue;
                }
                '"' => {
                    self.quoted()?;
                    continue;
                }
                '<' if self
                    .rest()
                    .strip_prefix("<<")
                    .is_some_and(|rest| rest.trim_start_matches('-').starts_with(is_word)) =>
                {
                    self.heredoc()?;
                    continue;
                }
                '{' | '[' | '(' => open += 1,
                '}' | ']' | ')' => open -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
        let text = source.trim_end();
        self.at = start + text.len();
        if text.is_empty() { Err(self.error("a value is expected here")) } else { Ok(text.to_string()) }
    }

    /// To the end of the line.
    fn comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Blanks, line ends and comments.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let skipped = rest.len() - rest.trim_start().len();
            self.at += skipped;
            let rest = self.rest();
            let (mark, end) = if rest.starts_with("/*") {
                (2, rest.find("*/").map_or(rest.len(), |end| end + 2))
            } else if rest.starts_with("//") {
                (2, rest.find('\n').unwrap_or(rest.len()))
            } else if rest.starts_with('#') {
                (1, rest.find('\n').unwrap_or(rest.len()))
            } else {
                return;
            };
            let text = rest.get(mark..end).unwrap_or_default().trim_end_matches("*/");
            self.comments.push(Comment { span: self.file.span(self.at..self.at + end), text: text.into() });
            self.at += end;
        }
    }

    /// Blanks on the line.
    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    }

    fn take(&mut self, test: fn(char) -> bool) -> &'f str {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.find(|c| !test(c)).unwrap_or(rest.len());
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn rest(&self) -> &'f str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn error(&self, message: &str) -> SyntaxError {
        let end = self.at + self.peek().filter(|c| *c != '\n').map_or(0, char::len_utf8);
        let message = if [TOO_DEEP, TOO_MANY].contains(&message) {
            message.to_string()
        } else {
            format!("not valid HCL: {message}")
        };
        SyntaxError { span: self.file.span(self.at..end), message }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::super::dump::{dump, file};
    use super::*;

    #[test]
    fn blocks_lists_and_values() {
        let text = "# head\nKind = \"service-router\"\nRoutes = [\n  {\n    Match { HTTP { PathPrefix = \"/a\" } }\n    Destination = { NumRetries = 3, Codes = [1, 2] }\n  },\n]\nlisten \"tcp\" {\n  port: 1 // c\n}\nx = f(\"a,b\", 2)\n";
        insta::assert_snapshot!(dump(parse, text));
    }

    #[test]
    fn texts() {
        let text = "a = \"x\\ty\"\nb = <<-EOF\n  one\n  EOF\nc = \"${f(\"q}\")} z\"\nd = true /* e */\n";
        insta::assert_snapshot!(dump(parse, text));
    }

    #[test]
    fn terraform() {
        let text = "resource \"aws_sqs_queue\" \"orders\" {\n  redrive_policy = jsonencode({\n    deadLetterTargetArn = \
                    aws_sqs_queue.dlq.arn\n    maxReceiveCount     = 4\n  })\n  policy = jsonencode(local.policy)\n  \
                    tags = { for k, v in var.tags : k => \"${v}}\" }\n  names = [for n in var.names : lower(n)]\n  \
                    kind = var.a == \"b\" ? {\n    x = 1\n  } : {}\n  more = { (var.key) = 1, \"b\" = 2 }[\"b\"] // c\n  \
                    map = { (var.key) = 1 }\n  days = \"a\" == var.b ? 1 : 2 # d\n  age = 14 * 24 * 60 * 60\n}\nlast = 1\n";
        insta::assert_snapshot!(dump(parse, text));
    }

    #[test]
    fn what_only_looks_like_a_bracket_closes_nothing() {
        let text = concat!(
            "a = [for k in var.m : \"%{ if k == \"}\" }x%{ endif }\"]\nb = {\n  # why )\n  for k in var.l : k => k\n}\n",
            "c = merge({ d = 1 },\n  yamldecode(<<-EOT\n    e: '(\n    EOT\n  ))\nf = 1\n",
        );
        let parsed = parse(&file(text));
        assert_eq!(parsed.errors, []);
        let keys: Vec<&str> = parsed.documents[0].entries().iter().map(|e| &*e.key).collect();
        assert_eq!(keys, ["a", "b", "c", "f"]);
    }

    #[test]
    fn what_is_broken_is_told_with_its_place() {
        for text in ["a", "a = ", "a = [1", "a { b = 1", "a = \"x", "a = <<E\n", "= 1", "a = \"${x\"", "a = )"] {
            let parsed = parse(&file(text));
            assert_eq!(parsed.errors.len(), 1, "{text}: {:?}", parsed.errors);
            assert!(parsed.errors[0].span.end as usize <= text.len(), "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        for text in ["a = ".to_string() + &"[".repeat(100_000), "a {".repeat(100_000), "a = {".repeat(100_000)] {
            let parsed = parse(&file(&text));
            assert!(parsed.errors[0].message.contains("deeper"), "{:?}", parsed.errors);
        }
        assert!(!parse(&file(&"a ".repeat(100_000))).errors.is_empty());
    }
}
