//! Prometheus: alerting rules, in rule files, in PrometheusRule objects and in the values of charts.

mod metrics;
pub(super) mod promql;

use std::collections::{BTreeMap, BTreeSet};

use super::alertmanager;
use crate::facts::{AlertRuleFact, Facts, RecordingFact};
use crate::model::{Alarm, Fires, Watch, Which};
use crate::source::FileId;
use crate::syntax::Node;
use crate::systems::{System, SystemMeta, Unit, Versions};

/// Prometheus.
pub struct Prometheus;

static META: SystemMeta = SystemMeta {
    id: "prometheus",
    name: "Prometheus",
    reads: "alerting and recording rules: rule files, PrometheusRule objects, charts' values; which queues an alert \
            watches, and from which number of messages on it fires",
    marks: &["alert:", "\"alert\"", "record:", "\"record\""],
    defaults: &[],
};

impl System for Prometheus {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for rule in unit.documents().flat_map(|(_, root)| rules(root)) {
            facts.recordings.extend(recording(rule));
            facts.alert_rules.extend(alert(rule));
        }
    }

    fn join(&self, facts: &mut Facts) {
        let recorded = Recorded::new(&facts.recordings);
        let alarms: Vec<Alarm> = facts
            .alert_rules
            .chunk_by(|a, b| a.place.file == b.place.file)
            .flat_map(|of_file| {
                let names = of_file.first().map(|rule| recorded.seen_from(rule.place.file)).unwrap_or_default();
                of_file.iter().map(move |rule| alarm(rule, &names)).collect::<Vec<_>>()
            })
            .collect();
        for (mut alarm, rule) in alarms.into_iter().zip(&facts.alert_rules) {
            if alertmanager::reach_nobody_at_all(&facts.alert_routes, alertmanager::ID, &rule.labels) {
                alarm.notifies = Some(false);
            }
            facts.alarms.push(alarm);
        }
        facts.alert_rules.clear();
    }
}

/// The rules of all groups, wherever the groups stand.
fn rules(root: &Node) -> Vec<&Node> {
    let groups = root.walk().filter_map(|node| node.get("groups")).flat_map(Node::items);
    groups.filter_map(|group| group.get("rules")).flat_map(Node::items).map(|rule| &**rule).collect()
}

fn recording(rule: &Node) -> Option<RecordingFact> {
    let (name, expr) = (rule.get("record")?, rule.get("expr")?.as_str()?);
    Some(RecordingFact { name: name.as_str()?.to_owned(), expr: expr.to_owned(), place: name.span })
}

fn alert(rule: &Node) -> Option<AlertRuleFact> {
    let (name, expr) = (rule.entry("alert")?, rule.get("expr")?);
    let title = name.value.as_str().unwrap_or("without a name");
    let known = |n: &Node| n.as_str().filter(|text| !text.contains("{{")).map(str::to_owned);
    let labels = rule.get("labels").map_or(&[][..], Node::entries).iter();
    let labels = labels.map(|e| (e.key.to_string(), known(&e.value)));
    Some(AlertRuleFact {
        name: title.to_owned(),
        place: name.value.span,
        expr: expr.as_str()?.to_owned(),
        expr_place: expr.span,
        labels: labels.chain([("alertname".to_owned(), known(&name.value))]).collect(),
    })
}

/// Recorded names: those of the file itself come first, and of other files' those that have one meaning only.
struct Recorded<'f> {
    all: &'f [RecordingFact],
    anywhere: BTreeMap<&'f str, &'f str>,
}

impl<'f> Recorded<'f> {
    fn new(all: &'f [RecordingFact]) -> Self {
        let mut meanings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for rule in all {
            meanings.entry(&rule.name).or_default().insert(&rule.expr);
        }
        let only =
            |(name, exprs): (&'f str, BTreeSet<&'f str>)| Some((name, *exprs.first().filter(|_| exprs.len() == 1)?));
        Self { all, anywhere: meanings.into_iter().filter_map(only).collect() }
    }

    fn seen_from(&self, file: FileId) -> BTreeMap<&'f str, &'f str> {
        let own = self.all.iter().filter(|rule| rule.place.file == file);
        self.anywhere.iter().map(|(name, expr)| (*name, *expr)).chain(own.map(|r| (&*r.name, &*r.expr))).collect()
    }
}

fn alarm(rule: &AlertRuleFact, recorded: &BTreeMap<&str, &str>) -> Alarm {
    let (watches, fires) = promql::read(&rule.expr, recorded).unwrap_or_else(|| unread(&rule.expr));
    Alarm {
        name: format!("alert {}", rule.name),
        place: rule.place,
        threshold_place: rule.expr_place,
        watches,
        fires,
        // Where alerts go is set elsewhere.
        notifies: None,
    }
}

/// An expression that cannot be read (a template, another language) may watch anything that it names.
fn unread(text: &str) -> (Vec<Watch>, Fires) {
    let services = metrics::SERVICES.iter().filter(|_| metrics::speaks_of_queues(text));
    (services.map(|service| Watch { service, which: Which::Unknown }).collect(), Fires::Unknown)
}
