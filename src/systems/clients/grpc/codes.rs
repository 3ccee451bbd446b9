//! gRPC's status codes.

use crate::model::{Mode, ModeSet};

/// The codes that are failures, from 1.
const NAMES: [&str; 16] = [
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

/// The code of a name in upper case, which every client takes.
pub(super) fn of_name(name: &str) -> Option<u8> {
    (1..).zip(NAMES).find(|(_, known)| *known == name).map(|(code, _)| code)
}

/// The failures that a client sees as this code: a connection that is refused, and what a proxy answers in plain HTTP,
/// come to it as one of these.
pub(super) fn modes(code: u8) -> ModeSet {
    let plain: &[u16] = match code {
        7 => &[403],
        12 => &[404],
        13 => &[400],
        14 => &[429, 502, 503, 504],
        16 => &[401],
        _ => &[],
    };
    let mut modes = ModeSet::statuses(plain.iter().copied());
    modes.insert(Mode::Grpc(code));
    if code == 14 {
        modes.insert(Mode::Refused);
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_numbers() {
        assert_eq!((of_name("CANCELLED"), of_name("UNAUTHENTICATED")), (Some(1), Some(16)));
        assert_eq!((of_name("OK"), of_name("unavailable")), (None, None));
        assert_eq!(modes(14).names(), ["refused", "429", "502-504", "grpc:14"]);
        assert_eq!(modes(10).names(), ["grpc:10"]);
    }
}
