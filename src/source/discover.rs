//! Stage one: which files there are. The disk is walked in parallel and the result sorted, so that it is the same every time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::{CONFIG_NAME, Globs, Unread, shown};
use crate::syntax::Syntax;

/// What is asked for.
#[derive(Debug)]
pub struct Paths<'a> {
    /// The working directory: absolute, links resolved.
    pub cwd: &'a Path,
    /// Files and folders, as given.
    pub given: &'a [PathBuf],
    /// A text given on standard input, with its path as shown.
    pub stdin: Option<(&'a str, Arc<[u8]>)>,
    /// What the configuration leaves out. Files given by name are read all the same.
    pub exclude: &'a Globs,
    /// How many threads walk; 0 = as many as there are processors.
    pub threads: usize,
}

/// A file that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The path as shown.
    pub path: Arc<str>,
    /// Where its bytes come from.
    pub origin: Origin,
    /// The syntax, by its name; `None` = it is counted, and never read.
    pub syntax: Option<Syntax>,
    /// Whether it was asked for by its name, not by that of a folder.
    pub named: bool,
}

/// Where the bytes of a file come from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// The disk; links resolved.
    Disk(PathBuf),
    /// Standard input.
    Given(Arc<[u8]>),
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    /// The files, each once, in the order of their shown paths.
    pub files: Vec<Found>,
    /// Folders that could not be opened, links that lead nowhere, and files given by name that have no syntax.
    pub unread: Vec<Unread>,
    /// Files and folders that the configuration leaves out, in order.
    pub excluded: Vec<Arc<str>>,
}

/// Paths on the command line that do not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such file or folder: {}", .0.join(", "))]
pub struct Missing(pub Vec<String>);

/// Folders of version control: what is in them is no source.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Finds every file under the given paths. Hidden files count; what a .gitignore leaves out does not,
/// whether or not there is a git repository, unless a file is given by name.
pub fn discover(paths: &Paths<'_>) -> Result<Discovered, Missing> {
    let roots = roots(paths)?;
    let mut finds = Finds::default();
    for root in roots.iter().filter(|r| r.is_folder) {
        walk(root, &roots, paths, &mut finds);
    }
    for root in roots.iter().filter(|r| !r.is_folder) {
        finds.named(root);
    }
    finds.unread.extend(roots.iter().filter_map(Root::trouble));
    if let Some((path, bytes)) = &paths.stdin {
        finds.stdin(path, bytes, paths.cwd);
    }
    Ok(finds.sorted())
}

/// A path of the command line.
struct Root {
    /// Links resolved.
    real: PathBuf,
    /// As shown.
    shown: String,
    is_folder: bool,
    /// Why it cannot even be looked at.
    refused: Option<io::Error>,
}

impl Root {
    fn new(given: &Path, cwd: &Path) -> Result<Self, String> {
        let at = cwd.join(given);
        match at.canonicalize() {
            Ok(real) => {
                let is_folder = real.is_dir();
                let below = real.starts_with(cwd) || given.is_relative();
                let shown = if below { shown::relative(&real, cwd) } else { shown::absolute(&real) };
                Ok(Self { real, shown, is_folder, refused: None })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::NotADirectory => {
                Err(given.display().to_string())
            }
            Err(error) => Ok(Self { real: at, shown: shown::lexical(given), is_folder: false, refused: Some(error) }),
        }
    }

    fn trouble(&self) -> Option<Unread> {
        self.refused.as_ref().map(|error| unread(&self.shown, reason(error)))
    }
}

fn roots(paths: &Paths<'_>) -> Result<Vec<Root>, Missing> {
    let mut roots = Vec::new();
    let mut missing = Vec::new();
    for given in paths.given {
        match Root::new(given, paths.cwd) {
            Ok(root) => roots.push(root),
            Err(path) => missing.push(path),
        }
    }
    if missing.is_empty() { Ok(roots) } else { Err(Missing(missing)) }
}

/// Walks one folder. Links to files are read; links to folders are not followed: what they show inside the given
/// paths is read at its own place, and what lies outside of them could be the whole disk.
fn walk(root: &Root, roots: &[Root], paths: &Paths<'_>, finds: &mut Finds) {
    let exclude = paths.exclude.clone();
    let excluded = Arc::new(Mutex::new(Vec::new()));
    let left_out = Arc::clone(&excluded);
    let start = root.real.clone();
    let mut builder = WalkBuilder::new(&root.real);
    builder
        .hidden(false)
        .ignore(false)
        .git_ignore(true)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .threads(paths.threads)
        .filter_entry(move |entry| {
            if entry.path() == start {
                return true;
            }
            let is_excluded = is_excluded(entry, &exclude);
            if is_excluded {
                left_out.lock().unwrap_or_else(PoisonError::into_inner).push(entry.path().to_owned());
            }
            !is_excluded && !is_of_version_control(entry)
        });
    let (sender, receiver) = mpsc::channel();
    builder.build_parallel().run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            // The receiver outlives the walk, so sending cannot fail.
            let _ = sender.send(entry);
            WalkState::Continue
        })
    });
    drop(sender);
    for entry in receiver {
        match entry {
            Ok(entry) => finds.entry(&entry, root, roots),
            Err(error) => finds.error(&error, root),
        }
    }
    let excluded = excluded.lock().unwrap_or_else(PoisonError::into_inner);
    finds.excluded.extend(excluded.iter().map(|path| Arc::from(shown_below(root, path))));
}

