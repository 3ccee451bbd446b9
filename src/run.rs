//! What a run came to: all that a report needs.

use crate::baseline::Compared;
use crate::model::Model;
use crate::rules::{Finding, Severity};
use crate::since::LeftOut;
use crate::source::account::{Account, Fate};
use crate::source::{Sources, Unread};

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The texts that spans point into.
    pub sources: Sources,
    /// The linked model.
    pub model: Model,
    /// The findings, levels of the configuration applied, in their fixed order; without those that a baseline knows.
    pub findings: Vec<Finding>,
    /// Findings that a comment or the configuration allows.
    pub suppressed: Vec<Finding>,
    /// What a baseline knows; `None`: there is none.
    pub baseline: Option<Compared>,
    /// What was left out because it has not changed; `None`: nothing was.
    pub since: Option<LeftOut>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// How many files were found under the given paths.
    pub files: usize,
    /// What became of each of them.
    pub accounts: Vec<Account>,
}

impl Run {
    /// How many findings there are of a level.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }

    /// The files that a program wrote, which are not read.
    pub fn generated(&self) -> impl Iterator<Item = &Account> {
        self.accounts.iter().filter(|account| matches!(account.fate, Fate::Generated(_)))
    }
}
