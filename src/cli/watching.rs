//! How much a command says of its own work, on standard error.

use clap::Args;

/// How much is said; the same for every command that reads a repository.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct WatchArgs {
    /// Say nothing but what was asked for: no summary, no progress
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say what was read and what was not, and why, file by file
    #[arg(short, long)]
    pub verbose: bool,
    /// Say how long each stage took
    #[arg(long)]
    pub timings: bool,
}
