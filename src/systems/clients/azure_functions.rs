//! Azure Functions: the retry policy of `host.json` and `function.json`.

use std::time::Duration;

use super::{base, spring};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, LayerKind, ModeSet, Scope, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Azure Functions.
pub struct AzureFunctions;

const ID: &str = "azure-functions";
const UTILITY: &str = "Azure/azure-functions-host src/WebJobs.Script/Utility.cs";
const STRATEGY: &str =
    "Azure/azure-webjobs-sdk src/Microsoft.Azure.WebJobs.Host/Timers/RandomizedExponentialBackoffStrategy.cs";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Azure Functions",
    reads: "`retry` of host.json and function.json",
    marks: &["maxRetryCount"],
    defaults: &[
        DefaultFigure { what: "maxRetryCount: -1", value: "no limit", source: UTILITY },
        DefaultFigure { what: "strategy absent", value: "exponentialBackoff", source: UTILITY },
        DefaultFigure {
            what: "exponentialBackoff",
            value: "the smallest interval, then twice, three times, five times it",
            source: STRATEGY,
        },
        DefaultFigure {
            what: "jitter",
            value: "0.8 to 1.2 of what is added to the smallest interval",
            source: STRATEGY,
        },
        DefaultFigure { what: "fixedDelay", value: "the same wait, without jitter", source: UTILITY },
    ],
};

impl System for AzureFunctions {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let is_mine = matches!(name, "host.json" | "function.json");
            let retry = root.entry("retry").filter(|e| is_mine && e.value.get("maxRetryCount").is_some());
            facts.layers.extend(retry.and_then(|retry| layer(file, root, retry)));
        }
    }
}

fn layer(file: &SourceFile, root: &Node, retry: &Entry) -> Option<Layer> {
    let (folder, what) = match file.path.rsplit_once('/') {
        Some((folder, "function.json")) => {
            let name = folder.rsplit('/').next().unwrap_or(folder);
            (name, format!("Azure function {name}"))
        }
        Some((folder, _)) => (folder.rsplit('/').next().unwrap_or(folder), "every Azure function here".to_owned()),
        None => ("", "every Azure function here".to_owned()),
    };
    if file.path.ends_with("function.json") && !is_repeated(root) {
        return None;
    }
    let field = |key: &str| retry.value.entry(key);
    let id = format!("{ID}:{folder}");
    let attempts = Setting::unknown("its count is not written", Some(retry.key_span));
    let mut layer = repeats::layer(ID, LayerKind::Job, id.into(), what, retry.key_span, attempts);
    layer.scope = Scope::Client { to: None, grpc: false };
    let count = field("maxRetryCount")?;
    base::counted(&mut layer, count, base::retries(count, Some(Attempts::Unbounded)));
    let fixed = field("strategy").and_then(|e| e.value.as_str()).is_some_and(|s| s.eq_ignore_ascii_case("fixedDelay"));
    (layer.wait, layer.jitter) = if fixed {
        let wait = field("delayInterval").map_or_else(|| Setting::unknown("is not written", None), time_span);
        (Wait::Fixed(wait), Setting::default(Jitter::None, UTILITY))
    } else {
        let wait = growing(field("minimumInterval"), field("maximumInterval"));
        (wait, Setting::default(Jitter::Partial { low: 0.9, high: 1.1 }, STRATEGY))
    };
    layer.wait_place = field("delayInterval").or(field("minimumInterval")).map(|e| e.key_span);
    layer.retries = Conditions { yes: ModeSet::all(), ..Conditions::default() };
    layer.advice = advice();
    Some(layer)
}

/// Only these triggers still have retries of their own.
fn is_repeated(root: &Node) -> bool {
    let bindings = root.get("bindings").map_or(&[][..], Node::items);
    let kinds: Vec<&str> = bindings.iter().filter_map(|b| b.get("type")?.as_str()).collect();
    let triggers: Vec<&&str> = kinds.iter().filter(|k| k.to_lowercase().ends_with("trigger")).collect();
    let known = ["timertrigger", "cosmosdbtrigger", "eventhubtrigger", "kafkatrigger"];
    triggers.is_empty() || triggers.iter().any(|t| known.contains(&t.to_lowercase().as_str()))
}

fn time_span(entry: &Entry) -> Setting<Duration> {
    spring::setting(entry, "a time span", duration::time_span)
}

/// The first wait is the smallest; later ones add a power of two of it.
fn growing(smallest: Option<&Entry>, longest: Option<&Entry>) -> Wait {
    let read = |e: Option<&Entry>| e.and_then(|e| time_span(e).value().copied());
    let (Some(smallest), Some(longest)) = (read(smallest), read(longest)) else {
        return Wait::Unknown { why: "its smallest or largest interval is not known".to_owned() };
    };
    let mut waits = vec![smallest.min(longest)];
    let mut added = smallest;
    while waits.last().is_some_and(|last| *last < longest && !last.is_zero()) && waits.len() < 64 {
        waits.push(smallest.saturating_add(added).min(longest));
        added = added.saturating_mul(2);
    }
    Wait::Scheduled { waits, capped: true }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take `retry` out"),
        limit: some("set `maxRetryCount` to a small number"),
        grow: some("set `strategy` to \"exponentialBackoff\" with `minimumInterval` and `maximumInterval`"),
        jitter: some("set `strategy` to \"exponentialBackoff\", whose waits are spread"),
        ..Advice::default()
    }
}
