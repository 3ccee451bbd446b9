//! dbt: the connections of its profiles.

use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// dbt.
pub struct Dbt;

const ID: &str = "dbt";
const POSTGRES: &str = "dbt-labs/dbt-adapters dbt-postgres/src/dbt/adapters/postgres/connections.py";
const SNOWFLAKE: &str = "dbt-labs/dbt-adapters dbt-snowflake/src/dbt/adapters/snowflake/connections.py";
const BASE: &str = "dbt-labs/dbt-adapters dbt-adapters/src/dbt/adapters/base/connections.py";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "dbt",
    reads: "`retries`, `connect_retries` and `num_retries` of the outputs in profiles.yml",
    marks: &["outputs"],
    defaults: &[
        DefaultFigure {
            what: "retries (postgres, redshift)",
            value: "retries of the connection alone",
            source: POSTGRES,
        },
        DefaultFigure {
            what: "connect_retries with retry_all (snowflake)",
            value: "every error is retried",
            source: SNOWFLAKE,
        },
        DefaultFigure { what: "waits", value: "1 s, the same each time; unknown for snowflake", source: BASE },
    ],
};

impl System for Dbt {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let is_mine = |path: &str| path.ends_with("profiles.yml") || path.ends_with("profiles.yaml");
        for (_, root) in unit.documents().filter(|(file, _)| is_mine(&file.path)) {
            for profile in root.entries() {
                let outputs = profile.value.get("outputs").map_or(&[][..], Node::entries);
                facts.layers.extend(outputs.iter().filter_map(|output| layer(profile, output)));
            }
        }
    }
}

fn layer(profile: &Entry, output: &Entry) -> Option<Layer> {
    let kind = output.value.get("type")?.as_str()?;
    let count = match kind {
        "postgres" | "redshift" => output.value.entry("retries"),
        "snowflake" | "spark" | "databricks" => output.value.entry("connect_retries"),
        "athena" => output.value.entry("num_retries"),
        _ => None,
    }?;
    let name = format!("dbt target {} of {}", settings::shown(&output.key), settings::shown(&profile.key));
    let to = base::host(output.value.entry("host"));
    let id = format!("{ID}:{}:{}", profile.key, output.key);
    let attempts = settings::retries(count);
    let mut layer = base::apart(ID, id.into(), name, output.key_span, to, attempts.clone());
    base::counted(&mut layer, count, attempts);
    layer.jitter = Setting::default(Jitter::None, BASE);
    if matches!(kind, "postgres" | "redshift") {
        layer.wait = Wait::Fixed(Setting::default(Duration::from_secs(1), BASE));
    }
    let all = output.value.entry("retry_all").filter(|e| e.value.as_bool() == Some(true));
    layer.retries = Conditions { yes: ModeSet::transport(), ..Conditions::default() };
    if let Some(all) = all.filter(|_| matches!(kind, "snowflake" | "redshift")) {
        layer.retries = Conditions { yes: ModeSet::all(), any_error: Some(all.value.span), ..Conditions::default() };
    }
    layer.retry_after = Setting::unknown("a database has no such answer", None);
    layer.advice = Advice {
        none: Some(format!("set `{}: 0`", count.key)),
        statuses: Some("take `retry_all` out".to_owned()),
        ..Advice::default()
    };
    Some(layer)
}
