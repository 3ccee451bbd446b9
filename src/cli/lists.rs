//! `retrylint explain`, `rules` and `systems`: what they take.

use clap::{Args, ValueEnum};

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  retrylint explain missing-jitter
  retrylint rules                     lists the names";

pub(super) const RULES_EXAMPLES: &str = "\
Examples:
  retrylint rules
  retrylint rules --format json";

pub(super) const SYSTEMS_EXAMPLES: &str = "\
Examples:
  retrylint systems
  retrylint systems --format json";

/// What `explain` takes.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The name of a rule
    #[arg(value_name = "RULE")]
    pub rule: String,
}

/// What `rules` and `systems` take.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Forms of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs; the form is stable
    Json,
}
