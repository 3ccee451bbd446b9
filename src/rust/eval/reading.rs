//! The reading as a whole: from each function that nothing calls to the calls that leave the program, and the layers
//! around them. Roots are read in a fixed number of groups, so that threads change nothing.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::build;
use super::goal::Found;
use super::instances::Instances;
use super::layers::{self, Key, Retry};
use super::machine::{Common, Shared};
use super::reply::Reply;
use super::statics::Statics;
use super::value::ClientLayer;
use super::watch::{self, Watched};
use super::words::function_at;
use crate::facts::{PackageFact, SettingsFact};
use crate::model::{Answer, Mode, ModeSet, Unresolved};
use crate::rust::index::{FnIx, Index};
use crate::rust::reading::{CodeCall, CodeLayerUse, CodeReading, Root, Target};
use crate::rust::stack;
use crate::source::Span;

/// Groups in which things are read: those of one group one after the other, so that they share what is looked up. So many
/// whatever the number of threads, which therefore changes nothing; and enough of them for the cores that there may be.
const GROUPS: usize = 8;

/// The least that is worth a group.
const LEAST_OF_GROUP: usize = 16;

/// Steps for the calls of one root.
const STEPS_OF_ROOT: u64 = 1_000_000;

/// Steps for one call of a root.
const STEPS_OF_CALL: u64 = 300_000;

/// Steps for all roots together; each has an equal part, but at least [`LEAST_STEPS`].
const STEPS_IN_ALL: u64 = 60_000_000;
const LEAST_STEPS: u64 = 60_000;

/// A call that took so many steps from one root is looked at more briefly from the others.
const COSTLY: u64 = 10_000;

/// Roots from which a call is watched in full until one of them shows that it is made again: from some, what it is
/// given is made in a way that is not followed, and seems to be another each time.
const FIRSTS: usize = 3;

/// Calls of one root that are watched.
const CALLS_OF_ROOT: usize = 96;

/// A root with the calls that were found from it.
struct Start {
    root: FnIx,
    found: Vec<Found>,
    makes_clients: bool,
    reached: BTreeSet<FnIx>,
    cut: bool,
}

/// Reads everything that the index holds.
pub(crate) fn read(index: &Index<'_>, packages: &[PackageFact], settings: &[SettingsFact]) -> CodeReading {
    let common = Common { index, packages, settings, statics: Statics::new(index) };
    let starts = starts(&common);
    let steps = (STEPS_IN_ALL / starts.len().max(1) as u64).clamp(LEAST_STEPS, STEPS_OF_ROOT);
    // Each call that may be repeated is watched in full from the first root that leads to it. Where that took long,
    // the other roots only ask for whom they reach by it, and whether the same layers are around it.
    let mut firsts: BTreeMap<Span, Vec<(FnIx, &Found)>> = BTreeMap::new();
    for start in &starts {
        for found in start.found.iter().filter(|f| f.looped) {
            let roots = firsts.entry(found.goal.span).or_default();
            if roots.len() < FIRSTS {
                roots.push((start.root, found));
            }
        }
    }
    let firsts: Vec<Vec<(FnIx, &Found)>> = firsts.into_values().collect();
    let watched: Vec<(Draft<'_>, BTreeMap<Span, Known<'_>>)> = firsts
        .par_chunks(group_of(firsts.len()))
        .map(|group| stack::on_large_stack(|| Reader::new(&common, steps).firsts(group)).unwrap_or_default())
        .collect();
    let mut all = Draft::default();
    let mut known = BTreeMap::new();
    for (draft, of_group) in watched {
        all.append(draft);
        known.extend(of_group);
    }
    let groups: Vec<Draft<'_>> = starts
        .par_chunks(group_of(starts.len()))
        .map(|group| stack::on_large_stack(|| Reader::new(&common, steps).group(group, &known)).unwrap_or_default())
        .collect();
    for group in groups {
        all.append(group);
    }
    all.finish(index)
}

/// How many of `all` things make a group.
fn group_of(all: usize) -> usize {
    all.div_ceil(GROUPS).max(LEAST_OF_GROUP)
}

