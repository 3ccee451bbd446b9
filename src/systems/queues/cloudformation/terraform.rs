//! What Terraform declares of the same services, put as a template: each resource under its type in CloudFormation, with
//! the properties' names of there. Places and texts stay those of Terraform's files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::template::Template;
use super::{given_up, words};
use crate::facts::Facts;
use crate::source::Span;
use crate::syntax::{Entry, Node, Value};
use crate::systems::terraform::{self, REFERENCE, Resource};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Queues, functions and alarms of AWS in Terraform.
pub struct TerraformMessaging;

const QUEUE: &str = "hashicorp/terraform-provider-aws website/docs/r/sqs_queue.html.markdown";
const MAPPING: &str = "hashicorp/terraform-provider-aws website/docs/r/lambda_event_source_mapping.html.markdown";

static META: SystemMeta = SystemMeta {
    id: words::MODULE.system,
    name: "Terraform: messaging of AWS",
    reads: "modules (*.tf, *.tf.json): SQS queues, SNS subscriptions, EventBridge targets, Lambda functions and their event \
            sources, CloudWatch alarms",
    marks: &["aws_sqs_", "aws_sns_", "aws_lambda_", "aws_cloudwatch_", "aws_scheduler_"],
    defaults: &[
        DefaultFigure {
            what: "aws_sqs_queue without redrive_policy",
            value: "redelivered until the retention ends",
            source: QUEUE,
        },
        DefaultFigure { what: "message_retention_seconds absent", value: "4 days", source: QUEUE },
        DefaultFigure { what: "visibility_timeout_seconds absent", value: "30 s", source: QUEUE },
        DefaultFigure {
            what: "retry_policy of an aws_cloudwatch_event_target absent",
            value: "186 attempts (185 retries)",
            source: super::EVENTS,
        },
        DefaultFigure {
            what: "maximum_retry_attempts of asynchronous invocation absent",
            value: "3 attempts (2 retries), 1 and 2 minutes apart",
            source: super::INVOCATION,
        },
        DefaultFigure {
            what: "maximum_retry_attempts of an aws_lambda_event_source_mapping of a stream absent",
            value: "until the record expires",
            source: MAPPING,
        },
    ],
};

impl System for TerraformMessaging {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let all = put(unit);
        if let Some(template) = Template::of_module(unit, &all) {
            let first = facts.queues.len();
            let handed_over = super::read(&template, facts);
            given_up::add(template.words.whole, handed_over, first, facts);
        }
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        terraform::module_of(path)
    }
}

/// The targets of EventBridge rules, which stand apart from their rules here.
pub(super) const TARGET: &str = "Terraform::Events::Target";

/// Types by what they are in a template.
const KINDS: [(&str, &str); 18] = [
    ("aws_sqs_queue", "AWS::SQS::Queue"),
    ("aws_sns_topic", "AWS::SNS::Topic"),
    ("aws_sns_topic_subscription", "AWS::SNS::Subscription"),
    ("aws_cloudwatch_event_rule", "AWS::Events::Rule"),
    ("aws_cloudwatch_event_target", TARGET),
    ("aws_scheduler_schedule", "AWS::Scheduler::Schedule"),
    ("aws_lambda_function", "AWS::Lambda::Function"),
    ("aws_lambda_function_event_invoke_config", "AWS::Lambda::EventInvokeConfig"),
    ("aws_lambda_permission", "AWS::Lambda::Permission"),
    ("aws_lambda_event_source_mapping", "AWS::Lambda::EventSourceMapping"),
    ("aws_cloudwatch_metric_alarm", "AWS::CloudWatch::Alarm"),
    ("aws_cloudwatch_composite_alarm", "AWS::CloudWatch::CompositeAlarm"),
    ("aws_kinesis_stream", "AWS::Kinesis::Stream"),
    ("aws_dynamodb_table", "AWS::DynamoDB::Table"),
    ("aws_msk_cluster", "AWS::MSK::Cluster"),
    ("aws_msk_serverless_cluster", "AWS::MSK::Cluster"),
    ("aws_sqs_queue_redrive_policy", "Terraform::SQS::RedrivePolicy"),
    ("aws_sqs_queue_redrive_allow_policy", "Terraform::SQS::RedriveAllowPolicy"),
];

/// Properties that are no argument's name with capitals.
const PROPERTIES: [(&str, &str, &str); 9] = [
    ("aws_sqs_queue", "name", "QueueName"),
    ("aws_sqs_queue", "visibility_timeout_seconds", "VisibilityTimeout"),
    ("aws_sqs_queue", "message_retention_seconds", "MessageRetentionPeriod"),
    ("aws_sns_topic", "name", "TopicName"),
    ("aws_cloudwatch_event_rule", "name", "Name"),
    ("aws_lambda_event_source_mapping", "destination_arn", "Destination"),
    ("aws_lambda_event_source_mapping", "self_managed_event_source", "SelfManagedEventSource"),
    ("aws_cloudwatch_metric_alarm", "metric_query", "Metrics"),
    ("aws_cloudwatch_metric_alarm", "stat", "Stat"),
];

