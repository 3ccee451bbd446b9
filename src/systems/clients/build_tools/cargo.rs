//! Cargo.

use std::time::Duration;

use super::{Tool, base, folder, layer, variables};
use crate::facts::Facts;
use crate::model::{Conditions, Jitter, Layer, Setting, Wait};
use crate::syntax::Entry;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Cargo.
pub struct Cargo;

const RETRY: &str = "rust-lang/cargo src/util/network/retry.rs";

const TOOL: Tool = Tool { id: "cargo", name: "Cargo", off: "net.retry = 0", source: RETRY };

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "`net.retry` in .cargo/config.toml, CARGO_NET_RETRY in the environment",
    marks: &["retry", "CARGO_NET_RETRY"],
    defaults: &[
        DefaultFigure { what: "net.retry: 0", value: "1 attempt", source: RETRY },
        DefaultFigure { what: "waits", value: "0.5 to 1.5 s, then 3.5, 6.5, 9.5 and 10 s", source: RETRY },
        DefaultFigure {
            what: "what is retried",
            value: "429, 5xx and failed connections, with Retry-After up to 10 s",
            source: RETRY,
        },
    ],
};

impl System for Cargo {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let path = &*file.path;
            let is_mine = path == ".cargo/config.toml" || path.ends_with("/.cargo/config.toml");
            let Some(count) = root.get("net").and_then(|net| net.entry("retry")).filter(|_| is_mine) else { continue };
            facts.layers.push(read(folder(file), count));
        }
    }

    fn join(&self, facts: &mut Facts) {
        variables::add_layers(facts, |env| Some(read(env.of, &env.get("CARGO_NET_RETRY")?)));
    }
}

fn read(of: &str, count: &Entry) -> Layer {
    let mut layer = layer(&TOOL, of, count, settings::retries(count));
    layer.wait = Wait::Scheduled {
        waits: [1_000, 3_500, 6_500, 9_500, 10_000].map(Duration::from_millis).to_vec(),
        capped: true,
    };
    layer.jitter = Setting::default(Jitter::Partial { low: 0.5, high: 1.5 }, RETRY);
    layer.retries = Conditions { yes: base::and_transport((500..=599).chain([429])), ..Conditions::default() };
    layer
}
