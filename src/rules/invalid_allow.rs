#![doc = include_str!("../../rules/invalid-allow.md")]

use jiff::civil::Date;

use super::{Comments, Finding, Rule, RuleMeta, Severity, by_name};
use crate::source::Span;
use crate::source::allows::Allow;
use crate::suggest;

static META: RuleMeta = RuleMeta {
    id: "invalid-allow",
    level: Severity::Warning,
    summary: "a comment that allows a finding has no reason, is past its day, names no rule, or allows nothing",
    page: include_str!("../../rules/invalid-allow.md"),
};

/// The rule. It speaks of comments, which hold or not when all rules have spoken.
pub(super) struct InvalidAllow;

impl Rule for InvalidAllow {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    /// Takes out the findings that comments allow, and adds those about comments that allow nothing. A comment holds on
    /// any place of a finding.
    fn review(&self, comments: &Comments<'_>, findings: &mut Vec<Finding>) {
        let mut wrong: Vec<Finding> = Vec::new();
        let mut named: Vec<Named<'_>> = Vec::new();
        for allow in comments.allows {
            match fault(allow, comments.today) {
                Some(finding) => wrong.push(finding),
                None => {
                    named.extend(allow.rules.iter().map(|(rule, span)| Named { allow, rule, span: *span, used: false }))
                }
            }
        }
        findings.retain(|finding| !is_allowed(finding, &mut named));
        wrong.extend(named.iter().filter(|named| !named.used).map(Named::unused));
        findings.append(&mut wrong);
    }
}

/// A rule that a comment names.
struct Named<'a> {
    allow: &'a Allow,
    rule: &'a str,
    span: Span,
    used: bool,
}

impl Named<'_> {
    fn unused(&self) -> Finding {
        let message = match by_name(self.rule) {
            Some(_) => format!("nothing here is a finding of {}: the comment allows nothing", self.rule),
            None => {
                let known = super::all().iter().map(|rule| rule.meta().id);
                let hint = suggest::closest(self.rule, known).map(|near| format!("; did you mean `{near}`?"));
                format!("there is no rule `{}`{}", self.rule, hint.unwrap_or_default())
            }
        };
        Finding::new(&META, self.span, "allows nothing", message).help("Take it out, or name the rule that fires here.")
    }
}

fn is_allowed(finding: &Finding, named: &mut [Named<'_>]) -> bool {
    let mut allowed = false;
    for named in named.iter_mut().filter(|named| named.rule == finding.rule.id) {
        let mut places = std::iter::once(finding.primary.span).chain(finding.labels.iter().map(|label| label.span));
        if places.any(|span| named.allow.covers(span)) {
            named.used = true;
            allowed = true;
        }
    }
    allowed
}

/// What keeps a comment from holding.
fn fault(allow: &Allow, today: Date) -> Option<Finding> {
    let found =
        |span, message: String, help: &str| Some(Finding::new(&META, span, "does not hold", message).help(help));
    if let Some((problem, span)) = &allow.problem {
        return found(*span, format!("the comment is not understood: {problem}"), FORM);
    }
    if allow.rules.is_empty() {
        return found(allow.span, "the comment names no rule, and so allows nothing".to_owned(), FORM);
    }
    if allow.reason.is_none() {
        let message =
            "the comment gives no reason: whoever reads it next cannot tell whether it still holds".to_owned();
        return found(allow.span, message, FORM);
    }
    let (until, span) = allow.until.as_ref()?;
    match until.parse::<Date>() {
        Err(_) => found(*span, format!("`{until}` is no day"), "Write it as `until = 2027-01-31`."),
        Ok(day) if day < today => found(
            *span,
            format!("the comment held until {day}: what it allowed is a finding again"),
            "Mend what it is about, or give it another day.",
        ),
        Ok(_) => None,
    }
}

const FORM: &str = "Write `retrylint: allow(RULE, reason = \"why it is right here\")`, with `until = 2027-01-31` where it \
                    is right for a time only.";
