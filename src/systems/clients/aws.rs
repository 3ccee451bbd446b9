//! AWS SDKs and the CLI: their configuration file, and the variables of what runs them.

use std::time::Duration;

use super::base;
use crate::facts::{ComponentFact, EnvFact, Facts};
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::source::Span;
use crate::systems::settings::shown;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// AWS SDKs.
pub struct Aws;

const ID: &str = "aws-sdk-config";
const REFERENCE: &str = "AWS SDKs and Tools Reference Guide, Retry behavior";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "AWS SDK settings",
    reads: "`max_attempts` and `retry_mode` in .aws/config, AWS_MAX_ATTEMPTS, AWS_RETRY_MODE and `-Daws.maxAttempts` of JAVA_TOOL_OPTIONS in Kubernetes and Compose",
    marks: &["max_attempts", "retry_mode", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"],
    defaults: &[
        DefaultFigure { what: "max_attempts", value: "all tries, the first included", source: REFERENCE },
        DefaultFigure {
            what: "max_attempts absent, mode standard or adaptive",
            value: "3 attempts",
            source: REFERENCE,
        },
        DefaultFigure { what: "max_attempts absent, mode legacy", value: "depends on the SDK", source: REFERENCE },
        DefaultFigure {
            what: "waits",
            value: "growing, at most 20 s, with full jitter; they cannot be set",
            source: REFERENCE,
        },
        DefaultFigure {
            what: "what is retried",
            value: "500, 502, 503, 504, failed connections, and answers that say slow down",
            source: REFERENCE,
        },
    ],
};

impl System for Aws {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let path = |p: &str| p == "aws/config" || p.ends_with("/aws/config") || p.ends_with(".aws/config");
        for (_, root) in unit.documents().filter(|(file, _)| path(&file.path)) {
            for section in root.entries() {
                let field = |key: &str| {
                    let entry = section.value.entry(key)?;
                    Some(Written { name: &entry.key, value: entry.value.as_str()?, span: entry.value.span })
                };
                let profile = section.key.strip_prefix("profile ").unwrap_or(&section.key).trim();
                let what = format!("AWS SDK settings of profile {}", shown(profile));
                let id = format!("{ID}:profile:{profile}");
                facts.layers.extend(layer(id, what, field("max_attempts"), field("retry_mode")));
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        let layers: Vec<Layer> = facts.components.iter().filter_map(of_component).collect();
        facts.layers.extend(layers);
    }
}

/// A setting, in a file or in the environment.
#[derive(Clone, Copy)]
struct Written<'a> {
    name: &'a str,
    value: &'a str,
    span: Span,
}

/// Variables whose options reach a JVM, the stronger first: the last two are read by it before its command line.
const OF_JVM: [&str; 4] = ["_JAVA_OPTIONS", "JAVA_OPTS", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"];

fn of_component(component: &ComponentFact) -> Option<Layer> {
    let variable = |name: &str| component.env.iter().find(|e| e.name == name);
    let plain = |name: &str| {
        let env: &EnvFact = variable(name)?;
        Some(Written { name: &env.name, value: env.value.trim(), span: env.span })
    };
    // Properties of the JVM are stronger than its environment.
    let property = |name: &'static str| {
        OF_JVM.iter().find_map(|options| {
            let env = variable(options)?;
            let words = env.value.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            let value =
                words.filter_map(|w| w.strip_prefix("-D")?.strip_prefix(name)?.strip_prefix('=')).next_back()?;
            Some(Written { name, value, span: env.span })
        })
    };
    let id = format!("{ID}:{}", component.name);
    let name = format!("AWS SDK settings of {}", shown(&component.name));
    let (of_jvm, of_env) = (property("aws.maxAttempts"), plain("AWS_MAX_ATTEMPTS"));
    let mode = property("aws.retryMode").or_else(|| plain("AWS_RETRY_MODE"));
    let mut layer = layer(id, name, of_jvm.or(of_env), mode)?;
    if let (Some(stronger), Some(beaten)) = (of_jvm, of_env) {
        let label = format!("beaten by `{}: {}`", stronger.name, shown(stronger.value));
        layer.labels.push((beaten.span, label));
    }
    layer.component = Some(component.name.clone());
    Some(layer)
}

fn layer(id: String, name: String, count: Option<Written<'_>>, mode: Option<Written<'_>>) -> Option<Layer> {
    let place = count.or(mode)?;
    let attempts = match (count, mode) {
        (Some(count), _) => match count.value.parse::<u64>() {
            Ok(n) => Setting::written(Attempts::Count(n.max(1)), count.span),
            Err(_) => Setting::unknown(format!("`{}` is not a number here", count.name), Some(count.span)),
        },
        (None, Some(mode)) if matches!(mode.value.to_lowercase().as_str(), "standard" | "adaptive") => {
            Setting::default(Attempts::Count(3), REFERENCE)
        }
        (None, _) => Setting::unknown("depends on the SDK", Some(place.span)),
    };
    let mut layer = base::client(ID, id.into(), name, place.span, None, attempts);
    layer.asked_for = true;
    layer.reading = format!("`{}: {}` for {}", place.name, shown(place.value), layer.name);
    // Each SDK has a first wait of its own.
    layer.wait = Wait::Exponential {
        base: Setting::unknown("depends on the SDK", None),
        factor: Setting::default(2.0, REFERENCE),
        cap: Setting::default(Some(Duration::from_secs(20)), REFERENCE),
    };
    layer.jitter = Setting::default(Jitter::Full, REFERENCE);
    layer.retries = Conditions {
        yes: base::and_transport([500, 502, 503, 504]),
        unknown: ModeSet::statuses([400, 429]),
        ..Conditions::default()
    };
    layer.advice = Advice { none: Some(format!("set `{}` to 1", of_count(count))), ..Advice::default() };
    Some(layer)
}

fn of_count(count: Option<Written<'_>>) -> &str {
    count.map_or("max_attempts", |c| c.name)
}
