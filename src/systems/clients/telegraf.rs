//! Telegraf: its outputs.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Attempts, Conditions, Jitter, Layer, ModeSet, Pick, STATUSES, Setting, Wait};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Telegraf.
pub struct Telegraf;

const ID: &str = "telegraf";
const AGENT: &str = "influxdata/telegraf cmd/telegraf/agent.conf";
const HTTP: &str = "influxdata/telegraf plugins/outputs/http/http.go";
const INFLUX: &str = "influxdata/telegraf plugins/outputs/influxdb_v2/http.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Telegraf",
    reads: "`[[outputs.http]]` and `[[outputs.influxdb_v2]]`, with `flush_interval` and `flush_jitter` of the agent",
    marks: &["outputs.http", "outputs.influxdb_v2"],
    defaults: &[
        DefaultFigure {
            what: "outputs",
            value: "no limit; what is not sent goes out with the next flush",
            source: AGENT,
        },
        DefaultFigure { what: "flush_interval absent", value: "10 s, the same each time", source: AGENT },
        DefaultFigure { what: "flush_jitter absent", value: "no jitter", source: AGENT },
        DefaultFigure { what: "what outputs.http retries", value: "every status but 2xx", source: HTTP },
        DefaultFigure {
            what: "what outputs.influxdb_v2 retries",
            value: "401, 403, 429 and 5xx, after Retry-After or up to 60 s",
            source: INFLUX,
        },
    ],
};

impl System for Telegraf {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            let agent = root.get("agent");
            for kind in ["http", "influxdb_v2"] {
                let outputs = root.at(&["outputs", kind]).map_or(&[][..], Node::items);
                for output in outputs {
                    facts.layers.push(layer(file, agent, kind, output, &mut ids));
                }
            }
        }
    }
}

fn layer(file: &SourceFile, agent: Option<&Node>, kind: &str, output: &Node, ids: &mut Ids) -> Layer {
    let target = output.entry_any(&["url", "urls"]);
    let to = base::first_host(target);
    let title = to.as_ref().map_or(kind, |h| h.name.as_str());
    let name = format!("Telegraf output {kind} to {title}");
    let id = ids.next(format!("{ID}:{kind}:{title}"));
    let opens = settings::opening(file, output);
    let mut layer = base::apart(ID, id, name, opens, to, Setting::default(Attempts::Unbounded, AGENT));
    let field = |key: &str| agent?.entry(key);
    if kind == "http" {
        let interval = output.entry("flush_interval").or(field("flush_interval"));
        let jitter = output.entry("flush_jitter").or(field("flush_jitter"));
        layer.wait = Wait::Fixed(base::or_default(interval, base::go, Duration::from_secs(10), AGENT));
        layer.wait_place = interval.map(|e| e.key_span);
        layer.jitter = spread(jitter);
        layer.retries = all_but(output.entry("non_retryable_statuscodes"), opens);
        layer.retry_after = Setting::default(false, HTTP);
        layer.advice.statuses = Some(missing(layer.retries.yes));
        layer.advice.jitter = Some("set `flush_jitter`, such as \"5s\"".to_owned());
    } else {
        // n²/40 seconds before try n + 1.
        let wait = |n: u64| Duration::from_millis(n * n * 25).min(Duration::from_secs(60));
        layer.wait = Wait::Scheduled { waits: (1..=49).map(wait).collect(), capped: true };
        layer.jitter = Setting::default(Jitter::None, INFLUX);
        layer.retries = base::by_default(base::and_transport((500..=599).chain([401, 403, 429])), opens);
        layer.retries.picks.clear();
        layer.retry_after = Setting::default(true, INFLUX);
    }
    layer.per_try = output.entry("timeout").map(base::go);
    layer
}

/// What else to list: the usual answers to data that is wrong; once these are listed, the others.
fn missing(retried: ModeSet) -> String {
    let usual = ModeSet::statuses([400, 401, 403, 404, 413]).intersection(retried);
    let others = ModeSet::statuses((400..500).filter(|c| !matches!(c, 408 | 425 | 429))).intersection(retried);
    let codes = if usual.is_empty() { others } else { usual };
    format!("list in `non_retryable_statuscodes` what no later try can change: {}", codes.names().join(", "))
}

/// Each flush is put off by up to so much.
fn spread(jitter: Option<&Entry>) -> Setting<Jitter> {
    base::or_default(jitter, base::go, Duration::ZERO, AGENT).map(|d| match d.is_zero() {
        true => Jitter::None,
        false => Jitter::Partial { low: 1.0, high: 2.0 },
    })
}

fn all_but(list: Option<&Entry>, opens: Span) -> Conditions {
    let dropped = list.map(base::statuses).unwrap_or_default().yes;
    let yes = ModeSet::statuses(STATUSES).union(ModeSet::transport()).difference(dropped);
    let picks = vec![Pick { modes: yes, span: list.map_or(opens, |e| e.key_span), text: "every status".to_owned() }];
    let any_error = list.is_none().then_some(opens);
    Conditions { yes, picks, any_error, ..Conditions::default() }
}
