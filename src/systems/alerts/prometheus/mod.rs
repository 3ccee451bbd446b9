//! Prometheus: alerting rules, in rule files, in PrometheusRule objects and in the values of charts.

mod metrics;
pub(super) mod promql;

use std::collections::BTreeMap;

use crate::facts::Facts;
use crate::model::{Alarm, Fires, Watch, Which};
use crate::syntax::Node;
use crate::systems::{System, SystemMeta, Unit, Versions};

/// Prometheus.
pub struct Prometheus;

static META: SystemMeta = SystemMeta {
    id: "prometheus",
    name: "Prometheus",
    reads: "alerting and recording rules: rule files, PrometheusRule objects, charts' values; which queues an alert \
            watches, and from which number of messages on it fires",
    marks: &["alert:", "\"alert\""],
    defaults: &[],
};

impl System for Prometheus {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let rules: Vec<&Node> = unit.documents().flat_map(|(_, root)| rules(root)).collect();
        let recorded: BTreeMap<&str, &str> =
            rules.iter().filter_map(|r| Some((r.get("record")?.as_str()?, r.get("expr")?.as_str()?))).collect();
        facts.alarms.extend(rules.iter().filter_map(|rule| alarm(rule, &recorded)));
    }
}

/// The rules of all groups, wherever the groups stand.
fn rules(root: &Node) -> Vec<&Node> {
    let groups = root.walk().filter_map(|node| node.get("groups")).flat_map(Node::items);
    groups.filter_map(|group| group.get("rules")).flat_map(Node::items).map(|rule| &**rule).collect()
}

fn alarm(rule: &Node, recorded: &BTreeMap<&str, &str>) -> Option<Alarm> {
    let (name, expr) = (rule.entry("alert")?, rule.get("expr")?);
    let text = expr.as_str()?;
    let (watches, fires) = promql::read(text, recorded).unwrap_or_else(|| unread(text));
    Some(Alarm {
        name: format!("alert {}", name.value.as_str().unwrap_or("without a name")),
        place: name.value.span,
        threshold_place: expr.span,
        watches,
        fires,
        // Where alerts go is set elsewhere.
        notifies: None,
    })
}

/// An expression that cannot be read (a template, another language) may watch anything that it names.
fn unread(text: &str) -> (Vec<Watch>, Fires) {
    let services = metrics::SERVICES.iter().filter(|_| metrics::speaks_of_queues(text));
    (services.map(|service| Watch { service, which: Which::Unknown }).collect(), Fires::Unknown)
}
