//! What a run came to: all that a report needs.

use crate::model::Model;
use crate::rules::{Finding, Severity};
use crate::source::{Sources, Unread};

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The texts that spans point into.
    pub sources: Sources,
    /// The linked model.
    pub model: Model,
    /// The findings, levels of the configuration applied, in their fixed order.
    pub findings: Vec<Finding>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// How many files were found under the given paths.
    pub files: usize,
}

impl Run {
    /// How many findings there are of a level.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }
}
