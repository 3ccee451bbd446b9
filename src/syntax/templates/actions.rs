//! Where the actions of a template stand, and which branches they open.

use std::ops::Range;

/// Which of the branches of every `if` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    /// The first.
    First,
    /// The last, where there is an `else`.
    Last,
}

/// The actions of a text.
#[derive(Debug, Default)]
pub(super) struct Actions {
    /// `{{…}}` and `${…}`, in order.
    pub holes: Vec<Range<usize>>,
    /// Those that stand alone on their lines, with all of those lines.
    lines: Vec<Range<usize>>,
    /// Branches of one `if`, first to last, where there is more than one; whether they all stand on one line.
    branches: Vec<(Vec<Range<usize>>, bool)>,
    /// Lines that begin with actions which put nothing there, before something else.
    leads: Vec<Lead>,
    /// Templates that the text defines for elsewhere, where there is more in it than those.
    defines: Vec<Range<usize>>,
}

/// The beginning of a line, up to what stands there.
#[derive(Debug)]
struct Lead {
    /// From the beginning of the line to what stands behind the actions.
    range: Range<usize>,
    /// How far the first action is indented, and so what stands behind it.
    indent: usize,
    /// Whether the first action takes the line end before it away.
    joins: bool,
}

/// An `if`, `with`, `range` or `define` whose `end` is still to come.
struct Open {
    /// Whether an `else` of it stands in the middle of its line.
    inline: bool,
    /// Whether it is a `define`.
    defines: bool,
    /// Where each branch begins, and where the one before it ends.
    starts: Vec<(usize, usize)>,
}

