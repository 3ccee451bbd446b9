//! Text for people: each finding at its own source lines, then what could not be resolved or read, then one line
//! that sums up.

mod diagnosis;
mod frame;
mod line;
mod paint;
mod wrap;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

pub use frame::{Style, render};

use super::{Places, Report};
use crate::rules::{Finding, Severity};
use crate::run::Run;
use crate::source::Span;
use diagnosis::Diagnosis;
pub(super) use paint::Ink;

/// So many findings of a rule are shown with their sources; the others take a line each, up to so many again.
const IN_FULL: usize = 8;
const IN_BRIEF: usize = 40;
/// So many of the messages that are folded into one finding are shown.
const ALSO: usize = 3;
/// So many entries of a list are shown.
const LISTED: usize = 10;

/// The text report.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Colours and width.
    pub style: Style,
    /// Whether notes are shown.
    pub notes: bool,
    /// Whether the findings are all that is shown.
    pub quiet: bool,
}

impl Report for Text {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        let shown: Vec<&Finding> = run.findings.iter().filter(|f| self.notes || f.severity != Severity::Note).collect();
        self.findings(&shown, &mut places, out)?;
        if self.quiet {
            return Ok(());
        }
        out.write_all(self.lists(run, &mut places).as_bytes())?;
        out.write_all(self.summary(run, &shown).as_bytes())
    }
}

/// Findings of one rule at one place, the worst of them first.
fn folded<'f>(findings: &[&'f Finding]) -> Vec<Vec<&'f Finding>> {
    let mut groups: BTreeMap<(Span, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((finding.primary.span, finding.rule.id)).or_default().push(finding);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_by_key(|f| (std::cmp::Reverse(f.severity), f.path));
    }
    groups
}

impl Text {
    /// The first findings of each rule in full, the next in a line each, the rest as a number.
    fn findings(&self, shown: &[&Finding], places: &mut Places<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut of_rule: BTreeMap<&str, (usize, Severity)> = BTreeMap::new();
        let mut after_brief = false;
        for group in folded(shown) {
            let Some((first, others)) = group.split_first() else { continue };
            let (count, _) = of_rule.entry(first.rule.id).or_insert((0, first.severity));
            *count += 1;
            let text = match *count {
                ..=IN_FULL => self.full(first, others, places),
                n if n <= IN_FULL + IN_BRIEF => self.brief(first, others, places),
                _ => continue,
            };
            if after_brief && *count <= IN_FULL {
                writeln!(out)?;
            }
            after_brief = *count > IN_FULL;
            out.write_all(text.as_bytes())?;
        }
        let mut more = false;
        for (rule, (count, severity)) in of_rule.iter().filter(|(_, (count, _))| *count > IN_FULL + IN_BRIEF) {
            let head = self.style.paint(ink(*severity), format!("{}[{rule}]", severity.name()));
            more = true;
            writeln!(out, "{head}: and {} more; `--format json` lists all", count - IN_FULL - IN_BRIEF)?;
        }
        if after_brief || more {
            writeln!(out)?;
        }
        Ok(())
    }

    fn full(&self, first: &Finding, others: &[&Finding], places: &mut Places<'_>) -> String {
        let mut out = String::new();
        let mut also: Vec<String> = others.iter().take(ALSO).map(|f| format!("also: {}", f.message)).collect();
        if others.len() > ALSO {
            also.push(format!("and {} more here; `--format json` lists all", others.len() - ALSO));
        }
        render(&Diagnosis::new(first, also, places), self.style, &mut out);
        out.push('\n');
        out
    }

    /// One line: the same head, the place, the message.
    fn brief(&self, first: &Finding, others: &[&Finding], places: &mut Places<'_>) -> String {
        let head = self.style.paint(ink(first.severity), format!("{}[{}]", first.severity.name(), first.rule.id));
        let head = self.style.link(&first.rule.url(), head.to_string());
        let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
        let text = format!("{}: {}{more}", place(first.primary.span, places), wrap::safe(&first.message));
        format!("{head}: {text}\n")
    }

