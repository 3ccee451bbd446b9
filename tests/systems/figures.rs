//! Figures that cannot be told, and figures that follow from several settings.

use std::time::Duration;

use retrylint::facts::Facts;
use retrylint::model::{Attempts, Setting, Wait};
use retrylint::systems::Versions;

use super::defaults::only;

fn facts(file: &str, text: &str) -> Facts {
    super::read(vec![(file.to_string(), text.to_string())], &Versions::default()).1
}

fn count(file: &str, text: &str) -> Option<u64> {
    only(&facts(file, text)).attempts.value().and_then(|a| a.count())
}

#[test]
fn tries_within_a_time_are_not_known_where_their_waits_are_not() {
    let fluentd = |wait: &str| {
        format!(
            "<match a>\n  @type http\n  endpoint http://a\n  <buffer>\n    retry_timeout 1h\n    {wait}\n  </buffer>\n</match>\n"
        )
    };
    let alloy = |wait: &str| {
        format!(
            "otelcol.exporter.otlphttp \"a\" {{\n  client {{\n    endpoint = \"http://a\"\n  }}\n  retry_on_failure {{\n    \
             initial_interval = {wait}\n    max_interval = {wait}\n    max_elapsed_time = \"24h\"\n  }}\n}}\n"
        )
    };
    let kafka = |wait: &str| {
        format!(
            "spring.kafka.producer.properties.delivery.timeout.ms=60000\nspring.kafka.producer.properties.retry.backoff.ms={wait}\n"
        )
    };
    for (file, known, about, unknown) in [
        ("fluent.conf", fluentd("retry_wait 10s\n    retry_type periodic"), 361, fluentd("retry_wait \"#{ENV['W']}\"")),
        ("config.alloy", alloy("\"100ms\""), 864_001, alloy("sys.env(\"WAIT\")")),
        ("application.properties", kafka("1000"), 61, kafka("${BACKOFF}")),
    ] {
        assert_eq!(count(file, &known), Some(about), "{known}");
        let facts = facts(file, &unknown);
        assert!(matches!(only(&facts).attempts, Setting::Unknown { .. }), "{unknown}: {:?}", only(&facts).attempts);
    }
}

#[test]
fn counts_of_cloudformation_are_whole_numbers_that_can_be() {
    let target = |retries: &str| {
        let text = format!(
            "{{Resources: {{R: {{Type: 'AWS::Events::Rule', Properties: {{Targets: [{{Id: a, Arn: b, RetryPolicy: {{MaximumRetryAttempts: {retries}}}}}]}}}}}}}}"
        );
        count("template.yaml", &text)
    };
    assert_eq!((target("3"), target("'3'"), target("0"), target("-1")), (Some(4), Some(4), Some(1), Some(1)));
    for retries in ["99999999999999999999999", "18446744073709551615", "2.5", "!Ref Count"] {
        assert_eq!(target(retries), None, "{retries}");
    }
}

#[test]
fn the_delays_of_a_subscription_are_those_written() {
    let waits = |policy: &str| {
        let text = format!(
            "{{Resources: {{S: {{Type: 'AWS::SNS::Subscription', Properties: {{Protocol: https, TopicArn: a, Endpoint: 'https://a', DeliveryPolicy: {{healthyRetryPolicy: {{{policy}}}}}}}}}}}}}"
        );
        only(&facts("template.yaml", &text)).wait.clone()
    };
    let fixed = |policy: &str| match waits(policy) {
        Wait::Fixed(wait) => wait.value().map(Duration::as_secs),
        _ => None,
    };
    assert_eq!(fixed("numRetries: 5"), Some(20));
    assert_eq!(fixed("numRetries: 5, minDelayTarget: 3, maxDelayTarget: 3"), Some(3));
    assert!(matches!(waits("numRetries: 5, minDelayTarget: !Ref Delay"), Wait::Unknown { .. }));
    assert!(matches!(waits("numRetries: 5, numNoDelayRetries: !Ref Many"), Wait::Unknown { .. }));
    assert!(matches!(waits("numRetries: 5, minDelayTarget: 3, maxDelayTarget: 9"), Wait::Unknown { .. }));
    let mixed = waits("numRetries: 100, numNoDelayRetries: 3");
    let first: Vec<_> = (0..5).filter_map(|n| mixed.nominal(n)).map(|d| d.as_secs()).collect();
    assert_eq!(first, [0, 0, 0, 20, 20]);
}

#[test]
fn a_longest_time_of_argo_ends_the_tries_and_caps_no_wait() {
    let read = |backoff: &str| {
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: a}}, spec: {{templates: [{{name: b, container: {{image: c}}, retryStrategy: {{limit: 10, backoff: {{duration: 60s, factor: 2, {backoff}}}}}}}]}}}}"
        );
        only(&facts("workflow.yaml", &text)).clone()
    };
    let timed = read("maxDuration: 10m");
    let within = Attempts::Within { deadline: Duration::from_secs(600), about: 4 };
    assert_eq!(timed.attempts.value(), Some(&within));
    assert_eq!(timed.overall.as_ref().and_then(Setting::value), Some(&Duration::from_secs(600)));
    assert_eq!(timed.wait.nominal(9), Some(Duration::from_secs(60 << 9)));
    let capped = read("cap: 5m");
    assert_eq!((capped.attempts.value(), capped.overall.clone()), (Some(&Attempts::Count(11)), None));
    assert_eq!(capped.wait.nominal(9), Some(Duration::from_secs(300)));
    assert_eq!(read("cap: 5m, maxDuration: 10h").attempts.value(), Some(&Attempts::Count(11)));
}

#[test]
fn what_telegraf_does_not_list_is_what_its_help_names() {
    let advice = |list: &str| {
        let text = format!("[[outputs.http]]\n  url = \"http://a\"\n  {list}\n");
        only(&facts("telegraf.conf", &text)).advice.statuses.clone().unwrap_or_default()
    };
    assert!(advice("").ends_with(": 400, 401, 403, 404, 413"));
    assert!(advice("non_retryable_statuscodes = [400, 401, 403]").ends_with(": 404, 413"));
    assert!(advice("non_retryable_statuscodes = [400, 401, 403, 404, 413]").contains(": 402, 405-407, "));
}
