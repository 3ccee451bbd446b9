//! Comments by which a file says that a finding is right as it is:
//! `retrylint: allow(missing-jitter, reason = "one client only", until = 2027-01-31)`.
//!
//! After code on its line it holds for that line; on a line of its own, for the next line and the block below it;
//! `allow-file` holds for the whole file.

use std::ops::Range;

use super::{SourceFile, Span};
use crate::suggest;

/// What such a comment starts with.
const MARK: &str = "retrylint:";

/// The words behind it.
const ALLOW: &str = "allow";
const ALLOW_FILE: &str = "allow-file";

/// What other linters call it.
const OTHERS: [&str; 4] = ["ignore", "disable", "nolint", "skip"];

/// What opens a comment, in all the formats that are read.
const OPENERS: [&str; 7] = ["//", "#", "--", "/*", "<!--", ";", "*"];

/// One such comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// From `allow` to the closing parenthesis.
    pub span: Span,
    /// The names of rules, each with its place.
    pub rules: Vec<(String, Span)>,
    /// Why the findings are right as they are.
    pub reason: Option<String>,
    /// The last day on which it holds, as written, with its place.
    pub until: Option<(String, Span)>,
    /// The bytes of the file that it is about.
    pub covers: Range<u32>,
    /// What cannot be understood, if anything.
    pub problem: Option<(String, Span)>,
}

impl Allow {
    /// Whether it is about what starts at `span`.
    pub fn covers(&self, span: Span) -> bool {
        span.file == self.span.file && self.covers.contains(&span.start)
    }
}

/// All of a file, in their order.
pub fn allows(file: &SourceFile) -> Vec<Allow> {
    let text = &*file.text;
    let reader = Reader { file, text };
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(MARK)).map(|at| from + at) {
        from = at + MARK.len();
        if let Some(allow) = reader.read(at) {
            from = from.max(allow.span.end as usize);
            out.push(allow);
        }
    }
    out
}

struct Reader<'f> {
    file: &'f SourceFile,
    text: &'f str,
}

impl Reader<'_> {
    /// The comment whose mark is at `at`; `None` if it is no comment, or something else is said.
    fn read(&self, at: usize) -> Option<Allow> {
        let line = self.line_at(at);
        let before = self.text.get(line.start..at)?;
        let opener = OPENERS.iter().filter_map(|opener| before.find(opener)).min()?;
        let said = self.text.get(at + MARK.len()..line.end)?;
        let start = line.end - said.trim_start_matches([' ', '\t']).len();
        let Some((word, rest)) = self.text.get(start..line.end)?.split_once('(') else {
            let word = self.text.get(start..line.end)?.split_whitespace().next()?;
            let span = self.span(start, start + word.len());
            let problem = format!("the rules stand in parentheses: `{word}(RULE, reason = \"..\")`");
            return [ALLOW, ALLOW_FILE]
                .contains(&word)
                .then(|| Allow { problem: Some((problem, span)), ..empty(span) });
        };
        let open = start + word.len();
        let whole_file = word == ALLOW_FILE;
        if word != ALLOW && !whole_file {
            let meant = OTHERS.contains(&word) || suggest::closest(word, [ALLOW, ALLOW_FILE]).is_some();
            let span = self.span(start, open);
            let problem = format!("`{word}` is not known; there are `{ALLOW}` and `{ALLOW_FILE}`");
            return meant.then(|| Allow { problem: Some((problem, span)), ..empty(span) });
        }
        let Some(close) = closing(rest) else {
            let span = self.span(start, line.end);
            return Some(Allow { problem: Some(("the closing `)` is missing".to_owned(), span)), ..empty(span) });
        };
        let covers = if whole_file {
            0..self.text.len()
        } else if before.get(..opener)?.trim().is_empty() {
            self.block_after(line.end)
        } else {
            line
        };
        let covers = u32::try_from(covers.start).ok()?..u32::try_from(covers.end).ok()?;
        let mut allow = Allow { covers, ..empty(self.span(start, open + 1 + close + 1)) };
        self.arguments(open + 1, rest.get(..close)?, &mut allow);
        Some(allow)
    }

    fn arguments(&self, at: usize, text: &str, allow: &mut Allow) {
        for part in parts(text) {
            let piece = text.get(part.clone()).unwrap_or_default();
            let trimmed = piece.trim();
            let start = at + part.start + (piece.len() - piece.trim_start().len());
            let span = self.span(start, start + trimmed.len());
            match trimmed.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                None if trimmed.is_empty() => {}
                None => allow.rules.push((trimmed.to_owned(), span)),
                Some(("reason", value)) => {
                    let reason = value.trim_matches('"').trim();
                    allow.reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
                }
                Some(("until", value)) => allow.until = Some((value.trim_matches('"').to_owned(), span)),
                Some((key, _)) => {
                    allow.problem = Some((format!("`{key}` is not known; there are `reason` and `until`"), span));
                }
            }
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file.id, start, end)
    }

    /// The bytes of the line around a byte, its end left out.
    fn line_at(&self, at: usize) -> Range<usize> {
        let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |n| n + 1);
        let end = self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |n| at + n);
        start..end
    }

    /// The next line that says something, attributes before it and what is indented more than it.
    fn block_after(&self, at: usize) -> Range<usize> {
        let start = (at + 1).min(self.text.len());
        let mut end = start;
        let mut head: Option<usize> = None;
        for line in self.text.get(start..).unwrap_or_default().split_inclusive('\n') {
            let trimmed = line.trim();
            let indent = line.len() - line.trim_start().len();
            match head {
                _ if trimmed.is_empty() => {}
                None if is_comment(trimmed) || trimmed.starts_with("#[") || trimmed.starts_with('@') => {}
                None => head = Some(indent),
                Some(head) if indent > head => {}
                Some(_) => break,
            }
            end += line.len();
        }
        start..end
    }
}

