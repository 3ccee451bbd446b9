//! CloudWatch: alarms on the depth of queues, alone or under a composite alarm.

use super::sqs;
use super::template::{Resource, Template, number};
use crate::facts::Facts;
use crate::model::{Alarm, Fires, Watch, Which};
use crate::syntax::Node;
use crate::systems::alerts::threshold::{self, Comparison};

pub(super) fn read(template: &Template<'_>, facts: &mut Facts) {
    let parents: Vec<(String, Option<bool>)> = template
        .of_kind("AWS::CloudWatch::CompositeAlarm")
        .map(|c| (rule_text(c.get(&["AlarmRule"])), notifies(&c)))
        .collect();
    for resource in template.of_kind("AWS::CloudWatch::Alarm") {
        let title = template.title(&resource, "AlarmName");
        let under = |text: &str| text.contains(resource.id) || text.contains(&title);
        let by_parent = parents.iter().filter(|(text, _)| under(text)).map(|(_, n)| *n);
        let own = notifies(&resource);
        // A composite alarm that tells somebody makes up for an alarm that tells nobody.
        let notifies = by_parent.fold(own, |told, parent| match (told, parent) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, _) | (_, None) => None,
            (Some(false), Some(false)) => Some(false),
        });
        let threshold = resource.entry(&["Threshold"]);
        let (watches, lowest) = looks_at(template, &resource);
        facts.alarms.push(Alarm {
            name: format!("alarm {title}"),
            place: resource.id_span,
            threshold_place: threshold.map_or(resource.id_span, |e| e.value.span),
            watches,
            fires: lowest.unwrap_or_else(|| fires(&resource, threshold.map(|e| &*e.value))),
            notifies,
        });
    }
}

/// All the text of an alarm rule, whatever functions put it together.
fn rule_text(rule: Option<&Node>) -> String {
    let texts = rule.into_iter().flat_map(Node::walk).filter_map(Node::as_str);
    texts.collect::<Vec<_>>().join(" ")
}

/// Whether somebody hears of an alarm.
fn notifies(alarm: &Resource<'_>) -> Option<bool> {
    if alarm.get(&["ActionsEnabled"]).and_then(Node::as_bool) == Some(false) {
        return Some(false);
    }
    let Some(actions) = alarm.get(&["AlarmActions"]) else { return Some(false) };
    if actions.tag.is_some() || actions.entries().len() == 1 {
        return None;
    }
    Some(!actions.items().is_empty() || actions.as_str().is_some_and(|s| !s.is_empty()))
}

fn fires(alarm: &Resource<'_>, threshold: Option<&Node>) -> Fires {
    let comparison = match alarm.get(&["ComparisonOperator"]).and_then(Node::as_str) {
        Some("GreaterThanThreshold") => Comparison::Above,
        Some("GreaterThanOrEqualToThreshold") => Comparison::AtLeast,
        Some("LessThanThreshold") => Comparison::Below,
        Some("LessThanOrEqualToThreshold") => Comparison::AtMost,
        _ => return Fires::Unknown,
    };
    match threshold.map(number).as_ref().and_then(|t| t.value()) {
        Some(value) => threshold::fires(comparison, *value),
        None => Fires::Unknown,
    }
}

/// The queues that an alarm looks at; and what the metric itself says of when it fires.
fn looks_at(template: &Template<'_>, alarm: &Resource<'_>) -> (Vec<Watch>, Option<Fires>) {
    let Some(properties) = alarm.properties else { return (Vec::new(), None) };
    if let Some(metrics) = properties.get("Metrics") {
        let mut watches = Vec::new();
        let mut verdict = None;
        for metric in metrics.items() {
            if let Some(one) = metric.at(&["MetricStat", "Metric"]) {
                let (watch, fires) = one_metric(template, one);
                watches.extend(watch);
                verdict = verdict.or(fires);
            }
            let expression = metric.get("Expression").and_then(Node::as_str);
            if expression.is_some_and(|e| !is_plain(e)) {
                verdict = Some(Fires::Unknown);
            }
        }
        return (watches, verdict);
    }
    one_metric(template, properties)
}

/// Expressions that are above a threshold of zero as soon as one of their metrics is.
fn is_plain(expression: &str) -> bool {
    let text: String = expression.chars().filter(|c| !c.is_whitespace()).collect();
    let name = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let inner = ["SUM(", "MAX(", "FILL("].iter().find_map(|f| text.strip_prefix(f)?.strip_suffix(')'));
    let inner = inner.unwrap_or(&text).trim_start_matches("METRICS(").trim_matches(['[', ']', ')']);
    inner.split(['+', ',']).all(|part| name(part) || part.is_empty() || part == "\"\"")
}

/// A metric of a queue, by its namespace, name and dimension.
fn one_metric(template: &Template<'_>, metric: &Node) -> (Vec<Watch>, Option<Fires>) {
    let text = |key: &str| metric.get(key).and_then(Node::as_str).unwrap_or_default();
    if text("Namespace") != "AWS/SQS" {
        return (Vec::new(), None);
    }
    let fires = match text("MetricName") {
        "ApproximateNumberOfMessagesVisible" => None,
        "NumberOfMessagesSent" => Some(Fires::OnSend),
        "ApproximateNumberOfMessagesNotVisible" => {
            Some(Fires::Never("counts messages that somebody has just taken, not those that lie there".to_owned()))
        }
        _ => Some(Fires::Unknown),
    };
    let dimensions = metric.get("Dimensions");
    let listed = dimensions.map_or(&[][..], Node::items).iter();
    let queue = listed.into_iter().find(|d| d.get("Name").and_then(Node::as_str) == Some("QueueName"));
    // Terraform has them as a mapping.
    let name = queue.and_then(|d| d.get("Value")).or_else(|| dimensions?.get("QueueName"));
    let which = match name.map(|value| template.target(value)) {
        Some(Some(queue)) => Which::One(queue),
        _ => Which::Unknown,
    };
    (vec![Watch { service: sqs::SERVICE, which }], fires)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn expressions() {
        for plain in ["m1", "m1 + m2", "SUM(METRICS())", "FILL(m1, 0)", "MAX([m1, m2])", "SUM([a,b])"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["m1 / m2", "RATE(m1)", "IF(m1 > 5, 1, 0)", "ANOMALY_DETECTION_BAND(m1, 2)", "m1 - 10"] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
