//! Sidekiq: how often a job is tried, and how many dead ones are kept.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, Jitter, LayerKind, Queue, QueueRef, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::settings;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Sidekiq.
pub struct Sidekiq;

const ID: &str = "sidekiq";
const RETRY: &str = "sidekiq/sidekiq lib/sidekiq/job_retry.rb";
const CONFIG: &str = "sidekiq/sidekiq lib/sidekiq/config.rb";

/// The dead set, by the name that its gauges have.
const DEAD: &str = "sidekiq dead set";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Sidekiq",
    reads: "config/sidekiq.yml: max_retries, dead_max_jobs",
    marks: &[":concurrency", ":queues", "max_retries", "queues"],
    defaults: &[
        DefaultFigure {
            what: "max_retries absent",
            value: "26 attempts (25 retries), over about 3 weeks",
            source: RETRY,
        },
        DefaultFigure { what: "wait before retry n", value: "(n - 1)^4 + 15 s, and a random part", source: RETRY },
        DefaultFigure {
            what: "dead_timeout_in_seconds absent",
            value: "dead jobs are kept for 180 days",
            source: CONFIG,
        },
    ],
};

impl System for Sidekiq {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let is_own = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with("sidekiq") && !name.contains("cron") && !name.contains("schedule")
        };
        for (file, root) in unit.documents().filter(|(file, _)| is_own(&file.path)) {
            let keys = ["concurrency", "queues", "max_retries", "dead_max_jobs", "timeout"];
            if keys.iter().any(|key| entry(root, key).is_some()) {
                let opens = settings::opening(file, root);
                read(root, &file.path, opens, facts);
            }
        }
    }
}

/// A key, as a symbol of Ruby or plain.
fn entry<'n>(root: &'n Node, key: &str) -> Option<&'n Entry> {
    let symbol = format!(":{key}");
    root.entry_any(&[&symbol, key]).filter(|e| !e.value.is_null())
}

fn read(root: &Node, path: &str, opens: Span, facts: &mut Facts) {
    let name = "Sidekiq".to_owned();
    let count = entry(root, "max_retries");
    let attempts = match count {
        Some(e) => settings::retries(e),
        None => Setting::default(Attempts::Count(26), RETRY),
    };
    let mut layer = repeats::layer(ID, LayerKind::Job, format!("{ID}:{path}").into(), name.clone(), opens, attempts);
    layer.place = count.map_or(opens, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} of {name}", settings::quote(e)),
        None => format!("{name}, which sets no `max_retries`"),
    };
    let waits = (0..25).map(wait).collect();
    layer.wait = Wait::Scheduled { waits, capped: false };
    layer.jitter = Setting::default(Jitter::Partial { low: 1.0, high: 2.0 }, RETRY);
    layer.advice.fewer = Some("`max_retries: 5`, or `sidekiq_options retry: 5` in a job".to_owned());
    facts.queues.push(jobs(path, opens, layer.attempts.clone()));
    facts.layers.push(layer);

    let kept = entry(root, "dead_max_jobs");
    let mut dead = repeats::queue(ID, format!("{ID}:dead:{path}").into(), "the dead set of Sidekiq".to_owned(), opens);
    dead.names = vec![QueueRef::Name(DEAD.to_owned())];
    dead.holds_dead_letters = true;
    dead.dead_letter = DeadLetter::BuiltIn;
    if let Some(e) = kept.filter(|e| e.value.as_int().is_some_and(|n| n < 1000)) {
        dead.place = e.value.span;
        dead.name = format!(
            "the dead set of Sidekiq, which forgets all but {} jobs,",
            settings::shown(e.value.as_str().unwrap_or_default())
        );
    }
    dead.retention = Some(Setting::default(Duration::from_secs(180 * 86_400), CONFIG));
    facts.queues.push(dead);
}

/// The wait before a retry, the first one being number 0, without its random part.
fn wait(retry: u64) -> Duration {
    Duration::from_secs(retry.saturating_pow(4).saturating_add(15))
}

/// The jobs themselves: one that fails comes back for as long as all of its waits are together.
fn jobs(path: &str, opens: Span, attempts: Setting<Attempts>) -> Queue {
    let mut queue = repeats::queue(ID, format!("{ID}:jobs:{path}").into(), "Sidekiq".to_owned(), opens);
    queue.dead_letter = DeadLetter::BuiltIn;
    let all = |attempts: Attempts| {
        let retries = attempts.count().unwrap_or(1).saturating_sub(1).min(MOST_RETRIES);
        (0..retries).map(wait).sum()
    };
    queue.redelivers = Some(attempts.map(all));
    queue
}

/// A count above it is no count that anybody means.
const MOST_RETRIES: u64 = 1000;
