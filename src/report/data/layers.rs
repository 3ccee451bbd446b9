//! Layers as data, with all their settings.

use std::time::Duration;

use serde::Serialize;

use super::settings::{SettingData, seconds};
use super::{Location, Locator};
use crate::model::{Attempts, Jitter, Layer, LayerIx, Methods, Model, Wait};
use crate::report::ends::{self, Ends};
use crate::rules::phrase;

/// A layer.
#[derive(Debug, Serialize)]
pub struct LayerData<'r> {
    /// System, kind, object; no file, no line.
    pub id: &'r str,
    /// For people.
    pub name: &'r str,
    /// The system.
    pub system: &'static str,
    /// "gateway", "mesh", "client", "code", "queue", "job".
    pub kind: &'static str,
    /// Who has it; of code that several run, all of them.
    pub component: Option<String>,
    /// Whom it calls.
    pub target: Option<String>,
    /// Tries in all; null in `value` where it is not known, or without limit.
    pub attempts: SettingData<u64>,
    /// Whether nothing ends it.
    pub unbounded: bool,
    /// The deadline in seconds, where it is one that ends it, and `attempts` counts what fits into it.
    pub within: Option<f64>,
    /// The attempts in words.
    pub tries: String,
    /// Whether its tries are copies sent side by side.
    pub copies: bool,
    /// "request", or what never multiplies: "background", "upkeep".
    pub purpose: &'static str,
    /// "none", "fixed", "linear", "exponential", "scheduled", "unknown".
    pub backoff: &'static str,
    /// The waits in words.
    pub wait: String,
    /// The waits before try 2, 3, ... in seconds, jitter left out; null where they are not known.
    pub waits: Option<Vec<f64>>,
    /// The longest wait, in seconds, where one is known.
    pub wait_cap: Option<f64>,
    /// How the waits are spread.
    pub jitter: SettingData<JitterData>,
    /// The failures that it retries.
    pub retries_on: Vec<String>,
    /// Those that it perhaps retries.
    pub perhaps_on: Vec<String>,
    /// Whether it waits as long as the answer asks.
    pub retry_after: SettingData<bool>,
    /// The HTTP methods that it may repeat; null: any, or not known.
    pub methods: Option<&'r [String]>,
    /// Limit on one try, in seconds.
    pub per_try: Option<SettingData<f64>>,
    /// Limit on all tries together, in seconds.
    pub overall: Option<SettingData<f64>>,
    /// Retries per request that a budget lets through.
    pub budget: Option<SettingData<f64>>,
    /// Where it stands.
    pub location: Location,
    /// The text there.
    pub line: Option<String>,
}

/// How waits are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum JitterData {
    /// Not at all.
    None,
    /// By a random factor.
    Partial {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// From zero to the wait.
    Full,
    /// Between the first wait and a multiple of the one before.
    Decorrelated,
}

impl JitterData {
    /// Its word in the reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial { .. } => "partial",
            Self::Full => "full",
            Self::Decorrelated => "decorrelated",
        }
    }

    fn new(jitter: &Jitter) -> Option<Self> {
        Some(match *jitter {
            Jitter::None => Self::None,
            Jitter::Partial { low, high } => Self::Partial { low, high },
            Jitter::Full => Self::Full,
            Jitter::Decorrelated => Self::Decorrelated,
        })
    }
}

/// So many waits are told.
const WAITS: u64 = 64;

pub(super) fn layers<'r>(model: &'r Model, places: &mut Locator<'_>) -> Vec<LayerData<'r>> {
    let mut ends = ends::of_layers(model);
    let layers = (0..).map(LayerIx).zip(&model.layers);
    layers.map(|(ix, layer)| one(layer, ends.remove(&ix).unwrap_or_default(), places)).collect()
}

