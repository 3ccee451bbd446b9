//! Google Cloud Tasks and Cloud Scheduler: queue.yaml, queues as the API has them, CloudSchedulerJob objects, Terraform.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Advice, Attempts, DeadLetter, LayerKind, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::objects;
use crate::systems::settings::{self, Ids};
use crate::systems::terraform::{self, Resource};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Cloud Tasks.
pub struct CloudTasks;

const ID: &str = "cloud-tasks";
const PUSH: &str = "Google App Engine documentation, retrying failed push tasks";
const QUEUE: &str = "googleapis/googleapis google/cloud/tasks/v2/queue.proto";
const JOB: &str = "googleapis/googleapis google/cloud/scheduler/v1/job.proto";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Google Cloud Tasks",
    reads: "queue.yaml, queues in the API's form (retryConfig), CloudSchedulerJob objects of Config Connector, \
            google_cloud_tasks_queue and google_cloud_scheduler_job in Terraform",
    marks: &[
        "queue:\n",
        "queue:\r\n",
        "queue: [",
        "retry_parameters",
        "retryConfig",
        "google_cloud_tasks_queue",
        "google_cloud_scheduler_job",
    ],
    defaults: &[
        DefaultFigure {
            what: "retry_parameters absent",
            value: "until it succeeds, at most an hour apart",
            source: PUSH,
        },
        DefaultFigure { what: "maxAttempts: -1", value: "no limit", source: QUEUE },
        DefaultFigure {
            what: "dead letters",
            value: "none: the task is deleted; there is no such setting",
            source: QUEUE,
        },
        DefaultFigure { what: "retryCount of a CloudSchedulerJob absent", value: "1 attempt", source: JOB },
        DefaultFigure { what: "minBackoffDuration of a CloudSchedulerJob absent", value: "5 s", source: JOB },
        DefaultFigure { what: "maxBackoffDuration of a CloudSchedulerJob absent", value: "1 h", source: JOB },
        DefaultFigure { what: "maxDoublings of a CloudSchedulerJob absent", value: "5", source: JOB },
    ],
};

impl System for CloudTasks {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (file, root) in unit.documents() {
            let is_file = file.path.rsplit('/').next().is_some_and(|n| matches!(n, "queue.yaml" | "queue.yml"));
            if let Some(queues) = root.entry("queue").filter(|_| is_file) {
                let mut found: Vec<Given<'_>> = Vec::new();
                for node in queues.value.items() {
                    let Some(name) = node.entry("name") else { continue };
                    found.push(Given::of_file(node, name));
                }
                found.iter().for_each(|given| facts.layers.push(given.layer(&mut ids)));
                // No setting would mend it: it is said once.
                facts.queues.extend(found.first().map(|first| first.queue(found.len())));
            }
            // `projects/shop/locations/europe-west1/queues/mail`
            let name = root.entry("name").filter(|e| e.value.as_str().is_some_and(|n| n.contains("/queues/")));
            if let (Some(name), Some(config)) = (name, root.entry("retryConfig")) {
                let given = Given::of_api(name, Some(&config.value));
                facts.layers.push(given.layer(&mut ids));
                facts.queues.push(given.queue(1));
            }
            for object in objects::of(root).into_iter().filter(|o| o.kind == "CloudSchedulerJob") {
                let config = object.node.get("spec").and_then(|s| s.entry("retryConfig"));
                facts.layers.extend(config.and_then(|c| scheduled(object.name, object.name_span, c, ": ", &mut ids)));
            }
        }
        let resources = terraform::resources(unit, "google_cloud_");
        let found: Vec<Given<'_>> = resources.iter().filter_map(Given::of_resource).collect();
        found.iter().for_each(|given| facts.layers.push(given.layer(&mut ids)));
        facts.queues.extend(found.first().map(|first| first.queue(found.len())));
        for job in resources.iter().filter(|r| &*r.kind == "google_cloud_scheduler_job") {
            let config = job.body.entry("retry_config").filter(|e| e.value.scalar().is_none());
            facts.layers.extend(config.and_then(|c| scheduled(job.name(), job.place, c, " = ", &mut ids)));
        }
    }
}

