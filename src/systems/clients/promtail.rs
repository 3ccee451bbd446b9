//! Promtail: its clients.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Jitter, Layer, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Promtail.
pub struct Promtail;

const ID: &str = "promtail";
const CLIENT: &str = "grafana/loki clients/pkg/promtail/client/config.go";
pub(super) const BACKOFF: &str = "grafana/dskit backoff/backoff.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Promtail",
    reads: "`clients` with `backoff_config`, beside `positions` or `scrape_configs`",
    marks: &["clients"],
    defaults: &[
        DefaultFigure { what: "max_retries absent", value: "10 attempts", source: CLIENT },
        DefaultFigure { what: "max_retries: 0", value: "no limit", source: BACKOFF },
        DefaultFigure { what: "min_period, max_period absent", value: "500 ms, × 2, at most 5 min", source: CLIENT },
        DefaultFigure { what: "jitter", value: "between once and twice the wait; it cannot be set", source: BACKOFF },
        DefaultFigure { what: "what is retried", value: "429, 5xx and failed connections", source: CLIENT },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: CLIENT },
        DefaultFigure { what: "timeout absent", value: "10 s for each try", source: CLIENT },
    ],
};

impl System for Promtail {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            for node in root.walk().filter(|n| n.get("positions").or(n.get("scrape_configs")).is_some()) {
                let clients = node.get("clients").map_or(&[][..], Node::items).iter();
                let clients = clients.filter(|c| c.get("url").is_some());
                facts.layers.extend(clients.map(|client| layer(file, client, &mut ids)));
            }
        }
    }
}

fn layer(file: &SourceFile, client: &Node, ids: &mut Ids) -> Layer {
    let to = base::host(client.entry("url"));
    let title = client.get("name").and_then(Node::as_str).or(to.as_ref().map(|h| h.name.as_str())).unwrap_or("?");
    let name = format!("Promtail client of {}", settings::shown(title));
    let opens = settings::opening(file, client);
    let block = client.entry("backoff_config").filter(|e| !e.value.is_null());
    let field = |key: &str| block?.value.entry(key);
    let id = ids.next(format!("{ID}:{title}"));
    let mut layer = base::apart(ID, id, name, opens, to, Setting::default(Attempts::Count(10), CLIENT));
    if let Some(count) = field("max_retries") {
        base::counted(&mut layer, count, attempts(count));
    }
    let (wait, jitter) = schedule(
        base::or_default(field("min_period"), base::go, Duration::from_millis(500), CLIENT),
        base::or_default(field("max_period"), base::go, Duration::from_secs(300), CLIENT),
    );
    layer.wait = wait;
    layer.jitter = jitter;
    layer.wait_place = block.map(|e| e.key_span);
    layer.retries = base::by_default(base::and_transport((500..=599).chain([429])), opens);
    layer.retry_after = Setting::default(false, CLIENT);
    layer.per_try = match client.get("timeout") {
        Some(node) => settings::limit(node, |n| duration::go(n.as_str()?)),
        None => Some(Setting::default(Duration::from_secs(10), CLIENT)),
    };
    layer.advice = Advice {
        none: Some("set `backoff_config: {max_retries: 1}`".to_owned()),
        limit: Some("set `max_retries` to a number above 0".to_owned()),
        ..Advice::default()
    };
    layer
}

/// All tries, the first included; 0 for no limit.
pub(super) fn attempts(count: &Entry) -> Setting<Attempts> {
    base::whole(count).map(|n| if n == 0 { Attempts::Unbounded } else { Attempts::Count(n) })
}

/// Each wait is drawn between a power of two of the shortest and the next one, up to the longest.
pub(super) fn schedule(shortest: Setting<Duration>, longest: Setting<Duration>) -> (Wait, Setting<Jitter>) {
    let same = shortest.value().is_some() && shortest.value() == longest.value();
    let jitter = if same { Jitter::None } else { Jitter::Partial { low: 1.0, high: 2.0 } };
    let factor = Setting::default(2.0, BACKOFF);
    (base::exponential(shortest, factor, longest.map(Some)), Setting::default(jitter, BACKOFF))
}
