//! `retrylint init`: what it takes.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint init                write retrylint.toml here
  retrylint init services       write services/retrylint.toml
  retrylint init --stdout       print it

Exit status:
  0  written
  2  wrong usage, or a retrylint.toml is there already
  3  nothing to lint: no file found";

/// What `init` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct InitArgs {
    /// The folder that it is for
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// Where to write it; `-` is standard output [default: retrylint.toml in FOLDER]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print it
    #[arg(long, conflicts_with = "output")]
    pub stdout: bool,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}
