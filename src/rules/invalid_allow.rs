#![doc = include_str!("../../rules/invalid-allow.md")]

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{Finding, Permissions, Permitted, Rule, RuleMeta, Severity, by_name};
use crate::source::allows::Allow;
use crate::source::{FileId, Span};
use crate::suggest;

static META: RuleMeta = RuleMeta {
    id: "invalid-allow",
    level: Severity::Warning,
    summary: "what allows a finding, a comment or `[[allow]]`, has no reason, is past its day, names no rule, or allows nothing",
    page: include_str!("../../rules/invalid-allow.md"),
};

/// The rule. It speaks of permissions, which hold or not when all rules have spoken.
pub(super) struct InvalidAllow;

impl Rule for InvalidAllow {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    /// Marks the findings that are permitted, and adds those about permissions that do not hold.
    fn review(&self, permissions: &Permissions<'_>, findings: &mut Vec<Finding>) {
        let mut wrong: Vec<Finding> = Vec::new();
        let mut named: Vec<Named<'_>> = Vec::new();
        for permission in permissions.all {
            match fault(permission, permissions) {
                Some(finding) => wrong.push(finding),
                None => named.extend(permission.rules().iter().map(|(rule, span)| Named {
                    permission,
                    rule,
                    span: *span,
                    used: false,
                })),
            }
        }
        for finding in findings.iter_mut() {
            finding.permitted = permitted(finding, &mut named).map(Permission::permitted);
        }
        if !permissions.unused {
            wrong.extend(named.iter().filter(|named| named.is_idle()).map(Named::unused));
        }
        findings.append(&mut wrong);
    }
}

/// Who says that a finding is right as it is.
#[derive(Debug, Clone)]
pub enum Permission<'a> {
    /// A comment. It holds on any place of a finding in what it is about.
    Comment(&'a Allow),
    /// `[[allow]]`. It holds on any place of a finding in these files.
    Setting {
        /// The rules, each with its place.
        rules: &'a [(String, Span)],
        /// Why.
        reason: Option<&'a str>,
        /// The last day on which it holds, with its place.
        until: Option<(Date, Span)>,
        /// Where it stands.
        span: Span,
        /// The files that it is about.
        files: BTreeSet<FileId>,
        /// Whether all files are looked at, so that one that is about none of them is about nothing.
        whole: bool,
    },
}

impl Permission<'_> {
    fn rules(&self) -> &[(String, Span)] {
        match self {
            Self::Comment(allow) => &allow.rules,
            Self::Setting { rules, .. } => rules,
        }
    }

    fn covers(&self, span: Span) -> bool {
        match self {
            Self::Comment(allow) => allow.covers(span),
            Self::Setting { files, .. } => files.contains(&span.file),
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            Self::Comment(allow) => allow.reason.as_deref(),
            Self::Setting { reason, .. } => *reason,
        }
    }

    fn span(&self) -> Span {
        match self {
            Self::Comment(allow) => allow.span,
            Self::Setting { span, .. } => *span,
        }
    }

    /// What it is called.
    fn name(&self) -> &'static str {
        match self {
            Self::Comment(_) => "the comment",
            Self::Setting { .. } => "this `[[allow]]`",
        }
    }

    fn permitted(&self) -> Permitted {
        let in_source = matches!(self, Self::Comment(_));
        Permitted { in_source, reason: self.reason().map(str::to_owned), place: self.span() }
    }
}

/// A rule that a permission names.
struct Named<'a> {
    permission: &'a Permission<'a>,
    rule: &'a str,
    span: Span,
    used: bool,
}

impl Named<'_> {
    fn is_idle(&self) -> bool {
        let elsewhere =
            matches!(self.permission, Permission::Setting { files, whole, .. } if files.is_empty() && !whole);
        !self.used && !elsewhere
    }

    fn unused(&self) -> Finding {
        let (rule, name) = (self.rule, self.permission.name());
        let where_ = match self.permission {
            Permission::Comment(_) => "here",
            Permission::Setting { .. } => "in these files",
        };
        let message = match by_name(rule) {
            Some(_) => format!("nothing {where_} is a finding of {rule}: {name} allows nothing"),
            None => {
                let known = super::all().iter().map(|rule| rule.meta().id);
                let hint = suggest::closest(rule, known).map(|near| format!("; did you mean `{near}`?"));
                format!("there is no rule `{rule}`{}", hint.unwrap_or_default())
            }
        };
        Finding::new(&META, self.span, "allows nothing", message).help("Take it out, or name the rule that fires here.")
    }
}

/// The first permission that holds on any place of a finding; all that do are used.
fn permitted<'a>(finding: &Finding, named: &mut [Named<'a>]) -> Option<&'a Permission<'a>> {
    let mut first = None;
    for named in named.iter_mut().filter(|named| named.rule == finding.rule.id) {
        let mut places = std::iter::once(finding.primary.span).chain(finding.labels.iter().map(|label| label.span));
        if places.any(|span| named.permission.covers(span)) {
            named.used = true;
            first = first.or(Some(named.permission));
        }
    }
    first
}

/// What keeps a permission from holding.
fn fault(permission: &Permission<'_>, asked: &Permissions<'_>) -> Option<Finding> {
    let found =
        |span, message: String, help: &str| Some(Finding::new(&META, span, "does not hold", message).help(help));
    let name = permission.name();
    let (form, until) = match permission {
        Permission::Comment(allow) => {
            if let Some((problem, span)) = &allow.problem {
                return found(*span, format!("the comment is not understood: {problem}"), FORM);
            }
            let until =
                allow.until.as_ref().map(|(until, span)| (until.parse::<Date>().map_err(|_| until.clone()), *span));
            (FORM, until)
        }
        Permission::Setting { until, .. } => {
            ("Write `reason = \"why it is right there\"`.", until.map(|(day, span)| (Ok(day), span)))
        }
    };
    if permission.rules().is_empty() {
        return found(permission.span(), format!("{name} names no rule, and so allows nothing"), form);
    }
    if permission.reason().is_none() && !asked.without_reason {
        let message = format!("{name} gives no reason: whoever reads it next cannot tell whether it still holds");
        return found(permission.span(), message, form);
    }
    match until? {
        (Err(text), span) => found(span, format!("`{text}` is no day"), "Write it as `until = 2027-01-31`."),
        (Ok(day), span) if day < asked.today => found(
            span,
            format!("{name} held until {day}: what it allowed is a finding again"),
            "Mend what it is about, or give it another day.",
        ),
        _ => None,
    }
}

const FORM: &str = "Write `retrylint: allow(RULE, reason = \"why it is right here\")`, with `until = 2027-01-31` where it \
                    is right for a time only.";
