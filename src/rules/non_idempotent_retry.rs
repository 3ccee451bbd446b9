#![doc = include_str!("../../rules/non-idempotent-retry.md")]

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Rule, RuleMeta, Severity, phrase, with_layer};
use crate::model::{
    Confidence, IdempotencyKey, Layer, LayerIx, LayerKind, LayerUse, Methods, Mode, ModeSet, Model, Post,
};
use crate::source::Span;

static META: RuleMeta = RuleMeta {
    id: "non-idempotent-retry",
    level: Severity::Warning,
    summary: "a POST or PATCH is repeated after it may have been processed, without an idempotency key that stays the \
              same over the tries",
    page: include_str!("../../rules/non-idempotent-retry.md"),
};

/// The rule.
pub(super) struct NonIdempotentRetry;

impl Rule for NonIdempotentRetry {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        let seen = Seen::new(model);
        findings.extend(seen.by_code.iter().map(|(post, layers)| repeated(model, post, layers)));
        // Statuses of gRPC come only where it is spoken.
        let of_grpc = model.hops.iter().filter(|h| h.grpc).flat_map(|h| h.layers.iter().map(|l| l.layer));
        let of_grpc: BTreeSet<LayerIx> = of_grpc.collect();
        for (ix, layer) in (0..).map(LayerIx).zip(&model.layers) {
            let processed = may_be_processed(layer);
            let speaks = of_grpc.contains(&ix) || !matches!(layer.kind, LayerKind::Gateway | LayerKind::Mesh);
            let processed = if speaks { processed } else { processed.difference(Mode::grpc().collect()) };
            let lost = layer.retries.lost_answers && matches!(layer.kind, LayerKind::Gateway | LayerKind::Mesh);
            if layer.is_active() && layer.is_on_paths() && (lost || !processed.is_empty()) {
                findings.extend(allowed(layer, processed, seen.by_settings.get(&ix)));
            }
        }
    }
}

/// The POST and PATCH requests without a key, by what repeats them.
#[derive(Default)]
struct Seen<'m> {
    by_code: BTreeMap<&'m Post, BTreeSet<LayerIx>>,
    by_settings: BTreeMap<LayerIx, &'m Post>,
}

impl<'m> Seen<'m> {
    fn new(model: &'m Model) -> Self {
        let mut seen = Self::default();
        for hop in &model.hops {
            for post in hop.posts.iter().filter(|p| p.key.is_missing()) {
                hop.layers.iter().for_each(|on_it| seen.add(model, post, on_it));
            }
        }
        seen
    }

    fn add(&mut self, model: &'m Model, post: &'m Post, on_it: &LayerUse) {
        let layer = model.layer(on_it.layer);
        if !layer.is_active() || !layer.is_on_paths() || layer.copies || after_processing(on_it.modes).is_empty() {
            return;
        }
        match layer.kind {
            LayerKind::Gateway | LayerKind::Mesh => {
                self.by_settings.entry(on_it.layer).or_insert(post);
            }
            LayerKind::Code | LayerKind::Client | LayerKind::Queue | LayerKind::Job => {
                self.by_code.entry(post).or_default().insert(on_it.layer);
            }
        }
    }
}

/// The failures that a layer surely retries although the request may have been processed.
fn may_be_processed(layer: &Layer) -> ModeSet {
    after_processing(layer.retries.yes)
}

/// Of these failures those after which a request may have been processed. What gRPC calls a failure meets no POST or
/// PATCH of HTTP.
fn after_processing(modes: ModeSet) -> ModeSet {
    modes.after_processing().difference(Mode::grpc().collect())
}

