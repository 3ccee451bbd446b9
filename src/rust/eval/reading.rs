//! The result: layers with their places and words, and the calls that they are around.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::episode::{Counted, Repeater};
use super::instances::Instances;
use super::layers::{self, Key, Retry};
use super::machine::Shared;
use super::reply::Reply;
use super::statics::Statics;
use super::value::ClientLayer;
use super::wait::duration;
use super::watch::{self, Watched};
use crate::facts::SettingsFact;
use crate::model::{
    Advice, Answer, Attempts, Conditions, Confidence, Layer, LayerKind, Methods, Mode, ModeSet, Pick, Scope, Setting,
    Unresolved,
};
use crate::rust::index::{FnIx, Index, Resolved};
use crate::rust::ir::{Expr, ExprKind, Lit, Pat, PatKind};
use crate::rust::reading::{CodeCall, CodeLayerUse, CodeReading, Root, Target};
use crate::rust::walk;
use crate::source::Span;

/// Steps for all calls of one root.
const STEPS_OF_ROOT: u64 = 8_000_000;

/// Steps for everything.
const STEPS_IN_ALL: u64 = 400_000_000;

/// Calls of one root that are watched.
const CALLS_OF_ROOT: usize = 96;

/// Reads everything that the index holds.
pub(crate) fn read(index: &Index<'_>, settings: &[SettingsFact]) -> CodeReading {
    let shared = Shared {
        index,
        settings,
        statics: Statics::new(index),
        resolved: RefCell::default(),
        types: RefCell::default(),
    };
    let instances = Instances::new();
    let mut reader = Reader { shared: &shared, instances: &instances, out: Draft::default(), left: STEPS_IN_ALL };
    for root in roots(index) {
        reader.root(root);
    }
    let rest: Vec<FnIx> = index.functions().filter(|f| !reader.out.reached.contains(f)).collect();
    for root in rest {
        // Only called by others like it, or by a name that several have.
        if !reader.out.reached.contains(&root) {
            reader.root(root);
        }
    }
    reader.clients_without_calls();
    reader.out.finish(index)
}

/// The functions that nothing in the repository calls, as far as names tell.
fn roots(index: &Index<'_>) -> Vec<FnIx> {
    let mut called = BTreeSet::new();
    for ix in index.functions() {
        let info = index.function(ix);
        for expr in walk::expressions(&info.function.body) {
            match &*expr.kind {
                ExprKind::Call { callee, .. } => {
                    if let ExprKind::Path(path) = &*callee.kind
                        && let Resolved::Fn(f) = index.resolve(info.scope, info.of_type, path)
                        && f != ix
                    {
                        called.insert(f);
                    }
                }
                ExprKind::Method { name, .. } => {
                    called.extend(index.named(name).iter().copied().filter(|f| *f != ix && takes_self(index, *f)));
                }
                _ => {}
            }
        }
    }
    index.functions().filter(|f| !called.contains(f)).collect()
}

fn takes_self(index: &Index<'_>, ix: FnIx) -> bool {
    let first = index.function(ix).function.params.first();
    first.is_some_and(|p| matches!(&p.pat.kind, PatKind::Bind { name, .. } if &**name == "self"))
}

struct Reader<'c, 'a> {
    shared: &'c Shared<'a>,
    instances: &'c Instances<'a>,
    out: Draft<'a>,
    left: u64,
}

#[derive(Default)]
struct Draft<'a> {
    layers: BTreeMap<Key, Vec<Retry<'a>>>,
    calls: Vec<(CodeCall, Vec<(Key, ModeSet)>)>,
    unresolved: Vec<Unresolved>,
    reached: BTreeSet<FnIx>,
    clients: BTreeMap<Key, ClientLayer<'a>>,
}

