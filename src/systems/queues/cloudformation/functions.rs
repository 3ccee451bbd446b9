//! Lambda: functions, what invokes them, and what becomes of events that they fail on.

use super::given_up::{HandedOver, What};
use super::layers::{redelivery, seconds, until};
use super::template::{Resolved, Resource, Template, retries};
use super::{INVOCATION, events, sns, sqs};
use crate::facts::{ComponentFact, ComponentFactKind, EnvFact, Facts};
use crate::model::{
    Attempts, Confidence, DeadLetter, IncompleteRecord, Queue, QueueName, QueueRef, RecordPart, Scope, Setting,
};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::settings;

/// The service of invocations.
const SERVICE: &str = "lambda";

/// Events of SAM and the Serverless Framework by which a function is invoked without anybody waiting for it.
const ASYNCHRONOUS: [&str; 12] = [
    "S3",
    "SNS",
    "Schedule",
    "ScheduleV2",
    "EventBridgeRule",
    "CloudWatchEvent",
    "IoTRule",
    "s3",
    "sns",
    "schedule",
    "eventBridge",
    "iot",
];

/// Those that come by the clock.
const SCHEDULES: [&str; 3] = ["Schedule", "ScheduleV2", "schedule"];

pub(super) fn read(template: &Template<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
    for kind in ["AWS::Serverless::Function", "AWS::Lambda::Function"] {
        for resource in template.of_kind(kind) {
            facts.components.push(component(template, &resource));
            let events = resource.get(&["Events"]).map_or(&[][..], Node::entries);
            for event in events {
                events::read_sam(template, &resource, event, out, facts);
                sam_source(template, &resource, event, facts);
                if let (Some("SNS"), Some(settings)) =
                    (event.value.get("Type").and_then(Node::as_str), event.value.get("Properties"))
                {
                    let name = format!("event {} of function {}", event.key, resource.id);
                    sns::read_event(template, &name, settings, event.key_span, out);
                }
            }
            let function = Function::of(template, &resource, events);
            function.read(template, out, facts);
        }
    }
    for mapping in template.of_kind("AWS::Lambda::EventSourceMapping") {
        let Some(properties) = mapping.properties else { continue };
        let name = format!("event source mapping {}", mapping.short());
        let function = resource_name(template, properties.get("FunctionName"));
        let source = properties.get("EventSourceArn");
        let is_kafka = properties.get("SelfManagedEventSource").is_some();
        let source = Source { name, opens: mapping.id_span, settings: properties, source, is_kafka, function };
        source_of(template, &source, facts);
    }
}

/// `functions:` of the Serverless Framework.
pub(super) fn read_serverless(template: &Template<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
    for entry in template.root.get("functions").map_or(&[][..], Node::entries) {
        let (name, node) = (&*entry.key, &*entry.value);
        facts.components.push(ComponentFact {
            name: name.to_owned(),
            namespace: Some(template.file.path.to_string()),
            kind: ComponentFactKind::Service,
            hosts: Vec::new(),
            labels: Vec::new(),
            images: Vec::new(),
            build: None,
            env: environment(template, node.get("environment")),
            mounts: Vec::new(),
            span: entry.key_span,
        });
        let events: Vec<&Entry> =
            node.get("events").map_or(&[][..], Node::items).iter().flat_map(|e| e.entries()).collect();
        for event in &events {
            serverless_event(template, entry, event, out, facts);
        }
        let kinds: Vec<&str> = events.iter().map(|e| &*e.key).filter(|k| ASYNCHRONOUS.contains(k)).collect();
        let on_failure = node.at(&["destinations", "onFailure"]);
        let function = Function {
            name: format!("function {name}"),
            component: name.to_owned(),
            opens: entry.key_span,
            asynchronous: !kinds.is_empty(),
            scheduled: kinds.iter().all(|k| SCHEDULES.contains(k)),
            retries: node.entry("maximumRetryAttempts"),
            age: node.entry("maximumEventAge"),
            on_failure,
            dead_letter_config: node.get("onError"),
            advice: "`destinations: {onFailure: ...}` on the function",
        };
        function.read(template, out, facts);
    }
}

fn serverless_event(
    template: &Template<'_>,
    function: &Entry,
    event: &Entry,
    out: &mut Vec<HandedOver>,
    facts: &mut Facts,
) {
    let name = format!("event {} of function {}", event.key, function.key);
    match &*event.key {
        "sqs" | "stream" | "kafka" | "msk" => {
            let settings = &*event.value;
            let source = settings.get("arn").or_else(|| settings.as_str().map(|_| settings));
            let is_kafka = &*event.key == "kafka";
            let function = Some(function.key.to_string());
            let source = Source { name, opens: event.key_span, settings, source, is_kafka, function };
            source_of(template, &source, facts);
        }
        "eventBridge" => events::read_serverless(template, &function.key, event, out, facts),
        "sns" => sns::read_event(template, &name, &event.value, event.key_span, out),
        _ => {}
    }
}

