//! Grafana Alloy: the components that send telemetry on.

use std::time::Duration;

use super::{base, promtail};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, Mode, ModeSet, Pick, Setting};
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, embedded, settings};

/// Grafana Alloy.
pub struct Alloy;

const ID: &str = "alloy";
const LOKI: &str = "grafana/alloy docs/sources/reference/components/loki/loki.write.md";
const PYROSCOPE: &str = "grafana/alloy internal/component/pyroscope/write/write.go";
const PROMETHEUS: &str = "grafana/alloy docs/sources/reference/components/prometheus/prometheus.remote_write.md";
const OTEL: &str = "grafana/alloy docs/sources/shared/reference/components/otelcol-retry-block.md";
const SHARDS: &str = "grafana/alloy internal/component/common/loki/client/shards.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Grafana Alloy",
    reads: "`loki.write`, `pyroscope.write`, `prometheus.remote_write` and `otelcol.exporter.*` (*.alloy, ConfigMaps, Helm values)",
    marks: &["loki.write", "pyroscope.write", "prometheus.remote_write", "otelcol.exporter."],
    defaults: &[
        DefaultFigure { what: "loki.write: max_backoff_retries absent", value: "10 attempts", source: LOKI },
        DefaultFigure { what: "loki.write: max_backoff_retries 0", value: "no limit", source: promtail::BACKOFF },
        DefaultFigure {
            what: "loki.write: min_backoff_period, max_backoff_period absent",
            value: "500 ms, × 2, at most 5 min",
            source: LOKI,
        },
        DefaultFigure { what: "loki.write: what is retried", value: "429, 5xx and failed connections", source: SHARDS },
        DefaultFigure { what: "pyroscope.write: max_backoff_retries absent", value: "10 attempts", source: PYROSCOPE },
        DefaultFigure { what: "prometheus.remote_write", value: "no limit, 429 included", source: PROMETHEUS },
        DefaultFigure {
            what: "prometheus.remote_write: min_backoff, max_backoff absent",
            value: "30 ms, × 2, at most 5 s",
            source: PROMETHEUS,
        },
        DefaultFigure {
            what: "otelcol.exporter: retry_on_failure absent",
            value: "about 13 attempts within 5 min: 5 s, × 1.5, at most 30 s (otlp, otlphttp)",
            source: OTEL,
        },
    ],
};

impl System for Alloy {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            read(root, &mut ids, facts);
            for mark in META.marks {
                for parsed in embedded::texts(file, root, std::slice::from_ref(mark), Syntax::Blocks) {
                    parsed.documents.iter().for_each(|root| read(root, &mut ids, facts));
                }
            }
        }
    }
}

/// What is in a block; its labels stand before it.
fn block(entry: &Entry) -> Option<&Node> {
    entry.value.items().last().map(|n| &**n).filter(|n| matches!(n.value, crate::syntax::Value::Map(_)))
}

fn inner<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entry(key).filter(|e| block(e).is_some())
}

fn read(root: &Node, ids: &mut Ids, facts: &mut Facts) {
    for component in root.entries() {
        let Some(body) = block(component) else { continue };
        let label = component.value.items().first().and_then(|n| n.as_str()).unwrap_or("without a label");
        let title = format!("{} {}", component.key, settings::shown(label));
        let endpoints = body.entries().iter().filter(|e| &*e.key == "endpoint");
        let mut found: Vec<Layer> = Vec::new();
        match &*component.key {
            "loki.write" => found.extend(endpoints.filter_map(|e| loki(&title, e, ids))),
            "pyroscope.write" => found.extend(endpoints.filter_map(|e| pyroscope(&title, e, ids))),
            "prometheus.remote_write" => found.extend(endpoints.filter_map(|e| prometheus(&title, e, ids))),
            key if key.starts_with("otelcol.exporter.") => found.extend(otel(&title, component, body, ids)),
            _ => {}
        }
        for layer in found {
            if !facts.layers.iter().any(|l| l.system == ID && l.opens == layer.opens) {
                facts.layers.push(layer);
            }
        }
    }
}

fn limit(entry: &Entry) -> Option<Setting<Duration>> {
    settings::limit(&entry.value, |n| duration::go(n.as_str()?))
}

/// The same attributes as Loki's, and the same loop.
fn pyroscope(title: &str, endpoint: &Entry, ids: &mut Ids) -> Option<Layer> {
    let layer = loki(title, endpoint, ids)?;
    let attempts = match layer.attempts {
        Setting::Default { value, .. } => Setting::default(value, PYROSCOPE),
        written => written,
    };
    Some(Layer { attempts, retry_after: Setting::default(false, PYROSCOPE), ..layer })
}

