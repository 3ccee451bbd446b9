//! Azure Service Bus: queues, subscriptions and metric alerts in Resource Manager templates (what Bicep builds, too).

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{Alarm, Attempts, DeadLetter, Fires, LayerKind, QueueRef, Setting, Watch, Which};
use crate::syntax::Node;
use crate::systems::alerts::threshold::{self, Comparison};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Azure Service Bus.
pub struct ServiceBus;

const ID: &str = "azure-service-bus";
const TYPES: &str = "Azure/bicep-types-az generated/servicebus/microsoft.servicebus/2024-01-01/types.md";
const DOCS: &str = "Azure Service Bus documentation, QueueProperties";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Azure Service Bus",
    reads: "Resource Manager templates (JSON): queues, subscriptions, metric alerts on dead letters",
    marks: &["Microsoft.ServiceBus"],
    defaults: &[
        DefaultFigure { what: "maxDeliveryCount absent", value: "10 deliveries", source: DOCS },
        DefaultFigure {
            what: "deadLetteringOnMessageExpiration absent",
            value: "expired messages are dropped",
            source: TYPES,
        },
        DefaultFigure { what: "dead letters", value: "each queue has a subqueue for them", source: DOCS },
    ],
};

impl System for ServiceBus {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        for (_, root) in unit.documents() {
            for (node, path) in resources(root) {
                let Some(kind) = node.get("type").and_then(Node::as_str) else { continue };
                let lower = kind.to_ascii_lowercase();
                if lower.ends_with("servicebus/namespaces/queues")
                    || lower.ends_with("servicebus/namespaces/topics/subscriptions")
                    || path.contains("microsoft.servicebus") && matches!(lower.as_str(), "queues" | "subscriptions")
                {
                    queue(node, lower.ends_with("queues"), &mut ids, facts);
                } else if lower == "microsoft.insights/metricalerts" {
                    facts.alarms.extend(alarms(node));
                }
            }
        }
    }
}

/// Resources, those inside of others too, each with the types around it.
fn resources(root: &Node) -> Vec<(&Node, String)> {
    let mut found = Vec::new();
    let mut open: Vec<(&Node, String)> = vec![(root, String::new())];
    while let Some((node, path)) = open.pop() {
        let listed = node.get("resources");
        let own: Vec<&Node> = match listed {
            // Newer templates name their resources.
            Some(listed) if listed.items().is_empty() => listed.entries().iter().map(|e| &*e.value).collect(),
            Some(listed) => listed.items().iter().map(|n| &**n).collect(),
            None => Vec::new(),
        };
        for resource in own.into_iter().rev() {
            let kind = resource.get("type").and_then(Node::as_str).unwrap_or_default().to_ascii_lowercase();
            open.push((resource, format!("{path}/{kind}")));
        }
        if !path.is_empty() {
            found.push((node, path));
        }
    }
    found
}

fn queue(node: &Node, is_queue: bool, ids: &mut Ids, facts: &mut Facts) {
    let Some(entry) = node.entry("name") else { return };
    let Some(written) = entry.value.as_str() else { return };
    let short = short(written).to_owned();
    let kind = if is_queue { "queue" } else { "subscription" };
    let name = format!("Service Bus {kind} {}", settings::shown(&short));
    let id = ids.next(format!("{ID}:{short}"));
    let properties = node.get("properties");
    let entry_of = |key: &str| properties.and_then(|p| p.entry(key)).filter(|e| !e.value.is_null());
    let span = entry.value.span;

    let count = entry_of("maxDeliveryCount");
    let attempts = match count {
        Some(e) => match e.value.as_int().and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Setting::written(Attempts::Count(n), e.value.span),
            None => Setting::unknown("only the deployment knows its value", Some(e.value.span)),
        },
        None => Setting::default(Attempts::Count(10), DOCS),
    };
    let mut layer = repeats::layer(ID, LayerKind::Queue, id.clone(), name.clone(), span, attempts);
    layer.place = count.map_or(span, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} on {name}", settings::quote(e)),
        None => format!("{name}, which sets no `maxDeliveryCount`"),
    };
    layer.advice.fewer = Some("a smaller `maxDeliveryCount`".to_owned());
    facts.layers.push(layer);

    let time = entry_of("defaultMessageTimeToLive");
    let expires = entry_of("deadLetteringOnMessageExpiration");
    let mut of_expired = repeats::queue(SERVICE, id.clone(), name.clone(), time.map_or(span, |e| e.value.span));
    of_expired.otherwise =
        "goes to its dead-letter queue, but one that nobody takes in time is dropped when it expires".to_owned();
    of_expired.advice = Some("`deadLetteringOnMessageExpiration: true`".to_owned());
    let names: Vec<QueueRef> = (!short.starts_with('[')).then_some(QueueRef::Name(short)).into_iter().collect();
    of_expired.names.clone_from(&names);
    of_expired.dead_letter = match (time, expires.map(|e| e.value.as_bool())) {
        (_, Some(Some(true))) | (None, _) => DeadLetter::BuiltIn,
        (Some(_), Some(None)) => DeadLetter::Unknown,
        (Some(_), _) => DeadLetter::None,
    };
    of_expired.retention = time.map(|e| match e.value.as_str().and_then(duration::iso) {
        Some(d) => Setting::written(d, e.value.span),
        None => Setting::unknown("only the deployment knows its value", Some(e.value.span)),
    });
    facts.queues.push(of_expired);

    let mut dead =
        repeats::queue(DEAD, format!("{id}:dead-letters").into(), format!("the dead letters of {name}"), span);
    dead.names = names;
    dead.holds_dead_letters = true;
    dead.dead_letter = DeadLetter::BuiltIn;
    dead.retention = None::<Setting<Duration>>;
    facts.queues.push(dead);
}

