//! Settings files that stand as text inside a ConfigMap or a Secret.

use std::sync::Arc;

use super::{Part, objects};
use crate::source::{SourceFile, Span};
use crate::syntax::{self, Entry, Node, Parsed, Syntax, Value};

/// A settings file that stands as text in another one.
pub(super) struct Inner<'a> {
    /// The file around it.
    file: &'a SourceFile,
    /// The key under which it stands.
    name: &'a str,
    text: &'a str,
    parsed: Parsed,
}

impl Inner<'_> {
    /// As a part of a unit.
    pub(super) fn part(&self) -> Part<'_> {
        Part { file: self.file, name: self.name, parsed: &self.parsed, text: self.text }
    }
}

/// The settings files in the ConfigMaps of some documents, one list for each ConfigMap: the spans of their trees are
/// those of the file around them. What cannot be read stays the text that it is, and so do the files of a ConfigMap
/// of which none `is_read` by any system.
pub(super) fn in_config_maps<'a>(
    documents: impl Iterator<Item = (&'a SourceFile, &'a Node)>,
    is_read: &dyn Fn(&str) -> bool,
) -> Vec<Vec<Inner<'a>>> {
    let mut out = Vec::new();
    for (file, root) in documents {
        for object in objects::of(root).into_iter().filter(|o| o.version == "v1") {
            let key = match object.kind {
                "ConfigMap" => "data",
                "Secret" => "stringData",
                _ => continue,
            };
            let entries = object.node.get(key).map_or(&[][..], Node::entries);
            let texts = entries.iter().filter_map(|e| Some((&*e.key, text_of(file, &e.value)?, syntax_of(&e.key)?)));
            let texts: Vec<(&str, (usize, &str), Syntax)> = texts.collect();
            if texts.iter().any(|(_, (_, text), _)| is_read(text)) {
                let parsed = texts.into_iter().filter_map(|(name, (start, text), syntax)| {
                    Some(Inner { file, name, text, parsed: in_place(file, start, text, syntax)? })
                });
                out.push(parsed.collect());
            }
        }
    }
    out.retain(|files: &Vec<Inner<'_>>| !files.is_empty());
    out
}

/// Keys are named like files; `mesh` is Istio's.
fn syntax_of(key: &str) -> Option<Syntax> {
    if key == "mesh" { Some(Syntax::Yaml) } else { Syntax::of_path(key) }
}

/// The settings that stand as text in a scalar: with their own places where the text stands in the file as it is, else
/// with that of the scalar. `None` for what is no scalar, or cannot be read.
pub(super) fn of_scalar(file: &SourceFile, node: &Node, syntax: Syntax) -> Option<Parsed> {
    // The line that begins a document begins none where it is indented.
    let text = text_of(file, node).map_or("", |(_, text)| text);
    let indent = text.len() - text.trim_start().len();
    let begins = syntax == Syntax::Yaml && text.trim_start().starts_with("---\n");
    of_scalar_after(file, node, if begins { indent + 3 } else { 0 }, syntax)
}

/// As [`of_scalar`], for a text whose first `skip` bytes say what follows.
pub(super) fn of_scalar_after(file: &SourceFile, node: &Node, skip: usize, syntax: Syntax) -> Option<Parsed> {
    let place = text_of(file, node).and_then(|(start, text)| Some((start + skip, text.get(skip..)?)));
    if let Some(parsed) = place.and_then(|(start, text)| in_place(file, start, text, syntax)) {
        return Some(parsed);
    }
    let text = &node.scalar()?.text;
    let text = text.get(skip..).filter(|_| !text.starts_with("---")).unwrap_or(text);
    let inner = SourceFile { id: file.id, path: file.path.clone(), text: text.into() };
    let mut parsed = syntax::parse(syntax, &inner);
    if !parsed.errors.is_empty() {
        return None;
    }
    parsed.documents = parsed.documents.iter().map(|d| Arc::new(placed_at(d, node.span))).collect();
    parsed.comments.clear();
    Some(parsed)
}

/// The settings that stand as text in the scalars below a node, where a text holds all of `marks`.
pub(super) fn texts<'a>(
    file: &'a SourceFile,
    root: &'a Node,
    marks: &'a [&'a str],
    syntax: Syntax,
) -> impl Iterator<Item = Parsed> + 'a {
    let holds = move |node: &&Node| node.scalar().is_some_and(|s| marks.iter().all(|mark| s.text.contains(mark)));
    root.walk().filter(holds).filter_map(move |node| of_scalar(file, node, syntax))
}

/// The files of a unit whose names say nothing of their program, and that hold all of `marks`, read as files of another
/// syntax: `*.conf` is nginx's, Fluent Bit's, Fluentd's and Logstash's.
pub(super) fn conf_files<'a>(unit: &super::Unit<'a>, marks: &[&str], syntax: Syntax) -> Vec<(&'a SourceFile, Parsed)> {
    let is_open = |part: &&Part<'a>| {
        Syntax::of_path(&part.file.path) == Some(Syntax::Nginx)
            && marks.iter().all(|mark| part.file.text.contains(mark))
    };
    unit.parts.iter().filter(is_open).map(|part| (part.file, syntax::parse(syntax, part.file))).collect()
}

