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
