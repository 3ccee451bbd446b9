//! The algebra of failure modes on one hop: which layers multiply, and what whoever sits outside then sees.

use std::collections::BTreeMap;

use super::modes::{self, ClassIx, Classes};
use crate::model::{
    Answer, Attempts, Component, ComponentKind, Hop, Layer, LayerIx, LayerUse, MAX_PRODUCT, Mode, ModeSet,
};

/// A product of attempts. The order is that of how bad it is: unbounded factors first, then the number; of equal
/// numbers the one with more factors that are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Product {
    /// How many factors are unbounded.
    pub(super) unbounded: u32,
    /// The product of the others, far beyond what is shown, so that large ones stay in order.
    pub(super) count: u128,
    /// How many factors are not known; each counts 1.
    pub(super) unknown: u32,
}

impl Product {
    /// Of no layer at all.
    pub(super) const ONE: Self = Self { unbounded: 0, count: 1, unknown: 0 };

    /// What one layer multiplies by.
    pub(super) fn of(layer: &Layer) -> Self {
        match layer.attempts.value().map(|a: &Attempts| a.count()) {
            Some(Some(count)) => Self { count: count.into(), ..Self::ONE },
            Some(None) => Self { unbounded: 1, ..Self::ONE },
            None => Self { unknown: 1, ..Self::ONE },
        }
    }

    /// Both factors together.
    pub(super) fn times(self, other: Self) -> Self {
        Self {
            unbounded: self.unbounded.saturating_add(other.unbounded),
            count: self.count.saturating_mul(other.count),
            unknown: self.unknown.saturating_add(other.unknown),
        }
    }

    /// The number that is shown.
    pub(super) fn shown(self) -> u64 {
        if self.unbounded > 0 { MAX_PRODUCT } else { u64::try_from(self.count).unwrap_or(MAX_PRODUCT).min(MAX_PRODUCT) }
    }
}

/// What happens on a hop whose callee fails in one way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// The layers that repeat the hop, outermost first.
    pub(super) layers: Vec<LayerIx>,
    /// Their product.
    pub(super) product: Product,
    /// In which ways the caller can then fail in its turn; empty: it answers with a success, and the path ends.
    pub(super) outside: Vec<ClassIx>,
}

/// What happens on a hop, for each class of modes; `None` where the mode cannot occur on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HopTable {
    outcomes: Vec<Option<Outcome>>,
    /// Whether any layer on it retries anything at all.
    pub(super) layered: bool,
    /// Whether no failure of it ever fails the request that its caller works on.
    pub(super) starts: bool,
}

/// What decides on what happens on a hop: hops that are alike in it differ in their layers' names and counts only.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    gateway: bool,
    grpc: bool,
    layers: Vec<(ModeSet, [bool; 4])>,
    answers: Vec<(ModeSet, Answer)>,
}

impl Shape {
    fn new(hop: &Hop, components: &[Component], layers: &[Layer], counts: fn(&Layer) -> bool) -> Self {
        let of = |used: &LayerUse| {
            let layer = layers.get(used.layer.0 as usize)?;
            let has_timeout = layer.per_try.is_some() || layer.overall.is_some();
            Some((used.modes, [counts(layer), layer.copies, layer.kind.is_proxy(), has_timeout]))
        };
        Self {
            gateway: components.get(hop.from.0 as usize).is_some_and(|c| c.kind == ComponentKind::Gateway),
            grpc: hop.grpc,
            layers: hop.layers.iter().filter_map(of).collect(),
            answers: hop.answers.clone(),
        }
    }
}

/// By class of modes: which of a hop's layers repeat it, counted from the outside, and what its caller then sees.
type Pattern = Vec<Option<(Vec<usize>, Vec<ClassIx>)>>;

fn pattern(
    hop: &Hop,
    components: &[Component],
    layers: &[Layer],
    classes: &Classes,
    counts: fn(&Layer) -> bool,
) -> Pattern {
    let outcome = |mode| {
        let (repeating, outside) = failure_counting(hop, components, layers, mode, counts)?;
        let at = |(at, used): (usize, &LayerUse)| repeating.contains(&used.layer).then_some(at);
        let repeating: Vec<usize> = hop.layers.iter().enumerate().filter_map(at).collect();
        // "Any 5xx" is the same list for every hop: no need to look every status up.
        let outside =
            if outside == modes::any_server_error() { classes.server().to_vec() } else { classes.of_set(&outside) };
        Some((repeating, outside))
    };
    classes.iter().map(|(_, mode)| outcome(mode)).collect()
}

impl HopTable {
    /// Works out all hops, on which those layers repeat that `counts` picks. What happens on hops that are alike is
    /// worked out once: large systems have many hops of few kinds.
    pub(super) fn all(
        hops: &[Hop],
        components: &[Component],
        layers: &[Layer],
        classes: &Classes,
        counts: fn(&Layer) -> bool,
    ) -> Vec<Self> {
        let mut known: BTreeMap<Shape, Pattern> = BTreeMap::new();
        let table = |hop: &Hop| {
            let shape = Shape::new(hop, components, layers, counts);
            let pattern = known.entry(shape).or_insert_with(|| pattern(hop, components, layers, classes, counts));
            Self::new(hop, layers, pattern, counts)
        };
        hops.iter().map(table).collect()
    }

