//! What every command takes that reads a repository.

use std::path::PathBuf;

use clap::Args;

use super::WatchArgs;
use crate::config::Config;

/// What is read, and how: the same for every command that reads a repository.
#[derive(Debug, Clone, Default, Args)]
pub struct InputArgs {
    /// Files and folders to read, as one system; `-` is standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// The configuration file [default: retrylint.toml in the folder of the first PATH or in one above it]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The attempts that one request may cause at the end of a call path [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_amplification: Option<u64>,
    /// Take in Rust code under cfg(test), tests/, benches/ and examples/
    #[arg(long)]
    pub include_tests: bool,
    /// Take in files that say in their first lines that a program wrote them (`@generated`, `DO NOT EDIT`)
    #[arg(long)]
    pub include_generated: bool,
    /// The path that standard input stands for; its name says how to read it
    #[arg(long, value_name = "PATH")]
    pub stdin_path: Option<PathBuf>,
    /// Parse every file, not only those that select picks
    #[arg(long, hide = true)]
    pub parse_all: bool,
    /// How many threads to use; 0 = one for each processor
    #[arg(long, value_name = "N", hide = true, default_value_t = 0)]
    pub threads: usize,
    /// How much is said of it.
    #[command(flatten)]
    pub watch: WatchArgs,
}

impl InputArgs {
    /// What is read where no command is given.
    pub fn of_working_directory() -> Self {
        Self { paths: vec![PathBuf::from(".")], ..Self::default() }
    }

    /// The configuration, with what the command line says put over it.
    pub fn over(&self, mut config: Config) -> Config {
        if let Some(limit) = self.max_amplification {
            config.max_amplification = limit;
            config.flags.push(("max-amplification", "--max-amplification", limit.into()));
        }
        if self.include_tests {
            config.include_tests = true;
            config.flags.push(("include-tests", "--include-tests", true.into()));
        }
        if self.include_generated {
            config.include_generated = true;
            config.flags.push(("include-generated", "--include-generated", true.into()));
        }
        config
    }
}
