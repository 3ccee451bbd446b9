//! MicroProfile Fault Tolerance, SmallRye and Quarkus: what properties set for methods and classes with `@Retry`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::applications::{self, Shape, View};
use super::{base, spring};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Confidence, Jitter, Layer, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, relaxed};
use crate::systems::settings::shown;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// MicroProfile Fault Tolerance.
pub struct FaultTolerance;

const ID: &str = "microprofile-fault-tolerance";
const RETRY: &str = "eclipse/microprofile-fault-tolerance api Retry.java";
const SMALLRYE: &str = "smallrye/smallrye-fault-tolerance doc reference/config.adoc";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "MicroProfile Fault Tolerance, SmallRye, Quarkus",
    reads: "`[class/][method/]Retry/…`, `smallrye.faulttolerance.….retry.…` and `quarkus.fault-tolerance.….retry.…` in properties and YAML",
    marks: &["Retry/", "fault-tolerance", "faulttolerance", "fault_tolerance"],
    defaults: &[
        DefaultFigure { what: "maxRetries absent", value: "the annotation decides", source: RETRY },
        DefaultFigure { what: "maxRetries: -1", value: "no limit but maxDuration", source: RETRY },
        DefaultFigure { what: "maxDuration absent", value: "180 s for all tries", source: RETRY },
        DefaultFigure { what: "maxDuration: 0", value: "no limit on the time", source: RETRY },
        DefaultFigure { what: "delay, jitter absent", value: "0 ± 200 ms", source: RETRY },
        DefaultFigure {
            what: "product and specification",
            value: "the key of the product wins, and the specific one",
            source: SMALLRYE,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRY },
    ],
};

const SHAPE: Shape = Shape { maps: &[], keys: &[] };

impl System for FaultTolerance {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, _| layers(view));
    }
}

/// Where a key stands in the order of precedence: the later the stronger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Specification,
    Product,
}

/// What is written for one class, method, or everything: fields by their relaxed names.
#[derive(Default)]
struct Target<'v> {
    opens: Option<Span>,
    fields: BTreeMap<&'static str, (Rank, &'v Entry)>,
}

fn layers(view: &View<'_>) -> Vec<Layer> {
    let mut targets: BTreeMap<String, Target<'_>> = BTreeMap::new();
    for setting in &view.settings {
        let parts: Vec<&str> = setting.path.iter().map(|(part, _)| part.as_str()).collect();
        let Some((target, field, rank)) = parse(&parts.join(".")) else { continue };
        let known = targets.entry(target).or_default();
        known.opens.get_or_insert(setting.entry.key_span);
        if known.fields.get(field).is_none_or(|(other, _)| *other <= rank) {
            known.fields.insert(field, (rank, &setting.entry));
        }
    }
    let all = targets.remove("").unwrap_or_default();
    let specific = targets.iter().map(|(name, target)| layer(name, target, Some(&all)));
    let mut out: Vec<Layer> = specific.collect();
    if all.opens.is_some() {
        out.push(layer("", &all, None));
    }
    out
}

/// The target, field and rank of a key. "" is everything.
fn parse(key: &str) -> Option<(String, &'static str, Rank)> {
    for prefix in ["quarkus.fault-tolerance.", "smallrye.faulttolerance."] {
        if let Some(rest) = key.strip_prefix(prefix) {
            let (target, field) = rest.rsplit_once(".retry.")?;
            let target = target.trim_matches('"');
            let target = if target == "global" { "" } else { target };
            return Some((target.to_string(), field_of(field)?, Rank::Product));
        }
    }
    let (before, field) = key.rsplit_once('/')?;
    let target = before.strip_suffix("Retry")?;
    let target = target.strip_suffix('/').or(Some(target).filter(|t| t.is_empty()))?;
    Some((target.to_string(), field_of(field)?, Rank::Specification))
}

fn field_of(name: &str) -> Option<&'static str> {
    let name = relaxed(name);
    let fields =
        ["maxretries", "delay", "delayunit", "jitter", "jitterunit", "maxduration", "maxdurationunit", "enabled"];
    let name = match name.as_str() {
        "jitterdelayunit" => "jitterunit",
        "durationunit" => "maxdurationunit",
        other => other,
    };
    fields.into_iter().find(|field| *field == name)
}

