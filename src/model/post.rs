//! Requests that may not be processed twice, and what lets their receiver tell that it has had one before.

use super::{Mode, ModeSet};
use crate::source::Span;

/// A POST or PATCH that code makes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Post {
    /// `POST` or `PATCH`.
    pub method: String,
    /// The call.
    pub span: Span,
    /// Its idempotency key.
    pub key: IdempotencyKey,
}

/// What a request carries so that its receiver can tell a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdempotencyKey {
    /// Nothing.
    None,
    /// A key that stays the same over the tries.
    Same,
    /// A key that is made anew for each try.
    Changing,
    /// Perhaps one: headers or a body that cannot be read.
    Unknown,
}

impl IdempotencyKey {
    /// Whether the receiver surely takes a repetition for a new request.
    pub fn is_missing(self) -> bool {
        matches!(self, Self::None | Self::Changing)
    }
}

impl Post {
    /// Whether a method is one of those that may not be repeated unseen.
    pub fn is_method(method: &str) -> bool {
        matches!(method, "POST" | "PATCH")
    }
}

impl ModeSet {
    /// The failures after which the request may have been processed all the same: all but a refused connection
    /// and 429, which say that it was not.
    pub fn after_processing(self) -> Self {
        let never = [Mode::Refused, Mode::Status(429), Mode::Grpc(8), Mode::Grpc(14)];
        self.difference(never.into_iter().collect())
    }
}
