//! gRPC's status codes.

use crate::model::{Mode, ModeSet};

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
    fn codes_stand_for_what_a_client_sees() {
        assert_eq!(modes(14).names(), ["refused", "429", "502-504", "grpc:14"]);
        assert_eq!(modes(10).names(), ["grpc:10"]);
    }
}
