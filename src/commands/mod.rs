//! The commands: one file each. They wire stages and streams, and hold no logic.

mod baseline;
mod check;
mod completions;
mod config;
mod explain;
mod graph;
mod init;
mod input;
mod inventory;
mod man;
mod report;
mod rules;
mod systems;
mod watched;

use std::process::ExitCode;

use crate::baseline::Unusable;
use crate::cli::{CheckArgs, Cli, Command};
use crate::config::Invalid;
use crate::since::Trouble;
use crate::status::Status;
use crate::terminal::Terminal;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The command line or what it names is wrong.
    #[error("{0}")]
    Usage(String),
    /// The baseline cannot be used.
    #[error(transparent)]
    Baseline(#[from] Unusable),
    /// Git cannot tell what has changed.
    #[error(transparent)]
    Git(#[from] Trouble),
    /// The configuration is wrong.
    #[error("{} is not usable", .0.path)]
    Config(Invalid),
    /// The output could not be written.
    #[error("the output could not be written: {0}")]
    Output(#[from] std::io::Error),
}

/// Runs the program on the arguments of this process.
pub fn main() -> ExitCode {
    let cli = Cli::read();
    let terminal = Terminal::new(cli.color);
    let done = match cli.command.unwrap_or_else(|| Command::Check(CheckArgs::of_working_directory())) {
        Command::Check(args) => check::run(&args, terminal),
        Command::Baseline(args) => baseline::run(&args, terminal),
        Command::Init(args) => init::run(&args, terminal),
        Command::Config(args) => config::run(&args, terminal),
        Command::Report(args) => report::run(&args, terminal),
        Command::Graph(args) => graph::run(&args, terminal),
        Command::Inventory(args) => inventory::run(&args, terminal),
        Command::Explain(args) => explain::run(&args, terminal),
        Command::Rules(args) => rules::run(&args, terminal),
        Command::Systems(args) => systems::run(&args, terminal),
        Command::Completions(args) => completions::run(&args, terminal),
        Command::Man(args) => man::run(&args),
    };
    done.unwrap_or_else(|failure| told(&failure, terminal)).into()
}

fn told(failure: &Failure, terminal: Terminal) -> Status {
    match failure {
        Failure::Config(invalid) => terminal.diagnostics(invalid.diagnostics()),
        other => terminal.error(&format!("error: {other}")),
    }
    Status::Usage
}