impl<'a> Reader<'_, 'a> {
    fn root(&mut self, root: FnIx) {
        self.out.reached.insert(root);
        let info = self.shared.index.function(root);
        if self.left == 0 {
            return;
        }
        let discovery = watch::discover(self.shared, self.instances, root);
        self.left = self.left.saturating_sub(discovery.steps);
        self.out.reached.extend(discovery.reached);
        for layer in discovery.layers {
            let described = layer.described();
            self.out.clients.entry((described.opens, described.via)).or_insert(layer);
        }
        let mut steps = STEPS_OF_ROOT.min(self.left);
        let before = steps;
        let mut cut = discovery.cut;
        let worth: Vec<_> = discovery.found.into_iter().filter(|f| f.goal.http || f.looped).collect();
        cut |= worth.len() > CALLS_OF_ROOT;
        for found in worth.iter().take(CALLS_OF_ROOT) {
            let watched = watch::watch(self.shared, self.instances, root, found, &mut steps);
            cut |= watched.cut;
            self.call(root, &watched);
        }
        self.left = self.left.saturating_sub(before - steps);
        if cut {
            self.out.unresolved.push(Unresolved {
                span: info.function.name_span,
                what: format!("some of the calls that `{}` leads to", info.name),
                reason: "there is more code behind it than is followed".to_owned(),
            });
        }
    }

    /// Layers of clients through which no call was seen to go: they are in the inventory all the same.
    fn clients_without_calls(&mut self) {
        let clients = std::mem::take(&mut self.out.clients);
        for (key, client) in clients {
            if self.out.layers.contains_key(&key) {
                continue;
            }
            let mut steps = STEPS_OF_ROOT.min(self.left);
            let watched = watch::watch_layer(self.shared, self.instances, &client, &mut steps);
            let mut retries = layers::retries(&watched);
            if retries.is_empty() {
                retries.push(layers::switched_off(client.described()));
            }
            self.out.layers.entry(key).or_default().extend(retries);
        }
    }

    fn call(&mut self, root: FnIx, watched: &Watched<'a>) {
        let retries = layers::retries(watched);
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
            grpc: false,
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

impl Draft<'_> {
    fn finish(self, index: &Index<'_>) -> CodeReading {
        let mut reading = CodeReading { unresolved: self.unresolved, ..CodeReading::default() };
        let mut places: BTreeMap<Key, usize> = BTreeMap::new();
        let mut ordinals: BTreeMap<String, usize> = BTreeMap::new();
        for (key, retries) in &self.layers {
            let layer = layer(index, *key, retries, &mut ordinals);
            if let Setting::Unknown { why, span } = &layer.attempts {
                reading.unresolved.push(Unresolved {
                    span: span.unwrap_or(layer.place),
                    what: format!("attempts of the {}", layer.name),
                    reason: why.clone(),
                });
            }
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
        reading.unresolved.sort();
        reading.unresolved.dedup();
        reading
    }
}

/// The innermost function whose text holds a place.
fn function_at(index: &Index<'_>, span: Span) -> Option<FnIx> {
    index
        .functions()
        .filter(|f| index.function(*f).function.span.contains(span))
        .min_by_key(|f| index.function(*f).function.span.range().len())
}

fn layer(index: &Index<'_>, key: Key, retries: &[Retry<'_>], ordinals: &mut BTreeMap<String, usize>) -> Layer {
    let (span, via) = key;
    let best = retries.iter().max_by_key(|r| (rank(&r.counted), r.yes.union(r.unknown).iter().count()));
    // An entry of the map holds at least the retry that made it.
    let Some(best) = best else { return empty(span) };
    let holder = via.unwrap_or(span);
    let function = function_at(index, holder);
    let (name, path) = match function {
        Some(f) => (index.function(f).name.clone(), index.function(f).path.clone()),
        None => ("a constant".to_owned(), "constant".to_owned()),
    };
    let yes = retries.iter().fold(ModeSet::EMPTY, |all, r| all.union(r.yes));
    let unknown = retries.iter().fold(ModeSet::EMPTY, |all, r| all.union(r.unknown)).difference(yes);
    let place = match &best.repeater {
        Repeater::Library(d) => d.place,
        _ => via.unwrap_or(span),
    };
    let attempts = match &best.repeater {
        Repeater::Library(d) => library_attempts(d, &best.counted),
        _ => attempts(&best.counted, place),
    };
    let (picks, any_error) = conditions(retries, yes, &best.repeater);
    let retry_after = retries.iter().find_map(|r| r.retry_after);
    let mut layer = empty(span);
    layer.place = place;
    layer.opens = span;
    layer.attempts = attempts;
    layer.retries = Conditions { yes, unknown, picks, any_error };
    layer.retry_after = match retry_after {
        Some(span) => Setting::written(true, span),
        None => Setting::default(false, "the code"),
    };
    layer.methods = methods(retries);
    let kind = match &best.repeater {
        Repeater::Library(d) => {
            layer.system = d.system;
            layer.kind = d.kind;
            layer.opens = d.opens;
            layer.name = format!("{} in `{name}`", d.name);
            layer.reading = d.reading.clone();
            layer.wait = d.wait.clone();
            layer.wait_place = d.wait_place;
            layer.jitter = d.jitter.clone();
            layer.labels.extend(d.labels.iter().cloned());
            layer.advice = d.advice.clone();
            d.system
        }
        hand_written => {
            let word = word(hand_written);
            layer.name = format!("{word} in `{name}`");
            layer.reading = match hand_written {
                Repeater::Loop { .. } => format!("`{}`, a {word} in `{name}`", head(index, span, hand_written)),
                _ => format!("{word} in `{name}`"),
            };
            if via.is_some() {
                let inner = function_at(index, span).map(|f| index.function(f).name.clone()).unwrap_or_default();
                layer.reading = format!("the count handed to `{inner}`, which repeats in a {word}");
                layer.labels.push((span, format!("`{}` runs here", head(index, span, hand_written))));
            }
            layer.wait = best.fit.wait.clone();
            layer.wait_place = best.fit.place;
            layer.jitter = best.fit.jitter.clone();
            let name_of = |ix| index.constant(ix).constant.name.to_string();
            layer.labels.extend(layers::bound_label(best.bound, name_of));
            layer.advice = advice(hand_written);
            match hand_written {
                Repeater::Loop { .. } => "loop",
                Repeater::Recursion { .. } => "recursion",
                _ => "call",
            }
        }
    };
    layer.confidence = if best.unsure { Confidence::Low } else { Confidence::High };
    let stem = match &best.repeater {
        Repeater::Library(_) => format!("rust:{path}:{kind}"),
        _ => format!("rust:{path}:{kind}"),
    };
    let ordinal = ordinals.entry(stem.clone()).or_insert(0);
    layer.id = Arc::from(format!("{stem}:{ordinal}"));
    *ordinal += 1;
    layer
}