fn is_comment(trimmed: &str) -> bool {
    !trimmed.starts_with("#[")
        && !trimmed.starts_with("---")
        && OPENERS.iter().any(|opener| trimmed.starts_with(opener))
}

fn empty(span: Span) -> Allow {
    Allow { span, rules: Vec::new(), reason: None, until: None, covers: 0..0, problem: None }
}

/// Where the parenthesis closes, those in quotes left out.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ')' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// The parts between commas that are not in quotes.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                out.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(start..text.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn file(text: &str) -> SourceFile {
        SourceFile { id: FileId(0), path: "a.yaml".into(), text: text.into() }
    }

    fn covered(text: &str) -> Vec<String> {
        let file = file(text);
        let all = allows(&file);
        all.iter().map(|a| file.text.get(a.covers.start as usize..a.covers.end as usize).unwrap().to_owned()).collect()
    }

    #[test]
    fn names_reason_and_day_are_read_with_their_places() {
        let file = file(
            "a: 1 # retrylint: allow(missing-jitter, fixed-backoff, reason = \"one, (only) client\", until = 2027-01-31)\n",
        );
        let all = allows(&file);
        let [allow] = all.as_slice() else { panic!("{all:?}") };
        let names: Vec<&str> = allow.rules.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["missing-jitter", "fixed-backoff"]);
        assert_eq!(file.text.get(allow.rules[1].1.range()).unwrap(), "fixed-backoff");
        assert_eq!(allow.reason.as_deref(), Some("one, (only) client"));
        assert_eq!(allow.until.as_ref().map(|(day, _)| day.as_str()), Some("2027-01-31"));
        let text = file.text.get(allow.span.range()).unwrap();
        assert!(text.starts_with("allow(") && text.ends_with(')'));
        assert_eq!(allow.problem, None);
    }

    #[test]
    fn after_code_it_holds_for_the_line() {
        assert_eq!(
            covered("a:\n  b: 1 # retrylint: allow(x, reason = \"y\")\n  c: 2\n"),
            ["  b: 1 # retrylint: allow(x, reason = \"y\")"]
        );
    }

    #[test]
    fn on_its_own_line_it_holds_for_the_block_below() {
        let yaml =
            "a:\n  # retrylint: allow(x, reason = \"y\")\n  # more words\n  - b:\n      c: 1\n\n    d: 2\n  - e: 3\n";
        assert_eq!(covered(yaml), ["  # more words\n  - b:\n      c: 1\n\n    d: 2\n"]);
        let rust = "// retrylint: allow(x, reason = \"y\")\n#[inline]\nfn f() {\n    g();\n}\nfn h() {}\n";
        assert_eq!(covered(rust), ["#[inline]\nfn f() {\n    g();\n"]);
        let sql = "-- retrylint: allow(x, reason = \"y\")\nDELETE FROM inbox;\nSELECT 1;\n";
        assert_eq!(covered(sql), ["DELETE FROM inbox;\n"]);
    }

    #[test]
    fn for_the_file_it_holds_everywhere() {
        let text = "# retrylint: allow-file(x, reason = \"y\")\na: 1\n";
        assert_eq!(covered(text), [text]);
    }

    #[test]
    fn what_is_no_comment_says_nothing() {
        assert_eq!(allows(&file("text: \"retrylint: allow\"\n")), []);
        assert_eq!(allows(&file("retrylint: allow(x)\n")), []);
        assert_eq!(allows(&file("# retrylint: allowed(x)\n")), []);
        assert_eq!(allows(&file("# retrylint: see the page (and the rule)\n")), []);
    }

    #[test]
    fn what_is_not_understood_is_kept_as_a_problem() {
        let unclosed = allows(&file("# retrylint: allow(x, reason = \"y\na: 1\n"));
        assert!(unclosed[0].problem.is_some());
        let unknown = allows(&file("# retrylint: allow(x, why = \"y\")\na: 1\n"));
        assert!(unknown[0].problem.as_ref().is_some_and(|(text, _)| text.contains("`why`")));
        let bare = allows(&file("# retrylint: allow missing-jitter\n"));
        assert!(bare[0].problem.as_ref().is_some_and(|(text, _)| text.contains("parentheses")));
        for misspelt in ["# retrylint: alow(x, reason = \"y\")\n", "# retrylint:ignore(x)\n"] {
            assert!(allows(&file(misspelt))[0].problem.as_ref().is_some_and(|(text, _)| text.contains("`allow`")));
        }
    }

    #[test]
    fn the_blank_behind_the_colon_may_be_left_out() {
        let found = allows(&file("# retrylint:allow(x, reason = \"y\")\na: 1\n"));
        assert!(found[0].problem.is_none() && found[0].rules[0].0 == "x");
    }
}
