//! Cloudflare Queues: consumers in a Worker's configuration.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, Jitter, LayerKind, Queue, QueueRef, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Cloudflare Queues.
pub struct CloudflareQueues;

const ID: &str = "cloudflare-queues";
const SERVICE: &str = "cloudflare";
const DOCS: &str = "Cloudflare Queues documentation, configure queues";
const DEAD: &str = "Cloudflare Queues documentation, dead letter queues";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Cloudflare Queues",
    reads: "wrangler.toml, wrangler.json: consumers of queues, also those of environments",
    marks: &["queues"],
    defaults: &[
        DefaultFigure { what: "max_retries absent", value: "4 attempts (3 retries)", source: DOCS },
        DefaultFigure { what: "retry_delay absent", value: "at once", source: DOCS },
        DefaultFigure { what: "dead_letter_queue absent", value: "deleted after the last attempt", source: DEAD },
        DefaultFigure {
            what: "a dead-letter queue without a consumer",
            value: "keeps messages for 4 days",
            source: DEAD,
        },
    ],
};

impl System for CloudflareQueues {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents().filter(|(file, _)| is_wrangler(&file.path)) {
            let environments = root.get("env").map_or(&[][..], Node::entries);
            let all = environments.iter().map(|e| (Some(&*e.key), &*e.value)).chain([(None, root)]);
            for (environment, node) in all {
                let consumers = node.at(&["queues", "consumers"]).map_or(&[][..], Node::items);
                let dead: Vec<&str> = consumers.iter().filter_map(|c| c.get("dead_letter_queue")?.as_str()).collect();
                for consumer in consumers {
                    read(file, environment, consumer, &dead, &mut ids, facts);
                }
                let taken = |name: &str| {
                    consumers.iter().any(|c| c.get("queue").and_then(Node::as_str).is_some_and(|queue| queue == name))
                };
                let targets = consumers.iter().filter_map(|c| c.get("dead_letter_queue"));
                facts.queues.extend(targets.filter_map(|n| left_alone(n, &taken, &mut ids)));
            }
        }
    }
}

fn is_wrangler(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("wrangler."))
}

/// A queue of dead letters that nothing takes from: it forgets them.
fn left_alone(node: &Node, taken: &dyn Fn(&str) -> bool, ids: &mut Ids) -> Option<Queue> {
    let name = node.as_str().filter(|name| !taken(name))?;
    let title = format!("Cloudflare queue {name}, which nothing takes from and which keeps messages for 4 days,");
    let mut queue = repeats::queue(SERVICE, ids.next(format!("{ID}:dead:{name}")), title, node.span);
    queue.names = vec![QueueRef::Name(name.to_owned())];
    queue.holds_dead_letters = true;
    queue.retention = Some(Setting::default(Duration::from_secs(4 * 86_400), DEAD));
    Some(queue)
}

fn read(
    file: &SourceFile,
    environment: Option<&str>,
    consumer: &Node,
    dead: &[&str],
    ids: &mut Ids,
    facts: &mut Facts,
) {
    let Some(name) = consumer.get("queue").and_then(Node::as_str) else { return };
    let within = environment.map(|e| format!(" in {e}")).unwrap_or_default();
    let title = format!("consumer of Cloudflare queue {name}{within}");
    let id = ids.next(format!("{ID}:{name}{within}"));
    let opens =
        consumer.entry("queue").map_or_else(|| settings::opening(file, consumer), |e| e.key_span.to(e.value.span));
    let count = consumer.entry("max_retries");
    let attempts = match count {
        Some(e) => settings::retries(e),
        None => Setting::default(Attempts::Count(4), DOCS),
    };
    let mut layer = repeats::layer(ID, LayerKind::Queue, id.clone(), title.clone(), opens, attempts);
    layer.place = count.map_or(opens, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} on {title}", settings::quote(e)),
        None => format!("{title}, which sets no `max_retries`"),
    };
    let delay = consumer.entry("retry_delay");
    layer.wait = match delay.map(|e| (e.value.as_int().and_then(|n| u64::try_from(n).ok()), e.value.span)) {
        Some((Some(seconds), span)) => Wait::Fixed(Setting::written(Duration::from_secs(seconds), span)),
        Some((None, span)) => Wait::Fixed(Setting::unknown("not a number of seconds", Some(span))),
        None => Wait::None,
    };
    layer.wait_place = delay.map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, DOCS);
    layer.advice.none = Some("`max_retries = 0`".to_owned());
    layer.advice.grow = Some("let the consumer pass a growing `delaySeconds` to `message.retry()`".to_owned());
    facts.layers.push(layer);

    let mut queue = repeats::queue(SERVICE, id, title, opens);
    queue.names = vec![QueueRef::Name(name.to_owned())];
    queue.otherwise = "is deleted after its last attempt".to_owned();
    queue.advice = Some("`dead_letter_queue`, and a consumer or an alert for it".to_owned());
    queue.holds_dead_letters = dead.contains(&name);
    queue.dead_letter = match consumer.get("dead_letter_queue").filter(|n| !n.is_null()) {
        Some(node) => match node.as_str() {
            Some(to) => DeadLetter::To { target: QueueRef::Name(to.to_owned()), place: node.span },
            None => DeadLetter::Unknown,
        },
        None => DeadLetter::None,
    };
    facts.queues.push(queue);
}
