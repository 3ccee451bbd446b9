//! `retrylint baseline`: what it takes.

use std::path::PathBuf;

use clap::Args;

use super::InputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint baseline                                    write down what is found now
  retrylint check --baseline retrylint-baseline.json    fail on what is new
  retrylint baseline --prune                            take out what is mended
  retrylint baseline -o ci/retries.json deploy          another file, of one folder

Exit status:
  0  written, whatever is in it
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// What `baseline` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct BaselineArgs {
    /// Where to write it; `-` is standard output [default: the `baseline` of the configuration, else
    /// retrylint-baseline.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only take out what is found no more
    #[arg(long)]
    pub prune: bool,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}