/// `ns/orders` → `orders`; of an expression the part of its text after the last slash, where there is one.
fn short(written: &str) -> &str {
    let last = written.rsplit('/').next().unwrap_or(written);
    if !written.starts_with('[') {
        return last;
    }
    let name = last.split('\'').next().unwrap_or("");
    let is_name = !name.is_empty() && name.len() < last.len() && !name.contains(['{', '(', '[']);
    if is_name { name } else { written }
}

const SERVICE: &str = "servicebus";

/// The subqueues of dead letters, which alerts watch by their queue's name.
const DEAD: &str = "servicebus dead letters";

/// The criteria of an alert that count dead letters.
fn alarms(node: &Node) -> Vec<Alarm> {
    let name = node.entry("name");
    let title = name.and_then(|e| e.value.as_str()).unwrap_or("without a name");
    let place = name.map_or(node.span, |e| e.value.span);
    let properties = node.get("properties");
    let get = |path: &[&str]| properties.and_then(|p| p.at(path));
    let enabled = get(&["enabled"]).and_then(Node::as_bool) != Some(false);
    let actions = get(&["actions"]).map_or(&[][..], Node::items);
    let criteria = get(&["criteria", "allOf"]).map_or(&[][..], Node::items);
    let counts = criteria.iter().filter(|c| {
        let metric = c.get("metricName").and_then(Node::as_str).unwrap_or_default();
        metric.eq_ignore_ascii_case("DeadletteredMessages")
    });
    let alarm = |criterion: &Node| {
        let threshold = criterion.get("threshold");
        let comparison = match criterion.get("operator").and_then(Node::as_str) {
            Some("GreaterThan") => Some(Comparison::Above),
            Some("GreaterThanOrEqual") => Some(Comparison::AtLeast),
            Some("LessThan") => Some(Comparison::Below),
            Some("LessThanOrEqual") => Some(Comparison::AtMost),
            _ => None,
        };
        Alarm {
            name: format!("alert {}", settings::shown(title)),
            place,
            threshold_place: threshold.map_or(place, |n| n.span),
            watches: watches(criterion),
            fires: match (comparison, threshold.and_then(Node::as_f64)) {
                (Some(comparison), Some(value)) => threshold::fires(comparison, value),
                _ => Fires::Unknown,
            },
            notifies: Some(enabled && !actions.is_empty()),
        }
    };
    counts.map(|c| alarm(c)).collect()
}

/// The queues that the dimension names; without one, all.
fn watches(criterion: &Node) -> Vec<Watch> {
    let dimensions = criterion.get("dimensions").map_or(&[][..], Node::items);
    let entity = dimensions.iter().find(|d| d.get("name").and_then(Node::as_str) == Some("EntityName"));
    let Some(entity) = entity else { return vec![Watch { service: DEAD, which: Which::All }] };
    let values = entity.get("values").map_or(&[][..], Node::items);
    if entity.get("operator").and_then(Node::as_str) == Some("Exclude") {
        return vec![Watch { service: DEAD, which: Which::Unknown }];
    }
    let which = |node: &Node| match node.as_str() {
        Some("*") => Which::All,
        Some(name) if !name.starts_with('[') => Which::One(QueueRef::Name(name.to_owned())),
        _ => Which::Unknown,
    };
    values.iter().map(|v| Watch { service: DEAD, which: which(v) }).collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_of_resources() {
        assert_eq!(short("ns/orders"), "orders");
        assert_eq!(short("[format('{0}/sms', parameters('ns'))]"), "sms");
        assert_eq!(short("[concat(parameters('ns'), '/mail')]"), "mail");
        assert_eq!(short("[parameters('queue')]"), "[parameters('queue')]");
        assert_eq!(short("[format('{0}/{1}', parameters('ns'), 'a')]"), "[format('{0}/{1}', parameters('ns'), 'a')]");
    }
}
