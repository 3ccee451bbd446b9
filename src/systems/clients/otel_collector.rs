//! The OpenTelemetry Collector: its exporters, in its own files, Helm values, ConfigMaps and the operator's resources.

use std::collections::BTreeSet;
use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Layer, Mode, ModeSet, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, embedded, settings};

/// The OpenTelemetry Collector.
pub struct OtelCollector;

const ID: &str = "otel-collector";
const RETRY: &str = "open-telemetry/opentelemetry-collector config/configretry/generated_config.go";
const SENDER: &str = "open-telemetry/opentelemetry-collector exporter/exporterhelper/internal/retry_sender.go";
const HTTP: &str = "open-telemetry/opentelemetry-collector exporter/otlphttpexporter/factory.go";
const OTLP: &str = "open-telemetry/opentelemetry-collector exporter/otlpexporter/otlp.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "OpenTelemetry Collector",
    reads: "`retry_on_failure` of `exporters` that `service.pipelines` use, also in Helm values, ConfigMaps and OpenTelemetryCollector resources",
    marks: &["exporters"],
    defaults: &[
        DefaultFigure {
            what: "retry_on_failure absent",
            value: "about 13 attempts within 300 s (otlp, otlphttp)",
            source: RETRY,
        },
        DefaultFigure { what: "max_elapsed_time: 0", value: "no limit", source: SENDER },
        DefaultFigure {
            what: "initial_interval, multiplier, max_interval absent",
            value: "5 s, × 1.5, at most 30 s",
            source: RETRY,
        },
        DefaultFigure { what: "randomization_factor absent", value: "0.5 to 1.5 of the wait", source: RETRY },
        DefaultFigure { what: "timeout absent", value: "5 s for each try, 30 s for otlphttp", source: HTTP },
        DefaultFigure {
            what: "what otlphttp retries",
            value: "429, 502, 503, 504 and failed connections; Retry-After is heeded",
            source: HTTP,
        },
        DefaultFigure {
            what: "what otlp retries",
            value: "CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS",
            source: OTLP,
        },
    ],
};

impl System for OtelCollector {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            root.walk().for_each(|node| read(file, node, facts));
            for parsed in embedded::texts(file, root, &["exporters:", "pipelines:"], Syntax::Yaml) {
                parsed.documents.iter().for_each(|node| read(file, node, facts));
            }
        }
    }
}

/// Adds the exporters of a collector's configuration.
fn read(file: &SourceFile, node: &Node, facts: &mut Facts) {
    let (Some(exporters), Some(pipelines)) = (node.get("exporters"), node.at(&["service", "pipelines"])) else {
        return;
    };
    let lists = pipelines.entries().iter().filter_map(|p| p.value.get("exporters"));
    let used: BTreeSet<&str> = lists.flat_map(Node::items).filter_map(|n| n.as_str()).collect();
    for entry in exporters.entries().iter().filter(|e| used.contains(&*e.key)) {
        if let Some(layer) = exporter(file, entry)
            && !facts.layers.iter().any(|l| l.id == layer.id && l.opens == layer.opens)
        {
            facts.layers.push(layer);
        }
    }
}

/// What is known of a type of exporter.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Http,
    Grpc,
    /// Retries as the block says; what is not written may have another default.
    Other,
}

fn kind(key: &str) -> Kind {
    match key.split('/').next().unwrap_or(key) {
        "otlphttp" | "otlp_http" => Kind::Http,
        "otlp" | "otlp_grpc" => Kind::Grpc,
        _ => Kind::Other,
    }
}

fn exporter(file: &SourceFile, entry: &Entry) -> Option<Layer> {
    let kind = kind(&entry.key);
    let block = entry.value.entry("retry_on_failure").filter(|e| !e.value.is_null());
    // Many exporters have no retries at all: only a block tells.
    if block.is_none() && kind == Kind::Other {
        return None;
    }
    let _ = file;
    let field = |key: &str| block?.value.entry(key);
    let name = format!("OpenTelemetry Collector exporter {}", settings::shown(&entry.key));
    // Each signal can have an address of its own.
    let addresses = ["endpoint", "traces_endpoint", "metrics_endpoint", "logs_endpoint"];
    let to = addresses.iter().find_map(|key| base::host(entry.value.entry(key)));
    let id = format!("{ID}:{}", entry.key);
    let wait = base::exponential(
        figure(kind, field("initial_interval"), base::go, Duration::from_secs(5)),
        figure(kind, field("multiplier"), base::number, 1.5),
        figure(kind, field("max_interval"), base::go, Duration::from_secs(30)).map(Some),
    );
    let deadline = figure(kind, field("max_elapsed_time"), base::go, Duration::from_secs(300));
    let attempts = base::within_or_unbounded(&deadline, &wait);
    let mut layer = base::apart(ID, id.into(), name, entry.key_span, to, attempts.clone());
    layer.asked_for = block.is_some();
    if let Some(block) = block {
        layer.place = block.key_span;
    }
    if let Some(off) = field("enabled").filter(|e| e.value.as_bool() == Some(false)) {
        base::counted(&mut layer, off, Setting::written(Attempts::Count(1), off.value.span));
    } else if let Some(elapsed) = field("max_elapsed_time") {
        base::counted(&mut layer, elapsed, attempts);
    }
    layer.overall = Some(deadline).filter(|d| d.value().is_none_or(|d| !d.is_zero()));
    layer.wait = wait;
    layer.wait_place = field("initial_interval").map(|e| e.key_span).or(block.map(|e| e.key_span));
    layer.jitter = figure(kind, field("randomization_factor"), base::number, 0.5).map(base::around);
    layer.retries = conditions(kind, layer.opens);
    layer.retry_after = match kind {
        Kind::Other => Setting::unknown("the exporter decides", None),
        _ => Setting::default(true, SENDER),
    };
    layer.per_try = match (entry.value.entry("timeout"), kind) {
        (Some(e), _) => settings::limit(&e.value, |n| duration::go(n.as_str()?)),
        (None, Kind::Http) => Some(Setting::default(Duration::from_secs(30), HTTP)),
        (None, Kind::Grpc) => Some(Setting::default(Duration::from_secs(5), HTTP)),
        (None, Kind::Other) => None,
    };
    layer.advice = advice();
    Some(layer)
}

/// What is written, else the default where it is that of this type of exporter.
fn figure<T>(kind: Kind, entry: Option<&Entry>, parse: impl Fn(&Entry) -> Setting<T>, default: T) -> Setting<T> {
    match (entry, kind) {
        (None, Kind::Other) => Setting::unknown("the default of this exporter", None),
        (entry, _) => base::or_default(entry, parse, default, RETRY),
    }
}

fn conditions(kind: Kind, opens: crate::source::Span) -> Conditions {
    match kind {
        Kind::Http => base::by_default(base::and_transport([429, 502, 503, 504]), opens),
        Kind::Grpc => {
            let codes: ModeSet = [1, 4, 10, 11, 14, 15].map(Mode::Grpc).into_iter().collect();
            // RESOURCE_EXHAUSTED only where the server says when to come again.
            let unknown = [Mode::Grpc(8)].into_iter().collect();
            Conditions { yes: codes.union(ModeSet::transport()), unknown, ..Conditions::default() }
        }
        Kind::Other => base::unknown_conditions(),
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `retry_on_failure: {enabled: false}`"),
        limit: some("set `max_elapsed_time: 5m`"),
        wait: some("set `initial_interval: 5s`"),
        grow: some("set `multiplier: 1.5`"),
        cap: some("set `max_interval: 30s`"),
        jitter: some("set `randomization_factor: 0.5`"),
        ..Advice::default()
    }
}