/// Arguments whose keys are names of the user's, or of a policy.
const AS_THEY_ARE: [&str; 6] =
    ["variables", "dimensions", "tags", "redrive_policy", "redrive_allow_policy", "delivery_policy"];

/// A resource of a module as one of a template.
#[derive(Debug)]
pub(super) struct Put {
    /// Its address.
    pub(super) id: String,
    /// Its name's place.
    pub(super) place: Span,
    /// Its type in a template.
    pub(super) kind: &'static str,
    /// Its properties.
    pub(super) properties: Node,
}

/// The resources of a module, policies that stand apart put on their queues.
pub(super) fn put(unit: &Unit<'_>) -> Vec<Put> {
    let mut all: Vec<Put> = terraform::resources(unit, "aws_").iter().filter_map(one).collect();
    for property in ["RedrivePolicy", "RedriveAllowPolicy"] {
        let is_policy = |p: &&Put| p.kind.strip_prefix("Terraform::SQS::") == Some(property);
        let found: BTreeMap<String, Entry> = all.iter().filter(|p| is_policy(p)).filter_map(policy(property)).collect();
        for queue in all.iter_mut().filter(|p| p.kind == "AWS::SQS::Queue") {
            // A policy whose queue cannot be told may be anybody's.
            let Some(entry) = found.get(&queue.id).or_else(|| found.get("")) else { continue };
            if let Value::Map(entries) = &mut queue.properties.value
                && !entries.iter().any(|e| e.key == entry.key && !e.value.is_null())
            {
                entries.push(entry.clone());
            }
        }
    }
    all
}

/// A policy that stands apart: its queue's address, or nothing where it is unknown; and the policy.
fn policy(property: &str) -> impl Fn(&Put) -> Option<(String, Entry)> {
    move |put| {
        let entry = put.properties.entry(property)?;
        let url = put.properties.get("QueueUrl")?;
        let known = url.as_str().filter(|_| url.tag.as_deref() == Some(REFERENCE));
        // What may send here says that it is for dead letters; where it is there only for some, nothing is known, not
        // even whether it needs a place for them itself.
        let counts = put.properties.get_any(&["Count", "ForEach"]);
        let is_only_for_some = property == "RedriveAllowPolicy" && counts.is_some_and(|n| n.tag.is_some());
        let unknown = || Arc::new(Node { tag: Some("!Expression".into()), ..url.clone() });
        let entry = match known {
            Some(_) if is_only_for_some => Entry { key: "RedrivePolicy".into(), value: unknown(), ..entry.clone() },
            Some(_) => entry.clone(),
            None => Entry { value: unknown(), ..entry.clone() },
        };
        Some((known.unwrap_or_default().to_owned(), entry))
    }
}

fn one(resource: &Resource) -> Option<Put> {
    let (_, kind) = KINDS.iter().find(|(kind, _)| *kind == &*resource.kind)?;
    let properties = block(&resource.kind, &resource.body);
    Some(Put { id: resource.address.clone(), place: resource.place, kind, properties })
}

/// A block with the names of a template; blocks that may stand there several times become lists.
fn block(kind: &str, node: &Node) -> Node {
    let mut out: Vec<Entry> = Vec::new();
    for e in node.entries() {
        let key: Arc<str> = property(kind, &e.key).into();
        let value = match () {
            () if AS_THEY_ARE.contains(&&*e.key) => e.value.clone(),
            () if &*key == "Metrics" => {
                let own = std::slice::from_ref(&e.value);
                let more = if e.value.items().is_empty() { own } else { e.value.items() };
                let known = out.iter().position(|o| o.key == key).map(|at| out.remove(at));
                let before = known.iter().flat_map(|k| k.value.items().iter().cloned());
                let items = before.chain(more.iter().map(|n| Arc::new(metric(kind, n)))).collect();
                Arc::new(Node::new(e.value.span, Value::List(items)))
            }
            () => Arc::new(nested(kind, &e.value)),
        };
        out.push(Entry { key, key_span: e.key_span, value });
    }
    Node { value: Value::Map(out), ..node.clone() }
}

/// A block inside; the JSON form may write it as a list of one.
fn nested(kind: &str, node: &Node) -> Node {
    match (&node.value, node.items()) {
        (Value::Map(_), _) => block(kind, node),
        (_, [only]) if !only.entries().is_empty() => block(kind, only),
        _ => node.clone(),
    }
}

/// `metric` is the metric and its statistic in one.
fn metric(kind: &str, node: &Node) -> Node {
    let mut out = block(kind, node);
    if let Value::Map(entries) = &mut out.value {
        for e in entries.iter_mut().filter(|e| &*e.key == "Metric") {
            let inner = Entry { key: "Metric".into(), key_span: e.key_span, value: e.value.clone() };
            e.value = Arc::new(Node::new(e.value.span, Value::Map(vec![inner])));
            e.key = "MetricStat".into();
        }
    }
    out
}

/// `maximum_retry_attempts` → `MaximumRetryAttempts`
fn property(kind: &str, key: &str) -> String {
    if let Some((_, _, name)) = PROPERTIES.iter().find(|(of, from, _)| *of == kind && *from == key) {
        return (*name).to_owned();
    }
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
    };
    key.split('_').map(capital).collect()
}
