//! Airflow: the retries of tasks that set none of their own.

use std::time::Duration;

use super::{base, variables};
use crate::facts::Facts;
use crate::model::{Advice, Conditions, Jitter, Layer, LayerKind, ModeSet, Setting, Wait};
use crate::syntax::Entry;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Airflow.
pub struct Airflow;

const ID: &str = "airflow";
const CONFIG: &str = "apache/airflow airflow/config_templates/config.yml";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Airflow",
    reads: "`core.default_task_retries` and its delay in airflow.cfg and the chart's values, AIRFLOW__CORE__DEFAULT_TASK_RETRIES in the environment",
    marks: &["default_task_retries", "AIRFLOW__CORE__DEFAULT_TASK_RETRIES"],
    defaults: &[
        DefaultFigure { what: "default_task_retries: 0", value: "1 attempt", source: CONFIG },
        DefaultFigure { what: "default_task_retry_delay absent", value: "300 s, the same each time", source: CONFIG },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: CONFIG },
    ],
};

impl System for Airflow {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            // The chart's values hold the file's sections under `config`.
            let is_own = file.path.ends_with("airflow.cfg");
            let core = if is_own { root.get("core") } else { root.at(&["config", "core"]) };
            let Some(count) = core.and_then(|core| core.entry(COUNT)) else { continue };
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            facts.layers.push(layer(folder, count, core.and_then(|core| core.entry(DELAY))));
        }
    }

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| {
            let field = |key: &str| env.get(&format!("AIRFLOW__CORE__{}", key.to_uppercase()));
            Some(layer(env.of, &field(COUNT)?, field(DELAY).as_ref()))
        });
    }
}

const COUNT: &str = "default_task_retries";
const DELAY: &str = "default_task_retry_delay";

fn layer(of: &str, count: &Entry, delay: Option<&Entry>) -> Layer {
    let name = "Airflow tasks without retries of their own".to_owned();
    let attempts = settings::retries(count);
    let mut layer = base::apart(ID, format!("{ID}:{of}").into(), name, count.key_span, None, attempts.clone());
    base::counted(&mut layer, count, attempts);
    layer.kind = LayerKind::Job;
    layer.wait = Wait::Fixed(base::or_default(delay, base::seconds, Duration::from_secs(300), CONFIG));
    layer.wait_place = delay.map(|e| e.key_span);
    layer.jitter = Setting::default(Jitter::None, CONFIG);
    layer.retries = Conditions { yes: ModeSet::all(), ..Conditions::default() };
    layer.retry_after = Setting::unknown("a task has no response", None);
    layer.advice = Advice { none: Some("set `default_task_retries = 0`".to_owned()), ..Advice::default() };
    layer
}
