//! `retrylint check`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use crate::cli::{CheckArgs, Format};
use crate::config::{self, Config, Names};
use crate::report::{Json, Report, Text};
use crate::source::read::MAX_BYTES;
use crate::source::shown;
use crate::status::Status;
use crate::terminal::Terminal;
use crate::{Inputs, Stdin};

pub(super) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Status, Failure> {
    let cwd = working_directory()?;
    let config = args.over(configuration(args, &cwd)?);
    let inputs = inputs(args, cwd)?;
    let run = crate::run(&inputs, &config).map_err(|error| Failure::Usage(error.to_string()))?;
    terminal.out(|out| match args.format {
        Format::Text => Text { style: terminal.style, notes: config.notes }.write(&run, out),
        Format::Json => Json.write(&run, out),
    })?;
    let status = Status::of(&run, &config);
    if status == Status::Nothing {
        terminal.error(&format!("error: nothing to lint: no file found under {}", listed(&args.paths)));
    }
    Ok(status)
}

fn working_directory() -> Result<PathBuf, Failure> {
    let cwd = std::env::current_dir().and_then(|cwd| cwd.canonicalize());
    cwd.map_err(|error| Failure::Usage(format!("the working directory cannot be opened: {error}")))
}

fn configuration(args: &CheckArgs, cwd: &Path) -> Result<Config, Failure> {
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

fn inputs(args: &CheckArgs, cwd: PathBuf) -> Result<Inputs, Failure> {
    let stdin = stdin(args)?;
    let paths = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    Ok(Inputs { cwd, paths, stdin, threads: args.threads, parse_all: args.parse_all })
}

fn stdin(args: &CheckArgs) -> Result<Option<Stdin>, Failure> {
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

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
