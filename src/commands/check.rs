//! `retrylint check`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{Failure, input};
use crate::baseline;
use crate::cli::{CheckArgs, CheckFormat};
use crate::config::Config;
use crate::report::text::Style;
use crate::report::{Checkstyle, Github, Gitlab, Json, Junit, Line, Markdown, Report, Sarif, Text};
use crate::run::Run;
use crate::since::{self, Changes};
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let config = args.over(read.config);
    // A baseline or a revision that cannot be used is told before the work, not after it.
    let changes = match &args.since {
        Some(revision) => Some(Changes::since(revision, &read.inputs.cwd)?),
        None => None,
    };
    let known = match args.baseline.clone().or_else(|| config.baseline_shown()).filter(|_| !args.no_baseline) {
        Some(file) => Some(baseline::read(&file, &read.inputs.cwd)?),
        None => None,
    };
    let run = crate::run(&read.inputs, &config).map_err(|error| Failure::Usage(error.to_string()))?;
    let run = match known {
        Some(known) => baseline::compare(run, &known, |path| read.inputs.covers(path)),
        None => run,
    };
    let run = match &changes {
        Some(changes) => since::filter(run, changes),
        None => run,
    };
    for output in &args.output {
        to_file(&output.file, &*report(output.format, Terminal::PLAIN, &config), &run)?;
    }
    terminal.out(|out| report(args.format, terminal.style, &config).write(&run, out))?;
    let status = Status::of(&run, &config);
    if status == Status::Nothing {
        terminal.error(&input::nothing(&args.input));
    }
    Ok(status)
}

/// What writes a form.
fn report(format: CheckFormat, style: Style, config: &Config) -> Box<dyn Report> {
    let notes = config.notes;
    match format {
        CheckFormat::Text => Box::new(Text { style, notes }),
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
