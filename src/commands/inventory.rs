//! `retrylint inventory`.

use super::watched::Watched;
use super::{Failure, input};
use crate::cli::InventoryArgs;
use crate::report::inventory;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &InventoryArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let config = args.input.over(read.config);
    let watched = Watched::new(args.input.watch);
    let run = watched.run(&read.inputs, &config, terminal)?;
    if run.files == 0 {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    terminal.out(|out| inventory::write(&run, args.format.form(), terminal.style, out))?;
    watched.end(terminal);
    Ok(Status::Clean)
}
