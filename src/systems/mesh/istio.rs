//! Istio.
