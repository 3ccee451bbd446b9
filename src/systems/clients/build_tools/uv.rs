//! uv.

use std::time::Duration;

use super::{Tool, base, layer, variables};
use crate::facts::Facts;
use crate::model::{Conditions, Jitter, Setting, Wait};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// uv.
pub struct Uv;

const CLIENT: &str = "astral-sh/uv crates/uv-client/src/base_client.rs";
const RETRY: &str = "astral-sh/uv crates/uv-client/src/retry.rs";

const TOOL: Tool = Tool { id: "uv", name: "uv", off: "UV_HTTP_RETRIES=0", source: CLIENT };

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "UV_HTTP_RETRIES in the environment",
    marks: &["UV_HTTP_RETRIES"],
    defaults: &[
        DefaultFigure { what: "UV_HTTP_RETRIES: 0", value: "1 attempt", source: CLIENT },
        DefaultFigure { what: "waits", value: "growing, at most 30 s, in part random", source: CLIENT },
        DefaultFigure { what: "what is retried", value: "408, 429, 5xx and failed connections", source: RETRY },
    ],
};

impl System for Uv {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, _: &Unit<'_>, _: &Versions, _: &mut Facts) {}

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| {
            let count = env.get("UV_HTTP_RETRIES")?;
            let mut layer = layer(&TOOL, env.of, &count, settings::retries(&count));
            layer.wait = Wait::Exponential {
                base: Setting::unknown("uv sets it", None),
                factor: Setting::unknown("uv sets it", None),
                cap: Setting::default(Some(Duration::from_secs(30)), CLIENT),
            };
            layer.jitter = Setting::default(Jitter::Partial { low: 0.5, high: 1.0 }, CLIENT);
            layer.retry_after = Setting::unknown("nothing tells whether it is heeded", None);
            layer.retries =
                Conditions { yes: base::and_transport((500..=599).chain([408, 429])), ..Conditions::default() };
            Some(layer)
        });
    }
}
