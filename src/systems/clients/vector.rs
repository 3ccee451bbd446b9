//! Vector: its sinks.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, STATUSES, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded, settings};

/// Vector.
pub struct Vector;

const ID: &str = "vector";
const SERVICE: &str = "vectordotdev/vector src/sinks/util/service.rs";
const RETRIES: &str = "vectordotdev/vector src/sinks/util/retries.rs";
const HTTP: &str = "vectordotdev/vector src/sinks/util/http.rs";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Vector",
    reads: "`sinks` with `request` and `retry_strategy` (TOML, YAML, JSON, ConfigMaps, Helm values)",
    marks: &["sinks"],
    defaults: &[
        DefaultFigure { what: "retry_attempts absent", value: "no limit", source: SERVICE },
        DefaultFigure {
            what: "retry_initial_backoff_secs, retry_max_duration_secs absent",
            value: "1 s, each wait the sum of the two before, at most 30 s",
            source: SERVICE,
        },
        DefaultFigure { what: "retry_jitter_mode absent", value: "full jitter", source: SERVICE },
        DefaultFigure {
            what: "retry_strategy absent",
            value: "408, 429, 5xx but 501, timeouts and failed connections (HTTP)",
            source: HTTP,
        },
        DefaultFigure { what: "timeout_secs absent", value: "60 s for each try", source: SERVICE },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RETRIES },
    ],
};

impl System for Vector {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            root.walk().for_each(|node| read(node, facts));
            for parsed in embedded::texts(file, root, &["sinks:", "inputs:"], Syntax::Yaml) {
                parsed.documents.iter().for_each(|node| read(node, facts));
            }
        }
    }
}

fn read(node: &Node, facts: &mut Facts) {
    let Some(sinks) = node.get("sinks") else { return };
    for sink in sinks.entries() {
        // Other programs have sinks as well: only Vector's have inputs.
        let is_sink = sink.value.get("inputs").is_some_and(|i| !i.items().is_empty());
        let Some(kind) = sink.value.get("type").and_then(Node::as_str).filter(|_| is_sink) else { continue };
        if let Some(layer) = layer(sink, kind)
            && !facts.layers.iter().any(|l| l.id == layer.id && l.opens == layer.opens)
        {
            facts.layers.push(layer);
        }
    }
}

/// Sinks that send over HTTP in the common way.
const HTTP_SINKS: [&str; 24] = [
    "appsignal",
    "axiom",
    "azure_monitor_logs",
    "clickhouse",
    "databend",
    "datadog_events",
    "datadog_logs",
    "datadog_metrics",
    "datadog_traces",
    "elasticsearch",
    "gcp_chronicle_unstructured",
    "honeycomb",
    "http",
    "humio_logs",
    "humio_metrics",
    "influxdb_logs",
    "influxdb_metrics",
    "keep",
    "logdna",
    "loki",
    "mezmo",
    "new_relic",
    "prometheus_remote_write",
    "splunk_hec_logs",
];

fn layer(sink: &Entry, kind: &str) -> Option<Layer> {
    let is_http = HTTP_SINKS.contains(&kind);
    let request = sink.value.entry("request");
    let field = |key: &str| request?.value.entry(key).filter(|e| !e.value.is_null());
    let count = field("retry_attempts");
    if count.is_none() && !is_http {
        return None;
    }
    let name = format!("Vector sink {}", settings::shown(&sink.key));
    let targets = ["uri", "endpoint", "endpoints", "host"];
    let to = base::first_host(sink.value.entry_any(&targets));
    let attempts = Setting::default(Attempts::Unbounded, SERVICE);
    let mut layer = base::apart(ID, format!("{ID}:{}", sink.key).into(), name, sink.key_span, to, attempts);
    if let Some(count) = count {
        let attempts = base::whole(count).map(|n| match n {
            // The default written out.
            n if n >= u64::from(u32::MAX) => Attempts::Unbounded,
            n => Attempts::Count(n + 1),
        });
        base::counted(&mut layer, count, attempts);
    }
    layer.wait = wait(field("retry_initial_backoff_secs"), field("retry_max_duration_secs"));
    layer.wait_place = field("retry_initial_backoff_secs").or(field("retry_max_duration_secs")).map(|e| e.key_span);
    layer.jitter = match field("retry_jitter_mode") {
        Some(e) if e.value.as_str() == Some("None") => Setting::written(Jitter::None, e.value.span),
        Some(e) => Setting::written(Jitter::Full, e.value.span),
        None => Setting::default(Jitter::Full, SERVICE),
    };
    if let Some(e) = field("retry_jitter_mode") {
        layer.wait_place = layer.wait_place.or(Some(e.key_span));
    }
    layer.retries = conditions(sink.value.entry("retry_strategy"), is_http, sink.key_span);
    layer.retry_after = Setting::default(false, RETRIES);
    layer.per_try = Some(base::or_default(field("timeout_secs"), base::seconds, Duration::from_secs(60), SERVICE));
    layer.advice = advice();
    Some(layer)
}

/// Each wait is the sum of the two before it.
fn wait(base: Option<&Entry>, cap: Option<&Entry>) -> Wait {
    let base = base::or_default(base, base::seconds, Duration::from_secs(1), SERVICE);
    let cap = base::or_default(cap, base::seconds, Duration::from_secs(30), SERVICE);
    let (Some(&base), Some(&cap)) = (base.value(), cap.value()) else {
        return Wait::Unknown { why: "its first or longest wait is not known".to_owned() };
    };
    let mut waits = vec![base.min(cap)];
    let (mut before, mut next) = (base, base.saturating_mul(2));
    while waits.last().is_some_and(|last| *last < cap && !last.is_zero()) && waits.len() < MAX_WAITS {
        waits.push(next.min(cap));
        (before, next) = (next, before.saturating_add(next));
    }
    Wait::Scheduled { waits, capped: true }
}

/// By then every schedule has come to its cap.
const MAX_WAITS: usize = 100;

fn conditions(strategy: Option<&Entry>, is_http: bool, opens: Span) -> Conditions {
    let default = || base::and_transport((500..=599).chain([408, 429]).filter(|c| *c != 501));
    let Some(strategy) = strategy else {
        return if is_http { base::by_default(default(), opens) } else { base::unknown_conditions() };
    };
    let kind = strategy.value.entry("type");
    match kind.and_then(|e| e.value.as_str()) {
        Some("custom") => {
            let mut out = strategy.value.entry("status_codes").map(base::statuses).unwrap_or_default();
            out.yes = out.yes.union(ModeSet::transport());
            out
        }
        Some("all") => Conditions {
            yes: ModeSet::statuses(STATUSES).union(ModeSet::transport()),
            any_error: kind.map(|e| e.value.span),
            ..Conditions::default()
        },
        Some("none") => Conditions { yes: ModeSet::transport(), ..Conditions::default() },
        Some("default") => base::by_default(default(), opens),
        _ => base::unknown_conditions(),
    }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `request.retry_attempts: 0`"),
        limit: some("set `request.retry_attempts`, such as 20"),
        wait: some("set `request.retry_initial_backoff_secs`"),
        jitter: some("set `request.retry_jitter_mode` to \"Full\", or take it out"),
        statuses: some("list in `retry_strategy.status_codes` only what can pass: 408, 429, 500, 502, 503, 504"),
        ..Advice::default()
    }
}
