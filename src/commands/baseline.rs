//! `retrylint baseline`.

use std::fs;
use std::path::Path;

use super::{Failure, input};
use crate::baseline::{self, Entry, Renewed, Unusable};
use crate::cli::BaselineArgs;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &BaselineArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let cwd = &read.inputs.cwd;
    let config = args.input.over(read.config);
    let configured = config.baseline_shown();
    let file = args.output.clone().or_else(|| configured.clone()).unwrap_or_else(|| baseline::DEFAULT_FILE.into());
    let old = if is_stdout(&file) { Vec::new() } else { old(&file, cwd, args.prune)? };
    let run = crate::run(&read.inputs, &config).map_err(|error| Failure::Usage(error.to_string()))?;
    if run.files == 0 {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    let run = baseline::compare(run, &old, |path| read.inputs.covers(path));
    let renewed = baseline::renewed(&run, args.prune);
    let text = baseline::text(&renewed.entries, &file, cwd)?;
    if is_stdout(&file) {
        terminal.out(|out| out.write_all(text.as_bytes()))?;
        return Ok(Status::Clean);
    }
    fs::write(&file, text).map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", file.display())))?;
    terminal.out(|out| writeln!(out, "{}", said(&file, &renewed)))?;
    if configured.is_none() {
        let file = file.display();
        let hint =
            format!("To use it: retrylint check --baseline {file}, or `baseline = \"{file}\"` in retrylint.toml");
        terminal.out(|out| writeln!(out, "{hint}"))?;
    }
    Ok(Status::Clean)
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// What is there already. Nothing but a baseline is written over.
fn old(file: &Path, cwd: &Path, prune: bool) -> Result<Vec<Entry>, Failure> {
    match baseline::read(file, cwd) {
        Err(Unusable::Unread { missing: true, .. }) if !prune => Ok(Vec::new()),
        read => Ok(read?),
    }
}

fn said(file: &Path, renewed: &Renewed) -> String {
    let count = renewed.entries.len();
    let findings = if count == 1 { "finding" } else { "findings" };
    format!("{}: {count} {findings}, {} new, {} gone", file.display(), renewed.new, renewed.gone)
}
