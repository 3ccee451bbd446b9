//! `retrylint rules`.

use super::Failure;
use crate::cli::{Format, ListArgs};
use crate::report::lists;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &ListArgs, terminal: Terminal) -> Result<Status, Failure> {
    terminal.out(|out| match args.format {
        Format::Text => lists::rules_text(out),
        Format::Json => lists::rules_json(out),
    })?;
    Ok(Status::Clean)
}
