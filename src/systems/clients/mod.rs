//! Clients whose retries are set in files.

pub mod resilience4j;
pub(super) mod spring;
