//! Gateways: proxies at the edge.

pub(super) mod base;
pub mod contour;
pub mod emissary;
pub mod envoy;
pub mod envoy_gateway;
pub mod gateway_api;
pub mod gloo;
pub mod haproxy;
pub mod ingress_nginx;
pub mod kgateway;
pub mod kong;
pub mod nginx;
pub mod spring_cloud_gateway;
pub mod traefik;
