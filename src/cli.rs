//! The command line: what can be given, and nothing of what is done with it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Config;
use crate::report::graph::GraphForm;
use crate::report::inventory::InventoryForm;
use crate::rules::Severity;

/// Finds retries that multiply.
///
/// Reads gateway, mesh and client settings and Rust sources, puts every place that retries on one call graph,
/// multiplies the attempts along each path, and says what one request can become.
#[derive(Debug, Parser)]
#[command(name = "retrylint", version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do; `check` if nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// When to colour the output.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, global = true)]
    pub color: Color,
}

const EXAMPLES: &str = "\
Examples:
  retrylint                                check the working directory
  retrylint check deploy services          check two folders
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
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Show what one request can become: the paths, every layer, what to change
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Draw who calls whom and what is repeated on the way, or tell why a link holds
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(GraphArgs),
    /// List every place that retries with all its settings, written or default
    #[command(after_help = INVENTORY_EXAMPLES)]
    Inventory(InventoryArgs),
    /// Print the page of a rule: what it finds, why that hurts, how to mend it
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// List all rules with their levels
    #[command(after_help = RULES_EXAMPLES)]
    Rules(ListArgs),
    /// List all systems that are read, with their defaults and where these are documented
    #[command(after_help = SYSTEMS_EXAMPLES)]
    Systems(ListArgs),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  retrylint check                                     check the working directory
  retrylint check deploy services/orders              check two folders, as one system
  retrylint check --format json > retries.json        for other programs
  retrylint check --output sarif=retries.sarif        text to read, and SARIF for code scanning
  retrylint check --max-amplification 20 --notes      another limit; notes shown too
  retrylint check - --stdin-path deploy/kong.yaml     check a text from standard input

Exit status:
  0  nothing found at or above --fail-on
  1  findings
  2  wrong usage or configuration
  3  nothing to lint: no file found";

const REPORT_EXAMPLES: &str = "\
Examples:
  retrylint report                                     Markdown, for a pull request
  retrylint report -o report.html                      a page to look at: one file that loads nothing
  retrylint report --format json | jq .paths           for other programs
  retrylint report -o report.html --link 'https://github.com/me/shop/blob/main/{path}#L{line}'

Exit status:
  0  written, whatever is in it
  2  wrong usage or configuration
  3  nothing to lint: no file found";

const GRAPH_EXAMPLES: &str = "\
Examples:
  retrylint graph | dot -Tpng -o calls.png         drawn by Graphviz
  retrylint graph --format svg -o calls.svg        drawn without it
  retrylint graph --format mermaid deploy          for Markdown
  retrylint graph --format json                    for other programs
  retrylint graph --why gateway orders             why one leads to the other, with the source lines

Exit status:
  0  written, or one leads to the other
  1  nothing leads from one to the other
  2  wrong usage or configuration
  3  nothing to lint: no file found";

const INVENTORY_EXAMPLES: &str = "\
Examples:
  retrylint inventory                              every place that retries, with its settings
  retrylint inventory --format csv > retries.csv   for a spreadsheet
  retrylint inventory --format json deploy         for other programs

Exit status:
  0  written, whatever is in it
  2  wrong usage or configuration
  3  nothing to lint: no file found";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  retrylint explain missing-jitter
  retrylint rules                     lists the names";

const RULES_EXAMPLES: &str = "\
Examples:
  retrylint rules
  retrylint rules --format json";

const SYSTEMS_EXAMPLES: &str = "\
Examples:
  retrylint systems
  retrylint systems --format json";

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
    /// The path that standard input stands for; its name says how to read it
    #[arg(long, value_name = "PATH")]
    pub stdin_path: Option<PathBuf>,
    /// Parse every file, not only those that select picks
    #[arg(long, hide = true)]
    pub parse_all: bool,
    /// How many threads to use; 0 = one for each processor
    #[arg(long, value_name = "N", hide = true, default_value_t = 0)]
    pub threads: usize,
}

impl InputArgs {
    /// What is read where no command is given.
    pub fn of_working_directory() -> Self {
        Self { paths: vec![PathBuf::from(".")], ..Self::default() }
    }

