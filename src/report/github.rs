//! Annotations of GitHub Actions: workflow commands on standard output.
//!
//! <https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions>

use std::io::{self, Write};

use super::{Places, Report, shown};
use crate::rules::Severity;
use crate::run::Run;

/// The annotations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Github {
    /// Whether notes are shown.
    pub notes: bool,
}

impl Report for Github {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        for finding in shown(run, self.notes) {
            let place = places.place(finding.primary.span);
            let command = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            write!(out, "::{command} file={},line={}", property(&place.path), place.start.line)?;
            // Columns count only where one line holds it all.
            match place.end.line == place.start.line {
                true => write!(out, ",col={},endColumn={}", place.start.column, place.end.column)?,
                false => write!(out, ",endLine={}", place.end.line)?,
            }
            let help = finding.help.iter().map(|help| format!("\n{help}")).collect::<String>();
            let text = format!("{}{help}\n{}", finding.message, finding.rule.url());
            writeln!(out, ",title={}::{}", property(&format!("retrylint: {}", finding.rule.id)), data(&text))?;
        }
        Ok(())
    }
}

/// The message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_written_otherwise() {
        assert_eq!(data("100 %\n::error::"), "100 %25%0A::error::");
        assert_eq!(property("a,b:c\r"), "a%2Cb%3Ac%0D");
    }
}