impl Actions {
    pub(super) fn find(text: &str) -> Self {
        let mut out = Self::default();
        let mut at = 0;
        // Where an action of each form is not closed, none that begins behind it is: each text is looked at once.
        let (mut go_ends, mut shell_from) = (true, 0);
        while let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '$'])).map(|n| at + n) {
            let rest = text.get(start..).unwrap_or_default();
            let is_go = rest.starts_with("{{") || rest.starts_with("${{");
            let is_shell = !is_go && rest.starts_with("${");
            at = start + 1;
            if !(is_go && go_ends || is_shell && start >= shell_from) {
                continue;
            }
            match end_of(text, start) {
                Some(end) => {
                    out.holes.push(start..end);
                    at = end;
                }
                None if is_go => go_ends = false,
                None => shell_from = rest.find('\n').map_or(text.len(), |n| start + n),
            }
        }
        out.find_lines(text);
        out.find_leads(text);
        out.find_branches(text);
        out.keep_defines_beside_others(text);
        out
    }

    pub(super) fn has_else(&self) -> bool {
        !self.branches.is_empty()
    }

    /// Actions on lines that hold nothing else.
    fn find_lines(&mut self, text: &str) {
        let mut i = 0;
        while let Some(first) = self.holes.get(i).cloned() {
            let line = text.get(..first.start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
            let mut end = first.end;
            let mut next = i + 1;
            let blank = |range: Range<usize>| text.get(range).is_some_and(|t| t.trim().is_empty());
            let mut alone = blank(line..first.start) && text.get(first.clone()).is_some_and(|t| t.starts_with("{{"));
            let line_end = |from: usize| text.get(from..).and_then(|t| t.find('\n')).map_or(text.len(), |n| from + n);
            let mut stop = line_end(end);
            loop {
                match self.holes.get(next).filter(|hole| hole.start < stop) {
                    Some(hole) => {
                        alone &= blank(end..hole.start);
                        end = hole.end;
                        next += 1;
                        if end > stop {
                            stop = line_end(end);
                        }
                    }
                    None => {
                        alone &= blank(end..stop);
                        end = stop;
                        break;
                    }
                }
            }
            if alone {
                self.lines.push(line..end);
            }
            i = next;
        }
    }

    /// The indent of the block that the only action on a line puts in, and the end of the action.
    fn block_on(&self, text: &str, line: &Range<usize>) -> Option<(usize, usize)> {
        let first = self.holes.partition_point(|hole| hole.start < line.start);
        let hole = self.holes.get(first).filter(|hole| hole.end <= line.end)?;
        let alone = self.holes.get(first + 1).is_none_or(|next| next.start >= line.end);
        let (indent, _) = block(text.get(hole.clone())?)?;
        alone.then_some((indent, hole.end))
    }

    /// Actions that put nothing there, at the beginning of a line that goes on.
    fn find_leads(&mut self, text: &str) {
        let blank = |range: Range<usize>| text.get(range).is_some_and(|t| t.trim_matches([' ', '\t']).is_empty());
        let (mut before, mut done) = (0, 0);
        for (i, first) in self.holes.iter().enumerate() {
            let gap = text.get(before..first.start).and_then(|gap| gap.rfind('\n'));
            let line = match gap {
                Some(n) => Some(before + n + 1),
                None => (before == 0).then_some(0),
            };
            before = first.end;
            let Some(line) = line.filter(|line| first.start >= done && blank(*line..first.start)) else { continue };
            let mut end = None;
            for hole in self.holes.get(i..).unwrap_or_default() {
                let from = end.unwrap_or(line);
                if !blank(from..hole.start) || !is_silent(text.get(hole.clone()).unwrap_or_default()) {
                    break;
                }
                end = Some(hole.end);
            }
            let Some(end) = end else { continue };
            done = end;
            let rest = text.get(end..).unwrap_or_default();
            let to = end + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
            if !text.get(to..).unwrap_or_default().starts_with(['\n', '\r']) && to < text.len() {
                let joins = text.get(first.clone()).is_some_and(|action| action.starts_with("{{-"));
                self.leads.push(Lead { range: line..to, indent: first.start - line, joins });
            }
        }
    }

    /// A text that is more than templates for elsewhere is read without these.
    fn keep_defines_beside_others(&mut self, text: &str) {
        let mut at = 0;
        let mut rest = String::new();
        let mut skipped: Vec<&Range<usize>> = self.defines.iter().chain(&self.holes).collect();
        skipped.sort_unstable_by_key(|range| range.start);
        for range in skipped {
            rest.push_str(text.get(at..range.start.max(at)).unwrap_or_default());
            at = at.max(range.end);
        }
        rest.push_str(text.get(at..).unwrap_or_default());
        let is_text = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#') && line.trim() != "---";
        if !rest.lines().any(is_text) {
            self.defines.clear();
        }
    }

    /// The branches of each `if` whose actions stand alone on their lines, or begin them.
    fn find_branches(&mut self, text: &str) {
        let mut open: Vec<Open> = Vec::new();
        for hole in &self.holes {
            let word = word(text.get(hole.clone()).unwrap_or_default());
            let after = self.lines.partition_point(|line| line.end < hole.end);
            let alone = self.lines.get(after).is_some_and(|line| line.start <= hole.start);
            let after = self.leads.partition_point(|lead| lead.range.end < hole.end);
            let leads = self.leads.get(after).is_some_and(|lead| lead.range.start <= hole.start);
            match word {
                "if" | "with" | "range" | "define" | "block" => {
                    open.push(Open { inline: false, defines: word == "define", starts: vec![(hole.start, hole.end)] })
                }
                "else" => {
                    let Some(open) = open.last_mut() else { continue };
                    let from = open.starts.first().map_or(0, |(start, _)| *start);
                    if alone || leads {
                        open.starts.push((hole.start, hole.end));
                    } else if on_one_line(text, from..hole.end) {
                        open.inline = true;
                        open.starts.push((hole.start, hole.end));
                    }
                }
                "end" => {
                    let Some(Open { inline, defines, starts }) = open.pop() else { continue };
                    if let (true, Some((start, _))) = (defines, starts.first()) {
                        self.defines.push(*start..hole.end);
                    }
                    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([hole.start]);
                    let branches: Vec<Range<usize>> =
                        starts.iter().zip(ends).map(|((_, from), to)| *from..to.max(*from)).collect();
                    let from = starts.first().map_or(0, |(start, _)| *start);
                    if branches.len() > 1 && (!inline || on_one_line(text, from..hole.end)) {
                        self.branches.push((branches, inline));
                    }
                }
                _ => {}
            }
        }
    }

    /// The text with blanks and words in the place of the actions, as long as before.
    /// `blocks`: whether an action that puts a block in becomes an entry, and no blanks.
    pub(super) fn mask(&self, text: &str, branch: Branch, blocks: bool) -> String {
        let mut bytes: Vec<u8> = text.as_bytes().to_vec();
        for hole in &self.holes {
            // Below its first line an action is blank, so that a word stays on one line.
            let action = text.get(hole.clone()).unwrap_or_default();
            let line = action.find('\n').map_or(hole.end, |n| hole.start + n);
            let puts_nothing = is_silent(action) || stands_for_text(text, hole);
            fill(&mut bytes, hole.start..line, if puts_nothing { b' ' } else { b'x' });
            fill(&mut bytes, line..hole.end, b' ');
            if touches_key(text, hole) {
                fill(&mut bytes, hole.start..hole.start + 1, b' ');
            }
        }
        for (n, line) in self.lines.iter().enumerate() {
            let indent = if blocks { self.block_on(text, line) } else { None };
            match indent.and_then(|(indent, end)| Some((line.start.checked_add(indent)?, end.checked_sub(3)?))) {
                Some((start, end)) if start + 1 < end => {
                    fill(&mut bytes, line.clone(), b' ');
                    fill(&mut bytes, start..end, b'x');
                    // Keys that look alike would be one key written twice.
                    fill(&mut bytes, start..start + 1, b'a' + u8::try_from(n % 16).unwrap_or(0));
                    fill(&mut bytes, end..end + 1, b':');
                    fill(&mut bytes, end + 2..end + 3, b'x');
                }
                // Blanks could be taken for the indent of a text that begins below; line ends cannot.
                _ => fill(&mut bytes, line.clone(), b'\n'),
            }
        }
        let mut others: Vec<(&Range<usize>, u8)> = Vec::new();
        for (branches, inline) in &self.branches {
            let with = if *inline { b' ' } else { b'\n' };
            let kept = match branch {
                Branch::First => 0,
                Branch::Last => branches.len() - 1,
            };
            others.extend(branches.iter().enumerate().filter(|(i, _)| *i != kept).map(|(_, range)| (range, with)));
        }
        // Branches lie in one another: each byte is filled once.
        others.sort_unstable_by_key(|(range, _)| range.start);
        let mut filled = 0;
        for (range, with) in others {
            fill(&mut bytes, range.start.max(filled)..range.end.max(filled), with);
            filled = filled.max(range.end);
        }
        self.defines.iter().for_each(|range| fill(&mut bytes, range.clone(), b'\n'));
        for Lead { range, indent, joins } in &self.leads {
            // What stands behind the actions begins where they did, or goes on with the line before.
            let from = range.end - if *joins { range.len() } else { *indent };
            fill(&mut bytes, range.start..from, b'\n');
            fill(&mut bytes, from..range.end, b' ');
            let before = if *joins { range.start } else { 0 };
            let above = bytes.get(..before).unwrap_or_default();
            let blank = above.iter().rev().take_while(|b| b.is_ascii_whitespace()).count();
            bytes.get_mut(before - blank..before).unwrap_or_default().fill(b' ');
        }
        // Every byte of a character that is more than one byte long lies in the same range, so this is UTF-8.
        String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
    }
}

