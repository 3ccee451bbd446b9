//! Any miette `Diagnostic` as text: one frame down the places, in the order of the call.
//!
//! ```text
//! error[retry-amplification]: 1 request can become 16 (4 × 4) when stock answers 503
//!    ╭─ deploy/kong.yaml:7:14
//!  7 │     retries: 3
//!    │              ━ 4 attempts: `retries: 3` on Kong service orders
//!    ├─ src/stock.rs:22:18
//! 22 │         .with_max_times(3)
//!    │          ───────────────── 4 attempts: backon call in `load`
//!    ╰─ help: ...
//! ```

use std::fmt::Write;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use super::line::{self, ShownLine};
use super::paint::{Ink, Painted};
use super::wrap;

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours.
    pub color: bool,
    /// Whether names of rules lead to their pages (OSC 8).
    pub links: bool,
    /// The columns of the terminal.
    pub width: usize,
}

impl Style {
    /// Text in a colour, if there are any.
    pub(in crate::report) fn paint<T>(self, ink: Ink, text: T) -> Painted<T> {
        Painted(self.color.then_some(ink), text)
    }

    /// Text that leads to `url`, if there are links.
    pub(in crate::report) fn link(self, url: &str, text: String) -> String {
        match self.links {
            true => format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            false => text,
        }
    }
}

/// Neighbouring places in one file.
struct Section {
    head: String,
    rows: Vec<Row>,
}

/// A source line with what is marked in it.
struct Row {
    number: usize,
    line: ShownLine,
    marks: Vec<Mark>,
}

struct Mark {
    columns: Range<usize>,
    primary: bool,
    text: String,
}

/// Adds `diagnostic` to `out`: heading, places, further messages, help. Ends with a line end.
pub fn render(diagnostic: &dyn Diagnostic, style: Style, out: &mut String) {
    let related: Vec<&dyn Diagnostic> = diagnostic.related().into_iter().flatten().collect();
    let labelled = std::iter::once(diagnostic).chain(related.iter().copied());
    let numbers = labelled.clone().flat_map(numbers).max().unwrap_or(0);
    let gutter = numbers.to_string().len().max(2);
    let room = style.width.saturating_sub(gutter + 3).max(20);
    let sections: Vec<Section> = labelled.filter_map(|d| section(d, room)).collect();
    let mut frame = Frame { style, gutter, room, ink: ink(diagnostic.severity()), opened: false, out };
    frame.heading(diagnostic);
    for section in &sections {
        frame.section(section);
    }
    for also in related.iter().map(ToString::to_string).filter(|text| !text.is_empty()) {
        frame.branch("├─", None, &also);
    }
    if let Some(help) = diagnostic.help() {
        frame.branch("╰─", Some("help: "), &help.to_string());
    }
}

fn ink(severity: Option<Severity>) -> Ink {
    match severity {
        Some(Severity::Advice) => Ink::Note,
        Some(Severity::Warning) => Ink::Warning,
        Some(Severity::Error) | None => Ink::Error,
    }
}

/// Where frames are written to.
struct Frame<'o> {
    style: Style,
    gutter: usize,
    room: usize,
    ink: Ink,
    opened: bool,
    out: &'o mut String,
}

