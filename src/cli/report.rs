//! `retrylint report`: what it takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::InputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint report                                     Markdown, for a pull request
  retrylint report -o report.html                      a page to look at: one file that loads nothing
  retrylint report --format json | jq .paths           for other programs
  retrylint report -o report.html --link 'https://github.com/me/shop/blob/main/{path}#L{line}'

Exit status:
  0  written, whatever is in it
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// What `report` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct ReportArgs {
    /// The form of the report [default: by the ending of FILE, else markdown]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The address of a source line, with {path} and {line} [default: no links in Markdown; on the page, the way from
    /// FILE to the source]
    #[arg(long, value_name = "TEMPLATE", value_parser = link)]
    pub link: Option<String>,
    /// What the page is called
    #[arg(long, default_value = "Retries")]
    pub title: String,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

impl ReportArgs {
    /// The form that is asked for.
    ///
    /// # Errors
    ///
    /// What to write instead, where the file's ending is of none.
    pub fn format(&self) -> Result<ReportFormat, String> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let file = self.output.as_deref();
        match file.and_then(|file| file.extension()?.to_str()) {
            Some("html" | "htm") => Ok(ReportFormat::Html),
            Some("json") => Ok(ReportFormat::Json),
            None | Some("md" | "markdown" | "txt") => Ok(ReportFormat::Markdown),
            Some(ending) => Err(format!(
                "no report has the ending `.{ending}`: end the file in .md, .html or .json, or name a form by --format"
            )),
        }
    }
}

/// A template of links. It must lead somewhere, and must not run anything.
fn link(template: &str) -> Result<String, String> {
    let scheme = template.split_once(':').map(|(scheme, _)| scheme.trim().to_lowercase());
    if matches!(scheme.as_deref(), Some("javascript" | "data" | "vbscript")) {
        return Err("this is no address of a file".to_owned());
    }
    if template.starts_with("{path}") {
        return Err("a file's name must not be the start of an address: write `./{path}`".to_owned());
    }
    if !template.contains("{path}") {
        return Err("`{path}` is missing: it stands for the file".to_owned());
    }
    Ok(template.to_owned())
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a pull request
    Markdown,
    /// For programs; the form is stable
    Json,
    /// A page to look at and to try things on: one file that loads nothing
    Html,
}
