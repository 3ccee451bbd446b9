#![doc = include_str!("../../rules/retries-exceed-timeout.md")]

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Finding, Rule, RuleMeta, Severity, phrase};
use crate::model::{Attempts, Layer, LimitKind, Model, Overrun, Setting};
use crate::source::Span;

static META: RuleMeta = RuleMeta {
    id: "retries-exceed-timeout",
    level: Severity::Warning,
    summary: "an outer timeout ends before the tries and waits inside it can",
    page: include_str!("../../rules/retries-exceed-timeout.md"),
};

/// The rule.
pub(super) struct RetriesExceedTimeout;

impl Rule for RetriesExceedTimeout {
    fn meta(&self) -> &'static RuleMeta {
        &META
    }

    fn check(&self, model: &Model, findings: &mut Vec<Finding>) {
        findings.extend(model.overruns.iter().filter_map(|overrun| finding(model, overrun)));
    }
}

fn finding(model: &Model, overrun: &Overrun) -> Option<Finding> {
    let limit = *overrun.limit.value()?;
    let owner = overrun.layer.map(|ix| model.layer(ix));
    let inside: Vec<&Layer> = overrun.inside.iter().map(|ix| model.layer(*ix)).collect();
    let first = inside.first()?;
    let own = owner.filter(|_| overrun.layer == overrun.inside.first().copied());
    let message =
        format!("{}: {}", compared(model, overrun, limit, first, own.is_some()), then(overrun, own.is_some()));
    let place = place(model, overrun, owner)?;
    let mut finding =
        Finding::new(&META, place, limit_label(overrun, limit), message).about(whose(model, overrun, owner));
    for layer in &inside {
        finding = finding.confidence(layer.confidence).about(layer.id.clone());
    }
    let (shown, rest) = weightiest(&inside);
    for layer in shown {
        finding = finding.label(layer.place, phrase::layer_label(layer));
        if let Some((span, each)) = layer.per_try.as_ref().and_then(|s| Some((s.span()?, s.value()?))) {
            finding = finding.label(span, format!("each try may take {}", phrase::duration(*each)));
        }
    }
    if let Some(layer) = rest.first() {
        finding = finding.label(layer.place, format!("and {} more layers inside it that try again", rest.len()));
    }
    Some(finding.help(help(overrun, limit, own)))
}

/// So many layers inside a limit are shown, where there are more than one beside them: a chain of calls can have many, of
/// which few make it long.
const SHOWN: usize = 4;

/// The outermost layer and those that try most often, and the others; each from the outside in.
fn weightiest<'m>(inside: &[&'m Layer]) -> (Vec<&'m Layer>, Vec<&'m Layer>) {
    if inside.len() <= SHOWN + 1 {
        return (inside.to_vec(), Vec::new());
    }
    let tries = |at: usize| inside.get(at).and_then(|layer| layer.attempts.value()?.count()).unwrap_or(u64::MAX);
    let mut order: Vec<usize> = (1..inside.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(tries(*at)));
    let shown: BTreeSet<usize> = order.into_iter().take(SHOWN - 1).chain([0]).collect();
    let (shown, rest): (Vec<_>, Vec<_>) = (0..).zip(inside).partition(|(at, _)| shown.contains(at));
    let layers = |all: Vec<(usize, &&'m Layer)>| all.into_iter().map(|(_, layer)| *layer).collect();
    (layers(shown), layers(rest))
}

/// Whose limit it is: a layer's, or a call's.
fn whose(model: &Model, overrun: &Overrun, owner: Option<&Layer>) -> String {
    let hop = model.hop(overrun.hop);
    let owner = match owner {
        Some(layer) => layer.id.to_string(),
        None => format!("{} to {}", model.component(hop.from).name, model.component(hop.to).name),
    };
    format!("{:?} of {owner}", overrun.kind)
}

/// The limit's place; of one that nobody wrote, what opens its layer or makes its hop.
fn place(model: &Model, overrun: &Overrun, owner: Option<&Layer>) -> Option<Span> {
    overrun.limit.span().or(owner.map(|layer| layer.opens)).or(model.hop(overrun.hop).place)
}

fn limit_label(overrun: &Overrun, limit: Duration) -> String {
    let of = match overrun.kind {
        LimitKind::PerTry => "a try",
        LimitKind::Overall => "all tries together",
        LimitKind::Call => "the call",
    };
    let source = match &overrun.limit {
        Setting::Default { source, .. } => format!(" (a default: nobody wrote it; {source})"),
        Setting::Written { .. } | Setting::Unknown { .. } => String::new(),
    };
    format!("{of} may take {}{source}", phrase::duration(limit))
}

/// "the timeout of Istio VirtualService avatars ends after 5 s, and its 2 attempts with their waits take up to 8 s".
fn compared(model: &Model, overrun: &Overrun, limit: Duration, first: &Layer, own: bool) -> String {
    let (limit, time) = (phrase::duration(limit), phrase::duration(overrun.time.known));
    let time = if overrun.time.complete { format!("up to {time}") } else { format!("{time} at least") };
    if own {
        let all = match first.attempts.value() {
            Some(Attempts::Within { .. }) => "all the tries that it is told to make".to_owned(),
            _ => format!("its {} with their waits", phrase::attempts_briefly(first)),
        };
        return format!("{} ends after {limit}, and {all} take {time}", first.name);
    }
    let hop = model.hop(overrun.hop);
    let ends = match overrun.layer.map(|ix| model.layer(ix)) {
        Some(layer) if overrun.kind == LimitKind::PerTry => format!("{} ends a try after {limit}", layer.name),
        Some(layer) => format!("{} ends after {limit}", layer.name),
        None => {
            let (from, to) = (model.component(hop.from), model.component(hop.to));
            format!("{} waits {limit} for {}", from.name, to.name)
        }
    };
    format!("{ends}, and the {} of {} inside it take {time}", phrase::attempts_briefly(first), first.name)
}

fn then(overrun: &Overrun, own: bool) -> &'static str {
    match (overrun.tried_again, own) {
        (true, _) => "whoever asked tries again, beside tries that are still going on",
        (false, true) => "the later tries never happen",
        (false, false) => "the later tries go on for nobody",
    }
}

fn help(overrun: &Overrun, limit: Duration, own: Option<&Layer>) -> String {
    let more = phrase::duration(overrun.time.known);
    let shorter = own.and_then(|layer| {
        let n = layer.attempts.value()?.count().filter(|n| *n > 1)?;
        let rest = limit.checked_sub(layer.waits(n)?)?;
        let each = rest.as_secs_f64() / n as f64;
        let each = Duration::try_from_secs_f64(each).ok().filter(|each| *each >= Duration::from_millis(1))?;
        layer.per_try.as_ref().map(|_| format!(", or give each of the {n} tries {} at most", phrase::duration(each)))
    });
    let shorter = shorter.unwrap_or_else(|| ", or try less often or for a shorter time inside it".to_owned());
    format!("An outer limit must be longer than what it holds: make this one longer than {more}{shorter}.")
}
