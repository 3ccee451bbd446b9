//! The query frontends of Cortex, Loki, Mimir, Tempo and Thanos: how often they send a part of a query to a querier.

use std::time::Duration;

use super::{base, promtail};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, Mode, ModeSet, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// The query frontends.
pub struct QueryFrontend;

const ID: &str = "query-frontend";
const CORTEX: &str = "cortexproject/cortex pkg/querier/tripperware/queryrange/query_range_middlewares.go";
const LOKI: &str = "grafana/loki pkg/querier/queryrange/queryrangebase/retry.go";
const THANOS: &str = "thanos-io/thanos internal/cortex/querier/queryrange/retry.go";
const MIMIR: &str = "grafana/mimir pkg/frontend/querymiddleware/retry.go";
const TEMPO: &str = "grafana/tempo modules/frontend/pipeline/sync_handler_retry.go";
const DSKIT: &str = "cortexproject/cortex docs/configuration/config-file-reference.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Query frontends (Cortex, Loki, Mimir, Tempo, Thanos)",
    reads: "`max_retries` of `query_range`, Mimir's `frontend` and Tempo's `query_frontend`, `grpc_client_config.backoff_config` in settings, `max-retries-per-request` among arguments",
    marks: &[
        "query_range",
        "query_frontend",
        "queryFrontend",
        "blocks_storage",
        "max-retries-per-request",
        "grpc_client_config",
    ],
    defaults: &[
        DefaultFigure { what: "max_retries: 0", value: "1 attempt", source: CORTEX },
        DefaultFigure { what: "Cortex's waits", value: "none; there is no such setting", source: CORTEX },
        DefaultFigure { what: "Mimir's waits", value: "none; there is no such setting", source: MIMIR },
        DefaultFigure { what: "Tempo's waits", value: "none; there is no such setting", source: TEMPO },
        DefaultFigure { what: "Tempo's max_retries: 0", value: "1 attempt", source: TEMPO },
        DefaultFigure { what: "Loki's waits", value: "250 ms, × 2, at most 5 s, with jitter", source: LOKI },
        DefaultFigure { what: "Thanos's waits", value: "200 ms, × 2, at most 2 s, with jitter", source: THANOS },
        DefaultFigure {
            what: "grpc_client_config.backoff_config",
            value: "10 attempts on RESOURCE_EXHAUSTED, 100 ms to 10 s; only with backoff_on_ratelimits",
            source: DSKIT,
        },
    ],
};

impl System for QueryFrontend {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for node in root.walk() {
                facts.layers.extend(of_tempo(node));
                if let Some(count) = node.get("frontend").and_then(|f| f.entry("max_retries"))
                    && node.get("blocks_storage").is_some()
                {
                    let name = "the query frontend of Mimir".to_owned();
                    let layer = layer(name, count.key_span, Some(count), base::tries(count), at_once(MIMIR));
                    facts.layers.push(layer);
                }
                if let Some(count) = node.get("query_range").and_then(|q| q.entry("max_retries")) {
                    facts.layers.push(of_settings(node, count));
                }
                for entry in node.entries() {
                    facts.layers.extend(of_grpc(entry));
                    if matches!(&*entry.key, "args" | "command" | "extraArgs" | "extraFlags") {
                        facts.layers.extend(entry.value.items().iter().filter_map(|arg| of_argument(arg)));
                    }
                }
            }
        }
    }
}

/// How a program waits between its tries.
struct Waits {
    wait: Wait,
    jitter: Setting<Jitter>,
    advice: Advice,
    unknown: bool,
}

/// `loki.yaml` has sections that Cortex has not, and the other way round.
fn of_settings(root: &Node, count: &Entry) -> Layer {
    let has = |keys: &[&str]| keys.iter().any(|key| root.get(key).is_some());
    let is_loki = has(&["schema_config", "pattern_ingester", "index_gateway", "loki"]);
    let is_cortex = has(&["blocks_storage", "frontend_worker", "alertmanager_storage"]);
    let waits = match (is_loki, is_cortex) {
        (true, false) => growing(250, 5, LOKI),
        (false, true) => at_once(CORTEX),
        _ => Waits { unknown: true, ..growing(250, 5, LOKI) },
    };
    let whose = if is_loki { "Loki" } else { "Cortex" };
    let name = format!("the query frontend of {whose}");
    layer(name, count.key_span, Some(count), base::tries(count), waits)
}

