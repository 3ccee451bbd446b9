//! `retrylint inventory`.

use super::{Failure, input};
use crate::cli::InventoryArgs;
use crate::report::inventory;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &InventoryArgs, terminal: Terminal) -> Result<Status, Failure> {
    let read = input::Input::new(&args.input)?;
    let config = args.input.over(read.config);
    let run = crate::run(&read.inputs, &config).map_err(|error| Failure::Usage(error.to_string()))?;
    if run.files == 0 {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    terminal.out(|out| inventory::write(&run, args.format.form(), terminal.style, out))?;
    Ok(Status::Clean)
}