    fn lists(&self, run: &Run, places: &mut Places<'_>) -> String {
        // One place that many lead to is one line.
        let unresolved: Vec<String> = run
            .model
            .unresolved
            .chunk_by(|a, b| a.span == b.span && a.reason == b.reason)
            .filter_map(|alike| {
                let first = alike.first()?;
                let more = match alike.len() - 1 {
                    0 => String::new(),
                    n => format!(" (and {n} more that lead here)"),
                };
                Some(format!("{}: {}: {}{more}", place(first.span, places), first.what, first.reason))
            })
            .collect();
        let unread: Vec<String> = run
            .unread
            .iter()
            .map(|u| match u.span {
                Some(span) => format!("{}: {}", place(span, places), u.reason),
                None => format!("{}: {}", u.path, u.reason),
            })
            .collect();
        let gone = run.baseline.iter().flat_map(|compared| &compared.gone);
        let gone: Vec<String> = gone.map(|e| format!("{}: [{}] {}", wrap::safe(&e.file), e.rule, e.message)).collect();
        let mut out = String::new();
        self.list(
            "note: gone since the baseline; `retrylint baseline --prune` takes them out of it",
            Ink::Note,
            &gone,
            &mut out,
        );
        self.list("note: not resolved, and so in no number above", Ink::Note, &unresolved, &mut out);
        self.list("warning: not read, and so not checked", Ink::Warning, &unread, &mut out);
        out
    }

    fn list(&self, title: &str, ink: Ink, items: &[String], out: &mut String) {
        if items.is_empty() {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", self.style.paint(ink, format!("{title} ({})", items.len())));
        let room = self.style.width.saturating_sub(6);
        for item in items.iter().take(LISTED) {
            for (i, line) in wrap::wrap(item, room, room).iter().enumerate() {
                let _ = writeln!(out, "{}{line}", if i == 0 { "  " } else { "      " });
            }
        }
        if items.len() > LISTED {
            let _ = writeln!(out, "  and {} more; `--format json` lists all", items.len() - LISTED);
        }
        out.push('\n');
    }

    fn summary(&self, run: &Run, shown: &[&Finding]) -> String {
        let notes = run.count(Severity::Note);
        let hidden = if !self.notes && notes > 0 { " hidden (--notes shows them)" } else { "" };
        let mut parts = Vec::new();
        for (n, one, many) in [
            (run.count(Severity::Error), "error", "errors"),
            (run.count(Severity::Warning), "warning", "warnings"),
            (notes, "note", "notes"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        let found = if run.files == 0 {
            "Nothing checked".to_string()
        } else if parts.is_empty() {
            if run.baseline.is_some() || run.since.is_some() { "Nothing new" } else { "Nothing found" }.to_string()
        } else {
            parts.join(", ") + hidden
        };
        let generated = match run.generated().count() {
            0 => String::new(),
            n => format!("; {n} generated and left alone (--include-generated reads them)"),
        };
        let plural = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        // Beside a revision, what is known of lines that nobody touched is among what is left out.
        let known =
            run.baseline.as_ref().map(|compared| compared.known.len()).filter(|n| *n > 0 || run.since.is_none());
        let known = known.map(|n| format!("; {n} in the baseline"));
        let unchanged = run
            .since
            .as_ref()
            .map(|left| format!("; {} not touched since {}", left.findings, wrap::safe(&left.revision)));
        let allowed = match run.suppressed.len() {
            0 => String::new(),
            n => format!("; {n} allowed"),
        };
        // A path is listed where two layers or more multiply on it, or one alone is too much.
        let paths = match run.model.paths.len() {
            0 if !run.model.layers.is_empty() => "none stacked".to_owned(),
            n => plural(n, "path"),
        };
        let line = format!(
            "{found} in {}; {}, {paths}; {} not resolved, {} not read{allowed}{}{generated}",
            plural(run.files, "file"),
            plural(run.model.layers.len(), "layer"),
            run.model.unresolved.len(),
            run.unread.len(),
            known.unwrap_or_default() + &unchanged.unwrap_or_default(),
        );
        let mut out = wrap::wrap(&line, self.style.width, self.style.width.saturating_sub(2)).join("\n  ") + "\n";
        if let Some(worst) = shown.iter().max_by_key(|f| (f.severity, std::cmp::Reverse(f.order()))) {
            let _ = writeln!(out, "{}", self.style.paint(Ink::Faint, pages(worst, shown)));
        }
        out
    }
}

/// Where the rules that fired are explained, the worst finding's first.
fn pages(worst: &Finding, shown: &[&Finding]) -> String {
    let rules: BTreeMap<&str, &Finding> = shown.iter().map(|f| (f.rule.id, *f)).collect();
    let others = rules.values().filter(|f| f.rule.id != worst.rule.id);
    let urls: Vec<String> = std::iter::once(&worst).chain(others).map(|f| f.rule.url()).collect();
    format!("Why, and how to mend it: retrylint explain {}, or\n  {}", worst.rule.id, urls.join("\n  "))
}

pub(super) fn ink(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
        Severity::Note => Ink::Note,
    }
}

fn place(span: Span, places: &mut Places<'_>) -> String {
    let place = places.place(span);
    format!("{}:{}:{}", wrap::safe(&place.path), place.start.line, place.start.column)
}
