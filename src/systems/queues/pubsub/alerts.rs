//! Alert policies of Cloud Monitoring: which of their conditions count the messages of a subscription.

use crate::model::{Alarm, Fires, QueueRef, Watch, Which};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::alerts::threshold::{self, Comparison};
use crate::systems::objects::Object;
use crate::systems::terraform::{self, Called, Resource};

/// An alert policy, whatever the spelling.
struct Policy<'n> {
    name: String,
    place: Span,
    body: &'n Node,
    called: Option<&'n Called>,
}

/// The conditions of an object that look at subscriptions.
pub(super) fn of_object(object: &Object<'_>) -> Vec<Alarm> {
    let Some(body) = object.node.get("spec").filter(|_| object.kind == "MonitoringAlertPolicy") else {
        return Vec::new();
    };
    Policy { name: object.name.to_owned(), place: object.name_span, body, called: None }.alarms()
}

/// Those of a resource.
pub(super) fn of_resource(resource: &Resource, called: &Called) -> Vec<Alarm> {
    if &*resource.kind != "google_monitoring_alert_policy" {
        return Vec::new();
    }
    let name = resource.name().to_owned();
    Policy { name, place: resource.place, body: &resource.body, called: Some(called) }.alarms()
}

impl Policy<'_> {
    fn alarms(&self) -> Vec<Alarm> {
        terraform::repeated(self.body, &["conditions"]).filter_map(|c| self.alarm(c)).collect()
    }

    /// Whether somebody hears of it.
    fn notifies(&self) -> Option<bool> {
        if self.body.get("enabled").and_then(Node::as_bool) == Some(false) {
            return Some(false);
        }
        let channels = self.body.entry_relaxed("notificationChannels");
        match channels.map(|e| &*e.value).filter(|n| !n.is_null()) {
            // Which channels there are is told elsewhere.
            Some(n) if n.scalar().is_some() => None,
            channels => Some(channels.is_some_and(|n| !n.items().is_empty())),
        }
    }

    fn alarm(&self, condition: &Node) -> Option<Alarm> {
        let test = terraform::repeated(condition, &["conditionThreshold"]).next();
        let Some(test) = test else { return self.in_a_query(condition) };
        let threshold = test.entry_relaxed("thresholdValue").map(|e| &*e.value);
        let comparison = match test.get("comparison").and_then(Node::as_str) {
            Some("COMPARISON_GT") => Some(Comparison::Above),
            Some("COMPARISON_GE") => Some(Comparison::AtLeast),
            _ => None,
        };
        // Without a value, more than nothing.
        let value = threshold.map_or(Some(0.0), Node::as_f64);
        let filter = test.get("filter")?;
        let (which, is_depth) = self.watched(filter)?;
        let fires = match (comparison, value) {
            (Some(comparison), Some(value)) if is_depth => threshold::fires(comparison, value),
            _ => Fires::Unknown,
        };
        Some(self.with(threshold.map_or(self.place, |n| n.span), which, fires))
    }

    fn with(&self, threshold_place: Span, which: Which, fires: Fires) -> Alarm {
        Alarm {
            name: format!("alert policy {}", self.name),
            place: self.place,
            threshold_place,
            watches: vec![Watch { service: super::SERVICE, which }],
            fires,
            notifies: self.notifies(),
        }
    }

    /// A condition in a language of its own: what it names may be watched.
    fn in_a_query(&self, condition: &Node) -> Option<Alarm> {
        let speaks = condition.walk().filter_map(Node::as_str).any(speaks_of_subscriptions);
        speaks.then(|| self.with(self.place, Which::Unknown, Fires::Unknown))
    }

    /// The subscription that a filter names, if it looks at how many messages lie there; and whether it is that number.
    fn watched(&self, filter: &Node) -> Option<(Which, bool)> {
        let text = filter.as_str()?;
        if !text.contains("subscription/num_undelivered_messages") {
            // What only a run knows, and the count of what was sent on to a dead-letter topic, may stand for it.
            let may = terraform::is_expression(filter) || speaks_of_subscriptions(text);
            return may.then_some((Which::Unknown, false));
        }
        let after = text.split("subscription_id").nth(1).map(str::trim_start);
        let value = after.and_then(|a| a.strip_prefix('=')).map(str::trim_start);
        let name = value.and_then(|v| v.strip_prefix('"')).and_then(|v| v.split('"').next());
        let which = name.and_then(|name| self.by(name)).map_or(Which::Unknown, Which::One);
        Some((which, true))
    }

    /// A subscription by its name, or by a reference in a text of Terraform.
    fn by(&self, name: &str) -> Option<QueueRef> {
        if !name.contains("${") {
            return Some(QueueRef::Name(name.to_owned()));
        }
        let inner = name.strip_prefix("${")?.strip_suffix('}')?;
        Some(self.called?.at(&terraform::address(inner.trim())?))
    }
}

fn speaks_of_subscriptions(text: &str) -> bool {
    text.contains("subscription/dead_letter_message_count") || text.contains("subscription/num_undelivered_messages")
}
