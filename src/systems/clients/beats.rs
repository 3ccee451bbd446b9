//! Beats: Filebeat, Metricbeat and the others.

use std::time::Duration;

use super::base;
use super::spring::{self, Leaf};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Beats.
pub struct Beats;

const ID: &str = "beats";
const DOCS: &str = "elastic/beats libbeat/outputs/elasticsearch/docs/elasticsearch.asciidoc";
const CONFIG: &str = "elastic/beats libbeat/outputs/elasticsearch/config.go";
const BACKOFF: &str = "elastic/beats libbeat/common/backoff/equal_jitter.go";
const CLIENT: &str = "elastic/beats libbeat/outputs/elasticsearch/client.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Beats",
    reads: "`output.elasticsearch`, `output.logstash` and `output.kafka` of filebeat.yml, metricbeat.yml and the like",
    marks: &["output"],
    defaults: &[
        DefaultFigure { what: "max_retries absent", value: "4 attempts", source: CONFIG },
        DefaultFigure { what: "max_retries in Filebeat", value: "no limit, whatever is written", source: DOCS },
        DefaultFigure { what: "max_retries below 0", value: "no limit", source: DOCS },
        DefaultFigure { what: "backoff.init, backoff.max absent", value: "2 s, × 2, at most 60 s", source: CONFIG },
        DefaultFigure { what: "jitter", value: "half of the wait; it cannot be set", source: BACKOFF },
        DefaultFigure {
            what: "what output.elasticsearch retries",
            value: "every status but 200 of a bulk request; 429 and 5xx of a document",
            source: CLIENT,
        },
        DefaultFigure { what: "timeout absent", value: "90 s for each try (elasticsearch)", source: CONFIG },
    ],
};

impl System for Beats {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let Some(beat) = beat(file, root) else { continue };
            for kind in ["elasticsearch", "logstash", "kafka"] {
                let leaves = spring::leaves(root, &["output", kind]);
                facts.layers.extend(layer(&beat, kind, &leaves));
            }
        }
    }
}

/// Which Beat it is, by the file's name or by its first keys.
fn beat(file: &SourceFile, root: &Node) -> Option<String> {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let stem = name.split(['.', '-']).next().unwrap_or(name);
    let keys = root.entries().iter().filter_map(|e| e.key.split('.').next());
    let known = ["filebeat", "metricbeat", "heartbeat", "auditbeat", "packetbeat", "winlogbeat", "journalbeat"];
    let beat = keys.chain([stem]).find(|key| known.contains(key))?;
    Some(beat.to_string())
}

fn layer(beat: &str, kind: &str, leaves: &[Leaf<'_>]) -> Option<Layer> {
    let field = |name: &str| {
        let found = leaves.iter().rev().find(|l| l.path.iter().skip(2).map(|(p, _)| p.as_str()).eq(name.split('.')));
        found.map(|l| l.entry)
    };
    let opens = leaves.first()?.path.get(1)?.1;
    if field("enabled").is_some_and(|e| e.value.as_bool() == Some(false)) {
        return None;
    }
    let to = base::first_host(field("hosts").or(field("hosts.0")));
    let ignored = matches!(beat, "filebeat");
    let count = if ignored { Attempts::Unbounded } else { Attempts::Count(4) };
    let name = format!("{} output {kind}", capital(beat));
    let id = format!("{ID}:{beat}:{kind}");
    let mut layer = base::apart(ID, id.into(), name, opens, to, Setting::default(count, DOCS));
    if let Some(entry) = field("max_retries") {
        if ignored {
            layer.labels.push((entry.value.span, "Filebeat does not look at this".to_owned()));
        } else {
            base::counted(&mut layer, entry, base::retries(entry, Some(Attempts::Unbounded)));
        }
    }
    // The first wait is twice what is written, and a part of each is drawn at random.
    let first = base::or_default(field("backoff.init"), base::go, Duration::from_secs(1), CONFIG);
    let longest = base::or_default(field("backoff.max"), base::go, Duration::from_secs(60), CONFIG);
    layer.wait = match kind {
        "kafka" => Wait::Unknown { why: "it depends on the client of Kafka".to_owned() },
        _ => base::exponential(first.map(|d| d.saturating_mul(2)), Setting::default(2.0, BACKOFF), longest.map(Some)),
    };
    layer.wait_place = field("backoff.init").or(field("backoff.max")).map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::Partial { low: 0.5, high: 1.0 }, BACKOFF);
    layer.retries = match kind {
        "elasticsearch" => {
            Conditions { yes: ModeSet::statuses(400..=599).union(ModeSet::transport()), ..Conditions::default() }
        }
        _ => Conditions { yes: ModeSet::transport(), ..Conditions::default() },
    };
    layer.retry_after = Setting::unknown("nothing was seen that looks at it", None);
    layer.per_try = match (field("timeout"), kind) {
        (Some(e), _) => Some(timeout(e)),
        (None, "elasticsearch") => Some(Setting::default(Duration::from_secs(90), CONFIG)),
        _ => None,
    };
    layer.advice = advice(ignored);
    Some(layer)
}

/// Seconds, or a duration with its unit.
fn timeout(entry: &Entry) -> Setting<Duration> {
    if entry.value.as_f64().is_some() { base::seconds(entry) } else { base::go(entry) }
}

fn capital(beat: &str) -> String {
    let mut chars = beat.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

fn advice(ignored: bool) -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: if ignored { None } else { some("set `max_retries: 0`") },
        limit: if ignored { None } else { some("set `max_retries` to a number from 0 on") },
        ..Advice::default()
    }
}