/// Whether an action that begins a new line stands right behind a key: `hosts:{{ toYaml .Values.hosts | nindent 4 }}`. Of
/// its place the first byte is the blank that YAML wants there.
pub(super) fn touches_key(text: &str, hole: &Range<usize>) -> bool {
    let before = text.get(..hole.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let key = line.strip_suffix(':').unwrap_or_default();
    let is_key = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c == ':');
    is_key && text.get(hole.clone()).is_some_and(|action| action.starts_with("{{") && action.contains("nindent"))
}

/// Whether an action is the whole of a text that begins on the next line: `ca.crt: |-{{ .Values.pem | nindent 4 }}`.
fn stands_for_text(text: &str, hole: &Range<usize>) -> bool {
    let before = text.get(..hole.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let mark = line.trim_end_matches(['-', '+']).strip_suffix(['|', '>']).unwrap_or_default();
    let after = text.get(hole.end..).unwrap_or_default().split('\n').next().unwrap_or_default();
    (mark.ends_with(": ") || mark.ends_with("- ")) && after.trim().is_empty()
}

/// How an action that puts a block in indents it, and what it puts there: `include "labels" . | nindent 4`.
pub(super) fn block(action: &str) -> Option<(usize, &str)> {
    let inner = action.strip_prefix("{{")?.strip_suffix("}}")?.trim_matches('-').trim();
    let (what, indent) = inner.rsplit_once('|')?;
    let indent = indent.trim().strip_prefix("nindent ").or_else(|| indent.trim().strip_prefix("indent "))?;
    let puts = ["include ", "toYaml "].iter().any(|word| what.starts_with(word));
    Some((indent.trim().parse().ok()?, what.trim())).filter(|_| puts && !what.contains('\n'))
}

/// Whether a part of a text is short, and all of it on one line.
fn on_one_line(text: &str, range: Range<usize>) -> bool {
    range.len() < MAX_INLINE && text.get(range).is_some_and(|part| !part.contains('\n'))
}

/// Conditions within a line are shorter than this.
const MAX_INLINE: usize = 1000;

/// Fills a range, but for its line ends.
fn fill(bytes: &mut [u8], range: Range<usize>, with: u8) {
    for byte in bytes.get_mut(range).unwrap_or_default() {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = with;
        }
    }
}

/// The end of the action that begins here.
fn end_of(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    if rest.starts_with("{{/*") || rest.starts_with("{{- /*") {
        let end = rest.find("*/")?;
        return Some(start + end + rest.get(end..)?.find("}}")? + 2);
    }
    let (open, close) = if rest.starts_with("${{") {
        (3, "}}")
    } else if rest.starts_with("{{") {
        (2, "}}")
    } else if rest.starts_with("${") {
        (2, "}")
    } else {
        return None;
    };
    let mut quote = None;
    let body = rest.get(open..)?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(q), c) if q == c => quote = None,
            (None, '"' | '`') if open > 2 || close == "}}" => quote = Some(c),
            (None, '\n') if close == "}" => return None,
            (None, _) if body.get(at..)?.starts_with(close) => return Some(start + open + at + close.len()),
            _ => {}
        }
    }
    None
}

/// Whether an action puts nothing where it stands: a comment, a condition, an assignment.
fn is_silent(action: &str) -> bool {
    if !action.starts_with("{{") {
        return false;
    }
    let inner = action.trim_start_matches(['{', '-']).trim_start();
    let assigns =
        inner.starts_with('$') && inner.split('"').next().is_some_and(|t| t.contains(":=") || t.contains(" = "));
    assigns
        || inner.starts_with("/*")
        || matches!(word(action), "if" | "else" | "end" | "with" | "range" | "define" | "block" | "break" | "continue")
}

/// The first word of an action.
fn word(action: &str) -> &str {
    let inner = action.trim_start_matches(['{', '-']).trim_start();
    inner.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}
