#![doc = include_str!("../../rules/inert-retry-setting.md")]

use super::{Finding, Rule, RuleMeta, Severity};
use crate::model::{Inert, Model};

static META: RuleMeta = RuleMeta {
    id: "inert-retry-setting",
    level: Severity::Warning,
    summary: "a retry setting has no effect where it stands",
    page: include_str!("../../rules/inert-retry-setting.md"),
};

/// The rule.
pub(super) struct InertRetrySetting;

impl Rule for InertRetrySetting {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.inert.iter().map(inert));
    }
}

/// What is set, without what it is set to.
fn name_of(setting: &str) -> &str {
    setting.split([':', '=', ' ']).next().unwrap_or(setting).trim_matches('`')
}

fn inert(setting: &Inert) -> Finding {
    let message = format!("{} on {} has no effect: {}", setting.setting, setting.owner, setting.why);
    let mut finding = Finding::new(&META, setting.place, "without effect here", message).confidence(setting.confidence);
    finding = finding.about(setting.owner.as_str()).about(name_of(&setting.setting));
    if let Some(instead) = &setting.instead {
        finding = finding.help(format!("{instead}."));
    }
    match &setting.because {
        Some((span, text)) => finding.label(*span, text.clone()),
        None => finding,
    }
}
