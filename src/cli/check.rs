//! `retrylint check`: what it takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{InputArgs, SettingArgs};
use crate::config::Config;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint check                                     check the working directory
  retrylint check deploy services/orders              check two folders, as one system
  retrylint check --format json > retries.json        for other programs
  retrylint check --output sarif=retries.sarif        text to read, and SARIF for code scanning
  retrylint check --baseline retrylint-baseline.json  only what is new since `retrylint baseline`
  retrylint check --since origin/main                 only what a branch has changed
  retrylint check --max-amplification 20 --notes      another limit; notes shown too
  retrylint check - --stdin-path deploy/kong.yaml     check a text from standard input

Exit status:
  0  nothing found at or above --fail-on
  1  findings
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// What `check` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct CheckArgs {
    /// The form of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Write another form to a file as well, such as `sarif=retries.sarif`; may be given more than once
    #[arg(long, value_name = "FORMAT=FILE", value_parser = output)]
    pub output: Vec<Output>,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The baseline: what it lists is no finding [default: the `baseline` of the configuration, if it names one]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Use no baseline, whatever the configuration says
    #[arg(long, conflicts_with = "baseline")]
    pub no_baseline: bool,
    /// Report only what stands in lines that have changed since this revision of git; all files are read all the same
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// What makes the run fail, and what is shown.
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Count the findings of each rule instead of showing them; with `--format json` for programs
    #[arg(long)]
    pub statistics: bool,
    /// List the files that would be read, and check nothing
    #[arg(long, conflicts_with_all = ["statistics", "output"])]
    pub show_files: bool,
}

impl CheckArgs {
    /// What is checked where no command is given.
    pub fn of_working_directory() -> Self {
        Self { input: InputArgs::of_working_directory(), ..Self::default() }
    }

    /// The configuration, with what the command line says put over it.
    pub fn over(&self, config: Config) -> Config {
        self.settings.over(self.input.over(config))
    }
}

/// Forms in which findings are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    #[default]
    Text,
    /// One line a finding, for editors and grep
    Line,
    /// For programs; the form is stable
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// JUnit's XML
    Junit,
    /// Checkstyle's XML
    Checkstyle,
    /// For a pull request
    Markdown,
}

/// A form, and the file that it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The form.
    pub format: CheckFormat,
    /// The file.
    pub file: PathBuf,
}

fn output(given: &str) -> Result<Output, String> {
    let Some((format, file)) = given.split_once('=').filter(|(_, file)| !file.is_empty()) else {
        return Err("a form and a file are needed, such as `sarif=retries.sarif`".to_owned());
    };
    let format = CheckFormat::from_str(format, false).map_err(|_| {
        let all: Vec<String> = CheckFormat::value_variants()
            .iter()
            .filter_map(|f| Some(f.to_possible_value()?.get_name().to_owned()))
            .collect();
        format!("there is no form `{format}`; there are {}", all.join(", "))
    })?;
    Ok(Output { format, file: PathBuf::from(file) })
}
