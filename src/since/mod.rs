//! `--since REV`: only findings one of whose places is in a line that has changed. Everything is read and linked all the
//! same: a change at one end of a path can be a finding at the other.

mod diff;
mod git;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub use git::Trouble;

use crate::report::{Place, Places};
use crate::rules::Finding;
use crate::run::Run;
use crate::source::{Span, shown};

/// The lines that have changed since a revision.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The revision as given.
    pub revision: String,
    /// The top of the repository: absolute, links resolved.
    top: PathBuf,
    cwd: PathBuf,
    /// The files that git knows, seen from the top. Of others nothing is known, so all of them is taken for changed.
    tracked: BTreeSet<String>,
    /// Of those, the lines that have changed.
    lines: BTreeMap<String, Vec<RangeInclusive<u32>>>,
}

/// What was left out of a run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The revision as given.
    pub revision: String,
    /// How many findings stand in lines that have not changed.
    pub findings: usize,
}

impl Changes {
    /// Asks git. `cwd` is absolute, its links resolved. What counts is the difference between the files as they are and
    /// the last commit that `revision` and the present state have in common.
    ///
    /// # Errors
    /// If there is no git, no repository, or no such revision.
    pub fn since(revision: &str, cwd: &Path) -> Result<Self, Trouble> {
        let git = git::Git::new(cwd)?;
        let base = git.base(revision)?;
        Ok(Self {
            revision: revision.to_owned(),
            tracked: git.tracked()?,
            lines: diff::lines(&git.diff(&base)?),
            top: git.top,
            cwd: cwd.to_owned(),
        })
    }

    fn touch(&self, place: &Place) -> bool {
        let file = shown::relative(&shown::resolved(&self.cwd.join(&*place.path)), &self.top);
        if !self.tracked.contains(&file) {
            return true;
        }
        // The end is the position after the last character.
        let last = if place.end.column > 1 { place.end.line } else { place.end.line.saturating_sub(1) };
        let last = last.max(place.start.line);
        let changed = self.lines.get(&file).map_or(&[][..], Vec::as_slice);
        changed.iter().any(|lines| *lines.start() <= last && place.start.line <= *lines.end())
    }

    fn concern(&self, finding: &Finding, places: &mut Places<'_>) -> bool {
        let mut spans = std::iter::once(finding.primary.span).chain(finding.labels.iter().map(|label| label.span));
        spans.any(|span: Span| self.touch(&places.place(span)))
    }
}

/// A run with those findings only that have a place in a changed line.
pub fn filter(mut run: Run, changes: &Changes) -> Run {
    let mut places = Places::new(&run.sources);
    let mut kept = |findings: Vec<Finding>| -> Vec<Finding> {
        findings.into_iter().filter(|finding| changes.concern(finding, &mut places)).collect()
    };
    let all = run.findings.len();
    let findings = kept(std::mem::take(&mut run.findings));
    let baseline = run.baseline.take().map(|mut compared| {
        compared.known = kept(compared.known);
        compared
    });
    let left_out = LeftOut { revision: changes.revision.clone(), findings: all - findings.len() };
    Run { findings, baseline, since: Some(left_out), ..run }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Position;

    fn touched(path: &str, lines: (u32, u32), end_column: u32) -> bool {
        let changes = Changes {
            top: "/shop".into(),
            cwd: "/shop/deploy".into(),
            tracked: ["deploy/a.yaml".to_owned()].into(),
            lines: [("deploy/a.yaml".to_owned(), vec![3..=4, 9..=9])].into(),
            ..Changes::default()
        };
        let at = |line, column| Position { line, column };
        changes.touch(&Place { path: path.into(), start: at(lines.0, 5), end: at(lines.1, end_column) })
    }

    #[test]
    fn a_place_is_touched_by_any_of_its_lines() {
        assert!(!touched("a.yaml", (2, 2), 9) && touched("a.yaml", (3, 3), 9) && touched("a.yaml", (4, 4), 9));
        assert!(!touched("a.yaml", (5, 8), 9) && touched("a.yaml", (5, 9), 9) && touched("a.yaml", (1, 20), 9));
    }

    #[test]
    fn a_place_that_ends_with_its_line_is_not_in_the_next() {
        assert!(!touched("a.yaml", (1, 3), 1) && touched("a.yaml", (1, 3), 2));
    }

    #[test]
    fn what_git_does_not_know_is_new() {
        assert!(touched("b.yaml", (1, 1), 2) && touched("../a.yaml", (1, 1), 2));
    }
}
