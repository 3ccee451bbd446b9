//! Which metrics count the messages in a queue, and by which label they tell the queue.

use crate::model::names_dead_letters;

/// The services whose queues have metrics here.
pub(super) const SERVICES: [&str; 9] =
    ["sqs", "rabbitmq", "kafka", "nats", "pubsub", "cloudflare", "sidekiq", "solid-queue", "servicebus dead letters"];

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    /// The messages that lie in a queue.
    Depth {
        /// The service.
        service: &'static str,
        /// The labels of which one names the queue.
        labels: &'static [&'static str],
    },
    /// What is sent to a queue: a redrive policy sends nothing.
    Sent {
        /// The service.
        service: &'static str,
        /// The labels of which one names the queue.
        labels: &'static [&'static str],
    },
    /// Dead letters of whatever service, by the name.
    Own,
    /// Nothing of a queue.
    Other,
}

const SQS: &[&str] = &["queue_name", "dimension_QueueName"];

/// What a metric of this name counts.
pub(super) fn of(name: &str) -> Metric {
    if name.starts_with("aws_sqs_approximate_number_of_messages_visible") {
        return Metric::Depth { service: "sqs", labels: SQS };
    }
    if name.starts_with("aws_sqs_number_of_messages_sent") {
        return Metric::Sent { service: "sqs", labels: SQS };
    }
    match name {
        "rabbitmq_queue_messages"
        | "rabbitmq_queue_messages_ready"
        | "rabbitmq_detailed_queue_messages"
        | "rabbitmq_detailed_queue_messages_ready" => Metric::Depth { service: "rabbitmq", labels: &["queue"] },
        "kafka_topic_partition_current_offset" | "kafka_consumergroup_lag" | "kafka_consumergroup_lag_sum" => {
            Metric::Depth { service: "kafka", labels: &["topic"] }
        }
        "jetstream_stream_total_messages" => Metric::Depth { service: "nats", labels: &["stream_name"] },
        // Gauges of the exporters of Sidekiq's dead set: there is one only.
        "sidekiq_dead_jobs" | "sidekiq_dead_size" | "sidekiq_dead" => Metric::Depth { service: "sidekiq", labels: &[] },
        _ if name.starts_with("solid_queue") && name.contains("failed") => {
            Metric::Depth { service: "solid-queue", labels: &[] }
        }
        _ if own(name) => Metric::Own,
        _ => Metric::Other,
    }
}

/// A name that speaks of dead letters: `orders_dlq_depth`, `kafka_connect_deadletterqueue_produce_requests`.
fn own(name: &str) -> bool {
    name.split(['_', ':']).any(|word| word.starts_with("dlq") || word.starts_with("deadletter"))
        || names_dead_letters(name) && !name.ends_with("errors") && !name.ends_with("error")
        || is_of_dead_letters(name)
}

/// Whether a metric surely counts dead letters, by its name alone.
pub(super) fn is_of_dead_letters(name: &str) -> bool {
    let has = |part: &str| name.contains(part);
    let is_one = ["dlq", "dead_letter", "deadletter", "dead_message", "dead_jobs", "poison_"].iter().any(|p| has(p));
    is_one && !["duration", "seconds", "bytes", "latency", "errors"].iter().any(|p| has(p))
}

/// Whether a text that cannot be read names a queue's metric, or dead letters.
pub(super) fn speaks_of_queues(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["aws_sqs_", "rabbitmq_queue_", "rabbitmq_detailed_queue_", "kafka_", "jetstream_", "solid_queue", "dlq", "dead"]
        .iter()
        .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics() {
        assert!(matches!(of("aws_sqs_approximate_number_of_messages_visible_maximum"), Metric::Depth { .. }));
        assert!(matches!(of("aws_sqs_number_of_messages_sent_sum"), Metric::Sent { .. }));
        assert!(matches!(of("rabbitmq_queue_messages_ready"), Metric::Depth { service: "rabbitmq", .. }));
        assert!(matches!(of("sidekiq_dead_jobs"), Metric::Depth { service: "sidekiq", .. }));
        assert!(matches!(of("solid_queue_failed_executions"), Metric::Depth { service: "solid-queue", .. }));
        for own in
            ["orders_dlq_depth", "dead_letters_total", "dlq:depth", "faktory_dead_jobs", "queue_dead_messages_total"]
        {
            assert_eq!(of(own), Metric::Own, "{own}");
        }
        for other in ["http_errors", "node_cpu_seconds_total", "rabbitmq_queue_messages_unacked", "deadline_seconds"] {
            assert_eq!(of(other), Metric::Other, "{other}");
        }
    }
}
