//! What the two rules about paths share: which path they report, its labels, and what to write instead.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Finding, Label, RuleMeta, phrase};
use crate::model::{Attempts, Layer, LayerIx, MAX_PRODUCT, Model, Path, PathIx};

/// Of the paths for which `fires` holds, the worst of each outermost layer and leaf.
pub(super) fn worst(model: &Model, fires: impl Fn(&Path, &[&Layer]) -> bool) -> impl Iterator<Item = (PathIx, &Path)> {
    let mut worst: BTreeMap<(LayerIx, &str), (PathIx, &Path)> = BTreeMap::new();
    for (ix, path) in (0..).map(PathIx).zip(&model.paths) {
        let layers = layers(model, path);
        let Some(&outermost) = path.layers.first() else { continue };
        if layers.iter().any(|l| !l.is_on_paths()) || !fires(path, &layers) {
            continue;
        }
        let best = worst.entry((outermost, &path.leaf)).or_insert((ix, path));
        if rank(path) > rank(best.1) {
            *best = (ix, path);
        }
    }
    worst.into_values()
}

fn rank(path: &Path) -> (bool, u64, usize) {
    (path.unbounded, path.product, path.layers.len())
}

/// The layers of a path, outermost first.
pub(super) fn layers<'m>(model: &'m Model, path: &Path) -> Vec<&'m Layer> {
    path.layers.iter().map(|ix| model.layer(*ix)).filter(|l| l.is_active()).collect()
}

/// A finding about `path`: at its outermost layer, one label for each layer in the order of the call.
pub(super) fn finding(
    rule: &'static RuleMeta,
    (ix, path): (PathIx, &Path),
    layers: &[&Layer],
    message: String,
) -> Option<Finding> {
    let (outermost, inner) = layers.split_first()?;
    let mut finding = Finding::new(rule, outermost.place, phrase::layer_label(outermost), message).path(ix);
    finding.labels.extend(extra_labels(outermost));
    for layer in inner {
        finding = finding.label(layer.place, phrase::layer_label(layer));
        finding.labels.extend(extra_labels(layer));
    }
    for layer in layers {
        finding = finding.confidence(layer.confidence);
    }
    Some(finding.help(one_layer(path, layers)))
}

fn extra_labels(layer: &Layer) -> impl Iterator<Item = Label> {
    layer.labels.iter().map(|(span, text)| Label { span: *span, text: text.clone() })
}

/// "1 request can become 64 (4 × 4 × 4) when inventory answers 503".
pub(super) fn sentence(path: &Path, layers: &[&Layer]) -> String {
    let unit = layers.first().map_or("request", |l| phrase::unit(l.kind));
    let many = match (unit, path.unbounded) {
        ("request", _) => "",
        (_, true) => " of requests",
        (_, false) => " requests",
    };
    let factors: Vec<String> = layers.iter().map(|l| factor(l)).collect();
    let product = match &*factors {
        [_] => " in one layer".to_string(),
        _ => format!(" ({})", factors.join(" × ")),
    };
    let end = if path.product >= MAX_PRODUCT && !path.unbounded { "; counting ends there" } else { "" };
    let amount = amount(path, layers);
    let failing = phrase::failing(&path.leaf, path.failure);
    format!("1 {unit} can become {amount}{many}{product} when {failing}{end}{}", time(path))
}

/// How long that takes at worst, where it is known and no trifle.
fn time(path: &Path) -> String {
    let known = path.time.complete && !path.time.unbounded && path.time.known >= Duration::from_secs(1);
    if known { format!(", over up to {}", phrase::duration(path.time.known)) } else { String::new() }
}

fn factor(layer: &Layer) -> String {
    match layer.attempts.value() {
        None => "?".to_string(),
        Some(attempts) => attempts.count().map_or("∞".to_string(), |n| n.to_string()),
    }
}

fn amount(path: &Path, layers: &[&Layer]) -> String {
    let timed = layers.iter().any(|l| matches!(l.attempts.value(), Some(Attempts::Within { .. })));
    match path {
        Path { unbounded: true, .. } => "any number".to_string(),
        Path { product, at_least, .. } if *at_least || *product >= MAX_PRODUCT => format!("at least {product}"),
        Path { product, .. } if timed => format!("about {product}"),
        Path { product, .. } => product.to_string(),
    }
}

/// Which layer to keep, and what to write at the others.
fn one_layer(path: &Path, layers: &[&Layer]) -> String {
    let unit = layers.first().map_or("request", |l| phrase::unit(l.kind));
    let keep = kept(layers);
    let Some(kept) = layers.get(keep) else { return String::new() };
    if let [only] = layers {
        const ENOUGH: &str = "2 or 3 attempts ride out a blip, more only add load";
        return match (&only.advice.fewer, &only.advice.none) {
            (Some(fewer), Some(none)) => format!("{ENOUGH}: {fewer}. For none: {none}."),
            (Some(fewer), None) => format!("{ENOUGH}: {fewer}."),
            (None, Some(none)) => format!("{ENOUGH}. For none: {none}."),
            (None, None) => format!("Let {} try less often: {ENOUGH}.", only.name),
        };
    }
    let others: Vec<String> = layers
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != keep)
        .map(|(_, layer)| match layer.advice.none.as_ref().or(layer.advice.fewer.as_ref()) {
            Some(advice) => format!("{}: {advice}", layer.name),
            None => format!("{}: no retries", layer.name),
        })
        .collect();
    // Where another one can only be told to try less often, the product is still more than its own.
    let stop = |layer: &Layer| layer.advice.none.is_some() || layer.advice.fewer.is_none();
    let alone = layers.iter().enumerate().all(|(i, layer)| i == keep || stop(layer));
    let nearest = if keep + 1 == layers.len() { format!(", nearest to {}", path.leaf) } else { String::new() };
    let mut help = format!("Let one layer retry: keep {}{nearest}. At {}.", kept.name, others.join("; at "));
    match (kept.attempts.value().and_then(|a| a.count()), &kept.advice.limit) {
        (Some(n), _) if alone => help.push_str(&format!(" 1 {unit} then becomes at most {n}.")),
        (None, Some(limit)) => help.push_str(&format!(" At {}: {limit}.", kept.name)),
        _ => {}
    }
    help
}

/// The layer to keep: one that cannot be told to stop, else the innermost bounded one, which sees the failure first
/// and repeats the least work.
fn kept(layers: &[&Layer]) -> usize {
    let last = |test: &dyn Fn(&Layer) -> bool| layers.iter().rposition(|l| test(l));
    last(&|l| l.advice.none.is_none() && l.advice.fewer.is_none())
        .or_else(|| last(&|l| l.attempts.value().is_some_and(|a| a.count().is_some())))
        .unwrap_or(layers.len().saturating_sub(1))
}
