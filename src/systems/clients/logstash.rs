//! Logstash: the elasticsearch and http outputs of its pipelines.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, STATUSES, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded};

/// Logstash.
pub struct Logstash;

const ID: &str = "logstash";
const DOCS: &str = "logstash-plugins/logstash-output-elasticsearch docs/index.asciidoc";
const COMMON: &str =
    "logstash-plugins/logstash-output-elasticsearch lib/logstash/plugin_mixins/elasticsearch/common.rb";
const HTTP: &str = "logstash-plugins/logstash-output-http lib/logstash/outputs/http.rb";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Logstash",
    reads: "`output { elasticsearch { … } http { … } }` of pipelines (*.conf in folders or with names of logstash, ConfigMaps, Helm values)",
    marks: &["elasticsearch {", "elasticsearch{", "http {", "http{"],
    defaults: &[
        DefaultFigure { what: "output elasticsearch", value: "no limit; there is no such setting", source: COMMON },
        DefaultFigure {
            what: "retry_initial_interval, retry_max_interval absent",
            value: "2 s, × 2, at most 64 s",
            source: DOCS,
        },
        DefaultFigure {
            what: "jitter of output elasticsearch",
            value: "none; there is no such setting",
            source: COMMON,
        },
        DefaultFigure {
            what: "what output elasticsearch retries",
            value: "every status but 200 of a bulk request",
            source: COMMON,
        },
        DefaultFigure { what: "retry_failed absent (http)", value: "no limit", source: HTTP },
        DefaultFigure { what: "waits of output http", value: "growing up to 60 s, half of each random", source: HTTP },
        DefaultFigure {
            what: "retryable_codes absent (http)",
            value: "429, 500, 502, 503, 504 and failed connections",
            source: HTTP,
        },
        DefaultFigure { what: "request_timeout absent (http)", value: "60 s for each try", source: HTTP },
    ],
};

impl System for Logstash {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, parsed) in embedded::conf_files(unit, &["input", "output", "=>"], Syntax::Blocks) {
            parsed.documents.iter().for_each(|root| read(root, &mut ids, facts));
        }
        for (file, root) in unit.documents() {
            read(root, &mut ids, facts);
            for parsed in embedded::texts(file, root, &["input", "output", "{"], Syntax::Blocks) {
                parsed.documents.iter().for_each(|root| read(root, &mut ids, facts));
            }
        }
    }
}

/// What is in a block; its labels stand before it.
fn block(entry: &Entry) -> Option<&Node> {
    entry.value.items().last().map(|n| &**n).filter(|n| !n.entries().is_empty())
}

fn read(root: &Node, ids: &mut Ids, facts: &mut Facts) {
    // A pipeline has inputs beside its outputs.
    if root.entry("input").and_then(block).is_none() && root.entry("filter").and_then(block).is_none() {
        return;
    }
    for output in root.entries().iter().filter(|e| &*e.key == "output").filter_map(block) {
        for node in output.walk() {
            for entry in node.entries() {
                let layer = match (&*entry.key, block(entry)) {
                    ("elasticsearch", Some(body)) => Some(elasticsearch(entry.key_span, body, ids)),
                    ("http", Some(body)) => http(entry.key_span, body, ids),
                    _ => None,
                };
                facts.layers.extend(layer);
            }
        }
    }
}

fn elasticsearch(opens: Span, body: &Node, ids: &mut Ids) -> Layer {
    let to = base::first_host(body.entry("hosts"));
    let title = to.as_ref().map_or("elasticsearch".to_owned(), |h| h.name.clone());
    let id = ids.next(format!("{ID}:elasticsearch:{title}"));
    let attempts = Setting::default(Attempts::Unbounded, COMMON);
    let mut layer = base::apart(ID, id, format!("Logstash output elasticsearch to {title}"), opens, to, attempts);
    let (first, longest) = (body.entry("retry_initial_interval"), body.entry("retry_max_interval"));
    layer.wait = base::exponential(
        base::or_default(first, base::seconds, Duration::from_secs(2), DOCS),
        Setting::default(2.0, COMMON),
        base::or_default(longest, base::seconds, Duration::from_secs(64), DOCS).map(Some),
    );
    layer.wait_place = first.or(longest).map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, COMMON);
    let dropped = body.entry("dlq_custom_codes").map(base::statuses).unwrap_or_default().yes;
    let yes = ModeSet::statuses(STATUSES).union(ModeSet::transport()).difference(dropped);
    layer.retries = Conditions { yes, any_error: Some(opens), ..Conditions::default() };
    layer.retry_after = Setting::default(false, COMMON);
    layer.per_try = body.entry("timeout").map(base::seconds);
    layer.advice.statuses =
        Some("list in `dlq_custom_codes` what no later try can change, such as 401, 403, 404 and 413".to_owned());
    layer
}

fn http(opens: Span, body: &Node, ids: &mut Ids) -> Option<Layer> {
    let to = base::host(body.entry("url"));
    let title = to.as_ref().map_or("http".to_owned(), |h| h.name.clone());
    let id = ids.next(format!("{ID}:http:{title}"));
    let attempts = Setting::default(Attempts::Unbounded, HTTP);
    let mut layer = base::apart(ID, id, format!("Logstash output http to {title}"), opens, to, attempts);
    if let Some(failed) = body.entry("retry_failed") {
        let count = if failed.value.as_bool() == Some(false) { Attempts::Count(1) } else { Attempts::Unbounded };
        base::counted(&mut layer, failed, Setting::written(count, failed.value.span));
    }
    // The square of how often it was tried, in seconds.
    let wait = |n: u64| Duration::from_secs((n * n).min(60));
    layer.wait = Wait::Scheduled { waits: (1..=8).map(wait).collect(), capped: true };
    layer.jitter = Setting::default(Jitter::Partial { low: 0.5, high: 1.0 }, HTTP);
    layer.retries = match body.entry("retryable_codes") {
        Some(list) => {
            let listed = base::statuses(list);
            Conditions { yes: listed.yes.union(ModeSet::transport()), ..listed }
        }
        None => base::by_default(base::and_transport([429, 500, 502, 503, 504]), opens),
    };
    layer.retry_after = Setting::default(false, HTTP);
    layer.per_try = Some(base::or_default(body.entry("request_timeout"), base::seconds, Duration::from_secs(60), HTTP));
    layer.advice = Advice {
        none: Some("set `retry_failed => false`".to_owned()),
        limit: Some("set `retry_failed => false`; there is no count".to_owned()),
        statuses: Some("list in `retryable_codes` only what can pass".to_owned()),
        ..Advice::default()
    };
    Some(layer)
}
