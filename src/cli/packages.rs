//! What those take who install the program: completions and manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  retrylint completions bash > ~/.local/share/bash-completion/completions/retrylint
  retrylint completions zsh > ~/.zfunc/_retrylint
  retrylint completions fish > ~/.config/fish/completions/retrylint.fish";

/// What `completions` takes.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// What `man` takes.
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// The folder that the pages are written to; it is made where there is none
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
