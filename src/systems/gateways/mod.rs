//! Gateways: proxies at the edge.

pub mod contour;
pub mod emissary;
pub mod envoy;
pub mod envoy_gateway;
pub mod gateway_api;
pub mod gloo;
pub mod ingress_nginx;
pub mod kgateway;
pub mod kong;
pub mod spring_cloud_gateway;
