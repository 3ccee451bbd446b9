//! Azure Service Bus: queues, subscriptions and metric alerts in Resource Manager templates (what Bicep builds, too) and
//! in Terraform.

use crate::facts::Facts;
use crate::model::{Alarm, Attempts, DeadLetter, Fires, LayerKind, Queue, QueueRef, Setting, Watch, Which};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::alerts::threshold::{self, Comparison};
use crate::systems::settings::{self, Ids};
use crate::systems::terraform::{self, Called, Resource};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, repeats};

/// Azure Service Bus.
pub struct ServiceBus;

const ID: &str = "azure-service-bus";
const TYPES: &str = "Azure/bicep-types-az generated/servicebus/microsoft.servicebus/2024-01-01/types.md";
const DOCS: &str = "Azure Service Bus documentation, QueueProperties";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Azure Service Bus",
    reads: "Resource Manager templates (JSON) and Terraform: queues, subscriptions, metric alerts on dead letters",
    marks: &["Microsoft.ServiceBus", "azurerm_servicebus_"],
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
                    Given::of_template(node, lower.ends_with("queues")).iter().for_each(|g| g.add(&mut ids, facts));
                } else if lower == "microsoft.insights/metricalerts" {
                    facts.alarms.extend(Alert::of_template(node).alarms());
                }
            }
        }
        let resources: Vec<Resource> = ["azurerm_servicebus_", "azurerm_monitor_metric_alert"]
            .iter()
            .flat_map(|kind| terraform::resources(unit, kind))
            .collect();
        let Some(module) = unit.parts.first().map(|part| part.file.id) else { return };
        let called = Called::new(module, &resources);
        for resource in &resources {
            Given::of_resource(resource, &called).iter().for_each(|g| g.add(&mut ids, facts));
            facts.alarms.extend(Alert::of_resource(resource, &called).iter().flat_map(Alert::alarms));
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

/// A queue or a subscription, whatever the spelling.
struct Given<'n> {
    name: String,
    id: String,
    span: Span,
    names: Vec<QueueRef>,
    /// The topic of a subscription: metrics know its dead letters by that.
    topic: Option<QueueRef>,
    properties: Option<&'n Node>,
    /// How a setting is written between its key and its value.
    sets: &'static str,
    /// What limits the deliveries.
    count_key: &'static str,
    /// How to keep what expires.
    advice: &'static str,
}

impl<'n> Given<'n> {
    fn of_template(node: &'n Node, is_queue: bool) -> Option<Self> {
        let name = node.get("name")?;
        let short = short(name.as_str()?);
        let kind = if is_queue { "queue" } else { "subscription" };
        // `ns/events/audit` is a subscription to `events`.
        let parts: Vec<&str> = name.as_str()?.split('/').collect();
        let topic = match parts.as_slice() {
            [_, topic, _] if !is_queue && !parts.iter().any(|part| part.contains(['[', '('])) => Some(*topic),
            _ => None,
        };
        Some(Self {
            topic: topic.map(|t| QueueRef::Name(t.to_owned())),
            name: format!("Service Bus {kind} {}", settings::shown(short)),
            id: short.to_owned(),
            span: name.span,
            names: (!short.starts_with('[')).then(|| QueueRef::Name(short.to_owned())).into_iter().collect(),
            properties: node.get("properties"),
            sets: ": ",
            count_key: "maxDeliveryCount",
            advice: "`deadLetteringOnMessageExpiration: true`",
        })
    }

    fn of_resource(resource: &'n Resource, called: &Called) -> Option<Self> {
        let kind = match &*resource.kind {
            "azurerm_servicebus_queue" => "queue",
            "azurerm_servicebus_subscription" => "subscription",
            _ => return None,
        };
        Some(Self {
            name: format!("Service Bus {kind} {}", settings::shown(called.shown(resource))),
            id: resource.address.clone(),
            span: resource.place,
            names: vec![called.at(&resource.address)],
            topic: resource.body.get_any(&["topic_id", "topic_name"]).and_then(|n| called.by(n)),
            properties: Some(&resource.body),
            sets: " = ",
            count_key: "max_delivery_count",
            advice: "`dead_lettering_on_message_expiration = true`",
        })
    }