/// What a queue sets, whatever the spelling.
struct Given<'n> {
    name: &'n str,
    opens: Span,
    count: Option<&'n Entry>,
    age: Option<&'n Entry>,
    min: Option<&'n Entry>,
    max: Option<&'n Entry>,
    doublings: Option<&'n Entry>,
    /// Whether a limit that is absent is none, and no number that is not documented for sure.
    is_endless: bool,
    /// How a setting is written between its key and its value.
    sets: &'static str,
}

impl<'n> Given<'n> {
    fn of_file(queue: &'n Node, name: &'n Entry) -> Self {
        let parameters = queue.get("retry_parameters");
        let entry = |key: &str| parameters.and_then(|p| p.entry(key)).filter(|e| !e.value.is_null());
        Self {
            name: name.value.as_str().unwrap_or_default(),
            opens: name.value.span,
            count: entry("task_retry_limit"),
            age: entry("task_age_limit"),
            min: entry("min_backoff_seconds"),
            max: entry("max_backoff_seconds"),
            doublings: entry("max_doublings"),
            is_endless: true,
            sets: ": ",
        }
    }

    fn of_api(name: &'n Entry, config: Option<&'n Node>) -> Self {
        let path = name.value.as_str().unwrap_or_default();
        Self::of_config(path.rsplit('/').next().unwrap_or(path), name.value.span, config, ": ")
    }

    fn of_resource(resource: &'n Resource) -> Option<Self> {
        let is_queue = &*resource.kind == "google_cloud_tasks_queue";
        let config = terraform::repeated(&resource.body, &["retry_config"]).next();
        is_queue.then(|| Self::of_config(resource.name(), resource.place, config, " = "))
    }

    fn of_config(name: &'n str, opens: Span, config: Option<&'n Node>, sets: &'static str) -> Self {
        let entry = |key: &str| config?.entry_relaxed(key).filter(|e| !e.value.is_null());
        Self {
            name,
            opens,
            count: entry("maxAttempts"),
            age: entry("maxRetryDuration"),
            min: entry("minBackoff"),
            max: entry("maxBackoff"),
            doublings: entry("maxDoublings"),
            is_endless: false,
            sets,
        }
    }

    fn layer(&self, ids: &mut Ids) -> crate::model::Layer {
        let name = format!("Cloud Tasks queue {}", self.name);
        let attempts = match (self.count, self.age) {
            (Some(e), _) => match e.value.as_int() {
                Some(n) if n < 0 && self.age.is_none() => Setting::written(Attempts::Unbounded, e.value.span),
                Some(n) if n < 0 => Setting::unknown("as often as fits into the time that is set", Some(e.value.span)),
                // Documented both as attempts and as retries: the smaller reading.
                Some(n) => Setting::written(Attempts::Count(n.unsigned_abs().max(1)), e.value.span),
                None => Setting::unknown("not a number here", Some(e.value.span)),
            },
            (None, Some(age)) => Setting::unknown("as often as fits into the age of a task", Some(age.value.span)),
            (None, None) if self.is_endless => Setting::default(Attempts::Unbounded, PUSH),
            (None, None) => Setting::unknown("the service's own limit", None),
        };
        let mut layer = repeats::layer(
            ID,
            LayerKind::Queue,
            ids.next(format!("{ID}:{}", self.name)),
            name.clone(),
            self.opens,
            attempts,
        );
        layer.place = self.count.map_or(self.opens, |e| e.value.span);
        layer.reading = match self.count {
            Some(e) => format!("{} on {name}", settings::quote_as(e, self.sets)),
            None => format!("{name}, which sets no limit"),
        };
        layer.wait = self.wait();
        layer.wait_place = self.min.or(self.max).map(|e| e.key_span);
        layer.advice = match self.is_endless {
            true => advice("task_retry_limit", "max_backoff_seconds"),
            false if self.sets == ": " => advice("maxAttempts", "maxBackoff"),
            false => advice("max_attempts", "max_backoff"),
        };
        layer
    }

