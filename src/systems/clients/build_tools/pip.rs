//! pip.

use std::time::Duration;

use super::{Tool, base, folder, layer, name, variables};
use crate::facts::Facts;
use crate::model::{Conditions, Layer, Wait};
use crate::syntax::Entry;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// pip.
pub struct Pip;

const SESSION: &str = "pypa/pip src/pip/_internal/network/session.py";
const URLLIB3: &str = "urllib3/urllib3 src/urllib3/util/retry.py";

const TOOL: Tool = Tool { id: "pip", name: "pip", off: "retries = 0", source: SESSION };

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "`retries` and `timeout` in pip.conf and pip.ini, PIP_RETRIES in the environment",
    marks: &["retries", "PIP_RETRIES"],
    defaults: &[
        DefaultFigure { what: "retries: 0", value: "1 attempt", source: SESSION },
        DefaultFigure { what: "waits", value: "at once, then 0.5, 1, 2, 4 s and so on", source: URLLIB3 },
        DefaultFigure {
            what: "what is retried",
            value: "500, 502, 503, 520, 527 and failed connections, with Retry-After",
            source: SESSION,
        },
    ],
};

impl System for Pip {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(file, _)| matches!(name(file), "pip.conf" | "pip.ini")) {
            for section in root.entries() {
                let Some(count) = section.value.entry("retries") else { continue };
                let of = format!("{}:{}", folder(file), section.key);
                facts.layers.push(read(&of, count, section.value.entry("timeout")));
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| {
            let timeout = env.get("PIP_TIMEOUT").or_else(|| env.get("PIP_DEFAULT_TIMEOUT"));
            Some(read(env.of, &env.get("PIP_RETRIES")?, timeout.as_ref()))
        });
    }
}

fn read(of: &str, count: &Entry, timeout: Option<&Entry>) -> Layer {
    let mut layer = layer(&TOOL, of, count, settings::retries(count));
    layer.wait = Wait::Scheduled { waits: waits(), capped: true };
    layer.per_try = timeout.map(base::seconds);
    layer.retries = Conditions { yes: base::and_transport([500, 502, 503, 520, 527]), ..Conditions::default() };
    layer
}

/// The first retry comes at once; the longest wait is two minutes.
fn waits() -> Vec<Duration> {
    let growing = (0..8).map(|n| Duration::from_millis(500 << n));
    [Duration::ZERO].into_iter().chain(growing).chain([Duration::from_secs(120)]).collect()
}
