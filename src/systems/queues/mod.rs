//! Queues, topics and the consumers that settings declare.

pub mod cloudflare;
pub mod cloudformation;
pub mod kafka_connect;
pub mod knative;
pub mod pubsub;
pub mod rabbitmq;
