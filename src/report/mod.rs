//! The last stage: what a run came to, in one format a file.
//!
//! To add a format: its file here, its line in the command that writes it.

pub mod checkstyle;
pub mod data;
mod ends;
pub mod github;
pub mod gitlab;
pub mod graph;
pub mod html;
pub mod inventory;
pub mod json;
pub mod junit;
pub mod layout;
pub mod line;
pub mod lists;
pub mod markdown;
pub mod page;
pub mod reading;
pub mod sarif;
pub mod settings;
pub mod starter;
pub mod statistics;
pub mod text;
mod xml;

use std::io::{self, Write};

pub use crate::source::{Place, Places};
pub use checkstyle::Checkstyle;
pub use data::Data;
pub use github::Github;
pub use gitlab::Gitlab;
pub use html::Html;
pub use json::Json;
pub use junit::Junit;
pub use line::Line;
pub use markdown::Markdown;
pub use reading::Reading;
pub use sarif::Sarif;
pub use statistics::Statistics;
pub use text::Text;

use crate::rules::{Finding, Severity};
use crate::run::Run;

/// A format of output.
pub trait Report {
    /// Writes the whole report.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()>;
}

/// The findings that are shown.
fn shown(run: &Run, notes: bool) -> impl Iterator<Item = &Finding> {
    run.findings.iter().filter(move |finding| is_shown(finding, notes))
}

fn is_shown(finding: &Finding, notes: bool) -> bool {
    notes || finding.severity != Severity::Note
}

#[cfg(test)]
mod tests;
