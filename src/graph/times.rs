//! How long things take at worst: a path, and what stands behind a limit.

use std::collections::BTreeMap;
use std::time::Duration;

use super::cycles::Order;
use super::products::multiplies;
use crate::model::{
    Attempts, Hop, HopIx, Layer, LayerIx, LayerKind, LayerUse, LimitKind, Model, Overrun, Path, Setting, WorstTime,
};
use crate::rust::reading::CutShort;

/// How long one request at the entry of a path can take until it has failed for good.
pub(super) fn of_path(path: &Path, hops: &[Hop], layers: &[Layer]) -> WorstTime {
    let hops = path.hops.iter().filter_map(|ix| hops.get(ix.0 as usize));
    hops.rev().fold(WorstTime::UNKNOWN, |inside, hop| {
        let around = around_limit(hop, layers);
        let limit = |depth, time: WorstTime| if depth == around { time.limited(hop.limit.as_ref()) } else { time };
        let uses = hop.layers.iter().enumerate().rev();
        let all = uses.fold(inside, |inside, (depth, used)| match layers.get(used.layer.0 as usize) {
            Some(layer) => layer.worst_time(limit(depth + 1, inside), path.layers.contains(&used.layer)),
            None => inside,
        });
        limit(0, all)
    })
}

/// How many layers of a hop stand around its limit: a redelivery and a rerun begin the call anew, with all that limits it.
fn around_limit(hop: &Hop, layers: &[Layer]) -> usize {
    let anew = |used: &&LayerUse| {
        let layer = layers.get(used.layer.0 as usize);
        layer.is_some_and(|l| matches!(l.kind, LayerKind::Queue | LayerKind::Job))
    };
    hop.layers.iter().take_while(anew).count()
}

/// What stands behind a component, at worst, as far as it was asked for: tries of a length that somebody wrote.
#[derive(Debug, Clone, Copy, Default)]
struct Behind {
    time: WorstTime,
    /// Whether something in it tries again.
    repeated: bool,
    /// The hop that takes longest.
    hop: Option<usize>,
}

/// The limits that end before what they hold can, each once, with the longest that it holds.
pub(super) fn overruns(model: &Model) -> Vec<Overrun> {
    let hops = &model.hops;
    let order = Order::new(model.components.len(), hops, |hop| hops.get(hop).is_some_and(apart));
    let mut behind = vec![Behind::default(); order.leaving.len()];
    let mut found: BTreeMap<(Option<LayerIx>, LimitKind, Option<usize>), Overrun> = BTreeMap::new();
    let called = called_again(model, &order);
    for &node in order.nodes.iter().rev() {
        let mut worst = Behind::default();
        for &hop_at in order.leaving.get(node).into_iter().flatten() {
            let Some(hop) = hops.get(hop_at) else { continue };
            let inner = order.to.get(hop_at).and_then(|to| behind.get(*to)).copied().unwrap_or_default();
            let again = called.get(node).copied().unwrap_or(false);
            let mut on_hop = OnHop { model, hop_at, hop, again, inside: inner, overruns: Vec::new() };
            on_hop.work_through();
            let all = Behind { hop: Some(hop_at), ..on_hop.inside };
            for (overrun, depth) in on_hop.overruns {
                let key = (overrun.layer, overrun.kind, overrun.layer.is_none().then_some(hop_at));
                if found.get(&key).is_none_or(|known| overrun.time.known > known.time.known) {
                    let inside = inside(model, &order, &behind, hop_at, depth);
                    found.insert(key, Overrun { inside, ..overrun });
                }
            }
            if (all.repeated, all.time.known) > (worst.repeated, worst.time.known) || worst.hop.is_none() {
                worst = all;
            }
        }
        if let Some(slot) = behind.get_mut(node) {
            *slot = worst;
        }
    }
    found.into_values().collect()
}

/// A layer that the limit around it cuts short: what it was meant to do takes longer.
pub(super) fn cut_short(model: &Model, id: &str, cut: &CutShort) -> Option<Overrun> {
    let (ix, layer) = (0..).map(LayerIx).zip(&model.layers).find(|(_, l)| &*l.id == id)?;
    let meant = Layer { attempts: Setting::written(Attempts::Count(cut.attempts), layer.place), ..layer.clone() };
    let time = meant.tries_time(WorstTime::UNKNOWN.asked_for(layer.per_try.as_ref()), true);
    let at = model.hops.iter().position(|h| h.layers.iter().any(|l| l.layer == ix))?;
    let outside = model.hops.get(at)?.layers.iter().take_while(|l| l.layer != ix);
    let tried_again = outside.into_iter().any(|l| is_repeating(model, l));
    time.exceeds(*cut.limit.value()?).then(|| Overrun {
        kind: LimitKind::Overall,
        layer: Some(ix),
        hop: HopIx(u32::try_from(at).unwrap_or(u32::MAX)),
        limit: cut.limit.clone(),
        inside: vec![ix],
        time,
        tried_again,
    })
}

