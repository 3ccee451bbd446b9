//! Failure modes: how a call can fail.

use std::fmt;

/// One way in which a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Connection refused or reset before any response.
    Refused,
    /// No answer in time.
    Timeout,
    /// An HTTP status from 400 to 599.
    Status(u16),
    /// A gRPC status from 1 to 16; only on hops that carry gRPC.
    Grpc(u8),
}

/// The HTTP statuses that are failures.
pub const STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

/// gRPC's status codes that are failures, by their names, from 1.
const GRPC: [&str; 16] = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The name of a gRPC status, in upper case; those that are none have the last one's.
pub fn grpc_name(code: u8) -> &'static str {
    GRPC.get(usize::from(code).saturating_sub(1)).copied().unwrap_or("UNAUTHENTICATED")
}

/// The gRPC status of a name in upper case, which every client takes.
pub fn grpc_named(name: &str) -> Option<u8> {
    (1..).zip(GRPC).find(|(_, known)| *known == name).map(|(code, _)| code)
}

/// The HTTP status that is a failure and has this name, as libraries spell it: `TOO_MANY_REQUESTS`.
pub fn status_named(name: &str) -> Option<u16> {
    Some(match name {
        "BAD_REQUEST" => 400,
        "UNAUTHORIZED" => 401,
        "PAYMENT_REQUIRED" => 402,
        "FORBIDDEN" => 403,
        "NOT_FOUND" => 404,
        "METHOD_NOT_ALLOWED" => 405,
        "NOT_ACCEPTABLE" => 406,
        "PROXY_AUTHENTICATION_REQUIRED" => 407,
        "REQUEST_TIMEOUT" => 408,
        "CONFLICT" => 409,
        "GONE" => 410,
        "LENGTH_REQUIRED" => 411,
        "PRECONDITION_FAILED" => 412,
        "PAYLOAD_TOO_LARGE" | "CONTENT_TOO_LARGE" => 413,
        "URI_TOO_LONG" => 414,
        "UNSUPPORTED_MEDIA_TYPE" => 415,
        "RANGE_NOT_SATISFIABLE" => 416,
        "EXPECTATION_FAILED" => 417,
        "IM_A_TEAPOT" => 418,
        "MISDIRECTED_REQUEST" => 421,
        "UNPROCESSABLE_ENTITY" | "UNPROCESSABLE_CONTENT" => 422,
        "LOCKED" => 423,
        "FAILED_DEPENDENCY" => 424,
        "TOO_EARLY" => 425,
        "UPGRADE_REQUIRED" => 426,
        "PRECONDITION_REQUIRED" => 428,
        "TOO_MANY_REQUESTS" => 429,
        "REQUEST_HEADER_FIELDS_TOO_LARGE" => 431,
        "UNAVAILABLE_FOR_LEGAL_REASONS" => 451,
        "INTERNAL_SERVER_ERROR" => 500,
        "NOT_IMPLEMENTED" => 501,
        "BAD_GATEWAY" => 502,
        "SERVICE_UNAVAILABLE" => 503,
        "GATEWAY_TIMEOUT" => 504,
        "HTTP_VERSION_NOT_SUPPORTED" => 505,
        "VARIANT_ALSO_NEGOTIATES" => 506,
        "INSUFFICIENT_STORAGE" => 507,
        "LOOP_DETECTED" => 508,
        "BANDWIDTH_LIMIT_EXCEEDED" => 509,
        "NOT_EXTENDED" => 510,
        "NETWORK_AUTHENTICATION_REQUIRED" => 511,
        _ => return None,
    })
}

impl Mode {
    /// Every HTTP mode: refused, timeout, 400 to 599.
    pub fn http() -> impl Iterator<Item = Mode> {
        [Mode::Refused, Mode::Timeout].into_iter().chain(STATUSES.map(Mode::Status))
    }

    /// Every gRPC code that is a failure.
    pub fn grpc() -> impl Iterator<Item = Mode> {
        (1..=16).map(Mode::Grpc)
    }

    /// Every mode.
    pub fn all() -> impl Iterator<Item = Mode> {
        Self::http().chain(Self::grpc())
    }

    /// The order in which equal products are named: refused, timeout, 503, 504, 502, 500, 429, then ascending.
    pub fn rank(self) -> u16 {
        match self {
            Mode::Refused => 0,
            Mode::Timeout => 1,
            Mode::Status(503) => 2,
            Mode::Status(504) => 3,
            Mode::Status(502) => 4,
            Mode::Status(500) => 5,
            Mode::Status(429) => 6,
            Mode::Status(n) => n,
            Mode::Grpc(n) => 1000 + u16::from(n),
        }
    }

    /// Whether it is a 5xx.
    pub fn is_server_error(self) -> bool {
        matches!(self, Mode::Status(500..=599))
    }

