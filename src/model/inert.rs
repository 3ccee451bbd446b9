//! Settings about retries that do nothing where they stand.

use super::Confidence;
use crate::source::Span;

/// A retry setting without effect: whoever wrote it believes that it does something.
#[derive(Debug, Clone, PartialEq)]
pub struct Inert {
    /// Where it stands.
    pub place: Span,
    /// What stands there: "`num_retries: 3`".
    pub setting: String,
    /// What it belongs to: "Envoy route /orders of virtual host shop".
    pub owner: String,
    /// Why it does nothing; completes "… has no effect: ".
    pub why: String,
    /// What to do, as a whole sentence without its full stop.
    pub instead: Option<String>,
    /// The place that takes its effect away, and what stands there.
    pub because: Option<(Span, String)>,
    /// How sure the reading is.
    pub confidence: Confidence,
}

impl Inert {
    /// A setting of an owner that is not known yet.
    pub fn new(place: Span, setting: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place,
            setting: setting.into(),
            owner: String::new(),
            why: why.into(),
            instead: None,
            because: None,
            confidence: Confidence::High,
        }
    }

    /// With its owner.
    pub fn of(mut self, owner: &str) -> Self {
        self.owner = owner.to_owned();
        self
    }

    /// With what to do.
    pub fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }

    /// With the place that takes its effect away.
    pub fn because(mut self, span: Span, text: impl Into<String>) -> Self {
        self.because = Some((span, text.into()));
        self
    }

    /// Less sure.
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }
}
