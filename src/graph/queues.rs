//! Queues: whose dead letters come where, which alarm watches what, and who takes the messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use super::draft::Draft;
use super::hops::Ends;
use super::hosts::Part;
use super::names::lies_in;
use super::owners::Owners;
use crate::facts::{ConsumerFact, PackageFact};
use crate::model::{
    Alarm, AlarmIx, Answer, Attempts, ComponentIx, ComponentKind, ComponentName, Confidence, DeadLetter, Hop, LayerIx,
    ModeSet, OF_METRIC, Queue, QueueIx, QueueName, QueueRef, Reason, Scope, Store, Watch, Which, names_dead_letters,
};
use crate::rust::{ir, walk};
use crate::source::Span;
use crate::systems;

/// The queues by what they are called.
#[derive(Debug, Default)]
struct Names {
    of: BTreeMap<(&'static str, QueueRef), Vec<QueueIx>>,
}

impl Names {
    fn new(queues: &[Queue]) -> Self {
        let mut of: BTreeMap<_, Vec<QueueIx>> = BTreeMap::new();
        for (ix, queue) in (0..).map(QueueIx).zip(queues) {
            for name in &queue.names {
                of.entry((queue.service, name.clone())).or_default().push(ix);
            }
        }
        Self { of }
    }

    fn find(&self, service: &'static str, name: &QueueRef) -> &[QueueIx] {
        self.of.get(&(service, name.clone())).map_or(&[], Vec::as_slice)
    }
}

/// Says of each queue whose dead letters it holds and which alarms watch it; adds queues that only alarms name.
pub(super) fn join(queues: &mut Vec<Queue>, alarms: &[Alarm]) {
    let named = named_by_alarms(queues, alarms);
    queues.extend(named);
    let names = Names::new(queues);
    let mut sources: Vec<BTreeSet<QueueIx>> = vec![BTreeSet::new(); queues.len()];
    for (ix, queue) in (0..).map(QueueIx).zip(queues.iter()) {
        let DeadLetter::To { target, .. } = &queue.dead_letter else { continue };
        // What subscriptions and consumers give up lands in a queue of whatever service has that name.
        let own = names.find(queue.service, target);
        let found: Vec<QueueIx> = if own.is_empty() { anywhere(&names, target) } else { own.to_vec() };
        for at in found.into_iter().filter(|at| *at != ix) {
            if let Some(set) = sources.get_mut(at.0 as usize) {
                set.insert(ix);
            }
        }
    }
    let mut watching: Vec<BTreeSet<AlarmIx>> = vec![BTreeSet::new(); queues.len()];
    for (alarm, a) in (0..).map(AlarmIx).zip(alarms) {
        for watch in &a.watches {
            for at in watched(watch, queues, &names) {
                if let Some(set) = watching.get_mut(at.0 as usize) {
                    set.insert(alarm);
                }
            }
        }
    }
    for ((queue, sources), watching) in queues.iter_mut().zip(sources).zip(watching) {
        queue.dead_letters_of = sources.into_iter().collect();
        queue.alarms = watching.into_iter().collect();
    }
}

/// Queues of dead letters that alarms name, and nothing else in the repository does.
fn named_by_alarms(queues: &[Queue], alarms: &[Alarm]) -> Vec<Queue> {
    let names = Names::new(queues);
    let mut found: BTreeMap<(&'static str, String), Queue> = BTreeMap::new();
    for alarm in alarms {
        for watch in &alarm.watches {
            let Some(name) = only_name(&watch.which).filter(|n| names_dead_letters(n) || watch.service == OF_METRIC)
            else {
                continue;
            };
            let reference = QueueRef::Name(name.clone());
            if names.find(watch.service, &reference).is_empty() {
                found.entry((watch.service, name)).or_insert_with(|| of_alarm(alarm, watch.service, reference));
            }
        }
    }
    found.into_values().collect()
}

/// The one name that a watch asks for.
fn only_name(which: &Which) -> Option<String> {
    match which {
        Which::One(QueueRef::Name(name)) => Some(name.clone()),
        Which::Matching(tests) => {
            let [test] = tests.as_slice() else { return None };
            let name = test.pattern.replace('\\', "");
            (test.matches && regex::escape(&name) == test.pattern).then_some(name)
        }
        Which::One(QueueRef::Object { .. }) | Which::All | Which::Unknown => None,
    }
}

fn of_alarm(alarm: &Alarm, service: &'static str, name: QueueRef) -> Queue {
    let (QueueRef::Name(text) | QueueRef::Object { id: text, .. }) = &name;
    Queue {
        id: format!("alarm:{service}:{text}").into(),
        service,
        name: if service == OF_METRIC { format!("what {text} counts") } else { text.clone() },
        place: alarm.threshold_place,
        otherwise: String::new(),
        dead_letter: DeadLetter::Unknown,
        holds_dead_letters: true,
        minor: false,
        retention: None,
        redelivers: None,
        ages_from_first_send: false,
        advice: None,
        confidence: Confidence::Medium,
        dead_letters_of: Vec::new(),
        alarms: Vec::new(),
        names: vec![name],
    }
}

fn anywhere(names: &Names, target: &QueueRef) -> Vec<QueueIx> {
    names.of.iter().filter(|((_, name), _)| name == target).flat_map(|(_, found)| found).copied().collect()
}

fn watched(watch: &Watch, queues: &[Queue], names: &Names) -> Vec<QueueIx> {
    let all = || (0..).map(QueueIx).zip(queues).filter(|(_, q)| q.service == watch.service);
    match &watch.which {
        Which::One(name) => names.find(watch.service, name).to_vec(),
        Which::All | Which::Unknown => all().map(|(ix, _)| ix).collect(),
        Which::Matching(tests) => {
            let compiled: Option<Vec<(Regex, bool)>> =
                tests.iter().map(|t| Some((Regex::new(&format!("^(?s:{})$", t.pattern)).ok()?, t.matches))).collect();
            // An expression that cannot be read may match anything.
            let Some(compiled) = compiled else { return all().map(|(ix, _)| ix).collect() };
            let passes = |name: &str| compiled.iter().all(|(regex, wanted)| regex.is_match(name) == *wanted);
            let named = |q: &Queue| q.names.iter().any(|n| matches!(n, QueueRef::Name(name) if passes(name)));
            all().filter(|(_, q)| named(q)).map(|(ix, _)| ix).collect()
        }
    }
}

/// The Rust code of the repository, and whose it is.
#[derive(Debug)]
pub(super) struct Code<'a> {
    pub(super) owners: &'a Owners,
    pub(super) packages: &'a [PackageFact],
    pub(super) modules: &'a [ir::Module],
}

/// Puts redeliveries and reruns on the hops of the components that take the messages.
pub(super) fn add_layers(
    draft: &mut Draft<'_>,
    code: &Code<'_>,
    queues: &[Queue],
    consumers_told: &[ConsumerFact],
    limit: u64,
) {
    let names = Names::new(queues);
    let receiving = receiving(code);
    let mut groups: BTreeMap<ComponentIx, BTreeMap<String, Vec<LayerIx>>> = BTreeMap::new();
    for ix in draft.layer_ixs() {
        let Some(Scope::Consumers { queue, components, group }) = draft.layer(ix).map(|l| l.scope.clone()) else {
            continue;
        };
        let mut consumers: BTreeSet<ComponentIx> = BTreeSet::new();
        consumers.extend(components.iter().flat_map(|name| named(draft, name)));
        if let Some(queue) = queue {
            let told = consumers_told.iter().filter(|c| same(&names, &c.queue, &queue));
            consumers.extend(told.flat_map(|c| named(draft, &c.component)));
            consumers.extend(reading(draft, &queue, &names, queues, &receiving));
        }
        for consumer in consumers {
            groups.entry(consumer).or_default().entry(group.clone()).or_default().push(ix);
        }
    }
    for (consumer, groups) in groups {
        let groups: Vec<Vec<LayerIx>> = groups.into_values().collect();
        repeat(draft, consumer, &groups, limit);
    }
    add_messages(draft, &names, queues, consumers_told, &receiving);
}

/// Hops from who sends a message to who takes it. They come last: nobody waits for them, so no layer is on them, and no
/// failure comes back over them.
fn add_messages(
    draft: &mut Draft<'_>,
    names: &Names,
    queues: &[Queue],
    consumers_told: &[ConsumerFact],
    receiving: &BTreeSet<ComponentIx>,
) {
    for queue in queues {
        let references = || queue.names.iter().map(|name| QueueName { service: queue.service, queue: name.clone() });
        let mut consumers: BTreeSet<ComponentIx> = BTreeSet::new();
        for reference in references() {
            let told = consumers_told.iter().filter(|c| same(names, &c.queue, &reference));
            consumers.extend(told.flat_map(|c| named(draft, &c.component)));
            consumers.extend(reading(draft, &reference, names, queues, receiving));
        }
        if consumers.is_empty() {
            continue;
        }
        let called = called(queues.iter().filter(|q| q.id == queue.id).flat_map(|q| &q.names));
        let sends = |(ix, part): (ComponentIx, &Part)| {
            let is_told = part.env.iter().find(|e| names_one(&e.value, &called))?;
            let told = Reason::new(is_told.span, format!("`{}` is set to `{}`", is_told.name, is_told.value));
            (part.declared && !consumers.contains(&ix) && !receiving.contains(&ix)).then_some((ix, told))
        };
        let senders: Vec<(ComponentIx, Reason)> = draft.hosts.iter().filter_map(sends).collect();
        for (from, told) in senders {
            for &to in &consumers {
                let takes = draft.hosts.part(to).map(|p| format!("{} takes the messages of {}", p.name, queue.name));
                let reasons = [told.clone(), Reason::new(queue.place, takes.unwrap_or_default())];
                let hop = draft.hop_because((from, to), Some(queue.place), reasons);
                let answers = vec![(ModeSet::all(), Answer::Success)];
                draft.add_hop(Hop { through: Some(Arc::from(queue.name.as_str())), answers, ..hop });
            }
        }
    }
}

/// The components of a name, where it holds.
pub(super) fn named(draft: &Draft<'_>, name: &ComponentName) -> Vec<ComponentIx> {
    let mut all = draft.hosts.all_named(&name.name);
    let namespace = |ix: &ComponentIx| draft.hosts.part(*ix).and_then(|p| p.namespace.as_ref());
    match &name.namespace {
        Some(wanted) => all.retain(|ix| namespace(ix).is_none_or(|own| own == wanted)),
        // Of several that live in different places none is meant more than another.
        None if all.len() > 1 => all.retain(|ix| namespace(ix).is_none()),
        None => {}
    }
    all
}

/// Whether two references mean one queue.
fn same(names: &Names, a: &QueueName, b: &QueueName) -> bool {
    let found = |q: &QueueName| names.find(q.service, &q.queue).to_vec();
    a == b || (!found(a).is_empty() && found(a).iter().any(|ix| found(b).contains(ix)))
}

/// Repeats whatever a component does of itself or with a message. What a request makes it do is not repeated, so those
/// hops stay as they are, beside the repeated ones.
fn repeat(draft: &mut Draft<'_>, consumer: ComponentIx, groups: &[Vec<LayerIx>], limit: u64) {
    let repeated = |draft: &Draft<'_>, hop: &Hop| hop.place.is_none_or(|place| !draft.taking.contains(&place));
    if !draft.hops.with(Ends::From(consumer)).any(|hop| repeated(draft, hop)) {
        // What is repeated too often by its count is so whatever it is. Until a message expires is another matter:
        // that queue lacks a dead-letter destination.
        let too_often = |ix: &&LayerIx| match draft.layer(**ix).and_then(|l| l.attempts.value()) {
            Some(Attempts::Count(n)) => *n > limit,
            Some(Attempts::Unbounded) => true,
            Some(Attempts::Within { .. }) | None => false,
        };
        let Some(worst) = groups.iter().flatten().find(too_often) else { return };
        let Some((name, opens)) = draft.layer(*worst).map(|l| (l.name.clone(), l.opens)) else { return };
        let reason = "nothing shows what its consumer calls";
        let why = Reason::new(opens, format!("{name} repeats something, and {reason}"));
        let to = draft.unknown_target(&name, opens, reason.to_owned());
        let hop = draft.hop_because((consumer, to), Some(opens), [why]);
        draft.add_hop(Hop { on_request: false, ..hop });
    }
    let of_requests: Vec<Hop> = draft.hops.with(Ends::From(consumer)).filter(|h| h.on_request).cloned().collect();
    let called = draft.hops.any(Ends::To(consumer));
    draft.put_on(groups, Ends::From(consumer), repeated);
    if called {
        draft.hops.change(Ends::From(consumer), |h| h.on_request = false);
        of_requests.into_iter().for_each(|h| draft.add_hop(h));
    }
}

/// The POST or PATCH without a key that the only component which takes messages makes, where no table remembers them.
pub(super) fn sent_on(draft: &Draft<'_>, code: &Code<'_>, stores: &[Store]) -> Option<Span> {
    let consumers = receiving(code);
    let only = consumers.first().filter(|_| consumers.len() == 1 && stores.is_empty())?;
    let posts = draft.hops.with(Ends::From(*only)).flat_map(|hop| &hop.posts);
    posts.filter(|post| post.key.is_missing()).map(|post| post.span).min()
}

/// The components whose code takes messages out of queues.
fn receiving(Code { owners, packages, modules }: &Code<'_>) -> BTreeSet<ComponentIx> {
    let names: Vec<&str> = systems::receives().collect();
    let paths: Vec<&str> = modules.iter().filter(|m| calls(m, &names)).map(|m| &*m.path).collect();
    let folder = |path: &str| {
        let around = packages.iter().enumerate().filter(|(_, p)| lies_in(path, &p.folder));
        around.max_by_key(|(_, p)| p.folder.len()).map(|(at, _)| at)
    };
    let inside: BTreeSet<usize> = paths.into_iter().filter_map(folder).collect();
    inside.into_iter().flat_map(|at| owners.of_package(at)).copied().collect()
}

/// Whether a file calls a method of one of these names.
fn calls(module: &ir::Module, names: &[&str]) -> bool {
    let mut items: Vec<&ir::Item> = module.items.iter().collect();
    while let Some(item) = items.pop() {
        let bodies: Vec<&ir::Expr> = match item {
            ir::Item::Fn(f) => vec![&f.body],
            ir::Item::Impl(i) => i.functions.iter().map(|f| &f.body).collect(),
            ir::Item::Mod { items: inner, .. } => {
                items.extend(inner);
                continue;
            }
            _ => continue,
        };
        let is = |e: &ir::Expr| matches!(&*e.kind, ir::ExprKind::Method { name, .. } if names.contains(&&**name));
        if bodies.iter().any(|body| walk::expressions(body).any(is)) {
            return true;
        }
        items.extend(bodies.into_iter().flat_map(walk::items_inside));
    }
    false
}

/// The components that take messages from a queue, as far as their environment shows: a value is the queue's name or
/// its URL. One that only sends has such a value too, so the code must be seen to receive.
fn reading(
    draft: &Draft<'_>,
    queue: &QueueName,
    names: &Names,
    queues: &[Queue],
    receiving: &BTreeSet<ComponentIx>,
) -> Vec<ComponentIx> {
    let known = names.find(queue.service, &queue.queue).iter().filter_map(|ix| queues.get(ix.0 as usize));
    let called = called(known.flat_map(|q| &q.names).chain([&queue.queue]));
    let reads = |p: &Part| p.kind != ComponentKind::Host && p.env.iter().any(|e| names_one(&e.value, &called));
    draft.hosts.iter().filter(|(ix, p)| receiving.contains(ix) && reads(p)).map(|(ix, _)| ix).collect()
}

/// The plain names among references.
fn called<'q>(names: impl Iterator<Item = &'q QueueRef>) -> BTreeSet<&'q str> {
    names
        .filter_map(|name| match name {
            QueueRef::Name(name) => Some(name.as_str()),
            QueueRef::Object { .. } => None,
        })
        .collect()
}

/// Whether a value is one of these names, or a URL or ARN that ends with one.
fn names_one(value: &str, names: &BTreeSet<&str>) -> bool {
    names.contains(value) || value.rsplit(['/', ':']).next().is_some_and(|last| names.contains(last))
}
