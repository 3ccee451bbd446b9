#![doc = include_str!("../../rules/unsafe-redrive.md")]

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{Model, Redrive, RedriveLack};

static META: RuleMeta = RuleMeta {
    id: "unsafe-redrive",
    level: Severity::Warning,
    summary: "dead letters are sent back all at once, whatever their cause, as fast as it goes, or without a record",
    page: include_str!("../../rules/unsafe-redrive.md"),
};

/// The rule.
pub(super) struct UnsafeRedrive;

impl Rule for UnsafeRedrive {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.redrives.iter().filter(|r| !r.lacks.is_empty() || r.sent_on.is_some()).map(redrive));
    }
}

fn redrive(redrive: &Redrive) -> Finding {
    let lacks = |lack| redrive.lacks.contains(&lack);
    // All of them, as fast as it goes, is what brings a service down; the rest is a matter of order.
    let is_flood = lacks(RedriveLack::Bound) && lacks(RedriveLack::Choice);
    let into = redrive.sent_on.map(|_| "into a consumer that sends a POST without an idempotency key".to_owned());
    let how: Vec<String> = redrive.lacks.iter().map(|lack| said(*lack).to_owned()).chain(into).collect();
    let why = if redrive.sent_on.is_some() {
        "what was done before a message failed is done again"
    } else if is_flood {
        "what failed for a reason of its own fails again, and what the consumer has just recovered from comes back at once"
    } else if lacks(RedriveLack::Bound) {
        "they arrive together, on top of the usual load"
    } else if lacks(RedriveLack::Person) {
        "what cannot succeed goes round for ever, and nobody sees it"
    } else {
        "when something is done twice, nobody can tell afterwards which messages were sent again"
    };
    let message = format!("{} sends dead letters back {}: {why}", redrive.name, phrase::list(&how));
    let help = phrase::help(
        "Send back one kind of failure at a time, a few first, then slowly, and write down who sent how many back",
        redrive.advice.as_ref(),
    );
    let level = if is_flood || redrive.sent_on.is_some() { META.level } else { META.level.lower() };
    let finding = Finding::new(&META, redrive.place, "dead letters are sent back here", message)
        .help(help)
        .severity(level)
        .confidence(redrive.confidence)
        .about(redrive.name.as_str());
    match redrive.sent_on {
        Some(post) => finding.label(post, "sent again for each of them"),
        None => finding,
    }
}

fn said(lack: RedriveLack) -> &'static str {
    match lack {
        RedriveLack::Bound => "without a limit on how many or how fast",
        RedriveLack::Choice => "whatever the cause of their failure",
        RedriveLack::Record => "without a record of it",
        RedriveLack::Person => "by a schedule, with nobody looking first",
    }
}
