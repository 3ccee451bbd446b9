//! `retrylint init`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Failure, input};
use crate::cli::{InitArgs, InputArgs};
use crate::config::{CONFIG_NAME, Config};
use crate::report::starter;
use crate::status::Status;
use crate::system_metas;
use crate::systems::{Version, Versions};
use crate::terminal::Terminal;

pub(super) fn run(args: &InitArgs, terminal: Terminal) -> Result<Status, Failure> {
    let to_stdout = args.stdout || args.output.as_deref() == Some(Path::new("-"));
    let file = args.output.clone().unwrap_or_else(|| in_folder(&args.folder));
    if !to_stdout && !args.force && file.exists() {
        return Err(Failure::Usage(format!("{} is there already; --force writes over it", file.display())));
    }
    let input = InputArgs { paths: vec![args.folder.clone()], ..InputArgs::default() };
    let read = input::Input::above(&input)?;
    let run = |config: &Config| crate::run(&read.inputs, config).map_err(|error| Failure::Usage(error.to_string()));
    let now = run(&read.config)?;
    if now.files == 0 {
        terminal.error(&input::nothing(&input));
        return Ok(Status::Nothing);
    }
    // What is read in another way of very old versions depends on the version.
    let oldest = system_metas().map(|meta| (meta.id.to_owned(), Version { major: 0, minor: 0 })).collect();
    let old = run(&Config { versions: Versions(oldest), ..read.config.clone() })?;
    let text = starter::text(&now, &old, &starter::Place::new(&args.folder, &read.inputs.cwd, &read.config));
    if to_stdout {
        terminal.out(|out| out.write_all(text.as_bytes()))?;
    } else {
        fs::write(&file, text)
            .map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", file.display())))?;
        terminal.out(|out| writeln!(out, "{} is written; `retrylint config` shows what holds", file.display()))?;
    }
    Ok(Status::Clean)
}

fn in_folder(folder: &Path) -> PathBuf {
    if folder == Path::new(".") { CONFIG_NAME.into() } else { folder.join(CONFIG_NAME) }
}
