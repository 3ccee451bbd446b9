//! `retrylint graph`.

use std::fs;

use super::watched::Watched;
use super::{Failure, input};
use crate::cli::GraphArgs;
use crate::report::graph::{self, Why};
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &GraphArgs, terminal: Terminal) -> Result<Status, Failure> {
    let form = args.form().map_err(Failure::Usage)?;
    let read = input::Input::new(&args.input)?;
    let config = args.input.over(read.config);
    let watched = Watched::new(args.input.watch);
    let run = watched.run(&read.inputs, &config, terminal)?;
    if run.files == 0 {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    if let [from, to] = args.why.as_slice() {
        let why = Why::new(&run, from, to).map_err(|error| Failure::Usage(error.to_string()))?;
        let mut holds = false;
        terminal.out(|out| {
            holds = why.write(&run, terminal.style, out)?;
            Ok(())
        })?;
        return Ok(if holds { Status::Clean } else { Status::Findings });
    }
    match &args.output {
        None => terminal.out(|out| graph::write(&run, form, out))?,
        Some(file) => {
            let mut bytes = Vec::new();
            graph::write(&run, form, &mut bytes)?;
            fs::write(file, bytes).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
        }
    }
    watched.end(terminal);
    Ok(Status::Clean)
}
