//! Kubernetes Jobs and CronJobs: how often a failed run starts again.

use std::time::Duration;

use crate::facts::{Facts, ProgramRerunFact};
use crate::model::{
    Advice, Attempts, ComponentName, Conditions, Confidence, Jitter, Layer, LayerKind, Methods, ModeSet, Purpose,
    Redone, Rerun, Scope, Setting, Wait,
};
use crate::syntax::{Entry, Node};
use crate::systems::objects::{self, Object};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Jobs of Kubernetes.
pub struct KubernetesJobs;

const ID: &str = "kubernetes-jobs";
const TYPES: &str = "kubernetes/api batch/v1/types.go";

/// A limit that never comes: the largest number that the field holds.
const NO_LIMIT: i64 = i32::MAX as i64;

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kubernetes Jobs",
    reads: "Jobs and CronJobs: backoffLimit, backoffLimitPerIndex, activeDeadlineSeconds",
    marks: &["kind: Job", "kind: CronJob", "\"Job\"", "\"CronJob\""],
    defaults: &[
        DefaultFigure { what: "backoffLimit absent", value: "7 runs (6 retries)", source: TYPES },
        DefaultFigure {
            what: "wait between runs",
            value: "10 s, doubling up to 6 minutes; there is no such setting",
            source: TYPES,
        },
    ],
};

impl System for KubernetesJobs {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| o.version.starts_with("batch/")) {
                let spec = match object.kind {
                    "Job" => object.node.get("spec"),
                    "CronJob" => object.spec(&["jobTemplate", "spec"]),
                    _ => None,
                };
                let Some(spec) = spec else { continue };
                let layer = layer(&object, spec, &mut ids);
                // An index that failed is run again alone.
                if layer.is_active() && spec.get("backoffLimitPerIndex").is_none_or(Node::is_null) {
                    rerun(&object, spec, &layer, facts);
                }
                facts.layers.push(layer);
            }
        }
    }
}

/// Arguments that tell a program to begin at the beginning, whatever it has done before.
const FROM_START: [&str; 6] =
    ["--from-start", "--from-beginning", "--from-scratch", "--to-earliest", "--offset=0", "--start-over"];

/// What a failed run does again: all, where an argument says so; else it is for the program's code to tell.
fn rerun(object: &Object<'_>, spec: &Node, layer: &Layer, facts: &mut Facts) {
    let job = layer.name.clone();
    let attempts = layer.attempts.value().and_then(|a| a.count());
    let containers = spec.at(&["template", "spec", "containers"]).map_or(&[][..], Node::items).iter();
    let words = containers.flat_map(|c| ["command", "args"].into_iter().filter_map(|key| c.get(key)));
    let flag = words.flat_map(Node::items).find(|word| word.as_str().is_some_and(|w| FROM_START.contains(&w)));
    match flag {
        Some(word) => facts.reruns.push(Rerun {
            job,
            place: layer.place,
            attempts,
            what: Redone::FromStart { span: word.span },
            confidence: Confidence::Medium,
        }),
        None => facts.program_reruns.push(ProgramRerunFact {
            job,
            place: layer.place,
            attempts,
            component: component(object),
        }),
    }
}

fn component(object: &Object<'_>) -> ComponentName {
    ComponentName { name: object.name.to_owned(), namespace: object.namespace.map(str::to_owned) }
}

fn layer(object: &Object<'_>, spec: &Node, ids: &mut Ids) -> Layer {
    let name = format!("{} {}", object.kind, object.name);
    let entry = |key: &str| spec.entry(key).filter(|e| !e.value.is_null());
    let count = entry("backoffLimitPerIndex").or_else(|| entry("backoffLimit"));
    let deadline = entry("activeDeadlineSeconds").and_then(|e| {
        let seconds = e.value.as_int().and_then(|n| u64::try_from(n).ok())?;
        Some(Setting::written(Duration::from_secs(seconds), e.value.span))
    });
    let seconds = |n| Setting::default(Duration::from_secs(n), TYPES);
    Layer {
        id: ids.next(format!("{ID}:{}:{}", object.kind.to_lowercase(), object.qualified())),
        system: ID,
        kind: LayerKind::Job,
        reading: match count {
            Some(e) => format!("{} on {name}", settings::quote(e)),
            None => format!("{name}, which sets no `backoffLimit`"),
        },
        place: count.map_or(object.name_span, |e| e.value.span),
        opens: object.name_span,
        component: Some(object.name.to_owned()),
        scope: Scope::Consumers {
            queue: None,
            components: vec![component(object)],
            group: format!("{ID}:{}", object.qualified()),
        },
        attempts: count.map_or(Setting::default(Attempts::Count(7), TYPES), runs),
        asked_for: count.is_some(),
        // The controller's own schedule: nothing about it can be set.
        wait: Wait::Exponential {
            base: seconds(10),
            factor: Setting::default(2.0, TYPES),
            cap: Setting::default(Some(Duration::from_secs(360)), TYPES),
        },
        wait_place: None,
        jitter: Setting::default(Jitter::None, TYPES),
        retries: Conditions { yes: ModeSet::all(), ..Conditions::default() },
        retry_after: Setting::unknown("a run has no response", None),
        methods: Methods::Unknown,
        per_try: None,
        overall: deadline,
        budget: None,
        labels: Vec::new(),
        advice: Advice {
            none: Some("`backoffLimit: 0` on the Job".to_owned()),
            limit: Some("set a small `backoffLimit`, or `activeDeadlineSeconds`".to_owned()),
            ..Advice::default()
        },
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
        name,
    }
}

fn runs(entry: &Entry) -> Setting<Attempts> {
    match entry.value.as_int() {
        Some(n) if n >= NO_LIMIT => Setting::written(Attempts::Unbounded, entry.value.span),
        _ => settings::retries(entry),
    }
}
