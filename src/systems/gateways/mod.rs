//! Gateways: proxies at the edge.

pub mod envoy;
pub mod kong;