    fn wait(&self) -> Wait {
        let time = |e: Option<&Entry>| match e {
            Some(e) => match seconds(&e.value) {
                Some(d) => Setting::written(d, e.value.span),
                None => Setting::unknown("not a duration", Some(e.value.span)),
            },
            None => Setting::unknown("the service's own", None),
        };
        let (min, max) = (time(self.min), time(self.max));
        if min.value().is_some() && min.value() == max.value() {
            return Wait::Fixed(min);
        }
        let cap = match &max {
            Setting::Unknown { .. } => Setting::unknown("the service's own", None),
            known => known.clone().map(Some),
        };
        match self.doublings.and_then(|e| e.value.as_int()) {
            Some(0) => Wait::Linear { step: min, cap },
            _ => Wait::Exponential { base: min, factor: Setting::default(2.0, QUEUE), cap },
        }
    }

    /// Tasks that fail for good are deleted, and nothing can be set against that.
    fn queue(&self, of: usize) -> crate::model::Queue {
        let others = of - 1;
        let name = match others {
            0 => format!("Cloud Tasks queue {}", self.name),
            1 => format!("Cloud Tasks queue {}, like 1 other of this file,", self.name),
            n => format!("Cloud Tasks queue {}, like {n} others of this file,", self.name),
        };
        let mut queue = repeats::queue(ID, format!("{ID}:{}", self.name).into(), name, self.opens);
        queue.otherwise = "is deleted after its last attempt".to_owned();
        queue.dead_letter = DeadLetter::None;
        queue.minor = true;
        queue.advice = Some("the service has none: let the handler itself store a task on its last attempt (`X-CloudTasks-TaskRetryCount`)".to_owned());
        queue
    }
}

fn advice(limit: &str, cap: &str) -> Advice {
    Advice {
        limit: Some(format!("set `{limit}`")),
        fewer: Some(format!("a smaller `{limit}`")),
        grow: Some(format!("set `{cap}` well above the shortest wait")),
        ..Advice::default()
    }
}

/// `10`, `10s`, `0.5s`
fn seconds(node: &Node) -> Option<Duration> {
    match node.as_f64() {
        Some(n) => Duration::try_from_secs_f64(n).ok(),
        None => duration::go(node.as_str()?),
    }
}

fn scheduled(job: &str, opens: Span, config: &Entry, sets: &str, ids: &mut Ids) -> Option<crate::model::Layer> {
    // The JSON form of Terraform may write a block as a list of one.
    let given = config.value.items().first().unwrap_or(&config.value);
    let count = given.entry_relaxed("retryCount").filter(|e| !e.value.is_null());
    let name = format!("Cloud Scheduler job {job}");
    let attempts = match count {
        Some(e) => settings::retries(e),
        None => Setting::default(Attempts::Count(1), JOB),
    };
    let mut layer =
        repeats::layer(ID, LayerKind::Job, ids.next(format!("{ID}:scheduler:{job}")), name.clone(), opens, attempts);
    layer.asked_for = true;
    layer.place = count.map_or(config.key_span, |e| e.value.span);
    layer.reading = count.map_or_else(|| name.clone(), |e| format!("{} on {name}", settings::quote_as(e, sets)));
    let time = |key: &str, default: u64| match given.entry_relaxed(key).map(|e| &*e.value).filter(|n| !n.is_null()) {
        Some(node) => match seconds(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("not a duration", Some(node.span)),
        },
        None => Setting::default(Duration::from_secs(default), JOB),
    };
    let (min, max) = (time("minBackoffDuration", 5), time("maxBackoffDuration", 3600));
    layer.wait = match min.value().is_some() && min.value() == max.value() {
        true => Wait::Fixed(min),
        false => Wait::Exponential { base: min, factor: Setting::default(2.0, JOB), cap: max.map(Some) },
    };
    let bound = given.entry_relaxed("minBackoffDuration").or_else(|| given.entry_relaxed("maxBackoffDuration"));
    layer.wait_place = Some(bound.map_or(config.key_span, |e| e.key_span));
    layer.advice = match sets {
        ": " => advice("retryCount", "maxBackoffDuration"),
        _ => advice("retry_count", "max_backoff_duration"),
    };
    Some(layer)
}
