//! Service meshes: sidecars that retry.

pub mod istio;
pub mod linkerd;
