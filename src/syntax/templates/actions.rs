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
    /// Branches of one `if`, first to last, where there is more than one.
    branches: Vec<Vec<Range<usize>>>,
}

/// An `if`, `with`, `range` or `define` whose `end` is still to come.
struct Open {
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
        out.find_branches(text);
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

    /// The branches of each `if` whose actions stand alone on their lines.
    fn find_branches(&mut self, text: &str) {
        let mut open: Vec<Open> = Vec::new();
        for hole in &self.holes {
            let word = word(text.get(hole.clone()).unwrap_or_default());
            let after = self.lines.partition_point(|line| line.end < hole.end);
            let alone = self.lines.get(after).is_some_and(|line| line.start <= hole.start);
            match word {
                "if" | "with" | "range" | "define" | "block" => {
                    open.push(Open { starts: vec![(hole.start, hole.end)] })
                }
                "else" => {
                    if let Some(open) = open.last_mut().filter(|_| alone) {
                        open.starts.push((hole.start, hole.end));
                    }
                }
                "end" => {
                    let Some(Open { starts }) = open.pop() else { continue };
                    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([hole.start]);
                    let branches: Vec<Range<usize>> =
                        starts.iter().zip(ends).map(|((_, from), to)| *from..to.max(*from)).collect();
                    if branches.len() > 1 {
                        self.branches.push(branches);
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
        let mut fill = |range: Range<usize>, with: u8| {
            for byte in bytes.get_mut(range).unwrap_or_default() {
                if !matches!(*byte, b'\n' | b'\r') {
                    *byte = with;
                }
            }
        };
        for hole in &self.holes {
            // Below its first line an action is blank, so that a word stays on one line.
            let line = text.get(hole.clone()).and_then(|t| t.find('\n')).map_or(hole.end, |n| hole.start + n);
            fill(hole.start..line, b'x');
            fill(line..hole.end, b' ');
        }
        for (n, line) in self.lines.iter().enumerate() {
            let indent = if blocks { self.block_on(text, line) } else { None };
            match indent.and_then(|(indent, end)| Some((line.start + indent, end.checked_sub(3)?))) {
                Some((start, end)) if start + 1 < end => {
                    fill(line.clone(), b' ');
                    fill(start..end, b'x');
                    // Keys that look alike would be one key written twice.
                    fill(start..start + 1, b'a' + u8::try_from(n % 16).unwrap_or(0));
                    fill(end..end + 1, b':');
                    fill(end + 2..end + 3, b'x');
                }
                // Blanks could be taken for the indent of a text that begins below; line ends cannot.
                _ => fill(line.clone(), b'\n'),
            }
        }
        let mut others: Vec<&Range<usize>> = Vec::new();
        for branches in &self.branches {
            let kept = match branch {
                Branch::First => 0,
                Branch::Last => branches.len() - 1,
            };
            others.extend(branches.iter().enumerate().filter(|(i, _)| *i != kept).map(|(_, range)| range));
        }
        // Branches lie in one another: each byte is filled once.
        others.sort_unstable_by_key(|range| range.start);
        let mut filled = 0;
        for range in others {
            fill(range.start.max(filled)..range.end.max(filled), b'\n');
            filled = filled.max(range.end);
        }
        // Every byte of a character that is more than one byte long lies in the same range, so this is UTF-8.
        String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
    }
}

/// How an action that puts a block in indents it, and what it puts there: `include "labels" . | nindent 4`.
pub(super) fn block(action: &str) -> Option<(usize, &str)> {
    let inner = action.strip_prefix("{{")?.strip_suffix("}}")?.trim_matches('-').trim();
    let (what, indent) = inner.rsplit_once('|')?;
    let indent = indent.trim().strip_prefix("nindent ").or_else(|| indent.trim().strip_prefix("indent "))?;
    let puts = ["include ", "toYaml "].iter().any(|word| what.starts_with(word));
    Some((indent.trim().parse().ok()?, what.trim())).filter(|_| puts && !what.contains('\n'))
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

/// The first word of an action.
fn word(action: &str) -> &str {
    let inner = action.trim_start_matches(['{', '-']).trim_start();
    inner.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}
