//! Failure modes as the graph counts them: modes that no layer tells apart are one class.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Hop, Mode, ModeSet};

/// An index into the classes of a graph. Classes are ordered as equal products are named: by [`Mode::rank`].
pub(super) type ClassIx = usize;

/// The classes of a graph.
#[derive(Debug)]
pub(super) struct Classes {
    of: BTreeMap<Mode, ClassIx>,
    names: Vec<Mode>,
    server: Vec<ClassIx>,
}

impl Classes {
    /// Sorts the modes that can occur on these hops into classes.
    pub(super) fn new(hops: &[Hop]) -> Self {
        let grpc = hops.iter().any(|hop| hop.grpc);
        let sets: BTreeSet<ModeSet> = hops
            .iter()
            .flat_map(|hop| hop.layers.iter().map(|l| l.modes).chain(hop.answers.iter().map(|(modes, _)| *modes)))
            .collect();
        let mut groups: BTreeMap<(u16, Vec<bool>), Vec<Mode>> = BTreeMap::new();
        for mode in Mode::http().chain(Mode::grpc().filter(|_| grpc)) {
            let told_apart = sets.iter().map(|set| set.contains(mode)).collect();
            groups.entry((sort(mode, grpc), told_apart)).or_default().push(mode);
        }
        let mut groups: Vec<Vec<Mode>> = groups.into_values().collect();
        groups.iter_mut().for_each(|g| g.sort_by_key(|m| m.rank()));
        groups.sort_by_key(|g| g.first().map(|m| m.rank()));
        let names = groups.iter().filter_map(|g| g.first().copied()).collect();
        let of = groups.iter().enumerate().flat_map(|(i, g)| g.iter().map(move |m| (*m, i))).collect();
        let mut classes = Self { of, names, server: Vec::new() };
        classes.server = classes.of_set(&any_server_error());
        classes
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The class of a mode; `None` for a gRPC mode where no hop carries gRPC.
    pub(super) fn of(&self, mode: Mode) -> Option<ClassIx> {
        self.of.get(&mode).copied()
    }

    /// The classes of these modes, in order.
    pub(super) fn of_set(&self, modes: &ModeSet) -> Vec<ClassIx> {
        let classes: BTreeSet<ClassIx> = modes.iter().filter_map(|m| self.of(m)).collect();
        classes.into_iter().collect()
    }

    /// What a caller can see where a service answers "a 5xx".
    pub(super) fn server(&self) -> &[ClassIx] {
        &self.server
    }

    /// The mode that names a class: the first by rank.
    pub(super) fn name(&self, class: ClassIx) -> Option<Mode> {
        self.names.get(class).copied()
    }

    /// The modes of each class.
    pub(super) fn members(&self) -> Vec<ModeSet> {
        let mut members = vec![ModeSet::EMPTY; self.len()];
        for (mode, class) in &self.of {
            if let Some(set) = members.get_mut(*class) {
                set.insert(*mode);
            }
        }
        members
    }

    /// Every class with the mode that names it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ClassIx, Mode)> + '_ {
        self.names.iter().copied().enumerate()
    }
}

/// What must not fall into one class, whatever the layers retry: modes that turn into different ones on their way out.
fn sort(mode: Mode, grpc: bool) -> u16 {
    match mode {
        Mode::Refused => 0,
        Mode::Timeout => 1,
        // These have a gRPC code of their own.
        Mode::Status(502..=504) if grpc => 502,
        Mode::Status(status @ (400 | 401 | 403 | 404 | 409 | 429 | 499)) if grpc => status,
        Mode::Status(500..) => 2,
        Mode::Status(_) => 3,
        Mode::Grpc(code) => 1000 + u16::from(code),
    }
}

/// A 5xx, or its like in gRPC: UNKNOWN, INTERNAL, UNAVAILABLE.
pub(super) fn any_server_error() -> ModeSet {
    let grpc = [2, 13, 14].into_iter().map(Mode::Grpc);
    (500..=599).map(Mode::Status).chain(grpc).collect()
}

/// The code that a gRPC client makes of a plain HTTP answer
/// (`grpc/grpc doc/http-grpc-status-mapping.md`).
pub(super) fn grpc_of_plain_http(status: u16) -> Mode {
    Mode::Grpc(match status {
        400 => 13,
        401 => 16,
        403 => 7,
        404 => 12,
        429 | 502..=504 => 14,
        _ => 2,
    })
}

/// The HTTP status that stands for a gRPC code (`googleapis/googleapis google/rpc/code.proto`).
pub(super) fn http_of_grpc(code: u8) -> u16 {
    match code {
        1 => 499,
        3 | 9 | 11 => 400,
        4 => 504,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        12 => 501,
        14 => 503,
        16 => 401,
        _ => 500,
    }
}

/// The gRPC codes for which an HTTP client error stands.
pub(super) fn grpc_of_client_error(status: u16) -> impl Iterator<Item = Mode> {
    Mode::grpc().filter(move |mode| matches!(mode, Mode::Grpc(code) if http_of_grpc(*code) == status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ComponentIx, LayerIx, LayerUse};

    fn hop(modes: ModeSet, grpc: bool) -> Hop {
        let layers = vec![LayerUse { layer: LayerIx(0), modes }];
        Hop { layers, grpc, ..Hop::new(ComponentIx(0), ComponentIx(1), None) }
    }

    #[test]
    fn modes_that_no_layer_tells_apart_are_one_class() {
        let classes = Classes::new(&[hop(ModeSet::statuses([429, 503, 504]), false)]);
        let names: Vec<String> = classes.iter().map(|(_, m)| m.to_string()).collect();
        assert_eq!(names, ["refused", "timeout", "503", "502", "429", "400"]);
        assert_eq!(classes.of(Mode::Status(504)), classes.of(Mode::Status(503)));
        assert_eq!(classes.of(Mode::Grpc(14)), None);
    }

    #[test]
    fn grpc_codes_and_what_translates_to_them_stay_apart_where_a_hop_carries_grpc() {
        let classes = Classes::new(&[hop(ModeSet::EMPTY, true)]);
        let codes = classes.iter().filter(|(_, m)| matches!(m, Mode::Grpc(_))).count();
        assert_eq!((classes.len(), codes), (2 + 8 + 2 + 16, 16));
    }
}
