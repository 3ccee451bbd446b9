//! Fluentd: its outputs and their buffers.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::syntax::{Entry, Node, Syntax, Value};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, embedded};

/// Fluentd.
pub struct Fluentd;

const ID: &str = "fluentd";
const OUTPUT: &str = "fluent/fluentd lib/fluent/plugin/output.rb";
const STATE: &str = "fluent/fluentd lib/fluent/plugin_helper/retry_state.rb";
const HTTP: &str = "fluent/fluentd lib/fluent/plugin/out_http.rb";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Fluentd",
    reads: "`<match>` with `<buffer>` (fluent.conf, td-agent.conf, YAML, ConfigMaps)",
    marks: &["<match", "match:"],
    defaults: &[
        DefaultFigure { what: "retry_max_times absent", value: "within retry_timeout, 72 h", source: OUTPUT },
        DefaultFigure { what: "retry_forever: true", value: "no limit", source: OUTPUT },
        DefaultFigure {
            what: "retry_wait, retry_exponential_backoff_base absent",
            value: "1 s, × 2, no cap",
            source: OUTPUT,
        },
        DefaultFigure { what: "retry_randomize absent", value: "0.875 to 1.125 of the wait", source: STATE },
        DefaultFigure { what: "retry_type: periodic", value: "the same wait each time", source: STATE },
        DefaultFigure { what: "retryable_response_codes absent", value: "503 (http)", source: HTTP },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: HTTP },
    ],
};

impl System for Fluentd {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, parsed) in embedded::conf_files(unit, &["<match", "</match>"], Syntax::Tags) {
            parsed.documents.iter().for_each(|root| read(root, &mut ids, facts));
        }
        for (file, root) in unit.documents() {
            read(root, &mut ids, facts);
            for parsed in embedded::texts(file, root, &["<match", "</match>"], Syntax::Tags) {
                parsed.documents.iter().for_each(|root| read(root, &mut ids, facts));
            }
        }
    }
}

fn read(root: &Node, ids: &mut Ids, facts: &mut Facts) {
    for node in root.walk() {
        for entry in node.entries().iter().filter(|e| &*e.key == "match") {
            if let Some(layer) = output(entry, ids)
                && !facts.layers.iter().any(|l| l.system == ID && l.opens == layer.opens)
            {
                facts.layers.push(layer);
            }
        }
    }
}

/// What is in a section: behind its argument, or the mapping itself in YAML.
fn body(entry: &Entry) -> Option<&Node> {
    match &entry.value.value {
        Value::List(items) => items.last().map(|n| &**n).filter(|n| matches!(n.value, Value::Map(_))),
        Value::Map(_) => Some(&entry.value),
        Value::Scalar(_) => None,
    }
}

fn section<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.entry(key).and_then(body)
}

