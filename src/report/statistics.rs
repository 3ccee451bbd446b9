//! How many findings there are of each rule, the most frequent first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::Report;
use super::text::{Style, ink};
use crate::rules::Severity;
use crate::run::Run;

/// The numbers. Notes count, whether or not they are shown.
#[derive(Debug, Clone, Copy)]
pub struct Statistics {
    /// Colours; `None` = JSON.
    pub style: Option<Style>,
}

#[derive(Serialize)]
struct Row {
    rule: &'static str,
    severity: &'static str,
    findings: usize,
}

impl Report for Statistics {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let mut counts: BTreeMap<(Severity, &'static str), usize> = BTreeMap::new();
        for finding in &run.findings {
            *counts.entry((finding.severity, finding.rule.id)).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|((severity, rule), n)| (Reverse(*n), Reverse(*severity), *rule));
        let Some(style) = self.style else {
            let row = |((severity, rule), findings): ((Severity, &'static str), usize)| Row {
                rule,
                severity: severity.name(),
                findings,
            };
            serde_json::to_writer_pretty(&mut *out, &counts.into_iter().map(row).collect::<Vec<_>>())?;
            return writeln!(out);
        };
        for ((severity, rule), n) in counts {
            writeln!(out, "{n:>6}  {}  {rule}", style.paint(ink(severity), format!("{:<7}", severity.name())))?;
        }
        writeln!(out, "{:>6}  in {} files", run.findings.len(), run.files)
    }
}
