//! Directives: what formats of words and blocks become in the tree, and how to ask for them.
//!
//! `proxy_pass http://shop;` is an entry whose value is the list of its arguments. A block, as that of
//! `location /shop { … }`, is a mapping of directives and comes last in that list.

use std::sync::Arc;

use super::tree::{
    Entry, MAX_DEPTH, MAX_ERRORS, MAX_VALUES, Node, Parsed, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value,
};
use crate::source::{SourceFile, Span};

/// The arguments and the block of a directive.
impl Node {
    /// The arguments of a directive: its words, the block left out.
    pub fn args(&self) -> impl Iterator<Item = &Node> {
        self.items().iter().map(|n| &**n).filter(|n| n.scalar().is_some())
    }

    /// The text of the argument number `n`, from 0.
    pub fn arg(&self, n: usize) -> Option<&str> {
        self.args().nth(n).and_then(|a| a.scalar()).map(|s| &*s.text)
    }

    /// The block of a directive.
    pub fn block(&self) -> Option<&Node> {
        self.items().last().map(|n| &**n).filter(|n| matches!(n.value, Value::Map(_)))
    }

    /// The directives of a block with this name, in the order of the file.
    pub fn directives<'n>(&'n self, name: &str) -> impl Iterator<Item = &'n Entry> {
        self.entries().iter().filter(move |e| &*e.key == name)
    }

    /// The last directive of a block with this name.
    pub fn directive(&self, name: &str) -> Option<&Entry> {
        self.entry(name)
    }
}

impl Entry {
    /// A directive without its block: from its name to its last argument.
    pub fn head(&self) -> Span {
        self.value.args().last().map_or(self.key_span, |last| self.key_span.to(last.span))
    }
}

/// A word of such a format.
pub(super) struct Word {
    /// The text, escapes resolved.
    pub text: String,
    /// With its quotes.
    pub range: std::ops::Range<usize>,
    /// Whether it stands without quotes.
    pub plain: bool,
    /// Where the text stands in the file byte for byte.
    pub verbatim: Option<usize>,
}

/// Directives as they are read, one after the other. A stack, so that no depth of a text can exhaust that of a thread.
pub(super) struct Blocks<'f> {
    file: &'f SourceFile,
    open: Vec<Open>,
    values: usize,
    /// Set when the text is not worth reading on.
    full: bool,
    pub out: Parsed,
}

/// A block that is not closed yet; the whole text is the first.
struct Open {
    /// The words before its brace; none for the whole text.
    head: Vec<Word>,
    start: usize,
    entries: Vec<Entry>,
}

impl<'f> Blocks<'f> {
    pub(super) fn new(file: &'f SourceFile) -> Self {
        let whole = Open { head: Vec::new(), start: 0, entries: Vec::new() };
        Self { file, open: vec![whole], values: 0, full: false, out: Parsed::default() }
    }

    /// Whether there is more in the text than a tree may hold.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Tells what is wrong at a place.
    pub(super) fn error(&mut self, range: std::ops::Range<usize>, message: impl Into<String>) {
        if self.out.errors.len() < MAX_ERRORS {
            let range = super::tree::within(&self.file.text, range);
            self.out.errors.push(SyntaxError { span: self.file.span(range), message: message.into() });
        }
    }

    /// Gives up: the text is too large or too deep, and what was read of it is dropped.
    fn refuse(&mut self, at: usize, message: &str) {
        self.full = true;
        self.open.truncate(1);
        if let Some(whole) = self.open.first_mut() {
            whole.entries.clear();
        }
        self.out.errors.clear();
        let end = super::tree::within(&self.file.text, at..at + 1);
        self.out.errors.push(SyntaxError { span: self.file.span(end), message: message.into() });
    }

    /// How many blocks are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Adds a directive without a block. No words: nothing to add.
    pub(super) fn directive(&mut self, words: Vec<Word>) {
        let Some(last) = words.last() else { return };
        let end = last.range.end;
        self.add(words, end, None);
    }

    /// Opens the block of a directive.
    pub(super) fn open(&mut self, head: Vec<Word>, at: usize) {
        if self.full {
            return;
        }
        if self.open.len() > MAX_DEPTH {
            return self.refuse(at, TOO_DEEP);
        }
        self.open.push(Open { head, start: at, entries: Vec::new() });
    }

    /// Closes the innermost block; tells whether there was one.
    pub(super) fn close(&mut self, end: usize) -> bool {
        if self.open.len() < 2 {
            return false;
        }
        if let Some(Open { head, start, entries }) = self.open.pop() {
            let block = Node::new(self.file.span(start..end), Value::Map(entries));
            self.add(head, end, Some(block));
        }
        true
    }

    fn add(&mut self, words: Vec<Word>, end: usize, block: Option<Node>) {
        if self.full {
            return;
        }
        self.values += words.len() + 1;
        if self.values > MAX_VALUES {
            return self.refuse(end.saturating_sub(1), TOO_MANY);
        }
        let start = words.first().map_or(end, |w| w.range.start);
        let mut words = words.into_iter();
        // The block of global options in a Caddyfile has no name.
        let (key, key_span) = match words.next() {
            Some(name) => (Arc::from(name.text), self.file.span(name.range)),
            None => (
                Arc::from(""),
                block.as_ref().map_or(self.file.span(start..start), |b| Span { end: b.span.start, ..b.span }),
            ),
        };
        let mut items: Vec<Arc<Node>> = words.map(|w| Arc::new(self.scalar(w))).collect();
        items.extend(block.map(Arc::new));
        let span = match (items.first(), items.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span { start: key_span.end, ..key_span },
        };
        let entry = Entry { key, key_span, value: Arc::new(Node::new(span, Value::List(items))) };
        if let Some(open) = self.open.last_mut() {
            open.entries.push(entry);
        }
    }

    fn scalar(&self, word: Word) -> Node {
        let verbatim = word.verbatim.and_then(|at| u32::try_from(at).ok());
        let scalar = Scalar { text: word.text.into(), plain: word.plain, verbatim };
        Node::new(self.file.span(word.range), Value::Scalar(scalar))
    }

    /// The tree. What is still open ends here; `unclosed` is what to say of it, if that is wrong.
    pub(super) fn finish(mut self, unclosed: Option<&str>) -> Parsed {
        let end = self.file.text.len();
        while self.depth() > 0 {
            if let (Some(message), Some(open)) = (unclosed, self.open.last()) {
                let at = open.start;
                self.error(at..at + 1, message);
            }
            self.close(end);
        }
        let entries = self.open.pop().map_or(Vec::new(), |whole| whole.entries);
        if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
            let span = first.key_span.to(last.value.span);
            self.out.documents.push(Arc::new(Node::new(span, Value::Map(entries))));
        }
        self.out.errors.sort_by_key(|e| e.span);
        self.out
    }
}

/// A tree of directives as the tests of their syntaxes show it.
#[cfg(test)]
pub(super) fn shown(node: &super::Node) -> String {
    let entry = |e: &super::Entry| {
        let args: Vec<String> = e.value.args().map(|a| format!("<{}>", a.scalar().unwrap().text)).collect();
        let block = e.value.block().map_or(String::new(), |b| format!(" {{ {} }}", shown(b)));
        [e.key.to_string()].into_iter().chain(args).collect::<Vec<_>>().join(" ").trim().to_string() + &block
    };
    node.entries().iter().map(entry).collect::<Vec<_>>().join("; ")
}