/// Whether nobody in front of a hop waits for it: no request causes it, or it leads through a queue.
fn apart(hop: &Hop) -> bool {
    !hop.on_request || hop.through.is_some()
}

/// Whether something in front of a node tries again what ends there.
fn called_again(model: &Model, order: &Order) -> Vec<bool> {
    let mut again = vec![false; order.leaving.len()];
    for &node in &order.nodes {
        let here = again.get(node).copied().unwrap_or(false);
        for &hop in order.leaving.get(node).into_iter().flatten() {
            let repeats = model.hops.get(hop).is_some_and(|h| h.layers.iter().any(|l| is_repeating(model, l)));
            if let Some(slot) = order.to.get(hop).and_then(|to| again.get_mut(*to)) {
                *slot |= here || repeats;
            }
        }
    }
    again
}

fn is_repeating(model: &Model, used: &LayerUse) -> bool {
    model.layers.get(used.layer.0 as usize).is_some_and(multiplies)
}

/// The layers that repeat behind a limit: those of its hop up to `depth` from the outside, then those of the hops that
/// take longest.
fn inside(model: &Model, order: &Order, behind: &[Behind], hop: usize, depth: usize) -> Vec<LayerIx> {
    let of = |hop: usize, skip: usize| {
        let uses = model.hops.get(hop).into_iter().flat_map(move |h| h.layers.iter().skip(skip));
        uses.filter(|used| is_repeating(model, used)).map(|used| used.layer)
    };
    let mut layers: Vec<LayerIx> = of(hop, depth).collect();
    let mut next = order.to.get(hop).and_then(|to| behind.get(*to));
    while let Some(hop) = next.filter(|b| b.repeated).and_then(|b| b.hop) {
        layers.extend(of(hop, 0));
        next = order.to.get(hop).and_then(|to| behind.get(*to));
    }
    layers
}

/// One hop, from the inside out.
struct OnHop<'m> {
    model: &'m Model,
    hop_at: usize,
    hop: &'m Hop,
    /// Whether something in front of the caller tries again.
    again: bool,
    inside: Behind,
    /// With each overrun how many layers of the hop stand around what it holds.
    overruns: Vec<(Overrun, usize)>,
}

impl OnHop<'_> {
    fn work_through(&mut self) {
        let around = around_limit(self.hop, &self.model.layers);
        for (depth, used) in self.hop.layers.iter().enumerate().rev() {
            if depth + 1 == around {
                self.limit(around);
            }
            let Some(layer) = self.model.layers.get(used.layer.0 as usize) else { continue };
            self.compare(LimitKind::PerTry, layer.per_try.as_ref(), Some(used.layer), depth + 1);
            let counted = multiplies(layer) && is_counted(layer);
            let one = self.inside.time.asked_for(layer.per_try.as_ref());
            self.inside.time = layer.tries_time(one, counted);
            self.inside.repeated |= counted;
            if !matches!(layer.attempts.value(), Some(Attempts::Within { .. } | Attempts::Unbounded)) {
                self.compare(LimitKind::Overall, layer.overall.as_ref(), Some(used.layer), depth);
            }
            self.inside.time = self.inside.time.asked_for(layer.overall.as_ref());
        }
        if around == 0 {
            self.limit(0);
        }
    }

    /// The limit on the call, around which so many layers stand.
    fn limit(&mut self, depth: usize) {
        self.compare(LimitKind::Call, self.hop.limit.as_ref(), None, depth);
        self.inside.time = self.inside.time.asked_for(self.hop.limit.as_ref());
    }

    /// `depth`: how many layers stand around what the limit holds; these may try again when it ends.
    fn compare(&mut self, kind: LimitKind, limit: Option<&Setting<Duration>>, layer: Option<LayerIx>, depth: usize) {
        let Some((limit, value)) = limit.and_then(|l| Some((l, l.value()?))) else { return };
        if !self.inside.repeated || !self.inside.time.exceeds(*value) {
            return;
        }
        let tried_again = self.again || self.hop.layers.iter().take(depth).any(|used| is_repeating(self.model, used));
        let hop = HopIx(u32::try_from(self.hop_at).unwrap_or(u32::MAX));
        let time = self.inside.time;
        let overrun = Overrun { kind, layer, hop, limit: limit.clone(), inside: Vec::new(), time, tried_again };
        self.overruns.push((overrun, depth));
    }
}

/// Whether the tries of a layer are many and long because somebody wrote so. What is tried until a limit comes is cut
/// by it as it should be.
fn is_counted(layer: &Layer) -> bool {
    let count = matches!(layer.attempts.value(), Some(Attempts::Count(_) | Attempts::Within { .. }));
    let written = !layer.attempts.is_default() || layer.per_try.as_ref().is_some_and(|limit| !limit.is_default());
    count && written
}
