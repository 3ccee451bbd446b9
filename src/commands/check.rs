//! `retrylint check`.

use super::{Failure, input};
use crate::cli::{CheckArgs, Format};
use crate::report::{Json, Report, Text};
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let config = args.over(read.config);
    let run = crate::run(&read.inputs, &config).map_err(|error| Failure::Usage(error.to_string()))?;
    terminal.out(|out| match args.format {
        Format::Text => Text { style: terminal.style, notes: config.notes }.write(&run, out),
        Format::Json => Json.write(&run, out),
    })?;
    let status = Status::of(&run, &config);
    if status == Status::Nothing {
        terminal.error(&input::nothing(&args.input));
    }
    Ok(status)
}