/// Where chains of calls start: the functions that nothing calls; then those that only others like them call, or that
/// are called by a name that several have.
fn starts(common: &Common<'_>) -> Vec<Start> {
    let first: Vec<FnIx> = common.statics.roots(common.index);
    let mut starts: Vec<Start> = first
        .par_chunks(group_of(first.len()))
        .flat_map_iter(|group| stack::on_large_stack(|| discover_all(common, group)).unwrap_or_default())
        .collect();
    let mut reached: BTreeSet<FnIx> = starts.iter().flat_map(|s| s.reached.iter().copied().chain([s.root])).collect();
    let rest: Vec<FnIx> = common.index.functions().filter(|f| !reached.contains(f)).collect();
    let shared = Shared::new(common);
    let instances = Instances::new();
    for root in rest {
        if !reached.contains(&root) {
            let start = discover(&shared, &instances, root);
            reached.extend(start.reached.iter().copied().chain([root]));
            starts.push(start);
        }
    }
    starts.retain(|s| !s.found.is_empty() || s.makes_clients || s.cut);
    starts
}

fn discover_all(common: &Common<'_>, group: &[FnIx]) -> Vec<Start> {
    let shared = Shared::new(common);
    let instances = Instances::new();
    group.iter().map(|root| discover(&shared, &instances, *root)).collect()
}

fn discover<'a>(shared: &Shared<'a>, instances: &Instances<'a>, root: FnIx) -> Start {
    let discovery = watch::discover(shared, instances, root);
    let mut found: Vec<Found> = discovery.found.into_iter().filter(|f| f.goal.http || f.looped).collect();
    let cut = discovery.cut || found.len() > CALLS_OF_ROOT;
    found.truncate(CALLS_OF_ROOT);
    Start { root, found, makes_clients: !discovery.layers.is_empty(), reached: discovery.reached, cut }
}

/// What watching a call from the first root that leads to it has shown.
struct Known<'a> {
    root: FnIx,
    retries: Vec<Retry<'a>>,
    /// What made the call again and is no retry all the same: a poll, a queue.
    others: BTreeSet<Span>,
    costly: bool,
    /// Whether the budget ran out, so that a retry may have been missed.
    cut: bool,
}

/// Reads one group of roots.
struct Reader<'a> {
    shared: Shared<'a>,
    instances: Instances<'a>,
    out: Draft<'a>,
    steps: u64,
}

/// What was read.
#[derive(Default)]
struct Draft<'a> {
    layers: BTreeMap<Key, Vec<Retry<'a>>>,
    /// Of clients through which no call was seen to go.
    alone: BTreeMap<Key, Vec<Retry<'a>>>,
    calls: Vec<(CodeCall, Vec<(Key, ModeSet)>)>,
    unresolved: Vec<Unresolved>,
}

impl<'a> Reader<'a> {
    fn new(common: &'a Common<'a>, steps: u64) -> Self {
        Self { shared: Shared::new(common), instances: Instances::new(), out: Draft::default(), steps }
    }

    /// Calls that may be repeated, each from the first root that leads to it.
    fn firsts(mut self, group: &[Vec<(FnIx, &Found)>]) -> (Draft<'a>, BTreeMap<Span, Known<'a>>) {
        let mut known = BTreeMap::new();
        for roots in group {
            let mut seen = false;
            for (root, found) in roots {
                seen |= self.first(*root, found, &mut known);
            }
            let Some((_, found)) = roots.first() else { continue };
            let missed = known.get(&found.goal.span).is_some_and(|k| k.cut && k.retries.is_empty());
            if !seen || missed {
                self.nearby(found.goal.span, &mut known);
            }
        }
        (self.out, known)
    }