fn component(template: &Template<'_>, resource: &Resource<'_>) -> ComponentFact {
    let build = resource.get(&["CodeUri"]).and_then(Node::as_str);
    ComponentFact {
        name: template.title(resource, "FunctionName"),
        namespace: Some(template.file.path.to_string()),
        kind: ComponentFactKind::Service,
        hosts: Vec::new(),
        labels: Vec::new(),
        images: Vec::new(),
        build: build.and_then(|b| settings::beside(&template.file.path, b)),
        env: environment(template, resource.get(&["Environment", "Variables"])),
        mounts: Vec::new(),
        span: resource.id_span,
    }
}

/// Variables: a reference to a queue is its name.
fn environment(template: &Template<'_>, node: Option<&Node>) -> Vec<EnvFact> {
    let value = |e: &Entry| {
        let value = match template.resolve(&e.value) {
            Resolved::Text(text) => text,
            Resolved::Object(id) => {
                let resource = template.resource(&id)?;
                template.title(&resource, "QueueName")
            }
            Resolved::Unknown => return None,
        };
        Some(EnvFact { name: e.key.to_string(), value, span: e.value.span })
    };
    node.map_or(&[][..], Node::entries).iter().filter_map(value).collect()
}

/// The name of the function that a value refers to.
fn resource_name(template: &Template<'_>, node: Option<&Node>) -> Option<String> {
    match template.target(node?)? {
        QueueRef::Object { id, .. } => Some(template.title(&template.resource(&id)?, "FunctionName")),
        QueueRef::Name(name) => Some(name),
    }
}

/// A function as far as asynchronous invocation goes.
struct Function<'a> {
    name: String,
    component: String,
    opens: Span,
    asynchronous: bool,
    scheduled: bool,
    retries: Option<&'a Entry>,
    age: Option<&'a Entry>,
    on_failure: Option<&'a Node>,
    dead_letter_config: Option<&'a Node>,
    advice: &'static str,
}

