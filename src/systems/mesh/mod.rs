//! Service meshes: sidecars that retry.

pub mod app_mesh;
pub mod cilium;
pub mod consul;
pub mod dapr;
pub mod istio;
pub mod kuma;
pub mod linkerd;
pub mod osm;