    /// Watches a call that may be repeated, unless enough is known of it. Whether it was seen to be made.
    fn first(&mut self, root: FnIx, found: &Found, known: &mut BTreeMap<Span, Known<'a>>) -> bool {
        if known.get(&found.goal.span).is_some_and(|k| !k.retries.is_empty() || found.goal.http) {
            return true;
        }
        let most = if found.goal.http { STEPS_OF_CALL } else { STEPS_OF_CALL / 3 };
        let mut left = most;
        let watched = watch::watch(&self.shared, &self.instances, root, found, &mut left);
        let retries = layers::retries(&watched);
        let costly = most - left > COSTLY;
        let others = layers::repeating(&watched).filter(|s| !retries.iter().any(|r| r.key.0 == *s)).collect();
        let cut = watched.cut || known.get(&found.goal.span).is_some_and(|k| k.cut);
        known.insert(found.goal.span, Known { root, retries: retries.clone(), others, costly, cut });
        self.note(root, &watched, retries);
        if watched.cut {
            self.cut(root);
        }
        watched.target.is_some()
    }

    /// Watches a call from the function in which it stands: from none of the roots that lead to it was it seen to be
    /// made, or made again before the budget ran out, since too much lies between.
    fn nearby(&mut self, span: Span, known: &mut BTreeMap<Span, Known<'a>>) {
        let Some(function) = function_at(self.shared.index, span) else { return };
        let found = watch::discover(&self.shared, &self.instances, function).found;
        let Some(found) = found.iter().find(|f| f.looped && f.goal.span == span) else { return };
        known.remove(&span);
        self.first(function, found, known);
    }

