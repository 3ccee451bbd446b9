//! A retry of a library, described before anything runs.
use std::fmt::Debug;
use std::time::Duration;

use super::Policy;
use crate::model::{Advice, Attempts, Budget, Confidence, Jitter, LayerKind, Purpose, Setting, Wait};
use crate::rust::eval::episode::Counted;
use crate::source::Span;

/// Where a call stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    /// The whole call, receiver included.
    pub(crate) span: Span,
    /// The method's name.
    pub(crate) name_span: Span,
}

impl At {
    /// From the method's name to the end of its arguments.
    pub(crate) fn named(self) -> Span {
        Span { end: self.span.end, ..self.name_span }
    }
}

/// What a crate's retry is, as far as it does not hang on how the call fails.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) system: &'static str,
    pub(crate) kind: LayerKind,
    /// What opens it.
    pub(crate) opens: Span,
    /// Its count, or what opens it.
    pub(crate) place: Span,
    pub(crate) attempts: Setting<Attempts>,
    pub(crate) wait: Wait,
    pub(crate) wait_place: Option<Span>,
    pub(crate) jitter: Setting<Jitter>,
    /// "backon call".
    pub(crate) name: &'static str,
    pub(crate) reading: String,
    pub(crate) labels: Vec<(Span, String)>,
    /// The call that handed its count over as an argument.
    pub(crate) via: Option<Span>,
    pub(crate) advice: Advice,
    /// What picks failures where no code does: "backon without `.when(..)`".
    pub(crate) picks: &'static str,
    /// Whether nothing stands between a failure and the next try.
    pub(crate) undiscriminating: bool,
    /// Whether code asks for retries here; else nobody did, and its default count is implicit.
    pub(crate) asked_for: bool,
    /// Whether its own wait follows what a response asks for; `None`: as the code around it does.
    pub(crate) retry_after: Option<Setting<bool>>,
    /// Limit on one try.
    pub(crate) per_try: Option<Setting<Duration>>,
    /// Limit on all tries together.
    pub(crate) overall: Option<Setting<Duration>>,
    /// Budget.
    pub(crate) budget: Option<Budget>,
    /// What it repeats: requests, or nothing but a stream's or connection's own beginning.
    pub(crate) purpose: Purpose,
    /// How sure it is that this is the retry around the calls that have it.
    pub(crate) confidence: Confidence,
    /// Whether code of the repository decides on count and waits: then they are what is seen when it is run.
    pub(crate) by_running: bool,
}

impl Described {
    /// A retry of which nothing but its place is known: its count least of all. It waits for nothing, and picks
    /// failures by a test of its own.
    pub(crate) fn new(system: &'static str, kind: LayerKind, name: &'static str, opens: Span) -> Self {
        Self {
            system,
            kind,
            opens,
            place: opens,
            attempts: Setting::unknown("is set outside of the code read", Some(opens)),
            wait: Wait::None,
            wait_place: None,
            jitter: Setting::default(Jitter::None, "the code"),
            name,
            reading: name.to_owned(),
            labels: Vec::new(),
            via: None,
            advice: Advice::default(),
            picks: "its default test",
            undiscriminating: false,
            asked_for: true,
            retry_after: None,
            per_try: None,
            overall: None,
            budget: None,
            purpose: Purpose::Request,
            confidence: Confidence::High,
            by_running: false,
        }
    }

    /// The same with what a policy says.
    pub(crate) fn with(self, policy: &Policy) -> Self {
        Self {
            place: policy.attempts.span().unwrap_or(self.opens),
            attempts: policy.attempts.clone(),
            wait: policy.wait.clone(),
            wait_place: Some(policy.made),
            jitter: policy.jitter.clone(),
            reading: policy.reading.clone(),
            labels: policy.labels.clone(),
            via: policy.via,
            ..self
        }
    }

    /// What its own limit comes to.
    pub(crate) fn counted(&self, made: u64) -> Counted {
        match &self.attempts {
            Setting::Unknown { why, span } => Counted::Unknown { why: why.clone(), span: *span },
            known => match known.value() {
                Some(Attempts::Count(n)) => Counted::Times(*n),
                Some(Attempts::Within { deadline, about }) => {
                    Counted::Within { limit: deadline.as_secs_f64(), about: *about }
                }
                Some(Attempts::Unbounded) => Counted::Unbounded,
                None => Counted::Times(made),
            },
        }
    }
}
