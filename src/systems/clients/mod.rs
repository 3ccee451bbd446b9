//! Clients whose retries are set in files.

pub mod airflow;
mod applications;
pub mod aws;
pub mod azure_functions;
pub mod azure_sdk;
mod base;
pub mod beats;
pub mod build_tools;
pub mod dbt;
pub mod dotnet;
pub mod fault_tolerance;
pub mod fluent_bit;
pub mod grpc;
pub mod load_balancer;
pub mod openfeign;
pub mod otel_collector;
pub mod promtail;
pub mod query_frontend;
pub mod remote_write;
pub mod resilience4j;
pub mod ribbon;
pub(super) mod spring;
pub mod spring_messaging;
pub mod telegraf;
pub mod terraform_aws;
pub mod vector;