/// `query_frontend` in Tempo's own file, `queryFrontend.config` in its chart's values.
fn of_tempo(node: &Node) -> Option<Layer> {
    let count = node.get("query_frontend").and_then(|f| f.entry("max_retries"));
    let in_values = || node.at(&["queryFrontend", "config"])?.entry("max_retries");
    let count = count.or_else(in_values)?;
    let name = "the query frontend of Tempo".to_owned();
    Some(layer(name, count.key_span, Some(count), base::tries(count), at_once(TEMPO)))
}

fn at_once(source: &'static str) -> Waits {
    Waits {
        wait: Wait::None,
        jitter: Setting::default(Jitter::None, source),
        advice: Advice::default(),
        unknown: false,
    }
}

fn growing(millis: u64, cap: u64, source: &'static str) -> Waits {
    Waits {
        wait: base::exponential(
            Setting::default(Duration::from_millis(millis), source),
            Setting::default(2.0, source),
            Setting::default(Some(Duration::from_secs(cap)), source),
        ),
        jitter: Setting::default(Jitter::Partial { low: 1.0, high: 2.0 }, source),
        ..at_once(source)
    }
}

/// `--query-range.max-retries-per-request=7` of Thanos, `-querier.max-retries-per-request=7` of Cortex and Loki.
fn of_argument(arg: &Node) -> Option<Layer> {
    let (flag, value) = arg.as_str()?.split_once('=')?;
    let flag = flag.trim_start_matches('-');
    let which = flag.strip_suffix(".max-retries-per-request")?;
    let span = settings::within(arg, arg.as_str()?.len() - value.len()..arg.as_str()?.len());
    let attempts = match value.trim().parse::<u64>() {
        Ok(n) => Setting::written(Attempts::Count(n.max(1)), span),
        Err(_) => Setting::unknown("is not a number here", Some(span)),
    };
    let waits = match which {
        "query-range" | "labels" => growing(200, 2, THANOS),
        _ => Waits { unknown: true, ..at_once(CORTEX) },
    };
    let name = format!("the query frontend's retries ({which})");
    let mut layer = layer(name, span, None, attempts, waits);
    layer.asked_for = true;
    layer.reading = format!("`{}` for {}", settings::shown(arg.as_str()?), layer.name);
    Some(layer)
}

fn layer(name: String, opens: Span, count: Option<&Entry>, attempts: Setting<Attempts>, waits: Waits) -> Layer {
    let mut layer = base::client(ID, format!("{ID}:{name}").into(), name, opens, None, attempts.clone());
    if let Some(count) = count {
        base::counted(&mut layer, count, attempts);
    }
    if waits.unknown {
        layer.wait = Wait::Unknown { why: "it depends on the program".to_owned() };
        layer.jitter = Setting::unknown("it depends on the program", None);
    } else {
        layer.wait = waits.wait;
        layer.jitter = waits.jitter;
    }
    layer.retries = Conditions { yes: base::and_transport(500..=599), ..Conditions::default() };
    layer.retry_after = Setting::default(false, CORTEX);
    layer.advice = Advice { none: Some("set the count to 1".to_owned()), ..waits.advice };
    layer
}

/// A block for waits on a server that is at its limit; it rests until `backoff_on_ratelimits` is on.
fn of_grpc(client: &Entry) -> Option<Layer> {
    if &*client.key != "grpc_client_config" {
        return None;
    }
    let on = client.value.get("backoff_on_ratelimits").and_then(Node::as_bool) == Some(true);
    let block = client.value.entry("backoff_config").filter(|_| on)?;
    let field = |key: &str| block.value.entry(key);
    let name = "gRPC client of a Cortex or Loki component".to_owned();
    let attempts = Setting::default(Attempts::Count(10), DSKIT);
    let mut layer = base::client(ID, format!("{ID}:grpc").into(), name, block.key_span, None, attempts);
    layer.asked_for = true;
    if let Some(count) = field("max_retries") {
        base::counted(&mut layer, count, promtail::attempts(count));
    }
    (layer.wait, layer.jitter) = promtail::schedule(
        base::or_default(field("min_period"), base::go, Duration::from_millis(100), DSKIT),
        base::or_default(field("max_period"), base::go, Duration::from_secs(10), DSKIT),
    );
    layer.wait_place = Some(block.key_span);
    layer.scope = crate::model::Scope::Client { to: None, grpc: true };
    let modes: ModeSet = [Mode::Grpc(8)].into_iter().collect();
    layer.retries = Conditions { yes: modes, ..Conditions::default() };
    layer.retry_after = Setting::unknown("gRPC has no such header", None);
    layer.advice.limit = Some("set `max_retries` to a number above 0".to_owned());
    Some(layer)
}
