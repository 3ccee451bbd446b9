//! Which Rust packages see each other: a name in one can only mean what its own or a dependency's code defines.

use std::collections::HashMap;
use std::sync::OnceLock;

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
    /// The packages that each package depends on.
    dependencies: Vec<Vec<usize>>,
    /// For each package the packages whose names may appear in it, a bit for each; worked out when it is asked for.
    sees: Vec<OnceLock<Vec<u64>>>,
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
        let dependencies = packages.iter().map(|package| {
            let all = package.dependencies.iter();
            all.flat_map(|d| by_name.get(&*d.package).into_iter().flatten().copied()).chain([none]).collect()
        });
        let of_file = files.iter().map(|f| owner(&f.path, &by_folder).unwrap_or(none)).collect();
        let folders = packages.iter().map(|p| p.folder.clone()).collect();
        let sees = packages.iter().map(|_| OnceLock::new()).collect();
        Self { of_file, folders, dependencies: dependencies.collect(), sees }
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
        let Some(row) = self.sees.get(from) else { return true };
        let row = row.get_or_init(|| self.reached(from));
        row.get(to / 64).is_none_or(|bits| bits & (1 << (to % 64)) != 0)
    }

    /// What can be reached from a package over dependencies.
    fn reached(&self, start: usize) -> Vec<u64> {
        let mut seen = vec![0_u64; self.sees.len() / 64 + 1];
        let mut open = vec![start];
        while let Some(i) = open.pop() {
            let Some(bits) = seen.get_mut(i / 64).filter(|bits| **bits & (1 << (i % 64)) == 0) else { continue };
            *bits |= 1 << (i % 64);
            open.extend(self.dependencies.get(i).into_iter().flatten());
        }
        seen
    }
}

/// The package whose folder is the nearest above a file.
fn owner(path: &str, by_folder: &HashMap<&str, usize>) -> Option<usize> {
    let folders = path.rmatch_indices('/').map(|(at, _)| path.get(..at).unwrap_or(""));
    folders.chain([""]).find_map(|folder| by_folder.get(folder).copied())
}
