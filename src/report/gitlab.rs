//! GitLab's code quality report.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use std::io::{self, Write};

use serde::Serialize;

use super::{Places, Report, shown};
use crate::rules::Severity;
use crate::run::Run;

/// The report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gitlab {
    /// Whether notes are shown.
    pub notes: bool,
}

#[derive(Serialize)]
struct Issue<'r> {
    description: &'r str,
    check_name: &'static str,
    fingerprint: &'r str,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

impl Report for Gitlab {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut places = Places::new(&run.sources);
        let issues: Vec<Issue<'_>> = shown(run, self.notes)
            .map(|finding| {
                let place = places.place(finding.primary.span);
                let lines = Lines { begin: place.start.line, end: place.end.line };
                Issue {
                    description: &finding.message,
                    check_name: finding.rule.id,
                    fingerprint: &finding.fingerprint.own,
                    severity: severity(finding.severity),
                    location: Location { path: place.path.to_string(), lines },
                }
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &issues)?;
        writeln!(out)
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Note => "info",
    }
}
