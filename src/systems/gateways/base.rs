//! What the layers of gateways start from.

use std::sync::Arc;

use crate::model::{
    Advice, Attempts, Callers, Conditions, Confidence, GatewayName, HostRef, Jitter, Layer, LayerKind, Methods,
    Purpose, Scope, Setting, Wait,
};
use crate::source::Span;

/// A proxy that sends each request once: no wait, no jitter, Retry-After not read; `source` says so.
pub(in crate::systems) fn layer(
    system: &'static str,
    id: Arc<str>,
    name: String,
    opens: Span,
    source: &'static str,
) -> Layer {
    Layer {
        id,
        system,
        kind: LayerKind::Gateway,
        reading: name.clone(),
        name,
        place: opens,
        opens,
        component: None,
        scope: hops(Vec::new(), Vec::new()),
        attempts: Setting::default(Attempts::Count(1), source),
        asked_for: false,
        wait: Wait::None,
        wait_place: None,
        jitter: Setting::default(Jitter::None, source),
        retries: Conditions::default(),
        retry_after: Setting::default(false, source),
        methods: Methods::Any,
        per_try: None,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
    }
}

/// The hops from gateways to their upstreams.
pub(in crate::systems) fn hops(gateways: Vec<GatewayName>, to: Vec<HostRef>) -> Scope {
    Scope::Hops { from: Callers { gateways, mesh: false }, to, fallback: false }
}

/// The methods that proxies repeat without being told to: all but POST, PATCH and LOCK.
pub(in crate::systems) fn idempotent() -> Methods {
    Methods::Only(IDEMPOTENT.map(String::from).to_vec())
}

/// Every method, because the setting at `span` says so.
pub(in crate::systems) fn all_methods(span: Span) -> Methods {
    let all = IDEMPOTENT.into_iter().chain(["POST", "PATCH", "LOCK"]);
    Methods::Written { methods: all.map(String::from).collect(), span }
}

const IDEMPOTENT: [&str; 6] = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"];
