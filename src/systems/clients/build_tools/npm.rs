//! npm and pnpm.

use std::time::Duration;

use super::{Tool, base, folder, layer, name, variables};
use crate::facts::Facts;
use crate::model::{Conditions, Layer, Setting};
use crate::syntax::{Entry, relaxed};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// npm and pnpm.
pub struct Npm;

const DEFINITIONS: &str = "npm/cli workspaces/config/lib/definitions/definitions.js";
const REMOTE: &str = "npm/make-fetch-happen lib/remote.js";

const TOOL: Tool = Tool { id: "npm", name: "npm", off: "fetch-retries=0", source: DEFINITIONS };

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: "npm and pnpm",
    reads: "`fetch-retries` and its waits in .npmrc, `fetchRetries` in pnpm-workspace.yaml, npm_config_fetch_retries in the environment",
    marks: &["fetch-retries", "fetchRetries", "fetch_retries", "FETCH_RETRIES"],
    defaults: &[
        DefaultFigure { what: "fetch-retries: 0", value: "1 attempt", source: DEFINITIONS },
        DefaultFigure {
            what: "fetch-retry-mintimeout, -factor, -maxtimeout absent",
            value: "10 s, × 10, at most 60 s",
            source: DEFINITIONS,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: REMOTE },
        DefaultFigure { what: "what is retried", value: "408, 420, 429, 5xx and failed connections", source: REMOTE },
    ],
};

impl System for Npm {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            if !matches!(name(file), ".npmrc" | "npmrc" | "pnpm-workspace.yaml") {
                continue;
            }
            let field = |key: &str| root.entries().iter().rev().find(|e| relaxed(&e.key) == relaxed(key));
            let Some(count) = field("fetch-retries") else { continue };
            facts.layers.push(read(folder(file), count, |key| field(key).cloned()));
        }
    }

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| {
            let field = |key: &str| env.get(&format!("npm_config_{}", key.replace('-', "_")));
            Some(read(env.of, &field("fetch-retries")?, field))
        });
    }
}

fn read(of: &str, count: &Entry, field: impl Fn(&str) -> Option<Entry>) -> Layer {
    let millis =
        |key, seconds| base::or_default(field(key).as_ref(), base::millis, Duration::from_secs(seconds), DEFINITIONS);
    let mut layer = layer(&TOOL, of, count, settings::retries(count));
    layer.wait = base::exponential(
        millis("fetch-retry-mintimeout", 10),
        base::or_default(field("fetch-retry-factor").as_ref(), base::number, 10.0, DEFINITIONS),
        millis("fetch-retry-maxtimeout", 60).map(Some),
    );
    layer.retry_after = Setting::default(false, REMOTE);
    layer.retries =
        Conditions { yes: base::and_transport((500..=599).chain([408, 420, 429])), ..Conditions::default() };
    layer
}
