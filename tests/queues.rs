//! Queues on the call graph: who takes the messages, and what a redelivery multiplies.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::Folder;

const QUEUES: &str = "\
Resources:
  Dead:
    Type: AWS::SQS::Queue
    Properties: {QueueName: parcels-dead, MessageRetentionPeriod: 1209600}
  Parcels:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: parcels
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt Dead.Arn
        maxReceiveCount: 5
";

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
        - name: NAME
          image: NAME:1
          env:
            - {name: QUEUE_URL, value: \"https://sqs.eu-west-1.amazonaws.com/111122223333/parcels\"}
";

/// A program that books each message with three tries; QUEUE is what it does with the queue.
const PROGRAM: &str = r#"
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let sqs = aws_sdk_sqs::Client::new(&aws_config::load_from_env().await);
    let queue = std::env::var("QUEUE_URL")?;
    let http = reqwest::Client::new();
    QUEUE
    book(&http).await
}

async fn book(http: &reqwest::Client) -> anyhow::Result<()> {
    let mut tries = 0;
    loop {
        match http.put("http://warehouse:8080/parcels").send().await {
            Ok(_) => return Ok(()),
            Err(error) if tries == 2 => return Err(error.into()),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}
"#;

fn program(folder: &Folder, name: &str, queue: &str) {
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n\n[dependencies]\nreqwest = \"0.12\"\n");
    folder.write(&format!("{name}/Cargo.toml"), manifest);
    folder.write(&format!("{name}/src/main.rs"), PROGRAM.replace("QUEUE\n", &format!("{queue}\n")));
    folder.write(&format!("deploy/{name}.yaml"), MANIFEST.replace("NAME", name));
}

/// Each path as its product and the lines of its layers.
fn paths(json: &Value) -> Vec<String> {
    let layer = |l: &Value| format!("{}:{}", l["location"]["file"].as_str().unwrap(), l["location"]["line"]);
    let layers = |p: &Value| p["layers"].as_array().unwrap().iter().map(layer).collect::<Vec<_>>().join(" ");
    json["paths"].as_array().unwrap().iter().map(|p| format!("{} {}", p["product"], layers(p))).collect()
}

#[test]
fn a_redelivery_repeats_what_the_consumer_does() {
    let folder = Folder::with("deploy/queues.yaml", QUEUES);
    program(&folder, "worker", "let batch = sqs.receive_message().queue_url(&queue).send().await?;");
    let json = folder.check().json();
    assert_eq!(paths(&json), ["15 deploy/queues.yaml:11 worker/src/main.rs:13"]);
}

#[test]
fn a_redelivery_does_not_repeat_what_a_producer_does() {
    let folder = Folder::with("deploy/queues.yaml", QUEUES);
    program(&folder, "shop", "sqs.send_message().queue_url(&queue).message_body(\"1\").send().await?;");
    assert_eq!(paths(&folder.check().json()), [""; 0]);
}

#[test]
fn a_message_leads_from_who_sends_it_to_who_takes_it_and_nobody_waits() {
    let folder = Folder::with("deploy/queues.yaml", QUEUES);
    program(&folder, "worker", "let batch = sqs.receive_message().queue_url(&queue).send().await?;");
    program(&folder, "shop", "sqs.send_message().queue_url(&queue).message_body(\"1\").send().await?;");
    let graph = folder.retrylint(&["graph", "--format", "json"]).json();
    let name = |ix: &Value| graph["components"][usize::try_from(ix.as_u64().unwrap()).unwrap()]["name"].clone();
    let hops = graph["hops"].as_array().unwrap().iter().filter(|h| !h["through"].is_null());
    let hops: Vec<_> = hops.map(|h| (name(&h["from"]), name(&h["to"]), h["through"].clone())).collect();
    assert_eq!(hops, [("shop".into(), "worker".into(), "SQS queue parcels".into())]);
    assert_eq!(paths(&folder.check().json()), ["15 deploy/queues.yaml:11 worker/src/main.rs:13"]);
}

#[test]
fn a_function_behind_a_queue_is_its_consumer() {
    let functions = r"
  Book:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: book
      CodeUri: ../worker
      Events:
        Parcels: {Type: SQS, Properties: {Queue: !GetAtt Parcels.Arn}}
";
    let folder = Folder::with("deploy/queues.yaml", format!("{QUEUES}{functions}"));
    program(&folder, "worker", "");
    std::fs::remove_file(folder.root.join("deploy/worker.yaml")).unwrap();
    let json = folder.check().json();
    assert_eq!(paths(&json), ["15 deploy/queues.yaml:11 worker/src/main.rs:13"]);
}

#[test]
fn a_rerun_repeats_what_the_job_does() {
    let job = "\
apiVersion: batch/v1
kind: Job
metadata: {name: worker}
spec:
  backoffLimit: 4
  template: {spec: {restartPolicy: Never, containers: [{name: worker, image: \"worker:1\"}]}}
";
    let folder = Folder::with("deploy/job.yaml", job);
    program(&folder, "worker", "");
    std::fs::remove_file(folder.root.join("deploy/worker.yaml")).unwrap();
    let json = folder.check().json();
    assert_eq!(paths(&json), ["15 deploy/job.yaml:5 worker/src/main.rs:13"]);
}

#[test]
fn an_alert_of_another_file_watches_by_name() {
    let alert = |expr: &str| format!("groups: [{{name: a, rules: [{{alert: Dead, expr: '{expr}'}}]}}]\n");
    let unmonitored = |expr: &str| {
        let folder = Folder::with("deploy/queues.yaml", QUEUES);
        folder.write("alerts.yml", alert(expr));
        let json = folder.check().json();
        let findings = json["findings"].as_array().unwrap().iter();
        let of_rule = findings.filter(|f| f["rule"] == "unmonitored-dead-letter");
        of_rule
            .map(|f| format!("{}:{}", f["location"]["file"].as_str().unwrap(), f["location"]["line"]))
            .collect::<Vec<_>>()
    };
    let metric = "aws_sqs_approximate_number_of_messages_visible_average";
    assert_eq!(unmonitored(&format!("{metric}{{queue_name=\"parcels-dead\"}} > 0")), [""; 0]);
    assert_eq!(unmonitored(&format!("{metric}{{queue_name=~\".*-dead\"}} > 0")), [""; 0]);
    assert_eq!(unmonitored(&format!("{metric}{{queue_name=\"parcels-dead\"}} > 5")), ["alerts.yml:1"]);
    // A name is matched as a whole.
    assert_eq!(unmonitored(&format!("{metric}{{queue_name=\"parcels\"}} > 0")), ["deploy/queues.yaml:2"]);
}

/// An operator's program that sends dead letters back slowly, and writes that down.
const REDRIVE: &str = r#"
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let sqs = aws_sdk_sqs::Client::new(&aws_config::load_from_env().await);
    let dead = std::env::args().nth(1).unwrap_or_default();
    let task = sqs.start_message_move_task().source_arn(&dead).max_number_of_messages_per_second(5).send().await?;
    tracing::info!(task = task.task_handle(), "dead letters sent back");
    Ok(())
}
"#;

#[test]
fn a_redrive_is_as_safe_as_its_consumer() {
    let folder = Folder::with("deploy/queues.yaml", QUEUES);
    program(&folder, "worker", "let batch = sqs.receive_message().queue_url(&queue).send().await?;");
    folder.write("ops/Cargo.toml", "[package]\nname = \"ops\"\nversion = \"1.0.0\"\n");
    folder.write("ops/src/main.rs", REDRIVE);
    let redrives = |folder: &Folder| -> Vec<String> {
        let json = folder.check().json();
        let found = json["findings"].as_array().unwrap().iter().filter(|f| f["rule"] == "unsafe-redrive");
        found.map(|f| format!("{} {}", f["severity"].as_str().unwrap(), f["location"]["line"])).collect()
    };
    // Its consumer PUTs: the same again is the same.
    assert_eq!(redrives(&folder), [""; 0]);
    let posts =
        std::fs::read_to_string(folder.root.join("worker/src/main.rs")).unwrap().replace("http.put", "http.post");
    folder.write("worker/src/main.rs", posts);
    assert_eq!(redrives(&folder), ["warning 6"]);
    folder.write("db/schema.sql", "CREATE TABLE inbox (msg_id TEXT PRIMARY KEY, received_at TIMESTAMPTZ NOT NULL);");
    assert_eq!(redrives(&folder), [""; 0]);
}

/// The findings of a rule, by file, line and level.
fn of_rule(json: &Value, rule: &str) -> Vec<String> {
    let findings = json["findings"].as_array().unwrap().iter().filter(|f| f["rule"] == rule);
    let shown =
        |f: &Value| format!("{}:{} {}", f["location"]["file"].as_str().unwrap(), f["location"]["line"], f["severity"]);
    findings.map(|f| shown(f).replace('"', "")).collect()
}

const ALARM: &str = "  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: NumberOfMessagesSent
      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]
      ComparisonOperator: GreaterThanThreshold
      Threshold: 0
      AlarmActions: [!Ref Pager]
";

#[test]
fn an_alarm_on_what_is_sent_misses_what_a_redrive_policy_moves_and_that_alone() {
    let moved = Folder::with("t.yaml", format!("{QUEUES}{ALARM}"));
    assert_eq!(of_rule(&moved.check().json(), "unmonitored-dead-letter"), ["t.yaml:19 warning"]);
    // What a function gives up is sent there.
    let function = "\
Resources:
  Dead: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  Resize:
    Type: AWS::Serverless::Function
    Properties:
      EventInvokeConfig: {DestinationConfig: {OnFailure: {Destination: !GetAtt Dead.Arn}}}
      Events: {Up: {Type: S3}}
";
    let sent = Folder::with("t.yaml", format!("{function}{ALARM}"));
    assert_eq!(of_rule(&sent.check().json(), "unmonitored-dead-letter"), [""; 0]);
}

#[test]
fn an_alert_that_ends_at_nobody_watches_nothing() {
    let ways = |receiver: &str| {
        format!(
            "route: {{receiver: nobody, routes: [{{match: {{severity: page}}, receiver: {receiver}}}]}}\n\
                 receivers: [{{name: nobody}}, {{name: pager, webhook_configs: [{{url: 'http://pager'}}]}}]\n"
        )
    };
    let alerts = "groups: [{name: a, rules: [{alert: Dead, expr: 'aws_sqs_approximate_number_of_messages_visible_sum\
                  {queue_name=\"parcels-dead\"} > 0', labels: {severity: page}}]}]\n";
    for (receiver, expected) in [("nobody", vec!["alerts.yaml:1 warning".to_owned()]), ("pager", Vec::new())] {
        let folder = Folder::with("t.yaml", QUEUES);
        folder.write("alerts.yaml", alerts).write("alertmanager.yaml", ways(receiver));
        assert_eq!(of_rule(&folder.check().json(), "unmonitored-dead-letter"), expected, "{receiver}");
    }
}

#[test]
fn subscriptions_without_dead_letters_are_named_once() {
    let hook = |name: &str, more: &str| {
        format!(
            "resource \"aws_sns_topic_subscription\" \"{name}\" {{\n  topic_arn = var.topic\n  protocol = \"https\"\n  \
                 endpoint = \"https://{name}\"\n{more}}}\n"
        )
    };
    let plain = hook("a", "") + &hook("b", "") + &hook("c", "");
    let folder = Folder::with("main.tf", &plain);
    let json = folder.check().json();
    assert_eq!(of_rule(&json, "missing-dead-letter"), ["main.tf:1 warning"]);
    assert!(json["findings"][0]["message"].as_str().unwrap().contains("like 2 others of this module"), "{json}");
    // Where one of them has a place for what it cannot deliver, those left out are named each.
    let policy = "  redrive_policy = jsonencode({ deadLetterTargetArn = \"arn:aws:sqs:eu-west-1:1:hooks-dlq\" })\n";
    let folder = Folder::with("main.tf", plain + &hook("d", policy));
    assert_eq!(of_rule(&folder.check().json(), "missing-dead-letter").len(), 3);
}

#[test]
fn a_retry_around_a_client_multiplies_it() {
    let stream = "input: {kafka_franz: {topics: [orders]}}\noutput:\n  retry:\n    max_retries: 4\n    output:\n      \
                  fallback: [{http_client: {url: 'http://orders:8080', verb: POST, retries: 3}}, {file: {path: dead}}]\n";
    let json = Folder::with("streams/orders.yaml", stream).check().json();
    assert_eq!(paths(&json), ["20 streams/orders.yaml:4 streams/orders.yaml:6"]);
}

/// The level at which a purge after so many hours is told, beside some settings.
fn purge_after(hours: u32, files: &[(&str, &str)]) -> Option<String> {
    let sql = format!("DELETE FROM inbox WHERE received_at < now() - interval '{hours} hours';\n");
    let folder = Folder::with("db/purge.sql", sql);
    for (path, text) in files {
        folder.write(path, *text);
    }
    let found = of_rule(&folder.check().json(), "short-idempotency-retention");
    found.first().and_then(|f| f.split(' ').nth(1)).map(str::to_owned)
}

#[test]
fn a_record_outlives_every_way_in_which_its_message_can_come_again() {
    let day = 24;
    let sns =
        "Resources:\n  S: {Type: AWS::SNS::Subscription, Properties: {Protocol: lambda, TopicArn: t, Endpoint: e}}\n";
    let bus = "Resources:\n  R:\n    Type: AWS::Events::Rule\n    Properties:\n      EventPattern: {source: [a]}\n      Targets: \
               [{Id: f, Arn: a, RetryPolicy: {MaximumEventAgeInSeconds: 7200}}]\n";
    let function =
        "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {Events: {Up: {Type: S3}}}\n";
    let shard = "Resources:\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties: {EventSourceArn: \
                 'arn:aws:kinesis:eu-west-1:1:stream/s', FunctionName: f, MaximumRecordAgeInSeconds: 36000}\n";
    let jobs = ":concurrency: 5\n:queues: [default]\n";
    let fewer = ":max_retries: 5\n:queues: [default]\n";
    let rabbit = r#"{"rabbitmq_version": "4.1.0", "queues": [{"name": "a", "vhost": "/", "arguments": {"x-message-ttl": 7200000}}]}"#;
    let topic = "{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaTopic, metadata: {name: a}, spec: {config: {retention.ms: 7200000}}}";
    let stream = "{apiVersion: jetstream.nats.io/v1beta2, kind: Stream, metadata: {name: a}, spec: {name: A, subjects: [a], maxAge: 240h}}";
    let pubsub = "{apiVersion: pubsub.cnrm.cloud.google.com/v1beta1, kind: PubSubSubscription, metadata: {name: a}, spec: {topicRef: {name: t}}}";
    let bus_queue =
        "resource \"azurerm_servicebus_queue\" \"q\" {\n  name = \"q\"\n  default_message_ttl = \"PT3H\"\n}\n";
    let worker = "[[queues.consumers]]\nqueue = \"a\"\ndead_letter_queue = \"b\"\n";
    // The longest that is too short, and the shortest that is not.
    for (path, text, short, enough) in [
        ("t.yaml", sns, 23 * day - 1, 23 * day),
        ("t.yaml", bus, 1, 2),
        ("t.yaml", function, 5, 6),
        ("t.yaml", shard, 9, 10),
        ("t.yaml", QUEUES, 14 * day - 1, 14 * day),
        ("config/sidekiq.yml", jobs, 20 * day, 21 * day),
        // 354 s and five times 15 s: less than an hour.
        ("config/sidekiq.yml", fewer, 0, 1),
        ("definitions.json", rabbit, 1, 2),
        ("topic.yaml", topic, 1, 2),
        ("stream.yaml", stream, 239, 240),
        ("subscription.yaml", pubsub, 7 * day - 1, 7 * day),
        ("main.tf", bus_queue, 2, 3),
        ("wrangler.toml", worker, 4 * day - 1, 4 * day),
    ] {
        if short > 0 {
            assert_eq!(purge_after(short, &[(path, text)]).as_deref(), Some("error"), "{path}: {text}");
        }
        assert_eq!(purge_after(enough, &[(path, text)]), None, "{path}: {text}");
    }
    // Sent back, dead letters are new messages: they lie in the queue once more.
    let back = "name: back\non: workflow_dispatch\njobs:\n  back:\n    runs-on: ubuntu-latest\n    steps:\n      - run: aws sqs \
                start-message-move-task --source-arn arn:aws:sqs:eu-west-1:1:parcels-dead\n";
    let both = [("t.yaml", QUEUES), (".github/workflows/back.yml", back)];
    assert_eq!(purge_after(18 * day - 1, &both).as_deref(), Some("error"));
    assert_eq!(purge_after(18 * day, &both), None);
}

#[test]
fn a_record_lives_as_long_as_its_column_says() {
    let told = |interval: &str, purge: &str| {
        let table = format!(
            "CREATE TABLE idempotency_keys (\n  key TEXT PRIMARY KEY,\n  response JSONB,\n  expires_at TIMESTAMPTZ NOT NULL \
             DEFAULT now() + interval '{interval}'\n);\n"
        );
        let folder = Folder::with("db/1_keys.sql", table);
        folder.write("db/2_purge.sql", format!("DELETE FROM idempotency_keys WHERE {purge};\n"));
        folder.write("retrylint.toml", "[redelivery]\nwindow = \"3d\"\n");
        of_rule(&folder.check().json(), "short-idempotency-retention")
    };
    assert_eq!(told("2 days", "expires_at < now()"), ["db/1_keys.sql:4 error"]);
    assert_eq!(told("30 days", "expires_at < now()"), [""; 0]);
    // How old they are, another column tells.
    assert_eq!(told("2 days", "created_at < $1"), [""; 0]);
}
