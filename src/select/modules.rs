//! Files as modules: what stands above a file, and what `use a::*` takes from or hands on.

use std::collections::HashMap;

use super::closure::MANY;
use super::names::Names;

/// The files of a run by the modules that they are.
pub(super) struct Modules {
    /// The files above each file: `a/mod.rs`, `a.rs`, the crate's root.
    above: Vec<Vec<usize>>,
    /// The module's name of each file.
    name: Vec<String>,
    by_name: HashMap<String, Vec<usize>>,
    /// Files that hand on everything of a module.
    handing_on: HashMap<String, Vec<usize>>,
    /// Files that place modules by a path.
    placing: Vec<usize>,
}

impl Modules {
    pub(super) fn new(names: &[Option<Names<'_>>], paths: &[&str]) -> Self {
        let files = || names.iter().zip(paths).enumerate().filter_map(|(i, (n, path))| Some((i, n.as_ref()?, *path)));
        let by_path: HashMap<&str, usize> = files().map(|(i, _, path)| (path, i)).collect();
        let mut modules = Self {
            above: vec![Vec::new(); names.len()],
            name: vec![String::new(); names.len()],
            by_name: HashMap::new(),
            handing_on: HashMap::new(),
            placing: Vec::new(),
        };
        for (i, names, path) in files() {
            let name = module_name(path);
            modules.by_name.entry(name.to_owned()).or_default().push(i);
            for (from, _) in names.globs.iter().filter(|(_, public)| *public) {
                modules.handing_on.entry((*from).to_owned()).or_default().push(i);
            }
            if names.places_modules {
                modules.placing.push(i);
            }
            let above = parents(path).filter_map(|parent| by_path.get(&*parent).copied());
            if let (Some(slot), Some(own)) = (modules.above.get_mut(i), modules.name.get_mut(i)) {
                *slot = above.filter(|&parent| parent != i).collect();
                name.clone_into(own);
            }
        }
        modules
    }

    /// The files without which the names in `file` cannot be followed.
    pub(super) fn around(&self, file: usize, names: &Names<'_>) -> Vec<usize> {
        let few = |files: Option<&Vec<usize>>| files.filter(|f| f.len() <= MANY).cloned().unwrap_or_default();
        let mut found = self.above.get(file).cloned().unwrap_or_default();
        found.extend(&self.placing);
        for (from, _) in &names.globs {
            found.extend(few(self.by_name.get(*from)));
        }
        if let Some(own) = self.name.get(file) {
            found.extend(few(self.handing_on.get(own)));
        }
        found
    }
}

fn module_name(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let (folder, stem) = stem.rsplit_once('/').unwrap_or(("", stem));
    if stem == "mod" { folder.rsplit('/').next().unwrap_or(folder) } else { stem }
}

/// The paths at which the modules above a file may stand, up to and with the nearest `src`.
fn parents(path: &str) -> impl Iterator<Item = String> {
    let folders = path.rmatch_indices('/').map(|(at, _)| path.get(..at).unwrap_or(""));
    let mut ended = false;
    folders
        .take_while(move |folder| {
            let goes_on = !ended;
            ended = *folder == "src" || folder.ends_with("/src");
            goes_on
        })
        .flat_map(|folder| {
            let inside = ["mod.rs", "lib.rs", "main.rs"].map(|file| format!("{folder}/{file}"));
            inside.into_iter().chain([format!("{folder}.rs")])
        })
}
