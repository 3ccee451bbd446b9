//! Routes of the Kubernetes Gateway API and what other objects attach to them. Joining makes routes and layers of them:
//! what a `retry` means depends on the gateway that serves the route, and that is an object of its own.

use std::time::Duration;

use crate::model::{Attempts, Budget, HostRef, Layer, Setting};
use crate::source::Span;

/// A reference to an object, or to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    /// Its kind.
    pub kind: String,
    /// Its namespace, if known.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// A listener of a Gateway, or a rule of a route.
    pub section: Option<String>,
    /// Where it is referred to.
    pub span: Span,
}

/// One rule of an HTTPRoute or GRPCRoute.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteRuleFact {
    /// The route, the rule's own name as its section.
    pub route: ObjectRef,
    /// For people: "HTTPRoute quotes, rule /v1".
    pub title: String,
    /// What tells the rule from the others of its route: "quotes:/v1".
    pub id: String,
    /// The Gateways that serve it, and the Services whose callers it is for.
    pub parents: Vec<ObjectRef>,
    /// The hosts behind it: alternatives.
    pub to: Vec<HostRef>,
    /// Objects of other kinds that its filters refer to.
    pub filters: Vec<ObjectRef>,
    /// Its `retry`.
    pub retry: Option<RetryBlock>,
    /// `timeouts.request`: `None` inside for one that lifts the limit.
    pub overall: Option<Option<Setting<Duration>>>,
    /// `timeouts.backendRequest`.
    pub per_try: Option<Setting<Duration>>,
    /// The methods that every match names.
    pub methods: Option<Vec<String>>,
    /// Whether Istio, should it serve the route, is stated to be older than 1.24.
    pub before_1_24: bool,
    /// Whether Cilium, should it serve the route, is stated to be older than 1.19.
    pub before_1_19: bool,
    /// What opens the rule.
    pub opens: Span,
}

/// `retry` of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryBlock {
    /// The key.
    pub opens: Span,
    /// Tries in all, and the count as it is written.
    pub attempts: Option<(Setting<Attempts>, String)>,
    /// The least wait, and where it is set.
    pub backoff: Option<(Setting<Duration>, Span)>,
    /// The statuses, each with its place.
    pub codes: Vec<(u16, Span)>,
}

/// A Gateway and its class, or a GatewayClass and its controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayFact {
    /// Whether it is a class.
    pub is_class: bool,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// The class of a Gateway, the controller of a class.
    pub of: String,
}

/// A policy that is attached to Gateways, routes or Services.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachedPolicyFact {
    /// The system.
    pub system: &'static str,
    /// What it is attached to.
    pub targets: Vec<ObjectRef>,
    /// Its layer, on hops that joining finds. `None`: it says nothing of retries but a budget or a limit.
    pub layer: Option<Box<Layer>>,
    /// Its limit on all tries: `None` inside for one that lifts it.
    pub overall: Option<Option<Setting<Duration>>>,
    /// Its budget.
    pub budget: Option<Budget>,
}