    /// A setting by its name in a template or in Terraform.
    fn entry(&self, keys: [&str; 2]) -> Option<&'n Entry> {
        self.properties.and_then(|p| p.entry_any(&keys)).filter(|e| !e.value.is_null())
    }

    fn add(&self, ids: &mut Ids, facts: &mut Facts) {
        let id = ids.next(format!("{ID}:{}", self.id));
        let count = self.entry(["maxDeliveryCount", "max_delivery_count"]);
        let attempts = match count {
            Some(e) => match e.value.as_int().and_then(|n| u64::try_from(n).ok()) {
                Some(n) => Setting::written(Attempts::Count(n), e.value.span),
                None => Setting::unknown("only the deployment knows its value", Some(e.value.span)),
            },
            None => Setting::default(Attempts::Count(10), DOCS),
        };
        let mut layer = repeats::layer(ID, LayerKind::Queue, id.clone(), self.name.clone(), self.span, attempts);
        layer.place = count.map_or(self.span, |e| e.value.span);
        layer.reading = match count {
            Some(e) => format!("{} on {}", settings::quote_as(e, self.sets), self.name),
            None => format!("{}, which sets no `{}`", self.name, self.count_key),
        };
        layer.advice.fewer = Some(format!("a smaller `{}`", self.count_key));
        facts.layers.push(layer);
        facts.queues.push(self.of_expired(&id));

        let name = format!("the dead letters of {}", self.name);
        let mut dead = repeats::queue(DEAD, format!("{id}:dead-letters").into(), name, self.span);
        dead.names = self.names.iter().chain(&self.topic).cloned().collect();
        dead.holds_dead_letters = true;
        dead.dead_letter = DeadLetter::BuiltIn;
        facts.queues.push(dead);
    }

    /// The queue itself: what is given up has its place, what expires need not have one.
    fn of_expired(&self, id: &str) -> Queue {
        let time = self.entry(["defaultMessageTimeToLive", "default_message_ttl"]);
        let expires = self.entry(["deadLetteringOnMessageExpiration", "dead_lettering_on_message_expiration"]);
        let place = time.map_or(self.span, |e| e.value.span);
        let mut queue = repeats::queue(SERVICE, id.into(), self.name.clone(), place);
        queue.otherwise =
            "goes to its dead-letter queue, but one that nobody takes in time is dropped when it expires".to_owned();
        queue.advice = Some(self.advice.to_owned());
        queue.names.clone_from(&self.names);
        queue.retention = time.map(|e| match e.value.as_str().and_then(duration::iso) {
            Some(d) => Setting::written(d, e.value.span),
            None => Setting::unknown("only the deployment knows its value", Some(e.value.span)),
        });
        let expires = expires.map(|e| e.value.as_bool());
        queue.dead_letter = match (&queue.retention, expires) {
            (_, Some(Some(true))) | (None, _) => DeadLetter::BuiltIn,
            // A time that only the deployment knows may be none.
            (Some(Setting::Unknown { .. }), _) | (Some(_), Some(None)) => DeadLetter::Unknown,
            (Some(_), _) => DeadLetter::None,
        };
        // Whoever writes that what expires goes may mean it.
        queue.minor = expires == Some(Some(false));
        queue
    }
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

/// A metric alert, whatever the spelling.
struct Alert<'n> {
    name: &'n str,
    place: Span,
    is_enabled: bool,
    has_actions: bool,
    criteria: Vec<&'n Node>,
    called: Option<&'n Called>,
}

impl<'n> Alert<'n> {
    fn of_template(node: &'n Node) -> Self {
        let name = node.get("name");
        let get = |path: &[&str]| node.get("properties").and_then(|p| p.at(path));
        let criteria = get(&["criteria", "allOf"]).map_or(&[][..], Node::items);
        Self {
            name: name.and_then(Node::as_str).unwrap_or("without a name"),
            place: name.map_or(node.span, |n| n.span),
            is_enabled: get(&["enabled"]).and_then(Node::as_bool) != Some(false),
            has_actions: get(&["actions"]).is_some_and(|n| !n.items().is_empty()),
            criteria: criteria.iter().map(|n| &**n).collect(),
            called: None,
        }
    }

    fn of_resource(resource: &'n Resource, called: &'n Called) -> Option<Self> {
        let body = &resource.body;
        (&*resource.kind == "azurerm_monitor_metric_alert").then(|| Self {
            name: called.shown(resource),
            place: resource.place,
            is_enabled: body.get("enabled").and_then(Node::as_bool) != Some(false),
            has_actions: body.get("action").is_some(),
            criteria: terraform::repeated(body, &["criteria", "dynamic_criteria"]).collect(),
            called: Some(called),
        })
    }

    /// The criteria that count dead letters.
    fn alarms(&self) -> Vec<Alarm> {
        let metric = |c: &Node| c.entry_relaxed("metricName").and_then(|e| e.value.as_str().map(str::to_owned));
        let counts = |c: &&Node| metric(c).is_some_and(|m| m.eq_ignore_ascii_case("DeadletteredMessages"));
        self.criteria.iter().copied().filter(counts).map(|c| self.alarm(c)).collect()
    }

    fn alarm(&self, criterion: &Node) -> Alarm {
        let threshold = criterion.get("threshold");
        let comparison = match criterion.get("operator").and_then(Node::as_str) {
            Some("GreaterThan") => Some(Comparison::Above),
            Some("GreaterThanOrEqual") => Some(Comparison::AtLeast),
            Some("LessThan") => Some(Comparison::Below),
            Some("LessThanOrEqual") => Some(Comparison::AtMost),
            _ => None,
        };
        Alarm {
            name: format!("alert {}", settings::shown(self.name)),
            place: self.place,
            threshold_place: threshold.map_or(self.place, |n| n.span),
            watches: self.watches(criterion),
            fires: match (comparison, threshold.and_then(Node::as_f64)) {
                (Some(comparison), Some(value)) => threshold::fires(comparison, value),
                _ => Fires::Unknown,
            },
            notifies: Some(self.is_enabled && self.has_actions),
        }
    }

    /// The queues that the dimension names; without one, all.
    fn watches(&self, criterion: &Node) -> Vec<Watch> {
        let mut dimensions = terraform::repeated(criterion, &["dimensions", "dimension"]);
        let watch = |which| Watch { service: DEAD, which };
        let entity =
            dimensions.find(|d| d.get("name").and_then(Node::as_str) == Some("EntityName") || d.scalar().is_some());
        let Some(entity) = entity else { return vec![watch(Which::All)] };
        let values = entity.get("values").map_or(&[][..], Node::items);
        if values.is_empty() || entity.get("operator").and_then(Node::as_str) == Some("Exclude") {
            return vec![watch(Which::Unknown)];
        }
        values.iter().map(|v| watch(self.which(v))).collect()
    }

    fn which(&self, node: &Node) -> Which {
        match (node.as_str(), self.called) {
            (Some("*"), _) => Which::All,
            (_, Some(called)) => called.by(node).map_or(Which::Unknown, Which::One),
            (Some(name), _) if !name.starts_with('[') => Which::One(QueueRef::Name(name.to_owned())),
            _ => Which::Unknown,
        }
    }
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
