//! CloudFormation, SAM and the Serverless Framework: queues, subscriptions, rules, functions and alarms of AWS.

mod alarms;
mod events;
mod functions;
mod given_up;
mod layers;
mod sns;
mod sqs;
mod template;
pub mod terraform;
mod words;

use self::given_up::HandedOver;
use self::template::Template;
use crate::facts::Facts;
use crate::syntax::Node;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// CloudFormation.
pub struct CloudFormation;

const SQS: &str = "boto/botocore data/sqs/2012-11-05/service-2.json";
const SNS: &str = "Amazon SNS developer guide, message delivery retries";
const EVENTS: &str = "Amazon EventBridge user guide, event retry policy and dead-letter queues";
const INVOCATION: &str = "AWS Lambda developer guide, asynchronous invocation";
const SCHEDULER: &str = "hashicorp/terraform-provider-aws website/docs/r/scheduler_schedule.html.markdown";
const STREAMS: &str = "AWS Lambda developer guide, event source mappings";

static META: SystemMeta = SystemMeta {
    id: words::TEMPLATE.system,
    name: "CloudFormation",
    reads: "templates of CloudFormation and SAM (YAML, JSON) and serverless.yml: SQS queues, SNS subscriptions, \
            EventBridge targets, Lambda functions and their event sources, CloudWatch alarms",
    marks: &["AWS::", "aws"],
    defaults: &[
        DefaultFigure {
            what: "AWS::SQS::Queue without RedrivePolicy",
            value: "redelivered until the retention ends",
            source: SQS,
        },
        DefaultFigure { what: "RedrivePolicy.maxReceiveCount absent", value: "10 deliveries", source: SQS },
        DefaultFigure { what: "MessageRetentionPeriod absent", value: "4 days", source: SQS },
        DefaultFigure { what: "VisibilityTimeout absent", value: "30 s", source: SQS },
        DefaultFigure {
            what: "AWS::SNS::Subscription (http, https) without DeliveryPolicy",
            value: "4 attempts (3 retries), 20 s apart",
            source: SNS,
        },
        DefaultFigure {
            what: "RetryPolicy.MaximumRetryAttempts of an EventBridge target absent",
            value: "186 attempts (185 retries)",
            source: EVENTS,
        },
        DefaultFigure {
            what: "RetryPolicy.MaximumRetryAttempts of an EventBridge schedule absent",
            value: "186 attempts (185 retries)",
            source: SCHEDULER,
        },
        DefaultFigure {
            what: "MaximumRetryAttempts of asynchronous invocation absent",
            value: "3 attempts (2 retries), 1 and 2 minutes apart",
            source: INVOCATION,
        },
        DefaultFigure {
            what: "MaximumRetryAttempts of a stream's event source absent",
            value: "until the record expires",
            source: STREAMS,
        },
    ],
};

impl System for CloudFormation {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn receives(&self) -> &'static [&'static str] {
        &["receive_message"]
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let serverless = is_serverless(root);
            let template = match Template::of(file, root) {
                Some(template) => template,
                None if serverless => Template::empty(file, root),
                None => continue,
            };
            let first = facts.queues.len();
            let mut handed_over = read(&template, facts);
            if serverless {
                functions::read_serverless(&template, &mut handed_over, facts);
            }
            given_up::add(template.words.whole, handed_over, first, facts);
        }
    }
}

/// Whatever resources a template has; what is handed over is for the caller to add.
fn read(template: &Template<'_>, facts: &mut Facts) -> Vec<HandedOver> {
    let mut handed_over = Vec::new();
    sqs::read(template, facts);
    sns::read(template, &mut handed_over, facts);
    events::read(template, &mut handed_over, facts);
    functions::read(template, &mut handed_over, facts);
    alarms::read(template, facts);
    handed_over
}

/// `serverless.yml` for AWS.
fn is_serverless(root: &Node) -> bool {
    let provider = root.get("provider");
    let name = provider.and_then(|p| p.as_str().or_else(|| p.get("name")?.as_str()));
    root.get("service").is_some() && root.get("functions").is_some() && name == Some("aws")
}
