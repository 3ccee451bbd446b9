//! `retrylint completions SHELL`.

use clap::CommandFactory;

use super::Failure;
use crate::cli::{Cli, CompletionsArgs};
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &CompletionsArgs, terminal: Terminal) -> Result<Status, Failure> {
    // The generator cannot fail on a text, and panics on a pipe that is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "retrylint", &mut script);
    terminal.out(|out| out.write_all(&script))?;
    Ok(Status::Clean)
}
