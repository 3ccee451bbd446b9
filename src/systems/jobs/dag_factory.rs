//! DAG Factory: the retries of Airflow's tasks in DAGs that are written as YAML.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Jitter, Layer, LayerKind, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::clients::base;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, repeats};

/// DAG Factory.
pub struct DagFactory;

const ID: &str = "dag-factory";
const CONFIG: &str = "apache/airflow airflow/config_templates/config.yml";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "DAG Factory",
    reads: "Airflow's DAGs as YAML: `retries` and their delays, in `default_args` and of single tasks",
    marks: &["retries:"],
    defaults: &[
        DefaultFigure { what: "retry_delay_sec absent", value: "300 s, the same each time", source: CONFIG },
        DefaultFigure {
            what: "jitter of the same wait each time",
            value: "none; there is no such setting",
            source: CONFIG,
        },
    ],
};

impl System for DagFactory {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        unit.documents().for_each(|(_, root)| dags(root, &mut ids, facts));
    }
}

/// What is set for a task.
struct Given<'n> {
    count: &'n Entry,
    /// Seconds between two tries.
    delay: Option<&'n Entry>,
    /// Whether the waits grow, and if so up to what.
    grows: Option<(&'n Entry, Option<&'n Entry>)>,
}

impl<'n> Given<'n> {
    fn of_args(args: &'n Node) -> Option<Self> {
        let count = args.entry("retries").filter(|e| e.value.scalar().is_some())?;
        let grows = args.entry("retry_exponential_backoff").filter(|e| e.value.as_bool() != Some(false));
        Some(Self {
            count,
            delay: args.entry_any(&["retry_delay_sec", "retry_delay"]),
            grows: grows.map(|e| (e, args.entry_any(&["max_retry_delay_sec", "max_retry_delay"]))),
        })
    }

    fn layer(&self, id: String, name: String, ids: &mut Ids) -> Layer {
        let attempts = settings::retries(self.count);
        let opens = self.count.key_span;
        let mut layer = repeats::layer(ID, LayerKind::Job, ids.next(id), name, opens, attempts.clone());
        base::counted(&mut layer, self.count, attempts);
        let seconds = base::or_default(self.delay, base::seconds, Duration::from_secs(300), CONFIG);
        layer.wait = match self.grows {
            Some((_, longest)) => Wait::Exponential {
                base: seconds,
                factor: Setting::unknown("grows with each try", None),
                cap: match longest {
                    Some(e) => base::seconds(e).map(Some),
                    None => Setting::unknown("a longest wait may be set elsewhere", None),
                },
            },
            None => Wait::Fixed(seconds),
        };
        layer.wait_place = self.delay.or(self.grows.map(|(e, _)| e)).map(|e| e.key_span);
        layer.jitter = match self.grows {
            Some(_) => Setting::unknown("what a growing wait adds is not documented", None),
            None => Setting::default(Jitter::None, CONFIG),
        };
        layer.advice.none = Some("set `retries: 0`".to_owned());
        layer.advice.grow = Some("set `retry_exponential_backoff: true`".to_owned());
        layer
    }
}

/// The DAGs of a file: each has tasks with operators. What stands under `default` holds for all of them.
fn dags(root: &Node, ids: &mut Ids, facts: &mut Facts) {
    let has_operators = |n: &Node| {
        let tasks = n.get("tasks").into_iter();
        let mut tasks = tasks.flat_map(|t| t.entries().iter().map(|e| &*e.value).chain(t.items().iter().map(|t| &**t)));
        tasks.any(|t| t.get("operator").is_some() || t.get("decorator").is_some())
    };
    let found: Vec<&Entry> = root.entries().iter().filter(|e| has_operators(&e.value)).collect();
    if found.is_empty() {
        return;
    }
    let own = |n: &Node| n.get("default_args").is_some_and(|args| args.get("retries").is_some());
    let shared = root.get("default").and_then(|d| d.get("default_args")).and_then(Given::of_args);
    if let Some(given) = shared.filter(|_| found.iter().any(|dag| !own(&dag.value))) {
        facts.layers.push(given.layer(format!("{ID}:default"), "retry setting of all Airflow DAGs".to_owned(), ids));
    }
    for dag in found {
        let title = format!("retry setting of Airflow DAG {}", settings::shown(&dag.key));
        let args = dag.value.get("default_args").and_then(Given::of_args);
        facts.layers.extend(args.map(|given| given.layer(format!("{ID}:{}", dag.key), title, ids)));
        let tasks = dag.value.get("tasks").into_iter();
        let named = tasks.clone().flat_map(Node::entries).map(|e| (e.key.to_string(), &*e.value));
        let listed = tasks.flat_map(Node::items).map(|n| {
            let name = n.get("task_id").and_then(Node::as_str).unwrap_or("without a name");
            (name.to_owned(), &**n)
        });
        for (task, node) in named.chain(listed) {
            let title = format!(
                "retry setting of task {} of Airflow DAG {}",
                settings::shown(&task),
                settings::shown(&dag.key)
            );
            let given = Given::of_args(node);
            facts.layers.extend(given.map(|g| g.layer(format!("{ID}:{}:{task}", dag.key), title, ids)));
        }
    }
}