    fn index(self) -> usize {
        match self {
            Mode::Refused => 0,
            Mode::Timeout => 1,
            Mode::Grpc(n) => 2 + usize::from(n.min(16)),
            Mode::Status(n) => 20 + usize::from(n.clamp(400, 599) - 400),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Refused => f.write_str("refused"),
            Mode::Timeout => f.write_str("timeout"),
            Mode::Status(n) => write!(f, "{n}"),
            Mode::Grpc(n) => write!(f, "grpc:{n}"),
        }
    }
}

/// A set of modes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ModeSet([u64; 4]);

impl ModeSet {
    /// No mode.
    pub const EMPTY: Self = Self([0; 4]);

    /// Every mode, gRPC included.
    pub fn all() -> Self {
        Mode::all().collect()
    }

    /// These statuses.
    pub fn statuses(codes: impl IntoIterator<Item = u16>) -> Self {
        codes.into_iter().filter(|c| STATUSES.contains(c)).map(Mode::Status).collect()
    }

    /// Refused and timeout.
    pub fn transport() -> Self {
        [Mode::Refused, Mode::Timeout].into_iter().collect()
    }

    /// Adds a mode.
    pub fn insert(&mut self, mode: Mode) {
        let i = mode.index();
        if let Some(word) = self.0.get_mut(i / 64) {
            *word |= 1 << (i % 64);
        }
    }

    /// Whether a mode is in it.
    pub fn contains(&self, mode: Mode) -> bool {
        let i = mode.index();
        self.0.get(i / 64).is_some_and(|word| word & (1 << (i % 64)) != 0)
    }

    /// Both together.
    pub fn union(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// What is in both.
    pub fn intersection(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// What is in this one only.
    pub fn difference(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The modes: refused, timeout, statuses ascending, gRPC codes ascending.
    pub fn iter(&self) -> impl Iterator<Item = Mode> + '_ {
        Mode::all().filter(|m| self.contains(*m))
    }

    /// For people and for the JSON output: whole classes and runs folded (`5xx`, `501-504`).
    pub fn names(&self) -> Vec<String> {
        let mut out: Vec<String> =
            [Mode::Refused, Mode::Timeout].into_iter().filter(|m| self.contains(*m)).map(|m| m.to_string()).collect();
        for class in [400u16, 500] {
            let inside: Vec<u16> = (class..class + 100).filter(|c| self.contains(Mode::Status(*c))).collect();
            if inside.len() == 100 {
                out.push(format!("{}xx", class / 100));
                continue;
            }
            let mut rest = inside.as_slice();
            while let Some((&first, _)) = rest.split_first() {
                let run = rest.iter().zip(first..).take_while(|(a, b)| **a == *b).count();
                match run {
                    1 | 2 => out.extend(rest.iter().take(run).map(u16::to_string)),
                    _ => out.push(format!("{first}-{}", first + run as u16 - 1)),
                }
                rest = rest.get(run..).unwrap_or(&[]);
            }
        }
        out.extend(Mode::grpc().filter(|m| self.contains(*m)).map(|m| m.to_string()));
        out
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let [a, b, c, d] = self.0;
        let [e, g, h, i] = other.0;
        Self([f(a, e), f(b, g), f(c, h), f(d, i)])
    }
}

impl FromIterator<Mode> for ModeSet {
    fn from_iter<I: IntoIterator<Item = Mode>>(modes: I) -> Self {
        let mut set = Self::EMPTY;
        modes.into_iter().for_each(|m| set.insert(m));
        set
    }
}

impl fmt::Debug for ModeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_its_own_bit() {
        for a in Mode::all() {
            let set: ModeSet = [a].into_iter().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), [a]);
        }
        assert_eq!(ModeSet::all().iter().count(), 2 + 200 + 16);
    }

    #[test]
    fn names_stand_for_numbers() {
        assert_eq!((grpc_named("CANCELLED"), grpc_named("UNAUTHENTICATED")), (Some(1), Some(16)));
        assert_eq!((grpc_named("OK"), grpc_named("unavailable")), (None, None));
        assert!((1..=16).all(|code| grpc_named(grpc_name(code)) == Some(code)));
        assert_eq!(status_named("TOO_MANY_REQUESTS"), Some(429));
        assert_eq!((status_named("OK"), status_named("too_many_requests")), (None, None));
    }

    #[test]
    fn names_fold_classes_and_runs() {
        let set = ModeSet::statuses([408, 429, 430].into_iter().chain(500..=599)).union(ModeSet::transport());
        assert_eq!(set.names(), ["refused", "timeout", "408", "429", "430", "5xx"]);
        assert_eq!(ModeSet::statuses(502..=504).names(), ["502-504"]);
    }
}
