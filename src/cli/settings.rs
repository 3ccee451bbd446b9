//! What can be set in the configuration as well, besides what is read.

use clap::{Args, ValueEnum};

use crate::config::Config;
use crate::rules::Severity;

/// Settings that `check` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct SettingArgs {
    /// The lowest level that makes the run fail [default: error]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub fail_on: Option<FailOn>,
    /// Show notes
    #[arg(long)]
    pub notes: bool,
    /// Fail if any file, or part of one, could not be read
    #[arg(long)]
    pub strict: bool,
}

impl SettingArgs {
    /// The configuration, with what the command line says put over it.
    pub fn over(&self, mut config: Config) -> Config {
        if let Some(level) = self.fail_on {
            config.fail_on = level.severity();
            let name = level.severity().map_or("never", Severity::name);
            config.flags.push(("fail-on", "--fail-on", name.into()));
        }
        if self.notes {
            config.notes = true;
            config.flags.push(("notes", "--notes", true.into()));
        }
        if self.strict {
            config.strict = true;
            config.flags.push(("strict", "--strict", true.into()));
        }
        config
    }
}

/// Levels that can make a run fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors only
    Error,
    /// Errors and warnings
    Warning,
    /// Any finding
    Note,
    /// No finding
    Never,
}

impl FailOn {
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Note => Some(Severity::Note),
            Self::Never => None,
        }
    }
}