    fn group(mut self, group: &[Start], known: &BTreeMap<Span, Known<'a>>) -> Draft<'a> {
        let mut clients: BTreeMap<Key, ClientLayer<'a>> = BTreeMap::new();
        for start in group {
            if start.makes_clients {
                for layer in watch::discover(&self.shared, &self.instances, start.root).layers {
                    let described = layer.described();
                    clients.entry((described.opens, described.via)).or_insert(layer);
                }
            }
            self.root(start, known);
        }
        for (key, client) in clients {
            self.client_alone(key, &client);
        }
        self.out
    }

    fn root(&mut self, start: &Start, known: &BTreeMap<Span, Known<'a>>) {
        let mut left = self.steps;
        let mut cut = start.cut;
        for found in &start.found {
            let first = known.get(&found.goal.span).filter(|_| found.looped);
            // A call without a URL that nothing repeats says nothing, from whatever root.
            if first.is_some_and(|k| k.root == start.root || !found.goal.http && k.retries.is_empty()) {
                continue;
            }
            let most = STEPS_OF_CALL.min(left);
            let mut steps = most;
            cut |= self.call(start.root, found, first.filter(|k| k.costly), &mut steps);
            left -= most - steps;
        }
        if cut {
            self.cut(start.root);
        }
    }

    /// One line a package: which of its functions the budget did not reach depends on all that there is to follow.
    fn cut(&mut self, root: FnIx) {
        let info = self.shared.index.function(root);
        let package = info.package.and_then(|package| self.shared.packages.get(package));
        let (span, what) = match package {
            Some(package) => (package.span, format!("some of the calls in the package {}", package.name)),
            None => (info.function.name_span, format!("some of the calls that `{}` leads to", info.name)),
        };
        let reason = "there is more code behind them than is followed".to_owned();
        self.out.unresolved.push(Unresolved { span, what, reason });
    }

    /// Watches a call and notes what comes of it. Whether the budget ran out.
    fn call(&mut self, root: FnIx, found: &Found, known: Option<&Known<'a>>, steps: &mut u64) -> bool {
        if let Some(known) = known {
            let brief = watch::watch_briefly(&self.shared, &self.instances, root, found, steps);
            let seen = layers::retries(&brief);
            let same: Option<Vec<Retry<'a>>> = seen
                .iter()
                .filter(|r| !known.others.contains(&r.key.0))
                .map(|r| known.retries.iter().find(|k| k.key == r.key).cloned())
                .collect();
            if let Some(same) = same {
                self.note(root, &brief, same);
                return false;
            }
        }
        let watched = watch::watch(&self.shared, &self.instances, root, found, steps);
        let retries = layers::retries(&watched);
        self.note(root, &watched, retries);
        watched.cut
    }

    /// A layer of a client through which no call was seen to go: it is in the inventory all the same.
    fn client_alone(&mut self, key: Key, client: &ClientLayer<'a>) {
        let mut steps = STEPS_OF_CALL;
        let watched = watch::watch_layer(&self.shared, &self.instances, client, &mut steps);
        let mut retries = layers::retries(&watched);
        if retries.is_empty() {
            retries.push(layers::switched_off(client.described()));
        }
        self.out.alone.entry(key).or_default().extend(retries);
    }

    fn note(&mut self, root: FnIx, watched: &Watched<'a>, retries: Vec<Retry<'a>>) {
        let Some(target) = &watched.target else { return };
        if retries.is_empty() && matches!(target.target, Target::Unknown { .. }) {
            return;
        }
        let info = self.shared.index.function(root);
        let is_main = info.of_type.is_none() && &*info.function.name == "main" && info.function.params.is_empty();
        let call = CodeCall {
            package: info.package,
            root: Root { name: info.name.clone(), span: info.function.name_span, is_main },
            target: target.target.clone(),
            method: target.method.clone(),
            key: target.key,
            layers: Vec::new(),
            answers: if is_main { Vec::new() } else { answers(watched) },
            span: watched.goal.span,
            grpc: watched.goal.grpc,
            takes_messages: target.takes_messages,
            limit: target.limit.filter(|_| retries.is_empty()).map(build::limit),
            per_item: layers::per_item(watched),
        };
        let uses = retries.iter().map(|r| (r.key, r.yes.union(r.unknown))).collect();
        self.out.calls.push((call, uses));
        for retry in retries {
            self.out.layers.entry(retry.key).or_default().push(retry);
        }
    }
}

/// What the root answers in each mode in which all runs agree.
fn answers(watched: &Watched<'_>) -> Vec<(ModeSet, Answer)> {
    let mut out: Vec<(ModeSet, Answer)> = Vec::new();
    for mode in Mode::http() {
        let mut here = watched.failing.iter().filter(|f| f.modes.contains(mode)).map(|f| f.reply);
        let Some(Some(Reply::Known(first))) = here.next() else { continue };
        if !here.all(|r| r == Some(Reply::Known(first))) {
            continue;
        }
        match out.iter_mut().find(|(_, a)| *a == first) {
            Some((modes, _)) => modes.insert(mode),
            None => out.push(([mode].into_iter().collect(), first)),
        }
    }
    out
}

impl<'a> Draft<'a> {
    fn append(&mut self, other: Draft<'a>) {
        for (key, retries) in other.layers {
            self.layers.entry(key).or_default().extend(retries);
        }
        for (key, retries) in other.alone {
            self.alone.entry(key).or_insert(retries);
        }
        self.calls.extend(other.calls);
        self.unresolved.extend(other.unresolved);
    }

    fn finish(mut self, index: &Index<'_>) -> CodeReading {
        for (key, retries) in std::mem::take(&mut self.alone) {
            self.layers.entry(key).or_insert(retries);
        }
        let mut reading = CodeReading { unresolved: self.unresolved, ..CodeReading::default() };
        let mut places: BTreeMap<Key, usize> = BTreeMap::new();
        let mut ordinals: BTreeMap<String, usize> = BTreeMap::new();
        for (key, retries) in &self.layers {
            let layer = build::layer(index, *key, retries, &mut ordinals);
            reading.cut_short.extend(build::cut_short(reading.layers.len(), &layer, retries));
            places.insert(*key, reading.layers.len());
            reading.layers.push(layer);
        }
        for (mut call, uses) in self.calls {
            call.layers = uses
                .iter()
                .filter_map(|(key, modes)| Some(CodeLayerUse { layer: *places.get(key)?, modes: *modes }))
                .collect();
            reading.calls.push(call);
        }
        reading.calls.sort_by_key(|c| (c.root.span, c.span));
        reading.unresolved.sort();
        reading.unresolved.dedup();
        reading
    }
}