fn loki(title: &str, endpoint: &Entry, ids: &mut Ids) -> Option<Layer> {
    let body = block(endpoint)?;
    let to = base::host(body.entry("url"));
    let id = ids.next(format!("{ID}:{title}"));
    let attempts = Setting::default(Attempts::Count(10), LOKI);
    let mut layer = base::apart(ID, id, format!("Alloy {title}"), endpoint.key_span, to, attempts);
    if let Some(count) = body.entry("max_backoff_retries") {
        base::counted(&mut layer, count, promtail::attempts(count));
    }
    let (first, longest) = (body.entry("min_backoff_period"), body.entry("max_backoff_period"));
    (layer.wait, layer.jitter) = promtail::schedule(
        base::or_default(first, base::go, Duration::from_millis(500), LOKI),
        base::or_default(longest, base::go, Duration::from_secs(300), LOKI),
    );
    layer.wait_place = first.or(longest).map(|e| e.key_span);
    let on_429 = body.entry("retry_on_http_429").is_none_or(|e| e.value.as_bool() != Some(false));
    let codes = (500..=599).chain(on_429.then_some(429));
    layer.retries = base::by_default(base::and_transport(codes), layer.opens);
    layer.retry_after = Setting::default(false, SHARDS);
    layer.per_try = match body.entry("remote_timeout") {
        Some(e) => limit(e),
        None => Some(Setting::default(Duration::from_secs(10), LOKI)),
    };
    layer.advice = Advice {
        none: Some("set `max_backoff_retries = 1`".to_owned()),
        limit: Some("set `max_backoff_retries` to a number above 0".to_owned()),
        ..Advice::default()
    };
    Some(layer)
}

fn prometheus(title: &str, endpoint: &Entry, ids: &mut Ids) -> Option<Layer> {
    let body = block(endpoint)?;
    let queue = inner(body, "queue_config").and_then(block);
    let field = |key: &str| queue?.entry(key);
    let to = base::host(body.entry("url"));
    let id = ids.next(format!("{ID}:{title}"));
    let attempts = Setting::default(Attempts::Unbounded, PROMETHEUS);
    let mut layer = base::apart(ID, id, format!("Alloy {title}"), endpoint.key_span, to, attempts);
    let (first, longest) = (field("min_backoff"), field("max_backoff"));
    layer.wait = base::exponential(
        base::or_default(first, base::go, Duration::from_millis(30), PROMETHEUS),
        Setting::default(2.0, PROMETHEUS),
        base::or_default(longest, base::go, Duration::from_secs(5), PROMETHEUS).map(Some),
    );
    layer.wait_place = first.or(longest).map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, PROMETHEUS);
    layer.retries = Conditions { yes: base::and_transport(500..=599), ..Conditions::default() };
    let rate_limit = field("retry_on_http_429");
    if rate_limit.is_none_or(|e| e.value.as_bool() != Some(false)) {
        let modes = ModeSet::statuses([429]);
        layer.retries.yes = layer.retries.yes.union(modes);
        let span = rate_limit.map_or(layer.opens, |e| e.value.span);
        layer.retries.picks.push(Pick { modes, span, text: "`retry_on_http_429`".to_owned() });
    }
    layer.retry_after = Setting::default(true, PROMETHEUS);
    layer.overall = field("sample_age_limit").and_then(limit);
    layer.advice.limit = Some("set `sample_age_limit` in `queue_config`, such as \"2h\"".to_owned());
    Some(layer)
}

/// As the Collector, whose components these are.
fn otel(title: &str, component: &Entry, body: &Node, ids: &mut Ids) -> Option<Layer> {
    let kind = component.key.strip_prefix("otelcol.exporter.")?;
    let block_of = inner(body, "retry_on_failure");
    let known = matches!(kind, "otlp" | "otlphttp");
    let retry = block_of.and_then(block);
    // Many exporters have no retries at all: only a block tells.
    if retry.is_none() && !known {
        return None;
    }
    let field = |key: &str| retry?.entry(key);
    let client = inner(body, "client").and_then(block);
    let to = base::host(client.and_then(|c| c.entry("endpoint")));
    let wait = base::exponential(
        base::or_default(field("initial_interval"), base::go, Duration::from_secs(5), OTEL),
        base::or_default(field("multiplier"), base::number, 1.5, OTEL),
        base::or_default(field("max_interval"), base::go, Duration::from_secs(30), OTEL).map(Some),
    );
    let deadline = base::or_default(field("max_elapsed_time"), base::go, Duration::from_secs(300), OTEL);
    let attempts = base::within_or_unbounded(&deadline, &wait);
    let id = ids.next(format!("{ID}:{title}"));
    let mut layer = base::apart(ID, id, format!("Alloy {title}"), component.key_span, to, attempts.clone());
    layer.asked_for = retry.is_some();
    if let Some(off) = field("enabled").filter(|e| e.value.as_bool() == Some(false)) {
        base::counted(&mut layer, off, Setting::written(Attempts::Count(1), off.value.span));
    } else if let Some(elapsed) = field("max_elapsed_time") {
        base::counted(&mut layer, elapsed, attempts);
    }
    layer.wait = wait;
    layer.wait_place = field("initial_interval").or(block_of).map(|e| e.key_span);
    layer.jitter = base::or_default(field("randomization_factor"), base::number, 0.5, OTEL).map(base::around);
    layer.retries = match kind {
        "otlphttp" => base::by_default(base::and_transport([429, 502, 503, 504]), layer.opens),
        "otlp" => {
            let codes: ModeSet = [1, 4, 10, 11, 14, 15].map(Mode::Grpc).into_iter().collect();
            Conditions { yes: codes.union(ModeSet::transport()), ..Conditions::default() }
        }
        _ => base::unknown_conditions(),
    };
    layer.retry_after = Setting::default(true, OTEL);
    layer.advice = Advice {
        none: Some("set `enabled = false` in `retry_on_failure`".to_owned()),
        limit: Some("set `max_elapsed_time = \"5m\"`".to_owned()),
        jitter: Some("set `randomization_factor = 0.5`".to_owned()),
        ..Advice::default()
    };
    Some(layer)
}
