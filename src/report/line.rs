//! One line a finding, for editors and for grep: `path:line:column: error[rule]: message`.

use std::io::{self, Write};

use super::{Places, Report, shown};
use crate::run::Run;

/// The report of one line a finding.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line {
    /// Whether notes are shown.
    pub notes: bool,
}

impl Report for Line {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        for finding in shown(run, self.notes) {
            let place = places.place(finding.primary.span);
            let (path, line, column) = (place.path, place.start.line, place.start.column);
            let message = finding.message.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "{path}:{line}:{column}: {}[{}]: {message}", finding.severity.name(), finding.rule.id)?;
        }
        Ok(())
    }
}
