//! The parser's events to nodes, without recursion.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, ScalarStyle, Span as RawSpan, StructureStyle, Tag};

use super::{merge, source};
use crate::source::SourceFile;
use crate::syntax::tree::{
    Entry, MAX_DEPTH, MAX_ERRORS, MAX_VALUES, Node, Scalar, SyntaxError, TOO_DEEP, TOO_MANY, Value,
};

/// Why a document is not built.
pub(super) struct Refusal {
    pub(super) range: Range<usize>,
    pub(super) message: String,
}

/// A finished node with what its surroundings need to know.
#[derive(Clone)]
struct Built {
    node: Arc<Node>,
    /// Where it stands: an alias stands elsewhere than its node.
    place: Range<usize>,
    /// What walking it costs, aliases expanded, in bytes of text and a constant for each node.
    weight: u64,
    /// How many levels it has, aliases expanded.
    height: usize,
    /// Whether it is a plain `<<`.
    is_merge: bool,
}

/// A collection that is still open.
struct Frame {
    start: usize,
    /// The end of the last thing in it.
    end: usize,
    style: StructureStyle,
    anchor: usize,
    tag: Option<Arc<str>>,
    weight: u64,
    height: usize,
    items: Items,
}

enum Items {
    List(Vec<Arc<Node>>),
    Map { entries: Vec<Entry>, merges: Vec<usize>, key: Option<Built> },
}

/// What an alias or a node adds to the weight besides its text.
const NODE_WEIGHT: u64 = 8;

/// Builds the documents of one file.
pub(super) struct Builder<'f> {
    file: &'f SourceFile,
    stack: Vec<Frame>,
    root: Option<Arc<Node>>,
    /// Finished anchors of the document by the parser's number; one that is missing is still open.
    anchors: BTreeMap<usize, Built>,
    /// What aliases may still add, for the whole file.
    budget: u64,
    /// How many values were read in the whole file.
    values: usize,
}

impl<'f> Builder<'f> {
    /// A builder whose aliases may expand the file to about ten times its size, and small files to 1 MiB.
    pub(super) fn new(file: &'f SourceFile) -> Self {
        let budget = (file.text.len() as u64).saturating_mul(10).saturating_add(1 << 20);
        Self { file, stack: Vec::new(), root: None, anchors: BTreeMap::new(), budget, values: 0 }
    }

