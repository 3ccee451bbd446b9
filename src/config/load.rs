//! Finding and reading the configuration file, and those that it extends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::merge;
use super::problem::{Invalid, Problem};
use super::reader::{self, FilePlace, FilePlaces, Names};
use super::{Bases, CONFIG_FILE_ID, CONFIG_NAME, Config};
use crate::source::{FileId, SourceFile, Span, shown};
use crate::syntax::Node;

/// More files than this extend each other by mistake.
const MAX_FILES: usize = 64;

/// The `retrylint.toml` that applies to `start`: in it, if it is a folder, else in the nearest folder above it that has
/// one. Relative to `cwd` if `start` is.
pub fn find(start: &Path, cwd: &Path) -> Option<PathBuf> {
    let real = cwd.join(start).ancestors().find_map(|path| path.canonicalize().ok())?;
    let file = real.ancestors().map(|folder| folder.join(CONFIG_NAME)).find(|file| file.is_file())?;
    Some(if start.is_relative() { shown::relative(&file, cwd).into() } else { file })
}

/// Reads a configuration file, with those that it extends. `cwd` is absolute, its links resolved.
pub fn load(file: &Path, cwd: &Path, names: &Names) -> Result<Config, Invalid> {
    let mut loader =
        Loader { cwd, is_relative: file.is_relative(), files: Vec::new(), open: Vec::new(), problems: Vec::new() };
    let path = loader.shown(&cwd.join(file), file);
    let tree = match text(&cwd.join(file)) {
        Ok(text) => loader.tree(cwd.join(file), path.clone(), &text, names),
        Err(reason) => {
            let message = format!("{path} cannot be read: {reason}");
            loader.problem(Span::start_of(CONFIG_FILE_ID), message, "", None);
            None
        }
    };
    let places = loader.places();
    let top = loader.top();
    let read = match tree {
        Some(tree) if loader.problems.is_empty() => {
            reader::read_tree(&tree, names, &places).map(|config| (config, tree))
        }
        _ => Err(std::mem::take(&mut loader.problems)),
    };
    let sources: Vec<Arc<SourceFile>> = loader.files.into_iter().map(|read| Arc::new(read.source)).collect();
    match read {
        Ok((config, tree)) => Ok(Config {
            file: Some(cwd.join(file)),
            sources,
            tree: Some(Arc::new(tree)),
            bases: Bases { config: top, cwd: cwd.to_owned() },
            ..config
        }),
        Err(problems) => {
            Err(Invalid { path, sources: sources.iter().map(|file| (**file).clone()).collect(), problems })
        }
    }
}

/// Reads the text of a configuration file.
pub fn parse(source: &SourceFile, names: &Names) -> Result<Config, Vec<Problem>> {
    reader::read(&crate::syntax::toml::parse(source), names, &FilePlaces::new())
}

fn text(file: &Path) -> Result<String, String> {
    match std::fs::read(file).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => Err("not UTF-8".to_owned()),
        Err(error) => Err(crate::source::discover::reason(&error)),
    }
}

/// A file that was read.
struct Read {
    source: SourceFile,
    /// Its folder: absolute, links resolved.
    folder: PathBuf,
}

struct Loader<'a> {
    cwd: &'a Path,
    /// Whether the first file was given by a relative path.
    is_relative: bool,
    files: Vec<Read>,
    /// The files that are being read, each extended by the one before it: links resolved, and as shown.
    open: Vec<(PathBuf, String)>,
    problems: Vec<Problem>,
}

impl Loader<'_> {
    /// The settings of a file put over those of the files that it extends.
    fn tree(&mut self, file: PathBuf, path: String, text: &str, names: &Names) -> Option<Node> {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        let folder = real.parent().unwrap_or(self.cwd).to_owned();
        // The first has the last number, so that those that it extends come before it in no report.
        let id = FileId(CONFIG_FILE_ID.0 - u32::try_from(self.files.len()).unwrap_or_default());
        let source = SourceFile { id, path: path.as_str().into(), text: text.into() };
        let parsed = crate::syntax::toml::parse(&source);
        self.files.push(Read { source, folder: folder.clone() });
        if let Err(problems) = reader::read(&parsed, names, &FilePlaces::new()) {
            self.problems.extend(problems);
        }
        let own = parsed.documents.first().filter(|_| parsed.errors.is_empty())?;
        self.open.push((real, path));
        let mut base: Option<Node> = None;
        for (written, span) in reader::extended(own) {
            if let Some(tree) = self.extended(&folder, written, span, names) {
                base = Some(match base {
                    Some(base) => merge::over(&base, &tree),
                    None => tree,
                });
            }
        }
        self.open.pop();
        Some(match base {
            Some(base) => merge::over(&base, own),
            None => (**own).clone(),
        })
    }

    fn extended(&mut self, folder: &Path, written: &str, span: Span, names: &Names) -> Option<Node> {
        let file = folder.join(written);
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if let Some(at) = self.open.iter().position(|(open, _)| *open == real) {
            let first = self.open.get(at).map_or("", |(_, path)| path).to_owned();
            let round: Vec<&str> = self.open.iter().skip(at).map(|(_, path)| path.as_str()).collect();
            let help = format!("{} → {first}: take one of these out", round.join(" → "));
            self.problem(span, "the files extend each other in a circle".to_owned(), "leads back", Some(help));
            return None;
        }
        if self.files.len() >= MAX_FILES {
            self.problem(span, format!("more than {MAX_FILES} files are extended"), "one too many", None);
            return None;
        }
        match text(&file) {
            Ok(text) => {
                let path = self.shown(&file, Path::new(written));
                self.tree(file, path, &text, names)
            }
            Err(reason) => {
                self.problem(span, format!("`{written}` cannot be read: {reason}"), "extends this file", None);
                None
            }
        }
    }

    fn problem(&mut self, span: Span, message: String, label: &str, help: Option<String>) {
        self.problems.push(Problem { span, message, label: label.to_owned(), help });
    }

    fn shown(&self, file: &Path, written: &Path) -> String {
        match file.canonicalize() {
            Ok(real) if self.is_relative || real.starts_with(self.cwd) => shown::relative(&real, self.cwd),
            _ => shown::absolute(written),
        }
    }

    /// The folder from which the globs of all files start: the nearest that holds them all.
    fn top(&self) -> PathBuf {
        let mut folders = self.files.iter().map(|read| read.folder.as_path());
        let first = folders.next().unwrap_or(self.cwd);
        folders.fold(first, |top, folder| top.ancestors().find(|a| folder.starts_with(a)).unwrap_or(top)).to_owned()
    }

    fn places(&self) -> FilePlaces {
        let top = self.top();
        let place =
            |read: &Read| FilePlace { folder: read.folder.clone(), prefix: shown::relative(&read.folder, &top) };
        self.files.iter().map(|read| (read.source.id, place(read))).collect()
    }
}
