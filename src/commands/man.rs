//! `retrylint man --out DIR`: for those who make packages.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::Failure;
use crate::cli::{Cli, ManArgs};
use crate::status::Status;

pub(super) fn run(args: &ManArgs) -> Result<Status, Failure> {
    let written = write(&args.out);
    written.map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", args.out.display())))?;
    Ok(Status::Clean)
}

/// One page for the program, and one for each of its commands.
fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    for command in commands.chain([program.clone()]) {
        let page = Man::new(command).source(concat!("retrylint ", env!("CARGO_PKG_VERSION"))).manual("retrylint");
        page.generate_to(folder)?;
    }
    Ok(())
}
