//! Service meshes: sidecars that retry.

pub mod istio;
