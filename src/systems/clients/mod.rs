//! Clients whose retries are set in files.

pub mod resilience4j;
mod spring;
