//! `retrylint graph`: what it takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::InputArgs;
use crate::report::graph::GraphForm;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint graph | dot -Tpng -o calls.png         drawn by Graphviz
  retrylint graph --format svg -o calls.svg        drawn without it
  retrylint graph --format mermaid deploy          for Markdown
  retrylint graph --format json                    for other programs
  retrylint graph --why gateway orders             why one leads to the other, with the source lines

Exit status:
  0  written, or one leads to the other
  1  nothing leads from one to the other
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// What `graph` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct GraphArgs {
    /// The form of the graph [default: as the ending of the file says, else dot]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Tell why one component leads to another, instead
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with_all = ["format", "output"])]
    pub why: Vec<String>,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// Forms of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// For Markdown
    Mermaid,
    /// For programs; the form is stable
    Json,
    /// A picture
    Svg,
}

impl GraphArgs {
    /// The form that is asked for.
    pub fn form(&self) -> GraphForm {
        let ending = self.output.as_ref().and_then(|file| file.extension()?.to_str());
        let format = self.format.unwrap_or(match ending {
            Some("svg") => GraphFormat::Svg,
            Some("json") => GraphFormat::Json,
            Some("mmd" | "mermaid") => GraphFormat::Mermaid,
            _ => GraphFormat::Dot,
        });
        match format {
            GraphFormat::Dot => GraphForm::Dot,
            GraphFormat::Mermaid => GraphForm::Mermaid,
            GraphFormat::Json => GraphForm::Json,
            GraphFormat::Svg => GraphForm::Svg,
        }
    }
}
