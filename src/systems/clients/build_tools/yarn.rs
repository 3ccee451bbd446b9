//! Yarn from version 2 on.

use std::time::Duration;

use super::{Tool, base, folder, layer, name, variables};
use crate::facts::Facts;
use crate::model::{Conditions, Layer, Setting};
use crate::syntax::Entry;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Yarn.
pub struct Yarn;

const CONFIGURATION: &str = "yarnpkg/berry packages/yarnpkg-core/sources/Configuration.ts";
const GOT: &str = "sindresorhus/got source/core/options.ts";

const TOOL: Tool = Tool { id: "yarn", name: "Yarn", off: "httpRetry: 0", source: CONFIGURATION };

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "`httpRetry` and `httpTimeout` in .yarnrc.yml, YARN_HTTP_RETRY in the environment",
    marks: &["httpRetry", "YARN_HTTP_RETRY"],
    defaults: &[
        DefaultFigure { what: "httpRetry: 0", value: "1 attempt", source: CONFIGURATION },
        DefaultFigure { what: "waits", value: "1, 2, 4 s and so on", source: GOT },
        DefaultFigure { what: "httpTimeout absent", value: "60 s", source: CONFIGURATION },
        DefaultFigure {
            what: "what is retried",
            value: "408, 429, 500, 502, 503, 504, 521, 522, 524 and failed connections, with Retry-After",
            source: GOT,
        },
    ],
};

impl System for Yarn {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(file, _)| name(file) == ".yarnrc.yml") {
            let Some(count) = root.entry("httpRetry") else { continue };
            facts.layers.push(read(folder(file), count, root.entry("httpTimeout")));
        }
    }

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| {
            let count = env.get("YARN_HTTP_RETRY")?;
            Some(read(env.of, &count, env.get("YARN_HTTP_TIMEOUT").as_ref()))
        });
    }
}

fn read(of: &str, count: &Entry, timeout: Option<&Entry>) -> Layer {
    let mut layer = layer(&TOOL, of, count, settings::retries(count));
    let cap = Setting::default(None, GOT);
    layer.wait = base::exponential(Setting::default(Duration::from_secs(1), GOT), Setting::default(2.0, GOT), cap);
    layer.per_try = Some(base::or_default(timeout, base::millis, Duration::from_secs(60), CONFIGURATION));
    layer.retries =
        Conditions { yes: base::and_transport([408, 429, 500, 502, 503, 504, 521, 522, 524]), ..Conditions::default() };
    layer
}
