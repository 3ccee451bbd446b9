//! `retrylint report`.

use std::fs;
use std::io;
use std::path::Path;

use super::watched::Watched;
use super::{Failure, input};
use crate::cli::{ReportArgs, ReportFormat};
use crate::report::{Data, Html, Markdown, Report};
use crate::run::Run;
use crate::source::shown;
use crate::status::Status;
use crate::terminal::Terminal;

pub(super) fn run(args: &ReportArgs, terminal: Terminal) -> Result<Status, Failure> {
    let format = args.format().map_err(Failure::Usage)?;
    let read = input::Input::new(&args.input)?;
    let config = args.input.over(read.config);
    let watched = Watched::new(args.input.watch);
    let run = watched.run(&read.inputs, &config, terminal)?;
    if run.files == 0 {
        terminal.error(&input::nothing(&args.input));
        return Ok(Status::Nothing);
    }
    let link = args.link.clone();
    let written = |out: &mut dyn io::Write| -> io::Result<()> {
        match format {
            ReportFormat::Markdown => Markdown { link }.write(&run, out),
            ReportFormat::Json => json(&run, out),
            ReportFormat::Html => {
                let link = link.unwrap_or_else(|| link_from(args.output.as_deref(), &read.inputs.cwd));
                Html { title: args.title.clone(), link }.write(&run, out)
            }
        }
    };
    match &args.output {
        None => terminal.out(written)?,
        Some(file) => {
            let mut text = Vec::new();
            written(&mut text)?;
            fs::write(file, text).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
        }
    }
    watched.end(terminal);
    Ok(Status::Clean)
}

fn json(run: &Run, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Data::new(run))?;
    writeln!(out)
}

/// The way from the page's folder to a source file, whose path is relative to the working directory. It always starts
/// with a dot, so that no name of a file can be taken for a scheme.
fn link_from(page: Option<&Path>, cwd: &Path) -> String {
    let folder = page.and_then(|file| cwd.join(file).parent()?.canonicalize().ok());
    let way = folder.map_or_else(String::new, |folder| shown::relative(cwd, &folder));
    let slash = if way.is_empty() { "" } else { "/" };
    format!("./{}{slash}{{path}}#L{{line}}", shown::encoded(&way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_pages_folder_to_the_working_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let cwd = root.join("a shop");
        fs::create_dir_all(cwd.join("out/site")).expect("writable");
        assert_eq!(link_from(None, &cwd), "./{path}#L{line}");
        assert_eq!(link_from(Some(Path::new("report.html")), &cwd), "./{path}#L{line}");
        assert_eq!(link_from(Some(Path::new("out/site/report.html")), &cwd), "./../../{path}#L{line}");
        assert_eq!(link_from(Some(Path::new("../report.html")), &cwd), "./a%20shop/{path}#L{line}");
    }
}
