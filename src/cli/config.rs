//! `retrylint config`: what it takes.

use clap::Args;

use super::{Format, InputArgs, SettingArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint config                       what holds here, and where each setting comes from
  retrylint config deploy/kong.yaml      what holds for one file: its rules' levels, whether it is read
  retrylint config --format json         for other programs
  retrylint config --schema > retrylint.schema.json

Exit status:
  0  written
  2  wrong usage or configuration";

/// What `config` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct ConfigArgs {
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print the JSON Schema of retrylint.toml instead, for editors
    #[arg(long, conflicts_with = "format")]
    pub schema: bool,
    /// What is read; a file shows what holds for it.
    #[command(flatten)]
    pub input: InputArgs,
    /// What the command line says.
    #[command(flatten)]
    pub settings: SettingArgs,
}