fn one<'r>(layer: &'r Layer, ends: Ends<'_>, places: &mut Locator<'_>) -> LayerData<'r> {
    let duration = |setting: &Option<crate::model::Setting<Duration>>, places: &mut Locator<'_>| {
        setting.as_ref().map(|s| SettingData::new(s, places, seconds))
    };
    LayerData {
        id: &layer.id,
        name: &layer.name,
        system: layer.system,
        kind: layer.kind.name(),
        component: ends.component(layer),
        target: ends.target(layer),
        attempts: SettingData::new(&layer.attempts, places, |a: &Attempts| a.count()),
        unbounded: layer.is_unbounded(),
        within: match layer.attempts.value() {
            Some(Attempts::Within { deadline, .. }) => seconds(deadline),
            _ => None,
        },
        tries: phrase::attempts(layer),
        copies: layer.copies,
        purpose: layer.purpose.name(),
        backoff: backoff(&layer.wait),
        wait: wait(&layer.wait),
        waits: waits(layer),
        wait_cap: match &layer.wait {
            Wait::Linear { cap, .. } | Wait::Exponential { cap, .. } => cap.value().copied().flatten(),
            Wait::None | Wait::Fixed(_) | Wait::Scheduled { .. } | Wait::Unknown { .. } => None,
        }
        .as_ref()
        .and_then(seconds),
        jitter: SettingData::new(&layer.jitter, places, JitterData::new),
        retries_on: layer.retries.yes.names(),
        perhaps_on: layer.retries.unknown.difference(layer.retries.yes).names(),
        retry_after: SettingData::new(&layer.retry_after, places, |v| Some(*v)),
        methods: match &layer.methods {
            Methods::Only(methods) | Methods::Written { methods, .. } => Some(methods),
            Methods::Any | Methods::Unknown => None,
        },
        per_try: duration(&layer.per_try, places),
        overall: duration(&layer.overall, places),
        budget: layer.budget.as_ref().map(|b| SettingData::new(&b.ratio, places, |r| Some(*r))),
        location: places.of(layer.place),
        line: places.line(layer.place),
    }
}

fn backoff(wait: &Wait) -> &'static str {
    match wait {
        Wait::None => "none",
        Wait::Fixed(_) => "fixed",
        Wait::Linear { .. } => "linear",
        Wait::Exponential { .. } => "exponential",
        Wait::Scheduled { .. } => "scheduled",
        Wait::Unknown { .. } => "unknown",
    }
}

/// "at once", "200 ms each time", "100 ms, then 2 times as long each time, up to 10 s".
fn wait(wait: &Wait) -> String {
    let said = |d: Option<&Duration>| d.map_or_else(|| "not known".to_owned(), |d| phrase::duration(*d));
    let up_to = |cap: Option<&Option<Duration>>| match cap {
        Some(Some(cap)) => format!(", up to {}", phrase::duration(*cap)),
        Some(None) => ", without upper bound".to_owned(),
        None => String::new(),
    };
    match wait {
        Wait::None => "at once".to_owned(),
        Wait::Fixed(each) => format!("{} each time", said(each.value())),
        Wait::Linear { step, cap } => {
            format!("{0}, then {0} more each time{1}", said(step.value()), up_to(cap.value()))
        }
        Wait::Exponential { base, factor, cap } => {
            let factor = factor.value().map_or_else(|| "a factor that is not known".to_owned(), |f| rounded(*f));
            format!("{}, then × {factor} each time{}", said(base.value()), up_to(cap.value()))
        }
        Wait::Scheduled { waits, .. } => {
            let shown: Vec<String> = waits.iter().take(6).map(|d| phrase::duration(*d)).collect();
            format!("{}{}", shown.join(", "), if waits.len() > 6 { ", …" } else { "" })
        }
        Wait::Unknown { why } => format!("not known: {why}"),
    }
}

/// At most two places behind the point.
fn rounded(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn waits(layer: &Layer) -> Option<Vec<f64>> {
    let tries = layer.attempts.value().and_then(|a| a.count()).unwrap_or(WAITS);
    let count = u32::try_from(tries.saturating_sub(1).min(WAITS)).unwrap_or(0);
    (0..count).map(|n| layer.wait.nominal(n).map(|d| d.as_secs_f64())).collect()
}