    /// Takes an event in; returns a document when it ends. What does not spoil the document goes to `errors`.
    pub(super) fn event(
        &mut self,
        event: Event<'_>,
        span: RawSpan,
        errors: &mut Vec<SyntaxError>,
    ) -> Result<Option<Arc<Node>>, Refusal> {
        let range = span.byte_range().unwrap_or_default();
        self.values += usize::from(event.is_node());
        if self.values > MAX_VALUES {
            return Err(Refusal { range, message: TOO_MANY.into() });
        }
        match event {
            Event::DocumentStart(..) => self.abandon(),
            Event::DocumentEnd => {
                self.anchors.clear();
                return Ok(self.root.take());
            }
            Event::Scalar(text, style, anchor, tag) => {
                let built = self.scalar(&text, style, tag.as_deref(), range);
                self.finish(anchor, built);
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(range, style, anchor, tag.as_deref(), Items::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let items = Items::Map { entries: Vec::new(), merges: Vec::new(), key: None };
                self.open(range, style, anchor, tag.as_deref(), items)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range, errors),
            Event::Alias(anchor) => self.alias(anchor, range)?,
            Event::UnresolvedAlias(name) => {
                let message = format!("the alias *{name} names no anchor that stands before it in this document");
                if errors.len() < MAX_ERRORS {
                    errors.push(SyntaxError { span: self.file.span(range.clone()), message });
                }
                self.finish(0, self.null(range));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Drops the document that is being built.
    pub(super) fn abandon(&mut self) {
        self.stack.clear();
        self.root = None;
        self.anchors.clear();
    }

    fn open(
        &mut self,
        range: Range<usize>,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        items: Items,
    ) -> Result<(), Refusal> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep(range));
        }
        let tag = tag.and_then(foreign_tag);
        let (mut start, end) = (range.start, range.end);
        if let (Some(key), StructureStyle::Block, Items::List(_)) = (self.pending_key(), style, &items) {
            start = source::first_dash(&self.file.text, key.place.end..start).unwrap_or(start);
        }
        self.stack.push(Frame { start, end, style, anchor, tag, weight: NODE_WEIGHT, height: 1, items });
        Ok(())
    }

    fn close(&mut self, range: Range<usize>, errors: &mut Vec<SyntaxError>) {
        let Some(frame) = self.stack.pop() else { return };
        // A block has no end of its own: the parser reports it where the next thing begins.
        let end = if frame.style == StructureStyle::Flow { range.end } else { frame.end };
        let value = match frame.items {
            Items::List(items) => Value::List(items),
            Items::Map { entries, merges, .. } if merges.is_empty() => Value::Map(entries),
            Items::Map { entries, merges, .. } => Value::Map(merge::apply(entries, &merges, errors)),
        };
        let place = frame.start..end;
        let node = Arc::new(Node { span: self.file.span(place.clone()), value, tag: frame.tag });
        let built = Built { node, place, weight: frame.weight, height: frame.height, is_merge: false };
        self.finish(frame.anchor, built);
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) -> Result<(), Refusal> {
        let Some(target) = self.anchors.get(&anchor).cloned() else {
            return Err(Refusal { range, message: "the alias refers to a value that it is part of".into() });
        };
        if self.stack.len() + target.height > MAX_DEPTH {
            return Err(too_deep(range));
        }
        let Some(rest) = self.budget.checked_sub(target.weight) else {
            let message = "the aliases of this file expand it out of proportion to its size".into();
            return Err(Refusal { range, message });
        };
        self.budget = rest;
        self.finish(0, Built { place: range, is_merge: false, ..target });
        Ok(())
    }

    /// The key whose value comes next.
    fn pending_key(&self) -> Option<&Built> {
        match &self.stack.last()?.items {
            Items::Map { key, .. } => key.as_ref(),
            Items::List(_) => None,
        }
    }

    /// Hands a finished node to the collection around it.
    fn finish(&mut self, anchor: usize, built: Built) {
        if anchor != 0 {
            self.anchors.insert(anchor, built.clone());
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(built.node);
            return;
        };
        frame.end = frame.end.max(built.place.end);
        frame.start = frame.start.min(built.place.start);
        frame.weight = frame.weight.saturating_add(built.weight);
        frame.height = frame.height.max(built.height + 1);
        match &mut frame.items {
            Items::List(items) => items.push(built.node),
            Items::Map { entries, merges, key } => match key.take() {
                None => *key = Some(built),
                Some(key) => {
                    if key.is_merge {
                        merges.push(entries.len());
                    }
                    let key_span = self.file.span(key.place.clone());
                    entries.push(Entry { key: key_text(self.file, &key), key_span, value: built.node });
                }
            },
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>, mut range: Range<usize>) -> Built {
        let whole = &*self.file.text;
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if is_block {
            let after = self.pending_key().map_or(0, |key| key.place.end);
            range.start = source::block_indicator(whole, after..range.start).unwrap_or(range.start);
        }
        if range.is_empty() {
            let at = self.place_of_nothing(range.start);
            range = at..at;
        }
        let raw = whole.get(range.clone()).unwrap_or("");
        // The parser says `~` where nothing is written.
        let text = if raw.is_empty() { "" } else { text };
        let scalar = Scalar {
            text: text.into(),
            plain: is_plain(style, tag),
            verbatim: source::verbatim(raw, text, style).map(|at| self.file.span(range.start + at..range.end).start),
        };
        let place = if is_block { range.start..range.start + source::trimmed(raw).len() } else { range };
        let is_merge = text == "<<" && style == ScalarStyle::Plain && tag.is_none();
        let node =
            Node { span: self.file.span(place.clone()), value: Value::Scalar(scalar), tag: tag.and_then(foreign_tag) };
        Built { node: Arc::new(node), place, weight: NODE_WEIGHT + text.len() as u64, height: 1, is_merge }
    }

    /// Where a value stands that nobody wrote: after the colon, or after a key that has none.
    fn place_of_nothing(&self, at: usize) -> usize {
        let (before, after) = self.file.text.split_at_checked(at).unwrap_or_default();
        if after.starts_with(':') {
            return at + 1;
        }
        match self.pending_key() {
            Some(key) if before.ends_with(char::is_whitespace) => key.place.end,
            _ => at,
        }
    }

    fn null(&self, range: Range<usize>) -> Built {
        let scalar = Scalar { text: "".into(), plain: true, verbatim: None };
        let node = Arc::new(Node::new(self.file.span(range.clone()), Value::Scalar(scalar)));
        Built { node, place: range, weight: NODE_WEIGHT, height: 1, is_merge: false }
    }
}

fn too_deep(range: Range<usize>) -> Refusal {
    Refusal { range, message: TOO_DEEP.into() }
}

/// The text of a key; of one that is no scalar, its source.
fn key_text(file: &SourceFile, key: &Built) -> Arc<str> {
    match &key.node.value {
        Value::Scalar(scalar) => scalar.text.clone(),
        _ => file.text.get(key.place.clone()).unwrap_or("").into(),
    }
}

/// Whether the text may stand for a number, a boolean or null. A core tag overrules the quotes.
fn is_plain(style: ScalarStyle, tag: Option<&Tag>) -> bool {
    let Some(tag) = tag else { return style == ScalarStyle::Plain };
    match tag.core_suffix() {
        Some("int" | "float" | "bool" | "null") => true,
        Some(_) => false,
        // The tag `!` alone says: a string, whatever it looks like.
        None => style == ScalarStyle::Plain && !(tag.handle().is_empty() || tag.suffix().is_empty()),
    }
}

/// The tag with its handle resolved, unless it is one of the core schema or `!` alone.
fn foreign_tag(tag: &Tag) -> Option<Arc<str>> {
    let whole = format!("{}{}", tag.handle(), tag.suffix());
    (tag.core_suffix().is_none() && whole != "!").then(|| whole.into())
}
