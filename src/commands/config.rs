//! `retrylint config`.

use std::path::Path;

use super::{Failure, input};
use crate::cli::{ConfigArgs, Format};
use crate::config::{Config, effective, schema};
use crate::report::settings::Settings;
use crate::source::shown;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &ConfigArgs, terminal: Terminal) -> Result<Status, Failure> {
    if args.schema {
        terminal.out(|out| writeln!(out, "{}", schema::text()))?;
        return Ok(Status::Clean);
    }
    let read = input::Input::new(&args.input)?;
    let cwd = &read.inputs.cwd;
    let config = args.settings.over(args.input.over(read.config));
    let file = match read.inputs.paths.as_slice() {
        [path] => file(path, cwd, &config)?,
        _ => return Err(Failure::Usage("one PATH is needed: settings are those of one place".to_owned())),
    };
    let settings = match &file {
        Some((path, _)) => effective::settings_of(&config, path),
        None => effective::settings(&config),
    };
    let settings = Settings { config: &config, settings, file };
    terminal.out(|out| match args.format {
        Format::Text => settings.text(out),
        Format::Json => settings.json(out),
    })?;
    Ok(Status::Clean)
}

/// A file as shown, and whether it is left out; nothing for a folder.
fn file(path: &Path, cwd: &Path, config: &Config) -> Result<Option<(String, bool)>, Failure> {
    let real = cwd.join(path).canonicalize();
    let real = real.map_err(|_| Failure::Usage(format!("no such file or folder: {}", path.display())))?;
    if real.is_dir() {
        return Ok(None);
    }
    let shown = shown::relative(&real, cwd);
    let left_out = config.globs(&config.exclude).matches(&shown);
    Ok(Some((shown, left_out)))
}
