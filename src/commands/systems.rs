//! `retrylint systems`.

use super::Failure;
use crate::cli::{Format, ListArgs};
use crate::report::lists;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &ListArgs, terminal: Terminal) -> Result<Status, Failure> {
    terminal.out(|out| match args.format {
        Format::Text => lists::systems_text(out),
        Format::Json => lists::systems_json(out),
    })?;
    Ok(Status::Clean)
}
