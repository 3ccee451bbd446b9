//! The command line: what can be given, and nothing of what is done with it. One file a command.

mod baseline;
mod check;
mod config;
mod graph;
mod init;
mod input;
mod inventory;
mod lists;
mod packages;
mod report;
mod settings;
mod watching;

use std::ffi::{OsStr, OsString};
use std::path::Path;

pub use baseline::BaselineArgs;
pub use check::{CheckArgs, CheckFormat, Output};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
pub use config::ConfigArgs;
pub use graph::{GraphArgs, GraphFormat};
pub use init::InitArgs;
pub use input::InputArgs;
pub use inventory::{InventoryArgs, InventoryFormat};
pub use lists::{ExplainArgs, Format, ListArgs};
pub use packages::{CompletionsArgs, ManArgs};
pub use report::{ReportArgs, ReportFormat};
pub use settings::{FailOn, SettingArgs};
pub use watching::WatchArgs;

/// Finds retries that multiply.
///
/// Reads gateway, mesh and client settings and Rust sources, puts every place that retries on one call graph,
/// multiplies the attempts along each path, and says what one request can become.
#[derive(Debug, Parser)]
#[command(name = "retrylint", version, long_version = env!("RETRYLINT_VERSION"), after_help = EXAMPLES)]
pub struct Cli {
    /// What to do; `check` if nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// When to colour the output.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, global = true)]
    pub color: Color,
}

impl Cli {
    /// What this process was given. What does not begin with a command is meant for `check`.
    pub fn read() -> Self {
        Self::parse_from(with_command(std::env::args_os().collect()))
    }
}

fn with_command(mut given: Vec<OsString>) -> Vec<OsString> {
    if !given.get(1).is_some_and(|first| is_for_check(first)) {
        return given;
    }
    // `retrylint -v graph`: flags may stand before the command, too.
    let flags_first = given.get(1).is_some_and(|first| first.to_string_lossy().starts_with('-'));
    let named = given.iter().skip(2).position(|arg| flags_first && is_command(arg) && !Path::new(arg).exists());
    let command = named.map_or_else(|| "check".into(), |at| given.remove(at + 2));
    given.insert(1, command);
    given
}

fn is_command(text: &OsStr) -> bool {
    Cli::command().get_subcommands().any(|c| c.get_name() == text)
}

/// Whether a first argument is a flag of `check`, or a path that is there and no command's name.
fn is_for_check(first: &OsStr) -> bool {
    let text = first.to_string_lossy();
    if text.starts_with('-') && text != "-" {
        return !matches!(&*text, "-h" | "--help" | "-V" | "--version") && !text.starts_with("--color");
    }
    text != "help" && !is_command(first) && Path::new(first).exists()
}

const EXAMPLES: &str = "\
Examples:
  retrylint                                check the working directory
  retrylint check deploy services          check two folders
  retrylint baseline                       write down what is found, to fail on what is new only
  retrylint init                           write a first retrylint.toml
  retrylint report -o report.html          a page that shows what one request can become
  retrylint graph --format svg -o a.svg    a picture of who calls whom, and what is repeated
  retrylint explain retry-amplification    why a rule exists, and how to mend what it finds

Exit status:
  0  nothing found at or above --fail-on
  1  findings
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check files and folders (the default command)
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArgs),
    /// Write down what is found now, so that only what is new fails
    #[command(after_help = baseline::EXAMPLES)]
    Baseline(BaselineArgs),
    /// Write a first retrylint.toml, with what is found here
    #[command(after_help = init::EXAMPLES)]
    Init(InitArgs),
    /// Show the effective settings, and where each comes from
    #[command(after_help = config::EXAMPLES)]
    Config(ConfigArgs),
    /// Show what one request can become: the paths, every layer, what to change
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Draw who calls whom and what is repeated on the way, or tell why a link holds
    #[command(after_help = graph::EXAMPLES)]
    Graph(GraphArgs),
    /// List every place that retries with all its settings, written or default
    #[command(after_help = inventory::EXAMPLES)]
    Inventory(InventoryArgs),
    /// Print the page of a rule: what it finds, why that hurts, how to mend it
    #[command(after_help = lists::EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// List all rules with their levels
    #[command(after_help = lists::RULES_EXAMPLES)]
    Rules(ListArgs),
    /// List all systems that are read, with their defaults and where these are documented
    #[command(after_help = lists::SYSTEMS_EXAMPLES)]
    Systems(ListArgs),
    /// Print what a shell needs to complete this command line
    #[command(after_help = packages::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command
    #[command(hide = true)]
    Man(ManArgs),
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colours everywhere
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_check_of_the_working_directory() {
        let Some(Command::Check(given)) = Cli::parse_from(["retrylint", "check"]).command else { panic!("not check") };
        assert_eq!(format!("{given:?}"), format!("{:?}", CheckArgs::of_working_directory()));
    }

    #[test]
    fn the_command_line_wins_over_the_configuration() {
        let settings = SettingArgs { fail_on: Some(FailOn::Never), strict: true, ..SettingArgs::default() };
        let args = CheckArgs { settings, ..CheckArgs::default() };
        let config = args.over(Config { max_amplification: 20, notes: true, ..Config::default() });
        assert_eq!((config.max_amplification, config.fail_on), (20, None));
        assert!(config.notes && config.strict && !config.include_tests);
        let args = InputArgs { max_amplification: Some(3), ..InputArgs::default() };
        assert_eq!(args.over(Config { max_amplification: 20, ..Config::default() }).max_amplification, 3);
    }

    #[test]
    fn what_does_not_begin_with_a_command_is_for_check() {
        let of = |given: &[&str]| with_command(given.iter().map(OsString::from).collect());
        assert_eq!(of(&["retrylint", "--notes"]), ["retrylint", "check", "--notes"]);
        assert_eq!(of(&["retrylint", "src"]), ["retrylint", "check", "src"]);
        assert_eq!(of(&["retrylint", "-v", "graph", "src"]), ["retrylint", "graph", "-v", "src"]);
        for kept in [&["retrylint"][..], &["retrylint", "rules"], &["retrylint", "--help"], &["retrylint", "no-such"]] {
            assert_eq!(of(kept), kept);
        }
    }
}