    fn new(hop: &Hop, layers: &[Layer], pattern: &Pattern, counts: fn(&Layer) -> bool) -> Self {
        let outcome = |(repeating, outside): &(Vec<usize>, Vec<ClassIx>)| {
            let repeating: Vec<LayerIx> =
                repeating.iter().filter_map(|at| hop.layers.get(*at)).map(|used| used.layer).collect();
            let product = repeating.iter().filter_map(|l| layers.get(l.0 as usize)).map(Product::of);
            let product = product.fold(Product::ONE, Product::times);
            Outcome { layers: repeating, product, outside: outside.clone() }
        };
        let outcomes: Vec<Option<Outcome>> = pattern.iter().map(|o| o.as_ref().map(outcome)).collect();
        let layered = hop.layers.iter().filter_map(|l| layers.get(l.layer.0 as usize)).any(counts);
        let starts = !hop.on_request || outcomes.iter().flatten().all(|o| o.outside.is_empty());
        Self { outcomes, layered, starts }
    }

    /// What happens in one class of modes.
    pub(super) fn outcome(&self, class: ClassIx) -> Option<&Outcome> {
        self.outcomes.get(class).and_then(Option::as_ref)
    }

    /// What happens, class by class.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (ClassIx, &Outcome)> {
        self.outcomes.iter().enumerate().filter_map(|(class, o)| Some((class, o.as_ref()?)))
    }
}

/// Whether a layer can stand in a path.
pub(super) fn multiplies(layer: &Layer) -> bool {
    layer.is_active() && layer.is_on_paths()
}

/// Whether a layer could stand in a path, if it were given more attempts.
pub(super) fn may_multiply(layer: &Layer) -> bool {
    layer.is_on_paths()
}

/// The layers that repeat a hop when its callee fails in `mode`, outermost first, and in which ways its caller can
/// then fail in its turn; `None` where the mode cannot occur on this hop.
pub(super) fn failure_counting(
    hop: &Hop,
    components: &[Component],
    layers: &[Layer],
    mode: Mode,
    counts: fn(&Layer) -> bool,
) -> Option<(Vec<LayerIx>, ModeSet)> {
    if matches!(mode, Mode::Grpc(_)) && !hop.grpc {
        return None;
    }
    let gateway = components.get(hop.from.0 as usize).is_some_and(|c| c.kind == ComponentKind::Gateway);
    let mut seen = as_seen(mode, hop.grpc);
    let mut repeating = Vec::new();
    for used in hop.layers.iter().rev() {
        let Some(layer) = layers.get(used.layer.0 as usize) else { continue };
        if counts(layer) && (layer.copies || !used.modes.intersection(seen).is_empty()) {
            repeating.push(used.layer);
        }
        if layer.kind.is_proxy() {
            seen = behind_proxy(layer, seen, hop.grpc);
        }
    }
    repeating.reverse();
    let outside = seen.iter().map(|s| answered(hop, gateway, mode, s)).fold(ModeSet::EMPTY, ModeSet::union);
    Some((repeating, outside))
}

/// As what the innermost layer sees a failure of the callee. A gRPC client translates what is not gRPC.
fn as_seen(mode: Mode, grpc: bool) -> ModeSet {
    let translated = match mode {
        Mode::Status(status) if grpc => Some(modes::grpc_of_plain_http(status)),
        _ => None,
    };
    [mode].into_iter().chain(translated).collect()
}

/// What a proxy makes of a failure for whoever sits in front of it: 503 of a refused connection, 504 of a timeout
/// that is its own.
fn behind_proxy(layer: &Layer, seen: ModeSet, grpc: bool) -> ModeSet {
    let has_timeout = layer.per_try.is_some() || layer.overall.is_some();
    seen.iter()
        .map(|mode| match mode {
            Mode::Refused => as_seen(Mode::Status(503), grpc),
            Mode::Timeout if has_timeout && grpc => as_seen(Mode::Status(504), grpc).union(one(Mode::Grpc(4))),
            Mode::Timeout if has_timeout => one(Mode::Status(504)),
            other => one(other),
        })
        .fold(ModeSet::EMPTY, ModeSet::union)
}

/// In which ways the caller fails in its turn, when this hop has failed for good. `mode` is the callee's failure,
/// `seen` what it looks like behind the layers of the hop.
fn answered(hop: &Hop, gateway: bool, mode: Mode, seen: Mode) -> ModeSet {
    if let Some((_, answer)) = hop.answers.iter().find(|(modes, _)| modes.contains(seen)) {
        return match answer {
            Answer::Status(status @ 400..=599) => one(Mode::Status(*status)),
            Answer::Success | Answer::Status(_) => ModeSet::EMPTY,
        };
    }
    match (mode, seen) {
        (_, Mode::Timeout) => one(Mode::Timeout),
        // The tries of the hop may outlast whoever waits outside, or end before.
        (Mode::Timeout, Mode::Status(_)) if gateway => one(seen).union(one(Mode::Timeout)),
        (Mode::Timeout, Mode::Status(_) | Mode::Grpc(_)) => modes::any_server_error().union(one(Mode::Timeout)),
        // A gateway passes the status of its upstream on as it is.
        (Mode::Status(_), Mode::Status(_)) if gateway => one(seen),
        (_, Mode::Refused | Mode::Status(500..)) => modes::any_server_error(),
        (_, Mode::Status(status)) => modes::grpc_of_client_error(status).chain([seen]).collect(),
        (_, Mode::Grpc(2 | 4 | 12 | 13 | 14 | 15)) => modes::any_server_error(),
        (_, Mode::Grpc(code)) => [seen, Mode::Status(modes::http_of_grpc(code))].into_iter().collect(),
    }
}

fn one(mode: Mode) -> ModeSet {
    [mode].into_iter().collect()
}
