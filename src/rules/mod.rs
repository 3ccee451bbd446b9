//! The rules: one file each, named as the rule. A rule sees the model only: no files, no syntax, no system's name.
//!
//! To add one: its file here, its page in `rules/`, its line in [`all`].

mod finding;

pub use finding::{Finding, Label, Severity};

use crate::model::Model;

/// What a rule is.
#[derive(Debug)]
pub struct RuleMeta {
    /// The name: "retry-amplification".
    pub id: &'static str,
    /// The level it has where nobody sets one.
    pub level: Severity,
    /// One line: when it fires.
    pub summary: &'static str,
    /// The page, Markdown.
    pub page: &'static str,
}

/// A rule.
pub trait Rule: Sync {
    /// What it is.
    fn meta(&self) -> &'static RuleMeta;
    /// Adds its findings.
    fn check(&self, model: &Model, findings: &mut Vec<Finding>);
}

/// Every rule, in the order in which they are listed.
pub fn all() -> &'static [&'static dyn Rule] {
    &[]
}