/// A request in code under layers that repeat it.
fn repeated(model: &Model, post: &Post, layers: &BTreeSet<LayerIx>) -> Finding {
    let layers: Vec<&Layer> = layers.iter().map(|ix| model.layer(*ix)).collect();
    let rerun = layers.iter().all(|l| matches!(l.kind, LayerKind::Queue | LayerKind::Job));
    let sure = layers.iter().any(|l| !may_be_processed(l).is_empty());
    let names: Vec<String> = layers.iter().map(|l| format!("{} ({})", l.name, phrase::attempts_briefly(l))).collect();
    let (carries, help) = match post.key {
        IdempotencyKey::Changing => (
            "and each try carries a key of its own, so the receiver takes each for a new request",
            "Make the key once, before the first try, and send the same one with every try",
        ),
        _ => (
            "and carries no idempotency key, so the receiver does it again",
            "Send an `Idempotency-Key` that is made once, before the first try; or retry only what was surely not \
             processed: a refused connection, 429",
        ),
    };
    let message = format!(
        "this {} is sent again by {} after it may have been processed, {carries}",
        post.method,
        phrase::list(&names)
    );
    let mut finding =
        Finding::new(&META, post.span, format!("{} repeated here", post.method), message).about(post.method.as_str());
    for layer in &layers {
        finding = finding.label(layer.place, phrase::layer_label(layer)).confidence(layer.confidence);
        finding = finding.about(layer.id.clone());
    }
    if rerun {
        finding = finding.severity(Severity::Note);
    }
    if rerun || !sure {
        finding = finding.confidence(Confidence::Low);
    }
    finding.help(format!("{help}."))
}

/// A layer in settings that lets POST or PATCH be repeated.
fn allowed(layer: &Layer, processed: ModeSet, seen: Option<&&Post>) -> Option<Finding> {
    let (span, methods) = match &layer.methods {
        Methods::Written { methods, span } => (*span, guarded(methods)),
        _ if !matches!(layer.kind, LayerKind::Gateway | LayerKind::Mesh) => return None,
        Methods::Any if layer.copies => return None,
        Methods::Only(methods) => (layer.opens, guarded(methods)),
        Methods::Any => return Some(unnamed(layer, processed, seen)),
        Methods::Unknown => return None,
    };
    if methods.is_empty() {
        return None;
    }
    let mut finding = with_layer(finding(layer, span, &phrase::list(&methods), processed), layer);
    if let Some(post) = seen {
        finding = finding.label(post.span, format!("a {} without an idempotency key that goes this way", post.method));
    }
    Some(finding)
}

/// A route that names no methods: POST may never come this way, unless code is seen to send one.
fn unnamed(layer: &Layer, processed: ModeSet, seen: Option<&&Post>) -> Finding {
    let what = "any method, POST and PATCH among them,";
    let finding = with_layer(finding(layer, layer.opens, what, processed), layer);
    match seen {
        Some(post) => {
            finding.label(post.span, format!("this {} without an idempotency key goes this way", post.method))
        }
        None => finding.severity(Severity::Note).confidence(Confidence::Low),
    }
}

fn guarded(methods: &[String]) -> Vec<String> {
    methods.iter().filter(|m| Post::is_method(m)).cloned().collect()
}

fn finding(layer: &Layer, span: Span, what: &str, processed: ModeSet) -> Finding {
    if layer.copies {
        let copies = phrase::attempts(layer);
        let message = format!("{} sends {what} in {copies}: the upstream does it as often", layer.name);
        let help =
            "Send copies of GET and HEAD alone, or let the caller send an idempotency key that all copies carry.";
        return Finding::new(&META, span, "lets POST or PATCH be sent in copies", message).help(help);
    }
    let message = format!(
        "{} sends {what} {} although the upstream may have processed the first, such as after {}",
        layer.name,
        match phrase::times(layer) {
            times if matches!(&*times, "again and again" | "without end") => times,
            times => format!("up to {times}"),
        },
        example(processed),
    );
    let help = "Let it repeat only GET, HEAD, PUT and DELETE, or only what was surely not processed: a refused \
                connection, 429. Where POST must be repeated, let the caller send one idempotency key over all tries.";
    Finding::new(&META, span, "lets POST or PATCH be repeated", message).help(help)
}

/// One failure that says nothing of whether the request was processed.
fn example(modes: ModeSet) -> String {
    let first = modes.iter().min_by_key(|m| m.rank());
    first.map_or_else(
        || "a lost answer".to_string(),
        |m| match m {
            Mode::Timeout => "a timeout".to_string(),
            mode => format!("a {}", phrase::modes([mode].into_iter().collect())),
        },
    )
}
