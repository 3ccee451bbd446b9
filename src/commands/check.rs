//! `retrylint check`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::watched::Watched;
use super::{Failure, input};
use crate::Inputs;
use crate::baseline;
use crate::cli::{CheckArgs, CheckFormat};
use crate::config::Config;
use crate::report::text::Style;
use crate::report::{Checkstyle, Github, Gitlab, Json, Junit, Line, Markdown, Report, Sarif, Statistics, Text};
use crate::run::Run;
use crate::since::{self, Changes};
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let config = args.over(read.config);
    if args.statistics && !matches!(args.format, CheckFormat::Text | CheckFormat::Json) {
        return Err(Failure::Usage("--statistics goes with `--format text` and `--format json`".to_owned()));
    }
    if args.show_files {
        return show_files(args, &read.inputs, &config, terminal);
    }
    // A baseline or a revision that cannot be used is told before the work, not after it.
    let changes = match &args.since {
        Some(revision) => Some(Changes::since(revision, &read.inputs.cwd)?),
        None => None,
    };
    let known = match args.baseline.clone().or_else(|| config.baseline_shown()).filter(|_| !args.no_baseline) {
        Some(file) => Some(baseline::read(&file, &read.inputs.cwd)?),
        None => None,
    };
    let watched = Watched::new(args.input.watch);
    let run = watched.run(&read.inputs, &config, terminal)?;
    let run = match known {
        Some(known) => baseline::compare(run, &known, |path| read.inputs.covers(path)),
        None => run,
    };
    let run = match &changes {
        Some(changes) => since::filter(run, changes),
        None => run,
    };
    for output in &args.output {
        to_file(&output.file, &*report(output.format, Terminal::PLAIN, args, &config), &run)?;
    }
    let report = match (args.statistics, args.format) {
        (true, CheckFormat::Json) => Box::new(Statistics { style: None }),
        (true, _) => Box::new(Statistics { style: Some(terminal.style) }),
        (false, format) => report(format, terminal.style, args, &config),
    };
    terminal.out(|out| report.write(&run, out))?;
    watched.end(terminal);
    let status = Status::of(&run, &config);
    if status == Status::Nothing {
        terminal.error(&input::nothing(&args.input));
    }
    Ok(status)
}

/// The files that would be read, a line each.
fn show_files(args: &CheckArgs, inputs: &Inputs, config: &Config, terminal: Terminal) -> Result<Status, Failure> {
    let files = crate::files(inputs, config).map_err(|error| Failure::Usage(error.to_string()))?;
    if files.is_empty() {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    terminal.out(|out| files.iter().try_for_each(|file| writeln!(out, "{file}")))?;
    Ok(Status::Clean)
}

/// What writes a form.
fn report(format: CheckFormat, style: Style, args: &CheckArgs, config: &Config) -> Box<dyn Report> {
    let notes = config.notes;
    match format {
        CheckFormat::Text => Box::new(Text { style, notes, quiet: args.input.watch.quiet }),
        CheckFormat::Line => Box::new(Line { notes }),
        CheckFormat::Json => Box::new(Json),
        CheckFormat::Sarif => Box::new(Sarif),
        CheckFormat::Github => Box::new(Github { notes }),
        CheckFormat::Gitlab => Box::new(Gitlab { notes }),
        CheckFormat::Junit => Box::new(Junit { notes }),
        CheckFormat::Checkstyle => Box::new(Checkstyle { notes }),
        CheckFormat::Markdown => Box::new(Markdown::default()),
    }
}

fn to_file(path: &Path, report: &dyn Report, run: &Run) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        report.write(run, &mut out)?;
        out.flush()
    });
    written.map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", path.display())))
}
