//! ingress-nginx: annotations of Ingresses, and the ConfigMap of their controller.

mod policy;

use self::policy::Policy;
use crate::facts::Facts;
use crate::model::{
    Advice, Callers, Confidence, GatewayName, HostRef, Jitter, Layer, LayerKind, Methods, Purpose, Scope, Setting, Wait,
};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::gateways::nginx_ingress;
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, ingresses, settings};

/// ingress-nginx.
pub struct IngressNginx;

const ID: &str = "ingress-nginx";
const CONFIG: &str = "kubernetes/ingress-nginx internal/ingress/controller/config/config.go";
const BALANCER: &str = "kubernetes/ingress-nginx rootfs/etc/nginx/lua/balancer.lua";
const PREFIX: &str = "nginx.ingress.kubernetes.io/";

/// The entries of a controller's ConfigMap that concern retries.
const KEYS: [&str; 4] =
    ["proxy-next-upstream", "proxy-next-upstream-tries", "proxy-next-upstream-timeout", "retry-non-idempotent"];

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "ingress-nginx",
    reads: "annotations `nginx.ingress.kubernetes.io/proxy-next-upstream*` of Ingresses; the controller's ConfigMap and \
            Helm values",
    marks: &[PREFIX, "ingressClassName", "ingress.class", "proxy-next-upstream", "retry-non-idempotent"],
    defaults: &[
        DefaultFigure { what: "proxy-next-upstream-tries absent", value: "3 attempts, at once", source: CONFIG },
        DefaultFigure {
            what: "proxy-next-upstream-tries: 0",
            value: "no limit; the number of pods is none either",
            source: BALANCER,
        },
        DefaultFigure { what: "proxy-next-upstream absent", value: "`error timeout`: no HTTP status", source: CONFIG },
        DefaultFigure { what: "proxy-next-upstream-timeout absent", value: "no limit on all tries", source: CONFIG },
        DefaultFigure { what: "proxy-read-timeout absent", value: "60 s for each try", source: CONFIG },
        DefaultFigure {
            what: "retry-non-idempotent absent",
            value: "false: POST, PATCH and LOCK are not sent again once sent",
            source: CONFIG,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: BALANCER },
    ],
};

impl System for IngressNginx {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for object in objects::of(root) {
                if ingresses::is_ingress(&object) && serves(&object) {
                    let to = ingresses::backends(file, &object).into_iter().map(|(host, _)| host);
                    ingress(&object, settings::distinct(to), facts);
                } else if object.kind == "ConfigMap" {
                    let data = object.node.get("data").filter(|data| is_config(data));
                    let name = format!("ConfigMap {}", object.name);
                    if let Some(data) = data {
                        controller(&name, object.qualified(), object.name_span, data, facts);
                    }
                }
            }
            let values = ["controller", "ingress-nginx"].iter().find_map(|key| root.get(key));
            let config = values.and_then(|v| v.get("config").or_else(|| v.at(&["controller", "config"])));
            if let Some(config) = config.filter(|config| is_config(config)) {
                let opens = settings::opening(file, config);
                controller("Helm values", file.path.to_string(), opens, config, facts);
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        inherit(facts);
    }
}

