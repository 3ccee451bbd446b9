//! Dotted keys to nested mappings and lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lines::Line;
use crate::source::{SourceFile, Span};
use crate::syntax::tree::{Entry, MAX_DEPTH, MAX_VALUES, Node, Scalar, TOO_DEEP, TOO_MANY, Value};

/// What was read so far.
#[derive(Default)]
pub(super) struct Nest {
    root: Branch,
    values: usize,
}

/// Everything under one part of a key.
#[derive(Default)]
struct Branch {
    /// The key that first led here.
    key: Option<Span>,
    /// From the first key to the end of the last value below.
    span: Option<Span>,
    /// The values that the keys to here have themselves.
    scalars: Vec<(Span, Arc<Node>)>,
    /// Named parts, in the order of the file.
    fields: Vec<(Arc<str>, Branch)>,
    by_name: BTreeMap<Arc<str>, usize>,
    /// Numbered parts.
    items: BTreeMap<u64, Branch>,
}

/// One part of a key.
enum Step<'k> {
    Name(&'k str),
    Index(u64),
}

impl Nest {
    /// Adds a line; tells what is wrong with its key.
    pub(super) fn insert(&mut self, file: &SourceFile, line: Line) -> Result<(), &'static str> {
        let steps = steps(&line.key);
        if steps.len() >= MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        self.values += steps.len();
        if self.is_full() {
            return Err(TOO_MANY);
        }
        let key = file.span(line.key_range);
        let span = file.span(line.value_range);
        let verbatim = line.is_verbatim.then_some(span.start);
        // Java knows no null here: `null` and nothing are texts like any other.
        let scalar = Scalar { text: line.value.into(), plain: false, verbatim };
        let node = Arc::new(Node::new(span, Value::Scalar(scalar)));
        let mut branch = &mut self.root;
        branch.cover(key, span);
        for step in steps {
            branch = branch.step(&step);
            branch.cover(key, span);
        }
        branch.scalars.push((key, node));
        Ok(())
    }

    /// Whether there are more values than a tree may hold.
    pub(super) fn is_full(&self) -> bool {
        self.values > MAX_VALUES
    }

    /// The whole tree, if there is any line.
    pub(super) fn finish(self, file: &SourceFile) -> Option<Node> {
        let span = self.root.span?;
        let mut entries = Vec::new();
        self.root.entries(file, &mut entries);
        Some(Node::new(span, Value::Map(entries)))
    }
}

impl Branch {
    fn cover(&mut self, key: Span, value: Span) {
        self.key.get_or_insert(key);
        let span = self.span.get_or_insert(key);
        *span = span.to(key).to(value);
    }

    fn step(&mut self, step: &Step<'_>) -> &mut Branch {
        let name = match step {
            Step::Index(index) => return self.items.entry(*index).or_default(),
            Step::Name(name) => *name,
        };
        let at = match self.by_name.get(name) {
            Some(&at) => at,
            None => {
                let name: Arc<str> = name.into();
                self.by_name.insert(name.clone(), self.fields.len());
                self.fields.push((name, Branch::default()));
                self.fields.len() - 1
            }
        };
        &mut self.fields[at].1 // `by_name` holds only positions in `fields`.
    }

    /// The entries of the mapping that the named parts form.
    fn entries(self, file: &SourceFile, out: &mut Vec<Entry>) {
        for (name, branch) in self.fields {
            for (key_span, value) in branch.values(file) {
                out.push(Entry { key: name.clone(), key_span, value });
            }
        }
    }

    /// What a key part stands for: its own values, then its list, then its mapping; mostly only one of them.
    fn values(mut self, file: &SourceFile) -> Vec<(Span, Arc<Node>)> {
        let mut out = std::mem::take(&mut self.scalars);
        let key = self.key.unwrap_or(Span::start_of(file.id));
        let span = self.span.unwrap_or(key);
        if !self.items.is_empty() {
            let items = std::mem::take(&mut self.items);
            let items = items.into_values().filter_map(|b| b.values(file).pop()).map(|(_, node)| node).collect();
            out.push((key, Arc::new(Node::new(span, Value::List(items)))));
        }
        if !self.fields.is_empty() {
            let mut entries = Vec::new();
            self.entries(file, &mut entries);
            out.push((key, Arc::new(Node::new(span, Value::Map(entries)))));
        }
        out
    }
}

/// The parts of a key, at most [`MAX_DEPTH`] of them: names between dots, numbers in brackets; brackets around anything else quote a name.
fn steps(key: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = key;
    // One more than may be is enough to know that there are too many.
    while !rest.is_empty() && steps.len() < MAX_DEPTH {
        if let Some((inner, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            steps.push(match inner.parse() {
                Ok(index) if !steps.is_empty() => Step::Index(index),
                _ => Step::Name(inner.trim_matches(['"', '\''])),
            });
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '[')).map_or(rest.len(), |(at, _)| at);
        let (name, after) = rest.split_at(end);
        steps.push(Step::Name(name));
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    if steps.is_empty() {
        steps.push(Step::Name(""));
    }
    steps
}
