//! Layers as the rest of the program knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::episode::{Counted, Repeater};
use super::layers::{self, Key, Retry};
use super::value::Limit;
use super::wait::duration;
use super::words::{advice, function_at, head, word};
use crate::model::{
    Advice, Attempts, Conditions, Confidence, Layer, LayerKind, Methods, Mode, ModeSet, Pick, Purpose, Scope, Setting,
};
use crate::rust::index::Index;
use crate::rust::reading::CutShort;
use crate::source::Span;

/// The layer of all retries that were seen under one key.
pub(crate) fn layer(
    index: &Index<'_>,
    key: Key,
    retries: &[Retry<'_>],
    ordinals: &mut BTreeMap<String, usize>,
) -> Layer {
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
        Repeater::Library(d) if !d.by_running => library_attempts(d, &best.counted),
        _ => attempts(&best.counted, place),
    };
    let (picks, any_error) = conditions(retries, yes, &best.repeater);
    // Of a call that nothing shows to be a request it is not said that statuses are among its errors.
    let (yes, unknown) = if retries.iter().any(|r| r.http) {
        (yes, unknown)
    } else {
        let faults = yes.intersection([Mode::Refused, Mode::Timeout].into_iter().collect());
        (faults, unknown.union(yes.difference(faults)))
    };
    let retry_after = retries.iter().find_map(|r| r.retry_after);
    let mut layer = empty(span);
    layer.place = place;
    layer.opens = span;
    layer.attempts = attempts;
    layer.retries = Conditions { yes, unknown, picks, any_error, lost_answers: false };
    layer.retry_after = match retry_after {
        Some(span) => Setting::written(true, span),
        None => Setting::default(false, "the code"),
    };
    layer.methods = methods(retries);
    layer.per_try = retries.iter().find_map(|r| r.per_try).map(limit);
    // Where a deadline around it is what ends it, it is told already.
    let ended_by_it = matches!(layer.attempts.value(), Some(Attempts::Within { .. }));
    layer.overall = retries.iter().find_map(|r| r.overall).map(limit).filter(|_| !ended_by_it);
    let kind = match &best.repeater {
        Repeater::Library(d) => {
            layer.system = d.system;
            layer.kind = d.kind;
            layer.opens = d.opens;
            layer.name = match function {
                Some(_) => format!("{} in `{name}`", d.name),
                None => d.name.to_owned(),
            };
            layer.reading = d.reading.clone();
            layer.wait = d.wait.clone();
            layer.wait_place = d.wait_place;
            layer.jitter = d.jitter.clone();
            layer.labels.extend(d.labels.iter().cloned());
            if d.by_running {
                layer.wait = best.fit.wait.clone();
                layer.wait_place = best.fit.place;
                layer.jitter = best.fit.jitter.clone();
                let name_of = |ix| index.constant(ix).constant.name.to_string();
                layer.labels.extend(layers::bound_label(best.bound, name_of));
            }
            layer.advice = d.advice.clone();
            layer.asked_for = d.asked_for;
            let (per_try, overall) = (layer.per_try.take(), layer.overall.take());
            // reqwest's own retry goes on inside of one timeout; around any other a request's timeout is that of a try.
            let (per_try, overall) =
                if d.system == "reqwest" { (None, per_try.or(overall)) } else { (per_try, overall) };
            layer.per_try = d.per_try.clone().or(per_try);
            layer.overall = d.overall.clone().or(overall);
            layer.budget = d.budget.clone();
            layer.purpose = d.purpose;
            if let (Some(own), None) = (&d.retry_after, retry_after) {
                layer.retry_after = own.clone();
            }
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
    if retries.iter().all(|r| r.upkeep) {
        layer.purpose = Purpose::Upkeep;
    }
    layer.confidence = match &best.repeater {
        _ if best.unsure => Confidence::Low,
        Repeater::Library(d) => d.confidence,
        _ => Confidence::High,
    };
    let stem = match &best.repeater {
        Repeater::Library(_) => format!("rust:{path}:{kind}"),
        _ => format!("rust:{path}:{kind}"),
    };
    let ordinal = ordinals.entry(stem.clone()).or_insert(0);
    layer.id = Arc::from(format!("{stem}:{ordinal}"));
    *ordinal += 1;
    layer
}

/// A limit in time as a setting.
pub(crate) fn limit((seconds, span): Limit) -> Setting<Duration> {
    Setting::written(duration(seconds), span)
}

/// What a layer was meant to do, where a limit around it ends it before.
pub(crate) fn cut_short(number: usize, layer: &Layer, retries: &[Retry<'_>]) -> Option<CutShort> {
    let attempts = retries.iter().filter_map(|r| r.cut_from).max()?;
    let within = matches!(layer.attempts.value(), Some(Attempts::Within { .. }));
    let overall = retries.iter().find_map(|r| r.overall).filter(|_| within)?;
    Some(CutShort { layer: number, attempts, limit: limit(overall) })
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
        elsewhere: false,
        purpose: Purpose::Request,
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
    let grpc: ModeSet = Mode::grpc().collect();
    let is_grpc = !yes.intersection(grpc).is_empty();
    let every = if is_grpc { grpc } else { Mode::http().collect() };
    let takes_all = every.difference(yes).is_empty();
    let any_error = match repeater {
        _ if !takes_all => None,
        Repeater::Library(d) if d.undiscriminating => Some(d.opens),
        other => {
            let hopeless = if is_grpc { Mode::Grpc(3) } else { Mode::Status(400) };
            Some(picks.iter().find(|p| p.modes.contains(hopeless)).map_or(other.span(), |p| p.span))
        }
    };
    (picks, any_error)
}

fn methods(retries: &[Retry<'_>]) -> Methods {
    let all: BTreeSet<&str> = retries.iter().filter_map(|r| r.method.as_deref()).collect();
    if all.is_empty() { Methods::Unknown } else { Methods::Only(all.into_iter().map(str::to_owned).collect()) }
}
