//! YAML with template actions in it (Helm charts, `${VAR}`): the actions are masked byte for byte, so that what is left is
//! YAML with the places of the file, and what they stood for is put back into the tree as the text that it is.
//!
//! An action alone on its line becomes blanks, or an entry where it puts a block in; anywhere else it becomes a word. Of an
//! `if` with an `else` both branches are read: what differs in the second is a document more.

mod actions;
mod helpers;
mod values;

use std::ops::Range;
use std::sync::Arc;

pub use helpers::Helpers;
pub use values::{Chart, resolve};

use super::tree::{Entry, MAX_ERRORS, Node, Parsed, Scalar, Value};
use super::yaml;
use crate::source::{SourceFile, Span};
use actions::{Actions, Branch};

/// Reads a YAML file that may be a template.
pub fn parse(file: &SourceFile) -> Parsed {
    let plain = yaml::parse(file);
    let go = file.text.contains("{{");
    let shell = file.text.contains("${");
    let is_template = go || shell && !plain.errors.is_empty();
    if !is_template {
        return plain;
    }
    let actions = Actions::find(&file.text);
    if plain.errors.is_empty() && lie_in_texts(&plain, &actions.holes) {
        return plain;
    }
    let mut out = read(file, &actions, Branch::First);
    if actions.has_else() {
        let mut other = read(file, &actions, Branch::Last);
        let known = std::mem::take(&mut out.documents);
        let new = other.documents.drain(..).enumerate().filter(|(i, d)| known.get(*i) != Some(d)).map(|(_, d)| d);
        let new: Vec<Arc<Node>> = new.collect();
        out.documents = known.into_iter().chain(new).collect();
        out.comments.append(&mut other.comments);
        out.errors.append(&mut other.errors);
    }
    out.comments.sort_by_key(|c| c.span);
    out.comments.dedup_by_key(|c| c.span);
    out.errors.sort_by_key(|e| e.span);
    out.errors.dedup_by_key(|e| e.span);
    out.errors.truncate(MAX_ERRORS);
    for error in &mut out.errors {
        error.message = format!("a template that is no YAML without its actions ({})", error.message);
    }
    out
}

/// With entries for the blocks that are put in, as far as that is YAML.
fn read(file: &SourceFile, actions: &Actions, branch: Branch) -> Parsed {
    let with_blocks = read_as(file, actions, branch, true);
    if with_blocks.errors.is_empty() { with_blocks } else { read_as(file, actions, branch, false) }
}

fn read_as(file: &SourceFile, actions: &Actions, branch: Branch, blocks: bool) -> Parsed {
    let text = actions.mask(&file.text, branch, blocks);
    let masked = SourceFile { id: file.id, path: file.path.clone(), text: text.into() };
    let mut parsed = yaml::parse(&masked);
    let restore = Restore { text: &file.text, holes: &actions.holes };
    parsed.documents = parsed.documents.iter().map(|d| restore.node(d)).collect();
    for comment in parsed.comments.iter_mut().filter(|c| restore.is_touched(c.span.range())) {
        comment.text = restore.source(comment.span.range()).trim_start_matches('#').into();
    }
    parsed
}

/// Whether all of these parts of the text lie in scalars and comments as they were read.
fn lie_in_texts(parsed: &Parsed, holes: &[Range<usize>]) -> bool {
    let scalars = parsed.documents.iter().flat_map(|d| d.walk()).filter(|n| n.scalar().is_some()).map(|n| n.span);
    let mut texts: Vec<(u32, u32)> =
        scalars.chain(parsed.comments.iter().map(|c| c.span)).map(|s| (s.start, s.end)).collect();
    texts.sort_unstable();
    holes.iter().all(|hole| {
        let after = texts.partition_point(|(start, _)| *start as usize <= hole.start);
        after.checked_sub(1).and_then(|at| texts.get(at)).is_some_and(|(_, end)| hole.end <= *end as usize)
    })
}

/// Puts the text of actions back where they were masked.
struct Restore<'a> {
    text: &'a str,
    holes: &'a [Range<usize>],
}

impl Restore<'_> {
    fn is_touched(&self, range: Range<usize>) -> bool {
        let after = self.holes.partition_point(|hole| hole.end <= range.start);
        self.holes.get(after).is_some_and(|hole| hole.start < range.end)
    }

    /// As deep as the reader allows.
    fn node(&self, node: &Arc<Node>) -> Arc<Node> {
        if !self.is_touched(node.span.range()) {
            return node.clone();
        }
        let value = match &node.value {
            Value::Scalar(scalar) => Value::Scalar(self.scalar(node, scalar)),
            Value::List(items) => Value::List(items.iter().map(|n| self.node(n)).collect()),
            Value::Map(entries) => Value::Map(entries.iter().map(|e| self.entry(e)).collect()),
        };
        Arc::new(Node { span: self.whole(node), value, tag: node.tag.clone() })
    }

    /// The place of a node, with the byte of an action that was made the blank behind a key.
    fn whole(&self, node: &Node) -> Span {
        let before = node.span.range().start.checked_sub(1);
        let after = self.holes.partition_point(|hole| hole.end <= node.span.range().start);
        let hole = self.holes.get(after).filter(|hole| Some(hole.start) == before && node.scalar().is_some());
        match hole.filter(|hole| actions::touches_key(self.text, hole)) {
            Some(_) => Span { start: node.span.start.saturating_sub(1), ..node.span },
            None => node.span,
        }
    }

    fn entry(&self, entry: &Entry) -> Entry {
        if let Some(block) = self.block(entry) {
            let text: Arc<str> = block.into();
            let scalar = Scalar { text: text.clone(), plain: true, verbatim: None };
            let value = Arc::new(Node { span: entry.key_span, value: Value::Scalar(scalar), tag: None });
            return Entry { key: text, key_span: entry.key_span, value };
        }
        let key = match self.is_touched(entry.key_span.range()) {
            true => self.source(entry.key_span.range()).trim_matches(['"', '\'']).into(),
            false => entry.key.clone(),
        };
        Entry { key, key_span: entry.key_span, value: self.node(&entry.value) }
    }

    /// The action that an entry stands for, without what says how it is indented.
    fn block(&self, entry: &Entry) -> Option<String> {
        let is_masked = entry.key.chars().skip(1).all(|c| c == 'x') && entry.value.as_str() == Some("x");
        let value = entry.value.span.range().start;
        let after = self.holes.partition_point(|hole| hole.end <= value);
        let hole = self.holes.get(after).filter(|hole| is_masked && hole.contains(&value))?;
        let (_, action) = actions::block(self.text.get(hole.clone())?)?;
        Some(format!("{{{{ {action} }}}}"))
    }

    fn scalar(&self, node: &Node, scalar: &Scalar) -> Scalar {
        let source = self.source(self.whole(node).range());
        if source.starts_with(['|', '>']) {
            return Scalar { text: without_indent(source).into(), ..scalar.clone() };
        }
        let text = source.trim_matches(['"', '\'']);
        Scalar { text: text.into(), ..scalar.clone() }
    }

    fn source(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// The lines of a block below its mark, without what all of them are indented by.
fn without_indent(block: &str) -> String {
    let lines: Vec<&str> = block.lines().skip(1).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let least = lines.iter().filter(|l| !l.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut out = String::new();
    for line in lines {
        out.push_str(line.get(least..).unwrap_or_default());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