fn layer(target: &str, own: &Target<'_>, all: Option<&Target<'_>>) -> Layer {
    let field = |name: &str| {
        let of = |t: &Target<'_>| t.fields.get(name).map(|(_, e)| (*e).clone());
        of(own).or_else(|| all.and_then(of))
    };
    let opens = own.opens.unwrap_or(Span::start_of(crate::source::FileId(0)));
    let title = match target {
        "" => "every other @Retry".to_string(),
        target => format!("@Retry of {}", shown(target.rsplit('.').next().unwrap_or(target))),
    };
    let class = target.split('/').next().unwrap_or(target).rsplit('.').next().unwrap_or_default();
    let to = base::named(class, opens);
    let unknown = Setting::unknown("the annotation decides", Some(opens));
    let mut layer = base::client(ID, format!("{ID}:{target}").into(), title, opens, to, unknown);
    layer.asked_for = true;
    // A key counts only where the annotation stands at the same level, which is in code.
    layer.confidence = Confidence::Medium;
    timing(&mut layer, &field);
    let deadline = time(field("maxduration").as_ref(), field("maxdurationunit").as_ref(), 180_000);
    let limited = deadline.value().is_none_or(|d| !d.is_zero());
    if let Some(count) = field("maxretries") {
        let unbounded = match deadline.value() {
            Some(d) if limited => {
                layer.wait.fits(*d, 1.0).map_or(Attempts::Unbounded, |about| Attempts::Within { deadline: *d, about })
            }
            _ => Attempts::Unbounded,
        };
        let attempts = base::retries(&count, Some(unbounded));
        base::counted(&mut layer, &count, attempts);
    }
    if let Some(off) = field("enabled").filter(|e| e.value.as_bool() == Some(false)) {
        base::counted(&mut layer, &off, Setting::written(Attempts::Count(1), off.value.span));
    }
    layer.overall = Some(deadline).filter(|_| limited);
    layer.retries = base::unknown_conditions();
    layer.retry_after = Setting::default(false, RETRY);
    layer.advice = advice();
    layer
}

/// A delay, and around it as much at random as the jitter says.
fn timing(layer: &mut Layer, field: &impl Fn(&str) -> Option<Entry>) {
    let delay = time(field("delay").as_ref(), field("delayunit").as_ref(), 0);
    let jitter = time(field("jitter").as_ref(), field("jitterunit").as_ref(), 200);
    layer.wait_place = field("delay").or_else(|| field("jitter")).map(|e| e.key_span);
    let (Some(&base), Some(&spread)) = (delay.value(), jitter.value()) else {
        layer.wait = Wait::Fixed(delay);
        layer.jitter = jitter.map(|_| Jitter::None);
        return;
    };
    // A range that would begin below zero begins at zero, and its middle lies higher.
    let (low, high) = (base.saturating_sub(spread), base.saturating_add(spread));
    let middle = low.saturating_add(high) / 2;
    if middle.is_zero() {
        layer.wait = Wait::None;
        layer.jitter = jitter.map(|_| Jitter::None);
        return;
    }
    let factor = |d: Duration| d.as_secs_f64() / middle.as_secs_f64();
    let range = Jitter::Partial { low: factor(low), high: factor(high) };
    layer.wait = Wait::Fixed(delay.map(|_| middle));
    layer.jitter = jitter.map(|_| if spread.is_zero() { Jitter::None } else { range });
}

/// A number in its unit: milliseconds, unless another key says otherwise.
fn time(number: Option<&Entry>, unit: Option<&Entry>, default: u64) -> Setting<Duration> {
    let millis = match unit.and_then(|e| e.value.as_str()).map(relaxed).as_deref() {
        None | Some("millis") => 1.0,
        Some("nanos") => 1e-6,
        Some("micros") => 1e-3,
        Some("seconds") => 1e3,
        Some("minutes") => 60e3,
        Some("hours") => 3600e3,
        Some("days") => 86_400e3,
        Some(_) => return Setting::unknown("its unit is not known", unit.map(|e| e.value.span)),
    };
    let read = |e: &Entry| {
        let parse = |text: &str| crate::systems::duration::millis(text.parse::<f64>().ok()? * millis);
        spring::setting(e, "a number", parse)
    };
    base::or_default(number, read, Duration::from_millis(default), RETRY)
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `maxRetries` to 0"),
        limit: some("set `maxRetries`, or `maxDuration` above 0"),
        wait: some("set `delay` and `jitter`"),
        grow: some("add SmallRye's `@ExponentialBackoff` with `maxDelay`"),
        jitter: some("set `jitter`"),
        ..Advice::default()
    }
}