fn empty(span: Span) -> Layer {
    Layer {
        id: Arc::from(""),
        system: "rust",
        kind: LayerKind::Code,
        name: String::new(),
        reading: String::new(),
        place: span,
        opens: span,
        component: None,
        scope: Scope::Code,
        attempts: Setting::unknown("is not known", Some(span)),
        asked_for: true,
        wait: crate::model::Wait::None,
        wait_place: None,
        jitter: Setting::default(crate::model::Jitter::None, "the code"),
        retries: Conditions::default(),
        retry_after: Setting::default(false, "the code"),
        methods: Methods::Any,
        per_try: None,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        stream: false,
        confidence: Confidence::High,
    }
}

fn rank(counted: &Counted) -> (u8, u64) {
    match counted {
        Counted::Times(n) | Counted::Within { about: n, .. } => (0, *n),
        Counted::Unknown { .. } => (1, 0),
        Counted::Unbounded => (2, 0),
    }
}

fn attempts(counted: &Counted, place: Span) -> Setting<Attempts> {
    match counted {
        Counted::Times(n) => Setting::written(Attempts::Count(*n), place),
        Counted::Within { limit, about } => {
            Setting::written(Attempts::Within { deadline: duration(*limit), about: *about }, place)
        }
        Counted::Unbounded => Setting::written(Attempts::Unbounded, place),
        Counted::Unknown { why, span } => Setting::unknown(why.clone(), span.or(Some(place))),
    }
}

/// A crate's own count, unless the code around it stops sooner.
fn library_attempts(described: &crate::rust::crates::Described, counted: &Counted) -> Setting<Attempts> {
    match (described.attempts.value(), counted) {
        (Some(Attempts::Count(n)), Counted::Times(seen)) if seen == n => described.attempts.clone(),
        (Some(Attempts::Within { .. }), Counted::Within { .. }) | (Some(Attempts::Unbounded), Counted::Unbounded) => {
            described.attempts.clone()
        }
        (None, _) => described.attempts.clone(),
        _ => attempts(counted, described.place),
    }
}

