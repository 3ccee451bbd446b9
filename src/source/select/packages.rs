//! Which Rust packages see each other: a name in one can only mean what its own or a dependency's code defines.

use std::collections::HashMap;

use crate::facts::Facts;
use crate::rust::cargo;
use crate::source::SourceFile;
use crate::syntax::toml;

/// The packages of a run, and the package of each file.
#[derive(Debug, Default)]
pub(super) struct Packages {
    /// The package of each file; files without a manifest share the last one, which sees all and is seen by all.
    of_file: Vec<usize>,
    /// The folder of each package.
    folders: Vec<String>,
    /// For each package the packages whose names may appear in it.
    sees: Vec<Vec<bool>>,
}

impl Packages {
    pub(super) fn new(files: &[SourceFile]) -> Self {
        let mut facts = Facts::default();
        for file in files.iter().filter(|f| cargo::is_manifest(&f.path)) {
            cargo::extract(file, &toml::parse(file), &mut facts);
        }
        cargo::inherit(&mut facts);
        let packages = &facts.packages;
        let by_folder: HashMap<&str, usize> = packages.iter().enumerate().map(|(i, p)| (&*p.folder, i)).collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, package) in packages.iter().enumerate() {
            by_name.entry(&package.name).or_default().push(i);
        }
        let none = packages.len();
        let dependencies = |i: usize| {
            let all = packages.get(i).into_iter().flat_map(|p| &p.dependencies);
            all.flat_map(|d| by_name.get(&*d.package).into_iter().flatten().copied()).chain([none])
        };
        let sees =
            (0..=none).map(|i| if i == none { vec![true; none + 1] } else { reached(i, none + 1, dependencies) });
        let of_file = files.iter().map(|f| owner(&f.path, &by_folder).unwrap_or(none)).collect();
        let folders = packages.iter().map(|p| p.folder.clone()).collect();
        Self { of_file, folders, sees: sees.collect() }
    }

    pub(super) fn of(&self, file: usize) -> usize {
        self.of_file.get(file).copied().unwrap_or(0)
    }

    /// The folder of a file's package; without one, the working directory.
    pub(super) fn folder(&self, file: usize) -> &str {
        self.folders.get(self.of(file)).map_or("", String::as_str)
    }

    /// Whether a name in package `from` may mean something in package `to`.
    pub(super) fn sees(&self, from: usize, to: usize) -> bool {
        self.sees.get(from).and_then(|row| row.get(to)).copied().unwrap_or(true)
    }
}

/// The package whose folder is the nearest above a file.
fn owner(path: &str, by_folder: &HashMap<&str, usize>) -> Option<usize> {
    let folders = path.rmatch_indices('/').map(|(at, _)| path.get(..at).unwrap_or(""));
    folders.chain([""]).find_map(|folder| by_folder.get(folder).copied())
}

/// What can be reached from `start` over dependencies.
fn reached<I: Iterator<Item = usize>>(start: usize, count: usize, next: impl Fn(usize) -> I) -> Vec<bool> {
    let mut seen = vec![false; count];
    let mut open = vec![start];
    while let Some(i) = open.pop() {
        if let Some(slot) = seen.get_mut(i)
            && !std::mem::replace(slot, true)
        {
            open.extend(next(i));
        }
    }
    seen
}
