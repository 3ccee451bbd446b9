//! Checkstyle's XML, which many review tools take.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::{Place, Places, Report, shown, xml};
use crate::rules::{Finding, Severity};
use crate::run::Run;

/// The report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checkstyle {
    /// Whether notes are shown.
    pub notes: bool,
}

impl Report for Checkstyle {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        let mut by_file: BTreeMap<Arc<str>, Vec<(Place, &Finding)>> = BTreeMap::new();
        for finding in shown(run, self.notes) {
            let place = places.place(finding.primary.span);
            by_file.entry(Arc::clone(&place.path)).or_default().push((place, finding));
        }
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"10.0\">")?;
        for (path, findings) in by_file {
            writeln!(out, "  <file name=\"{}\">", xml::escaped(&path))?;
            for (place, finding) in findings {
                writeln!(
                    out,
                    "    <error line=\"{}\" column=\"{}\" severity=\"{}\" message=\"{}\" source=\"retrylint.{}\"/>",
                    place.start.line,
                    place.start.column,
                    severity(finding.severity),
                    xml::escaped(&finding.message),
                    finding.rule.id
                )?;
            }
            writeln!(out, "  </file>")?;
        }
        writeln!(out, "</checkstyle>")
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "info",
        other => other.name(),
    }
}