    /// The configuration, with what the command line says put over it.
    pub fn over(&self, config: Config) -> Config {
        Config {
            max_amplification: self.max_amplification.unwrap_or(config.max_amplification),
            include_tests: self.include_tests || config.include_tests,
            ..config
        }
    }
}

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

impl CheckArgs {
    /// What is checked where no command is given.
    pub fn of_working_directory() -> Self {
        Self { input: InputArgs::of_working_directory(), ..Self::default() }
    }

    /// The configuration, with what the command line says put over it.
    pub fn over(&self, config: Config) -> Config {
        let config = self.input.over(config);
        Config {
            fail_on: self.fail_on.map_or(config.fail_on, FailOn::severity),
            notes: self.notes || config.notes,
            strict: self.strict || config.strict,
            ..config
        }
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

/// What `report` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct ReportArgs {
    /// The form of the report [default: by the ending of FILE, else markdown]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The address of a source line, with {path} and {line} [default: no links in Markdown; on the page, the way from
    /// FILE to the source]
    #[arg(long, value_name = "TEMPLATE", value_parser = link)]
    pub link: Option<String>,
    /// What the page is called
    #[arg(long, default_value = "Retries")]
    pub title: String,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

impl ReportArgs {
    /// The form that is asked for.
    pub fn format(&self) -> ReportFormat {
        let ending = self.output.as_ref().and_then(|file| file.extension()?.to_str());
        self.format.unwrap_or(match ending {
            Some("html" | "htm") => ReportFormat::Html,
            Some("json") => ReportFormat::Json,
            _ => ReportFormat::Markdown,
        })
    }
}

/// A template of links. It must lead somewhere, and must not run anything.
fn link(template: &str) -> Result<String, String> {
    let scheme = template.split_once(':').map(|(scheme, _)| scheme.trim().to_lowercase());
    if matches!(scheme.as_deref(), Some("javascript" | "data" | "vbscript")) {
        return Err("this is no address of a file".to_owned());
    }
    if template.starts_with("{path}") {
        return Err("a file's name must not be the start of an address: write `./{path}`".to_owned());
    }
    if !template.contains("{path}") {
        return Err("`{path}` is missing: it stands for the file".to_owned());
    }
    Ok(template.to_owned())
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a pull request
    Markdown,
    /// For programs; the form is stable
    Json,
    /// A page to look at and to try things on: one file that loads nothing
    Html,
}

/// What `graph` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct GraphArgs {
    /// The form of the graph
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Tell why one component leads to another, instead
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with_all = ["format", "output"])]
    pub why: Vec<String>,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// Forms of the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    #[default]
    Dot,
    /// For Markdown
    Mermaid,
    /// For programs; the form is stable
    Json,
    /// A picture
    Svg,
}

impl GraphFormat {
    /// The form that is asked for.
    pub fn form(self) -> GraphForm {
        match self {
            Self::Dot => GraphForm::Dot,
            Self::Mermaid => GraphForm::Mermaid,
            Self::Json => GraphForm::Json,
            Self::Svg => GraphForm::Svg,
        }
    }
}

/// What `inventory` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct InventoryArgs {
    /// The form of the list
    #[arg(long, value_enum, default_value_t = InventoryFormat::Table)]
    pub format: InventoryFormat,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// Forms of the inventory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InventoryFormat {
    /// For people
    #[default]
    Table,
    /// For spreadsheets
    Csv,
    /// For programs; the form is stable
    Json,
}

impl InventoryFormat {
    /// The form that is asked for.
    pub fn form(self) -> InventoryForm {
        match self {
            Self::Table => InventoryForm::Table,
            Self::Csv => InventoryForm::Csv,
            Self::Json => InventoryForm::Json,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

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
        let args = CheckArgs { fail_on: Some(FailOn::Never), strict: true, ..CheckArgs::default() };
        let config = args.over(Config { max_amplification: 20, notes: true, ..Config::default() });
        assert_eq!((config.max_amplification, config.fail_on), (20, None));
        assert!(config.notes && config.strict && !config.include_tests);
        let args = InputArgs { max_amplification: Some(3), ..InputArgs::default() };
        assert_eq!(args.over(Config { max_amplification: 20, ..Config::default() }).max_amplification, 3);
    }
}
