//! OpenFeign clients as Spring Cloud configures them.

use std::time::Duration;

use super::applications::{self, Shape, View};
use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, STATUSES, Setting, Wait};
use crate::source::Span;
use crate::syntax::Entry;
use crate::systems::settings::shown;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// OpenFeign.
pub struct OpenFeign;

const ID: &str = "openfeign";
const CONFIGURATION: &str = "spring-cloud/spring-cloud-openfeign FeignClientsConfiguration.java";
const RETRYER: &str = "OpenFeign/feign core/src/main/java/feign/Retryer.java";
const DECODER: &str = "OpenFeign/feign core/src/main/java/feign/codec/ErrorDecoder.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring Cloud OpenFeign",
    reads: "`spring.cloud.openfeign.client.config` and `feign.client.config` in application settings: retryer, timeouts, url",
    marks: &["openfeign", "feign"],
    defaults: &[
        DefaultFigure { what: "retryer absent", value: "1 attempt", source: CONFIGURATION },
        DefaultFigure { what: "retryer: feign.Retryer.Default", value: "5 attempts", source: RETRYER },
        DefaultFigure { what: "retryer: another class", value: "unknown", source: CONFIGURATION },
        DefaultFigure { what: "waits", value: "150 ms, × 1.5, at most 1 s", source: RETRYER },
        DefaultFigure { what: "jitter", value: "none; there is no such setting", source: RETRYER },
        DefaultFigure {
            what: "what is retried",
            value: "failed connections, and statuses with Retry-After",
            source: DECODER,
        },
        DefaultFigure { what: "Retry-After", value: "heeded up to 1 s", source: RETRYER },
    ],
};

const FIELDS: &[&str] = &["retryer", "connect-timeout", "read-timeout", "url", "error-decoder"];

const PREFIXES: [&str; 2] = ["spring.cloud.openfeign.client.config", "feign.client.config"];

const SHAPE: Shape = Shape { maps: &[(PREFIXES[0], FIELDS), (PREFIXES[1], FIELDS)], keys: &[] };

impl System for OpenFeign {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        applications::note(unit, facts);
    }

    fn join(&self, facts: &mut Facts) {
        applications::add_layers(facts, &SHAPE, |view, _| PREFIXES.iter().flat_map(|p| clients(view, p)).collect());
    }
}

fn clients(view: &View<'_>, prefix: &str) -> Vec<Layer> {
    let names = view.names(prefix);
    names.iter().filter_map(|(name, opens)| client(view, prefix, name, *opens)).collect()
}

fn client(view: &View<'_>, prefix: &str, name: &str, opens: Span) -> Option<Layer> {
    let own = |field: &str| view.get(&format!("{prefix}.{name}.{field}"));
    let field = |field: &str| own(field).or_else(|| view.get(&format!("{prefix}.default.{field}")));
    let retryer = field("retryer")?;
    let class = retryer.value.as_str().unwrap_or_default().trim();
    let span = retryer.value.span;
    let attempts = match class.rsplit('.').next().unwrap_or(class) {
        "Default" | "Retryer$Default" | "DefaultRetryer" => Setting::written(Attempts::Count(5), span),
        "NEVER_RETRY" => Setting::written(Attempts::Count(1), span),
        _ => Setting::unknown(format!("the class {} decides", shown(class)), Some(span)),
    };
    let is_default = name == "default";
    let to = match own("url") {
        Some(url) => base::host(Some(url)),
        None if is_default => None,
        None => base::named(name, opens),
    };
    let title = if is_default { "of every service".to_string() } else { shown(name).into_owned() };
    let mut layer =
        base::client(ID, format!("{ID}:{name}").into(), format!("Feign client {title}"), opens, to, attempts.clone());
    base::counted(&mut layer, retryer, attempts);
    layer.labels.extend(view.beaten(&format!("{prefix}.{name}.retryer")));
    if own("retryer").is_none() {
        layer.labels.push((opens, format!("Feign client {title} takes it from `default`")));
    }
    if layer.attempts.value().is_some() {
        layer.wait = Wait::Exponential {
            base: Setting::default(Duration::from_millis(150), RETRYER),
            factor: Setting::default(1.5, RETRYER),
            cap: Setting::default(Some(Duration::from_secs(1)), RETRYER),
        };
        layer.jitter = Setting::default(Jitter::None, RETRYER);
    }
    layer.retries = conditions(field("error-decoder"));
    layer.retry_after = Setting::default(true, RETRYER);
    layer.per_try = field("read-timeout").map(base::millis);
    layer.advice = Advice {
        none: Some("take `retryer` out, or name `feign.Retryer.NEVER_RETRY` in a bean".to_owned()),
        ..Advice::default()
    };
    Some(layer)
}

/// Any failure to send or receive; of answers, those that say when to come again.
fn conditions(decoder: Option<&Entry>) -> Conditions {
    match decoder {
        Some(_) => base::unknown_conditions(),
        None => Conditions { yes: ModeSet::transport(), unknown: ModeSet::statuses(STATUSES), ..Conditions::default() },
    }
}