/// Whether this controller serves an Ingress: its class says so, or an annotation of its own is there.
fn serves(object: &Object<'_>) -> bool {
    let annotations = object.node.at(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    match ingresses::class(object) {
        _ if nginx_ingress::is_served(object) => false,
        Some(class) => class.contains("nginx"),
        None => annotations.iter().any(|e| e.key.starts_with(PREFIX)),
    }
}

fn is_config(data: &Node) -> bool {
    KEYS.iter().any(|key| data.get(key).is_some_and(|n| !n.is_null()))
}

/// The layer of one Ingress. Without a service behind it there is nothing to repeat.
fn ingress(object: &Object<'_>, to: Vec<HostRef>, facts: &mut Facts) {
    if to.is_empty() {
        return;
    }
    let name = format!("Ingress {}", object.name);
    let get = |key: &str| ingresses::annotation(object, &format!("{PREFIX}{key}"));
    let opens = ["proxy-next-upstream", "proxy-next-upstream-timeout"].iter().find_map(|key| get(key));
    let opens = opens.or_else(|| get("proxy-next-upstream-tries")).map_or(object.name_span, |e| e.key_span);
    let policy = Policy::read(&name, opens, get, false);
    let scope =
        Scope::Hops { from: Callers { gateways: vec![ingresses::gateway(object)], mesh: false }, to, fallback: false };
    push(format!("{ID}:ingress:{}", object.qualified()), name, opens, scope, policy, facts);
}

/// What a controller's settings make of every Ingress that says nothing itself.
fn controller(what: &str, id: String, opens: Span, data: &Node, facts: &mut Facts) {
    let name = format!("ingress-nginx ({what})");
    let policy = Policy::read(&name, opens, |key| data.entry(key).filter(|e| !e.value.is_null()), true);
    let from = Callers { gateways: vec![GatewayName::Named(ID.to_string())], mesh: false };
    let scope = Scope::Hops { from, to: Vec::new(), fallback: false };
    push(format!("{CONTROLLER}{id}"), name, opens, scope, policy, facts);
}

const CONTROLLER: &str = "ingress-nginx:controller:";

fn push(id: String, name: String, opens: Span, scope: Scope, mut policy: Policy, facts: &mut Facts) {
    facts.inert.extend(std::mem::take(&mut policy.inert).into_iter().map(|i| i.of(&name)));
    facts.layers.push(layer(id, name, opens, scope, policy));
}

fn layer(id: String, name: String, opens: Span, scope: Scope, policy: Policy) -> Layer {
    Layer {
        id: id.into(),
        system: ID,
        kind: LayerKind::Gateway,
        reading: policy.reading,
        place: policy.place,
        opens,
        component: None,
        scope,
        attempts: policy.attempts,
        asked_for: policy.asked_for,
        wait: Wait::None,
        wait_place: None,
        jitter: Setting::default(Jitter::None, BALANCER),
        retries: policy.conditions,
        retry_after: Setting::default(false, BALANCER),
        methods: policy.methods,
        per_try: Some(policy.per_try),
        overall: policy.overall,
        budget: None,
        labels: Vec::new(),
        advice: advice(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
        name,
    }
}

/// The controller's settings hold for what an Ingress leaves open. Of several controllers it cannot be told which
/// serves an Ingress; then none of them is taken.
fn inherit(facts: &mut Facts) {
    let is_controller = |l: &Layer| l.system == ID && l.id.starts_with(CONTROLLER);
    let controllers: Vec<Layer> = facts.layers.iter().filter(|l| is_controller(l)).cloned().collect();
    let [shared] = controllers.as_slice() else { return };
    let mut covered = (Vec::new(), Vec::new());
    facts.layers.retain_mut(|layer| {
        if layer.system != ID || is_controller(layer) {
            return true;
        }
        // It says nothing itself: the controller's layer stands for it.
        if !layer.asked_for
            && layer.per_try.as_ref().is_none_or(Setting::is_default)
            && let Scope::Hops { from, to, .. } = &layer.scope
        {
            covered.0.extend(from.gateways.clone());
            covered.1.extend(to.clone());
            return false;
        }
        fill_in(layer, shared);
        true
    });
    for layer in facts.layers.iter_mut().filter(|l| is_controller(l)) {
        if let Scope::Hops { from, to, .. } = &mut layer.scope
            && !covered.0.is_empty()
        {
            from.gateways.clone_from(&covered.0);
            to.clone_from(&covered.1);
        }
    }
}

fn fill_in(layer: &mut Layer, shared: &Layer) {
    if !layer.is_active() {
        return;
    }
    if layer.attempts.is_default() && !shared.attempts.is_default() {
        layer.attempts = shared.attempts.clone();
        layer.asked_for |= shared.asked_for;
        layer.reading = format!("{}, with {}", layer.name, shared.reading);
        layer.labels.push((shared.place, shared.reading.clone()));
    }
    let own = layer.retries.picks.iter().any(|p| p.span != layer.opens);
    if !own {
        layer.retries = shared.retries.clone();
    }
    let repeats = |l: &Layer| matches!(l.methods, Methods::Written { .. });
    if !repeats(layer) && repeats(shared) {
        layer.methods = shared.methods.clone();
    }
    if layer.overall.is_none() {
        layer.overall.clone_from(&shared.overall);
    }
    if layer.per_try.as_ref().is_some_and(Setting::is_default) {
        layer.per_try.clone_from(&shared.per_try);
    }
}

/// There is no setting for a wait or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `proxy-next-upstream-tries` to 1, or `proxy-next-upstream` to `off`"),
        limit: some("set `proxy-next-upstream-tries` to 2 or 3; 0 lifts the limit"),
        statuses: some("keep `error timeout` in `proxy-next-upstream`, and of the statuses 502 and 503"),
        ..Advice::default()
    }
}
