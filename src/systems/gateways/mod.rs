//! Gateways: proxies at the edge.

pub mod envoy;
pub mod ingress_nginx;
pub mod kong;
pub mod spring_cloud_gateway;
