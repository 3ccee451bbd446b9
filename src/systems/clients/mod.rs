//! Clients whose retries are set in files.

pub mod resilience4j;
pub mod ribbon;
pub(super) mod spring;
