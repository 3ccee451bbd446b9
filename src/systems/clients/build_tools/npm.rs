//! npm and pnpm.

use std::time::Duration;

use super::{Tool, base, layer, name};
use crate::facts::Facts;
use crate::model::{Conditions, Setting};
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
    reads: "`fetch-retries` and its waits in .npmrc, `fetchRetries` in pnpm-workspace.yaml",
    marks: &["fetch-retries", "fetchRetries", "fetch_retries"],
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
            let millis = |key, default| read(field(key), default);
            let mut layer = layer(&TOOL, file, count, settings::retries(count));
            layer.wait = base::exponential(
                millis("fetch-retry-mintimeout", 10),
                base::or_default(field("fetch-retry-factor"), base::number, 10.0, DEFINITIONS),
                millis("fetch-retry-maxtimeout", 60).map(Some),
            );
            layer.retry_after = Setting::default(false, REMOTE);
            layer.retries =
                Conditions { yes: base::and_transport((500..=599).chain([408, 420, 429])), ..Conditions::default() };
            facts.layers.push(layer);
        }
    }
}

fn read(entry: Option<&Entry>, seconds: u64) -> Setting<Duration> {
    base::or_default(entry, base::millis, Duration::from_secs(seconds), DEFINITIONS)
}