fn is_of_version_control(entry: &DirEntry) -> bool {
    VERSION_CONTROL.iter().any(|name| entry.file_name() == *name)
}

fn is_excluded(entry: &DirEntry, exclude: &Globs) -> bool {
    exclude.matches_real(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
}

/// What was found so far, by the real path: a file that several given paths or links reach is taken once.
#[derive(Default)]
struct Finds {
    files: BTreeMap<PathBuf, (Rank, Found)>,
    unread: Vec<Unread>,
    excluded: BTreeSet<Arc<str>>,
}

/// Which of several ways to one file gives it its name: the smallest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stdin,
    Named,
    Own,
    Link,
}

impl Finds {
    fn add(&mut self, rank: Rank, real: &Path, path: &str, origin: Origin) {
        if real.file_name().is_some_and(|name| name == CONFIG_NAME) {
            return;
        }
        let found = Found { path: path.into(), origin, syntax: Syntax::of_path(path), named: rank <= Rank::Named };
        let key = |rank: Rank, found: &Found| (found.syntax.is_none(), rank, found.path.clone());
        match self.files.get(real) {
            Some((other, there)) if key(*other, there) <= key(rank, &found) => {}
            _ => drop(self.files.insert(real.to_owned(), (rank, found))),
        }
    }

    fn named(&mut self, root: &Root) {
        if root.refused.is_some() {
            return;
        }
        if Syntax::of_path(&root.shown).is_none() {
            self.unread.push(unread(&root.shown, "nothing is read from files with such a name"));
        }
        self.add(Rank::Named, &root.real, &root.shown, Origin::Disk(root.real.clone()));
    }

    fn stdin(&mut self, path: &str, bytes: &Arc<[u8]>, cwd: &Path) {
        let place = cwd.join(path);
        let real = place.canonicalize().unwrap_or(place);
        if Syntax::of_path(path).is_none() {
            self.unread.push(unread(path, "nothing is read from files with such a name"));
        }
        self.add(Rank::Stdin, &real, path, Origin::Given(bytes.clone()));
    }

    fn entry(&mut self, entry: &DirEntry, root: &Root, roots: &[Root]) {
        let path = shown_below(root, entry.path());
        match entry.file_type() {
            Some(kind) if kind.is_file() => {
                self.add(Rank::Own, entry.path(), &path, Origin::Disk(entry.path().to_owned()));
            }
            Some(kind) if kind.is_symlink() => self.link(entry.path(), &path, roots),
            _ => {}
        }
    }

    fn link(&mut self, link: &Path, path: &str, roots: &[Root]) {
        match link.canonicalize() {
            Ok(real) if real.is_file() => self.add(Rank::Link, &real, path, Origin::Disk(real.clone())),
            Ok(real) if real.is_dir() && !roots.iter().any(|r| r.is_folder && real.starts_with(&r.real)) => {
                let reason = "a symbolic link to a folder outside of the given paths, which is not followed; \
                              to read it, give that folder as a path of its own";
                self.unread.push(unread(path, reason));
            }
            Ok(_) => {}
            Err(error) if Syntax::of_path(path).is_some() => {
                self.unread.push(unread(path, format!("a symbolic link that leads nowhere: {}", reason(&error))));
            }
            Err(_) => {}
        }
    }

    fn error(&mut self, error: &ignore::Error, root: &Root) {
        let path = error_path(error).map_or_else(|| root.shown.clone(), |p| shown_below(root, p));
        let reason = error.io_error().map_or_else(|| error.to_string(), reason);
        let path = if path.is_empty() { "." } else { &path };
        self.unread.push(unread(path, reason));
    }

    fn sorted(self) -> Discovered {
        let mut files: Vec<Found> = self.files.into_values().map(|(_, found)| found).collect();
        // Two names that are no UTF-8 can look the same; the sort is stable over the order of the real paths.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut unread = self.unread;
        unread.sort();
        unread.dedup();
        Discovered { files, unread, excluded: self.excluded.into_iter().collect() }
    }
}

fn shown_below(root: &Root, path: &Path) -> String {
    path.strip_prefix(&root.real).map_or_else(
        |_| shown::absolute(path),
        |below| shown::join(&root.shown, &shown::relative(below, Path::new(""))),
    )
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        ignore::Error::Partial(errors) => errors.iter().find_map(error_path),
        _ => None,
    }
}

/// An error of the operating system in plain words, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}

fn unread(path: &str, reason: impl Into<String>) -> Unread {
    Unread { path: path.into(), span: None, reason: reason.into() }
}
