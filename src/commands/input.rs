//! What the commands that read a repository have in common: where they start, and with which configuration.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use crate::cli::InputArgs;
use crate::config::{self, Config, Names};
use crate::source::read::MAX_BYTES;
use crate::source::shown;
use crate::{Inputs, Stdin};

/// What a run starts from.
pub(super) struct Input {
    /// What is read.
    pub(super) inputs: Inputs,
    /// The configuration of the file, not yet overruled by the command line.
    pub(super) config: Config,
}

impl Input {
    /// Finds the configuration, and reads standard input where it is asked for.
    pub(super) fn new(args: &InputArgs) -> Result<Self, Failure> {
        let cwd = working_directory()?;
        let config = configuration(args, &cwd)?;
        Ok(Self { inputs: inputs(args, cwd)?, config })
    }
}

impl Input {
    /// What a run starts from where the configuration of the first folder itself does not count, only one above it.
    pub(super) fn above(args: &InputArgs) -> Result<Self, Failure> {
        let cwd = working_directory()?;
        let first = args.paths.first().and_then(|path| cwd.join(path).canonicalize().ok());
        let config = match first.as_deref().and_then(Path::parent).and_then(|above| config::find(above, &cwd)) {
            Some(file) => config::load(&file, &cwd, &Names::all()).map_err(Failure::Config)?,
            None => Config::without_file(&cwd),
        };
        Ok(Self { inputs: inputs(args, cwd)?, config })
    }
}

/// What is said where there is nothing to read.
pub(super) fn nothing(args: &InputArgs) -> String {
    let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
    format!("error: nothing to lint: no file found under {}", paths.join(", "))
}

fn working_directory() -> Result<PathBuf, Failure> {
    let cwd = std::env::current_dir().and_then(|cwd| cwd.canonicalize());
    cwd.map_err(|error| Failure::Usage(format!("the working directory cannot be opened: {error}")))
}

fn configuration(args: &InputArgs, cwd: &Path) -> Result<Config, Failure> {
    let start = args.paths.iter().find(|path| !is_stdin(path)).or(args.stdin_path.as_ref());
    let file = match &args.config {
        Some(file) => Some(file.clone()),
        None => config::find(start.map_or(Path::new("."), |path| path), cwd),
    };
    match file {
        Some(file) => config::load(&file, cwd, &Names::all()).map_err(Failure::Config),
        None => Ok(Config::without_file(cwd)),
    }
}

fn inputs(args: &InputArgs, cwd: PathBuf) -> Result<Inputs, Failure> {
    let stdin = stdin(args)?;
    let paths = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    Ok(Inputs { cwd, paths, stdin, today, threads: args.threads, parse_all: args.parse_all })
}

fn stdin(args: &InputArgs) -> Result<Option<Stdin>, Failure> {
    match (args.paths.iter().any(|path| is_stdin(path)), &args.stdin_path) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err(Failure::Usage("--stdin-path is given, but no path is `-`".to_owned())),
        (true, None) => {
            Err(Failure::Usage("standard input needs `--stdin-path PATH`: its name says how to read it".to_owned()))
        }
        (true, Some(path)) => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
            read.map_err(|error| Failure::Usage(format!("standard input cannot be read: {error}")))?;
            Ok(Some(Stdin { path: shown::lexical(path), bytes: Arc::from(bytes) }))
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
