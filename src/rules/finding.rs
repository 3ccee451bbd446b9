//! A finding. One without a place cannot be made.

use std::sync::Arc;

use crate::model::{Confidence, PathIx};
use crate::rules::{Fingerprint, RuleMeta};
use crate::source::Span;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Counted, and shown on request.
    Note,
    /// Shown.
    Warning,
    /// Breaks the build.
    Error,
}

impl Severity {
    /// The word in the outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// One level lower; a note stays one.
    pub fn lower(self) -> Self {
        match self {
            Self::Error => Self::Warning,
            Self::Warning | Self::Note => Self::Note,
        }
    }
}

/// A place that belongs to a finding, with what there is to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

/// The word of somebody that a finding is right as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// Whether a comment says so; else the configuration.
    pub in_source: bool,
    /// Why.
    pub reason: Option<String>,
    /// Where that is said.
    pub place: Span,
}

/// What a rule found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static RuleMeta,
    /// Its level here.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// What happens in production, in numbers.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The narrowest place that a person would edit.
    pub primary: Label,
    /// Every other place concerned, in the order of the call.
    pub labels: Vec<Label>,
    /// The path it is about.
    pub path: Option<PathIx>,
    /// The identities of the layers it is about, where it is not about a path: they survive moves.
    pub about: Vec<Arc<str>>,
    /// Who says that it is right as it is, if anybody does.
    pub permitted: Option<Permitted>,
    /// What makes it the same finding in the next run; given once all findings are there.
    pub fingerprint: Fingerprint,
}

impl Finding {
    /// A finding of `rule` at `span`, with the rule's own level. `text` says what stands there, in a few words.
    pub fn new(rule: &'static RuleMeta, span: Span, text: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.level,
            confidence: Confidence::High,
            message: message.into(),
            help: None,
            primary: Label { span, text: text.into() },
            labels: Vec::new(),
            path: None,
            about: Vec::new(),
            permitted: None,
            fingerprint: Fingerprint::default(),
        }
    }

    /// With what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With one more place. The primary place is not listed twice with the same text.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// About a path.
    pub fn path(mut self, path: PathIx) -> Self {
        self.path = Some(path);
        self
    }

    /// About a layer, or what else has an identity.
    pub fn about(mut self, identity: impl Into<Arc<str>>) -> Self {
        self.about.push(identity.into());
        self
    }

    /// At another level.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Less sure.
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    /// The fixed order of findings: file, byte, rule, message.
    pub fn order(&self) -> (Span, &'static str, &str) {
        (self.primary.span, self.rule.id, &self.message)
    }
}
