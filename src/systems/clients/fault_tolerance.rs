//! MicroProfile Fault Tolerance, SmallRye and Quarkus: what properties set for methods and classes with `@Retry`.

use std::collections::{BTreeMap, BTreeSet};
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
    reads: "`[class/][method/]Retry/…`, `smallrye.faulttolerance.….retry.…` and `quarkus.fault-tolerance.….retry.…` in properties, YAML and the environment",
    marks: &["Retry/", "fault-tolerance", "faulttolerance", "fault_tolerance", "quarkus", "mp-rest"],
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
        // What retries may stand in the environment alone, but then the file is one of settings.
        let says = |text: &str| {
            ["Retry/", "fault-tolerance", "faulttolerance", "fault_tolerance"].iter().any(|m| text.contains(m))
        };
        let is_settings = |name: &str| applications::unit_of(name).is_some() || is_microprofile(name);
        if unit.parts.iter().any(|part| is_settings(part.name) || says(&part.file.text)) {
            applications::note(unit, facts);
        }
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

/// What is written for one class, method, or everything: fields by their relaxed names, weaker values before stronger.
#[derive(Default)]
struct Target {
    opens: Option<Span>,
    fields: BTreeMap<&'static str, Vec<(Rank, Entry)>>,
}

impl Target {
    fn add(&mut self, field: &'static str, rank: Rank, entry: Entry) {
        self.opens.get_or_insert(entry.key_span);
        let all = self.fields.entry(field).or_default();
        all.push((rank, entry));
        all.sort_by_key(|(rank, _)| *rank);
    }

    fn get(&self, field: &str) -> Option<&Entry> {
        self.fields.get(field)?.last().map(|(_, entry)| entry)
    }

    fn beaten(&self, field: &str) -> Option<(Span, String)> {
        let all = self.fields.get(field)?;
        applications::beaten(&all.iter().map(|(_, entry)| entry).collect::<Vec<_>>())
    }
}

fn layers(view: &View<'_>) -> Vec<Layer> {
    let mut targets: BTreeMap<String, Target> = BTreeMap::new();
    // Classes of which other settings speak.
    let mut classes = BTreeSet::new();
    let mut is_ours = is_microprofile(view.path);
    for setting in &view.settings {
        let parts: Vec<&str> = setting.path.iter().map(|(part, _)| part.as_str()).collect();
        let key = parts.join(".");
        is_ours |= matches!(parts.first(), Some(&("quarkus" | "mp" | "smallrye")));
        classes.extend(client_of(&key).map(str::to_owned));
        let Some((target, field, rank)) = parse(&key) else { continue };
        targets.entry(target).or_default().add(field, rank, setting.entry.clone());
    }
    is_ours |= !targets.is_empty() || !classes.is_empty();
    if is_ours {
        classes.extend(targets.keys().cloned());
        classes.insert(String::new());
        let known: Vec<(&str, Rank, String)> = classes.iter().flat_map(|target| variables_of(target)).collect();
        for variable in &view.env {
            let Some((target, field, rank)) = parse_variable(&variable.name, &known) else { continue };
            targets.entry(target.to_owned()).or_default().add(field, rank, applications::entry_of(variable));
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

fn is_microprofile(path: &str) -> bool {
    path.rsplit('/').next() == Some("microprofile-config.properties")
}

/// The class of a client of REST that a key is about.
fn client_of(key: &str) -> Option<&str> {
    let specified = key.split_once("/mp-rest/").map(|(class, _)| class);
    let quarkus = || {
        let (class, _) = key.strip_prefix("quarkus.rest-client.")?.rsplit_once('.')?;
        Some(class.trim_matches('"')).filter(|class| class.contains('.'))
    };
    specified.or_else(quarkus)
}

/// What the names of variables for a target begin with: each character that is neither letter nor digit is `_`.
fn variables_of(target: &str) -> [(&str, Rank, String); 3] {
    let (specified, product) = match target {
        "" => ("Retry/".to_owned(), "global".to_owned()),
        target => (format!("{target}/Retry/"), format!("\"{target}\"")),
    };
    let squeezed = |key: String| key.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_ascii_uppercase();
    [
        (target, Rank::Specification, squeezed(specified)),
        (target, Rank::Product, squeezed(format!("smallrye.faulttolerance.{product}.retry."))),
        (target, Rank::Product, squeezed(format!("quarkus.fault-tolerance.{product}.retry."))),
    ]
}

fn parse_variable<'t>(name: &str, known: &[(&'t str, Rank, String)]) -> Option<(&'t str, &'static str, Rank)> {
    let name = name.to_ascii_uppercase();
    known.iter().find_map(|(target, rank, before)| {
        let field = name.strip_prefix(before)?;
        // Only the names of the products have dashes.
        let is_spelled = match (*rank, field) {
            (_, "DELAY" | "JITTER" | "ENABLED") => true,
            (Rank::Specification, field) => !field.contains('_'),
            (Rank::Product, field) => field.contains('_'),
        };
        Some((*target, field_of(field).filter(|_| is_spelled)?, *rank))
    })
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

fn layer(target: &str, own: &Target, all: Option<&Target>) -> Layer {
    let field = |name: &str| own.get(name).or_else(|| all?.get(name)).cloned();
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
        let of = if own.get("maxretries").is_some() { Some(own) } else { all };
        layer.labels.extend(of.and_then(|t| t.beaten("maxretries")));
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
    if let (None, Some(unit)) = (number, unit) {
        return Setting::unknown("only its unit is set here; its number is the annotation's", Some(unit.value.span));
    }
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
