//! Fluent Bit: its outputs, in both of its file formats.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, Setting, Wait};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded};

/// Fluent Bit.
pub struct FluentBit;

const ID: &str = "fluent-bit";
const OUTPUT: &str = "fluent/fluent-bit src/flb_output.c";
const SCHEDULER: &str = "fluent/fluent-bit include/fluent-bit/flb_scheduler.h";
const HTTP: &str = "fluent/fluent-bit plugins/out_http/http.c";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Fluent Bit",
    reads: "`Retry_Limit` of outputs and the scheduler's waits (classic .conf, YAML, ConfigMaps, Helm values)",
    marks: &["outputs", "[OUTPUT]", "[Output]", "[output]"],
    defaults: &[
        DefaultFigure { what: "Retry_Limit absent", value: "2 attempts", source: OUTPUT },
        DefaultFigure { what: "Retry_Limit no_limits, False or off", value: "no limit", source: OUTPUT },
        DefaultFigure { what: "Retry_Limit no_retries", value: "1 attempt", source: OUTPUT },
        DefaultFigure { what: "Retry_Limit 0 or less", value: "2 attempts", source: OUTPUT },
        DefaultFigure {
            what: "scheduler.base, scheduler.cap absent",
            value: "from 5 s on, doubling, at most 2000 s",
            source: SCHEDULER,
        },
        DefaultFigure {
            what: "jitter",
            value: "drawn between the base and the wait; it cannot be set",
            source: SCHEDULER,
        },
        DefaultFigure {
            what: "what the http output retries",
            value: "failed connections and what is neither 200 to 205 nor 4xx, but 408 and 429",
            source: HTTP,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: OUTPUT },
    ],
};

impl System for FluentBit {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, parsed) in embedded::conf_files(unit, &["[OUTPUT]"], Syntax::Sections) {
            parsed.documents.iter().for_each(|root| read(file, root, &mut ids, facts));
        }
        for (file, root) in unit.documents() {
            read(file, root, &mut ids, facts);
            for parsed in embedded::texts(file, root, &["[OUTPUT]"], Syntax::Sections) {
                parsed.documents.iter().for_each(|root| read(file, root, &mut ids, facts));
            }
        }
    }
}

/// Keys come in any case.
fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entries().iter().rev().find(|e| e.key.eq_ignore_ascii_case(key))
}

/// `pipeline.outputs` in YAML; sections in the classic form.
fn read(file: &SourceFile, root: &Node, ids: &mut Ids, facts: &mut Facts) {
    let listed = root.at(&["pipeline", "outputs"]).map_or(&[][..], Node::items).iter().map(|n| &**n);
    let sections = root.entries().iter().filter(|e| e.key.eq_ignore_ascii_case("output")).map(|e| &*e.value);
    let service = get(root, "service").map(|e| &*e.value);
    for output in listed.chain(sections) {
        let Some(plugin) = get(output, "name").and_then(|e| e.value.as_str()) else { continue };
        if !LOCAL.contains(&plugin.to_lowercase().as_str()) {
            let layer = layer(file, output, plugin, service, ids);
            if !facts.layers.iter().any(|l| l.system == ID && l.opens == layer.opens) {
                facts.layers.push(layer);
            }
        }
    }
}

/// Outputs that send nothing to another host.
const LOCAL: [&str; 9] =
    ["stdout", "null", "file", "counter", "exit", "flowcounter", "lib", "plot", "prometheus_exporter"];

fn layer(file: &SourceFile, output: &Node, plugin: &str, service: Option<&Node>, ids: &mut Ids) -> Layer {
    let title = get(output, "alias").and_then(|e| e.value.as_str()).unwrap_or(plugin);
    let name = format!("Fluent Bit output {}", settings::shown(title));
    let opens = settings::opening(file, output);
    let id = ids.next(format!("{ID}:{title}"));
    let to = base::host(get(output, "host"));
    let mut layer = base::apart(ID, id, name, opens, to, Setting::default(Attempts::Count(2), OUTPUT));
    if let Some(limit) = get(output, "retry_limit") {
        base::counted(&mut layer, limit, attempts(limit));
    }
    let scheduled = |key: &str| service.and_then(|s| get(s, key));
    layer.wait = Wait::Exponential {
        base: base::or_default(scheduled("scheduler.base"), base::seconds, Duration::from_secs(5), SCHEDULER),
        factor: Setting::default(2.0, SCHEDULER),
        cap: base::or_default(scheduled("scheduler.cap"), base::seconds, Duration::from_secs(2000), SCHEDULER)
            .map(Some),
    };
    layer.jitter = Setting::default(Jitter::Full, SCHEDULER);
    layer.retries = conditions(plugin, opens);
    layer.retry_after = Setting::default(false, OUTPUT);
    layer.advice = advice();
    layer
}

/// `False` lifts the limit, it does not switch retries off.
fn attempts(limit: &Entry) -> Setting<Attempts> {
    let text = limit.value.as_str().unwrap_or_default().trim().to_lowercase();
    let span = limit.value.span;
    match text.as_str() {
        "no_limits" | "false" | "off" => Setting::written(Attempts::Unbounded, span),
        "no_retries" => Setting::written(Attempts::Count(1), span),
        _ if text.contains("${") => Setting::unknown("comes from the environment", Some(span)),
        _ => match text.parse::<u64>() {
            Ok(n) if n > 0 => Setting::written(Attempts::Count(n.saturating_add(1)), span),
            _ => Setting::written(Attempts::Count(2), span),
        },
    }
}

fn conditions(plugin: &str, opens: Span) -> Conditions {
    match plugin.to_lowercase().as_str() {
        "http" => base::by_default(base::and_transport((500..=599).chain([408, 429])), opens),
        _ => base::unknown_conditions(),
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `Retry_Limit no_retries`"),
        limit: some("set `Retry_Limit` to a number, such as 10; `False` means no limit"),
        ..Advice::default()
    }
}
