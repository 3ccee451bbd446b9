//! One tree for YAML, JSON, TOML, .properties and files of directives: a system's adapter does not care in which syntax its
//! settings came.

use std::sync::Arc;

use crate::source::Span;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// From the first to the last byte of the value. A scalar's span includes its quotes.
    pub span: Span,
    /// The value itself.
    pub value: Value,
    /// A YAML tag that is not of the core schema, as written with its handle resolved: `!Ref`, `!GetAtt`.
    pub tag: Option<Arc<str>>,
}

/// The three shapes of a value. Children are shared, so that an alias costs nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    List(Vec<Arc<Node>>),
    /// A mapping in the order of the file; of keys written twice the last one wins in [`Node::get`].
    Map(Vec<Entry>),
}

/// The text of a scalar, escapes resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// The text.
    pub text: Arc<str>,
    /// Whether it stands without quotes, so that `3`, `true` and `null` mean what they look like.
    pub plain: bool,
    /// Where the text maps byte for byte to the source, the offset of its first byte there
    /// (a plain scalar, a quoted one without escapes); for settings embedded in other text.
    pub verbatim: Option<u32>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key's text.
    pub key: Arc<str>,
    /// The key's place.
    pub key_span: Span,
    /// The value.
    pub value: Arc<Node>,
}

impl Entry {
    /// From the key to the end of the value.
    pub fn span(&self) -> Span {
        self.key_span.to(self.value.span)
    }
}

impl Node {
    /// A value without a tag.
    pub fn new(span: Span, value: Value) -> Self {
        Self { span, value, tag: None }
    }

    /// The value under `key` of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|e| &*e.value)
    }

    /// The entry under `key` of a mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|e| &*e.key == key)
    }

    /// The entry under the first of `keys` that is there: spellings of one key.
    pub fn entry_any(&self, keys: &[&str]) -> Option<&Entry> {
        keys.iter().find_map(|key| self.entry(key))
    }

    /// The value under the first of `keys` that is there.
    pub fn get_any(&self, keys: &[&str]) -> Option<&Node> {
        self.entry_any(keys).map(|e| &*e.value)
    }

    /// The entry whose key is `key` when case, `-` and `_` do not count (relaxed binding).
    pub fn entry_relaxed(&self, key: &str) -> Option<&Entry> {
        let wanted = relaxed(key);
        self.entries().iter().rev().find(|e| relaxed(&e.key) == wanted)
    }

    /// The value under a chain of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Arc<Node>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The text of a scalar that is not null.
    pub fn as_str(&self) -> Option<&str> {
        self.scalar().filter(|_| !self.is_null()).map(|s| &*s.text)
    }

    /// A whole number, quoted or not (annotations and properties quote theirs); unquoted also `0x1F`, `0o17`, `0b1`.
    pub fn as_int(&self) -> Option<i64> {
        let text = self.as_str()?.trim();
        let text = text.strip_prefix('+').unwrap_or(text);
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let (radix, digits) = [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)]
            .iter()
            .find_map(|(prefix, radix)| Some((*radix, digits.strip_prefix(prefix)?)))
            .filter(|_| self.scalar().is_some_and(|s| s.plain))
            .unwrap_or((10, digits));
        if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
            return None;
        }
        i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).ok()
    }

    /// A number, quoted or not.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_str()?.trim().parse().ok().filter(|n: &f64| n.is_finite())
    }

    /// `true` or `false`, quoted or not.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_str()?.trim() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    /// Whether it is an empty or null scalar.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(|s| s.plain && matches!(&*s.text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// This node and everything below it, parents first. Shared parts are visited once for each place they stand in;
    /// readers refuse a file whose expansion is out of proportion, so the walk is bounded by the file.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            match &node.value {
                Value::Scalar(_) => {}
                Value::List(items) => stack.extend(items.iter().rev().map(|n| &**n)),
                Value::Map(entries) => stack.extend(entries.iter().rev().map(|e| &*e.value)),
            }
            Some(node)
        })
    }
}

/// A key with case, `-` and `_` taken out.
pub fn relaxed(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// A comment: its text without the mark, and its place with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The whole comment, its mark included.
    pub span: Span,
    /// The text after the mark.
    pub text: Arc<str>,
}

/// What a parser made of one text: the trees that could be read, and what could not.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The documents of the stream; one for every syntax but YAML.
    pub documents: Vec<Arc<Node>>,
    /// All comments, in the order of the text.
    pub comments: Vec<Comment>,
    /// What could not be read.
    pub errors: Vec<SyntaxError>,
}

/// A part of a text that is not of its syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What is wrong, for a person.
    pub message: String,
}

/// Nesting deeper than this is refused: no real settings reach it, and dropping or walking a deeper tree could exhaust a stack.
pub const MAX_DEPTH: usize = 256;

/// A file with more values than this is refused: it holds data, not settings, and its tree would take many times its size.
pub const MAX_VALUES: usize = 1_000_000;

/// More errors than this in one file say nothing new.
pub(super) const MAX_ERRORS: usize = 100;

pub(super) const TOO_DEEP: &str = "nested deeper than 256 levels";
pub(super) const TOO_MANY: &str = "holds more than 1,000,000 values: data, not settings";
const _: () = assert!(MAX_DEPTH == 256 && MAX_VALUES == 1_000_000);

/// The part of `range` that lies in `text`, on character boundaries: places that other parsers report.
pub(super) fn within(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    floor(range.start)..floor(range.end.max(range.start))
}