/// A copy of a tree whose parts all stand at one place.
pub(super) fn placed_at(node: &Node, span: Span) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => Value::Scalar(crate::syntax::Scalar { verbatim: None, ..scalar.clone() }),
        Value::List(items) => Value::List(items.iter().map(|n| Arc::new(placed_at(n, span))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry { key: e.key.clone(), key_span: span, value: Arc::new(placed_at(&e.value, span)) })
                .collect(),
        ),
    };
    Node { span, value, tag: node.tag.clone() }
}

/// The text of a scalar as it stands in the file, and where it begins; `None` where it stands there otherwise.
fn text_of<'a>(file: &'a SourceFile, node: &Node) -> Option<(usize, &'a str)> {
    let start = content_start(file, node)?;
    // Where it stands as it is, its end is known; that of the node may be a mark after it.
    let scalar = node.scalar()?;
    let exact = file.text.get(start..).filter(|rest| scalar.verbatim.is_some() && rest.starts_with(&*scalar.text));
    if exact.is_some() && !scalar.text.is_empty() {
        return Some((start, file.text.get(start..start + scalar.text.len())?));
    }
    let end = (node.span.end as usize).max(start);
    let text = file.text.get(start..end)?;
    // A quoted scalar ends with its quote.
    let text = if node.scalar()?.verbatim.is_some() { text.trim_end_matches(['"', '\'']) } else { text };
    Some((start, text))
}

fn in_place(file: &SourceFile, start: usize, text: &str, syntax: Syntax) -> Option<Parsed> {
    let inner = SourceFile { id: file.id, path: file.path.clone(), text: text.into() };
    let mut parsed = syntax::parse(syntax, &inner);
    if !parsed.errors.is_empty() {
        return None;
    }
    let by = u32::try_from(start).ok()?;
    parsed.documents = parsed.documents.iter().map(|d| Arc::new(shifted(d, by))).collect();
    parsed.comments.iter_mut().for_each(|c| c.span = moved(c.span, by));
    Some(parsed)
}

/// Where the text begins: below the `|` of a block, whose lines stand in the file as they are but for their indent;
/// else where the scalar stands byte for byte.
fn content_start(file: &SourceFile, node: &Node) -> Option<usize> {
    let start = node.span.start as usize;
    let raw = file.text.get(start..node.span.end as usize)?;
    if raw.starts_with('|') {
        return Some(start + raw.find('\n')? + 1);
    }
    node.scalar()?.verbatim.filter(|_| !raw.starts_with('>')).map(|offset| offset as usize)
}

/// A copy of a tree, moved; as deep as the reader allows.
fn shifted(node: &Node, by: u32) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => {
            let mut scalar = scalar.clone();
            scalar.verbatim = scalar.verbatim.map(|v| v.saturating_add(by));
            Value::Scalar(scalar)
        }
        Value::List(items) => Value::List(items.iter().map(|n| Arc::new(shifted(n, by))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry {
                    key: e.key.clone(),
                    key_span: moved(e.key_span, by),
                    value: Arc::new(shifted(&e.value, by)),
                })
                .collect(),
        ),
    };
    Node { span: moved(node.span, by), value, tag: node.tag.clone() }
}

fn moved(span: Span, by: u32) -> Span {
    Span { start: span.start.saturating_add(by), end: span.end.saturating_add(by), ..span }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::systems::{Unit, Versions, extract};

    fn file(text: String) -> SourceFile {
        SourceFile { id: FileId(0), path: "config.yaml".into(), text: text.into() }
    }

    fn config_map(name: &str, data: &str) -> String {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata:\n{data}")
    }

    #[test]
    fn only_what_some_system_reads_is_parsed_and_judged_by_its_own_text() {
        let kong = "  kong.yaml: |\n    _format_version: \"3.0\"\n    services: []\n";
        let board = "  board.json: |\n    {\"panels\": []}\n  not-a-file: _format_version\n";
        let file = file(config_map("kong", kong) + &config_map("board", board));
        let parsed = syntax::yaml::parse(&file);
        let documents = || parsed.documents.iter().map(|d| (&file, &**d));
        let is_read = |text: &str| text.contains("_format_version");
        let found = in_config_maps(documents(), &is_read);
        let texts: Vec<Vec<&str>> = found.iter().map(|files| files.iter().map(|f| f.part().text).collect()).collect();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(
            texts[0][0].trim_start().starts_with("_format_version") && !texts[0][0].contains("panels"),
            "{texts:?}"
        );
    }

    #[test]
    fn many_of_them_take_as_long_as_they_are() {
        let board = format!("  board.json: |\n    {{\"panels\": [{}]}}\n", vec!["\"a panel\""; 40].join(", "));
        let file = file((0..3_000).map(|i| config_map(&format!("board-{i}"), &board)).collect());
        let start = std::time::Instant::now();
        let parsed = syntax::yaml::parse(&file);
        extract(&Unit { parts: vec![Part::new(&file, &parsed)] }, &Versions::default());
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 60.0, "{seconds} s");
    }
}