impl<'a> Function<'a> {
    fn of(template: &Template<'a>, resource: &Resource<'a>, events: &[Entry]) -> Self {
        let kinds: Vec<&str> =
            events.iter().filter_map(|e| e.value.get("Type")?.as_str()).filter(|k| ASYNCHRONOUS.contains(k)).collect();
        let permitted = permitted(template, resource);
        let globals = |path: &[&str]| template.root.at(&["Globals", "Function"]).and_then(|g| g.at(path));
        let config = template.of_kind("AWS::Lambda::EventInvokeConfig").find(|config| {
            config.get(&["FunctionName"]).and_then(|n| template.target(n))
                == Some(QueueRef::Object { file: template.file.id, id: resource.id.to_owned() })
        });
        let own = |path: &[&'static str]| {
            let inline = [&["EventInvokeConfig"], path].concat();
            let separate = || config.as_ref().and_then(|c| c.get(path));
            resource.get(&inline).or_else(separate).or_else(|| globals(&inline))
        };
        let setting = |key: &'static str| {
            resource
                .entry(&["EventInvokeConfig", key])
                .or_else(|| config.as_ref().and_then(|c| c.entry(&[key])))
                .or_else(|| globals(&["EventInvokeConfig"]).and_then(|c| c.entry(key)))
        };
        Self {
            name: format!("function {}", template.title(resource, "FunctionName")),
            component: template.title(resource, "FunctionName"),
            opens: resource.id_span,
            asynchronous: !kinds.is_empty() || permitted,
            scheduled: !permitted && kinds.iter().all(|k| SCHEDULES.contains(k)),
            retries: setting("MaximumRetryAttempts"),
            age: setting("MaximumEventAgeInSeconds"),
            on_failure: own(&["DestinationConfig", "OnFailure"]),
            dead_letter_config: resource.get(&["DeadLetterConfig"]).or_else(|| resource.get(&["DeadLetterQueue"])),
            advice: template.words.function_advice,
        }
    }

    fn read(&self, template: &Template<'_>, out: &mut Vec<HandedOver>, facts: &mut Facts) {
        let is_told = self.on_failure.is_some() || self.dead_letter_config.is_some();
        if !self.asynchronous && !is_told {
            return;
        }
        let words = template.words;
        let config_target = self.dead_letter_config.map(|c| c.get("TargetArn").unwrap_or(c));
        let dead_letter = match self.on_failure {
            Some(node) => match (node.get("Destination"), node.get("Type")) {
                (Some(arn), _) => template.dead_letter(Some(arn)),
                // SAM makes a queue of its own.
                (None, Some(_)) => DeadLetter::BuiltIn,
                (None, None) => template.dead_letter(Some(node)),
            },
            None => template.dead_letter(config_target),
        };
        if self.asynchronous
            && self.on_failure.is_none()
            && let Some(config) = self.dead_letter_config
        {
            facts.incomplete_records.push(IncompleteRecord {
                name: format!("Dead letters of {}", self.name),
                place: config.span,
                reading: "keeps the event and an error message".to_owned(),
                missing: vec![RecordPart::Attempts, RecordPart::FirstFailure, RecordPart::LastFailure],
                advice: Some(self.advice.to_owned()),
                minor: false,
                confidence: Confidence::High,
            });
        }
        let queue = Queue {
            id: format!("{}:lambda:{}", words.system, self.component).into(),
            service: SERVICE,
            name: format!("asynchronous {}", self.name),
            names: Vec::new(),
            place: self.opens,
            otherwise: "is run again as often as the function allows, within 6 hours, and is then discarded".to_owned(),
            dead_letter,
            holds_dead_letters: false,
            minor: self.scheduled,
            retention: None,
            redelivers: until(self.age, self.retries, (6 * 3600, INVOCATION)).filter(|_| self.asynchronous),
            ages_from_first_send: false,
            advice: Some(self.advice.to_owned()),
            confidence: Confidence::High,
            dead_letters_of: Vec::new(),
            alarms: Vec::new(),
        };
        out.push(HandedOver { queue, is_written: self.retries.is_some(), what: What::Run });
        // Somebody else invokes it, or nobody: where its dead letters go is all that is known.
        if !self.asynchronous {
            return;
        }
        let attempts = match self.retries {
            Some(e) => retries(e),
            None => Setting::default(Attempts::Count(3), INVOCATION),
        };
        let scope = Scope::Consumers {
            queue: None,
            components: vec![template.component(self.component.clone())],
            group: format!("{}:invocation", words.system),
        };
        let id = format!("{}:invocation:{}", words.system, self.component);
        let id = (id, format!("asynchronous invocation of {}", self.name));
        let mut layer = redelivery(words.system, id, self.opens, attempts, scope);
        if let Some(e) = self.retries {
            layer.place = e.value.span;
            layer.reading = format!("{} on {}", template.quote(e), self.name);
        } else {
            layer.reading = format!("{}, which sets no {}", self.name, words.attempts);
        }
        layer.advice.none = Some(words.run_once.to_owned());
        facts.layers.push(layer);
    }
}

/// Whether a service that waits for no answer may invoke the function.
fn permitted(template: &Template<'_>, function: &Resource<'_>) -> bool {
    template.of_kind("AWS::Lambda::Permission").any(|permission| {
        let principal = permission.get(&["Principal"]).and_then(Node::as_str).unwrap_or_default();
        let service = principal.split('.').next().unwrap_or_default();
        let is_own = permission.get(&["FunctionName"]).and_then(|n| template.target(n))
            == Some(QueueRef::Object { file: template.file.id, id: function.id.to_owned() });
        is_own && matches!(service, "events" | "s3" | "sns" | "iot")
    })
}

/// Where a function takes records from.
struct Source<'a> {
    name: String,
    opens: Span,
    settings: &'a Node,
    source: Option<&'a Node>,
    /// Whether its kind says that it is a cluster of the user's own.
    is_kafka: bool,
    function: Option<String>,
}

impl Source<'_> {
    /// The kind as far as its own settings tell: only streams are read from a position on.
    fn kind(&self) -> Option<Kind> {
        let position = self.settings.get_any(&["StartingPosition", "startingPosition"]);
        let is_database = self.settings.get("DocumentDBEventSourceConfig").is_some()
            || self.settings.get("DocumentDbEventSourceConfig").is_some();
        (self.is_kafka || position.is_some() && !is_database).then_some(Kind::Stream)
    }
}

/// A SAM event that polls.
fn sam_source(template: &Template<'_>, function: &Resource<'_>, event: &Entry, facts: &mut Facts) {
    let kind = event.value.get("Type").and_then(Node::as_str).unwrap_or_default();
    if !matches!(kind, "SQS" | "Kinesis" | "DynamoDB" | "MSK" | "SelfManagedKafka") {
        return;
    }
    let Some(settings) = event.value.get("Properties") else { return };
    let source = Source {
        name: format!("event {} of function {}", event.key, function.short()),
        opens: event.key_span,
        settings,
        source: settings.get_any(&["Queue", "Stream"]),
        is_kafka: kind == "SelfManagedKafka",
        function: Some(template.title(function, "FunctionName")),
    };
    source_of(template, &source, facts);
}

