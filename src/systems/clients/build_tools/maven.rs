//! Maven, from version 3.9 on.

use std::time::Duration;

use super::{Tool, base, folder, layer, name};
use crate::facts::Facts;
use crate::model::{Conditions, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Maven.
pub struct Maven;

const PROPERTIES: &str = "apache/maven-resolver maven-resolver-api ConfigurationProperties.java";
const TRANSPORTER: &str = "apache/maven-resolver maven-resolver-transport-apache ApacheTransporter.java";

const TOOL: Tool =
    Tool { id: "maven", name: "Maven", off: "-Daether.transport.http.retryHandler.count=0", source: PROPERTIES };

const COUNT: &str = "-Daether.transport.http.retryHandler.count";
const INTERVAL: &str = "-Daether.transport.http.retryHandler.interval";
const LONGEST: &str = "-Daether.transport.http.retryHandler.intervalMax";

static META: SystemMeta = SystemMeta {
    id: TOOL.id,
    name: TOOL.name,
    reads: "`-Daether.transport.http.retryHandler.count`, `.interval` and `.intervalMax` in .mvn/maven.config",
    marks: &["aether.transport.http.retryHandler"],
    defaults: &[
        DefaultFigure { what: "retryHandler.count: 0", value: "1 attempt", source: PROPERTIES },
        DefaultFigure {
            what: "retryHandler.interval, .intervalMax absent",
            value: "5 s, one more each time, at most 300 s",
            source: PROPERTIES,
        },
        DefaultFigure {
            what: "what is retried",
            value: "429, 503 and failed connections, with Retry-After",
            source: TRANSPORTER,
        },
    ],
};

impl System for Maven {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(file, _)| name(file) == "maven.config") {
            let Some(count) = field(root, COUNT) else { continue };
            let time = |key, default| {
                let default = Duration::from_secs(default);
                base::or_default(field(root, key), base::millis, default, PROPERTIES)
            };
            let mut layer = layer(&TOOL, folder(file), count, settings::retries(count));
            layer.wait = Wait::Linear { step: time(INTERVAL, 5), cap: time(LONGEST, 300).map(Some) };
            layer.retry_after = Setting::default(true, TRANSPORTER);
            layer.retries = Conditions { yes: base::and_transport([429, 503]), ..Conditions::default() };
            facts.layers.push(layer);
        }
    }
}

/// A setting, whether for every repository or for one: `….count.central`.
fn field<'n>(root: &'n Node, key: &str) -> Option<&'n Entry> {
    let of_one = |e: &&Entry| e.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    root.entries().iter().rev().find(|e| &*e.key == key).or_else(|| root.entries().iter().rev().find(of_one))
}
