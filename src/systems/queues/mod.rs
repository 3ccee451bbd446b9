//! Queues, topics and the consumers that settings declare.

pub mod argo_events;
pub mod cloud_tasks;
pub mod cloudflare;
pub mod cloudformation;
pub mod kafka_connect;
pub mod kafka_topics;
pub mod knative;
pub mod nats;
pub mod pubsub;
pub mod rabbitmq;
pub mod redis;
pub mod redpanda_connect;
pub mod redrives;
pub mod service_bus;
pub mod spring_boot;
pub mod spring_cloud_stream;