/// A queue's consumer, or a stream's.
fn source_of(template: &Template<'_>, source: &Source<'_>, facts: &mut Facts) {
    let kind = source.source.and_then(|arn| kind_of(template, arn));
    match kind.or_else(|| source.kind()) {
        Some(Kind::Queue) => {
            let Some(queue) = source.source.and_then(|arn| template.target(arn)) else { return };
            facts.consumers.extend(source.function.clone().map(|component| crate::facts::ConsumerFact {
                queue: QueueName { service: sqs::SERVICE, queue },
                component: template.component(component),
            }));
        }
        Some(Kind::Stream) => stream(template, source, facts),
        None => {}
    }
}

enum Kind {
    Queue,
    Stream,
}

fn kind_of(template: &Template<'_>, arn: &Node) -> Option<Kind> {
    match template.resolve(arn) {
        Resolved::Object(id) => match template.resource(&id)?.kind {
            "AWS::SQS::Queue" => Some(Kind::Queue),
            "AWS::Kinesis::Stream" | "AWS::DynamoDB::Table" | "AWS::MSK::Cluster" => Some(Kind::Stream),
            _ => None,
        },
        Resolved::Text(text) if text.starts_with("arn:") => match text.split(':').nth(2)? {
            "sqs" => Some(Kind::Queue),
            "kinesis" | "dynamodb" | "kafka" => Some(Kind::Stream),
            _ => None,
        },
        _ => None,
    }
}

/// A stream's records come again until one batch succeeds: a limit and a destination are the user's to set.
fn stream(template: &Template<'_>, source: &Source<'_>, facts: &mut Facts) {
    let words = template.words;
    let entry = |names: [&str; 2]| source.settings.entry_any(&names).filter(|e| e.value.as_int() != Some(-1));
    let count = entry(["MaximumRetryAttempts", "maximumRetryAttempts"]);
    let age = entry(["MaximumRecordAgeInSeconds", "maximumRecordAgeInSeconds"]);
    let destination = source
        .settings
        .at(&["DestinationConfig", "OnFailure"])
        .or_else(|| source.settings.at(&["destinations", "onFailure"]));
    let target = destination.map(|d| d.get_any(&["Destination", "arn"]).unwrap_or(d));
    let bounded = count.is_some() || age.is_some();
    let otherwise = if bounded {
        "is tried as often as the event source allows, and is then skipped"
    } else {
        "holds up its shard, batch after batch, until it expires from the stream, and is then lost"
    };
    facts.queues.push(Queue {
        id: format!("{}:stream:{}", words.system, source.name).into(),
        service: SERVICE,
        name: source.name.clone(),
        names: Vec::new(),
        place: source.opens,
        otherwise: otherwise.to_owned(),
        dead_letter: template.dead_letter(target),
        holds_dead_letters: false,
        minor: false,
        retention: None,
        redelivers: age.map(seconds),
        ages_from_first_send: false,
        advice: Some(words.source_advice.to_owned()),
        confidence: Confidence::High,
        dead_letters_of: Vec::new(),
        alarms: Vec::new(),
    });
    if let Some(node) = destination {
        facts.incomplete_records.push(IncompleteRecord {
            name: format!("Dead letters of {}", source.name),
            place: node.span,
            reading: "keeps the shard and the sequence numbers, not the records".to_owned(),
            missing: vec![RecordPart::Original],
            advice: Some("an S3 bucket as destination keeps the records themselves".to_owned()),
            minor: true,
            confidence: Confidence::Medium,
        });
    }
    let attempts = match (count, age) {
        (Some(e), _) => retries(e),
        (None, Some(e)) => Setting::unknown("as often as fits into the age of a record", Some(e.value.span)),
        (None, None) => Setting::unknown("as often as fits until the record expires from the stream", None),
    };
    let group = format!("{}:stream:{}", words.system, source.name);
    let components = source.function.clone().map(|name| template.component(name)).into_iter().collect();
    let scope = Scope::Consumers { queue: None, components, group: group.clone() };
    let mut layer = redelivery(words.system, (group, source.name.clone()), source.opens, attempts, scope);
    layer.asked_for = true;
    layer.place = count.map_or(source.opens, |e| e.value.span);
    layer.reading = match count {
        Some(e) => format!("{} on {}", template.quote(e), source.name),
        None => format!("{}, which sets no {}", source.name, words.attempts),
    };
    layer.advice.limit = Some(format!("set {} and a destination for failures", words.attempts));
    facts.layers.push(layer);
}
