//! What became of each file that was found: for people who wonder why nothing is said of one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::discover::{Discovered, Found};
use super::{FileId, SourceFile};

/// A file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The path as shown.
    pub path: Arc<str>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was parsed.
    Parsed,
    /// Its text was read; nothing in it concerns a retry.
    Unconcerned,
    /// It says in this line, from 1, that a program wrote it: its text was read, and nothing else of it.
    Generated(u32),
    /// Nothing is read from files with such a name.
    Nameless,
    /// It could not be read, or is in another encoding.
    Unread,
    /// The configuration leaves it out: a file or a whole folder, which was not looked at.
    Excluded,
}

impl Fate {
    /// Why it was left alone; empty if it was not.
    pub fn reason(self) -> String {
        match self {
            Self::Parsed => String::new(),
            Self::Unconcerned => "nothing in it concerns a retry".to_owned(),
            Self::Generated(line) => format!("line {line} says that it is generated"),
            Self::Nameless => "nothing is read from files with such a name".to_owned(),
            Self::Unread => "it could not be read".to_owned(),
            Self::Excluded => "`exclude` in the configuration leaves it out".to_owned(),
        }
    }
}

/// What became of all files of a run, and of what its configuration left out, in the order of their paths.
pub fn accounts(
    discovered: &Discovered,
    texts: &[SourceFile],
    parsed: &[SourceFile],
    generated: &BTreeMap<FileId, u32>,
) -> Vec<Account> {
    let numbers = |files: &[SourceFile]| files.iter().map(|file| file.id).collect::<BTreeSet<_>>();
    let (texts, parsed) = (numbers(texts), numbers(parsed));
    let fate = |n: u32, found: &Found| match generated.get(&FileId(n)) {
        Some(line) => Fate::Generated(*line),
        None if found.syntax.is_none() => Fate::Nameless,
        None if parsed.contains(&FileId(n)) => Fate::Parsed,
        None if texts.contains(&FileId(n)) => Fate::Unconcerned,
        None => Fate::Unread,
    };
    let found = (0..).zip(&discovered.files).map(|(n, file)| Account { path: file.path.clone(), fate: fate(n, file) });
    let excluded = discovered.excluded.iter().map(|path| Account { path: path.clone(), fate: Fate::Excluded });
    let mut all: Vec<Account> = found.chain(excluded).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}