fn conditions(retries: &[Retry<'_>], yes: ModeSet, repeater: &Repeater) -> (Vec<Pick>, Option<Span>) {
    let mut by_span: BTreeMap<Span, ModeSet> = BTreeMap::new();
    let mut unplaced = ModeSet::EMPTY;
    for (modes, pick) in retries.iter().flat_map(|r| r.picks.iter().map(move |(m, p)| (m.intersection(r.yes), p))) {
        match pick {
            Some(pick) => {
                let all = by_span.entry(pick.span).or_default();
                *all = all.union(modes);
            }
            None => unplaced = unplaced.union(modes),
        }
    }
    let mut picks: Vec<Pick> = by_span
        .into_iter()
        .filter(|(_, modes)| !modes.is_empty())
        .map(|(span, modes)| Pick { modes, span, text: "this test".to_owned() })
        .collect();
    if !unplaced.is_empty() {
        let (span, text) = match repeater {
            Repeater::Library(d) => (d.opens, d.picks.to_owned()),
            other => (other.span(), "every failure".to_owned()),
        };
        picks.push(Pick { modes: unplaced, span, text });
    }
    let every: ModeSet = Mode::http().collect();
    let takes_all = every.difference(yes).is_empty();
    let any_error = match repeater {
        _ if !takes_all => None,
        Repeater::Library(d) if d.undiscriminating => Some(d.opens),
        other => Some(picks.iter().find(|p| p.modes.contains(Mode::Status(400))).map_or(other.span(), |p| p.span)),
    };
    (picks, any_error)
}

fn methods(retries: &[Retry<'_>]) -> Methods {
    let all: BTreeSet<&str> = retries.iter().filter_map(|r| r.method.as_deref()).collect();
    if all.is_empty() { Methods::Unknown } else { Methods::Only(all.into_iter().map(str::to_owned).collect()) }
}

fn word(repeater: &Repeater) -> &'static str {
    match repeater {
        Repeater::Loop { .. } => "hand-written loop",
        Repeater::Recursion { .. } => "recursion",
        Repeater::Sequence { .. } => "second call after a failure",
        Repeater::Library(_) => "retry",
    }
}

fn advice(repeater: &Repeater) -> Advice {
    let phrase = |s: &str| Some(s.to_owned());
    Advice {
        fewer: match repeater {
            Repeater::Sequence { .. } => phrase("drop the second call"),
            _ => phrase("lower the bound of the loop, or call once"),
        },
        limit: phrase("count the tries and give up after a few"),
        wait: phrase("sleep between the tries"),
        grow: phrase("double the wait after each try, up to a cap"),
        cap: phrase("cap the wait with `.min(..)`"),
        jitter: phrase("multiply the wait by a random factor before the sleep"),
        statuses: phrase("return such failures instead of trying again"),
        retry_after: phrase("read its `retry-after` header before the sleep"),
    }
}

/// The head of a loop as it is written, as far as it is short: `for attempt in 1..=4`.
fn head(index: &Index<'_>, span: Span, repeater: &Repeater) -> String {
    let Repeater::Loop { word, .. } = repeater else { return "call".to_owned() };
    let body = function_at(index, span).map(|f| &index.function(f).function.body);
    let found = body.into_iter().flat_map(walk::expressions).find(|e| e.span.start == span.start && is_loop(e));
    match found.map(|e| &*e.kind) {
        Some(ExprKind::For { pat, iter, .. }) => format!("for {} in {}", pat_text(pat), text(iter, 4)),
        Some(ExprKind::While { cond, .. }) => format!("while {}", text(cond, 4)),
        _ => (*word).to_owned(),
    }
}

fn is_loop(expr: &Expr) -> bool {
    matches!(&*expr.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. })
}

fn pat_text(pat: &Pat) -> String {
    match &pat.kind {
        PatKind::Bind { name, .. } => name.to_string(),
        PatKind::Wild => "_".to_owned(),
        _ => "..".to_owned(),
    }
}

/// A short expression as it would be written.
fn text(expr: &Expr, depth: u8) -> String {
    if depth == 0 {
        return "..".to_owned();
    }
    let inner = |e: &Expr| text(e, depth - 1);
    match &*expr.kind {
        ExprKind::Lit(Lit::Int(n)) => n.to_string(),
        ExprKind::Lit(Lit::Bool(b)) => b.to_string(),
        ExprKind::Path(path) => path.segments.iter().map(|s| &**s).collect::<Vec<_>>().join("::"),
        ExprKind::Field { base, name } => format!("{}.{name}", inner(base)),
        ExprKind::Range { start, end, inclusive } => {
            let dots = if *inclusive { "..=" } else { ".." };
            let side = |e: &Option<Expr>| e.as_ref().map(inner).unwrap_or_default();
            format!("{}{dots}{}", side(start), side(end))
        }
        ExprKind::Method { receiver, name, args, .. } => {
            let receiver_text = inner(receiver);
            let receiver_text = match &*receiver.kind {
                ExprKind::Range { .. } => format!("({receiver_text})"),
                _ => receiver_text,
            };
            let args = args.iter().map(inner).collect::<Vec<_>>().join(", ");
            format!("{receiver_text}.{name}({args})")
        }
        ExprKind::Binary { op, left, right } => format!("{} {} {}", inner(left), op_text(*op), inner(right)),
        _ => "..".to_owned(),
    }
}

fn op_text(op: crate::rust::ir::BinOp) -> &'static str {
    use crate::rust::ir::BinOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Sub};
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        Eq => "==",
        Ne => "!=",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        And => "&&",
        Or => "||",
        _ => "..",
    }
}
