//! A value and why we believe it: never a bare number.

use crate::source::Span;

/// A value with its origin.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting<T> {
    /// Somebody wrote it, here.
    Written {
        /// The value.
        value: T,
        /// Where it is written.
        span: Span,
    },
    /// Nobody wrote it: the system's documented default.
    Default {
        /// The value.
        value: T,
        /// Where that figure is documented: a source file with its version, or a page.
        source: &'static str,
    },
    /// It cannot be known from the files.
    Unknown {
        /// Why not, for a person: "comes from the argument `tries`".
        why: String,
        /// The place that refers to it.
        span: Option<Span>,
    },
}

impl<T> Setting<T> {
    /// A written value.
    pub fn written(value: T, span: Span) -> Self {
        Self::Written { value, span }
    }

    /// A documented default.
    pub fn default(value: T, source: &'static str) -> Self {
        Self::Default { value, source }
    }

    /// An unknown value.
    pub fn unknown(why: impl Into<String>, span: Option<Span>) -> Self {
        Self::Unknown { why: why.into(), span }
    }

    /// The value, if known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Written { value, .. } | Self::Default { value, .. } => Some(value),
            Self::Unknown { .. } => None,
        }
    }

    /// Where it is written or referred to.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Written { span, .. } => Some(*span),
            Self::Unknown { span, .. } => *span,
            Self::Default { .. } => None,
        }
    }

    /// Whether it is a default that nobody wrote.
    pub fn is_default(&self) -> bool {
        matches!(self, Self::Default { .. })
    }

    /// The same origin with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Written { value, span } => Setting::Written { value: f(value), span },
            Self::Default { value, source } => Setting::Default { value: f(value), source },
            Self::Unknown { why, span } => Setting::Unknown { why, span },
        }
    }
}
