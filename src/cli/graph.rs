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
    ///
    /// # Errors
    ///
    /// What to write instead, where the file's ending is of none.
    pub fn form(&self) -> Result<GraphForm, String> {
        let file = self.output.as_deref();
        let format = match (self.format, file.and_then(|file| file.extension()?.to_str())) {
            (Some(format), _) => format,
            (None, Some("svg")) => GraphFormat::Svg,
            (None, Some("json")) => GraphFormat::Json,
            (None, Some("mmd" | "mermaid")) => GraphFormat::Mermaid,
            (None, None | Some("dot" | "gv" | "txt")) => GraphFormat::Dot,
            (None, Some(ending)) => {
                return Err(format!(
                    "no graph has the ending `.{ending}`: end the file in .svg, .dot, .mmd or .json, or name a form by --format"
                ));
            }
        };
        Ok(match format {
            GraphFormat::Dot => GraphForm::Dot,
            GraphFormat::Mermaid => GraphForm::Mermaid,
            GraphFormat::Json => GraphForm::Json,
            GraphFormat::Svg => GraphForm::Svg,
        })
    }
}