impl Frame<'_> {
    fn heading(&mut self, diagnostic: &dyn Diagnostic) {
        let word = match self.ink {
            Ink::Note => "note",
            Ink::Warning => "warning",
            _ => "error",
        };
        let word = diagnostic.code().map_or_else(|| word.to_string(), |code| format!("{word}[{code}]"));
        let first = self.style.width.saturating_sub(wrap::width(&word) + 2);
        let url = diagnostic.url().map(|url| url.to_string());
        let lines = wrap::wrap(&diagnostic.to_string(), first, self.style.width.saturating_sub(4));
        for (i, text) in lines.iter().enumerate() {
            let text = self.style.paint(Ink::Strong, text);
            let line = match i {
                0 => {
                    let word = self.style.paint(self.ink, &word).to_string();
                    format!("{}: {text}", url.iter().fold(word, |word, url| self.style.link(url, word)))
                }
                _ => format!("    {text}"),
            };
            self.line(&line);
        }
    }

    fn section(&mut self, section: &Section) {
        let corner = if self.opened { "├─" } else { "╭─" };
        self.opened = true;
        let corner = self.edge(corner);
        self.line(&format!("{corner} {}", section.head));
        let mut last = None;
        for row in &section.rows {
            if last.is_some_and(|n| row.number != n + 1 && row.number != n) {
                let gap = self.edge("┆");
                self.line(&gap);
            }
            last = Some(row.number);
            let number = format!("{:>w$} │", row.number, w = self.gutter);
            self.line(&format!("{} {}", self.style.paint(Ink::Frame, number), row.line.text));
            // A text that does not fit behind its mark goes below it, in line with the source.
            let indent = row.line.text.len() - row.line.text.trim_start().len();
            for mark in &row.marks {
                self.mark(mark, indent);
            }
        }
    }

    fn mark(&mut self, mark: &Mark, indent: usize) {
        let Range { start, end } = mark.columns;
        let end = end.min(self.room).max(start + 1);
        let (line, ink) = if mark.primary { ("━", self.ink) } else { ("─", Ink::Place) };
        let under = format!("{}{}", " ".repeat(start), self.style.paint(ink, line.repeat(end - start)));
        let text = wrap::safe(&mark.text);
        let edge = self.edge("│");
        if end + 1 + wrap::width(&text) <= self.room {
            let text = self.style.paint(ink, &text);
            self.line(&format!("{edge} {under} {text}"));
            return;
        }
        self.line(&format!("{edge} {under}"));
        let indent = indent.min(start).min(self.room / 2);
        for text in wrap::wrap(&text, self.room - indent, self.room - indent) {
            let text = self.style.paint(ink, text);
            self.line(&format!("{edge} {}{text}", " ".repeat(indent)));
        }
    }

    /// A text that hangs on the frame.
    fn branch(&mut self, corner: &str, word: Option<&str>, text: &str) {
        let corner = if self.opened { self.edge(corner) } else { self.edge("──") };
        let word = word.unwrap_or("");
        let room = self.room.saturating_sub(1);
        let edge = if corner.contains('├') { self.edge("│") } else { self.edge(" ") };
        for (i, text) in wrap::wrap(text, room.saturating_sub(word.len()), room.saturating_sub(4)).iter().enumerate() {
            let line = match i {
                0 => format!("{corner} {}{text}", self.style.paint(Ink::Help, word)),
                _ => format!("{edge}      {text}"),
            };
            self.line(&line);
        }
    }

    fn edge(&self, edge: &str) -> String {
        self.style.paint(Ink::Frame, format!("{:w$} {edge}", "", w = self.gutter)).to_string()
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

/// The line numbers that a diagnostic shows.
fn numbers(diagnostic: &dyn Diagnostic) -> Vec<usize> {
    let Some(source) = diagnostic.source_code() else { return Vec::new() };
    let labels = diagnostic.labels().into_iter().flatten();
    labels.filter_map(|label| Some(find(source, &label)?.number)).collect()
}

fn section(diagnostic: &dyn Diagnostic, room: usize) -> Option<Section> {
    let source = diagnostic.source_code()?;
    let mut head = None;
    let mut rows: Vec<Row> = Vec::new();
    for label in diagnostic.labels().into_iter().flatten() {
        let Some(found) = find(source, &label) else { continue };
        let line = line::show(&found.line, found.span.clone(), room);
        head.get_or_insert_with(|| {
            let mut head = wrap::safe(&found.name);
            let separator = if head.is_empty() { "" } else { ":" };
            // Writing to a String cannot fail.
            let _ = write!(head, "{separator}{}:{}", found.number, found.column);
            head
        });
        let mark = Mark {
            columns: line.mark.clone(),
            primary: label.primary(),
            text: label.label().unwrap_or_default().to_string(),
        };
        match rows.last_mut().filter(|row| row.number == found.number && row.line.text == line.text) {
            Some(row) => row.marks.push(mark),
            None => rows.push(Row { number: found.number, line, marks: vec![mark] }),
        }
    }
    Some(Section { head: head?, rows })
}

/// The line in which a label starts, or the part of it around the label.
struct Found {
    name: String,
    number: usize,
    column: usize,
    line: String,
    span: Range<usize>,
}

/// No terminal shows more bytes of a line than this before or after a place.
const AROUND: usize = 4096;

fn find(source: &dyn SourceCode, label: &LabeledSpan) -> Option<Found> {
    // With a line of context on each side the data begins and ends at line ends.
    let contents = source.read_span(label.inner(), 1, 1).ok()?;
    let data = contents.data();
    let at = label.offset().saturating_sub(contents.span().offset()).min(data.len());
    let before = data.get(..at)?;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let from = boundary(data, start.max(at.saturating_sub(AROUND)), start);
    let shown = data.get(from..data.len().min(at + AROUND))?;
    let shown = shown.split(|b| *b == b'\n').next()?;
    let line = String::from_utf8_lossy(shown).into_owned();
    let mark = boundary(line.as_bytes(), at - from, 0);
    Some(Found {
        name: contents.name().unwrap_or_default().to_string(),
        number: contents.line() + before.iter().filter(|b| **b == b'\n').count() + 1,
        column: column(data.get(start..at)?),
        span: mark..mark.saturating_add(label.len()),
        line,
    })
}

/// The nearest start of a character at `at` or before it, not before `least`.
fn boundary(text: &[u8], mut at: usize, least: usize) -> usize {
    while at > least && text.get(at).is_some_and(|b| b & 0b1100_0000 == 0b1000_0000) {
        at -= 1;
    }
    at
}

/// The column, in characters from 1, of what follows `before` in its line.
fn column(before: &[u8]) -> usize {
    let before = before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(before);
    before.iter().filter(|b| **b & 0b1100_0000 != 0b1000_0000).count() + 1
}