fn output(entry: &Entry, ids: &mut Ids) -> Option<Layer> {
    let output = body(entry)?;
    // A mapping of this name is anybody's: only the mark before `type` says that it is Fluentd's.
    let is_section = !entry.value.items().is_empty();
    let kinds: &[&str] = if is_section { &["@type", "$type", "type"] } else { &["@type", "$type"] };
    let kind = output.get_any(kinds)?.as_str()?;
    if LOCAL.contains(&kind) {
        return None;
    }
    let buffer = section(output, "buffer");
    let old = |key: &str| output.entry(key);
    let field = |key: &str| buffer.and_then(|b| b.entry(key));
    let tag = entry.value.items().first().and_then(|n| n.as_str());
    let tag = tag.or_else(|| output.get_any(&["$tag", "tag"]).and_then(Node::as_str)).unwrap_or("**");
    let name = format!("Fluentd output {kind} for {}", settings::shown(tag));
    let server = section(output, "server");
    let to = base::host(output.entry_any(&["endpoint", "host", "url"]).or_else(|| server?.entry("host")));
    let id = ids.next(format!("{ID}:{kind}:{tag}"));
    let forever = field("retry_forever").or_else(|| old("disable_retry_limit"));
    let forever = forever.filter(|e| e.value.as_bool() == Some(true));
    let times = field("retry_max_times").or_else(|| old("retry_limit"));
    let wait = wait(&field, &old);
    let limit = base::or_default(field("retry_timeout"), time, Duration::from_secs(72 * 3600), OUTPUT);
    let attempts = Attempts::within(&limit, &wait, 1.0);
    let mut layer = base::apart(ID, id, name, entry.key_span, to, attempts.clone());
    if let Some(forever) = forever {
        base::counted(&mut layer, forever, Setting::written(Attempts::Unbounded, forever.value.span));
    } else if let Some(times) = times {
        base::counted(&mut layer, times, settings::retries(times));
        layer.overall = Some(limit);
    } else if let Some(timeout) = field("retry_timeout") {
        base::counted(&mut layer, timeout, attempts);
    }
    layer.wait = wait;
    let places = ["retry_wait", "retry_max_interval", "retry_type", "retry_randomize"];
    layer.wait_place = places.iter().find_map(|key| field(key)).or_else(|| old("retry_wait")).map(|e| e.key_span);
    layer.jitter = match field("retry_randomize") {
        Some(e) if e.value.as_bool() == Some(false) => Setting::written(Jitter::None, e.value.span),
        Some(e) => Setting::written(base::around(0.125), e.value.span),
        None => Setting::default(base::around(0.125), STATE),
    };
    layer.retries = conditions(output, kind);
    layer.retry_after = Setting::default(false, HTTP);
    layer.advice = advice();
    Some(layer)
}

/// Outputs that send nothing to another host, or hand on to others.
const LOCAL: [&str; 13] = [
    "stdout",
    "null",
    "file",
    "copy",
    "relabel",
    "rewrite_tag_filter",
    "exec",
    "roundrobin",
    "secondary_file",
    "detect_exceptions",
    "concat",
    "label_router",
    "route",
];

fn wait<'n>(field: &impl Fn(&str) -> Option<&'n Entry>, old: &impl Fn(&str) -> Option<&'n Entry>) -> Wait {
    let first = field("retry_wait").or_else(|| old("retry_wait"));
    let first = base::or_default(first, time, Duration::from_secs(1), OUTPUT);
    if field("retry_type").is_some_and(|e| e.value.as_str() == Some("periodic")) {
        return Wait::Fixed(first);
    }
    let factor = base::or_default(field("retry_exponential_backoff_base"), base::number, 2.0, OUTPUT);
    let cap = match field("retry_max_interval").or_else(|| old("max_retry_wait")) {
        Some(e) => time(e).map(Some),
        None => Setting::default(None, OUTPUT),
    };
    base::exponential(first, factor, cap)
}

/// A bare number of seconds, or a number with its unit.
fn time(entry: &Entry) -> Setting<Duration> {
    super::spring::setting(entry, "a duration", |text| match text.parse::<f64>() {
        Ok(n) => duration::millis(n * 1e3),
        Err(_) => duration::go(text),
    })
}

fn conditions(output: &Node, kind: &str) -> Conditions {
    if kind != "http" {
        return base::unknown_conditions();
    }
    let mut out = match output.entry("retryable_response_codes") {
        Some(list) => base::statuses(list),
        None => Conditions { yes: ModeSet::statuses([503]), ..Conditions::default() },
    };
    out.yes = out.yes.union(ModeSet::transport());
    out
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `retry_max_times 1` in `<buffer>`"),
        limit: some("set `retry_max_times` or `retry_timeout` instead of `retry_forever`, with a `<secondary>`"),
        grow: some("set `retry_type exponential_backoff`"),
        cap: some("set `retry_max_interval 30s` in `<buffer>`"),
        jitter: some("set `retry_randomize true` in `<buffer>`"),
        statuses: some("list in `retryable_response_codes` only what can pass: 429, 502, 503, 504"),
        ..Advice::default()
    }
}
