//! The baseline: findings that a repository lives with, so that only new ones fail.
//!
//! Two findings are the same if their rule and what they are about are: lines and files do not count. Of findings that
//! are alike as many are known as the baseline lists. A path is known as long as its product does not grow.

mod file;

use std::collections::BTreeMap;

pub use file::{DEFAULT_FILE, Unusable, read, text};

use crate::rules::Finding;
use crate::rules::fingerprint::path_of;
use crate::run::Run;

/// A finding, as a baseline keeps it. They are sorted by file, then rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The path of the file that it points into, as shown. Tells people where to look, and which of several alike it is.
    pub file: String,
    /// The rule.
    pub rule: String,
    /// What makes it the same in the next run.
    pub fingerprint: String,
    /// What it says. For people, too.
    pub message: String,
    /// The product of its path; `None` where it is about no path, or about one without limit.
    pub product: Option<u64>,
}

impl Entry {
    fn of(finding: &Finding, run: &Run) -> Self {
        let file = run.sources.get(finding.primary.span.file).map_or("", |file| &file.path);
        let path = path_of(finding, &run.model).filter(|path| !path.unbounded);
        Self {
            file: file.to_owned(),
            rule: finding.rule.id.to_owned(),
            fingerprint: finding.fingerprint.kind.to_string(),
            message: finding.message.clone(),
            product: path.map(|path| path.product),
        }
    }

    /// Whether a finding is no worse than this one was.
    fn holds(&self, finding: &Self) -> bool {
        self.product.is_none_or(|known| finding.product.is_some_and(|now| now <= known))
    }

    /// How little it takes to tell that a finding is this one.
    fn closeness(&self, finding: &Self) -> Closeness {
        match (self.file == finding.file, self.message == finding.message) {
            (true, true) => Closeness::Same,
            (true, false) => Closeness::InItsFile,
            _ => Closeness::Alike,
        }
    }
}

/// How much two findings that are alike have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Same,
    InItsFile,
    Alike,
}

/// What a run has in common with a baseline.
#[derive(Debug, Clone, Default)]
pub struct Compared {
    /// The findings that are in it, in their order.
    pub known: Vec<Finding>,
    /// What is in it and no finding any more.
    pub gone: Vec<Entry>,
    /// What is in it and in files that were not looked at.
    pub elsewhere: Vec<Entry>,
}

/// These findings of a run, for a baseline.
fn entries<'f>(findings: impl IntoIterator<Item = &'f Finding>, run: &Run) -> Vec<Entry> {
    findings.into_iter().map(|finding| Entry::of(finding, run)).collect()
}

/// A baseline that is written anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Its entries, sorted.
    pub entries: Vec<Entry>,
    /// How many of them are new.
    pub new: usize,
    /// How many are there no more.
    pub gone: usize,
}

/// What a baseline becomes after a run that was compared with it: all findings, or with `prune` those that it knows.
/// What it lists of files that were not looked at stays.
pub fn renewed(run: &Run, prune: bool) -> Renewed {
    let mut renewed = Renewed::default();
    if let Some(compared) = &run.baseline {
        renewed.entries = entries(&compared.known, run);
        renewed.entries.extend(compared.elsewhere.iter().cloned());
        renewed.gone = compared.gone.len();
    }
    if !prune {
        renewed.entries.extend(entries(&run.findings, run));
        renewed.new = run.findings.len();
    }
    renewed.entries.sort();
    renewed
}

/// A run of which only what the baseline does not know is a finding. What the baseline lists of files that were not
/// looked at (`covers` says which were) is not gone.
pub fn compare(mut run: Run, baseline: &[Entry], covers: impl Fn(&str) -> bool) -> Run {
    let found: Vec<Entry> = run.findings.iter().map(|finding| Entry::of(finding, &run)).collect();
    let mut open: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in baseline {
        open.entry(&entry.fingerprint).or_default().push(entry);
    }
    let mut is_known = vec![false; found.len()];
    for closeness in [Closeness::Same, Closeness::InItsFile, Closeness::Alike] {
        for (entry, is_known) in found.iter().zip(&mut is_known).filter(|(_, is_known)| !**is_known) {
            let Some(alike) = open.get_mut(&*entry.fingerprint) else { continue };
            let at = alike.iter().position(|old| old.holds(entry) && old.closeness(entry) <= closeness);
            if let Some(at) = at {
                alike.remove(at);
                *is_known = true;
            }
        }
    }
    let mut left: Vec<Entry> = open.into_values().flatten().cloned().collect();
    left.sort();
    let (gone, elsewhere) = left.into_iter().partition(|entry| covers(&entry.file));
    let (known, new) = std::mem::take(&mut run.findings).into_iter().zip(is_known).partition::<Vec<_>, _>(|(_, k)| *k);
    let findings = |of: Vec<(Finding, bool)>| of.into_iter().map(|(finding, _)| finding).collect();
    Run { findings: findings(new), baseline: Some(Compared { known: findings(known), gone, elsewhere }), ..run }
}

#[cfg(test)]
mod tests;
