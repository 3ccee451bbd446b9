//! Celery: the retries of tasks, as far as settings in YAML, JSON or TOML annotate them.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Attempts, DeadLetter, Jitter, LayerKind, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::clients::base;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// Celery.
pub struct Celery;

const ID: &str = "celery";
const TASK: &str = "celery/celery celery/app/task.py";
const AUTORETRY: &str = "celery/celery celery/app/autoretry.py";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Celery",
    reads: "`task_annotations` in settings (YAML, JSON, TOML): max_retries, default_retry_delay, retry_backoff, retry_jitter",
    marks: &["task_annotations", "TASK_ANNOTATIONS"],
    defaults: &[
        DefaultFigure { what: "max_retries absent", value: "4 attempts (3 retries)", source: TASK },
        DefaultFigure { what: "max_retries: null", value: "no limit", source: TASK },
        DefaultFigure { what: "default_retry_delay absent", value: "180 s, the same each time", source: TASK },
        DefaultFigure { what: "retry_backoff_max absent", value: "600 s", source: AUTORETRY },
        DefaultFigure { what: "retry_jitter absent, with retry_backoff", value: "full", source: AUTORETRY },
        DefaultFigure {
            what: "dead letters",
            value: "none: the task is marked failed; there is no such setting",
            source: TASK,
        },
    ],
};

impl System for Celery {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            let keys = ["task_annotations", "CELERY_TASK_ANNOTATIONS", "CELERY_ANNOTATIONS"];
            let found = root.walk().filter_map(|n| n.entry_any(&keys)).flat_map(|e| e.value.entries());
            let tasks: Vec<&Entry> = found.filter(|e| retries(&e.value)).collect();
            tasks.iter().for_each(|task| facts.layers.push(layer(task, &mut ids)));
            // No setting would mend it: it is said once, at the same task in whatever order they stand.
            let first = tasks.iter().min_by_key(|task| &task.key);
            facts.queues.extend(first.map(|first| given_up(first, tasks.len())));
        }
    }
}

/// Whether an annotation is about retries. Without one of these a task that fails is not run again.
fn retries(task: &Node) -> bool {
    ["max_retries", "autoretry_for", "retry_backoff", "default_retry_delay"].iter().any(|key| task.entry(key).is_some())
}

fn title(task: &Entry) -> String {
    match &*task.key {
        "*" => "Celery's annotation for all tasks".to_owned(),
        name => format!("Celery's annotation for {}", settings::shown(name)),
    }
}

fn layer(task: &Entry, ids: &mut Ids) -> crate::model::Layer {
    let name = title(task);
    let count = task.value.entry("max_retries");
    let attempts = match count {
        Some(e) if e.value.is_null() => Setting::written(Attempts::Unbounded, e.value.span),
        Some(e) => settings::retries(e),
        None => Setting::default(Attempts::Count(4), TASK),
    };
    let id = ids.next(format!("{ID}:{}", task.key));
    let mut layer = repeats::layer(ID, LayerKind::Job, id, name.clone(), task.key_span, attempts);
    layer.asked_for = true;
    layer.place = count.map_or(task.key_span, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} for {name}", settings::quote(e)),
        None => format!("{name}, which sets no `max_retries`"),
    };
    let backoff = task.value.entry("retry_backoff").filter(|e| is_on(e));
    let entry = |key: &str| task.value.entry(key).filter(|e| !e.value.is_null());
    layer.wait = match backoff {
        // `true` stands for a first wait of one second.
        Some(e) => Wait::Exponential {
            base: if e.value.as_bool() == Some(true) {
                Setting::written(Duration::from_secs(1), e.value.span)
            } else {
                base::seconds(e)
            },
            factor: Setting::default(2.0, AUTORETRY),
            cap: base::or_default(entry("retry_backoff_max"), base::seconds, Duration::from_secs(600), AUTORETRY)
                .map(Some),
        },
        None => {
            Wait::Fixed(base::or_default(entry("default_retry_delay"), base::seconds, Duration::from_secs(180), TASK))
        }
    };
    layer.wait_place = backoff.or(entry("default_retry_delay")).map(|e| e.key_span);
    let jitter = entry("retry_jitter");
    layer.jitter = match (backoff, jitter) {
        (None, _) => Setting::default(Jitter::None, TASK),
        (Some(_), None) => Setting::default(Jitter::Full, AUTORETRY),
        (Some(_), Some(e)) => match e.value.as_bool() {
            Some(true) => Setting::written(Jitter::Full, e.value.span),
            Some(false) => Setting::written(Jitter::None, e.value.span),
            None => Setting::unknown("neither true nor false here", Some(e.value.span)),
        },
    };
    layer.advice.limit = Some("set `max_retries`".to_owned());
    layer.advice.fewer = Some("a smaller `max_retries`".to_owned());
    layer.advice.grow = Some("set `retry_backoff: true`".to_owned());
    layer.advice.jitter = Some("set `retry_backoff: true` and leave `retry_jitter` on".to_owned());
    layer
}

/// `true`, or a number of seconds.
fn is_on(entry: &Entry) -> bool {
    !entry.value.is_null() && entry.value.as_bool() != Some(false) && entry.value.as_f64() != Some(0.0)
}

fn given_up(first: &Entry, of: usize) -> crate::model::Queue {
    let name = match of - 1 {
        0 => title(first),
        1 => format!("{}, like 1 other annotation of this file,", title(first)),
        n => format!("{}, like {n} other annotations of this file,", title(first)),
    };
    let mut queue = repeats::queue(ID, format!("{ID}:given-up:{}", first.key).into(), name, first.key_span);
    queue.otherwise = "is marked failed after its last try, and its message is gone".to_owned();
    queue.dead_letter = DeadLetter::None;
    queue.minor = true;
    queue.advice =
        Some("Celery has none: let the task's `on_failure` store what it was given, with the error".to_owned());
    queue
}
