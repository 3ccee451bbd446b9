//! Idempotency keys: what a request carries so that its receiver can tell a repetition.

use super::value::{Kind, Taint, Value};
use crate::model::IdempotencyKey;

/// What one request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carried {
    /// No key.
    Nothing,
    /// A key: its identity, and whether it was drawn after an earlier try.
    Key {
        /// Equal for equal keys.
        id: u64,
        /// Whether a try had failed when it was made.
        fresh: bool,
    },
    /// Perhaps a key: headers that cannot be read.
    Perhaps,
}

/// Nested values are looked through so deep for a field that is a key.
const DEPTH: u8 = 4;

impl Carried {
    /// With one more header.
    pub(crate) fn with_header(self, name: &Value<'_>, value: &Value<'_>) -> Self {
        let known = name.known_text().or_else(|| match &name.kind {
            Kind::External(path) => path.segments.last().map(|s| s.to_string()),
            _ => None,
        });
        match known {
            Some(name) if names_key(&name) => self.or(Self::of(value)),
            Some(_) => self,
            None => self.or(Self::Perhaps),
        }
    }

    /// With a map of headers, of which nothing is known.
    pub(crate) fn with_headers(self) -> Self {
        self.or(Self::Perhaps)
    }

    /// With a body.
    pub(crate) fn with_body<'a>(self, parts: &[Value<'a>]) -> Self {
        parts.iter().find_map(|v| key_within(v, DEPTH)).map_or(self, |key| self.or(key))
    }

    /// What this try and the ones before it come to.
    pub(crate) fn after(self, first: Self) -> IdempotencyKey {
        match (first, self) {
            (Self::Nothing, Self::Nothing) => IdempotencyKey::None,
            (Self::Key { id: a, .. }, Self::Key { id: b, fresh: false }) if a == b => IdempotencyKey::Same,
            (Self::Key { .. }, Self::Key { .. }) => IdempotencyKey::Changing,
            _ => IdempotencyKey::Unknown,
        }
    }

    fn or(self, other: Self) -> Self {
        if self == Self::Nothing || matches!(other, Self::Key { .. }) { other } else { self }
    }

    fn of(value: &Value<'_>) -> Self {
        Self::Key { id: value.digest(), fresh: value.taint.has(Taint::FRESH) }
    }
}

/// A field whose name says that it is a key.
fn key_within(value: &Value<'_>, depth: u8) -> Option<Carried> {
    let depth = depth.checked_sub(1)?;
    let one = |name: &str, value: &Value<'_>| {
        if names_key(name) { Some(Carried::of(value)) } else { key_within(value, depth) }
    };
    match &value.kind {
        Kind::Object(object) => object.fields.borrow().iter().find_map(|(name, value)| one(name, value)),
        Kind::Variant(variant) => variant.fields.iter().find_map(|(name, value)| one(name, value)),
        _ => None,
    }
}

/// `Idempotency-Key`, `X-Idempotency-Key`, `idempotency_token`, and what single vendors call theirs.
fn names_key(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    plain.contains("idempoten")
        || plain.contains("dedup")
        || matches!(&*plain, "paypalrequestid" | "repeatabilityrequestid" | "clienttoken" | "clientrequesttoken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["Idempotency-Key", "X-Idempotency-Key", "idempotency_key", "PayPal-Request-Id", "Idempotent-Id"] {
            assert!(names_key(name), "{name}");
        }
        for name in ["Content-Type", "AUTHORIZATION", "x-request-id", "order_no"] {
            assert!(!names_key(name), "{name}");
        }
    }

    #[test]
    fn tries_are_compared() {
        let key = |id, fresh| Carried::Key { id, fresh };
        assert_eq!(key(1, false).after(key(1, false)), IdempotencyKey::Same);
        assert_eq!(key(1, true).after(key(1, false)), IdempotencyKey::Changing);
        assert_eq!(key(2, false).after(key(1, false)), IdempotencyKey::Changing);
        assert_eq!(Carried::Nothing.after(Carried::Nothing), IdempotencyKey::None);
        assert_eq!(Carried::Perhaps.after(Carried::Perhaps), IdempotencyKey::Unknown);
    }
}
