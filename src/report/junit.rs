//! JUnit's XML: each finding is a test that failed; a clean run is one test that passed.

use std::io::{self, Write};

use super::{Places, Report, shown, xml};
use crate::rules::Finding;
use crate::run::Run;

/// The report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Junit {
    /// Whether notes are shown.
    pub notes: bool,
}

impl Report for Junit {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        let findings: Vec<&Finding> = shown(run, self.notes).collect();
        let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"0\"", findings.len().max(1), findings.len());
        writeln!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"retrylint\" {counts} time=\"0\">"
        )?;
        writeln!(out, "  <testsuite name=\"retrylint\" {counts} skipped=\"0\" time=\"0\">")?;
        if findings.is_empty() {
            writeln!(out, "    <testcase name=\"no findings\" classname=\"retrylint\" time=\"0\"/>")?;
        }
        for finding in findings {
            let place = places.place(finding.primary.span);
            let at = format!("{}:{}:{}", place.path, place.start.line, place.start.column);
            let help = finding.help.as_deref().unwrap_or_default();
            writeln!(
                out,
                "    <testcase name=\"{}\" classname=\"retrylint.{}\" time=\"0\">\n      \
                 <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
                xml::escaped(&at),
                finding.rule.id,
                finding.severity.name(),
                xml::escaped(&finding.message),
                xml::escaped(&format!("{at}\n{help}\n{}", finding.rule.url())),
            )?;
        }
        writeln!(out, "  </testsuite>\n</testsuites>")
    }
}
