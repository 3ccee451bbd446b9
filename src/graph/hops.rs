//! The hops of the model in the making, found by their ends: settings can hold a hundred thousand of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ComponentIx, Hop};

/// So many reasons of one hop are kept: a client that is called in a hundred places needs no hundred of them.
const MAX_REASONS: usize = 12;

/// Hops by caller and callee.
#[derive(Debug, Default)]
pub(super) struct Hops {
    by_ends: BTreeMap<(ComponentIx, ComponentIx), Vec<Hop>>,
    callers: BTreeMap<ComponentIx, BTreeSet<ComponentIx>>,
}

/// Which hops are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    /// All of a caller.
    From(ComponentIx),
    /// All to a callee.
    To(ComponentIx),
    /// Those between two components.
    Between(ComponentIx, ComponentIx),
}

impl Hops {
    /// Adds a hop, once.
    pub(super) fn add(&mut self, hop: Hop) {
        let key = |h: &Hop| (h.on_request, h.grpc, h.through.clone());
        let limit = |h: &Hop| h.limit.as_ref().map(|l| l.value().copied());
        let same = |h: &Hop| {
            key(h) == key(&hop) && h.layers == hop.layers && h.answers == hop.answers && limit(h) == limit(&hop)
        };
        let there = self.by_ends.entry((hop.from, hop.to)).or_default();
        match there.iter().position(same).and_then(|at| there.get_mut(at)) {
            Some(known) => {
                known.posts.extend(hop.posts);
                known.per_item |= hop.per_item;
                let new = hop.reasons.into_iter().filter(|r| !known.reasons.contains(r)).collect::<Vec<_>>();
                let room = MAX_REASONS.saturating_sub(known.reasons.len());
                known.reasons.extend(new.into_iter().take(room));
            }
            None => {
                self.callers.entry(hop.to).or_default().insert(hop.from);
                there.push(hop);
            }
        }
    }

    /// All hops, by caller and callee.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Hop> {
        self.by_ends.values().flatten()
    }

    /// All hops, to change them; not their ends.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Hop> {
        self.by_ends.values_mut().flatten()
    }

    /// The hops with these ends.
    pub(super) fn with(&self, ends: Ends) -> impl Iterator<Item = &Hop> {
        self.keys(ends).into_iter().filter_map(|key| self.by_ends.get(&key)).flatten()
    }

    /// Whether there is a hop with these ends.
    pub(super) fn any(&self, ends: Ends) -> bool {
        self.with(ends).next().is_some()
    }

    /// Changes the hops with these ends; not their ends.
    pub(super) fn change(&mut self, ends: Ends, change: impl Fn(&mut Hop)) {
        for key in self.keys(ends) {
            self.by_ends.get_mut(&key).into_iter().flatten().for_each(&change);
        }
    }

    /// Puts others in the place of each hop with these ends.
    pub(super) fn replace(&mut self, ends: Ends, others: impl Fn(Hop) -> Vec<Hop>) {
        for key in self.keys(ends) {
            if let Some(hops) = self.by_ends.get_mut(&key) {
                *hops = std::mem::take(hops).into_iter().flat_map(&others).collect();
            }
        }
    }

    /// All hops.
    pub(super) fn into_vec(self) -> Vec<Hop> {
        self.by_ends.into_values().flatten().collect()
    }

    fn keys(&self, ends: Ends) -> Vec<(ComponentIx, ComponentIx)> {
        match ends {
            Ends::Between(from, to) => vec![(from, to)],
            Ends::To(to) => self.callers.get(&to).into_iter().flatten().map(|from| (*from, to)).collect(),
            Ends::From(from) => {
                let all = (from, ComponentIx(0))..=(from, ComponentIx(u32::MAX));
                self.by_ends.range(all).map(|(key, _)| *key).collect()
            }
        }
    }
}
