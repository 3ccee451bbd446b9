//! Stage three: which files are parsed, from their text alone.
//!
//! A settings file is parsed if it holds a mark of some system, or if code that is parsed may read it. A Rust file is
//! parsed if it repeats something or makes a request, or is needed to read one that does. The choice changes how
//! long a run takes, and never what it says: whoever parses every file gets the same result.

mod closure;
mod declarations;
mod marks;
mod modules;
mod names;
mod packages;
mod vocabulary;

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::facts::Facts;
use crate::rust::cargo;
use crate::rust::lower::is_test_path;
use crate::source::SourceFile;
use crate::source::generated::is_lock;
use crate::syntax::Syntax;
use crate::systems;
pub use marks::is_test;
use modules::Modules;
use names::Names;
use packages::Packages;

/// Which of the files of a run concern it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// For each file, in their order.
    concerns: Vec<bool>,
    parse_all: bool,
}

impl Selection {
    /// The files that are parsed.
    pub fn parsed(&self, files: &[SourceFile]) -> Vec<SourceFile> {
        let wanted = |(_, concerns): &(&SourceFile, &bool)| self.parse_all || **concerns;
        files.iter().zip(&self.concerns).filter(wanted).map(|(file, _)| file.clone()).collect()
    }

    /// Adds the files for which `concerns` holds.
    pub fn add(&mut self, files: &[SourceFile], concerns: impl Fn(&SourceFile) -> bool + Sync + Send) {
        let more: Vec<bool> = files.par_iter().map(concerns).collect();
        self.concerns.iter_mut().zip(more).for_each(|(known, more)| *known |= more);
    }

    /// Takes out what files of no concern gave for being parsed all the same: errors, and values that look like settings.
    pub fn prune(&self, files: &[SourceFile], facts: &mut Facts) {
        if !self.parse_all {
            return;
        }
        let concerning: BTreeSet<&str> =
            files.iter().zip(&self.concerns).filter(|(_, concerns)| **concerns).map(|(file, _)| &*file.path).collect();
        facts.unread.retain(|unread| concerning.contains(&*unread.path));
        facts.settings.retain(|settings| concerning.contains(settings.path.as_str()));
    }
}

/// Chooses among `files`. With `include_tests`, code that only tests compile counts; with `parse_all`, every file is
/// parsed and the choice only says which of them concern the run.
pub fn select(files: &[SourceFile], include_tests: bool, parse_all: bool) -> Selection {
    let packages = Packages::new(files);
    let names: Vec<Option<Names<'_>>> = files
        .par_iter()
        .map(|file| {
            let is_rust = Syntax::of_path(&file.path) == Some(Syntax::Rust);
            let counts = is_rust && (include_tests || !is_test_path(&file.path));
            counts.then(|| names::names(&file.text, include_tests))
        })
        .collect();
    let paths: Vec<&str> = files.iter().map(|file| &*file.path).collect();
    let mut concerns = closure::close(&names, &packages, &Modules::new(&names, &paths));
    mark_settings(files, &paths, include_tests, &mut concerns);
    mark_settings_of_code(&paths, &names, &packages, &mut concerns);
    Selection { concerns, parse_all }
}

/// Whether a file could concern a run by itself: for one whose text is known only in part.
pub fn could_concern(file: &SourceFile, include_tests: bool) -> bool {
    marks::may_be_settings(&file.path) || select(std::slice::from_ref(file), include_tests, false).concerns == [true]
}

/// Manifests, and units of which a file holds a mark.
fn mark_settings(files: &[SourceFile], paths: &[&str], include_tests: bool, concerns: &mut [bool]) {
    let is_rust = |path: &str| Syntax::of_path(path) == Some(Syntax::Rust);
    // Keywords in any case, and one look at the tokens tells whether any of it matters.
    let is_script = |path: &str| Syntax::of_path(path) == Some(Syntax::Sql);
    // Any value of an environment may be what settings or code ask for.
    let is_env = |path: &str| Syntax::of_path(path) == Some(Syntax::Variables);
    let marked: Vec<bool> = files
        .par_iter()
        .map(|file| {
            if is_rust(&file.path) {
                return marks::holds_settings(&file.text) && (include_tests || !is_test_path(&file.path));
            }
            if Syntax::of_path(&file.path) == Some(Syntax::Annotations) {
                let holds = marks::holds_annotation(&file.text) || marks::holds_settings(&file.text);
                return holds && !marks::is_test(&file.path);
            }
            if Syntax::of_path(&file.path) == Some(Syntax::Go) {
                return marks::holds_settings(&file.text) && !marks::is_test(&file.path);
            }
            is_script(&file.path)
                || is_env(&file.path)
                || cargo::is_manifest(&file.path)
                || is_lock(&file.path)
                || marks::holds_mark(&file.text)
        })
        .collect();
    for unit in systems::units(paths) {
        if unit.iter().any(|&i| marked.get(i) == Some(&true)) {
            for i in unit {
                set(concerns, i);
            }
        }
    }
}

/// Files from which code that is parsed may read its settings.
fn mark_settings_of_code(paths: &[&str], names: &[Option<Names<'_>>], packages: &Packages, concerns: &mut [bool]) {
    let reads = |i: usize| {
        let deserializes = names.get(i).and_then(Option::as_ref).is_some_and(|n| n.deserializes);
        deserializes && concerns.get(i) == Some(&true)
    };
    let folders: BTreeSet<&str> = (0..paths.len()).filter(|&i| reads(i)).map(|i| packages.folder(i)).collect();
    let inside = |path: &str| {
        let mut above = path.rmatch_indices('/').map(|(at, _)| path.get(..at).unwrap_or("")).chain([""]);
        above.any(|folder| folders.contains(folder))
    };
    for (i, path) in paths.iter().enumerate() {
        if marks::may_be_settings(path) && inside(path) {
            set(concerns, i);
        }
    }
}

fn set(concerns: &mut [bool], i: usize) {
    if let Some(slot) = concerns.get_mut(i) {
        *slot = true;
    }
}

#[cfg(test)]
mod tests;
