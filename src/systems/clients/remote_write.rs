//! Prometheus remote write, and the agents and the operator that take its settings over.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Pick, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Prometheus remote write.
pub struct RemoteWrite;

const ID: &str = "prometheus-remote-write";
const CONFIG: &str = "prometheus/prometheus config/config.go";
const QUEUE: &str = "prometheus/prometheus storage/remote/queue_manager.go";
const CLIENT: &str = "prometheus/prometheus storage/remote/client.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Prometheus remote write",
    reads: "`remote_write` of prometheus.yml and of agents, `remoteWrite` of the operator's resources and of Helm values",
    marks: &["remote_write", "remoteWrite"],
    defaults: &[
        DefaultFigure { what: "remote_write", value: "no limit; there is none but an age of samples", source: QUEUE },
        DefaultFigure { what: "min_backoff, max_backoff absent", value: "30 ms, × 2, at most 5 s", source: CONFIG },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: QUEUE },
        DefaultFigure { what: "retry_on_http_429 absent", value: "429 drops the samples", source: CONFIG },
        DefaultFigure {
            what: "what is retried",
            value: "5xx and failed connections, with Retry-After",
            source: CLIENT,
        },
        DefaultFigure { what: "sample_age_limit absent", value: "samples never grow too old", source: CONFIG },
        DefaultFigure { what: "remote_timeout absent", value: "30 s for each try", source: CONFIG },
    ],
};

impl System for RemoteWrite {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            for node in root.walk() {
                let Some(list) = node.get_any(&["remote_write", "remoteWrite"]) else { continue };
                let targets = list.items().iter().take(settings::MAX_LIST).filter(|t| t.get("url").is_some());
                facts.layers.extend(targets.map(|target| layer(file, target, &mut ids)));
            }
        }
    }
}

fn layer(file: &SourceFile, target: &Node, ids: &mut Ids) -> Layer {
    let url = target.entry("url");
    let to = base::host(url);
    let title = target.get("name").and_then(Node::as_str).or(to.as_ref().map(|h| h.name.as_str())).unwrap_or("?");
    let name = format!("Prometheus remote write to {}", settings::shown(title));
    let queue = target.get_any(&["queue_config", "queueConfig"]);
    let field = |keys: &[&str]| queue?.entry_any(keys).filter(|e| !e.value.is_null());
    let id = ids.next(format!("{ID}:{title}"));
    let opens = settings::opening(file, target);
    let attempts = Setting::default(Attempts::Unbounded, QUEUE);
    let mut layer = base::apart(ID, id, name, opens, to, attempts);
    layer.wait = base::exponential(
        base::or_default(field(&["min_backoff", "minBackoff"]), base::go, Duration::from_millis(30), CONFIG),
        Setting::default(2.0, QUEUE),
        base::or_default(field(&["max_backoff", "maxBackoff"]), base::go, Duration::from_secs(5), CONFIG).map(Some),
    );
    layer.wait_place = field(&["min_backoff", "minBackoff", "max_backoff", "maxBackoff"]).map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, QUEUE);
    layer.retries = conditions(field(&["retry_on_http_429", "retryOnRateLimit"]));
    layer.retry_after = Setting::default(true, CLIENT);
    layer.overall = field(&["sample_age_limit", "sampleAgeLimit"]).and_then(|e| limit(&e.value));
    layer.per_try = match target.get_any(&["remote_timeout", "remoteTimeout"]) {
        Some(node) => limit(node),
        None => Some(Setting::default(Duration::from_secs(30), CONFIG)),
    };
    let key = if target.get("queueConfig").is_some() {
        "queueConfig.sampleAgeLimit"
    } else {
        "queue_config.sample_age_limit"
    };
    layer.advice = Advice { limit: Some(format!("set `{key}`, such as 2h")), ..Advice::default() };
    layer
}

fn limit(node: &Node) -> Option<Setting<Duration>> {
    settings::limit(node, |n| duration::go(n.as_str()?))
}

fn conditions(rate_limit: Option<&Entry>) -> Conditions {
    let mut out = Conditions { yes: base::and_transport(500..=599), ..Conditions::default() };
    if let Some(entry) = rate_limit.filter(|e| e.value.as_bool() == Some(true)) {
        let modes = ModeSet::statuses([429]);
        out.yes = out.yes.union(modes);
        let text = format!("`{}`", entry.key);
        out.picks.push(Pick { modes, span: entry.value.span, text });
    }
    out
}
