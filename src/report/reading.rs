//! What was read and what was left alone, file by file and system by system: for people who wonder why nothing is said
//! of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::Report;
use crate::rules::phrase;
use crate::run::Run;
use crate::source::FileId;
use crate::source::account::{Account, Fate};

/// The account.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading;

impl Report for Reading {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let systems = systems(run);
        for account in &run.accounts {
            writeln!(out, "{}: {}", account.path, told(account, &systems, run))?;
        }
        for (system, (layers, files)) in by_system(run) {
            writeln!(out, "{system}: {} in {}", count(layers, "layer", "layers"), count(files.len(), "file", "files"))?;
        }
        Ok(())
    }
}

/// The layers of each file, by system.
fn systems(run: &Run) -> BTreeMap<&str, BTreeMap<&'static str, usize>> {
    let mut of_file: BTreeMap<&str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for layer in &run.model.layers {
        if let Some(file) = run.sources.get(layer.place.file) {
            *of_file.entry(&*file.path).or_default().entry(layer.system).or_default() += 1;
        }
    }
    of_file
}

fn by_system(run: &Run) -> BTreeMap<&'static str, (usize, BTreeSet<FileId>)> {
    let mut systems: BTreeMap<&'static str, (usize, BTreeSet<FileId>)> = BTreeMap::new();
    for layer in &run.model.layers {
        let (layers, files) = systems.entry(layer.system).or_default();
        *layers += 1;
        files.insert(layer.place.file);
    }
    systems
}

fn told(account: &Account, systems: &BTreeMap<&str, BTreeMap<&'static str, usize>>, run: &Run) -> String {
    let trouble = run.unread.iter().find(|unread| unread.path == account.path);
    match account.fate {
        Fate::Parsed => {
            let layers = systems.get(&*account.path).map(|of_file| {
                let each = of_file.iter().map(|(system, n)| format!("{} of {system}", count(*n, "layer", "layers")));
                each.collect::<Vec<_>>().join(", ")
            });
            let in_part = trouble.map_or_else(String::new, |unread| format!("; not all of it: {}", unread.reason));
            format!("read, {}{in_part}", layers.unwrap_or_else(|| "no layer".to_owned()))
        }
        Fate::Unread => match trouble {
            Some(unread) => format!("skipped: {}", unread.reason),
            None => format!("skipped: {}", account.fate.reason()),
        },
        fate => format!("skipped: {}", fate.reason()),
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    phrase::count(n as u64, one, many)
}
