//! The Kubernetes Gateway API: routes, whose retries mean what the implementation that serves them makes of them.

mod attached;
mod implementations;
mod join;
mod rules;

use crate::facts::{AttachedPolicyFact, Facts, GatewayFact, ObjectRef};
use crate::model::{Budget, Setting};
use crate::syntax::Node;
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

pub(in crate::systems) use attached::{PolicyKind, Read};

/// The Gateway API.
pub struct GatewayApi;

const ID: &str = "gateway-api";
const TYPES: &str = "kubernetes-sigs/gateway-api apis/v1/httproute_types.go";
const BUDGETS: &str = "kubernetes-sigs/gateway-api apisx/v1alpha1/xbackendtrafficpolicy_types.go";
const ISTIO: &str = "istio/istio pilot/pkg/config/kube/gateway/conversion.go";
const ENVOY_GATEWAY: &str = "envoyproxy/gateway internal/gatewayapi/route.go";
const KGATEWAY: &str = "kgateway-dev/kgateway pkg/kgateway/extensions2/plugins/trafficpolicy/timeout_retry.go";
const CILIUM: &str = "cilium/cilium operator/pkg/model/translation/envoy_virtual_host.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kubernetes Gateway API",
    reads: "HTTPRoute and GRPCRoute with `retry` and `timeouts`, as Istio, Envoy Gateway, kgateway and Cilium serve them; \
            Gateway, GatewayClass, XBackendTrafficPolicy",
    marks: &["gateway.networking.k8s.io/", "gateway.networking.x-k8s.io/"],
    defaults: &[
        DefaultFigure { what: "no retry on a rule", value: "1 attempt", source: TYPES },
        DefaultFigure {
            what: "no retry on a rule that Istio serves",
            value: "3 attempts (2 retries)",
            source: "istio/istio pilot/pkg/networking/core/route/retry/retry.go",
        },
        DefaultFigure { what: "retry.attempts absent", value: "the implementation decides", source: TYPES },
        DefaultFigure { what: "retry.attempts absent, Istio", value: "3 attempts (2 retries)", source: ISTIO },
        DefaultFigure {
            what: "retry.attempts absent, Envoy Gateway",
            value: "3 attempts (2 retries)",
            source: ENVOY_GATEWAY,
        },
        DefaultFigure { what: "retry.attempts absent, kgateway", value: "2 attempts (1 retry)", source: KGATEWAY },
        DefaultFigure { what: "retry.attempts absent, Cilium", value: "2 attempts (1 retry)", source: CILIUM },
        DefaultFigure {
            what: "retry.codes absent, Envoy Gateway",
            value: "503, connect-failure, refused-stream, gRPC 14 and 1",
            source: ENVOY_GATEWAY,
        },
        DefaultFigure {
            what: "retry.codes absent, Istio and kgateway",
            value: "connect-failure, refused-stream, gRPC 14 and 1",
            source: ISTIO,
        },
        DefaultFigure {
            what: "retry.codes absent, Cilium",
            value: "connect-failure, reset, refused-stream",
            source: CILIUM,
        },
        DefaultFigure { what: "the cap of retry.backoff on Envoy", value: "10 times backoff", source: TYPES },
        DefaultFigure { what: "the cap of retry.backoff, Cilium", value: "twice backoff", source: CILIUM },
        DefaultFigure { what: "timeouts.request absent on Envoy", value: "15 s; none in Istio", source: ISTIO },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: TYPES },
        DefaultFigure {
            what: "retryConstraint.budget.percent absent",
            value: "20 % of the requests of 10 s",
            source: BUDGETS,
        },
    ],
};

impl System for GatewayApi {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root).into_iter().filter(|o| is_mine(o)) {
                match object.kind {
                    "HTTPRoute" | "GRPCRoute" => rules::read(file, &object, versions, facts),
                    "Gateway" | "GatewayClass" => facts.gateways.extend(gateway(&object)),
                    "XBackendTrafficPolicy" | "BackendTrafficPolicy" => facts.attached.extend(budget(&object)),
                    _ => {}
                }
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        join::join(facts);
    }
}

fn is_mine(object: &Object<'_>) -> bool {
    let group = object.version.split('/').next().unwrap_or_default();
    matches!(group, "gateway.networking.k8s.io" | "gateway.networking.x-k8s.io")
}

fn gateway(object: &Object<'_>) -> Option<GatewayFact> {
    let is_class = object.kind == "GatewayClass";
    let of = object.spec(&[if is_class { "controllerName" } else { "gatewayClassName" }])?.as_str()?;
    let namespace = object.namespace.map(str::to_string);
    Some(GatewayFact { is_class, name: object.name.to_string(), namespace, of: of.to_string() })
}

/// A budget for the retries to a Service.
fn budget(object: &Object<'_>) -> Option<AttachedPolicyFact> {
    let constraint = object.spec(&["retryConstraint"])?;
    let ratio = match constraint.at(&["budget", "percent"]) {
        Some(node) => match node.as_f64() {
            Some(percent) => Setting::written(percent / 100.0, node.span),
            None => Setting::unknown("not a number here", Some(node.span)),
        },
        None => Setting::default(0.2, BUDGETS),
    };
    let budget = Some(Budget { ratio });
    Some(AttachedPolicyFact { system: ID, targets: targets(object), layer: None, overall: None, budget })
}

/// What a policy is attached to.
pub(in crate::systems) fn targets(object: &Object<'_>) -> Vec<ObjectRef> {
    let many = object.spec(&["targetRefs"]).map_or(&[][..], Node::items).iter().map(|n| &**n);
    let all = object.spec(&["targetRef"]).into_iter().chain(many);
    all.filter_map(|node| reference(node, object.namespace, "")).collect()
}

/// A reference of an object in `namespace`; one that names no kind is of the kind `usual`.
pub(in crate::systems) fn reference(node: &Node, namespace: Option<&str>, usual: &str) -> Option<ObjectRef> {
    let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_string);
    Some(ObjectRef {
        kind: text("kind").unwrap_or_else(|| usual.to_string()),
        namespace: text("namespace").or_else(|| namespace.map(str::to_string)),
        name: text("name")?,
        section: text("sectionName"),
        span: node.span,
    })
}
